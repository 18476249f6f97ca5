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
  row("ZeRO-2 with stages", syncs(SyncStrategy::Zero2, 2), error, "sync",
      "zero-2 does not go with pipeline stages", "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-3 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero3;
        d.parallel.virtual_stages = 2;
      },
      error, "sync", "zero-3 does not go with pipeline stages", "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-1 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero1;
        d.parallel.virtual_stages = 2;
      },
      error, "sync", "no virtual stages", "1 virtual stage", 2);
  row(
      "tied embeddings reduced every microbatch",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.reduce_every_microbatch = true;
        d.model.tied_embeddings = true;
      },
      error, "reduce_every_microbatch", "the two ends reduce tied embeddings after the last microbatch only",
      "off", 2);
  row(
      "every microbatch, Megatron", [](Design& d) { d.parallel.reduce_every_microbatch = true; }, note,
      "reduce_every_microbatch", "reduces once a step", "ddp-buckets, fsdp1 or fsdp2", 1);
  row(
      "nothing to reshard", [](Design& d) { d.parallel.reshard_after_forward = false; }, note,
      "reshard_after_forward", "does not reshard", "on, or the gradient sync fsdp1 or fsdp2", 1);
}

void sharding_rules() {
  row(
      "sharding group without FSDP", [](Design& d) { d.parallel.dp_shard = 2; }, error, "dp_shard",
      "only FSDP and Megatron's distributed optimizer shard inside a group of replicas",
      "0, or the gradient sync distributed-optimizer", 4);
  row(
      "sharding group that does not fit, without FSDP", [](Design& d) { d.parallel.dp_shard = 3; }, error,
      "dp_shard", "only FSDP and Megatron's distributed optimizer shard inside a group of replicas",
      "0, or the gradient sync distributed-optimizer", 1);
  row(
      "uneven sharding groups",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp2;
        d.parallel.pp = 1;
        d.parallel.dp = 4;
        d.parallel.dp_shard = 3;
      },
      error, "dp_shard", "4 replicas do not split into groups of 3", "0, or a divisor of dp: 2 or 4", 3);
  row(
      "sharding groups of one",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.dp_shard = 1;
      },
      error, "dp_shard", "groups of one replica shard nothing", "0, or a divisor of dp: 2", 2);
  row(
      "sharding group without replicas",
      [](Design& d) {
        d.parallel.dp = 1;
        d.parallel.dp_shard = 2;
      },
      error, "dp_shard", "there are no replicas to shard over", "0", 1);
  row(
      "instances among replicas of experts",
      [](Design& d) {
        apply_preset(d, "mixtral-8x7b");
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.dp = 8;
        d.parallel.ep = 4;
        d.parallel.dp_shard = 2;
      },
      error, "dp_shard", "4 copies of the states do not divide the 2 replicas of each expert",
      "0, or groups of which ds x cp is a multiple of ep", 3);
}

void overlap_rules() {
  row(
      "overlap without replicas",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.dp = 1;
      },
      note, "overlap_grad_reduce", "there are no replicas", "off, or", 1);
  row(
      "parameters ahead without overlap",
      [](Design& d) {
        d.parallel.overlap_param_gather = true;
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.overlap_grad_reduce = false;
      },
      note, "overlap_param_gather", "with overlapped gradient reduction gathers ahead", "off, or", 1);
  row(
      "overlapped products without sequence parallelism",
      [](Design& d) {
        d.parallel.tp_comm_overlap = true;
        d.parallel.sequence_parallel = false;
      },
      note, "tp_comm_overlap", "no gathers and scatters beside them", "off, or", 1);
  row(
      "overlap of FSDP",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.sync = SyncStrategy::Fsdp1;
      },
      note, "overlap_grad_reduce", "an order of its own", "off, or", 1);
  row(
      "loss of one replica",
      [](Design& d) {
        d.parallel.average_loss = true;
        d.parallel.dp = 1;
      },
      note, "average_loss", "there are no replicas", "off, or dp of at least 2", 1);
  row(
      "bucket of nothing", [](Design& d) { d.parallel.zero.reduce_bucket_size = 0; }, error,
      "zero_reduce_bucket_size", "0 is too small", "a whole number from 1", 1);
}

