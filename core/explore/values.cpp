#include "explore/values.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/number_text.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "design/knobs/step_tokens.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

Problem wrong(ProblemCode code, const Knob& knob, std::string what, std::string accepted = "") {
  return {code, knob.id, std::move(what), accepted.empty() ? values_help(knob) : std::move(accepted)};
}

// Whether a value may contain commas.
bool holds_lists(const Knob& knob) {
  return knob.type == KnobType::IntegerList || knob.type == KnobType::ChoiceList ||
         knob.type == KnobType::Text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// A design with the value. The values of a list hold in designs with different sequences, so a batch in
// tokens is refused.
Result<Design> with_value(const Knob& knob, const std::string& text) {
  const auto setting = read_setting(knob, text);
  if (knob.id == "batch" && parse_step_tokens(text))
    return wrong(ProblemCode::NotANumber, knob, "\"" + shortened(text) + "\" is in tokens",
                 "a batch in sequences");
  if (const auto* problem = std::get_if<Problem>(&setting)) return wrong(problem->code, knob, problem->what);
  Design out;
  std::get<KnobSetting>(setting)(out);
  return out;
}

// The number of a knob value given as text; thousandths for decimal knobs.
Result<int64_t> number_of(const Knob& knob, const std::string& text) {
  const auto design = with_value(knob, text);
  if (const auto* problem = std::get_if<Problem>(&design)) return *problem;
  return knob_number(knob)(std::get<Design>(design));
}

std::string number_word(const Knob& knob, int64_t value) {
  return knob.type == KnobType::Decimal ? thousandths_text(value) : std::to_string(value);
}

// Ranges such as "1..64*2".
Result<std::vector<std::string>> parse_range(const Knob& knob, const std::string& text) {
  const size_t dots = text.find("..");
  std::string last = text.substr(dots + 2);
  const size_t by = last.find_first_of("*+");
  const char kind = by == std::string::npos ? '+' : last[by];
  const std::string step_text = by == std::string::npos ? "" : last.substr(by + 1);
  last = last.substr(0, by);
  const auto from = number_of(knob, text.substr(0, dots)), to = number_of(knob, last);
  for (const auto* end : {&from, &to})
    if (const auto* problem = std::get_if<Problem>(end)) return *problem;
  int64_t step = kind == '*' ? 2 : knob.type == KnobType::Decimal ? 1000 : 1;
  if (!step_text.empty()) {
    const bool decimal = knob.type == KnobType::Decimal && kind == '+';
    const std::optional<int64_t> thousandths = decimal ? parse_thousandths(step_text) : std::nullopt;
    const NumberText whole = parse_number(step_text, false);
    step = decimal ? thousandths.value_or(0) : whole.fault == NumberFault::None ? whole.value : 0;
    if (step < 1 || (kind == '*' && step < 2))
      return wrong(ProblemCode::RangeInvalid, knob, "\"" + step_text + "\" is not a step of a range",
                   "a..b*2 for powers, a..b+step for equal steps");
  }
  const int64_t first = std::get<int64_t>(from), end = std::get<int64_t>(to);
  if (first > end)
    return wrong(ProblemCode::RangeInvalid, knob, "the range " + shortened(text) + " is descending",
                 number_word(knob, end) + ".." + number_word(knob, first));
  if (kind == '*' && first < 1)
    return wrong(ProblemCode::RangeInvalid, knob, "powers cannot start at " + number_word(knob, first),
                 "a range from 1 on");
  std::vector<std::string> values;
  for (int64_t value = first; value <= end;) {
    if (values.size() == kMaxValues)
      return wrong(ProblemCode::TooManyValues, knob,
                   "the range " + shortened(text) + " has more than " + grouped(kMaxValues) + " values",
                   "a larger step");
    values.push_back(number_word(knob, value));
    if (kind == '*' ? __builtin_mul_overflow(value, step, &value)
                    : __builtin_add_overflow(value, step, &value))
      break;
  }
  return values;
}

// Sorts and removes duplicates: numbers by size, choices by their position in the knob table.
std::vector<std::string> in_order(const Knob& knob, std::vector<std::string> values) {
  if (!holds_lists(knob)) {
    Design scratch;
    const KnobNumber number = knob_number(knob);
    const auto place = [&](const std::string& text) {
      (void)set_knob(scratch, knob, text);
      return number(scratch);
    };
    std::vector<std::pair<int64_t, std::string>> placed;
    placed.reserve(values.size());
    for (std::string& value : values) placed.emplace_back(place(value), std::move(value));
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    values.clear();
    for (auto& [_, value] : placed) values.push_back(std::move(value));
  }
  std::vector<std::string> once;
  std::unordered_set<std::string> seen;  // equal lists may stand apart, equal numbers do not
  for (std::string& value : values)
    if (holds_lists(knob) ? seen.insert(value).second : once.empty() || once.back() != value)
      once.push_back(std::move(value));
  return once;
}

std::vector<std::string> words(const std::vector<int64_t>& numbers) {
  std::vector<std::string> out;
  out.reserve(numbers.size());
  for (int64_t n : numbers) out.push_back(std::to_string(n));
  return out;
}

// The size that a knob divides; "all" stands for the divisors.
struct Splits {
  const char* knob;
  int64_t (*size)(const Design&);
  bool zero;  // whether 0 is also a value
};
constexpr Splits kSplits[] = {
    {"virtual_stages", [](const Design& d) { return d.model.layers; }, false},
    {"microbatch", [](const Design& d) { return d.workload.batch; }, false},
    {"recompute_num_layers", [](const Design& d) { return d.model.layers; }, false},
    {"ep", [](const Design& d) { return std::max<int64_t>(d.model.experts, 1); }, false},
    {"etp", [](const Design& d) { return d.cluster.gpus_per_node; }, true},
    {"ulysses_degree", [](const Design& d) { return std::max<int64_t>(d.model.kv_heads, 1); }, true},
    {"dcp", [](const Design& d) { return d.parallel.tp; }, false},
    {"dp_shard", [](const Design& d) { return d.workload.batch; }, true},
};

std::vector<std::string> all_subsets(const Knob& knob) {
  std::vector<std::string> out;
  for (uint64_t bits = 1; bits < uint64_t{1} << knob.choices.size(); ++bits) {
    std::string text;
    for (size_t i = 0; i < knob.choices.size(); ++i)
      if (bits >> i & 1) text += (text.empty() ? "" : ",") + knob.choices[i].value;
    out.push_back(std::move(text));
  }
  return out;
}

bool is_word(const std::string& text, std::string_view what) {
  std::string word(trimmed(text));
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word == what;
}

}  // namespace

