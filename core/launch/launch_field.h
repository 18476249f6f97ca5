// What became of one field of a launch file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardscape {

enum class LaunchUse {
  Taken,          // the file gives it, and a setting of the design holds it
  Derived,        // computed by the framework's own rule
  Assumed,        // the file lacks it: the framework's default
  NoEffect,       // changes neither memory nor operations of a step
  NoCounterpart,  // changes the step, but no setting says so: the design is not quite the one of the launch
  NotUnderstood   // the framework's version that this program knows has no such field, or not this value
};

struct LaunchField {
  LaunchUse use = LaunchUse::Taken;
  std::string name;                     // as the framework writes it: "--num-layers", "parallelism.tp"
  std::string value;                    // as the file gives it, or the value assumed or derived
  std::vector<std::string> knobs = {};  // ids of the settings of the design, or of a service
  std::string note = {};                // the reason, the rule
  std::string source = {};              // of a rule or default: "megatron/training/arguments.py:448"
  int line = 0;                         // in the file; 0: not there
};

struct LaunchUseText {
  LaunchUse use;
  const char* key;      // in JSON: "not_understood"
  const char* heading;  // over the fields of a list: "Derived by the framework's rules"
};
// In the order in which a person reads them: what needs attention comes first.
std::span<const LaunchUseText> launch_uses();

// "tp, sequence_parallel: the tensor parallel size (arguments.py:588)": settings, reason and source.
std::string launch_field_note(const LaunchField& field);
// The reason and the source alone.
std::string launch_field_reason(const LaunchField& field);

}  // namespace shardscape
