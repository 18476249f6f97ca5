#include "design/starting_design.h"

#include <algorithm>

namespace shardscape {
namespace {

Design single_rank(const ModelSpec& model, const std::string& name, int64_t seq) {
  Design design;
  design.workload.seq = seq;
  apply_model(design, model, name);
  design.workload.batch = usual_batch(design);
  design.name = usual_name(name, 1);
  return design;
}

}  // namespace

Design single_rank_design(const Preset& preset) {
  return single_rank(preset.model, preset.name, preset.default_seq > 0 ? preset.default_seq : kUsualSeq);
}

Design imported_design(const ImportResult& import) {
  const int64_t seq = import.context > 0 ? std::min(import.context, kUsualSeq) : kUsualSeq;
  return single_rank(import.model, import.name, seq);
}

int64_t usual_batch(const Design& design) {
  const int64_t stages = std::min(design.parallel.pp, design.model.layers);
  return kMicrobatchesPerStage * stages * design.workload.microbatch * design.parallel.dp;
}

std::string usual_name(const std::string& model, int64_t ranks) {
  return model + " on " + std::to_string(ranks) + (ranks == 1 ? " GPU" : " GPUs");
}

}  // namespace shardscape
