#include "launch/launch_gaps.h"

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "launch/launch_writer.h"

namespace shardscape {

std::variant<LaunchText, Problem> with_gaps(const Design& design, LaunchText text,
                                            const LaunchFramework& framework,
                                            const std::vector<std::pair<std::string, std::string>>& reasons) {
  LaunchRequest request;
  request.text = text.text;
  request.where = text.file_name;
  request.framework = framework.id;
  request.gpus = design.world();
  const LaunchImport read = import_launch(request);
  if (!read.ok())
    return Problem{ProblemCode::LaunchSetting, "--as", read.problems[0].what,
                   "a design that " + std::string(framework.label) + " runs"};
  LaunchWriter writer(design, read.design);
  for (const auto& [id, reason] : reasons) {
    const Knob& knob = *find_knob(id);
    if (knob_text(design, knob) != knob_text(read.design, knob) && !without_effect(design, knob))
      writer.gap(id, reason);
  }
  text.gaps = writer.finish(std::string(framework.label));
  return text;
}

}  // namespace shardscape
