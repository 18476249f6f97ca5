// Reads a launch file: which design would it run?
//
// Kinds of text: a shell script or command line, the dump of arguments that Megatron-LM prints at the start
// of its log, and files of settings in YAML or JSON, and Markdown with commands. Nothing is executed.
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
// The id under which launches with a name of launch_export_frameworks() are read: those of "deepspeed" are
// "megatron-deepspeed". Other names are ids themselves.
std::string launch_framework_id(const std::string& name);

struct LaunchRequest {
  std::string text;
  std::string where;                 // name of the text in messages: a file name
  std::string framework = {};        // id or name; empty: recognised from the text
  std::optional<int64_t> gpus = {};  // all ranks; without it, the file has to say it
  int line = 0;                      // of the command to read, if there are several; 0: the first
  ShellInput shell = {};             // arguments and variables of a script, and files that it sources
  // For files that name no model, or one that the library does not know: a preset, a name of the Hugging Face
  // hub, or the path of a config.json.
  std::string model = {};
  // The model of a launch that names a folder, whose config.json is not there.
  std::optional<ModelSpec> checkpoint = {};
};

// Of a serving engine: memory of the weights, memory of the KV cache, and tokens that the cache stores.
enum class MeasuredQuantity {
  StepTime,
  UsefulFlops,
  Tokens,
  Mfu,
  AllocatedMemory,
  ReservedMemory,
  WeightMemory,
  CacheMemory,
  CacheTokens
};

// A setting of a service, which simulates requests (serving/service/service_spec.h).
struct LaunchSetting {
  std::string id, value;
};

// A value that a log says was measured. Rates and memory are those of one GPU.
struct LaunchMeasurement {
  MeasuredQuantity quantity;
  std::string what;  // in the words of the log: "iteration time", "memory allocated"
  double value = 0;
  std::string unit;  // "ms", "s", "MB", "GiB", "TFLOP/s", "tokens/s", "%", "tokens"
  int line = 0;
  std::vector<LaunchSetting> service = {};  // of a serving engine: settings on which the value depends
};

struct LaunchImport {
  std::string framework;  // id; empty: not recognised
  Design design;          // not validated
  std::optional<int64_t> gpus;
  std::string gpus_from;                         // "--nproc_per_node x --nnodes", "given"
  std::vector<LaunchField> fields;               // in the order of the file, then what the framework adds
  std::vector<LaunchSetting> service;            // of a serving engine: what the design does not hold
  std::vector<ShellNote> notes;                  // what of a script was not followed
  std::vector<LaunchMeasurement> measured = {};  // in the order of the log
  std::vector<Problem> problems;                 // not empty: there is no design
  bool ok() const { return problems.empty(); }
};

// Problems name the file and the place. A design without a name of its own has that of the file.
LaunchImport import_launch(const LaunchRequest& request);

// Whether a text is a launch rather than, for example, a config.json: a script, a command line, a log or
// TOML.
bool looks_like_launch(std::string_view text);

}  // namespace shardscape
