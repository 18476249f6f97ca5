// The arguments of one launch of Megatron-LM, and what became of each. Readers of single topics (model,
// layout) take their arguments from here, so that none is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "launch/megatron/megatron_arguments.h"
#include "launch/megatron/megatron_flags.h"

namespace shardscape {

class MegatronFields {
 public:
  MegatronFields(const LaunchArguments& arguments, int64_t gpus) : arguments_(arguments), gpus_(gpus) {
    out_.design.model.preset.clear();
  }

  Design& design() { return out_.design; }
  int64_t gpus() const { return gpus_; }
  bool has(const std::string& argument) const { return arguments_.contains(argument); }

  // The text of an argument; nullopt if the launch lacks it. Marks the argument as read.
  std::optional<std::string> text(const std::string& argument);
  bool on(const std::string& argument) { return text(argument).value_or("false") == "true"; }
  // A text that is no whole number becomes a field that is not understood.
  int64_t number(const std::string& argument, int64_t otherwise);
  // Whether a probability is above zero: "0.1", "0.0".
  bool positive(const std::string& argument, const char* otherwise) {
    return text(argument).value_or(otherwise).find_first_not_of("0.") != std::string::npos;
  }

  // Sets a knob because of an argument. Without the argument, the value is Megatron-LM's default.
  void set(const char* knob, const std::string& value, const std::string& argument);
  void set(const char* knob, int64_t value, const std::string& argument) {
    set(knob, std::to_string(value), argument);
  }
  // Sets a knob that may have no effect in the design so far: the argument then has no counterpart.
  void set_effective(const char* knob, const std::string& value, const std::string& argument);
  void turn_on(const char* knob, const std::string& argument) {
    if (on(argument)) set(knob, "true", argument);
  }
  void set_architecture(const std::string& architecture, const std::string& argument);
  // The value follows from other arguments. rule: in words; source: file and line of Megatron-LM.
  void derive(const char* knob, const std::string& value, const std::string& argument,
              const std::string& rule, const std::string& source);

  // The argument changes the step, but the design does not say so. The first reason of an argument counts.
  void unmapped(const std::string& argument, const std::string& reason) {
    leave_out(LaunchUse::NoCounterpart, argument, reason);
  }
  // The value is none that Megatron-LM takes.
  void misread(const std::string& argument, const std::string& reason) {
    leave_out(LaunchUse::NotUnderstood, argument, reason);
  }
  // Other arguments switch this one off. A final '*' stands for any ending.
  void ignore(const std::string& pattern, const std::string& reason);

  // Arguments that no reader asked for have no effect or no counterpart, or Megatron-LM does not have them.
  LaunchDesign finish();

 private:
  void leave_out(LaunchUse use, const std::string& argument, const std::string& reason);
  void note(LaunchUse use, const std::string& argument, const std::string& value, const std::string& knob,
            const std::string& reason = {}, const std::string& source = {});

  const LaunchArguments& arguments_;
  int64_t gpus_;
  LaunchDesign out_;
  MegatronFlags flags_;
  std::set<std::string> used_;
};

// Sizes and architecture.
void read_megatron_model(MegatronFields& fields);

}  // namespace shardscape
