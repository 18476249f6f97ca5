#include "design/design.h"

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "design/expert_nodes.h"
#include "design/layer_sizes.h"
#include "design/validate/checks.h"
#include "model/kernel_profile.h"
#include "model/library.h"

namespace shardscape {

std::string no_packing(const Design& design) {
  const WorkloadSpec& w = design.workload;
  if (!uses_axis(design, Axis::Heads)) return "the architecture has no attention";
  if (uses_axis(design, Axis::IndexDim) || uses_axis(design, Axis::CompressRatio))
    return "kernels of sparse attention do not take the boundaries of documents";
  const KernelProfile* profile = ModelLibrary::instance().profile(w.profile);
  if (profile && !profile->has_blockwise_attention())
    return "the attention of the kernel profile " + profile->id +
           " stores whole rows of scores and computes the masked pairs, too";
  return w.packed_length >= w.seq ? "one document fills a sequence of " + grouped(w.seq) + " tokens" : "";
}

bool packs_documents(const Design& design) {
  return trains(design) && design.workload.packed_length > 0 && no_packing(design).empty();
}

std::string no_muon(const Design& design) {
  const ParallelSpec& p = design.parallel;
  if (design.workload.lora_rank > 0) return "adapters are trained with Adam (lora_rank)";
  if (p.dp * p.cp > 1 && (p.sync == SyncStrategy::Fsdp2 || p.sync == SyncStrategy::Zero3))
    return "collectives that join the shards of each matrix are not modelled (sync)";
  return "";
}

MeshDegrees mesh_degrees(const Design& design) {
  const ParallelSpec& p = design.parallel;
  const int64_t ulysses = ulysses_ranks(design), sharing = ranks_per_mixer_group(design);
  std::vector<int64_t> kv_splits = own_kv_splits(design);
  kv_splits.resize(kKvSplits.size() - 1, 0);
  return {.tp = p.tp,
          .cp = p.cp,
          .dp = p.dp,
          .pp = p.pp,
          .kv_heads = design.model.kv_heads,
          .kv_heads2 = kv_splits[0],
          .kv_heads3 = kv_splits[1],
          .kv_heads4 = kv_splits[2],
          .dp_shard = p.dp_shard,
          .ep = p.ep,
          .etp = p.etp,
          .ulysses = ulysses > 1 && ring_ranks(design) > 1 ? ulysses : 0,
          .ep_local = sends_by_node(design) ? ep_ranks_per_node(design) : 0,
          .mixer_heads = sharing > 1 ? sharing : 0,
          .context = p.dcp > 1 ? p.dcp : 0};
}

DeviceMesh device_mesh(const Design& design) {
  return DeviceMesh(mesh_degrees(design), design.parallel.order);
}

int64_t ulysses_ranks(const Design& design) {
  const ParallelSpec& p = design.parallel;
  if (!uses_axis(design, Axis::Heads)) return 1;  // no attention
  if (p.context == ContextMode::Ulysses) return p.cp;
  if (p.context != ContextMode::UlyssesRing && p.context != ContextMode::UlyssesZigzag) return 1;
  if (p.ulysses_degree > 0) return p.ulysses_degree;
  int64_t ranks = p.cp;
  const bool splits = p.tp > 0 && all_layer_models(design, [&](const ModelSpec& m) {
                        ranks = std::gcd(ranks, std::gcd(m.kv_heads, m.heads) / p.tp);
                        return m.kv_heads % p.tp == 0;
                      });
  return splits ? std::max<int64_t>(1, ranks) : 1;
}

bool cp_splits_sequences(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return design.workload.mode == Mode::Decode && p.cp > 1 && p.tp > 0 &&
         design.workload.microbatch % (p.cp * (p.sequence_parallel ? p.tp : 1)) == 0;
}

bool experts_share_tp(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return !trains(design) && design.model.experts > 0 && p.tp > 1 && p.folds_experts() && !p.sequence_parallel;
}

bool splits_tokens_over_tp(const Design& design) {
  return design.parallel.sequence_parallel ||
         (experts_share_tp(design) && design.parallel.dispatcher != Dispatcher::AllGather);
}

int64_t ranks_per_mixer_group(const Design& design) {
  if (design.workload.mode == Mode::Decode) return 1;  // a mixer scans only one token
  const int64_t groups = design.parallel.tp > 0 ? design.model.ssm_groups / design.parallel.tp : 0,
                cp = design.parallel.cp;
  const bool shared = groups > 1 && groups < cp && cp % groups == 0 && uses_axis(design, Axis::SsmGroups);
  return shared ? cp / groups : 1;
}

int64_t ring_ranks(const Design& design) {
  const ContextMode mode = design.parallel.context;
  return mode == ContextMode::AllGather || mode == ContextMode::Ulysses || !uses_axis(design, Axis::Heads)
             ? 1
             : design.parallel.cp / ulysses_ranks(design);
}

Design default_design() {
  Design design;
  apply_preset(design, "llama3-8b");
  design.parallel.tp = 2;
  design.parallel.pp = 2;
  design.parallel.dp = 2;
  design.parallel.sequence_parallel = true;
  design.workload.batch = 32;
  return design;
}

void apply_model(Design& design, const ModelSpec& model, const std::string& name) {
  design.model = model;
  design.name = name;
  // A table of learned positions bounds the sequence, so that a new model does not start with an error.
  if (design.model.positions > 0) design.workload.seq = std::min(design.workload.seq, design.model.positions);
}

DType compute_dtype(const WorkloadSpec& workload) {
  switch (workload.compute) {
    case ComputePrecision::Storage: break;
    case ComputePrecision::FP8: return DType::FP8;
    case ComputePrecision::FP8Block: return DType::FP8Block;
    case ComputePrecision::MXFP8: return DType::MXFP8;
    case ComputePrecision::NVFP4: return DType::NVFP4;
    case ComputePrecision::Int8: return DType::Int8;
  }
  return workload.dtype;
}

bool apply_preset(Design& design, const std::string& id) {
  const Preset* preset = ModelLibrary::instance().preset(id);
  if (!preset) return false;
  apply_model(design, preset->model, preset->name);
  design.model.preset = preset->id;
  return true;
}

bool runs_fp8_attention(const Design& design) {
  const ContextMode context = design.parallel.context;
  const bool ring = design.parallel.cp > 1 && context != ContextMode::AllGather &&
                    context != ContextMode::Ulysses;
  return trains(design) && design.workload.fp8_attention &&
         design.workload.compute == ComputePrecision::FP8 && !ring;
}

FrozenWeights frozen_weights(const Design& design) {
  const WorkloadSpec& w = design.workload;
  const SyncStrategy sync = design.parallel.sync;
  const bool whole = !is_fsdp(sync) && sync != SyncStrategy::Zero3;
  return trains(design) && w.lora_rank > 0 && w.compute == ComputePrecision::Storage && whole
             ? w.frozen_dtype
             : FrozenWeights::Same;
}

}  // namespace shardscape
