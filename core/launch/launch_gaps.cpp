#include "launch/launch_gaps.h"

#include <algorithm>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// 0 stands for the tensor parallel size.
Design with_expert_tp(Design design) {
  design.parallel.etp = design.parallel.expert_tp();
  return design;
}

std::vector<LaunchGap> differences(const Design& design, const Design& read, const std::string& framework,
                                   const GapReasons& reasons) {
  std::vector<LaunchGap> out;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Cluster || knob.outside_step || without_effect(design, knob)) continue;
    const std::string value = knob_text(design, knob);
    if (value == knob_text(read, knob)) continue;
    const auto reason = std::find_if(reasons.begin(), reasons.end(),
                                     [&](const auto& one) { return one.first == knob.id; });
    out.push_back(
        {knob.id, value, reason == reasons.end() ? framework + " has no such setting" : reason->second});
  }
  return out;
}

void insert_comments(std::string& text, const std::vector<LaunchGap>& gaps) {
  if (gaps.empty()) return;
  size_t heading = 0;  // the end of the first comment lines
  for (size_t end; text.substr(heading, 1) == "#" && (end = text.find('\n', heading)) != text.npos;)
    heading = end + 1;
  std::string out = "#\n# Not the design in these settings:\n";
  for (const LaunchGap& gap : gaps) out += "#   " + gap.knob + " " + gap.value + ": " + gap.reason + "\n";
  text.insert(heading, out);
}

}  // namespace

std::variant<LaunchText, Problem> with_gaps(const Design& design, LaunchText text, std::string_view framework,
                                            const GapReasons& reasons, std::optional<ModelSpec> checkpoint) {
  const auto& known = launch_export_frameworks();
  const auto label = std::find_if(known.begin(), known.end(),
                                  [&](const LaunchFramework& one) { return one.id == framework; });
  const std::string name(label->label);
  LaunchRequest request;
  request.text = text.text;
  request.where = text.file_name;
  request.gpus = design.world();
  request.checkpoint = std::move(checkpoint);
  const LaunchImport read = import_launch(request);
  if (!read.ok())
    return Problem{ProblemCode::LaunchSetting, "--as", read.problems[0].what,
                   "a design that " + name + " runs"};
  text.gaps = differences(with_expert_tp(design), with_expert_tp(read.design), name, reasons);
  insert_comments(text.text, text.gaps);
  return text;
}

}  // namespace shardscape
