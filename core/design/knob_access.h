// How a knob reads and writes its field of a design. Private to core/design.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "design/knobs.h"

namespace shardscape {

using KnobValue = std::variant<int64_t, bool, std::string, std::vector<int64_t>, std::vector<std::string>>;  // one per KnobType

struct KnobAccess {
  KnobValue (*get)(const Design&);
  void (*set)(Design&, const KnobValue&);  // of the type that get returns, choices in their canonical spelling
  // Of a number or a flag the value; of a choice among names of an enum its place, -1 where it is none of them. nullptr: no number tells it.
  int64_t (*number)(const Design&) = nullptr;
};

struct KnobTable {
  std::vector<Knob> knobs;
  std::vector<KnobAccess> access;  // as many
};
KnobTable make_knob_table();

const KnobAccess& knob_access(const Knob& knob);
inline int64_t knob_integer(const Design& design, const Knob& knob) {
  return std::get<int64_t>(knob_access(knob).get(design));
}
// The choice's value in the table's spelling; any case and the accelerators' aliases are understood. nullptr if unknown.
const std::string* canonical_choice(const Knob& knob, std::string_view text);

}  // namespace shardscape
