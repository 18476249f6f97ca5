// The planner of gradient sync: the collectives that data parallelism runs on parameters and gradients in a
// steady step. Each policy turns the ordered parameters of one rank into actions. Sizes depend on
// concatenation, padding, buckets, units, persistence and reuse, so the planner works on numbers, not on
// expressions. Sources, by behaviour: PyTorch 1.13 DistributedDataParallel and FullyShardedDataParallel,
// PyTorch 2.4 fully_shard; Megatron-LM 2022-09 and Megatron-core 0.8; DeepSpeed 0.9.5. Tests compare the
// plans with recordings of the code bases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "graph/op_kind.h"
#include "mesh/collective_kind.h"
#include "mesh/parallel_spec.h"
#include "model/axis.h"

namespace shardscape {

// One tensor of the code base on one rank.
struct SyncParam {
  std::string name;  // "layers.3.attention.wq"
  // The module that is called with the parameter; its gradients become ready together: "layers.3.attention".
  std::string module;
  // The unit that wraps the parameter: "layers.3". Empty: the root unit.
  std::string unit;
  std::vector<int64_t> shape;  // shape on this rank, before data parallelism shards it
  int group = 0;               // index into SyncInput::groups
  // Virtual stage. Each virtual stage is wrapped on its own and has its own buffers and root unit.
  int chunk = 0;
  bool quantized = false;  // gathered in SyncPolicy::quantized_dtype
  // A table that token ids look up: the input of its module has no gradient.
  bool looked_up = false;
  bool frozen = false;  // ZeRO-3 and FSDP: sharded and gathered, but without a gradient
  int64_t elements() const;
};

// The ranks that hold replicas of a parameter. Hybrid sharding shards inside a group and replicates shards
// across groups.
struct SyncGroup {
  std::string name = "dp";  // ranks that reduce and shard the parameter
  int64_t size = 1;
  // Groups over which shards are replicated; empty: none.
  std::string across{};
  int64_t across_size = 1;
  std::string both{};  // the ranks of all groups; empty: `name`
  std::string whole_name() const { return both.empty() ? name : both; }
};

// A module that uses a parameter of an earlier module and runs after all other modules: the head with tied
// embeddings.
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
  DType param_dtype = DType::BF16;  // type of gathered parameters
  // Megatron: type of gathered parameters with quantized GEMMs, which then have buffers of their own. Empty:
  // param_dtype.
  std::optional<DType> quantized_dtype{};
  DType grad_dtype = DType::FP32;  // type of reduced gradients
  int64_t microbatches = 1;
  bool overlap = false;  // Megatron: in buckets during the backward
  // PyTorch: reduce after every microbatch instead of once a step (without no_sync). ZeRO-2 and ZeRO-3 always
  // reduce after every microbatch, other policies never.
  bool every_microbatch = false;
  // PyTorch DDP: a bucket closes at this many bytes of gradients.
  int64_t bucket_bytes = 25 << 20, first_bucket_bytes = 1 << 20;
  // Megatron's distributed optimizer: parameters start at multiples of param_alignment; buckets end at
  // multiples of bucket_alignment and of the group size. 2022: 1 and 1. Megatron-core: 64 and 128.
  int64_t param_alignment = 64, bucket_alignment = 128;
  // Megatron: a bucket closes at this many elements. 0: 40 million, or a million per rank of the group if
  // that is more.
  int64_t bucket_elements = 0;
  // ZeRO-3: the backward of a unit recomputes its forward. Other policies ignore it.
  bool recompute = false;
  ZeroLimits zero;
  FsdpSharding sharding = FsdpSharding::FullShard;
  DType gathered_dtype(bool quantized) const {
    return quantized ? quantized_dtype.value_or(param_dtype) : param_dtype;
  }
  // FSDP2: units stay gathered after each backward but the last one of a step.
  bool stays_after_backward = false;
};

// The accumulation steps (microbatches of a step) in which an action occurs. Rest: all but the first.
enum class SyncOccurrence : uint8_t { Every, First, Rest, Last };
inline constexpr size_t kSyncOccurrences = 4;
// Number of times that an action with this occurrence runs in a step.
int64_t sync_occurrences(SyncOccurrence occurrence, int64_t microbatches);
bool sync_happens(SyncOccurrence occurrence, int64_t microbatch, int64_t microbatches);

// The point of the step at which an action is issued. `param` is SyncAction::param.
enum class SyncWhen : uint8_t {
  BeforeForward,   // before the forward of the parameter's module
  BeforeBackward,  // before the backward of the parameter's module
  // After the gradient of the parameter, which is the last gradient that the action needs.
  AfterGradient,
  AfterBackward,  // after the whole backward of the stage
  AfterOptimizer
};

// A range of elements of one parameter, carried by an action.
struct SyncPart {
  int param = 0;
  int64_t offset = 0, count = 0;
};

struct SyncAction {
  Phase phase;
  CollectiveKind op;
  std::string group{};
  int64_t group_size = 1;
  // The group whose parameters the action carries: index into SyncInput::groups.
  int replicas = 0;
  int64_t elements = 0;  // full buffer, padding included
  DType dtype = DType::FP32;
  int64_t root = -1;  // reduce and broadcast: member of the group
  SyncOccurrence occurrence = SyncOccurrence::Last;
  SyncWhen when = SyncWhen::AfterBackward;
  // Index into SyncInput::params; from params.size() on, index into SyncInput::reused. -1 with AfterBackward
  // and AfterOptimizer.
  int param = -1;
  std::vector<SyncPart> parts{};  // in order within the buffer
};

struct SyncPlan {
  std::vector<SyncAction> actions;  // in order of issue within their microbatch
  int64_t gathered = 0;             // ZeRO-3: most elements gathered on a rank at the same time
};

// A kind of collective that a policy issues, whatever the sizes are.
struct SyncKind {
  Phase phase;
  CollectiveKind op;
  // Reductions: the occurrence of all reductions of this kind.
  SyncOccurrence occurrence = SyncOccurrence::Last;
  // Reductions of shards across the groups that replicate them.
  bool across = false;
  // Gathers of parameters with quantized GEMMs, in a type of their own.
  bool quantized = false;
  // Reductions of whole gradients over the ranks of all groups.
  bool whole = false;
  bool gathers() const { return collective_result(op) == CollectiveResult::Gathered; }
};
std::vector<SyncKind> sync_kinds(const SyncPolicy& policy);
// Whether shards of gradients are added up over the microbatches of a step before they are reduced across
// groups: MiCS, and Megatron-FSDP (param_and_grad_buffer.py: only the last microbatch reduces over outer
// data-parallel ranks). Other kinds of FSDP reduce across groups after every scatter.
bool crosses_once_a_step(SyncStrategy strategy);
// Whether a policy shards optimizer states, gradients or parameters over replicas.
bool shards_states(SyncStrategy strategy);
bool shards_gradients(SyncStrategy strategy);
bool shards_parameters(SyncStrategy strategy);

// Returns a Problem if a limit, a size or a group is invalid, or if the step has too many collectives. Groups
// of one rank yield no action.
Result<SyncPlan> plan_sync(const SyncInput& input, const SyncPolicy& policy);

// Parameters in the order in which their gradients become ready: modules in reverse. A module with a matrix
// yields its bias before its weight (the order of addmm's operands), a norm its weight before its bias.
std::vector<int> gradient_order(const std::vector<SyncParam>& params);

}  // namespace shardscape
