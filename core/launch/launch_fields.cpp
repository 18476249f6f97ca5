#include "launch/launch_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

constexpr int64_t kLargest = 1'000'000'000'000;  // products of a few sizes still fit

// Severe uses replace milder ones of the same argument.
bool is_more_severe(LaunchUse a, LaunchUse b) { return static_cast<int>(a) > static_cast<int>(b); }

}  // namespace

bool matches_name(std::string_view pattern, std::string_view argument) {
  return pattern.ends_with('*') ? argument.starts_with(pattern.substr(0, pattern.size() - 1))
                                : argument == pattern;
}

std::vector<const char*> patterns(const std::vector<std::string>& names) {
  std::vector<const char*> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(name.c_str());
  return out;
}

std::optional<std::string> LaunchFields::text(const std::string& argument) {
  const auto it = arguments_.find(argument);
  if (it == arguments_.end()) return std::nullopt;
  used_.insert(argument);
  if (it->second == "null") return std::nullopt;
  return it->second;
}

bool LaunchFields::has(const std::string& argument) const {
  const auto it = arguments_.find(argument);
  return it != arguments_.end() && it->second != "null";
}

int64_t LaunchFields::number(const std::string& argument, int64_t otherwise) {
  const auto found = text(argument);
  if (!found) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(found->data(), found->data() + found->size(), value);
  const bool whole = error == std::errc() && end == found->data() + found->size();
  if (whole && value >= -kLargest && value <= kLargest) return value;
  double real = 0;  // JSON writes 5e8
  const auto [last, wrong] = std::from_chars(found->data(), found->data() + found->size(), real);
  if (!whole && wrong == std::errc() && last == found->data() + found->size() && real == std::floor(real) &&
      std::abs(real) <= static_cast<double>(kLargest))
    return static_cast<int64_t>(real);
  misread(argument, *found == "true" ? "the argument has no value: a variable of the script is empty"
                    : whole          ? "the number is too large"
                                     : "\"" + *found + "\" is not a whole number");
  return otherwise;
}

void LaunchFields::note(LaunchUse use, const std::string& argument, const std::string& value,
                        const std::string& knob, const std::string& reason, const std::string& source) {
  const auto [at, is_new] = field_of_.try_emplace(argument, out_.fields.size());
  if (is_new) out_.fields.push_back({use, argument, value, {}, reason, source, 0});
  LaunchField& field = out_.fields[at->second];
  if (!knob.empty() && std::find(field.knobs.begin(), field.knobs.end(), knob) == field.knobs.end())
    field.knobs.push_back(knob);
  if (!is_more_severe(use, field.use)) return;
  field.use = use;
  field.note = reason;
  field.source = source;
}

void LaunchFields::set(const char* knob, const std::string& value, const std::string& argument) {
  if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  const auto given = arguments_.find(argument);
  if (given != arguments_.end())
    note(LaunchUse::Taken, argument, given->second, knob);
  else
    note(LaunchUse::Assumed, argument, value, knob, "default of " + framework_);
}

void LaunchFields::set_effective(const char* knob, const std::string& value, const std::string& argument) {
  if (const auto reason = without_effect(out_.design, *find_knob(knob))) return unmapped(argument, *reason);
  set(knob, value, argument);
}

void LaunchFields::set_architecture(const std::string& architecture, const std::string& argument) {
  out_.design.model.architecture = architecture;
  const auto given = arguments_.find(argument);
  note(given != arguments_.end() ? LaunchUse::Taken : LaunchUse::Assumed, argument,
       given != arguments_.end() ? given->second : architecture, "architecture",
       given != arguments_.end() ? "" : "default of " + framework_);
}

void LaunchFields::derive(const char* knob, const std::string& value, const std::string& argument,
                          const std::string& rule, const std::string& source) {
  if (has(argument)) return set(knob, value, argument);
  conclude(knob, value, argument, rule, source);
}

void LaunchFields::conclude(const char* knob, const std::string& value, const std::string& argument,
                            const std::string& rule, const std::string& source) {
  used_.insert(argument);
  if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  note(LaunchUse::Derived, argument, value, knob, rule, source);
}

void LaunchFields::assume(const char* knob, const std::string& value, const std::string& argument,
                          const std::string& reason) {
  used_.insert(argument);
  if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  note(LaunchUse::Assumed, argument, value, knob, reason);
}

void LaunchFields::set_model(const ModelSpec& model, const std::string& name, const std::string& argument,
                             const std::string& value, const std::string& origin) {
  used_.insert(argument);
  apply_model(out_.design, model, name);
  note(LaunchUse::Taken, argument, value, "", origin);
}

void LaunchFields::ignore(const std::string& pattern, const std::string& reason) {
  for (const auto& [argument, value] : arguments_) {
    if (!matches_name(pattern, argument)) continue;
    used_.insert(argument);
    note(LaunchUse::NoEffect, argument, value, "", reason);
  }
}

void LaunchFields::leave_out(LaunchUse use, const std::string& argument, const std::string& reason) {
  if (unmapped_.insert(argument).second) out_.unmapped.push_back({argument, reason});
  const auto given = arguments_.find(argument);
  note(use, argument, given == arguments_.end() ? "" : given->second, "", reason);
}

LaunchDesign LaunchFields::finish(const LaunchRules& rules) {
  for (const auto& [argument, reason] : rules.changes)
    if (text(argument).value_or("false") != "false") unmapped(argument, reason);
  for (const auto& entry : arguments_) {
    const std::string &argument = entry.first, &value = entry.second;
    const bool no_effect = std::any_of(
        rules.no_effect.begin(), rules.no_effect.end(),
        [&](std::string_view pattern) { return matches_name(pattern, argument); });
    const bool unread = !used_.contains(argument) && !no_effect;
    if (unread && (value == "null" || (rules.is_default && rules.is_default(argument, value))))
      note(LaunchUse::NoEffect, argument, value, "", "the default");
    else if (unread && rules.knows && !rules.knows(argument))
      misread(argument, rules.unknown.empty() ? rules.framework + " has no such argument" : rules.unknown);
    else if (unread)
      unmapped(argument, "a design has no counterpart");
    else if (!field_of_.contains(argument))
      note(used_.contains(argument) ? LaunchUse::Taken : LaunchUse::NoEffect, argument, value, "");
  }
  return std::move(out_);
}

}  // namespace shardscape
