#include "model/huggingface/nearest_family.h"

#include <tuple>

namespace shardscape::hf {

NearestFamily nearest_family(const HfReader& reader) {
  NearestFamily best;
  std::tuple<size_t, int64_t, bool> best_rank;  // fields, differences, the family that names the architecture
  for (const FamilyRow& row : families()) {
    if (!row.read || row.type == std::string(kUntypedMamba)) continue;
    ImportResult trial;
    trial.model = {};
    HfReader in = reader.recording_in(trial);
    Family family{row.type, in, nullptr, trial.model, trial.context};
    row.read(family);
    const std::tuple rank{trial.recognised.size(), -static_cast<int64_t>(trial.problems.size()),
                          row.type == trial.model.architecture};
    if (best.family && rank <= best_rank) continue;
    best_rank = rank;
    in.ignore_rest();
    best = {&row, trial.model.architecture, trial.recognised.size(), {}, {}};
    for (const ImportField& field : trial.ignored)
      if (field.note == kUnknownKey && !field.key.ends_with("model_type"))
        best.uncovered.push_back(field.key);
    for (const Problem& problem : trial.problems) best.differences.push_back(problem.what);
  }
  return best;
}

}  // namespace shardscape::hf
