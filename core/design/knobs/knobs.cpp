#include "design/knobs/knobs.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/number_text.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "design/knobs/knob_access.h"
#include "design/knobs/step_tokens.h"
#include "hardware/accelerator.h"

namespace shardscape {
namespace {

const KnobTable& table() {
  static const KnobTable instance = make_knob_table();
  return instance;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The tokens of a training run: millions and more.
bool counts_budget(const Knob& knob) { return knob.id == "tokens"; }
// The sequences of a step, which can also be said in tokens.
bool counts_sequences(const Knob& knob) { return knob.id == "batch"; }
bool counts_tokens(const Knob& knob) { return knob.unit == "tokens" && !counts_budget(knob); }

// What is wrong with a text.
struct Mistake {
  ProblemCode code;
  std::string what;
};

// These functions read the value. They return the mistake, or nothing on success.
std::optional<Mistake> read_integer(const Knob& knob, std::string_view text, int64_t& value) {
  const NumberText read = counts_budget(knob) ? parse_count(text) : parse_number(text, counts_tokens(knob));
  const std::string quoted = "\"" + shortened(text) + "\"";
  switch (read.fault) {
    case NumberFault::None: break;
    case NumberFault::Empty: return Mistake{ProblemCode::ValueMissing, "a value is missing"};
    case NumberFault::NotWhole: return Mistake{ProblemCode::NotANumber, quoted + " is not a whole number"};
    case NumberFault::Suffix:
      return Mistake{ProblemCode::AmbiguousSuffix,
                     quoted + ": a suffix is ambiguous here, because it could mean thousands or 1,024"};
    case NumberFault::TooLarge: return Mistake{ProblemCode::ValueTooLarge, quoted + " is out of range"};
  }
  if (read.value < knob.min)
    return Mistake{ProblemCode::ValueTooSmall, grouped(read.value) + " is too small"};
  if (read.value > knob.max)
    return Mistake{ProblemCode::ValueTooLarge, grouped(read.value) + " is too large"};
  value = read.value;
  return std::nullopt;
}

std::optional<Mistake> read_decimal(const Knob& knob, std::string_view text, int64_t& value) {
  const std::string quoted = "\"" + shortened(text) + "\"";
  const std::optional<int64_t> thousandths = parse_thousandths(text);
  if (text.empty()) return Mistake{ProblemCode::ValueMissing, "a value is missing"};
  if (!thousandths)
    return Mistake{ProblemCode::NotANumber, quoted + " is not a number with at most three decimals"};
  if (*thousandths < knob.min) return Mistake{ProblemCode::ValueTooSmall, quoted + " is too small"};
  if (*thousandths > knob.max) return Mistake{ProblemCode::ValueTooLarge, quoted + " is too large"};
  value = *thousandths;
  return std::nullopt;
}

std::optional<Mistake> read_list(const Knob& knob, std::string_view text, std::vector<int64_t>& values) {
  values.clear();
  if (trimmed(text).empty()) return std::nullopt;
  while (true) {
    const size_t comma = text.find(',');
    if (auto wrong = read_integer(knob, trimmed(text.substr(0, comma)), values.emplace_back())) return wrong;
    if (comma == std::string_view::npos) return std::nullopt;
    text.remove_prefix(comma + 1);
  }
}

// Each choice once, in the order of the table.
std::optional<Mistake> read_choices(const Knob& knob, std::string_view text,
                                    std::vector<std::string>& values) {
  std::vector<bool> chosen(knob.choices.size(), false);
  while (!trimmed(text).empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    const std::string* choice = canonical_choice(knob, word);
    if (!choice)
      return Mistake{ProblemCode::UnknownChoice,
                     "\"" + shortened(word) + "\" is not one of the " + lower(knob.label)};
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = chosen[i] || &knob.choices[i].value == choice;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) values.push_back(knob.choices[i].value);
  return std::nullopt;
}

std::optional<Mistake> read_value(const Knob& knob, std::string_view text, KnobValue& value) {
  switch (knob.type) {
    case KnobType::Integer: return read_integer(knob, text, value.emplace<int64_t>());
    case KnobType::Decimal: return read_decimal(knob, text, value.emplace<int64_t>());
    case KnobType::IntegerList: return read_list(knob, text, value.emplace<std::vector<int64_t>>());
    case KnobType::ChoiceList: return read_choices(knob, text, value.emplace<std::vector<std::string>>());
    case KnobType::Boolean: {
      const std::string word = lower(text);
      const bool yes = word == "true" || word == "on" || word == "yes" || word == "1";
      if (!yes && word != "false" && word != "off" && word != "no" && word != "0") {
        return Mistake{ProblemCode::NotABoolean, "\"" + shortened(text) + "\" is neither true nor false"};
      }
      value = yes;
      return std::nullopt;
    }
    case KnobType::Choice: {
      const std::string* choice = canonical_choice(knob, text);
      if (!choice)
        return Mistake{ProblemCode::UnknownChoice,
                       "there is no " + lower(knob.label) + " \"" + shortened(text) + "\""};
      value = *choice;
      return std::nullopt;
    }
    case KnobType::Text:
      if (const auto mistake = text.empty() ? std::nullopt : knob_access(knob).mistake(text))
        return Mistake{mistake->code, mistake->what};
      value = std::string(text);
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string Knob::flag() const {
  std::string text = "--" + id;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::span<const Knob> knobs() { return table().knobs; }

const Knob* find_knob(std::string_view id) {
  for (const Knob& knob : knobs()) {
    if (knob.id == id) return &knob;
  }
  return nullptr;
}

const KnobAccess& knob_access(const Knob& knob) {
  const std::vector<Knob>& all = table().knobs;
  const bool own = !all.empty() && &knob >= &all.front() && &knob <= &all.back();
  const Knob* known = own ? &knob : find_knob(knob.id);
  if (!known) throw std::invalid_argument("no such knob: " + knob.id);
  return table().access[static_cast<size_t>(known - table().knobs.data())];
}

std::string_view group_label(KnobGroup group) {
  switch (group) {
    case KnobGroup::Model: return "Model";
    case KnobGroup::Parallelism: return "Parallelism";
    case KnobGroup::Workload: return "Workload";
    case KnobGroup::Cluster: return "Cluster";
  }
  return "";
}

const std::string* canonical_choice(const Knob& knob, std::string_view text) {
  for (const KnobChoice& choice : knob.choices)
    if (choice.value == text) return &choice.value;
  std::string wanted = lower(text);
  if (knob.id == "accelerator") {
    if (const Accelerator* item = find_accelerator(wanted)) wanted = lower(item->id);
  }
  for (const KnobChoice& choice : knob.choices) {
    if (lower(choice.value) == wanted) return &choice.value;
  }
  return nullptr;
}

std::string knob_text(const Design& design, const Knob& knob) {
  const KnobValue value = knob_access(knob).get(design);
  if (const auto* number = std::get_if<int64_t>(&value))
    return knob.type == KnobType::Decimal ? thousandths_text(*number) : std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) return list_text(*numbers);
  std::string words;
  for (const std::string& word : std::get<std::vector<std::string>>(value))
    words += (words.empty() ? "" : ",") + word;
  return words;
}

std::vector<std::pair<std::string, std::string>> changed_knobs(const Design& from, const Design& to) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Knob& knob : knobs())
    if (std::string value = knob_text(to, knob); value != knob_text(from, knob))
      out.emplace_back(knob.id, std::move(value));
  return out;
}

std::optional<Problem> set_knob(Design& design, const Knob& knob, std::string_view text) {
  const std::optional<int64_t> tokens = counts_sequences(knob) ? parse_step_tokens(text) : std::nullopt;
  const auto setting = read_setting(
      knob, tokens ? std::to_string(sequences_of_tokens(design, *tokens)) : std::string(text));
  if (const auto* problem = std::get_if<Problem>(&setting)) return *problem;
  std::get<KnobSetting>(setting)(design);
  return std::nullopt;
}

Result<KnobSetting> read_setting(const Knob& knob, std::string_view text) {
  KnobValue value;
  if (auto wrong = read_value(knob, trimmed(text), value))
    return Problem(wrong->code, knob.id, std::move(wrong->what), accepted_values(knob));
  return KnobSetting(
      [set = knob_access(knob).set, value = std::move(value)](Design& design) { set(design, value); });
}

KnobNumber knob_number(const Knob& knob) {
  return [get = knob_access(knob).get, known = find_knob(knob.id)](const Design& design) -> int64_t {
    const KnobValue value = get(design);
    if (const auto* number = std::get_if<int64_t>(&value)) return *number;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value))
      return static_cast<int64_t>(numbers->size());
    if (const auto* words = std::get_if<std::vector<std::string>>(&value))
      return static_cast<int64_t>(words->size());
    const auto& choices = known->choices;
    const auto is_it = [&](const KnobChoice& choice) { return choice.value == std::get<std::string>(value); };
    return std::find_if(choices.begin(), choices.end(), is_it) - choices.begin();
  };
}

std::string accepted_values(const Knob& knob) {
  const std::string range = " from " + grouped(knob.min) + " to " + grouped(knob.max);
  switch (knob.type) {
    case KnobType::Integer:
      return "a whole number" + range +
             (counts_sequences(knob)
                  ? ", or tokens per step, as in 4M tokens, where k and M stand for 1,024 and 1,048,576"
              : counts_tokens(knob) ? ", where k stands for 1,024 (8k is 8,192)"
              : counts_budget(knob) ? ", where M, B and T stand for 10^6, 10^9 and 10^12 (15T)"
                                    : "");
    case KnobType::Decimal:
      return "a number from " + thousandths_text(knob.min) + " to " + thousandths_text(knob.max) +
             " with at most three decimals";
    case KnobType::IntegerList:
      return "whole numbers" + range + " separated by commas, or nothing for an " + knob.when_empty;
    case KnobType::Boolean: return "true or false (also on and off, yes and no, 1 and 0)";
    case KnobType::Text: return knob.accepted + ", or nothing for " + knob.when_empty;
    case KnobType::Choice:
    case KnobType::ChoiceList: break;
  }
  if (knob.id == "rank_order")
    return "tp, cp, dp and pp once each, fastest varying first, as in " + knob.choices[0].value;
  std::vector<std::string> values;
  for (const KnobChoice& choice : knob.choices) values.push_back(choice.value);
  if (values.empty()) return "nothing: the data files that list the choices could not be read";
  return (knob.type == KnobType::ChoiceList ? "any of " : "one of ") + or_list(values) +
         (knob.type == KnobType::ChoiceList ? ", separated by commas" : "");
}

}  // namespace shardscape
