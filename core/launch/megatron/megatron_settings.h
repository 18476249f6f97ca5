// Settings of frameworks on top of Megatron-core (NeMo, Primus, Megatron-Bridge), translated to the arguments
// of Megatron-LM. Fields keep the names and lines of the file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"
#include "launch/megatron/megatron_flags.h"

namespace shardscape {

// How a setting becomes an argument: its text; a switch that is on with "true"; a switch that is on with
// "false" ("bias: false" is --disable-bias-linear).
enum class SettingAs { Value, On, Off };

struct SettingRow {
  const char* name;  // "activations_checkpoint_method"
  const char* argument;
  SettingAs as = SettingAs::Value;
};

class MegatronSettings {
 public:
  // framework: its name in notes, "NeMo 1".
  MegatronSettings(std::string framework, LaunchDocument document)
      : framework_(std::move(framework)), document_(std::move(document)) {}

  // The text of a setting, nullopt if the file lacks it or it is null. Marks the setting as read.
  std::optional<std::string> text(const std::string& name);
  bool on(const std::string& name) { return is_true(text(name).value_or("false")); }
  bool has(const std::string& name) const;
  const LaunchDocument& document() const { return document_; }
  static bool is_true(const std::string& text) { return text == "true" || text == "True" || text == "1"; }

  // Sets an argument because of a setting. A later call replaces an earlier one.
  void put(const std::string& argument, const std::string& value, const std::string& name);
  void translate(const std::string& prefix, std::span<const SettingRow> rows);
  // Every setting below the prefix that no one has read, and whose last name Megatron-LM's dump has.
  void translate_dumped(const std::string& prefix);
  // The framework's default, where the argument is not set. source: file and line, or empty.
  void assume(const std::string& argument, const std::string& value, const std::string& source);
  // As assume(), by the name in the dump; "false" is a switch that is off.
  void assume_dumped(const std::string& dest, const std::string& value, const std::string& note,
                     const std::string& source);
  // Follows from another setting, where the argument is not set. rule: in words.
  void derive(const std::string& argument, const std::string& value, const std::string& rule);
  // Whether anything has set the argument.
  bool set(const std::string& argument) const { return arguments_.contains(argument); }
  std::optional<std::string> argument(const std::string& name) const;

  // A final '*' stands for any ending. also_read: those that a reader asked for too.
  void no_effect(std::span<const char* const> patterns, bool also_read = false,
                 const std::string& reason = {});
  // A knob that no argument of Megatron-LM says.
  void knob(const char* id, const std::string& value, const std::string& name) {
    knobs_.push_back({id, value, name});
  }
  void unmapped(const std::string& name, const std::string& reason) {
    leave_out(LaunchUse::NoCounterpart, name, reason);
  }
  void misread(const std::string& name, const std::string& reason) {
    leave_out(LaunchUse::NotUnderstood, name, reason);
  }

  // Reads the arguments into a design. gpus: those of the file, and where they stand.
  void finish(const LaunchRequest& request, std::optional<int64_t> gpus, const std::string& gpus_from,
              LaunchImport& out);

 private:
  struct Origin {
    LaunchUse use = LaunchUse::Taken;
    std::string name, note, source;
  };

  void leave_out(LaunchUse use, const std::string& name, const std::string& reason);
  std::pair<std::string, std::string> dumped(const std::string& dest, const std::string& value) const;
  std::string shown(const std::string& text) const;
  LaunchField field_of(LaunchField field) const;
  void add_unread(LaunchImport& out) const;
  void add_fields(std::vector<LaunchField> fields, LaunchImport& out) const;
  void set_knobs(LaunchImport& out);

  std::string framework_;
  LaunchDocument document_;
  MegatronFlags flags_;
  LaunchArguments arguments_;
  std::map<std::string, Origin> origins_;      // of arguments
  std::map<std::string, std::string> called_;  // arguments, and the names of their settings
  std::set<std::string> read_;                 // settings
  std::vector<LaunchField> others_;            // settings that are no arguments
  struct KnobSetting {
    std::string id, value, name;
  };
  std::vector<KnobSetting> knobs_;
};

// A whole number of a text; nullopt: it is none.
std::optional<int64_t> whole_number(const std::string& text);
// The product, where both are positive and it is no more than 100 million.
std::optional<int64_t> gpus_of(std::optional<int64_t> nodes, std::optional<int64_t> each);

}  // namespace shardscape
