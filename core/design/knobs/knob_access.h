// Reads and writes the field of a design behind a knob. Private to core/design.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "design/knobs/knobs.h"

namespace shardscape {

using KnobValue = std::variant<int64_t, bool, std::string, std::vector<int64_t>,
                               // One alternative per KnobType; Decimal uses int64_t, Text and Choice a
                               // string.
                               std::vector<std::string>>;

struct KnobAccess {
  KnobValue (*get)(const Design&);
  // The value has the type that get() returns; choices have their canonical spelling.
  void (*set)(Design&, const KnobValue&);
  // The value of a number or a flag; the index of an enum among its named choices, -1 if it has no name.
  // nullptr for other types of knobs.
  int64_t (*number)(const Design&) = nullptr;
  // Text: the mistake in a text; nothing if the text can be set.
  std::optional<Problem> (*mistake)(std::string_view text) = nullptr;
};

struct KnobTable {
  std::vector<Knob> knobs;
  std::vector<KnobAccess> access;  // one element per knob
};
KnobTable make_knob_table();

const KnobAccess& knob_access(const Knob& knob);
inline int64_t knob_integer(const Design& design, const Knob& knob) {
  return std::get<int64_t>(knob_access(knob).get(design));
}
// The canonical spelling of a choice, in any case or as an alias of an accelerator; nullptr if unknown.
const std::string* canonical_choice(const Knob& knob, std::string_view text);

}  // namespace shardscape
