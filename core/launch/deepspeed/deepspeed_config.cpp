#include "launch/deepspeed/deepspeed_config.h"

#include <algorithm>

#include "launch/launch_parts.h"

namespace shardscape {
namespace {

constexpr const char* kFilled = "src/transformers/integrations/deepspeed.py, trainer_config_process";

// Settings without effect on memory and operations of a step.
constexpr const char* kNoEffect[] = {"_comment",
                                     "steps_per_print",
                                     "wall_clock_breakdown",
                                     "memory_breakdown",
                                     "dump_state",
                                     "scheduler.*",
                                     "scheduler",
                                     "optimizer.params.*",
                                     "optimizer.params",
                                     "fp16.*",
                                     "bf16.*",
                                     "tensorboard.*",
                                     "wandb.*",
                                     "csv_monitor.*",
                                     "monitor_config.*",
                                     "comms_logger.*",
                                     "comms_config.*",
                                     "flops_profiler.*",
                                     "autotuning.*",
                                     "aio.*",
                                     "checkpoint.*",
                                     "checkpoint",
                                     "data_efficiency.*",
                                     "elasticity.*",
                                     "curriculum_learning.*",
                                     "zero_allow_untested_optimizer",
                                     "zero_force_ds_cpu_optimizer",
                                     "prescale_gradients",
                                     "gradient_predivide_factor",
                                     "disable_allgather",
                                     "dataloader_drop_last",
                                     "zero_optimization.gather_16bit_weights_on_model_save",
                                     "zero_optimization.stage3_gather_16bit_weights_on_model_save",
                                     "zero_optimization.stage3_gather_fp16_weights_on_model_save",
                                     "zero_optimization.sub_group_size",
                                     "zero_optimization.contiguous_gradients",
                                     "zero_optimization.allgather_partitions",
                                     "zero_optimization.reduce_scatter",
                                     "zero_optimization.round_robin_gradients",
                                     "zero_optimization.load_from_fp32_weights",
                                     "zero_optimization.elastic_checkpoint",
                                     "zero_optimization.ignore_unused_parameters",
                                     "zero_optimization.legacy_stage1",
                                     "zero_optimization.offload_optimizer.*",
                                     "zero_optimization.offload_param.*",
                                     "activation_checkpointing.*"};

// A JSON switch: 0 and "auto" are not on.
bool is_on(const std::string& text) { return text == "true" || text == "1"; }

class DeepSpeedReader {
 public:
  DeepSpeedReader(LaunchFields& fields, const DeepSpeedCaller& caller) : f_(fields), caller_(caller) {}

  void degrees() {
    f_.set("tp", f_.number(at("tensor_parallel.autotp_size"), 1), at("tensor_parallel.autotp_size"));
    const std::string sequence = at("sequence_parallel_size");
    f_.set("cp", f_.number(sequence, 1), sequence);
    if (f_.design().parallel.cp > 1) f_.set("context", "ulysses", sequence);
    const ParallelSpec& p = f_.design().parallel;
    const int64_t inner = p.tp * p.pp * p.cp;
    if (inner < 1 || f_.gpus() % inner != 0)
      return f_.unmapped("gpus", std::to_string(f_.gpus()) +
                                     " GPUs are no multiple of tp x pp x cp = " + std::to_string(inner));
    f_.derive("dp", std::to_string(f_.gpus() / inner), "gpus", "GPUs / (tp x pp x cp)",
              "deepspeed/runtime/config.py:942");
  }

  // "auto" of the caller's fields, otherwise the JSON's own: whichever of the three is missing follows.
  void batch() {
    const std::string total = at("train_batch_size"), micro = at("train_micro_batch_size_per_gpu"),
                      steps = at("gradient_accumulation_steps");
    const int64_t dp = f_.design().parallel.dp;
    int64_t b = number(micro, 0), all = number(total, 0), times = number(steps, 0);
    const bool filled = is_auto(micro) || (b < 1 && all < 1);
    if (filled) b = caller_.microbatch;
    if (is_auto(steps) || (filled && times < 1)) times = caller_.accumulation;
    if (b < 1) b = times > 0 ? all / dp / times : all / dp;
    if (times < 1) times = all > 0 ? all / std::max<int64_t>(b, 1) / dp : 1;
    // Sequence-parallel ranks share their sequences.
    const int64_t product = capped_product({b, times, dp});
    settle("microbatch", b, micro, filled, "train_batch_size / accumulation / replicas",
           "per_device_train_batch_size");
    if (all > 0 && product != all && filled == false)
      f_.misread(total, "it is not microbatch x accumulation x replicas = " + std::to_string(product) +
                            ", which DeepSpeed asserts (deepspeed/runtime/config.py:938)");
    if (all > 0)
      f_.set("batch", all, total);
    else
      f_.conclude("batch", std::to_string(product), total, "microbatch x accumulation x replicas",
                  "deepspeed/runtime/config.py:942");
    (void)f_.text(steps);
  }

