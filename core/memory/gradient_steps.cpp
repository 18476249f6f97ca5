#include "memory/gradient_steps.h"

namespace shardscape {

bool copies_gradients(const Design& design) {
  const SyncStrategy sync = design.parallel.sync;
  return trains(design) && !design.workload.offload_optimizer &&
         (sync == SyncStrategy::Zero1 || sync == SyncStrategy::Zero2);
}

GradientSteps::GradientSteps(const SegmentMemories& memories, const StageReport& stage,
                             const StageLayout& layout)
    : of_(memories.pool() == MemoryPool::Graphs
              ? StageGradients{}
              : stage_gradients(memories.report().graph(), stage.first, stage.last, stage.layers > 0,
                                stage.binding, *memories.report().cache,
                                copies_gradients(memories.report().design))) {
  if (memories.pool() == MemoryPool::Graphs) return;  // gradients are outside of the pool
  if (const Design& design = memories.report().design; copies_gradients(design)) {
    const int64_t width = dtype_bytes(design.workload.dtype), part = of_.owned * width;
    if (design.parallel.sync == SyncStrategy::Zero1)
      copies_ = {design.parallel.zero.reduce_bucket_size * width, part};
    copies_.push_back(part);
    if (design.workload.dtype != DType::FP32) copies_.push_back(of_.owned * dtype_bytes(DType::FP32));
    std::erase(copies_, 0);
  }
  if (!are_transient()) return;
  for (const StageInstance& i : layout.instances) {
    whole_.push_back(memories.new_gradient_bytes(i.segment));
    reduced_.push_back(of_.reduced[static_cast<size_t>(i.segment)]);
    roots_.push_back(memories.report().graph().segments[static_cast<size_t>(i.segment)].kind !=
                     SegmentKind::Layer);
  }
}

GradientSteps::Changes GradientSteps::begin_pass(const AccumulationStep& accumulation) const {
  Changes out;
  if (!accumulation.makes || of_.life != GradientLife::InBuckets) return out;
  if (accumulation.first) out.push_back({kStage, true, of_.shards});
  out.push_back({kStage, false, of_.bucket});
  return out;
}

bool GradientSteps::allocates_gradients(const AccumulationStep& accumulation) const {
  if (!accumulation.makes || of_.life == GradientLife::Always || of_.life == GradientLife::InBuckets)
    return false;
  return accumulation.first || (of_.life == GradientLife::UntilReduced && of_.every_backward);
}

GradientSteps::Changes GradientSteps::end(size_t instance, const AccumulationStep& accumulation) const {
  Changes out;
  if (!accumulation.makes || !reduces(accumulation) || of_.with_chunk || roots_[instance]) return out;
  shard(instance, accumulation, out);
  free_whole(instance, out);
  return out;
}

GradientSteps::Changes GradientSteps::end_pass(const StageRange& range,
                                               const AccumulationStep& accumulation) const {
  Changes out;
  if (!accumulation.makes) return out;
  if (of_.life == GradientLife::InBuckets) out.push_back({kStage, false, -of_.bucket});
  if (!reduces(accumulation)) return out;
  // The root (embedding and head) is one unit. Where units are reduced after the chunk, the root is reduced
  // first (grad_sync/sync_walk.h).
  for (size_t i = range.first; i < range.end; ++i)
    if (roots_[i]) shard(i, accumulation, out);
  for (size_t i = range.first; i < range.end; ++i)
    if (roots_[i]) free_whole(i, out);
  for (size_t i = range.first; i < range.end && of_.with_chunk; ++i) {
    if (roots_[i]) continue;
    shard(i, accumulation, out);
    free_whole(i, out);
  }
  return out;
}

// The first reduction allocates the reduced gradients. Later reductions add to them.
void GradientSteps::shard(size_t instance, const AccumulationStep& accumulation, Changes& out) const {
  if ((of_.every_backward ? accumulation.first : accumulation.last) && reduced_[instance] > 0)
    out.push_back({instance, true, reduced_[instance]});
}

void GradientSteps::free_whole(size_t instance, Changes& out) const {
  if (whole_[instance] > 0) out.push_back({instance, false, -whole_[instance]});
}

GradientBytes GradientSteps::sum(const StageRange& range, bool reduced) const {
  GradientBytes out;
  if (!are_transient()) return out;
  if (of_.life == GradientLife::InBuckets) return {0, of_.shards};
  for (size_t i = range.first; i < range.end; ++i)
    (reduced ? out.reduced : out.whole) += reduced ? reduced_[i] : whole_[i];
  return out;
}

GradientBytes GradientSteps::begun(const StageRange& range) const {
  return sum(range, of_.life == GradientLife::UntilReduced && of_.every_backward);
}
GradientBytes GradientSteps::ended(const StageRange& range) const {
  return sum(range, of_.life == GradientLife::UntilReduced);
}

}  // namespace shardscape
