// The arguments of one launch, and what became of each. Readers of single topics (model, layout) take their
// arguments from here, so that none is forgotten.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "design/design.h"
#include "launch/launch_field.h"

namespace shardscape {

// "--num-layers" -> "12", "parallelism.tp" -> "8". A switch has the text "true"; parts of a list are joined
// by spaces; "null" counts as absent.
using LaunchArguments = std::map<std::string, std::string>;

struct UnmappedArgument {
  std::string argument;  // "--use-megatron-fsdp"; "gpus" for the number of GPUs
  std::string reason;
};

struct LaunchDesign {
  Design design;
  std::vector<UnmappedArgument> unmapped;  // the design then is not the one of the launch
  std::vector<LaunchField> fields;         // every argument, and every default and rule that set a knob
};

// Whether a name is the pattern; a final '*' of the pattern stands for any ending.
bool matches_name(std::string_view pattern, std::string_view argument);

// A list of patterns as LaunchRules::no_effect takes them; it refers to the texts of names.
std::vector<const char*> patterns(const std::vector<std::string>& names);

// What a framework says of the arguments that no reader asked for.
struct LaunchRules {
  std::string framework;                   // "Megatron-LM d98e8a6"
  std::span<const char* const> no_effect;  // names; a final '*' stands for any ending
  // Names that change the step, though no setting says so, and the reasons.
  std::span<const std::pair<const char*, const char*>> changes = {};
  // Empty: every name is known, none has its default.
  std::function<bool(const std::string& argument)> knows = {};
  std::string unknown = {};  // why a name is not known; empty: the framework has no such argument
  std::function<bool(const std::string& argument, const std::string& value)> is_default = {};
};

class LaunchFields {
 public:
  // framework: its name in notes, "Megatron-LM".
  LaunchFields(const LaunchArguments& arguments, int64_t gpus, std::string framework)
      : arguments_(arguments), gpus_(gpus), framework_(std::move(framework)) {
    out_.design.model.preset.clear();
  }

  Design& design() { return out_.design; }
  int64_t gpus() const { return gpus_; }
  bool has(const std::string& argument) const;
  const LaunchArguments& arguments() const { return arguments_; }

  // The text of an argument; nullopt if the launch lacks it. Marks the argument as read.
  std::optional<std::string> text(const std::string& argument);
  bool on(const std::string& argument) { return text(argument).value_or("false") == "true"; }
  // A text that is no whole number becomes a field that is not understood.
  int64_t number(const std::string& argument, int64_t otherwise);
  // Whether a probability is above zero: "0.1", "0.0".
  bool positive(const std::string& argument, const char* otherwise) {
    return text(argument).value_or(otherwise).find_first_not_of("0.") != std::string::npos;
  }

  // Sets a knob because of an argument. Without the argument, the value is the framework's default.
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
  // The value follows from other arguments. rule: in words; source: file and line of the framework.
  void derive(const char* knob, const std::string& value, const std::string& argument,
              const std::string& rule, const std::string& source);

  // The same, whether the launch has the argument or not: its text there only asks for the rule ("auto").
  void conclude(const char* knob, const std::string& value, const std::string& argument,
                const std::string& rule, const std::string& source);
  // The launch does not say the value at all. reason: where the value comes from.
  void assume(const char* knob, const std::string& value, const std::string& argument,
              const std::string& reason);
  // The argument's value names a model whose sizes the library or a config.json has. origin: in words.
  void set_model(const ModelSpec& model, const std::string& name, const std::string& argument,
                 const std::string& value, const std::string& origin);

  // The argument changes the step, but the design does not say so. The first reason of an argument counts.
  void unmapped(const std::string& argument, const std::string& reason) {
    leave_out(LaunchUse::NoCounterpart, argument, reason);
  }
  // The value is none that the framework takes.
  void misread(const std::string& argument, const std::string& reason) {
    leave_out(LaunchUse::NotUnderstood, argument, reason);
  }
  // Other arguments switch this one off. A final '*' stands for any ending.
  void ignore(const std::string& pattern, const std::string& reason);

  // Arguments that no reader asked for have no effect or no counterpart, or the framework does not have them.
  LaunchDesign finish(const LaunchRules& rules);

 protected:
  void note(LaunchUse use, const std::string& argument, const std::string& value, const std::string& knob,
            const std::string& reason = {}, const std::string& source = {});

 private:
  void leave_out(LaunchUse use, const std::string& argument, const std::string& reason);

  const LaunchArguments& arguments_;
  int64_t gpus_;
  std::string framework_;
  LaunchDesign out_;
  std::unordered_map<std::string, size_t> field_of_;  // an argument's place in out_.fields
  std::unordered_set<std::string> unmapped_;          // the arguments in out_.unmapped
  std::set<std::string> used_;
};

}  // namespace shardscape
