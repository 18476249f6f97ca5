// The one table of knobs: form, flags, JSON keys, tooltips and help all come from it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

enum class KnobGroup { Model, Parallelism, Workload, Cluster };
enum class KnobType { Integer, Decimal, Boolean, Choice, IntegerList, ChoiceList };  // decimals: in thousandths

struct KnobChoice {
  std::string value, label;
};

struct Knob {
  std::string id;      // JSON key and flag: "kv_heads" is --kv-heads and "model": {"kv_heads": 8}
  KnobGroup group;
  std::string section; // heading inside the group: "Experts"; not all of its knobs need be next to each other
  bool rare = false;   // its section folds away while all of it has its usual values
  KnobType type;
  std::string label;   // "KV heads"
  std::string symbol;  // "G", may be empty
  std::string unit;    // "tokens", may be empty
  int64_t min = 0, max = 0;             // Integer, IntegerList elements, Decimal in thousandths
  std::vector<KnobChoice> choices;      // Choice and ChoiceList
  std::string when_empty;               // IntegerList: "even split"
  std::string help;    // one or two sentences; what it does and what it costs
  std::string flag() const;  // "--kv-heads"
};

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view id);
std::string_view group_label(KnobGroup group);  // "Model"

// Canonical text of the value: "8", "true", "h100-sxm-80gb", "9,8,8,7", "core_attn,mlp"; an empty list is "".
std::string knob_text(const Design& design, const Knob& knob);
// Integers may have thousands separators, and those counted in tokens the suffix k for 1,024. Names of choices may be
// in any case. On a Problem the design is unchanged.
std::optional<Problem> set_knob(Design& design, const Knob& knob, std::string_view text);
// A value read once, to be set in many designs.
using KnobSetting = std::function<void(Design&)>;
std::variant<KnobSetting, Problem> read_setting(const Knob& knob, std::string_view text);
// What comparisons use: whole numbers as they are, decimals in thousandths, 0 and 1 for off and on, the place of a choice among
// the knob's; of a list how many it holds.
using KnobNumber = std::function<int64_t(const Design&)>;
KnobNumber knob_number(const Knob& knob);
// A line for people: "a whole number from 1 to 131,072".
std::string accepted_values(const Knob& knob);

}  // namespace shardscape