bool is_all(const std::string& text) { return is_word(text, "all"); }

std::string values_help(const Knob& knob) {
  const std::string each = "each " + accepted_values(knob);
  switch (knob.type) {
    case KnobType::Integer:
    case KnobType::Decimal:
      return "a value, a list such as 1,2,4, a range such as 1..64*2 (powers), 1..9+2 (steps) or 1..4, or "
             "all; " +
             each;
    case KnobType::Boolean: return "true, false, or all for both";
    case KnobType::Choice: return "one or several choices separated by commas, or all; " + each;
    case KnobType::IntegerList:
    case KnobType::ChoiceList: return "one list, or several lists separated by bars (|); " + each;
    case KnobType::Text: return "one text, or several texts separated by bars (|); " + each;
  }
  return "";
}

Result<std::vector<std::string>> parse_values(const Knob& knob, const std::string& text) {
  std::vector<std::string> values;
  for (const std::string& raw : split(text, holds_lists(knob) ? '|' : ',')) {
    if (values.size() > kMaxValues) break;
    const std::string part(trimmed(raw));
    if (part.empty() && !holds_lists(knob))
      return wrong(ProblemCode::ValueMissing, knob, "a value is missing in \"" + shortened(text) + "\"");
    const bool numeric = knob.type == KnobType::Integer || knob.type == KnobType::Decimal;
    if (part.find("..") != std::string::npos && numeric) {
      auto range = parse_range(knob, part);
      if (auto* problem = std::get_if<Problem>(&range)) return *problem;
      for (std::string& value : std::get<0>(range)) values.push_back(std::move(value));
      continue;
    }
    if (numeric && part.size() > 1 && part[0] == '0' && part[1] != '.')
      return wrong(ProblemCode::ThousandsSeparator, knob,
                   "\"" + shortened(part) + "\" in \"" + shortened(text) +
                       "\": commas separate values here, not thousands");
    const auto design = with_value(knob, part);
    if (const auto* problem = std::get_if<Problem>(&design)) return *problem;
    values.push_back(knob_text(std::get<Design>(design), knob));
  }
  if (values.size() > kMaxValues)
    return wrong(ProblemCode::TooManyValues, knob, "there are more than " + grouped(kMaxValues) + " values",
                 "fewer values");
  return in_order(knob, std::move(values));
}

Result<std::vector<int64_t>> sweep_values(const Knob& knob, const std::string& text) {
  std::vector<int64_t> out;
  if (trimmed(text).empty() || is_word(text, "usual")) return out;
  const std::string
      accepted = "numbers of " + knob.unit +
                 " such as 1,8,64, a range such as 1..64*2 (powers) or 1024..8192+1024 (steps), or usual";
  auto values = parse_values(knob, text);
  if (auto* problem = std::get_if<Problem>(&values))
    return wrong(problem->code, knob, std::move(problem->what), accepted);
  if (std::get<0>(values).size() > kMaxSwept)
    return wrong(
        ProblemCode::TooManyValues, knob,
        grouped(static_cast<Wide>(std::get<0>(values).size())) + " values are too many for one sweep",
        "at most " + grouped(kMaxSwept));
  for (const std::string& value : std::get<0>(values)) out.push_back(std::stoll(value));
  return out;
}

bool is_range(const Knob& knob, const std::string& text) {
  if (is_all(text)) return true;
  const auto values = parse_values(knob, text);
  return std::holds_alternative<std::vector<std::string>>(values)
             ? std::get<0>(values).size() > 1
             : text.find(holds_lists(knob) ? "|" : ",") != std::string::npos ||
                   text.find("..") != std::string::npos;
}

Result<std::vector<std::string>> all_values(const Knob& knob, const Design& base) {
  constexpr size_t kMostSubsets = 10;
  switch (knob.type) {
    case KnobType::Boolean: return std::vector<std::string>{"false", "true"};
    case KnobType::Choice: {
      std::vector<std::string> values;
      for (const KnobChoice& choice : knob.choices) values.push_back(choice.value);
      return values;
    }
    case KnobType::ChoiceList:
      if (knob.choices.size() <= kMostSubsets) return all_subsets(knob);
      break;
    case KnobType::Integer:
      for (const Splits& split : kSplits) {
        if (knob.id != split.knob) continue;
        std::vector<std::string> values = words(divisors(split.size(base)));
        if (split.zero) values.insert(values.begin(), "0");
        return values;
      }
      break;
    case KnobType::Decimal:
    case KnobType::IntegerList:
    case KnobType::Text: break;
  }
  return Problem{ProblemCode::AllValuesUnknown, knob.id, "\"all\" is not defined for \"" + knob.id + "\"",
                 values_help(knob)};
}

}  // namespace shardscape