  void sync() {
    const std::string dtype = precision();
    stage(dtype);
    limits();
    offload();
    clip();
    optimizer();
    accumulation_type(dtype);
  }

 private:
  std::string at(const char* name) const { return caller_.prefix + name; }
  bool is_auto(const std::string& argument) const {
    const auto it = f_.arguments().find(argument);
    return it != f_.arguments().end() && it->second == "auto";
  }
  // The number of an argument; "auto" counts as missing.
  int64_t number(const std::string& argument, int64_t otherwise) {
    return is_auto(argument) ? otherwise : f_.number(argument, otherwise);
  }

  void settle(const char* knob, int64_t value, const std::string& argument, bool filled, const char* rule,
              const char* field) {
    const std::string text = std::to_string(value);
    if (filled)
      f_.conclude(knob, text, argument,
                  (is_auto(argument) ? "\"auto\": " : "not stated: ") + std::string(field) + " of " +
                      caller_.name + " is " + text,
                  kFilled);
    else
      f_.derive(knob, text, argument, rule, "deepspeed/runtime/config.py:942");
  }

  std::string precision() {
    const std::string bf16 = at("bf16.enabled"), fp16 = at("fp16.enabled");
    const auto switched = [&](const std::string& argument, const char* type) {
      return is_auto(argument) ? caller_.dtype == type : is_on(f_.text(argument).value_or("false"));
    };
    const bool half = switched(fp16, "fp16"), brain = switched(bf16, "bf16");
    const std::string dtype = brain ? "bf16" : half ? "fp16" : "fp32";
    const std::string& argument = !brain && (half || !f_.has(bf16)) && f_.has(fp16) ? fp16 : bf16;
    if (is_auto(argument))
      f_.conclude("dtype", dtype, argument, "\"auto\": the precision of " + caller_.name + " is " + dtype,
                  kFilled);
    else
      f_.set("dtype", dtype, argument);
    for (const std::string& other : {bf16, fp16}) (void)f_.text(other);
    if (is_on(f_.text(at("bf16.bf16_master_weights_and_grads")).value_or("false")))
      f_.set("master_weights", "false", at("bf16.bf16_master_weights_and_grads"));
    if (is_on(f_.text(at("bf16.bf16_optimizer_states")).value_or("false")))
      f_.set("moment_dtype", "bf16", at("bf16.bf16_optimizer_states"));
    return dtype;
  }

  // PipelineEngine without ZeRO gives bfloat16 to BF16_Optimizer, which shards the states over the replicas.
  void stage(const std::string& dtype) {
    const std::string argument = at("zero_optimization.stage");
    const int64_t stage = f_.number(argument, 0);
    if (stage < 0 || stage > 3) return f_.misread(argument, "ZeRO stages are 0 to 3");
    if (stage == 0 && dtype == "bf16" && caller_.pipeline)
      f_.conclude(
          "sync", "zero-1", argument,
          "stage 0 in bfloat16 with the pipeline engine: BF16_Optimizer shards states as stage 1 does",
          "deepspeed/runtime/engine.py:2015");
    else
      f_.set("sync", "zero-" + std::to_string(stage), argument);
    const std::string overlap = at("zero_optimization.overlap_comm");
    if (const auto text = f_.text(overlap)) {
      if (stage == 0)
        f_.ignore(overlap, "read only by ZeRO");
      else if (is_on(*text) != (stage == 3))
        f_.unmapped(overlap, stage == 3 ? "reductions of zero-3 overlap with the backward in a design"
                                        : "no setting says that reductions overlap with the backward");
    }
    const std::string group = at("zero_optimization.mics_shard_size");
    if (const int64_t size = f_.number(group, -1); size > 0)
      f_.set_effective("dp_shard", std::to_string(size), group);
  }

