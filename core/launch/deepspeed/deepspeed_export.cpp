#include "launch/deepspeed/deepspeed_export.h"

#include <nlohmann/json.hpp>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "launch/launch_gaps.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

bool is_gpt(const std::string& architecture) {
  return architecture == "gpt" || architecture.starts_with("gpt; ");
}

class ScriptWriter {
 public:
  explicit ScriptWriter(const Design& design) : d_(design) {}

  std::variant<LaunchText, Problem> run() {
    model();
    degrees();
    batch();
    precision();
    zero();
    recompute();
    kernels();
    return with_gaps(d_, {script(), "launch.sh", {}}, "deepspeed", reasons_);
  }

 private:
  const Design& d() const { return d_; }
  std::string text(const char* knob) const { return knob_text(d_, *find_knob(knob)); }
  bool on(const char* knob) const { return text(knob) == "true"; }
  void argument(const std::string& name, const std::string& value) { arguments_.emplace_back(name, value); }
  void argument(const std::string& name, int64_t value) { argument(name, std::to_string(value)); }
  void flag(const std::string& name) { argument(name, ""); }
  void say(const char* knob, const char* name) { argument(name, text(knob)); }
  void gap(const char* knob, const std::string& reason) { reasons_.emplace_back(knob, reason); }

  void model() {
    for (const auto& [knob, name] : {std::pair{"layers", "--num-layers"},
                                     {"hidden", "--hidden-size"},
                                     {"heads", "--num-attention-heads"},
                                     {"kv_heads", "--num-key-value-heads"},
                                     {"head_dim", "--kv-channels"},
                                     {"ffn", "--ffn-hidden-size"},
                                     {"vocab", "--vocab-size"},
                                     {"vocab_multiple", "--make-vocab-size-divisible-by"},
                                     {"seq", "--seq-length"}})
      say(knob, name);
    const std::string& name = d().model.architecture;
    const auto has = [&](const char* option) {
      return name == "llama" || name.find(option) != std::string::npos;
    };
    argument("--normalization", name == "llama" ? "rmsnorm" : "layernorm");
    argument("--max-position-embeddings", d().model.positions > 0 ? d().model.positions : d().workload.seq);
    if (has("rope")) flag("--use-rotary-position-embeddings");
    if (has("swiglu")) flag("--swiglu");
    if (has("unbiased")) flag("--disable-bias-linear");
    if (!on("tied_embeddings")) flag("--untie-embeddings-and-output-weights");
  }

  void degrees() {
    const ParallelSpec& p = d().parallel;
    say("tp", "--tensor-model-parallel-size");
    say("pp", "--pipeline-model-parallel-size");
    say("cp", "--ds-sequence-parallel-size");
    if (p.cp > 1 && p.context != ContextMode::Ulysses)
      gap("context", "DeepSpeed splits sequences with Ulysses alone");
    if (p.sequence_parallel && p.tp > 1 && p.cp == 1) flag("--sequence-parallel");
    if (p.sequence_parallel && p.tp > 1 && p.cp > 1)
      gap("sequence_parallel", "Megatron-DeepSpeed refuses it beside --ds-sequence-parallel-size");
    if (p.schedule == ScheduleKind::ZbH1 && p.pp > 1)
      flag("--enable-zbh1-pipeline");
    else if (p.schedule != ScheduleKind::OneFOneB)
      gap("schedule", p.pp > 1 ? "DeepSpeed's pipelines are 1F1B or ZB-H1" : "there is one stage");
  }

  void batch() {
    say("microbatch", "--micro-batch-size");
    say("batch", "--global-batch-size");
    if (!d().workload.ramp.exists()) return;
    argument("--rampup-batch-size", text("batch_ramp_start") + " " + text("batch_ramp_increment") + " " +
                                        text("batch_ramp_samples"));
  }

