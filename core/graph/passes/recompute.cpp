// Activation recomputation: before its backward, a segment runs chosen forward ops again from saved tensors,
// collectives included, so that their results are not saved (Chen et al., arXiv 1604.06174; Korthikanti et
// al., arXiv 2205.05198). Ops are replayed in regions: the whole segment under full recompute, a module of a
// block under selective recompute.
#include <algorithm>
#include <map>
#include <optional>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

constexpr int kNoRegion = -1;

struct Region {
  RecomputeModule module = RecomputeModule::CoreAttn;
  int block = -1;
  // The module discards its result: every backward op that reads the result reads the replayed one.
  bool discards = false;
  std::vector<OpId> ops;  // forward ops, ascending
  bool replayed = false;
};

class Recomputer {
 public:
  explicit Recomputer(SegmentBuilder& builder) : b_(builder), s_(builder.segment()) {}

  void run() {
    forward_end_ = s_.backward_begin;
    find_regions();
    std::vector<Op> backward(s_.ops.begin() + s_.backward_begin, s_.ops.end());
    s_.ops.resize(static_cast<size_t>(s_.backward_begin));
    if (full()) {
      if (b_.structure().split_checkpoints) share_checkpoint();
      replay(0);
    }
    s_.replay_end = full() ? static_cast<OpId>(s_.ops.size()) : s_.backward_begin;
    for (Op& op : backward) {
      for (TensorId in : op.inputs)
        if (const int region = source_of(in, region_of_reader(op, backward)); region != kNoRegion)
          replay(region);
      if (const int own = region_of_reader(op, backward); own != kNoRegion) replay(own);
      for (TensorId& in : op.inputs) in = read(in, region_of_reader(op, backward));
      const auto id = static_cast<OpId>(s_.ops.size());
      for (TensorId out : op.outputs) s_.tensors[static_cast<size_t>(out)].producer = id;
      s_.ops.push_back(op);  // a copy: region_of_reader still searches `backward`
    }
  }

 private:
  bool full() const { return b_.structure().recompute == Recompute::Full; }

  // A larger module includes the smaller modules inside it.
  static std::optional<RecomputeModule> module_of(RecomputeModules chosen) {
    using enum RecomputeModule;
    for (RecomputeModule m : {Moe, SharedExperts, Mlp, MlaUpProj, CoreAttn, Layernorm, MlpAct, MoeAct})
      if (chosen.has(m)) return m;
    return std::nullopt;
  }

  void find_regions() {
    region_.assign(static_cast<size_t>(forward_end_), full() ? 0 : kNoRegion);
    if (full()) {
      regions_.emplace_back();
      for (OpId id = 0; id < forward_end_; ++id) regions_[0].ops.push_back(id);
      return;
    }
    for (OpId id = 0; id < forward_end_; ++id) {
      const Op& op = s_.op(id);
      if (is_redistribution(op.kind)) continue;
      if (const auto module = module_of(op.modules & b_.structure().recompute_modules))
        put(id, *module, op.block);
    }
    // A quantized copy belongs to the region of its source.
    for (OpId id = 0; id < forward_end_; ++id)
      if (const int region = region_of_input(id);
          s_.op(id).kind == OpKind::Quantize && region_[static_cast<size_t>(id)] == kNoRegion &&
          region != kNoRegion && regions_[static_cast<size_t>(region)].discards)
        join(id, region);
    // A module gathers its inputs and reduces its results itself.
    for (OpId id = 0; id < forward_end_; ++id)
      if (const int region = region_of_input(id);
          is_reduction(s_.op(id)) && region != kNoRegion && !regions_[static_cast<size_t>(region)].discards)
        join(id, region);
    for (OpId id = forward_end_ - 1; id >= 0; --id)
      if (is_redistribution(s_.op(id).kind) && region_[static_cast<size_t>(id)] == kNoRegion)
        join(id, region_of_readers(id));
    for (Region& region : regions_) std::sort(region.ops.begin(), region.ops.end());
  }

  void put(OpId id, RecomputeModule module, int block) {
    const auto it = std::find_if(regions_.begin(), regions_.end(),
                                 [&](const Region& r) { return r.module == module && r.block == block; });
    const auto at = static_cast<int>(it - regions_.begin());
    if (it == regions_.end()) regions_.push_back({module, block, discards_result(module), {}, false});
    join(id, at);
  }
  void join(OpId id, int region) {
    region_[static_cast<size_t>(id)] = region;
    if (region != kNoRegion) regions_[static_cast<size_t>(region)].ops.push_back(id);
  }

  // Whether a module of a block ends with this redistribution of its result.
  static bool is_reduction(const Op& op) {
    if (!is_collective(op.kind)) return false;
    switch (collective_of(op.kind)) {
      case CollectiveKind::AllReduce:
      case CollectiveKind::ReduceScatter:
      case CollectiveKind::Reduce:
      case CollectiveKind::AllToAll: return true;
      case CollectiveKind::AllGather:
      case CollectiveKind::Broadcast:
      case CollectiveKind::SendRecv: return false;
    }
    return false;
  }
  int region_of_tensor(TensorId id) const {
    const OpId producer = s_.tensor(id).producer;
    return producer >= 0 && producer < forward_end_ ? region_[static_cast<size_t>(producer)] : kNoRegion;
  }
  int region_of_input(OpId id) const {
    return s_.op(id).inputs.empty() ? kNoRegion : region_of_tensor(s_.op(id).inputs[0]);
  }

