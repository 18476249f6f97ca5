#include "design/knobs/published_layout.h"

#include "base/units.h"
#include "design/design_name.h"
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

std::string published_layout_text(const Preset& preset) {
  Design design;
  if (preset.layout.empty() || apply_published_layout(design, preset)) return "";
  const ParallelSpec& p = design.parallel;
  std::string out = grouped(design.world()) + " " + short_accelerator_name(design.cluster.accelerator);
  const std::pair<const char*, int64_t> degrees[] = {{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}, {"ep", p.ep}};
  for (const auto& [name, degree] : degrees)
    if (degree > 1) out += std::string(", ") + name + " " + grouped(degree);
  return out;
}

}  // namespace shardscape
