// What zero stands for. For many knobs zero means "not set": the value then comes from the catalogue, from
// other knobs, or there is no limit. The form shows such a field empty, with this value as a placeholder.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "design/design.h"
#include "design/knobs/knobs.h"

namespace shardscape {

struct ZeroValue {
  std::string value;   // "989.4", or words: "no limit"
  std::string unit;    // "TFLOP/s"; empty for words and bare numbers
  std::string source;  // "NVIDIA H100 data sheet"
  std::string text() const { return unit.empty() ? value : value + " " + unit; }
};

// Whether zero of the knob means "not set". For all other knobs zero is a number like any other.
bool zero_means_unset(std::string_view knob);

// The knob of a value in the machine table (MachineValue::key). nullptr: no knob sets the value.
const Knob* machine_knob(std::string_view key);

// What the choice "auto" of a knob stands for: "DGX H100, 8 x NDR InfiniBand". Empty: no other name.
std::string auto_value(std::string_view knob, const Design& design);

// The value of every such knob if it is zero and all other knobs are as in the design. Values that do not
// exist for the cluster are "none". The design need not be valid.
std::map<std::string, ZeroValue, std::less<>> zero_values(const Design& design);

}  // namespace shardscape
