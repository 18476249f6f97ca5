// Rules of validation for gradient syncs, recomputation and precision.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

auto syncs(SyncStrategy sync, int64_t pp) {
  return [=](Design& d) {
    d.parallel.sync = sync;
    d.parallel.pp = pp;
  };
}

template <class SetWorkload>
auto recompute(Recompute policy, SetWorkload change) {
  return [=](Design& d) {
    d.workload.recompute = policy;
    change(d.workload);
  };
}

void sync_rules() {
  row("ZeRO-2 with stages", syncs(SyncStrategy::Zero2, 2), error, ProblemCode::ZeroWithPipeline, "sync",
      "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-3 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero3;
        d.parallel.virtual_stages = 2;
      },
      error, ProblemCode::ZeroWithPipeline, "sync", "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-1 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero1;
        d.parallel.virtual_stages = 2;
      },
      error, ProblemCode::DeepSpeedWithVirtualStages, "sync", "1 virtual stage", 2);
  row(
      "tied embeddings reduced every microbatch",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.reduce_every_microbatch = true;
        d.model.tied_embeddings = true;
      },
      error, ProblemCode::EagerReduceWithTiedEmbeddings, "reduce_every_microbatch", "off", 2);
  row(
      "tied embeddings under Megatron-FSDP",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::MegatronFsdp;
        d.model.tied_embeddings = true;
      },
      error, ProblemCode::EagerReduceWithTiedEmbeddings, "sync", "distributed-optimizer", 2);
  row(
      "every microbatch, Megatron", [](Design& d) { d.parallel.reduce_every_microbatch = true; }, note,
      ProblemCode::ValueWithoutEffect, "reduce_every_microbatch", "ddp-buckets, fsdp1 or fsdp2", 1);
  row(
      "nothing to reshard", [](Design& d) { d.parallel.reshard_after_forward = false; }, note,
      ProblemCode::ValueWithoutEffect, "reshard_after_forward", "on, or the gradient sync fsdp1 or fsdp2", 1);
}

void sharding_rules() {
  row(
      "sharding group without FSDP", [](Design& d) { d.parallel.dp_shard = 2; }, error,
      ProblemCode::DpShardWithOtherSync, "dp_shard", "0, or the gradient sync distributed-optimizer", 4);
  row(
      "MiCS with optimizer states on the host",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero3;
        d.parallel.pp = 1;
        d.parallel.dp = 4;
        d.parallel.dp_shard = 2;
        d.workload.offload_optimizer = true;
      },
      error, ProblemCode::DpShardWithOtherSync, "dp_shard", "0, or offload_optimizer off", 2);
  row(
      "sharding group that does not fit, without FSDP", [](Design& d) { d.parallel.dp_shard = 3; }, error,
      ProblemCode::DpShardWithOtherSync, "dp_shard", "0, or the gradient sync distributed-optimizer", 1);
  row(
      "uneven sharding groups",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp2;
        d.parallel.pp = 1;
        d.parallel.dp = 4;
        d.parallel.dp_shard = 3;
      },
      error, ProblemCode::DpShardIndivisible, "dp_shard", "0, or a divisor of dp: 2 or 4", 3);
  row(
      "sharding groups of one",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.dp_shard = 1;
      },
      error, ProblemCode::DpShardOfOneRank, "dp_shard", "0, or a divisor of dp: 2", 2);
  row(
      "sharding group without replicas",
      [](Design& d) {
        d.parallel.dp = 1;
        d.parallel.dp_shard = 2;
      },
      error, ProblemCode::DpShardWithoutReplicas, "dp_shard", "0", 1);
  row(
      "instances among replicas of experts",
      [](Design& d) {
        apply_preset(d, "mixtral-8x7b");
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.dp = 8;
        d.parallel.ep = 4;
        d.parallel.dp_shard = 2;
      },
      error, ProblemCode::ExpertsExceedShardGroup, "dp_shard",
      "0, or a group size for which ds x cp is a multiple of ep", 3);
}