  void precision() {
    const std::string type = text("dtype"), grads = text("grad_dtype");
    if (type != "fp32") flag("--" + type);
    if (type == "bf16" || type == "fp16") json_[type]["enabled"] = true;
    if (grads != type) json_["data_types"]["grad_accum_dtype"] = grads;
    if (!d().workload.master_weights && type == "bf16")
      json_["bf16"]["bf16_master_weights_and_grads"] = true;
    else if (!d().workload.master_weights)
      gap("master_weights", "DeepSpeed updates float32 masters of float16 parameters");
    const std::string moments = text("moment_dtype");
    if (moments == "bf16" && type == "bf16")
      json_["bf16"]["bf16_optimizer_states"] = true;
    else if (moments != "fp32")
      gap("moment_dtype", "DeepSpeed has moments in float32, and in bfloat16 beside bfloat16 parameters");
  }

  int64_t stage() {
    const ParallelSpec& p = d().parallel;
    const int64_t most = p.pp > 1 ? 1 : 3;  // the pipeline engine refuses stages 2 and 3
    switch (p.sync) {
      case SyncStrategy::Zero0:
      case SyncStrategy::DdpFlat:
      case SyncStrategy::DdpBuckets: return 0;
      case SyncStrategy::Zero1:
      case SyncStrategy::DistributedOptimizer: return 1;
      case SyncStrategy::Zero2: return std::min<int64_t>(2, most);
      case SyncStrategy::Zero3:
      case SyncStrategy::Fsdp1:
      case SyncStrategy::Fsdp2:
      case SyncStrategy::MegatronFsdp: break;
    }
    return most;
  }

  void zero() {
    const ParallelSpec& p = d().parallel;
    const bool engine = p.pp > 1;
    const bool shards = engine && stage() == 0 && d().workload.dtype == DType::BF16;
    const int64_t stage = shards ? 1 : this->stage();
    if (!engine) flag("--no-pipeline-parallel");
    if ("zero-" + std::to_string(stage) != knob_text(d(), *find_knob("sync")))
      gap("sync", shards
                      ? "in bfloat16, the pipeline engine shards the states as ZeRO stage 1 does"
                      : "the launch has ZeRO stage " + std::to_string(stage) + ", the nearest of DeepSpeed");
    Json& json = json_["zero_optimization"];
    json["stage"] = stage;
    argument("--zero-stage", stage);
    const ZeroLimits& z = p.zero;
    json["reduce_bucket_size"] = z.reduce_bucket_size;
    json["allgather_bucket_size"] = z.allgather_bucket_size;
    json["stage3_prefetch_bucket_size"] = z.prefetch_bucket_size;
    json["stage3_param_persistence_threshold"] = z.param_persistence_threshold;
    json["stage3_max_live_parameters"] = z.max_live_parameters;
    json["stage3_max_reuse_distance"] = z.max_reuse_distance;
    if (p.dp_shard > 0 && stage == 3 && p.sync == SyncStrategy::Zero3)
      json["mics_shard_size"] = p.dp_shard;
    else if (p.dp_shard > 0)
      gap("dp_shard", "DeepSpeed shards inside a group of replicas at stage 3 alone (MiCS)");
    offload(json);
    json_["gradient_clipping"] = on("clip_grad_norm") ? 1.0 : 0.0;
    argument("--clip-grad", d().parallel.clip_grad_norm ? "1.0" : "0.0");
    if (text("optimizer") != "adam") gap("optimizer", "Megatron-DeepSpeed runs Adam");
  }

