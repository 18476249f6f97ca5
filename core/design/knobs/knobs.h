// The one table of knobs: the source of the form, the flags, the JSON keys, the tooltips and the help.
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
// Decimal values are stored in thousandths.
// Text: a text with a grammar of its own.
enum class KnobType { Integer, Decimal, Boolean, Choice, IntegerList, ChoiceList, Text };

struct KnobChoice {
  std::string value, label;
};

struct Knob {
  std::string id;  // JSON key and flag: "kv_heads" is --kv-heads and "model": {"kv_heads": 8}
  KnobGroup group;
  // Heading inside the group: "Experts". The knobs of a section need not be adjacent.
  std::string section;
  bool rare = false;  // the form collapses the section while all its knobs have their defaults
  // No step depends on the knob: price, power, training run. Documents omit the knob while it has its
  // default.
  bool outside_step = false;
  // The file of a checkpoint states the value, so that an imported model brings it.
  bool of_checkpoint = false;
  KnobType type;
  std::string label;         // "KV heads"
  std::string symbol;        // "G", may be empty
  std::string unit;          // "tokens", may be empty
  int64_t min = 0, max = 0;  // of Integer, of the elements of an IntegerList, of Decimal in thousandths
  std::vector<KnobChoice> choices;  // of Choice and ChoiceList
  std::string when_empty;           // IntegerList, Text: the meaning of an empty value, "even split"
  std::string accepted;             // Text: the texts that are accepted
  std::string help;                 // one or two sentences: the effect and the cost
  std::string flag() const;         // "--kv-heads"
};

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view id);
std::string_view group_label(KnobGroup group);  // "Model"

// The canonical text of a knob's value: "8", "true", "h100-sxm-80gb", "9,8,8,7", "core_attn,mlp"; "" for an
// empty list.
std::string knob_text(const Design& design, const Knob& knob);
// The knobs that differ, with their values in `to`: settings of a fix.
std::vector<std::pair<std::string, std::string>> changed_knobs(const Design& from, const Design& to);
// Sets a knob from text. Integers may have thousands separators, and token counts the suffix k for 1,024. The
// global batch may be in tokens of a step (step_tokens.h). Choices may be in any case. On a Problem, the
// design stays unchanged.
std::optional<Problem> set_knob(Design& design, const Knob& knob, std::string_view text);
// A parsed value that can be set in many designs. A batch in tokens is none: its sequences depend on the
// design.
using KnobSetting = std::function<void(Design&)>;
Result<KnobSetting> read_setting(const Knob& knob, std::string_view text);
// The value as a number, for comparisons: integers unchanged, decimals in thousandths, flags as 0 or 1, the
// index of a choice, the length of a list.
using KnobNumber = std::function<int64_t(const Design&)>;
KnobNumber knob_number(const Knob& knob);
// The accepted values as text: "a whole number from 1 to 131,072".
std::string accepted_values(const Knob& knob);

}  // namespace shardscape
