#include <algorithm>
#include <cctype>

#include "design/limits.h"
#include "validation/sync_audit.h"

namespace shardscape {
namespace {

// "layers.3.n1.weight" has module "layers.3.n1" and unit "layers.3". Outside the numbered blocks the unit is
// the root. "emb" is the table of the recorded toy model.
SyncParam param(const RecordedTensor& tensor) {
  SyncParam p{tensor.name, tensor.name.substr(0, tensor.name.rfind('.')), "", tensor.shape, 0};
  p.looked_up = p.module == "emb";
  const size_t first = tensor.name.find('.'),
               second = first == std::string::npos ? first : tensor.name.find('.', first + 1);
  if (second == std::string::npos) return p;
  const std::string number = tensor.name.substr(first + 1, second - first - 1);
  if (!number.empty() &&
      std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c); }))
    p.unit = tensor.name.substr(0, second);
  return p;
}

constexpr int64_t kMostUnits = 16384, kMostMegabytes = 1 << 20, kMostMicrobatches = 1 << 16;

class SyncMapper {
 public:
  SyncMapper(const Recording& recording, Mapping& mapping)
      : r_(recording), m_(mapping), ledger_(recording, mapping) {}

  SyncCase run() {
    if (m_.code == CodeBase::TorchDdp) ddp();
    if (m_.code == CodeBase::TorchFsdp) fsdp();
    if (m_.code == CodeBase::DeepSpeed) zero();
    m_.design.parallel.dp = c_.input.groups[0].size;
    m_.design.parallel.sync = c_.policy.strategy;
    // Fields of the toy model, whose parameters the recording lists, and of start-up.
    ledger_.ignore({"note", "model", "hidden", "ffn", "kv", "vocab", "layers", "params", "params_total",
                    "params_block", "params_root", "wrap", "ds_config.zero_allow_untested_optimizer",
                    "ds_config.zero_force_ds_cpu_optimizer", "ds_config.steps_per_print",
                    "ds_config.train_micro_batch_size_per_gpu", "parallel.dp"});
    ledger_.close();
    return std::move(c_);
  }

 private:
  void world(int64_t size) {
    if (size > kMaxWorld)
      ledger_.unmapped("world", "at most " + std::to_string(kMaxWorld) + " ranks are supported");
    c_.input.groups[0].size = std::min(size, kMaxWorld);
  }
  void microbatches(const char* field) {
    const int64_t count = ledger_.integer({field}).value_or(1);
    if (count > kMostMicrobatches)
      ledger_.unmapped(field, "at most " + std::to_string(kMostMicrobatches) + " microbatches are supported");
    c_.policy.microbatches = std::min(count, kMostMicrobatches);
  }
  void listed() {
    for (const RecordedTensor& t : r_.tensors) c_.input.params.push_back(param(t));
  }
  void dtypes(DType params, DType grads) {
    c_.policy.param_dtype = params;
    c_.policy.grad_dtype = grads;
  }

  void megabytes(const char* field, int64_t& bytes) {
    const auto value = ledger_.integer({field});
    if (!value) return;
    if (*value < 0 || *value > kMostMegabytes)
      return ledger_.unmapped(field,
                              "only 0 to " + std::to_string(kMostMegabytes) + " megabytes are supported");
    bytes = *value << 20;
  }

  void ddp() {
    c_.policy.strategy = SyncStrategy::DdpBuckets;
    listed();
    // The number of replicas does not change the buckets.
    world(ledger_.integer({"parallel.dp", "world"}).value_or(2));
    const std::string text = ledger_.text({"dtype"}).value_or("torch.float32");
    const auto type = dtype_from_name(text.substr(text.find('.') + 1));
    if (!type) ledger_.unmapped("dtype", "there is no data type of this name");
    dtypes(type.value_or(DType::FP32), type.value_or(DType::FP32));
    megabytes("bucket_cap_mb", c_.policy.bucket_bytes);
    megabytes("first_bucket_mb", c_.policy.first_bucket_bytes);
  }

