#include "launch/maxtext/maxtext_export.h"

#include <algorithm>

#include "base/real_text.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "launch/launch_gaps.h"

namespace shardscape {
namespace {

struct ExportedBlock {
  const char *architecture, *block, *activations;
  int64_t merged = 1;  // layers of the design in a layer of MaxText
};
constexpr ExportedBlock kExportedBlocks[] = {{"llama", "llama2", "silu,linear"},
                                             {"mixtral", "mixtral", "silu,linear"},
                                             {"gpt", "gpt3", "gelu"},
                                             {"gemma", "gemma", "gelu,linear"},
                                             {"gemma2", "gemma2", "gelu,linear", 2},
                                             {"qwen2", "qwen2", "silu,linear"},
                                             {"qwen3", "qwen3", "silu,linear"},
                                             {"qwen3-moe", "qwen3_moe", "silu,linear"},
                                             {"gpt-oss", "gpt_oss", "sigmoid,linear"}};

class Command {
 public:
  void add(const std::string& name, const std::string& value) { text_ += " \\\n    " + name + "=" + value; }
  void add(const std::string& name, int64_t value) { add(name, std::to_string(value)); }
  void flag(const std::string& name, bool value) { add(name, std::string(value ? "true" : "false")); }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml";
};

void sizes(const Design& d, const ExportedBlock& block, Command& out) {
  const ModelSpec& m = d.model;
  out.add("decoder_block", std::string(block.block));
  out.add("mlp_activations", "\"[" + std::string(block.activations) + "]\"");
  out.add("base_emb_dim", m.hidden);
  out.add("base_num_query_heads", m.heads);
  out.add("base_num_kv_heads", m.kv_heads);
  out.add("head_dim", m.head_dim);
  out.add("base_mlp_dim", m.experts > 0 ? m.expert_ffn : m.ffn);
  out.add("base_num_decoder_layers", m.layers / block.merged);
  out.add("vocab_size", m.vocab);
  out.flag("logits_via_embedding", m.tied_embeddings);
  if (m.experts > 0) {
    out.add("num_experts", m.experts);
    out.add("num_experts_per_tok", m.experts_per_token);
    out.add("base_moe_mlp_dim", m.expert_ffn);
  }
  if (m.window > 0) out.add("sliding_window_size", m.window);
}

void mesh(const Design& d, Command& out) {
  const ParallelSpec& p = d.parallel;
  const bool replicated = !is_fsdp(p.sync) && p.sync != SyncStrategy::Zero3;
  const int64_t ep = std::max<int64_t>(p.ep, 1), group = replicated ? ep : p.dp_shard > 0 ? p.dp_shard : p.dp;
  out.add("ici_data_parallelism", p.dp / std::max<int64_t>(group, 1));
  out.add("ici_fsdp_parallelism", std::max<int64_t>(group / ep, 1));
  out.add("ici_expert_parallelism", ep);
  out.add("ici_tensor_parallelism", p.tp);
  out.add("ici_context_parallelism", p.cp);
  out.add("ici_pipeline_parallelism", p.pp);
  const bool sharded_states = p.sync == SyncStrategy::DistributedOptimizer || p.sync == SyncStrategy::Zero1 ||
                              p.sync == SyncStrategy::Zero2;
  out.flag("shard_optimizer_over_data", sharded_states && p.dp > ep);
  if (p.cp > 1) {
    const bool ring = p.context == ContextMode::Ring || p.context == ContextMode::Zigzag;
    out.add("context_parallel_strategy", std::string(ring                                ? "ring"
                                                     : p.context == ContextMode::Ulysses ? "ulysses"
                                                                                         : "all_gather"));
    out.flag("context_parallel_load_balance", p.context != ContextMode::Ring);
  }
  if (p.pp > 1) {
    const int64_t chunks = p.schedule == ScheduleKind::Flexible ? p.virtual_stages : 1;
    out.add("num_pipeline_repeats", chunks);
    out.add("num_layers_per_pipeline_stage", std::max<int64_t>(d.model.layers / p.pp / chunks, 1));
    out.add("num_pipeline_microbatches", d.workload.batch / d.workload.microbatch / p.dp);
  }
}

// Twelve digits: the reader rounds to whole sequences.
std::string real(double value) { return real_text(value, 12); }

void workload(const Design& d, Command& out) {
  const WorkloadSpec& w = d.workload;
  const int64_t steps = d.parallel.pp > 1 ? 1 : w.batch / w.microbatch / d.parallel.dp;
  out.add("max_target_length", w.seq);
  out.add("gradient_accumulation_steps", std::max<int64_t>(steps, 1));
  out.add("per_device_batch_size",
          real(static_cast<double>(w.batch) / static_cast<double>(std::max<int64_t>(steps, 1)) /
               static_cast<double>(d.world())));
  out.add("dtype", std::string(w.dtype == DType::FP32   ? "float32"
                               : w.dtype == DType::FP16 ? "float16"
                                                        : "bfloat16"));
  out.add("quantization", std::string(w.compute == ComputePrecision::Int8  ? "int8"
                                      : w.compute == ComputePrecision::FP8 ? "fp8"
                                                                           : "\"\""));
  const RecomputeModules modules = w.recompute_modules;
  const bool mlp = modules.has(RecomputeModule::Mlp) || modules.has(RecomputeModule::Moe);
  const std::string policy = w.recompute == Recompute::Full           ? "full"
                             : w.recompute == Recompute::None         ? "minimal_with_context"
                             : mlp                                    ? "save_qkv_proj"
                             : modules.has(RecomputeModule::CoreAttn) ? "minimal"
                                                                      : "minimal_with_context";
  out.add("remat_policy", policy);
  out.add("opt_type",
          std::string(w.optimizer == OptimizerKind::Muon && !without_effect(d, *find_knob("optimizer"))
                          ? "muon"
                          : "adamw"));
  out.add("gradient_clipping_threshold", std::string(d.parallel.clip_grad_norm ? "1.0" : "0.0"));
  out.flag("optimizer_memory_host_offload", w.offload_optimizer);
  out.add("dropout_rate", std::string(w.dropout ? "0.1" : "0.0"));
  if (d.model.experts > 0 && w.capacity_factor > 0) {
    out.flag("sparse_matmul", false);
    out.flag("megablox", false);
    out.add("capacity_factor", real(static_cast<double>(w.capacity_factor) / 1000));
  }
  out.add("attention", std::string("flash"));
  out.add("steps", 10);
  out.add("dataset_type", std::string("synthetic"));
}

const GapReasons& reasons() {
  static const GapReasons kReasons{
      {"sync", "MaxText shards parameters over the axis fsdp, or replicates them over the axis data"},
      {"sequence_parallel", "activations between layers are split over the tensor axis"},
      {"tp_comm_overlap", "XLA overlaps GEMMs with collectives of the tensor axis"},
      {"grad_dtype", "XLA reduces gradients in the type of the GEMMs"},
      {"vocab_multiple", "MaxText does not pad the vocabulary"},
      {"schedule", "a pipeline of MaxText runs all forwards, then all backwards"},
      {"stage_layers", "all stages of MaxText have equal numbers of layers"},
      {"recompute", "a remat policy of MaxText always runs norms and activations again"},
      {"recompute_modules", "a remat policy names tensors, not modules"},
      {"overlap_grad_reduce", "XLA overlaps the reduction of gradients"},
      {"rank_order", "XLA places the axes of the mesh"},
      {"profile", "XLA fuses the kernels"}};
  return kReasons;
}

}  // namespace

std::variant<LaunchText, Problem> write_maxtext(const Design& d) {
  if (!trains(d))
    return Problem{ProblemCode::LaunchSetting, "mode", "MaxText trains; the design serves", "--mode train"};
  const auto block = std::find_if(
      std::begin(kExportedBlocks), std::end(kExportedBlocks),
      [&](const ExportedBlock& one) { return d.model.architecture == one.architecture; });
  if (block == std::end(kExportedBlocks)) {
    std::string known;
    for (const ExportedBlock& one : kExportedBlocks)
      known += (known.empty() ? "" : ", ") + std::string(one.architecture);
    return Problem{ProblemCode::LaunchSetting, "architecture",
                   "the architecture " + d.model.architecture + " is no decoder_block with sizes of its own",
                   "one of " + known};
  }
  if (d.model.layers % block->merged != 0)
    return Problem{ProblemCode::LaunchSetting, "layers",
                   "a layer of MaxText's " + std::string(block->block) + " holds " +
                       std::to_string(block->merged) + " layers",
                   "a multiple of " + std::to_string(block->merged)};
  const int64_t m = d.workload.batch / d.workload.microbatch / d.parallel.dp, pp = d.parallel.pp;
  const int64_t chunks = d.parallel.schedule == ScheduleKind::Flexible ? d.parallel.virtual_stages : 1;
  if (pp > 1 && (m % pp != 0 || d.model.layers % (pp * chunks) != 0))
    return Problem{ProblemCode::LaunchSetting, "pp",
                   "pp = " + std::to_string(pp) + " must divide the " + std::to_string(m) +
                       " microbatches, and with the virtual stages the " + std::to_string(d.model.layers) +
                       " layers (src/maxtext/configs/types.py:3598, 3612)",
                   "a pp that divides both"};
  Command command;
  command.add("run_name", std::string("shardscape"));
  command.add("base_output_directory", std::string("OUTPUT_DIRECTORY"));
  sizes(d, *block, command);
  mesh(d, command);
  workload(d, command);
  LaunchText out;
  out.file_name = "launch.sh";
  out.text = "#!/bin/bash\n# MaxText (e591f30c, 2026-08) on " + std::to_string(d.world()) +
             " devices. Start on every host with: bash launch.sh\n"
             "# Fill in: base_output_directory, and dataset_type with its path and tokenizer_path.\n" +
             command.text() + "\n";
  return with_gaps(d, std::move(out), "maxtext", reasons());
}

}  // namespace shardscape
