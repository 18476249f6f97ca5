// What the window and the command line show of a design. Immutable once made; every number beside its
// formula.
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
  std::string name()
      const;  // "matmul", "matmul_mxfp8": the kind of op, and its precision where that is quantized
};

struct CollectiveValue {
  Phase phase;
  std::string op, group;
  int64_t group_size = 1;
  DType dtype;
  Quantity count, elements, bytes;  // per rank and step
};

struct HostValue {
  Phase phase;
  std::string op, what;   // "store", "activations"
  Quantity count, bytes;  // per rank and step
};

struct PartValue {
  std::string name;
  Quantity bytes;
};

// One pipeline stage: every rank of it does the same, but for the attention's FLOPs of a ring under a causal
// mask.
struct StageReport {
  int stage = 0;
  int representative = 0;  // the first stage with the same chunks: as many layers of the same kinds, and the
                           // same ends
  int64_t layers = 0;
  bool first = false, last = false;  // has the embedding; has the head
  std::vector<StageChunk> chunks;    // v of them; two under ChunkLayout::BothWays
  int64_t
      in_flight = 0;  // microbatches, at most; with virtual stages each counts once per chunk that holds it
  int shape = 0;      // index into StepModel::shapes
  Binding binding;    // base, derived and per-stage symbols
  Quantity parameters;
  Quantity memory[kMemoryCategoryCount];
  std::vector<PartValue> parts[kMemoryCategoryCount];
  Wide memory_total = 0;  // of these: states, and what microbatches in flight keep at most
  std::vector<FlopsValue> flops;
  Wide flops_total = 0, useful_flops_total = 0;
  std::vector<CollectiveValue> collectives;
  Wide bytes_sent_total = 0;    // sum of full-buffer bytes
  std::vector<HostValue> host;  // between the device and its host's memory
  std::vector<PartValue> host_memory;
  std::shared_ptr<const StageStates> states;  // of an outline (plan/bound_plan.h)
};

struct Report {
  Design design;                  // as it runs: see effective_design
  std::vector<Problem> problems;  // errors: nothing below is set
  std::shared_ptr<PlanCache>
      cache;  // whose values this and all that is computed from it share; never null once made
  std::shared_ptr<const StepModel> model;
  Binding binding;  // base and derived symbols, no per-stage ones
  std::vector<DerivedSymbol> derived;
  Quantity model_parameters, active_parameters;  // active: those that one token meets
  Quantity model_buffers;                        // parameters that gradients do not train
  Quantity kv_cache_bytes;                       // per token, all layers
  int64_t ranks = 0, microbatches = 0, tokens_per_step = 0;
  std::optional<int64_t> ring_position;  // whose FLOPs the stages give, where ranks of a ring differ (ic)
  std::vector<StageReport> stages;
  std::shared_ptr<const Accelerator> accelerator;  // null: none that is known
  // What the step allocates at its fullest moments, and whether that fits; set by estimate()
  // (memory/estimate.h).
  std::shared_ptr<const MemoryTimeline> memory;
  double step_flops = 0;       // counted, all ranks
  double step_comm_bytes = 0;  // full buffers, all ranks
  double elapsed_ms = 0;       // how long it took to make

  bool valid() const { return model != nullptr; }
  const Graph& graph() const { return *model->graph; }
};

// Never throws for a person's input; thread safe. Returns nothing when stopped. Where ranks of a ring differ
// the stages give the numbers of this position, otherwise of the last one, which has most to do.
std::shared_ptr<Report> make_report(const Design& design, std::stop_token stop = {},
                                    std::optional<int64_t> ring_position = {});
// The same with a cache that other plans share; the one above has a cache of its own.
std::shared_ptr<Report> make_report(const Design& design, std::shared_ptr<PlanCache> cache,
                                    std::stop_token stop = {}, std::optional<int64_t> ring_position = {});

// Of every virtual stage here, the kinds of its layers.
std::vector<std::vector<int>> chunk_kinds(const Graph& graph, const StageReport& stage,
                                          const ModelSpec& model);

// Derived symbols that only stages of this shape have: shards and units of the gradient sync. Values:
// stage.binding.
const std::vector<DerivedSymbol>& stage_derived(const Report& report, const StageReport& stage);

// Which stage a rank belongs to, and its coordinates as text: "tp 1, dp 0, pp 3", "tp 0, dp 3, pp 1 | ep 5,
// edp 0" with experts.
int stage_of_rank(const Report& report, int64_t rank);
std::string rank_text(const Report& report, int64_t rank);

}  // namespace shardscape
