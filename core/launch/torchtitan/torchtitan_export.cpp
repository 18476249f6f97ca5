#include "launch/torchtitan/torchtitan_export.h"

#include <algorithm>

#include "design/knobs/knobs.h"
#include "launch/launch_gaps.h"
#include "launch/torchtitan/torchtitan_fields.h"
#include "launch/torchtitan/torchtitan_models.h"

namespace shardscape {
namespace {

bool has_sizes(const Design& design, const TorchtitanModel& model) {
  Design other = design;
  if (!apply_preset(other, model.preset)) return false;
  for (const auto& [knob, value] : model.sizes) set_knob(other, *find_knob(knob), value);
  if (other.model.architecture != design.model.architecture) return false;
  return std::all_of(knobs().begin(), knobs().end(), [&](const Knob& knob) {
    return knob.group != KnobGroup::Model || knob.of_checkpoint ||
           knob_text(other, knob) == knob_text(design, knob);
  });
}

std::string line(const char* name, const std::string& value) {
  return std::string(name) + " = " + value + "\n";
}
std::string line(const char* name, int64_t value) { return line(name, std::to_string(value)); }
std::string quoted(const char* name, const std::string& value) { return line(name, "\"" + value + "\""); }
std::string flag(const char* name, bool value) { return line(name, value ? "true" : "false"); }

std::string schedule(const Design& d) {
  switch (d.parallel.schedule) {
    case ScheduleKind::GPipe: return "GPipe";
    case ScheduleKind::ZbV: return "ZBVZeroBubble";
    case ScheduleKind::DualPipeV: return "DualPipeV";
    case ScheduleKind::Flexible: {
      const int64_t m = d.workload.batch / d.workload.microbatch / d.parallel.dp;
      if (d.parallel.virtual_stages > 1 && d.parallel.microbatch_group == m) return "LoopedBFS";
      break;
    }
    case ScheduleKind::OneFOneB:
    case ScheduleKind::ZbH1:
    case ScheduleKind::ZbH2:
    case ScheduleKind::ZbAuto:
    case ScheduleKind::DualPipe:
    case ScheduleKind::ForwardOnly:
    case ScheduleKind::OneFOneBPairs:
    case ScheduleKind::OneFOneBForwardsFirst: break;
  }
  return d.parallel.virtual_stages > 1 ? "Interleaved1F1B" : "1F1B";
}

// The layers that torchtitan counts for embedding and head, so that its split is the one of the design.
std::string stages(const Design& d, const std::string& name) {
  const bool several = name != "1F1B" && name != "GPipe";
  const bool vee = name == "ZBVZeroBubble" || name == "DualPipeV";
  const int64_t layers = d.model.layers, count = d.parallel.pp * (vee       ? 2
                                                                  : several ? d.parallel.virtual_stages
                                                                            : 1);
  std::vector<int64_t> wanted(d.parallel.stage_layers.begin(), d.parallel.stage_layers.end());
  const bool even = wanted.empty() && layers % count == 0;
  const auto is_wanted = [&](int64_t first, int64_t last) {
    const auto split = torchtitan_stages(layers, count, first, last);
    return even ? split == std::vector<int64_t>(static_cast<size_t>(count), layers / count) : split == wanted;
  };
  constexpr int64_t kMostCounted = 8;
  int64_t first = 1, last = 1;  // the defaults, if no numbers lead to the split
  const bool usual = is_wanted(1, 1);
  for (int64_t i = 0; i < kMostCounted * kMostCounted && !usual; ++i) {
    if (!is_wanted(i / kMostCounted, i % kMostCounted)) continue;
    first = i / kMostCounted;
    last = i % kMostCounted;
    break;
  }
  std::string out = line("pipeline_parallel_first_stage_less_layers", first) +
                    line("pipeline_parallel_last_stage_less_layers", last);
  const int64_t all = layers + first + last, each = (all + count - 1) / count;
  if (several && count != 2 * d.parallel.pp && (all + each - 1) / each == count)
    out += line("pipeline_parallel_layers_per_stage", each);
  return out;
}

std::string parallelism(const Design& d) {
  const ParallelSpec& p = d.parallel;
  const bool replicated = p.sync == SyncStrategy::DdpBuckets && p.dp == d.world();
  const int64_t shard = replicated ? 1 : p.dp_shard > 0 ? p.dp_shard : p.dp;
  std::string out = "\n[parallelism]\n" + line("data_parallel_replicate_degree", p.dp / shard) +
                    line("data_parallel_shard_degree", shard) +
                    quoted("fsdp_reshard_after_forward", p.reshard_after_forward ? "always" : "never") +
                    line("tensor_parallel_degree", p.tp) +
                    flag("enable_async_tensor_parallel", p.tp > 1 && p.tp_comm_overlap) +
                    flag("disable_loss_parallel", p.tp > 1 && d.workload.gathered_logits) +
                    line("pipeline_parallel_degree", p.pp);
  if (p.pp > 1) {
    const std::string name = schedule(d);
    out += quoted("pipeline_parallel_schedule", name) +
           line("pipeline_parallel_microbatch_size", d.workload.microbatch) + stages(d, name);
  }
  out += line("context_parallel_degree", p.cp);
  if (p.cp > 1)
    out += quoted("context_parallel_rotate_method",
                  p.context == ContextMode::AllGather ? "allgather" : "alltoall");
  if (d.model.experts > 0)
    out += line("expert_parallel_degree", p.ep) +
           line("expert_tensor_parallel_degree", p.ep > 1 && !p.folds_experts() ? p.tp : 1) +
           quoted("expert_parallel_comm_backend", p.dispatcher == Dispatcher::Flex ? "deepep" : "standard");
  return out;
}

std::string recompute(const Design& d) {
  const bool full = d.workload.recompute == Recompute::Full, ops = d.workload.profile.ends_with("-selective");
  std::string out = "\n[activation_checkpoint]\n" + quoted("mode", full  ? "full"
                                                                   : ops ? "selective"
                                                                         : "none");
  if (!full && ops) out += quoted("selective_ac_option", "op");
  return out;
}

std::string training(const Design& d) {
  const WorkloadSpec& w = d.workload;
  std::string out = "\n[training]\n";
  if (d.parallel.pp > 1)
    out += line("local_batch_size", w.batch / d.parallel.dp);
  else
    out += line("local_batch_size", w.microbatch) + line("global_batch_size", w.batch);
  return out + line("seq_len", w.seq) + line("max_norm", d.parallel.clip_grad_norm ? "1.0" : "0.0") +
         quoted("mixed_precision_param", w.dtype == DType::FP32 ? "float32" : "bfloat16") +
         quoted("mixed_precision_reduce", "float32") + flag("enable_cpu_offload", w.offload_optimizer) +
         "steps = 10\ndataset = \"c4\"\n";
}

const GapReasons& reasons() {
  static const GapReasons kReasons{
      {"dropout", "the models of torchtitan have no dropout"},
      {"sequence_parallel", "torchtitan splits norms and residuals whenever tp is above 1"},
      {"sync", "torchtitan runs FSDP2, and DDP where all GPUs are replicas"},
      {"grad_dtype", "FSDP of torchtitan reduces gradients in float32"},
      {"vocab_multiple", "torchtitan does not pad the vocabulary"},
      {"virtual_stages", "virtual stages follow from the layers per stage and the schedule"},
      {"stage_layers", "torchtitan counts embedding and head as layers and splits evenly"},
      {"reduce_every_microbatch", "torchtitan reduces gradients after every accumulation step"},
      {"recompute", "torchtitan runs whole layers again, none, or ops of a list"},
      {"rank_order", "the mesh of torchtitan is pp, dp, cp, tp"},
      {"profile", "the kernels are those of torchtitan"}};
  return kReasons;
}

}  // namespace

std::variant<LaunchText, Problem> write_torchtitan(const Design& d) {
  if (!trains(d))
    return Problem{ProblemCode::LaunchSetting, "mode", "torchtitan trains; the design serves",
                   "--mode train"};
  const auto& models = torchtitan_models();
  const auto model = std::find_if(models.begin(), models.end(),
                                  [&](const TorchtitanModel& one) { return has_sizes(d, one); });
  if (model == models.end()) {
    std::string known;
    for (const TorchtitanModel& one : models)
      known += (known.empty() ? "" : ", ") + std::string(one.name) + " " + one.flavor;
    return Problem{ProblemCode::LaunchSetting, "model",
                   "torchtitan v0.2.2 has no flavor with the sizes of this model",
                   "the model of one of " + known};
  }
  const bool fp8 = d.workload.compute == ComputePrecision::FP8,
             mx = d.workload.compute == ComputePrecision::MXFP8;
  const std::string gpus = std::to_string(d.world());
  LaunchText out;
  out.file_name = "shardscape.toml";
  out.text = "# Settings of torchtitan v0.2.2 for " + gpus +
             " GPUs. Later versions take Python instead of TOML.\n" +
             "# Start on every node: torchrun --nnodes=NODES --nproc_per_node=GPUS ... -m torchtitan.train "
             "--job.config_file=shardscape.toml\n"
             "# Fill in: model.hf_assets_path (tokenizer) and training.dataset.\n\n[model]\n" +
             quoted("name", model->name) + quoted("flavor", model->flavor) +
             quoted("hf_assets_path", "./assets/hf/MODEL");
  if (fp8 || mx)
    out.text += line("converters", fp8 ? "[\"quantize.linear.float8\"]" : "[\"quantize.linear.mx\"]");
  out.text += "\n[optimizer]\nname = \"AdamW\"\nimplementation = \"fused\"\n" + training(d) + parallelism(d) +
              recompute(d) + "\n[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n";
  return with_gaps(d, std::move(out), "torchtitan", reasons());
}

}  // namespace shardscape
