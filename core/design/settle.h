// A model in the place of another: what was set for the old one stays where the new one can be built with it, the rest gives way.
#pragma once

#include <string>
#include <vector>

#include "design/design.h"
#include "design/knobs.h"

namespace shardscape {

struct KnobChange {
  const Knob* knob;
  std::string before, after;  // as knob_text says them
};

// Changes knobs beside the model's until no error is left that they can mend: by the fixes that validate() offers, else to what the
// program starts with. The model stays as it is; only a model that is wrong by itself leaves errors.
void settle(Design& design);

// Knobs beside the model's that differ, in the order of the form.
std::vector<KnobChange> changes_beside_the_model(const Design& before, const Design& after);

}  // namespace shardscape
