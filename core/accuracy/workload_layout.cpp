#include "accuracy/workload_layout.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// The knob belongs to the layout. stage_layers follows from pp in a code base that splits layers by a rule.
bool of_layout(const Knob& knob) {
  constexpr std::array<std::string_view, 3> kOthers{"microbatch", "recompute", "recompute_modules"};
  return knob.group == KnobGroup::Parallelism ||
         std::find(kOthers.begin(), kOthers.end(), knob.id) != kOthers.end();
}

// Knobs that follow from the others: dp from the degrees, and the padding of the vocabulary from tp.
bool follows(const Knob& knob) {
  return knob.id == "dp" || knob.id == "stage_layers" || knob.id == "vocab_multiple";
}

// The value in the name of a workload. A code base without its fused softmax, which some layouts do not run,
// stays the same code base.
std::string workload_value(const Knob& knob, std::string value) {
  constexpr std::string_view kUnfused = "-unfused";
  if (knob.id == "profile" && value.ends_with(kUnfused)) value.resize(value.size() - kUnfused.size());
  return value;
}

}  // namespace

Layout layout_of(const Design& design) {
  const Design usual;
  Layout out;
  out.workload = design.model.architecture + " on " + std::to_string(design.world());
  for (const Knob& knob : knobs()) {
    std::string value = knob_text(design, knob);
    if (follows(knob) || value == knob_text(usual, knob)) continue;
    if (of_layout(knob))
      out.settings.emplace(knob.id, std::move(value));
    else
      out.workload += " " + knob.id + "=" + workload_value(knob, std::move(value));
  }
  return out;
}

std::string differing_settings(const std::map<std::string, std::string>& a,
                               const std::map<std::string, std::string>& b) {
  std::set<std::string> names;
  const auto compare = [&](const auto& from, const auto& with) {
    for (const auto& [name, value] : from)
      if (const auto it = with.find(name); it == with.end() || it->second != value) names.insert(name);
  };
  compare(a, b);
  compare(b, a);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

}  // namespace shardscape
