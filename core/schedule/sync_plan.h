// What data parallelism does to parameters and gradients in a steady step: one planner, many policies. It turns the
// ordered parameters of one rank into collectives; sizes depend on concatenation, padding, buckets, units, persistence
// and reuse, so it works on numbers.
// Sources, by behaviour: PyTorch 1.13 DistributedDataParallel and FullyShardedDataParallel, PyTorch 2.4 fully_shard;
// Megatron-LM 2022-09 and Megatron-core 0.8; DeepSpeed 0.9.5. Tests hold the plans against recordings of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "graph/op_kind.h"
#include "model/axis.h"
#include "parallel/parallel_spec.h"

namespace shardscape {

struct SyncParam {
  std::string name;            // "layers.3.attention.wq"
  std::string module;          // called as one, its gradients become ready together: "layers.3.attention"
  std::string unit;            // wrapped as one: "layers.3"; empty: the root unit
  std::vector<int64_t> shape;  // on this rank, before data parallelism shards it
  int group = 0;               // index into SyncInput::groups
  int chunk = 0;               // virtual stage: each is wrapped on its own, with its own buffers and root unit
  int64_t elements() const;
};

// The ranks that hold replicas of a parameter. Hybrid sharding shards inside a group and replicates across groups.
struct SyncGroup {
  std::string name = "dp";     // where it is reduced and sharded
  int64_t size = 1;
  std::string across{};        // the groups over which shards are replicated; empty: none
  int64_t across_size = 1;
};

// A module after all others that uses a parameter of an earlier one: the head of tied embeddings.
struct SyncReuse {
  int param = 0;
  std::string module;
};

struct SyncInput {
  std::vector<SyncParam> params;  // in the order of use in the forward pass
  std::vector<SyncReuse> reused{};
  std::vector<SyncGroup> groups{SyncGroup{}};
};

enum class FsdpSharding : uint8_t { FullShard, ShardGradOp, NoShard };

struct SyncPolicy {
  SyncStrategy strategy = SyncStrategy::DdpFlat;
  DType param_dtype = DType::BF16;   // of gathered parameters
  DType grad_dtype = DType::FP32;    // of reduced gradients
  int64_t microbatches = 1;
  bool overlap = false;              // Megatron: in buckets, while the backward runs
  // PyTorch: reduce after every microbatch instead of once (no_sync unused). ZeRO-2 and ZeRO-3 always do, the others never.
  bool every_microbatch = false;
  // PyTorch DDP: bytes of gradients that close a bucket.
  int64_t bucket_bytes = 25 << 20, first_bucket_bytes = 1 << 20;
  // Megatron: start of every parameter and end of every bucket under the distributed optimizer are multiples of these
  // (the latter of the group's size too). 2022: 1 and 1; Megatron-core: 64 and 128.
  int64_t param_alignment = 64, bucket_alignment = 128;
  int64_t bucket_elements = 0;       // Megatron: that close a bucket; 0: 40 million, or a million per rank of the group
  bool recompute = false;            // ZeRO-3: the backward of a unit runs its forward again; nobody else asks
  ZeroLimits zero;
  FsdpSharding sharding = FsdpSharding::FullShard;
};

enum class SyncOp : uint8_t { AllReduce, ReduceScatter, AllGather, Reduce, Broadcast };
std::string_view sync_op_name(SyncOp op);  // "reduce_scatter"

// Of which microbatches of a step an action is part.
enum class SyncTurn : uint8_t { Every, First, Rest, Last };
inline constexpr size_t kSyncTurns = 4;
int64_t sync_turns(SyncTurn turn, int64_t microbatches);  // how many
bool sync_happens(SyncTurn turn, int64_t microbatch, int64_t microbatches);

// The point of the step that an action belongs to; `param` indexes SyncInput::params, and beyond them its reused modules.
enum class SyncWhen : uint8_t {
  BeforeForward,   // of the module of this parameter
  BeforeBackward,  // of the module of this parameter
  AfterGradient,   // of this parameter, the last one that the action waits for
  AfterBackward,   // of the whole stage
  AfterOptimizer
};

struct SyncPart {              // a range of a parameter that an action carries
  int param = 0;
  int64_t offset = 0, count = 0;
};

struct SyncAction {
  Phase phase = Phase::GradReduce;
  SyncOp op = SyncOp::AllReduce;
  std::string group;
  int64_t group_size = 1;
  int of = 0;                  // whose parameters it carries: index into SyncInput::groups
  int64_t elements = 0;        // of the full buffer, padding included
  DType dtype = DType::FP32;
  int64_t root = -1;           // member of the group, of reduce and broadcast
  SyncTurn turn = SyncTurn::Last;
  SyncWhen when = SyncWhen::AfterBackward;
  int param = -1;              // -1 with AfterBackward and AfterOptimizer; from params.size() on it counts the reused
  std::vector<SyncPart> parts; // in order within the buffer
};

struct SyncPlan {
  std::vector<SyncAction> actions;  // in order of issue within their microbatch
  int64_t gathered = 0;             // ZeRO-3: most elements that are whole on a rank at a time
};

// A kind of collective that a policy issues, whatever the sizes.
struct SyncKind {
  Phase phase = Phase::GradReduce;
  SyncOp op = SyncOp::AllReduce;
  SyncTurn turn = SyncTurn::Last;   // of reductions: every one of them
  bool across = false;              // of shards, over the groups that replicate them
  bool gathers() const { return op == SyncOp::AllGather; }
};
std::vector<SyncKind> sync_kinds(const SyncPolicy& policy);
// What of the optimizer's work a policy spreads over replicas beside its states.
bool shards_states(SyncStrategy strategy);
bool shards_gradients(SyncStrategy strategy);
bool shards_parameters(SyncStrategy strategy);
bool is_fsdp(SyncStrategy strategy);
bool shards_in_groups(SyncStrategy strategy);  // or can: hybrid sharding
bool is_deepspeed(SyncStrategy strategy);

// A Problem where a limit, a size or a group makes no sense. Groups of one rank yield no action.
std::variant<SyncPlan, Problem> plan_sync(const SyncInput& input, const SyncPolicy& policy);

// Parameters in the order in which their gradients become ready: modules backwards; a module with a matrix gives its
// bias before its weight (the order of addmm's operands), a norm its weight before its bias.
std::vector<int> gradient_order(const std::vector<SyncParam>& params);

}  // namespace shardscape