  // The single region that reads all results of a redistribution; kNoRegion if the results leave the segment
  // or have other readers.
  int region_of_readers(OpId id) const {
    const TensorId result = s_.op(id).outputs[0];
    if (result == s_.output || is_carried(s_, result)) return kNoRegion;
    int found = kNoRegion;
    for (OpId reader = id + 1; reader < forward_end_; ++reader) {
      const auto& in = s_.op(reader).inputs;
      if (std::find(in.begin(), in.end(), result) == in.end()) continue;
      const int region = region_[static_cast<size_t>(reader)];
      if (region == kNoRegion || (found != kNoRegion && region != found)) return kNoRegion;
      found = region;
    }
    return found;
  }

  // Distributed checkpoint: every tp rank saves its share of the segment's input, which is equal on all tp
  // ranks, and gathers the whole input before the replay.
  void share_checkpoint() {
    const Placement whole = s_.tensor(s_.input).placement;
    Placement share = whole;
    const MeshAxes& tp = b_.parameter_rules().of(Axis::Heads);
    share.shards[1].insert(share.shards[1].end(), tp.begin(), tp.end());
    b_.begin_backward();
    const TensorId share_of_input = b_.redistribute(s_.input, share, Phase::Forward,
                                                    "the checkpoint of the " + s_.name);
    s_.backward_begin = static_cast<OpId>(s_.ops.size());
    const TensorId gathered = b_.redistribute(share_of_input, whole, Phase::Backward,
                                              "the replay of the " + s_.name);
    for (OpId id = forward_end_; id < static_cast<OpId>(s_.ops.size()); ++id)
      s_.ops[static_cast<size_t>(id)].scope = OpScope::Checkpoint;
    b_.tensor(gathered).repeat_of = s_.input;
    replayed_tensors_[s_.input] = gathered;
  }

  // The region of the forward op that this op differentiates; for a redistribution, the region of the first
  // op that reads its result.
  int region_of_reader(const Op& op, const std::vector<Op>& backward) const {
    if (op.forward >= 0) return region_[static_cast<size_t>(op.forward)];
    if (!is_redistribution(op.kind)) return kNoRegion;
    for (const Op& reader : backward)
      if (std::find(reader.inputs.begin(), reader.inputs.end(), op.outputs[0]) != reader.inputs.end())
        return region_of_reader(reader, backward);
    return kNoRegion;
  }

  // The region whose replay provides this tensor to a reader in the region `reader`; kNoRegion if the reader
  // uses the saved tensor.
  int source_of(TensorId id, int reader) const {
    const int region = region_of_tensor(id);
    return region != kNoRegion && (region == reader || regions_[static_cast<size_t>(region)].discards)
               ? region
               : kNoRegion;
  }
  TensorId read(TensorId id, int reader) const {
    if (source_of(id, reader) == kNoRegion && !(id == s_.input && replayed_tensors_.contains(id))) return id;
    const auto it = replayed_tensors_.find(id);
    return it == replayed_tensors_.end() ? id : it->second;
  }

  void replay(int index) {
    if (regions_[static_cast<size_t>(index)].replayed) return;
    regions_[static_cast<size_t>(index)].replayed = true;
    const std::vector<OpId> ops = regions_[static_cast<size_t>(index)].ops;
    for (OpId id : ops)
      for (TensorId in : s_.op(id).inputs)
        if (const int before = source_of(in, index); before != kNoRegion) replay(before);
    for (OpId id : ops) {
      Op op = s_.op(id);
      op.phase = Phase::Recompute;
      op.scope = full() ? OpScope::Recomputed : OpScope::Always;
      op.name += ".recompute";
      op.label += ", recomputed";
      op.forward = id;
      for (TensorId& in : op.inputs) in = read(in, index);
      for (TensorId& out : op.outputs) out = replayed_tensor(out);
      b_.add_op(std::move(op));
    }
  }

  TensorId replayed_tensor(TensorId of) {
    const Tensor first = s_.tensor(of);
    const TensorId id = b_.add_tensor(first.name + ".recompute", first.axes, first.placement, first.dtype,
                                      first.role);
    const StorageId fresh = s_.tensor(id).storage;
    s_.storages[static_cast<size_t>(fresh)].bytes = s_.storages[static_cast<size_t>(first.storage)].bytes;
    b_.tensor(id).storage = storages_.try_emplace(first.storage, fresh).first->second;
    b_.tensor(id).repeat_of = of;
    replayed_tensors_[of] = id;
    return id;
  }

  SegmentBuilder& b_;
  Segment& s_;
  OpId forward_end_ = 0;
  std::vector<Region> regions_;
  std::vector<int> region_;                        // region of every forward op
  std::map<TensorId, TensorId> replayed_tensors_;  // forward tensor -> recomputed tensor
  // forward storage -> recomputed storage, so that views stay views
  std::map<StorageId, StorageId> storages_;
};

}  // namespace

void recompute(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  s.replay_end = s.backward_begin;
  const bool layer = s.kind == SegmentKind::Layer || s.kind == SegmentKind::Tower;
  if (builder.structure().recompute == Recompute::None || !layer) return;
  Recomputer(builder).run();
}

}  // namespace shardscape
