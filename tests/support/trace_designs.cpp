#include "support/trace_designs.h"

#include <QtTest>
#include <stdexcept>

#include "design/knobs/knobs.h"
#include "support/schedules.h"

namespace shardscape::test {

Design trace_design(const char* preset, int64_t tp, int64_t pp, int64_t dp, bool sequence_parallel,
                    int64_t microbatches, int64_t layers) {
  Design d = preset_design(preset, tp, pp, dp, sequence_parallel);
  // An unknown id would leave the default model in place, and the test would prove nothing.
  if (d.model.preset != preset) throw std::invalid_argument(std::string("no preset ") + preset);
  d.model.layers = layers;
  d.workload.seq = 512;
  d.workload.microbatch = 1;
  d.workload.batch = dp * microbatches;
  return d;
}

std::shared_ptr<const Report> trace_report(const Design& design) {
  auto report = make_report(design);
  if (!report || !report->valid())
    throw std::runtime_error(report && !report->problems.empty() ? to_string(report->problems.front())
                                                                 : "no report");
  return report;
}

namespace {

void set_sync(const std::string& name, ParallelSpec& p) {
  const auto says = [&](const char* words) { return name.find(words) != std::string::npos; };
  if (name.starts_with("fsdp"))
    p.sync = name.starts_with("fsdp2") ? SyncStrategy::Fsdp2 : SyncStrategy::Fsdp1;
  if (name.starts_with("megatron-fsdp")) p.sync = SyncStrategy::MegatronFsdp;
  if (name.starts_with("zero-"))
    p.sync = static_cast<SyncStrategy>(static_cast<int>(SyncStrategy::Zero0) + (name[5] - '0'));
  p.reshard_after_forward = !says("kept");
  p.reduce_every_microbatch = says("every microbatch");
  if (says("hybrid")) p.dp_shard = 2;
  p.clip_grad_norm = p.average_loss = says("norm and loss");
  p.zero = {.reduce_bucket_size = 50'000'000, .allgather_bucket_size = 100'000'000};
  if (says("without reuse"))
    p.zero.prefetch_bucket_size = p.zero.param_persistence_threshold = p.zero.max_reuse_distance = 0;
}

// Meshes, pipelines and the gradient syncs of Megatron-LM, DDP and FSDP.
std::vector<NamedDesign> dense_designs() {
  return {
      {"two replicas", trace_design("llama3-8b", 1, 1, 2, false, 2, 2)},
      {"tp 2", trace_design("llama3-8b", 2, 1, 1, false, 2, 2)},
      {"tp 4 sp", trace_design("llama3-8b", 4, 1, 1, true, 2, 2)},
      {"transformer engine tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"pp 2", trace_design("llama3-8b", 1, 2, 1, false, 3, 2)},
      {"pp 4 fewer microbatches than stages", trace_design("llama3-8b", 1, 4, 1, false, 2, 4)},
      {"dp 2 tp 2 pp 2", trace_design("llama3-8b", 2, 2, 2, false, 4, 4)},
      {"dp 2 tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 4, 4)},
      {"kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 2, false, 1, 2)},
      {"kv heads fewer than tp sp", trace_design("llama3-8b", 16, 2, 2, true, 2, 2)},
      {"gpt dp 2 tp 2 sp pp 2", trace_design("gpt3-175b", 2, 2, 2, true, 3, 2)},
      {"one kv head", trace_design("llama3-8b", 4, 1, 1, true, 1, 2)},
      {"one kv head pp 2", trace_design("llama3-8b", 4, 2, 2, false, 2, 2)},
      {"gpipe", trace_design("llama3-8b", 2, 4, 1, false, 5, 4)},
      {"uneven stages", trace_design("llama3-8b", 2, 4, 1, true, 5, 6)},
      {"stages without layers", trace_design("llama3-8b", 2, 4, 1, true, 3, 3)},
      {"tied embeddings", trace_design("llama3-8b", 2, 2, 2, false, 2, 2)},
      {"tied embeddings on one stage", trace_design("llama3-8b", 2, 1, 2, false, 2, 2)},
      {"other rank order", trace_design("llama3-8b", 2, 2, 2, true, 2, 2)},
      {"interleaved", trace_design("llama3-8b", 2, 4, 1, true, 8, 8)},
      {"interleaved on two stages", trace_design("llama3-8b", 2, 2, 2, false, 6, 6)},
      {"interleaved, uneven chunks", trace_design("llama3-8b", 1, 2, 1, false, 4, 5)},
      {"interleaved, scattered messages", trace_design("gpt3-175b", 2, 4, 2, false, 4, 8)},
      {"scattered messages", trace_design("llama3-8b", 4, 4, 1, false, 5, 4)},
      {"twelve groups and more", trace_design("llama3-8b", 2, 4, 16, true, 2, 4)},
      {"distributed optimizer", trace_design("llama3-8b", 1, 1, 3, false, 2, 2)},
      {"distributed optimizer tp 2 sp pp 2", trace_design("gpt3-175b", 2, 2, 4, true, 3, 2)},
      {"distributed optimizer in buckets", trace_design("gpt3-175b", 2, 1, 3, true, 2, 2)},
      {"distributed optimizer in buckets, virtual stages", trace_design("llama3-8b", 2, 2, 3, true, 4, 8)},
      {"flat buffer in buckets pp 2", trace_design("llama3-8b", 1, 2, 3, false, 3, 4)},
      {"ddp buckets tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"ddp buckets gpipe", trace_design("llama3-8b", 1, 2, 2, false, 3, 4)},
      {"fsdp", trace_design("llama3-8b", 1, 1, 3, false, 1, 3)},
      {"fsdp accumulating tp 2 sp", trace_design("llama3-8b", 2, 1, 2, true, 3, 2)},
      {"fsdp 1f1b kv heads fewer than tp", trace_design("llama3-8b", 16, 2, 2, true, 3, 4)},
      {"fsdp gpipe tied embeddings", trace_design("gpt3-175b", 1, 2, 3, false, 3, 4)},
      {"fsdp stages without layers", trace_design("llama3-8b", 2, 4, 2, true, 3, 3)},
  };
}

// Context parallelism.
std::vector<NamedDesign> context_designs() {
  return {
      {"context parallel", trace_design("llama3-8b", 1, 2, 1, false, 2, 2)},
      {"context parallel tp 2 sp dp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"context parallel, kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 2, true, 1, 2)},
      {"context parallel by ulysses", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"context parallel ring", trace_design("llama3-8b", 1, 1, 1, false, 2, 2)},
      {"context parallel ring tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 1, true, 3, 4)},
      {"context parallel ring of two, other rank order", trace_design("gpt3-175b", 1, 2, 2, false, 2, 2)},
      {"context parallel ring selective recompute, virtual stages",
       trace_design("llama3-8b", 1, 2, 1, false, 4, 4)},
      {"context parallel zigzag, kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 1, true, 1, 2)},
      {"context parallel zigzag full recompute", trace_design("llama3-8b", 2, 2, 1, true, 2, 2)},
      {"context parallel ulysses-ring", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
      {"fsdp, context parallel ulysses-zigzag", trace_design("llama3-8b", 1, 2, 1, false, 2, 2)},
      {"distributed optimizer, context parallel", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"ddp buckets, context parallel", trace_design("gpt3-175b", 2, 2, 2, true, 2, 2)},
      {"fsdp, context parallel by ulysses", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
  };
}

// Vision towers.
std::vector<NamedDesign> tower_designs() {
  return {
      {"tower tp 2 sp pp 2", trace_design("qwen3-8b", 2, 2, 1, true, 3, 4)},
      {"tower, frozen pp 2", trace_design("qwen3-8b", 1, 2, 2, false, 3, 4)},
      {"tower, images apart tp 2 dp 2", trace_design("qwen3-8b", 2, 1, 2, true, 2, 2)},
      {"tower, ring of two, distributed optimizer dp 2", trace_design("qwen3-8b", 1, 1, 2, false, 2, 2)},
      {"tower, zero 1 pp 2", trace_design("qwen3-8b", 1, 2, 2, false, 2, 2)},
      {"tower, ddp buckets", trace_design("qwen3-8b", 1, 1, 2, false, 2, 2)},
      {"tower, fsdp2 pp 2", trace_design("qwen3-8b", 1, 2, 2, false, 3, 4)},
      {"tower, fsdp1, frozen", trace_design("qwen3-8b", 1, 1, 2, false, 2, 2)},
      {"tower, zb-h1 pp 2", trace_design("qwen3-8b", 1, 2, 1, false, 4, 4)},
      {"tower, own stage pp 3", trace_design("qwen3-8b", 1, 3, 2, false, 3, 4)},
      {"tower, own stage, frozen tp 2 pp 2", trace_design("qwen3-8b", 2, 2, 1, false, 3, 4)},
      {"tower, replayed, own stage pp 2", trace_design("qwen3-8b", 1, 2, 2, false, 3, 4)},
      {"tower, replayed, fsdp1", trace_design("qwen3-8b", 1, 1, 2, false, 2, 2)},
      {"tower, own stage, fsdp2 pp 2", trace_design("qwen3-8b", 1, 2, 2, false, 3, 4)},
      {"tower, own stage, zb-h1 tp 2 sp pp 2", trace_design("qwen3-8b", 2, 2, 1, true, 4, 4)},
      {"tower, text alone pp 2", trace_design("qwen3-8b", 2, 2, 1, false, 2, 2)},
      {"prefill, tower tp 2 pp 2", trace_design("qwen3-8b", 2, 2, 1, false, 2, 2)},
      {"decode, tower", trace_design("qwen3-8b", 1, 1, 2, false, 2, 2)},
  };
}

// Experts, latent attention and state-space mixers.
std::vector<NamedDesign> model_designs() {
  return {
      {"experts", trace_design("mixtral-8x7b", 1, 2, 4, false, 2, 2)},
      {"experts tp 2 sp", trace_design("mixtral-8x7b", 2, 2, 2, true, 2, 2)},
      {"experts by hidden", trace_design("mixtral-8x7b", 2, 1, 4, true, 2, 2)},
      {"experts gathered", trace_design("mixtral-8x7b", 2, 1, 2, true, 2, 2)},
      {"experts by node", trace_design("mixtral-8x7b", 1, 2, 4, false, 2, 2)},
      {"experts by node tp 2 sp", trace_design("mixtral-8x7b", 2, 2, 4, true, 2, 2)},
      {"experts by node, 2 of 4 groups, fp8 dispatch", trace_design("deepseek-moe-16b", 2, 1, 8, true, 2, 2)},
      {"experts by node, full recompute", trace_design("qwen3-30b-a3b", 1, 2, 4, false, 2, 2)},
      {"experts folded", trace_design("qwen3-30b-a3b", 2, 2, 2, true, 2, 2)},
      {"experts and sinks tp 2 sp", trace_design("gpt-oss-20b", 2, 2, 2, true, 2, 2)},
      {"experts and sinks, context parallel by ulysses", trace_design("gpt-oss-20b", 2, 1, 2, true, 2, 2)},
      {"experts folded, norm and loss", trace_design("qwen3-30b-a3b", 2, 2, 2, true, 2, 2)},
      {"experts behind dense layers", trace_design("deepseek-moe-16b", 1, 2, 2, false, 2, 4)},
      {"latent attention tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"latent attention, two depths of prediction pp 2", trace_design("llama3-8b", 1, 2, 2, false, 3, 4)},
      {"latent attention, one depth of prediction tp 4 sp cp 2",
       trace_design("llama3-8b", 4, 2, 1, true, 2, 2)},
      {"compressed keys tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"residual streams tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 1, true, 2, 4)},
      {"residual blocks tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 1, true, 2, 4)},
      {"carried tensors tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 1, true, 2, 4)},
      {"carried tensors pp 4", trace_design("llama3-8b", 1, 4, 1, false, 2, 4)},
      {"residual streams tp 2 pp 2, scattered messages", trace_design("llama3-8b", 2, 2, 1, false, 2, 4)},
      {"fsdp latent attention, one depth of prediction", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"mamba tp 2 sp pp 2", trace_design("mamba-130m", 2, 2, 2, true, 3, 4)},
      {"mamba full recompute", trace_design("mamba-130m", 2, 1, 2, false, 2, 2)},
      {"mamba-2 pp 2", trace_design("mamba2-130m", 1, 2, 2, false, 3, 4)},
      {"mamba-2, context parallel", trace_design("mamba2-130m", 1, 2, 2, false, 3, 4)},
      {"attention among mixers tp 4 sp pp 2, context parallel",
       trace_design("mamba2-hybrid-8b", 4, 2, 1, true, 2, 24)},
      {"attention among mixers tp 2, context parallel of groups and heads",
       trace_design("mamba2-hybrid-8b", 2, 1, 1, false, 2, 12)},
      {"attention among mixers tp 2, context parallel ulysses-zigzag beside groups and heads",
       trace_design("mamba2-hybrid-8b", 2, 1, 1, false, 2, 12)},
      {"attention among mixers of one group tp 8 sp, context parallel zigzag ring of two",
       trace_design("mamba2-hybrid-8b", 8, 1, 2, true, 1, 12)},
      {"attention among mixers tp 4 sp pp 2", trace_design("mamba2-hybrid-8b", 4, 2, 2, true, 2, 24)},
      {"linear attention tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 8)},
      {"linear attention tp 2, context parallel", trace_design("llama3-8b", 2, 1, 2, false, 2, 4)},
  };
}

// Chunks, DeepSpeed, FSDP2 and hybrid sharding.
std::vector<NamedDesign> sync_designs() {
  return {
      {"fsdp full recompute", trace_design("llama3-8b", 2, 1, 2, false, 2, 2)},
      {"flat buffer per chunk, virtual stages", trace_design("llama3-8b", 2, 2, 2, true, 4, 8)},
      {"distributed optimizer per uneven chunk, virtual stages",
       trace_design("gpt3-175b", 1, 2, 3, false, 4, 5)},
      {"ddp buckets every microbatch, virtual stages", trace_design("llama3-8b", 1, 2, 2, false, 4, 4)},
      {"zero-0 pp 2", trace_design("llama3-8b", 1, 2, 3, false, 3, 4)},
      {"zero-1 tp 2 sp pp 2", trace_design("gpt3-175b", 2, 2, 3, true, 3, 4)},
      {"zero-2 tp 2", trace_design("llama3-8b", 2, 1, 3, false, 2, 3)},
      {"zero-3", trace_design("llama3-8b", 1, 1, 4, false, 2, 4)},
      {"zero-3 without reuse", trace_design("gpt3-175b", 2, 1, 3, true, 2, 3)},
      {"zero-3 without reuse, full recompute, tied embeddings",
       trace_design("llama3-8b", 1, 1, 2, false, 1, 3)},
      {"zero-3, context parallel", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
      {"fsdp2", trace_design("llama3-8b", 1, 1, 3, false, 2, 3)},
      {"megatron-fsdp hybrid", trace_design("llama3-8b", 1, 1, 4, false, 3, 3)},
      {"zero-1 hybrid", trace_design("llama3-8b", 1, 1, 4, false, 2, 3)},
      {"zero-2 hybrid", trace_design("llama3-8b", 1, 1, 4, false, 2, 3)},
      {"fsdp2 lora", trace_design("llama3-8b", 1, 1, 3, false, 2, 3)},
      {"zero-3 lora", trace_design("llama3-8b", 1, 1, 4, false, 2, 4)},
      {"fsdp2 pp 2 tp 2 sp every microbatch", trace_design("llama3-8b", 2, 2, 3, true, 3, 4)},
      {"fsdp2 kept pp 2, context parallel", trace_design("llama3-8b", 1, 2, 2, false, 3, 4)},
      {"fsdp kept pp 2", trace_design("llama3-8b", 1, 2, 3, false, 3, 4)},
      {"fsdp kept every microbatch", trace_design("gpt3-175b", 1, 1, 2, false, 3, 2)},
      {"fsdp virtual stages", trace_design("llama3-8b", 2, 2, 2, true, 6, 8)},
      {"fsdp2 kept, virtual stages", trace_design("gpt3-175b", 1, 2, 3, false, 4, 8)},
      {"distributed optimizer hybrid", trace_design("llama3-8b", 2, 1, 4, true, 2, 3)},
      {"distributed optimizer hybrid in buckets tp 2 sp pp 2, context parallel",
       trace_design("llama3-8b", 2, 2, 6, true, 2, 4)},
      {"distributed optimizer hybrid, norm and loss, virtual stages",
       trace_design("gpt3-175b", 1, 2, 4, false, 4, 4)},
      {"fsdp hybrid", trace_design("llama3-8b", 1, 1, 4, false, 2, 3)},
      {"fsdp2 hybrid tp 2 sp pp 2, context parallel", trace_design("llama3-8b", 2, 2, 6, true, 2, 4)},
      {"distributed optimizer hybrid, norm and loss, experts",
       trace_design("mixtral-8x7b", 1, 2, 4, false, 2, 2)},
      {"distributed optimizer hybrid in buckets tp 2 sp, context parallel, experts",
       trace_design("mixtral-8x7b", 2, 1, 4, true, 2, 2)},
      {"distributed optimizer hybrid tp 2 sp, folded experts",
       trace_design("qwen3-30b-a3b", 2, 2, 4, true, 2, 2)},
      {"fsdp2 hybrid, context parallel, experts", trace_design("mixtral-8x7b", 1, 1, 4, false, 2, 2)},
      {"fsdp hybrid, experts", trace_design("mixtral-8x7b", 1, 1, 4, false, 2, 2)},
      {"norm and loss", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"fsdp2 hybrid norm and loss", trace_design("llama3-8b", 16, 1, 4, false, 2, 2)},
  };
}

// Recomputation, fewer bits and offloading.
std::vector<NamedDesign> workload_designs() {
  return {
      {"recompute groups of 3 tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 7)},
      {"recompute groups of 2, checkpoints distributed, virtual stages",
       trace_design("gpt3-175b", 2, 2, 1, false, 2, 12)},
      {"recompute groups of 4", trace_design("llama3-8b", 1, 1, 2, false, 2, 5)},
      {"recompute block tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 7)},
      {"recompute block, virtual stages", trace_design("gpt3-175b", 2, 2, 1, false, 2, 8)},
      {"recompute block, checkpoints distributed", trace_design("llama3-8b", 2, 1, 1, false, 2, 3)},
      {"fsdp recompute groups of 3", trace_design("llama3-8b", 1, 2, 2, false, 3, 7)},
      {"fsdp2 kept, recompute groups of 2", trace_design("llama3-8b", 1, 1, 2, false, 2, 5)},
      {"fsdp2 recompute groups of 2, experts behind dense layers",
       trace_design("deepseek-moe-16b", 1, 2, 2, false, 2, 6)},
      {"zb-v, fsdp2, recompute groups of 2", trace_design("llama3-8b", 1, 2, 2, false, 4, 8)},
      {"fsdp recompute block", trace_design("llama3-8b", 1, 2, 2, false, 2, 6)},
      {"mxfp8 tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"nvfp4 recompute modules tp 2 sp", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
      {"fsdp fp8", trace_design("llama3-8b", 1, 1, 2, false, 2, 2)},
      {"fp8-blockwise tp 2 recompute groups of 2", trace_design("gpt3-175b", 2, 1, 1, true, 2, 3)},
      {"distributed optimizer, offload of the optimizer", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"distributed optimizer, offload of a third of the optimizer",
       trace_design("llama3-8b", 2, 1, 2, true, 3, 4)},
      {"distributed optimizer, muon", trace_design("mixtral-8x7b", 2, 2, 2, true, 3, 4)},
      {"context parallel zigzag, packed", trace_design("llama3-8b", 1, 1, 1, false, 2, 2)},
      {"fsdp, offload of the optimizer and activations", trace_design("llama3-8b", 1, 1, 2, false, 2, 3)},
      {"offload of activations pp 2 tp 2 sp", trace_design("llama3-8b", 2, 2, 1, true, 3, 6)},
      {"recompute groups of 2, offload of activations", trace_design("llama3-8b", 1, 2, 2, false, 3, 7)},
      {"recompute block, offload of activations, virtual stages",
       trace_design("llama3-8b", 1, 2, 1, false, 4, 12)},
      {"recompute modules tp 2 sp", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
  };
}

// Schedules that split the backward pass, overlap it, or group microbatches.
std::vector<NamedDesign> schedule_designs() {
  return {
      {"zb-h1 tp 2 sp pp 4", trace_design("llama3-8b", 2, 4, 1, true, 6, 6)},
      {"zb-h1, buckets, norm and loss", trace_design("gpt3-175b", 1, 2, 3, false, 4, 4)},
      {"zb-h2 pp 3", trace_design("llama3-8b", 1, 3, 2, false, 7, 5)},
      {"zb-h2 full recompute", trace_design("llama3-8b", 2, 2, 1, true, 4, 4)},
      {"zb-auto tp 2 sp pp 4", trace_design("llama3-8b", 2, 4, 1, true, 9, 6)},
      {"zb-auto of given times, fsdp2", trace_design("llama3-8b", 1, 3, 2, false, 11, 6)},
      {"zb-v tp 2 sp pp 4", trace_design("llama3-8b", 2, 4, 1, true, 9, 8)},
      {"zb-v pp 2 fewer microbatches than it wants", trace_design("gpt3-175b", 2, 2, 2, false, 2, 4)},
      {"zb-v experts", trace_design("mixtral-8x7b", 1, 2, 4, false, 4, 4)},
      {"dualpipe pp 2", trace_design("llama3-8b", 1, 2, 2, false, 4, 4)},
      {"dualpipe tp 2 sp pp 4, norm and loss", trace_design("llama3-8b", 2, 4, 2, true, 10, 5)},
      {"dualpipe, scattered messages", trace_design("gpt3-175b", 2, 4, 1, false, 8, 4)},
      {"dualpipe-v tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 5, 4)},
      {"dualpipe-v pp 4", trace_design("gpt3-175b", 1, 4, 1, false, 8, 8)},
      {"zb-h1, fsdp2", trace_design("llama3-8b", 1, 3, 2, false, 7, 6)},
      {"zb-h2, fsdp2 kept, tied embeddings", trace_design("llama3-8b", 2, 2, 2, true, 6, 4)},
      {"zb-v, fsdp2", trace_design("llama3-8b", 1, 2, 2, false, 15, 4)},
      {"zb-v, fsdp2 kept, norm and loss", trace_design("llama3-8b", 2, 2, 3, true, 5, 4)},
      {"zb-v, fsdp2 hybrid full recompute, tied embeddings", trace_design("llama3-8b", 1, 2, 4, false, 3, 4)},
      {"dualpipe-v, fsdp2, experts", trace_design("mixtral-8x7b", 1, 2, 2, false, 14, 4)},
      {"exchanges in pairs, experts", trace_design("mixtral-8x7b", 1, 1, 4, false, 5, 2)},
      {"exchanges in pairs, pp 2, folded experts", trace_design("mixtral-8x7b", 2, 2, 2, true, 4, 4)},
      {"flexible pp 2 in groups of 3", trace_design("llama3-8b", 2, 2, 2, true, 7, 4)},
      {"flexible pp 4, fsdp2 in groups of 10, many rounds",
       trace_design("llama3-8b", 1, 4, 2, false, 80, 16)},
      {"flexible, fsdp", trace_design("llama3-8b", 1, 2, 2, false, 5, 8)},
  };
}

// Prefill and decode.
std::vector<NamedDesign> inference_designs() {
  return {
      {"prefill tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"prefill kv heads fewer than tp, context parallel", trace_design("llama3-8b", 16, 1, 2, true, 1, 2)},
      {"prefill pp 2, context parallel ring of two", trace_design("llama3-8b", 1, 2, 1, false, 2, 4)},
      {"prefill tp 2 sp experts", trace_design("mixtral-8x7b", 2, 2, 2, true, 2, 2)},
      {"prefill tp 4, experts over tp", trace_design("mixtral-8x7b", 4, 2, 2, false, 2, 2)},
      {"prefill tp 2, gathered experts over tp", trace_design("deepseek-moe-16b", 2, 1, 2, false, 2, 2)},
      {"prefill, latent attention tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"prefill pp 2, scattered messages", trace_design("gpt3-175b", 2, 2, 1, false, 2, 4)},
      {"decode tp 2 pp 2", trace_design("llama3-8b", 2, 2, 2, false, 3, 4)},
      {"decode tp 4 sp", trace_design("llama3-8b", 4, 1, 1, true, 2, 2)},
      {"decode kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 2, false, 1, 2)},
      {"decode window and sinks tp 2", trace_design("gpt-oss-20b", 2, 1, 2, false, 2, 2)},
      {"decode experts", trace_design("deepseek-moe-16b", 1, 2, 4, false, 2, 4)},
      {"decode tp 2, experts over tp", trace_design("deepseek-moe-16b", 2, 2, 2, false, 2, 4)},
      {"decode tp 2, gathered experts over tp", trace_design("mixtral-8x7b", 2, 1, 4, false, 2, 2)},
      {"decode, latent attention tp 2 pp 2", trace_design("llama3-8b", 2, 2, 2, false, 2, 4)},
      {"decode tp 2 pp 2, context parallel", trace_design("llama3-8b", 2, 2, 1, false, 2, 4)},
      {"decode tp 4 sp, context parallel", trace_design("llama3-8b", 4, 1, 1, true, 2, 2)},
      {"decode window and sinks, context parallel", trace_design("gpt-oss-20b", 1, 1, 2, false, 2, 2)},
      {"decode, context parallel, experts", trace_design("deepseek-moe-16b", 1, 2, 2, false, 2, 4)},
      {"decode, latent attention, context parallel of eight",
       trace_design("llama3-8b", 2, 1, 1, false, 2, 2)},
      {"decode kv heads fewer than tp, shared context", trace_design("llama3-8b", 16, 1, 1, true, 1, 2)},
      {"decode, latent attention tp 4, shared context", trace_design("llama3-8b", 4, 1, 1, false, 2, 2)},
      {"decode attention among mixers tp 4", trace_design("mamba2-hybrid-8b", 4, 1, 2, false, 2, 24)},
      {"decode linear attention tp 4", trace_design("llama3-8b", 4, 1, 2, false, 2, 4)},
  };
}

void set_schedule_and_sync(const std::string& name, Design& d) {
  if (name.starts_with("distributed optimizer")) d.parallel.sync = SyncStrategy::DistributedOptimizer;
  for (const std::string& schedule : other_schedules())
    if (name.starts_with(schedule)) set_knob(d, *find_knob("schedule"), schedule);
  if (chunk_layout(d.parallel.schedule) == ChunkLayout::Vee || name.starts_with("flexible"))
    d.parallel.virtual_stages = name.ends_with("many rounds") ? 4 : 2;
  for (const int64_t group : {3, 10})
    if (name.find("in groups of " + std::to_string(group)) != std::string::npos)
      d.parallel.microbatch_group = group;
  if (name.starts_with("zb-auto of given times")) d.parallel.passes = {{100, 90, 40, 7}, 5, 60};
  if (name.starts_with("zb-h1, buckets")) d.parallel.sync = SyncStrategy::DdpBuckets;
  if (name.find(", fsdp2") != std::string::npos) d.parallel.sync = SyncStrategy::Fsdp2;
  if (name == "flexible, fsdp") d.parallel.sync = SyncStrategy::Fsdp1;
  if (name.starts_with("ddp buckets")) d.parallel.sync = SyncStrategy::DdpBuckets;
  d.parallel.overlap_grad_reduce = name.find("in buckets") != std::string::npos;
  if (name.ends_with("virtual stages") || name.find("pairs, pp") != std::string::npos)
    d.parallel.virtual_stages = 2;
  d.parallel.ep_comm_overlap = name.starts_with("exchanges in pairs");
  if (d.parallel.ep_comm_overlap) d.parallel.sync = SyncStrategy::DistributedOptimizer;
  if (name == "ddp buckets gpipe") d.parallel.schedule = ScheduleKind::GPipe;
  set_sync(name, d.parallel);
}

void set_context(const std::string& name, Design& d) {
  if (name.find("context parallel") != std::string::npos) d.parallel.cp = 2;
  for (const char* context : {"ulysses-zigzag", "ulysses-ring", "zigzag", "ring"})
    if (name.find(std::string("context parallel ") + context) != std::string::npos) {
      set_knob(d, *find_knob("context"), context);
      d.parallel.cp = name.find("ring of two") != std::string::npos ? 2 : 4;
      d.parallel.ulysses_degree = name.find("ulysses") != std::string::npos ? 2 : 0;
      break;
    }
  if (name.ends_with("groups and heads")) d.parallel.cp = 8;
  if (name.ends_with("by ulysses")) d.parallel.context = ContextMode::Ulysses;
}

void set_experts(const std::string& name, Design& d) {
  if (name.starts_with("experts") || name.ends_with("experts")) d.parallel.ep = 2;
  if (name == "experts by hidden") d.parallel.dispatcher = Dispatcher::AllToAllSeq;
  if (name == "experts gathered") d.parallel.dispatcher = Dispatcher::AllGather;
  if (name.starts_with("experts by node")) {
    d.parallel.dispatcher = Dispatcher::Flex;
    d.parallel.ep = d.parallel.dp;
    d.cluster.gpus_per_node = 2 * d.parallel.tp;
    if (name.find("2 of 4 groups") != std::string::npos) {
      d.model.expert_groups = 4;
      d.model.groups_per_token = 2;
      d.workload.dispatch_dtype = DispatchPrecision::FP8;
    }
  }
  if (name.starts_with("experts folded") || name.ends_with("folded experts")) d.parallel.etp = 1;
  if (name.ends_with("experts over tp")) {
    d.parallel.ep = d.parallel.tp * d.parallel.dp;
    d.parallel.etp = 1;
  }
  if (name.ends_with("gathered experts over tp")) d.parallel.dispatcher = Dispatcher::AllGather;
  if (name.ends_with("experts behind dense layers")) d.model.dense_layers = 2;
}

void set_workload(const std::string& name, Design& d) {
  if (name.starts_with("mamba")) d.workload.profile = "mamba";
  if (name.starts_with("transformer engine")) d.workload.profile = "megatron-core-te-fused-loss";
  if (name.find("full recompute") != std::string::npos) d.workload.recompute = Recompute::Full;
  if (name.find("selective recompute") != std::string::npos) d.workload.recompute = Recompute::Selective;
  if (name.find("recompute groups") != std::string::npos ||
      name.find("recompute block") != std::string::npos) {
    WorkloadSpec& w = d.workload;
    w.recompute = Recompute::Full;
    w.recompute_method = name.find("block") != std::string::npos ? RecomputeMethod::Block
                                                                 : RecomputeMethod::Uniform;
    w.recompute_num_layers = name.find("of 3") != std::string::npos   ? 3
                             : name.find("of 4") != std::string::npos ? 4
                                                                      : 2;
    w.distribute_saved_activations = name.find("distributed") != std::string::npos;
  }
  for (const auto& [word, compute] : {std::pair{"mxfp8", ComputePrecision::MXFP8},
                                      {"nvfp4", ComputePrecision::NVFP4},
                                      {"fsdp fp8", ComputePrecision::FP8},
                                      {"fp8-blockwise", ComputePrecision::FP8Block}})
    if (name.starts_with(word)) d.workload.compute = compute;
  d.workload.offload_optimizer = name.find("of the optimizer") != std::string::npos;
  if (name.find("of a third of the optimizer") != std::string::npos)
    d.workload.optimizer_offload_fraction = 333;
  if (name.ends_with("muon")) d.workload.optimizer = OptimizerKind::Muon;
  if (name.ends_with("packed")) d.workload.packed_length = d.workload.seq / 2;
  if (name.ends_with("activations") || name.find("of activations") != std::string::npos)
    d.workload.offload_activations = 2;
  if (name.ends_with(" lora")) d.workload.lora_rank = 8;
  if (name.find("recompute modules") != std::string::npos) {
    d.workload.recompute = Recompute::Selective;
    for (RecomputeModule m : {RecomputeModule::Layernorm, RecomputeModule::Mlp})
      d.workload.recompute_modules.add(m);
  }
}

void set_stages(const std::string& name, Design& d) {
  if (name == "fsdp gpipe tied embeddings") d.parallel.schedule = ScheduleKind::GPipe;
  if (name == "gpipe") d.parallel.schedule = ScheduleKind::GPipe;
  if (name.starts_with("interleaved"))
    d.parallel.virtual_stages = name == "interleaved on two stages" ? 3 : 2;
  if (name.find("uneven chunk,") != std::string::npos) d.parallel.stage_layers = {2, 1, 1, 1};
  if (name == "interleaved, uneven chunks") d.parallel.stage_layers = {0, 2, 2, 1};
  if (name.ends_with("scattered messages")) d.parallel.scatter_gather_pipeline = true;
  if (name == "uneven stages") d.parallel.stage_layers = {1, 2, 2, 1};
  if (name.ends_with("stages without layers")) d.parallel.stage_layers = {0, 2, 1, 0};
}

void set_model(const std::string& name, Design& d) {
  if (name.starts_with("one kv head")) d.model.kv_heads = 1;
  if (name.ends_with("tied embeddings")) d.model.tied_embeddings = true;
  if (name.starts_with("tied embeddings")) d.model.tied_embeddings = true;
  if (name.starts_with("residual blocks")) {
    d.model.architecture = "attention-residual";
    d.model.block_layers = 3;
  }
  if (name.starts_with("compressed keys")) {
    ModelSpec& m = d.model;
    m.architecture = "compressed";
    m.kv_heads = m.heads;
    m.q_rank = m.output_rank = 1024;
    m.rope_head_dim = m.compress_ratio = m.index_heads = 64;
    m.window = m.index_dim = m.index_top_k = 128;
    m.output_groups = 8;
  }
  if (name.starts_with("carried tensors")) {
    d.model.architecture = "gemma4; per_layer";
    d.model.layers = 4;
    d.model.layer_pattern = "sliding, full, sliding_shared, full_shared";
    d.model.window = 512;
    d.model.rope_head_dim = 32;
    d.model.per_layer_dim = 64;
  }
  if (name.starts_with("residual streams")) {
    d.model.architecture = "hyper";
    d.model.streams = 4;
  }
  if (name.find("linear attention") != std::string::npos) {
    ModelSpec& m = d.model;
    m.architecture = "gated_delta_hybrid";
    m.linear_key_heads = 8;
    m.linear_value_heads = 16;
    m.linear_key_dim = m.linear_value_dim = m.linear_chunk = 64;
    m.linear_conv = 4;
  }
  if (name.find("latent attention") != std::string::npos) {
    ModelSpec& m = d.model;
    m.architecture = "latent";
    m.kv_heads = m.heads;
    m.q_rank = name.ends_with("pp 2") ? 1536 : 0;
    m.kv_rank = 512;
    m.nope_head_dim = m.value_head_dim = 128;
    m.rope_head_dim = 64;
    m.mtp_layers = name.find("two depths") != std::string::npos  ? 2
                   : name.find("one depth") != std::string::npos ? 1
                                                                 : 0;
    if (name.ends_with("cp 2")) d.parallel.cp = 2;
  }
}

// Qwen3-VL's tower with three layers. An image has 256 patches.
void set_tower(const std::string& name, Design& d) {
  const auto says = [&](const char* words) { return name.find(words) != std::string::npos; };
  if (!says("tower")) return;
  ModelSpec& m = d.model;
  m.architecture = "qwen3-vl";
  m.vision_layers = 3;
  m.vision_hidden = 1152;
  m.vision_heads = 16;
  m.vision_head_dim = 72;
  m.vision_ffn = 4304;
  m.vision_positions = 2304;
  m.vision_patch = 16;
  m.vision_frames = 2;
  m.vision_merge = 4;
  WorkloadSpec& w = d.workload;
  w.images = says("text alone") ? 0 : 2;
  w.image_size = 256;
  if (says("frozen")) w.vision_training = VisionTraining::Frozen;
  w.vision_recompute = says("replayed");
  if (says("own stage")) w.vision_stage = VisionStage::Own;
  if (says("images apart")) w.vision_parallel = VisionParallel::Data;
  ParallelSpec& p = d.parallel;
  if (says("ring of two")) {
    p.cp = 2;
    p.context = ContextMode::Ring;
  }
  if (says("distributed optimizer")) p.sync = SyncStrategy::DistributedOptimizer;
  if (says("zero 1")) p.sync = SyncStrategy::Zero1;
  if (says("ddp buckets")) p.sync = SyncStrategy::DdpBuckets;
  if (says("fsdp1")) p.sync = SyncStrategy::Fsdp1;
  if (says("fsdp2")) p.sync = SyncStrategy::Fsdp2;
  if (says("zb-h1")) p.schedule = ScheduleKind::ZbH1;
}

void set_inference(const std::string& name, Design& d) {
  if (name.starts_with("prefill")) d.workload.mode = Mode::Prefill;
  if (name.starts_with("decode")) {
    d.workload.mode = Mode::Decode;
    d.workload.microbatch = 4;
    d.workload.batch *= 4;
    if (name.ends_with("shared context")) d.parallel.dcp = 2;
    if (name.ends_with("kv heads fewer than tp, shared context"))
      d.workload.microbatch = 16, d.workload.batch = 32;
    if (name.ends_with("of eight")) d.parallel.cp = 8;  // more than sequences
    if (name.find("experts") != std::string::npos) d.workload.kv_cache_dtype = DType::FP8;
  }
}

}  // namespace

std::vector<NamedDesign> trace_designs() {
  std::vector<NamedDesign> all;
  for (const auto& some : {dense_designs(), context_designs(), model_designs(), tower_designs(),
                           sync_designs(), workload_designs(), schedule_designs(), inference_designs()})
    all.insert(all.end(), some.begin(), some.end());
  for (NamedDesign& named : all) {
    const std::string name = named.name;
    Design& d = named.design;
    set_schedule_and_sync(name, d);
    set_context(name, d);
    set_experts(name, d);
    set_workload(name, d);
    set_stages(name, d);
    set_model(name, d);
    set_tower(name, d);
    set_inference(name, d);
    if (name.ends_with("other rank order")) parse_rank_order("pp-dp-cp-tp", d.parallel.order);
  }
  return all;
}

void add_trace_rows() {
  QTest::addColumn<int>("index");
  const std::vector<NamedDesign> designs = trace_designs();
  for (size_t i = 0; i < designs.size(); ++i) QTest::newRow(designs[i].name) << static_cast<int>(i);
}

Design fetched_trace_design() {
  QFETCH(int, index);
  static const std::vector<NamedDesign> designs = trace_designs();
  return designs[static_cast<size_t>(index)].design;
}

}  // namespace shardscape::test
