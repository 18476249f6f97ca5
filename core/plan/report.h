// The report of one design: all numbers that the window and the command line show. It is immutable once made.
// Every number has its formula.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/plan_cache.h"
#include "base/problem.h"
#include "design/design.h"
#include "design/validate/validate.h"
#include "hardware/accelerator.h"
#include "pipeline/layer_instances.h"
#include "pipeline/schedule.h"
#include "plan/step_model.h"

namespace shardscape {

struct MemoryTimeline;
struct StageStates;

struct Quantity {
  const Expr* formula = nullptr;  // owned by the report's step model
  Wide value = 0;
};

struct FlopsValue {
  OpKind kind;
  Phase phase;
  DType compute;
  Quantity counted, useful;
  // "matmul", "matmul_mxfp8": the kind of op, and the precision of quantized ops.
  std::string name() const;
};

struct CollectiveValue {
  Phase phase;
  CommOp op;
  std::string group;
  int64_t group_size = 1;
  DType dtype;
  Quantity count, elements, bytes;  // per rank and step
};

struct HostValue {
  Phase phase;
  HostOp op;
  std::string what;       // "activations"
  Quantity count, bytes;  // per rank and step
};

struct PartValue {
  std::string name;
  Quantity bytes;
  PartKind kind = PartKind::Other;
};

// One pipeline stage. All ranks of a stage run the same program. Their attention FLOPs differ only in a
// context-parallel ring under a causal mask.
struct StageReport {
  int stage = 0;
  // The representative of the stage class: the first stage whose chunks have the same number of layers of the
  // same kinds, and the same ends of the model (embedding, head).
  int representative = 0;
  int64_t layers = 0;
  ModelStart first;                // what the stage has of the beginning of the model
  bool last = false;               // has the head
  std::vector<StageChunk> chunks;  // v of them; two under ChunkLayout::BothWays
  // Largest number of microbatches in flight, counted in the schedule (microbatches_in_flight). With virtual
  // stages, a microbatch counts once per chunk that holds activations of the microbatch.
  int64_t in_flight = 0;
  int shape = 0;    // index into StepModel::shapes
  Binding binding;  // base, derived and per-stage symbols
  Quantity parameters;
  Quantity memory[kMemoryCategoryCount];
  std::vector<PartValue> parts[kMemoryCategoryCount];
  // Bytes: all states plus the upper bound of the saved tensors of the microbatches in flight.
  Wide memory_total = 0;
  std::vector<FlopsValue> flops;
  Wide flops_total = 0, useful_flops_total = 0;
  std::vector<CollectiveValue> collectives;
  Wide bytes_sent_total = 0;    // sum of full-buffer bytes
  std::vector<HostValue> host;  // copies between the device and the host
  std::vector<PartValue> host_memory;
  std::shared_ptr<const StageStates> states;  // set only in a bound plan (plan/bound_plan.h)
};

struct Report {
  Design design;                  // the effective design: see effective_design
  std::vector<Problem> problems;  // with an error, nothing below is set
  // The cache that this report and everything computed from it share. Never null in a finished report.
  std::shared_ptr<PlanCache> cache;
  std::shared_ptr<const StepModel> model;
  Binding binding;  // base and derived symbols, no per-stage ones
  std::vector<DerivedSymbol> derived;
  Quantity model_parameters, active_parameters;  // active: parameters that one token uses
  Quantity model_buffers;                        // parameters that gradients do not train
  Quantity kv_cache_bytes;                       // bytes per token, all layers; a fraction is rounded up
  Quantity window_bytes;                         // of keys in windows counted apart: bytes per sequence
  double kv_cache_per_token = 0;                 // kv_cache_bytes without rounding
  Quantity state_bytes;                          // mixer states: bytes per sequence, all layers
  int64_t ranks = 0, microbatches = 0, tokens_per_step = 0;
  // The ring position whose FLOPs the stages give. Set where the ranks of a ring differ (symbol ic).
  std::optional<int64_t> ring_position;
  std::vector<StageReport> stages;
  std::shared_ptr<const Accelerator> accelerator;  // null: no known accelerator
  // The memory timeline: peak of every stage, and whether the design fits. Set by estimate()
  // (memory/estimate.h).
  std::shared_ptr<const MemoryTimeline> memory;
  double step_flops = 0;       // counted, all ranks
  double step_comm_bytes = 0;  // bytes of full buffers, all ranks
  double elapsed_ms = 0;       // milliseconds that making the report took

  bool valid() const { return model != nullptr; }
  const Graph& graph() const { return *model->graph; }
};

// Counts of the model as makers publish them. Active parameters are those of the language model.
struct ModelCounts {
  Quantity parameters, active;  // without multi-token prediction
  std::array<Wide, kModelPartCount> parts{};
};
// Of a valid report.
ModelCounts model_counts(const Report& report);

// Makes the report of a design. Invalid input gives problems, never an exception. Thread safe. Returns
// nullptr when stopped. Where the ranks of a ring differ, the stages give the numbers of `ring_position`; the
// default is the last position, which computes most.
std::shared_ptr<Report> make_report(const Design& design, std::stop_token stop = {},
                                    std::optional<int64_t> ring_position = {});
// The same, with a cache that other plans share. The overload above makes its own cache.
std::shared_ptr<Report> make_report(const Design& design, std::shared_ptr<PlanCache> cache,
                                    std::stop_token stop = {}, std::optional<int64_t> ring_position = {});

// The kinds of the layers of each virtual stage on this stage: one inner vector per chunk, one entry per
// layer.
std::vector<std::vector<int>> chunk_kinds(const Graph& graph, const StageReport& stage,
                                          const ModelSpec& model);

// Derived symbols of the stage's shape: shards and units of gradient sync. stage.binding has their values.
const std::vector<DerivedSymbol>& stage_derived(const Report& report, const StageReport& stage);

}  // namespace shardscape
