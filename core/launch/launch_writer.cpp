#include "launch/launch_writer.h"

#include <algorithm>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"

namespace shardscape {

std::string LaunchWriter::take(std::string_view knob) {
  expressed(knob);
  return knob_text(design_, *find_knob(knob));
}

void LaunchWriter::gap(std::string_view knob, std::string reason) {
  expressed(knob);
  given_.emplace_back(knob, std::move(reason));
}

std::vector<LaunchGap> LaunchWriter::finish(const std::string& framework) {
  std::vector<LaunchGap> out;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Cluster || knob.outside_step) continue;
    const std::string value = knob_text(design_, knob);
    const auto given = std::find_if(given_.begin(), given_.end(),
                                    [&](const auto& one) { return one.first == knob.id; });
    if (given != given_.end())
      out.push_back({knob.id, value, given->second});
    else if (!expressed_.contains(knob.id) && value != knob_text(otherwise_, knob) &&
             !without_effect(design_, knob))
      out.push_back({knob.id, value, framework + " has no such setting"});
  }
  return out;
}

}  // namespace shardscape
