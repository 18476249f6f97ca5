// Repairs a design after a change of its model: settings that are valid with the new model stay, all others
// change.
#pragma once

#include <string>
#include <vector>

#include "design/design.h"
#include "design/knobs/knobs.h"

namespace shardscape {

struct KnobChange {
  const Knob* knob;
  std::string before, after;  // as knob_text() prints them
};

// Changes knobs outside the model until no error is left: by the fixes that validate() offers, otherwise by
// the values of the default design. The model stays unchanged; errors of the model itself remain.
void repair_design(Design& design);

// Knobs outside the model that differ, in the order of the form.
std::vector<KnobChange> changes_outside_model(const Design& before, const Design& after);

}  // namespace shardscape