void ramp_rules() {
  const auto ramp = [](int64_t start, int64_t increment, int64_t samples) {
    return [=](Design& d) {
      d.parallel.pp = 1;
      d.parallel.dp = 4;
      d.workload.batch = 64;
      d.workload.microbatch = 1;
      d.workload.tokens = 1'000'000'000;
      d.workload.ramp = {start, increment, samples};
    };
  };
  row("ramp that does not rise", ramp(64, 8, 1000), error, ProblemCode::BatchIndivisible, "batch_ramp_start",
      "0, or less than the batch", 1);
  row("ramp past the batch", ramp(16, 36, 1000), error, ProblemCode::BatchIndivisible, "batch_ramp_increment",
      "a divisor of 48", 1);
  row("ramp without steps", ramp(16, 8, 0), error, ProblemCode::BatchIndivisible, "batch_ramp_samples",
      "1 or more sequences", 1);
  row("ramp from less than the replicas", ramp(2, 2, 1000), error, ProblemCode::BatchIndivisible,
      "batch_ramp_start", "a multiple of 4", 1);
  row("ramp by half of the replicas", ramp(16, 6, 1000), error, ProblemCode::BatchIndivisible,
      "batch_ramp_increment", "a multiple of 4", 1);
}

void overlap_rules() {
  row(
      "overlap without replicas",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.dp = 1;
      },
      note, ProblemCode::ValueWithoutEffect, "overlap_grad_reduce", "off, or", 1);
  row(
      "parameters ahead without overlap",
      [](Design& d) {
        d.parallel.overlap_param_gather = true;
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.overlap_grad_reduce = false;
      },
      note, ProblemCode::ValueWithoutEffect, "overlap_param_gather", "off, or", 1);
  row(
      "overlapped products without sequence parallelism",
      [](Design& d) {
        d.parallel.tp_comm_overlap = true;
        d.parallel.sequence_parallel = false;
      },
      note, ProblemCode::ValueWithoutEffect, "tp_comm_overlap", "off, or", 1);
  row(
      "overlap of FSDP",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.sync = SyncStrategy::Fsdp1;
      },
      note, ProblemCode::ValueWithoutEffect, "overlap_grad_reduce", "off, or", 1);
  row(
      "loss of one replica",
      [](Design& d) {
        d.parallel.average_loss = true;
        d.parallel.dp = 1;
      },
      note, ProblemCode::ValueWithoutEffect, "average_loss", "off, or dp of at least 2", 1);
  row(
      "bucket of nothing", [](Design& d) { d.parallel.zero.reduce_bucket_size = 0; }, error,
      ProblemCode::ValueTooSmall, "zero_reduce_bucket_size", "a whole number from 1", 1);
}

void recompute_rules() {
  row(
      "checkpoints without full recompute", [](Design& d) { d.workload.distribute_saved_activations = true; },
      note, ProblemCode::ValueWithoutEffect, "distribute_saved_activations", "full recompute", 1);
  row(
      "checkpoints that do not split",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.workload.recompute = Recompute::Full;
        d.workload.distribute_saved_activations = true;
        d.workload.seq = 8191;
      },
      error, ProblemCode::CheckpointsIndivisible, "distribute_saved_activations", "a multiple of 2", 2);
  row("modules without selective recompute",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::Mlp); }),
      note, ProblemCode::ValueWithoutEffect, "recompute_modules", "core_attn", 2);
  row("no modules", recompute(Recompute::Selective, [](WorkloadSpec& w) { w.recompute_modules = {}; }), note,
      ProblemCode::RecomputeNothing, "recompute_modules", "any of core_attn,layernorm,mlp_act,mlp", 2);
  row("modules that are not there",
      recompute(Recompute::Selective,
                [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::MlaUpProj); }),
      note, ProblemCode::RecomputeModulesAbsent, "recompute_modules", "any of core_attn", 1);
  row("method without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_method = RecomputeMethod::Block; }), note,
      ProblemCode::ValueWithoutEffect, "recompute_method", "uniform", 2);
  row("layers without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_num_layers = 4; }), note,
      ProblemCode::ValueWithoutEffect, "recompute_num_layers", "1, or recompute full", 2);
  row("more recomputed layers than there are",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_num_layers = 17; }), note,
      ProblemCode::RecomputeLayersExceedStage, "recompute_num_layers", "1 to 16", 1);
  row(
      "more offloaded layers than there are", [](Design& d) { d.workload.offload_activations = 17; }, note,
      ProblemCode::OffloadExceedsStage, "offload_activations", "0 to 16", 2);
}

