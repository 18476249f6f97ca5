#include "launch/megatron/megatron_settings.h"

#include <algorithm>
#include <charconv>

#include "design/knobs/knobs.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_arguments.h"

namespace shardscape {
namespace {

constexpr int64_t kMostGpus = 100'000'000;

bool is_flag_sign(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; }

}  // namespace

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::optional<int64_t> gpus_of(std::optional<int64_t> nodes, std::optional<int64_t> each) {
  if (!nodes || !each || *nodes < 1 || *each < 1 || *each > kMostGpus / *nodes) return std::nullopt;
  return *nodes * *each;
}

std::optional<std::string> MegatronSettings::text(const std::string& name) {
  const auto it = document_.arguments.find(name);
  if (it == document_.arguments.end()) return std::nullopt;
  read_.insert(name);
  if (it->second == "null") return std::nullopt;
  return it->second;
}

bool MegatronSettings::has(const std::string& name) const {
  const auto it = document_.arguments.find(name);
  return it != document_.arguments.end() && it->second != "null";
}

std::optional<std::string> MegatronSettings::argument(const std::string& name) const {
  const auto it = arguments_.find(name);
  return it == arguments_.end() ? std::nullopt : std::optional(it->second);
}

void MegatronSettings::put(const std::string& argument, const std::string& value, const std::string& name) {
  read_.insert(name);
  arguments_[argument] = value;
  origins_[argument] = {LaunchUse::Taken, name, "", ""};
  called_[argument] = name;
}

void MegatronSettings::translate(const std::string& prefix, std::span<const SettingRow> rows) {
  for (const SettingRow& row : rows) {
    const std::string name = prefix + row.name;
    called_.emplace(row.argument, name);
    const auto value = text(name);
    if (!value) continue;
    const bool is_on = is_true(*value);
    put(row.argument,
        row.as == SettingAs::Value           ? plain_python_value(*value)
        : is_on == (row.as == SettingAs::On) ? "true"
                                             : "false",
        name);
  }
}

// The argument and its text for a value of the dump; an empty text: nothing is said.
std::pair<std::string, std::string> MegatronSettings::dumped(const std::string& dest,
                                                             const std::string& value) const {
  const MegatronFlag* const flag = flags_.of_dest(dest);
  if (!flag) return {};
  const bool on = is_true(value);
  switch (flag->action) {
    case MegatronAction::Value: return {flag->name, value == "false" ? "" : plain_python_value(value)};
    case MegatronAction::On: return {flag->name, on ? "true" : "false"};
    case MegatronAction::Off: return {flag->name, on ? "false" : "true"};
    case MegatronAction::Both:
      if (!on && flag->otherwise == "True") return {"--no-" + flag->name.substr(2), "true"};
      return {flag->name, on ? "true" : "false"};
  }
  return {};
}

void MegatronSettings::translate_dumped(const std::string& prefix) {
  std::vector<std::pair<std::string, std::string>> unread;  // setting, value
  for (const auto& [name, value] : document_.arguments)
    if (name.starts_with(prefix) && !read_.contains(name) && value != "null" && !value.empty())
      unread.emplace_back(name, value);
  for (const auto& [name, value] : unread) {
    const auto [argument, text] = dumped(name.substr(prefix.size()), value);
    if (!text.empty())
      put(argument, text, name);
    else if (!argument.empty())
      leave_out(LaunchUse::NoEffect, name, "off");
  }
}

void MegatronSettings::assume_dumped(const std::string& dest, const std::string& value,
                                     const std::string& note, const std::string& source) {
  const auto [argument, text] = dumped(dest, value);
  if (text.empty() || !arguments_.emplace(argument, text).second) return;
  called_[argument] = dest;
  origins_[argument] = {LaunchUse::Assumed, dest, note, source};
}

void MegatronSettings::assume(const std::string& argument, const std::string& value,
                              const std::string& source) {
  if (!arguments_.emplace(argument, value).second) return;
  const auto called = called_.find(argument);
  origins_[argument] = {LaunchUse::Assumed, called == called_.end() ? argument : called->second,
                        "default of " + framework_, source};
}

void MegatronSettings::derive(const std::string& argument, const std::string& value,
                              const std::string& rule) {
  if (!arguments_.emplace(argument, value).second) return;
  const auto called = called_.find(argument);
  origins_[argument] = {LaunchUse::Derived, called == called_.end() ? argument : called->second, rule, ""};
}

void MegatronSettings::leave_out(LaunchUse use, const std::string& name, const std::string& reason) {
  read_.insert(name);
  const auto value = document_.arguments.find(name);
  const int line = document_.lines.contains(name) ? document_.lines.at(name) : 0;
  others_.push_back(
      {use, name, value == document_.arguments.end() ? "" : value->second, {}, reason, "", line});
}

void MegatronSettings::no_effect(std::span<const char* const> patterns, bool also_read,
                                 const std::string& reason) {
  for (const auto& entry : document_.arguments) {
    const std::string& name = entry.first;
    if (read_.contains(name) && !also_read) continue;
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](std::string_view pattern) { return matches_name(pattern, name); }))
      leave_out(LaunchUse::NoEffect, name, reason);
  }
}

