// The machine of a design, value by value, each with its unit and where it comes from: what the command line prints and the window
// shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/design.h"

namespace shardscape {

enum class ValueOrigin : uint8_t {
  Catalogue,    // an entry of it, built in or a person's own
  Design,       // a knob that overrides it
  Calibration,  // condensed from measurements
  Program       // taken where none of them says anything
};
std::string_view origin_name(ValueOrigin origin);  // "catalogue"

struct MachineValue {
  std::string key;    // of the catalogue, or of the knob
  std::string label;  // "Memory bandwidth"
  std::string value;  // "3,350"
  std::string unit;   // "GB/s"; empty: a word or a bare number
  ValueOrigin origin = ValueOrigin::Catalogue;
  std::string source;                // never empty
  std::optional<double> number = {};  // of the value, where it is one
};

struct MachineSection {
  std::string title;  // "Accelerator"
  std::string name;   // "NVIDIA H100 SXM 80 GB"; empty: it has none
  std::vector<MachineValue> values;
};

// Accelerator, network, kernels. What is not known is left out. The cluster's knobs need not be valid; an accelerator that the
// catalogue lacks has no sections.
std::vector<MachineSection> machine_table(const Design& design);

}  // namespace shardscape
