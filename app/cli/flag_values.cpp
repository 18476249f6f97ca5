#include "app/cli/flag_values.h"

#include <algorithm>
#include <cctype>

#include "design/examples.h"
#include "design/knobs/knobs.h"
#include "explore/objective.h"
#include "model/library.h"

namespace shardscape {
namespace {

const Knob* knob_of(std::string_view flag) {
  for (const Knob& knob : knobs())
    if (knob.flag() == flag) return &knob;
  return nullptr;
}

FlagValues words(std::vector<std::string> list) { return {ValueKind::Words, std::move(list)}; }

std::vector<std::string> presets() {
  std::vector<std::string> out;
  for (const Preset& preset : ModelLibrary::instance().presets()) out.push_back(preset.id);
  return out;
}

std::vector<std::string> example_ids() {
  std::vector<std::string> out;
  const auto list = examples();
  if (const auto* found = std::get_if<std::vector<Example>>(&list))
    for (const Example& example : *found) out.push_back(example.id);
  return out;
}

std::vector<std::string> objective_names() {
  std::vector<std::string> out;
  for (const Objective& objective : objectives()) out.emplace_back(objective.id);
  out.emplace_back("goodput");
  return out;
}

// "light|dark": the choices. Placeholders are in capitals.
std::vector<std::string> choices(std::string_view operand) {
  std::vector<std::string> out;
  if (operand.find('|') == std::string_view::npos) return out;
  for (size_t at = 0; at <= operand.size();) {
    const size_t end = std::min(operand.find('|', at), operand.size());
    const std::string_view word = operand.substr(at, end - at);
    const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
      return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
             c == '-' || c == '_';
    });
    if (plain) out.emplace_back(word);
    at = end + 1;
  }
  return out;
}

}  // namespace

bool is_setting(const Flag& flag) { return !flag.group.empty() && knob_of(flag.name); }

FlagValues operand_values(std::string_view name, std::string_view operand) {
  static constexpr std::string_view kFiles[] = {"FILE", "DESIGN", "OUT", "TARGET", "PAGE"};
  if (std::find(std::begin(kFiles), std::end(kFiles), operand) != std::end(kFiles))
    return {ValueKind::Files, {}};
  if (operand == "DIR") return {ValueKind::Folders, {}};
  if (operand.starts_with("PRESET")) return words(presets());
  if (name == "--example") return words(example_ids());
  if (name == "--objective") return words(objective_names());
  if (auto list = choices(operand); !list.empty()) return words(std::move(list));
  return {};
}

FlagValues flag_values(const Flag& flag) {
  if (flag.kind == FlagKind::Boolean) return words({"true", "false"});
  if (is_setting(flag)) {
    const Knob& knob = *knob_of(flag.name);
    std::vector<std::string> list;
    for (const KnobChoice& choice : knob.choices) list.push_back(choice.value);
    return list.empty() ? FlagValues{} : words(std::move(list));
  }
  return operand_values(flag.name, flag.operand);
}

std::string first_sentence(const std::string& help) {
  const size_t end = std::min({help.find(". "), help.find(": "), help.find("; "), help.size()});
  std::string out = help.substr(0, end);
  if (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::string short_help(const Flag& flag) {
  return is_setting(flag) ? knob_of(flag.name)->label : first_sentence(flag.help);
}

}  // namespace shardscape
