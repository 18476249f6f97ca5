// Reads a launch file: which design would it run?
//
// Kinds of text: a shell script or command line, and the dump of arguments that Megatron-LM prints at the
// start of its log. Nothing is executed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "launch/launch_field.h"
#include "launch/shell/shell_script.h"

namespace shardscape {

struct LaunchFramework {
  std::string_view id;     // "megatron-lm"
  std::string_view label;  // "Megatron-LM"
  std::string_view files;  // what is read: "shell scripts with pretrain_*.py, argument dumps in logs"
};
const std::vector<LaunchFramework>& launch_frameworks();

struct LaunchRequest {
  std::string text;
  std::string where;                 // name of the text in messages: a file name
  std::string framework = {};        // id; empty: recognised from the text
  std::optional<int64_t> gpus = {};  // all ranks; without it, the file has to say it
  std::string model = {};            // a preset, for files that name no model or one that is not known
  ShellInput shell = {};             // arguments and variables of a script, and files that it sources
};

// A value that a log says was measured.
struct LaunchMeasurement {
  std::string what;  // "iteration time", "memory allocated"
  double value = 0;
  std::string unit;  // "ms", "MB", "TFLOP/s per GPU"
  int line = 0;
};

struct LaunchImport {
  std::string framework;  // id; empty: not recognised
  Design design;          // not validated
  std::optional<int64_t> gpus;
  std::string gpus_from;                         // "--nproc_per_node x --nnodes", "given"
  std::vector<LaunchField> fields;               // in the order of the file, then what the framework adds
  std::vector<ShellNote> notes;                  // what of a script was not followed
  std::vector<LaunchMeasurement> measured = {};  // in the order of the log
  std::vector<Problem> problems;                 // not empty: there is no design
  bool ok() const { return problems.empty(); }
};

// Problems name the file and the place.
LaunchImport import_launch(const LaunchRequest& request);

// Whether a text is a launch rather than, for example, a config.json: a script, a command line or a log.
bool looks_like_launch(std::string_view text);

}  // namespace shardscape
