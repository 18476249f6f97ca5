// The step model: the memory, FLOPs and collectives of one rank of each stage in a step, as expressions. It
// is made once per graph structure. Memory is in bytes; counts are per rank and step.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/plan_cache.h"
#include "graph/graph.h"
#include "graph/stage_symbols.h"
#include "mesh/collective_kind.h"
#include "plan/model_parts.h"
#include "symbolic/program.h"

namespace shardscape {

// KvCache: keys, values, latents and mixer states that inference stores. Buffers and Runtime have no formula;
// the memory timeline computes them (memory/memory_timeline.h).
enum class MemoryCategory : uint8_t {
  Parameters,
  Gradients,
  Optimizer,
  Activations,
  Logits,
  KvCache,
  Buffers,
  Runtime
};
inline constexpr int kMemoryCategoryCount = 6;  // categories with formulas
inline constexpr int kAllMemoryCategories = 8;
// Parameters, gradients and optimizer states: they do not depend on the number of microbatches. Gradients may
// have lifetimes inside the step (stage_gradients.h).
inline constexpr int kStateCategories = 3;
std::string_view memory_category_name(MemoryCategory category);   // JSON key: "parameters"
std::string_view memory_category_label(MemoryCategory category);  // "Logits and loss"

struct FlopsRow {
  OpKind kind;
  Phase phase;
  DType compute;
  Expr counted, useful;  // per rank and step
};

struct CollectiveRow {
  Phase phase;
  CommOp op;
  std::string group;  // "tp", "dp", "pp", "embedding"
  Expr group_size;
  DType dtype;
  Expr count;     // per rank and step
  Expr elements;  // of all full buffers together
  Expr bytes;
};

// A copy between a device and the memory of its host. Store: to the host. Load: from the host.
enum class HostOp : uint8_t { Store, Load };
std::string_view host_op_name(HostOp op);  // in files: "store"
struct HostRow {
  Phase phase;
  HostOp op;
  std::string what;   // "activations", "gradients", "parameters"
  Expr count, bytes;  // per rank and step
};

// Kinds of tensors that the memory timeline or the allocator replay treats in a special way.
enum class PartKind : uint8_t {
  Other,
  Sharded,        // this rank's shards of parameters or gradients
  MasterWeights,  // float32 copies of parameters
  AdamMoment,     // the first optimizer step makes it
  ReceiveBuffers  // pipeline messages
};

// One part of a memory category: per block for activations, per kind for states.
struct MemoryPart {
  std::string name;
  Expr bytes;
  PartKind kind = PartKind::Other;
};

// The shape of a stage. Stages with the same segments share one shape. Ls (layers on the stage) and nf
// (microbatches in flight) differ per stage; end_in_flight_symbol describes virtual stages.
struct StageShape {
  ModelStart first;   // what the stage has of the beginning of the model
  bool last = false;  // has the head
  bool has_layers = true;
  Expr parameters;  // count, per rank
  Expr memory[kMemoryCategoryCount];
  std::vector<MemoryPart> parts[kMemoryCategoryCount];
  std::vector<FlopsRow> flops;
  std::vector<CollectiveRow> collectives;
  std::vector<HostRow> host;
  std::vector<MemoryPart> host_memory;  // host memory of one rank
  // Defined on the stage's binding in this order, before any expression is evaluated.
  std::vector<DerivedSymbol> derived;
  ExprProgram program;  // all expressions above, in the order of expressions()
  std::vector<const Expr*> expressions() const;
};

// Shapes of stages; the second half only with a vision tower on a stage of its own.
inline constexpr int kStageShapes = 16;

struct SharedSyncBasis;  // sync_params.h

// The states of stages per shape, for bound plans (plan/bound_plan.h). Each shape is made on first use.
// Structures with equal expressions share a shape. Thread safe.
class StateShapes {
 public:
  struct Shape {
    int64_t serial = 0;                      // number in the cache
    std::vector<MemoryCategory> categories;  // of each part
    ExprProgram parts;                       // bytes
    std::vector<DerivedSymbol> derived;
    std::vector<Symbol> read;  // symbols in parts, derived symbols and the sync plan
  };
  explicit StateShapes(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  const Shape& at(int index, PlanCache& cache) const;
  const SharedSyncBasis& basis(PlanCache& cache) const;  // of gradient-sync plans

 private:
  std::shared_ptr<const Shape> make(int index, PlanCache& cache) const;
  std::shared_ptr<const Graph> graph_;
  mutable std::once_flag based_;
  mutable std::shared_ptr<const SharedSyncBasis> basis_;
  mutable std::array<std::once_flag, kStageShapes> made_;
  mutable std::array<std::shared_ptr<const Shape>, kStageShapes> shapes_;
};

struct StepModel {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const StateShapes>
      states;                      // set in a model for bound plans; its shapes have no expressions
  int64_t serial = 0;              // number in the cache
  std::vector<StageShape> shapes;  // index: shape_index(first, last, has_layers)
  Expr model_parameters;           // whole unsharded model, vocabulary not padded, tied weights counted once
  Expr model_buffers;              // parameters that gradients do not train
  // The parameters that one token uses. Of routed experts only the top-k of a token count.
  Expr active_parameters;
  ModelParts parts;          // their sums are model_parameters and active_parameters
  Expr released_parameters;  // without multi-token prediction, as makers count their models
  // Bytes that inference stores per token, all layers: as a fraction with compressed keys. window_bytes: per
  // sequence, for keys of whole windows that are counted apart.
  Expr kv_cache_bytes, window_bytes;
  Expr state_bytes;  // bytes of mixer states that inference stores per sequence, all layers
  static int shape_index(ModelStart first, bool last, bool has_layers);
  const StageShape& shape(ModelStart first, bool last, bool has_layers) const {
    return shapes[static_cast<size_t>(shape_index(first, last, has_layers))];
  }
};

StepModel make_step_model(std::shared_ptr<const Graph> graph);
StepModel make_bound_model(std::shared_ptr<const Graph> graph);

}  // namespace shardscape
