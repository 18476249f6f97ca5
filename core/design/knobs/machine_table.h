// The machine of a design as a table of values with units and sources. The command line prints it and the
// window shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/design.h"

namespace shardscape {

enum class ValueOrigin : uint8_t {
  Catalogue,    // a catalogue entry, built in or the user's
  Design,       // a knob that overrides the catalogue
  Calibration,  // fitted to measurements
  Program       // the default without any other source
};
std::string_view origin_name(ValueOrigin origin);  // "catalogue"

struct MachineValue {
  std::string key;    // key in the catalogue, or knob id
  std::string label;  // "Memory bandwidth"
  std::string value;  // "3,350"
  std::string unit;   // "GB/s"; empty for words and bare numbers
  ValueOrigin origin = ValueOrigin::Catalogue;
  std::string source;                 // never empty
  std::optional<double> number = {};  // the value, if it is a number
};

struct MachineSection {
  std::string title;  // "Accelerator"
  std::string name;   // "NVIDIA H100 SXM 80 GB"; may be empty
  std::vector<MachineValue> values;
};

// Sections for the accelerator, the network and the measured kernels. Unknown values are left out. The
// cluster's knobs need not be valid. Empty if the catalogue lacks the accelerator.
std::vector<MachineSection> machine_table(const Design& design);

}  // namespace shardscape