void recompute_rules() {
  row(
      "checkpoints without full recompute", [](Design& d) { d.workload.distribute_saved_activations = true; },
      note, "distribute_saved_activations", "the value has no effect", "full recompute", 1);
  row(
      "checkpoints that do not split",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.workload.recompute = Recompute::Full;
        d.workload.distribute_saved_activations = true;
        d.workload.seq = 8191;
      },
      error, "distribute_saved_activations", "checkpoints of 8,191 tokens do not split into 2 parts",
      "a multiple of 2", 2);
  row("modules without selective recompute",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::Mlp); }),
      note, "recompute_modules", "only selective recompute chooses any", "core_attn", 2);
  row("no modules", recompute(Recompute::Selective, [](WorkloadSpec& w) { w.recompute_modules = {}; }), note,
      "recompute_modules", "no module is chosen", "any of core_attn,layernorm,mlp_act,mlp", 2);
  row("modules that are not there",
      recompute(Recompute::Selective,
                [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::MlaUpProj); }),
      note, "recompute_modules", "the layers of this model have no mla_up_proj", "any of core_attn", 1);
  row("method without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_method = RecomputeMethod::Block; }), note,
      "recompute_method", "only full recompute has a method", "uniform", 2);
  row("layers without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_num_layers = 4; }), note,
      "recompute_num_layers", "only full recompute counts layers", "1, or recompute full", 2);
  row("more recomputed layers than there are",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_num_layers = 17; }), note,
      "recompute_num_layers", "17 layers are more than 16", "1 to 16", 1);
  row(
      "more offloaded layers than there are", [](Design& d) { d.workload.offload_activations = 17; }, note,
      "offload_activations", "17 layers are more than 16", "0 to 16", 2);
}

void quantization_rules() {
  row(
      "quantized FFN",
      [](Design& d) {
        d.model.ffn = 14352;
        d.workload.compute = ComputePrecision::MXFP8;
        d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, "ffn",
      "mxfp8 wants the FFN size in multiples of 32 on every rank, but 14,352 over tp = 2 makes 7,176",
      "a multiple of 64", 2);
  row(
      "quantized hidden size",
      [](Design& d) {
        d.model.hidden = 4104;
        d.workload.compute = ComputePrecision::FP8;
      },
      error, "hidden", "float8 wants the hidden size in multiples of 16", "a multiple of 16", 1);
  row(
      "quantized steps of decoded tokens",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.workload.mode = Mode::Decode;
        d.workload.microbatch = 8;
        set_knob(d, *find_knob("compute"), "mxfp8"), d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, "ssm_dt_rank", "mxfp8 wants the rank of the step size in multiples of 32 on every rank, but 48",
      "a multiple of 32, or compute storage", 2);
  row(
      "units", [](Design& d) { d.workload.compute = ComputePrecision::NVFP4; }, note, "compute",
      "has no matrix units for nvfp4: times are those of its next wider type", "fp8 or storage", 2);
  row(
      "quantized tokens",
      [](Design& d) {
        d.workload.seq = 8200;
        d.workload.compute = ComputePrecision::FP8Block;
      },
      error, "seq", "float8_block wants the tokens of a rank in multiples of 128, but b S makes 4,100",
      "a multiple of 256", 2);
}

void precision_rules() {
  row(
      "dispatch without experts", [](Design& d) { d.workload.dispatch_dtype = DispatchPrecision::FP8; }, note,
      "dispatch_dtype", "no experts", "same", 1);
  row(
      "master weights of float32",
      [](Design& d) {
        d.workload.dtype = DType::FP32;
        d.workload.master_weights = false;
      },
      note, "master_weights", "parameters are float32 themselves", "on", 1);
}

}  // namespace

class ValidateStepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    sync_rules();
    sharding_rules();
    overlap_rules();
    recompute_rules();
    quantization_rules();
    precision_rules();
  }
  void rules() { check_rule(); }
};

QTEST_APPLESS_MAIN(ValidateStepTest)
#include "validate_step_test.moc"