// The text with the settings' names instead of the arguments'.
std::string MegatronSettings::shown(const std::string& text) const {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    if (text.compare(at, 2, "--") == 0)
      while (end < text.size() && is_flag_sign(text[end])) ++end;
    const auto called = end > at ? called_.find(text.substr(at, end - at)) : called_.end();
    if (called == called_.end()) {
      out += text[at++];
    } else {
      out += called->second;
      at = end;
    }
  }
  return out;
}

LaunchField MegatronSettings::field_of(LaunchField field) const {
  const auto origin = origins_.find(field.name);
  field.note = shown(field.note);
  if (origin == origins_.end()) {
    field.name = shown(field.name);
    return field;
  }
  field.name = origin->second.name;
  if (origin->second.use == LaunchUse::Taken) {
    if (const auto value = document_.arguments.find(field.name); value != document_.arguments.end())
      field.value = value->second;
    if (const auto line = document_.lines.find(field.name); line != document_.lines.end())
      field.line = line->second;
    return field;
  }
  if (field.use != LaunchUse::Taken && field.use != LaunchUse::Derived) return field;
  field.use = origin->second.use;
  field.note = origin->second.note;
  field.source = origin->second.source;
  return field;
}

void MegatronSettings::add_unread(LaunchImport& out) const {
  std::set<std::string> known;
  for (const LaunchField& field : out.fields) known.insert(field.name);
  for (const auto& [name, value] : document_.arguments) {
    if (known.contains(name)) continue;
    const int line = document_.lines.contains(name) ? document_.lines.at(name) : 0;
    const bool absent = value == "null" || value.empty(), read = read_.contains(name);
    const LaunchUse use = absent ? LaunchUse::NoEffect : read ? LaunchUse::Taken : LaunchUse::NotUnderstood;
    const std::string note = absent ? "not set"
                             : read ? ""
                                    : "no setting of " + framework_ + " that is known here";
    out.fields.push_back({use, name, value, {}, note, "", line});
  }
}

// A setting of several arguments is one field: the most severe use counts, and all knobs.
void MegatronSettings::add_fields(std::vector<LaunchField> fields, LaunchImport& out) const {
  std::map<std::string, size_t> at;
  for (LaunchField& one : fields) {
    LaunchField field = field_of(std::move(one));
    const auto [it, first] = at.emplace(field.name, out.fields.size());
    if (first) {
      out.fields.push_back(std::move(field));
      continue;
    }
    LaunchField& other = out.fields[it->second];
    std::vector<std::string> knobs = other.knobs;
    for (const std::string& knob : field.knobs)
      if (std::find(knobs.begin(), knobs.end(), knob) == knobs.end()) knobs.push_back(knob);
    const bool harmless = field.use == LaunchUse::NoEffect, idle = other.use == LaunchUse::NoEffect;
    if (idle || (!harmless && field.use > other.use)) other = std::move(field);
    other.knobs = std::move(knobs);
  }
}

void MegatronSettings::set_knobs(LaunchImport& out) {
  for (const KnobSetting& one : knobs_) {
    const auto value = document_.arguments.find(one.name);
    const bool given = value != document_.arguments.end();
    const int line = document_.lines.contains(one.name) ? document_.lines.at(one.name) : 0;
    LaunchField field{given ? LaunchUse::Taken : LaunchUse::Assumed,
                      one.name,
                      given ? value->second : one.value,
                      {one.id},
                      given ? "" : "default of " + framework_,
                      "",
                      line};
    if (const auto problem = set_knob(out.design, *find_knob(one.id), one.value)) {
      field.use = LaunchUse::NoCounterpart;
      field.note = to_string(*problem);
      field.knobs.clear();
    }
    out.fields.push_back(std::move(field));
  }
}

void MegatronSettings::finish(const LaunchRequest& request, std::optional<int64_t> gpus,
                              const std::string& gpus_from, LaunchImport& out) {
  if (!set_launch_gpus(request, gpus, gpus_from, out)) return;
  LaunchDesign read = read_megatron_arguments(arguments_, *out.gpus);
  out.design = std::move(read.design);
  add_fields(std::move(read.fields), out);
  set_knobs(out);
  for (const LaunchField& field : others_) out.fields.push_back(field);
  add_unread(out);
  sort_by_line(out.fields);
}

}  // namespace shardscape