  void offload(Json& json) {
    if (!on("offload_optimizer")) return;
    json["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
    flag("--cpu-optimizer");
    if (d().workload.optimizer_offload_fraction == 1000) return;
    json["offload_optimizer"]["ratio"] = static_cast<double>(d().workload.optimizer_offload_fraction) / 1000;
  }

  void recompute() {
    const WorkloadSpec& w = d().workload;
    const std::string kind = text("recompute");
    if (kind == "none") return;
    argument("--recompute-granularity", kind);
    if (kind == "full") {
      argument("--recompute-method", knob_text(d(), *find_knob("recompute_method")));
      argument("--recompute-num-layers", w.recompute_num_layers);
      flag("--deepspeed-activation-checkpointing");
      if (w.distribute_saved_activations && !without_effect(d(), *find_knob("distribute_saved_activations")))
        flag("--partition-activations");
    } else if (knob_text(d(), *find_knob("recompute_modules")) != "core_attn") {
      gap("recompute_modules", "selective recompute of Megatron-DeepSpeed runs the attention core again");
    }
  }

  void kernels() {
    const char* const chance = on("dropout") ? "0.1" : "0";
    argument("--hidden-dropout", chance);
    argument("--attention-dropout", chance);
    const std::string profile = text("profile");
    if (profile != "megatron-deepspeed-2022") flag("--use-flash-attn-v2");
    if (profile != "megatron-deepspeed-2022" && profile != "flash")
      gap("profile", "Megatron-DeepSpeed runs its own kernels, here with flash attention");
  }

  std::string script() const {
    const ParallelSpec& p = d().parallel;
    const int64_t gpus = p.tp * p.pp * p.cp * p.dp, node = d().cluster.gpus_per_node;
    const bool even = gpus <= node || gpus % node == 0;
    const int64_t each = gpus <= node ? gpus : even ? node : 1, nodes = gpus / each;
    std::string out =
        "#!/bin/bash\n"
        "# Start in a checkout of github.com/deepspeedai/Megatron-DeepSpeed (written for 4efb479): bash "
        "launch.sh\n"
        "# Fill in DATA, VOCAB and MERGES. The tokenizer has to have the vocabulary of --vocab-size.\n"
        "# Learning rate and number of steps are examples: they change neither memory nor the time of a "
        "step.\n" +
        std::string(nodes > 1 ? "# The nodes are in the file /job/hostfile (deepspeed --hostfile).\n" : "") +
        "DATA=my-data_text_document\nVOCAB=gpt2-vocab.json\nMERGES=gpt2-merges.txt\n\n"
        "cat > ds_config.json <<'EOT'\n" +
        json_text() + "\nEOT\n\ndeepspeed --num_nodes " + std::to_string(nodes) + " --num_gpus " +
        std::to_string(each) + " pretrain_gpt.py";
    for (const auto& [name, value] : arguments_)
      out += " \\\n    " + name + (value.empty() ? "" : " " + value);
    return out +
           " \\\n    --deepspeed --deepspeed_config ds_config.json"
           " \\\n    --data-path $DATA --vocab-file $VOCAB --merge-file $MERGES --split 98,2,0"
           " \\\n    --train-iters 1000 --lr 1e-4 --lr-decay-style cosine --log-interval 10\n";
  }

  std::string json_text() const {
    const WorkloadSpec& w = d().workload;
    Json out{{"train_batch_size", w.batch}, {"train_micro_batch_size_per_gpu", w.microbatch}};
    out.update(json_);
    return out.dump(2);
  }

  const Design& d_;
  GapReasons reasons_;
  Json json_ = Json::object();
  std::vector<std::pair<std::string, std::string>> arguments_;
};

}  // namespace

std::variant<LaunchText, Problem> export_deepspeed(const Design& design) {
  if (design.workload.mode != Mode::Train)
    return Problem{ProblemCode::LaunchSetting, "mode", "DeepSpeed trains; the design is of inference",
                   "mode train"};
  const std::string& architecture = design.model.architecture;
  const bool plain = design.model.layer_pattern.empty() && architecture.find('(') == std::string::npos;
  if (!plain || (architecture != "llama" && !is_gpt(architecture)))
    return Problem{ProblemCode::LaunchSetting, "architecture",
                   "Megatron-DeepSpeed has no layers of the " + architecture + " architecture",
                   "a model with the architecture gpt or llama"};
  return ScriptWriter(design).run();
}

}  // namespace shardscape