  // Recordings of FSDP have only the sizes of the flat units, and only these are compared.
  void fsdp() {
    c_.policy.strategy = SyncStrategy::Fsdp1;
    world(ledger_.integer({"world", "parallel.dp"}).value_or(1));
    microbatches("microbatches_no_sync");
    const int64_t root = ledger_.integer({"params_root"}).value_or(0),
                  block = ledger_.integer({"params_block"}).value_or(0);
    if (root > 0) c_.input.params.push_back({"root.weight", "root", "", {root}, 0});
    const int64_t layers = ledger_.integer({"layers"}).value_or(0);
    if (layers < 0 || layers > kMostUnits)
      ledger_.unmapped("layers", "at most " + std::to_string(kMostUnits) + " units are supported");
    for (int64_t i = 0; i < std::min(layers, kMostUnits); ++i) {
      const std::string unit = "layers." + std::to_string(i);
      c_.input.params.push_back({unit + ".weight", unit, unit, {block}, 0});
    }
    const std::string precision = ledger_.text({"mixed_precision"}).value_or("none");
    if (precision == "none")
      dtypes(DType::FP32, DType::FP32);
    else if (precision == "bf16")
      dtypes(DType::BF16, DType::BF16);
    else if (precision == "bf16_fp32reduce")
      dtypes(DType::BF16, DType::FP32);
    else if (precision == "fp16")
      dtypes(DType::FP16, DType::FP16);
    else
      ledger_.unmapped("mixed_precision", "this precision is unknown");
    const std::string strategy = ledger_.text({"strategy"}).value_or("FULL_SHARD");
    if (strategy == "FULL_SHARD")
      c_.policy.sharding = FsdpSharding::FullShard;
    else if (strategy == "SHARD_GRAD_OP")
      c_.policy.sharding = FsdpSharding::ShardGradOp;
    else if (strategy == "NO_SHARD")
      c_.policy.sharding = FsdpSharding::NoShard;
    else
      ledger_.unmapped("strategy", "this strategy is unknown");
  }

  void zero() {
    listed();
    world(ledger_.integer({"world", "parallel.dp"}).value_or(1));
    const int64_t stage = ledger_.integer({"ds_config.zero_optimization.stage", "parallel.zero_stage"})
                              .value_or(0);
    constexpr SyncStrategy kStages[] = {SyncStrategy::Zero0, SyncStrategy::Zero1, SyncStrategy::Zero2,
                                        SyncStrategy::Zero3};
    if (stage < 0 || stage > 3)
      ledger_.unmapped("ds_config.zero_optimization.stage", "ZeRO stages are 0 to 3");
    c_.policy.strategy = kStages[std::clamp<int64_t>(stage, 0, 3)];
    microbatches("ds_config.gradient_accumulation_steps");
    const DType type = ledger_.flag("ds_config.bf16.enabled")   ? DType::BF16
                       : ledger_.flag("ds_config.fp16.enabled") ? DType::FP16
                                                                : DType::FP32;
    dtypes(type, type);
    ZeroLimits& z = c_.policy.zero;
    const auto limit = [&](const char* field, int64_t& out) { out = ledger_.integer({field}).value_or(out); };
    limit("ds_config.zero_optimization.reduce_bucket_size", z.reduce_bucket_size);
    limit("ds_config.zero_optimization.allgather_bucket_size", z.allgather_bucket_size);
    limit("ds_config.zero_optimization.stage3_prefetch_bucket_size", z.prefetch_bucket_size);
    limit("ds_config.zero_optimization.stage3_param_persistence_threshold", z.param_persistence_threshold);
    limit("ds_config.zero_optimization.stage3_max_live_parameters", z.max_live_parameters);
    limit("ds_config.zero_optimization.stage3_max_reuse_distance", z.max_reuse_distance);
    const auto only = [&](const char* field, bool value) {
      const RecordedField* f = r_.field(std::string("config.") + field);
      if (f && ledger_.flag(f->name.c_str()) != value)
        ledger_.unmapped(f->name, std::string("only ") + (value ? "true" : "false") + " is supported");
    };
    only("ds_config.zero_optimization.overlap_comm", false);
    only("ds_config.zero_optimization.contiguous_gradients", true);
    only("ds_config.zero_optimization.reduce_scatter", true);
  }

  const Recording& r_;
  Mapping& m_;
  FieldLedger ledger_;
  SyncCase c_;
};

}  // namespace

SyncCase map_sync(const Recording& recording, Mapping& mapping) {
  return SyncMapper(recording, mapping).run();
}

}  // namespace shardscape