  void limits() {
    const ModelSpec& m = f_.design().model;
    const int64_t square = m.hidden * m.hidden;
    const auto limit = [&](const char* knob, const char* name, int64_t filled, const char* rule) {
      const std::string argument = at("zero_optimization.") + name;
      if (!f_.has(argument)) return;
      if (is_auto(argument))
        f_.conclude(knob, std::to_string(filled), argument, std::string("\"auto\": ") + rule,
                    "src/transformers/integrations/deepspeed.py, trainer_config_finalize");
      else if (const int64_t value = f_.number(argument, 0); value >= 0)
        f_.set(knob, value, argument);
    };
    limit("zero_reduce_bucket_size", "reduce_bucket_size", square, "hidden size squared");
    limit("zero_allgather_bucket_size", "allgather_bucket_size", 500'000'000, "the default");
    limit("stage3_prefetch_bucket_size", "stage3_prefetch_bucket_size", square * 9 / 10,
          "0.9 x hidden size squared");
    limit("stage3_param_persistence_threshold", "stage3_param_persistence_threshold", 10 * m.hidden,
          "10 x hidden size");
    for (const char* name : {"stage3_max_live_parameters", "max_live_parameters"})
      limit("stage3_max_live_parameters", name, 1'000'000'000, "the default");
    for (const char* name : {"stage3_max_reuse_distance", "max_reuse_distance"})
      limit("stage3_max_reuse_distance", name, 1'000'000'000, "the default");
  }

  void offload() {
    const std::string states = at("zero_optimization.offload_optimizer.device"),
                      params = at("zero_optimization.offload_param.device"),
                      ratio = at("zero_optimization.offload_optimizer.ratio"),
                      old = at("zero_optimization.cpu_offload");
    const std::string device = f_.text(states).value_or("none");
    if (device == "cpu") f_.set("offload_optimizer", "true", states);
    if (is_on(f_.text(old).value_or("false"))) f_.set("offload_optimizer", "true", old);
    if (device == "nvme") f_.unmapped(states, "states on a disk (NVMe) have no setting");
    if (f_.has(ratio)) f_.set_effective("optimizer_offload_fraction", *f_.text(ratio), ratio);
    const std::string shards = f_.text(params).value_or("none");
    if (shards != "none") f_.unmapped(params, "parameters outside the GPU have no setting");
  }

  void clip() {
    const std::string argument = at("gradient_clipping");
    if (is_auto(argument))
      f_.conclude("clip_grad_norm", caller_.clips ? "true" : "false", argument,
                  "\"auto\": max_grad_norm of " + caller_.name, kFilled);
    else
      f_.set("clip_grad_norm", f_.positive(argument, "1.0") ? "true" : "false", argument);
  }

  void optimizer() {
    const std::string argument = at("optimizer.type");
    const auto given = f_.text(argument);
    if (!given) return;
    if (*given == "Muon") return f_.set("optimizer", "muon", argument);
    if (*given != "Adam" && *given != "AdamW")
      f_.unmapped(argument, "the optimizer is " + *given + ", not Adam or Muon");
    if (*given == "Adam" || *given == "AdamW") f_.set("optimizer", "adam", argument);
  }

  void accumulation_type(const std::string& dtype) {
    const std::string argument = at("data_types.grad_accum_dtype"), sent = at("communication_data_type");
    const std::string type = f_.text(argument).value_or(dtype);
    f_.derive("grad_dtype", type, argument, "the type of the parameters", "deepspeed/runtime/engine.py:1492");
    if (const auto other = f_.text(sent); other && *other != type)
      f_.unmapped(sent, "gradients are reduced in the type in which they accumulate, " + type);
  }

  LaunchFields& f_;
  const DeepSpeedCaller& caller_;
};

}  // namespace

void read_deepspeed_degrees(LaunchFields& fields, const DeepSpeedCaller& caller) {
  DeepSpeedReader(fields, caller).degrees();
}
void read_deepspeed_batch(LaunchFields& fields, const DeepSpeedCaller& caller) {
  DeepSpeedReader(fields, caller).batch();
}
void read_deepspeed_sync(LaunchFields& fields, const DeepSpeedCaller& caller) {
  DeepSpeedReader(fields, caller).sync();
}

std::vector<std::string> deepspeed_no_effect(const std::string& prefix) {
  std::vector<std::string> out;
  for (const char* name : kNoEffect) out.push_back(prefix + name);
  return out;
}

void report_deepspeed_changes(LaunchFields& fields, const std::string& prefix) {
  const auto changes = [&](const char* name, const char* harmless, const char* reason) {
    const std::string argument = prefix + name;
    const auto text = fields.text(argument);
    if (text && *text != harmless) fields.unmapped(argument, reason);
  };
  changes("zero_optimization.zero_hpz_partition_size", "1",
          "ZeRO++: a second shard of the parameters in a node");
  changes("zero_optimization.zero_quantized_weights", "false", "ZeRO++: parameters are gathered in 8 bits");
  changes("zero_optimization.zero_quantized_gradients", "false", "ZeRO++: gradients are reduced in 4 bits");
  changes("activation_checkpointing.cpu_checkpointing", "false", "saved inputs of layers are on the host");
  changes("activation_checkpointing.partition_activations", "false",
          "each tensor-parallel rank saves a part of the inputs of layers");
  changes("compile.deepcompile", "false", "DeepCompile reorders the collectives of the step");
  changes("compile.passes", "", "a pass of DeepCompile changes the step");
  changes("compile.disable", "true", "compiled kernels have no profile here");
  (void)fields.text(prefix + "compile.backend");
  changes("torch_autocast.enabled", "false", "torch.autocast casts parameters for every operation");
  changes("amp.enabled", "false", "Apex amp has no setting");
  changes("sparse_attention.mode", "dense", "sparse attention has no setting");
  changes("hybrid_engine.enabled", "false", "the hybrid engine switches between training and inference");
}

}  // namespace shardscape
