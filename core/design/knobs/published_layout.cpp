#include "design/knobs/published_layout.h"

#include "design/knobs/knobs.h"

namespace shardscape {

std::optional<Problem> apply_published_layout(Design& design, const Preset& preset) {
  for (const auto& [id, value] : preset.layout.knobs) {
    const Knob* knob = find_knob(id);
    if (!knob)
      return Problem{ProblemCode::DataValue, "preset " + preset.id, "its layout names \"" + id + "\"",
                     "the id of a setting, such as tp"};
    if (auto problem = set_knob(design, *knob, value)) return problem;
  }
  return std::nullopt;
}

}  // namespace shardscape
