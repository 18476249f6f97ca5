#include "model/huggingface/nearest_family.h"

#include <tuple>

namespace shardscape::hf {

namespace {

// Of equal ones: Llama, whose blocks most models share, then a family that gives its architecture the name.
int precedence(const FamilyRow& row, const NearestFamily& made) {
  if (row.type == std::string("llama")) return 2;
  return row.type == made.architecture ? 1 : 0;
}

}  // namespace

NearestFamily nearest_family(const HfReader& reader) {
  NearestFamily best;
  std::tuple<int64_t, int64_t, int64_t, int> best_rank;
  for (const FamilyRow& row : families()) {
    if (!row.read || row.type == std::string(kUntypedMamba)) continue;
    ImportResult trial;
    trial.model = {};
    HfReader in = reader.recording_in(trial);
    Family family{row.type, in, nullptr, trial.model, trial.context};
    row.read(family);
    in.ignore_rest();
    NearestFamily made{&row, trial.model.architecture, trial.recognised.size(), {}, {}};
    for (const ImportField& field : trial.unknown)
      if (!field.key.ends_with("model_type")) made.uncovered.push_back(field.key);
    for (const Problem& problem : trial.problems) made.differences.push_back(problem.what);
    const auto few = [](size_t count) { return -static_cast<int64_t>(count); };
    const std::tuple rank{few(made.uncovered.size()), static_cast<int64_t>(made.fields),
                          few(made.differences.size()), precedence(row, made)};
    if (best.family && rank <= best_rank) continue;
    best = std::move(made);
    best_rank = rank;
  }
  return best;
}

}  // namespace shardscape::hf
