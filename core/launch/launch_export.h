// Writes a design as the launch of a framework: a command line or a file of settings.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "launch/launch_import.h"

namespace shardscape {

// A setting that the launch does not say: the run differs from the design in it.
struct LaunchGap {
  std::string knob;    // id
  std::string value;   // in the design
  std::string reason;  // "vLLM has no sequence parallelism for prefill"
};

struct LaunchText {
  std::string text;             // the whole file, with a line that says how it is started
  std::string file_name;        // "launch.sh", "config.toml"
  std::vector<LaunchGap> gaps;  // in the order of the knob table
};

// id, label and the kind of file of every framework that designs can be written for.
const std::vector<LaunchFramework>& launch_export_frameworks();

// Requires a valid design. A Problem (LaunchSetting): the framework cannot run the design at all, for example
// a training framework and a decode step.
std::variant<LaunchText, Problem> export_launch(const Design& design, std::string_view framework);

}  // namespace shardscape