void quantization_rules() {
  row(
      "quantized FFN",
      [](Design& d) {
        d.model.ffn = 14352;
        d.workload.compute = ComputePrecision::MXFP8;
        d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "ffn", "a multiple of 64", 2);
  row(
      "quantized hidden size",
      [](Design& d) {
        d.model.hidden = 4104;
        d.workload.compute = ComputePrecision::FP8;
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "hidden", "a multiple of 16", 1);
  row(
      "quantized output groups",
      [](Design& d) {
        apply_preset(d, "deepseek-v4-flash");
        d.model.weight_formats = {};
        d.parallel.pp = 1;
        d.model.output_rank = 3;
        d.workload.mode = Mode::Prefill;
        d.workload.compute = ComputePrecision::MXFP8;
        d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "output_rank", "a multiple of 64, or compute storage",
      1);
  row(
      "saved activations in uneven blocks",
      [](Design& d) {
        d.model.ffn = 14400;
        d.workload.activation_cache = ActivationCache::FP8;
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "ffn", ", or activation_cache same", 1);
  row(
      "quantized steps of decoded tokens",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.workload.mode = Mode::Decode;
        d.workload.microbatch = 8;
        set_knob(d, *find_knob("compute"), "mxfp8"), d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "ssm_dt_rank", "a multiple of 32, or compute storage",
      2);
  row(
      "units", [](Design& d) { d.workload.compute = ComputePrecision::NVFP4; }, note,
      ProblemCode::NoMatrixUnits, "compute", "fp8 or storage", 2);
  row(
      "no known rate of int8", [](Design& d) { d.workload.compute = ComputePrecision::Int8; }, note,
      ProblemCode::NoMatrixUnits, "compute", "fp8 or storage", 2);
  const auto stored = [](const char* formats, Mode mode) {
    return [=](Design& d) {
      d.workload.mode = mode;
      d.parallel.sequence_parallel = false;
      d.parallel.pp = 1;
      (void)set_knob(d, *find_knob("weight_formats"), formats);
    };
  };
  row("stored units", stored("attention=nvfp4, mlp=nvfp4", Mode::Prefill), note, ProblemCode::NoMatrixUnits,
      "weight_formats", "formats whose GEMMs run in the data type", 0);
  row("stored weights in training", stored("mlp=fp8", Mode::Train), note, ProblemCode::ValueWithoutEffect,
      "weight_formats", "mode prefill or decode", 2);
  row(
      "stored inputs",
      [=](Design& d) {
        stored("mlp=fp8-block", Mode::Prefill)(d);
        d.model.ffn = 14336 + 64;
      },
      error, ProblemCode::QuantizedFeaturesIndivisible, "weight_formats", "a multiple of 256", 1);
  row(
      "quantized tokens",
      [](Design& d) {
        d.workload.seq = 8200;
        d.workload.compute = ComputePrecision::FP8Block;
      },
      error, ProblemCode::QuantizedTokensIndivisible, "seq", "a multiple of 256", 2);
}

void precision_rules() {
  row(
      "dispatch without experts", [](Design& d) { d.workload.dispatch_dtype = DispatchPrecision::FP8; }, note,
      ProblemCode::ValueWithoutEffect, "dispatch_dtype", "same", 1);
  row(
      "master weights of float32",
      [](Design& d) {
        d.workload.dtype = DType::FP32;
        d.workload.master_weights = false;
      },
      note, ProblemCode::ValueWithoutEffect, "master_weights", "on", 1);
}

}  // namespace

class ValidateStepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    sync_rules();
    sharding_rules();
    ramp_rules();
    overlap_rules();
    recompute_rules();
    quantization_rules();
    precision_rules();
  }
  void rules() { check_rule(); }
};

QTEST_APPLESS_MAIN(ValidateStepTest)
#include "validate_step_test.moc"
