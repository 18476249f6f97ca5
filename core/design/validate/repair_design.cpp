#include "design/validate/repair_design.h"

#include <algorithm>
#include <optional>

#include "base/problem.h"
#include "design/validate/validate.h"

namespace shardscape {
namespace {

constexpr int kMostSteps = 48;  // bounds the loop, because fixes may undo each other

std::vector<Problem> errors_of(const Design& design) {
  std::vector<Problem> problems = validate(design);
  std::erase_if(problems, [](const Problem& p) { return p.severity != Severity::Error; });
  return problems;
}

// The design with these settings. nullopt if a setting belongs to the model or is rejected.
std::optional<Design> with(Design design, const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [id, value] : settings) {
    const Knob* knob = find_knob(id);
    if (!knob || knob->group == KnobGroup::Model || set_knob(design, *knob, value)) return std::nullopt;
  }
  return design;
}

// The fix of a problem that leaves the fewest errors; the first of equals. nullopt if there is none.
std::optional<Design> best_fix(const Design& design, const Problem& problem) {
  std::vector<Design> ways;
  for (const Fix& fix : problem.fixes)
    if (const auto way = with(design, fix.settings); way && !(*way == design)) ways.push_back(*way);
  if (const Knob* knob = find_knob(problem.where))
    for (const Design& usual : {default_design(), Design{}})
      if (const auto way = with(design, {{knob->id, knob_text(usual, *knob)}}); way && !(*way == design))
        ways.push_back(*way);
  std::optional<Design> best;
  size_t fewest = 0;
  for (const Design& way : ways) {
    const size_t left = errors_of(way).size();
    if (best && left >= fewest) continue;
    best = way;
    fewest = left;
  }
  return best;
}

}  // namespace

void repair_design(Design& design) {
  Design next = design;
  for (int step = 0; step < kMostSteps; ++step) {
    const std::vector<Problem> errors = errors_of(next);
    if (errors.empty()) {
      design = next;
      return;
    }
    std::optional<Design> better;
    for (size_t i = 0; i < errors.size() && !better; ++i) better = best_fix(next, errors[i]);
    if (!better) break;
    next = *better;
  }
  // Fallbacks that suit every model: the default design, or one rank with short sequences.
  Design usual = default_design();
  Design single_rank;
  for (Design* way : {&usual, &single_rank}) {
    way->name = design.name;
    way->model = design.model;
    if (design.model.positions > 0) way->workload.seq = std::min(way->workload.seq, design.model.positions);
    if (errors_of(*way).empty()) {
      design = *way;
      return;
    }
  }
}

std::vector<KnobChange> changes_outside_model(const Design& before, const Design& after) {
  std::vector<KnobChange> changes;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Model) continue;
    const std::string was = knob_text(before, knob), is = knob_text(after, knob);
    if (was != is) changes.push_back({&knob, was, is});
  }
  return changes;
}

}  // namespace shardscape
