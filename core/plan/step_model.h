// What one rank of each stage stores, computes and communicates in a step: expressions, once per graph
// structure.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/plan_cache.h"
#include "graph/graph.h"
#include "graph/stage_symbols.h"
#include "symbolic/program.h"

namespace shardscape {

// KvCache: keys, values, latents and states of mixers that inference keeps. Buffers and Runtime have no
// formula: the memory timeline finds them (memory/memory_timeline.h).
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
inline constexpr int kMemoryCategoryCount = 6;  // those that follow from formulas
inline constexpr int kAllMemoryCategories = 8;
inline constexpr int
    kStateCategories = 3;  // parameters, gradients, optimizer states: of the stage, however many microbatches
                           // there are (gradients may come and go: stage_gradients.h)
std::string_view memory_category_name(MemoryCategory category);   // JSON key: "parameters"
std::string_view memory_category_label(MemoryCategory category);  // "Logits and loss"
bool is_loss(OpKind kind);  // what its backward keeps counts as logits and loss

struct FlopsRow {
  OpKind kind;
  Phase phase;
  DType compute;         // in which precision
  Expr counted, useful;  // per rank and step
};

struct CollectiveRow {
  Phase phase;
  std::string op;     // "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"
  std::string group;  // "tp", "dp", "pp", "embedding"
  Expr group_size;
  DType dtype;
  Expr count;     // per rank and step
  Expr elements;  // of the full buffers, all of them together
  Expr bytes;
};

// What goes between a device and the memory of its host.
struct HostRow {
  Phase phase;
  std::string op;     // "store": to the host, "load": from it
  std::string what;   // "activations", "gradients", "parameters"
  Expr count, bytes;  // per rank and step
};

struct MemoryPart {  // what a category is made of: by block for activations, by kind for states
  std::string name;
  Expr bytes;
};

// Stages that have the same segments share one shape; Ls (layers here) and nf (microbatches in flight) differ
// per stage. Under virtual stages see end_in_flight_symbol.
struct StageShape {
  bool first = false, last = false;  // has the embedding; has the head
  bool has_layers = true;
  Expr parameters;  // count, per rank
  Expr memory[kMemoryCategoryCount];
  std::vector<MemoryPart> parts[kMemoryCategoryCount];
  std::vector<FlopsRow> flops;
  std::vector<CollectiveRow> collectives;
  std::vector<HostRow> host;
  std::vector<MemoryPart> host_memory;  // of one rank, in its host
  std::vector<DerivedSymbol>
      derived;          // defined on the stage's binding before anything is evaluated, in order
  ExprProgram program;  // all of the above in the order of expressions()
  std::vector<const Expr*> expressions() const;
};

struct SharedSyncBasis;  // sync_params.h

// What stages of a shape have whatever their microbatches, for outlines (plan/bound_plan.h): made when it is
// asked for. Thread safe.
class StateShapes {
 public:
  struct Shape {
    std::vector<MemoryCategory> categories;  // of each part
    ExprProgram parts;                       // bytes
    std::vector<DerivedSymbol> derived;
    std::vector<Symbol> read;  // by parts, derived symbols and the plan of gradient sync
  };
  explicit StateShapes(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  const Shape& at(int index, PlanCache& cache) const;
  const SharedSyncBasis& basis(PlanCache& cache) const;  // of plans of gradient sync

 private:
  std::shared_ptr<const Graph> graph_;
  mutable std::once_flag based_;
  mutable std::shared_ptr<const SharedSyncBasis> basis_;
  mutable std::array<std::once_flag, 8> made_;
  mutable std::array<Shape, 8> shapes_;
};

inline constexpr const char*
    kMomentName = "moment, ";  // in names of what the first step of Adam makes: "first moment, fp32"

struct StepModel {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const StateShapes> states;  // of one for outlines: shapes have no expressions then
  int64_t serial = 0;                         // of its cache
  std::vector<StageShape> shapes;             // index: shape_index(first, last, has_layers)
  Expr model_parameters;   // of the whole unsharded model, vocabulary not padded, ties counted once
  Expr model_buffers;      // those of them that gradients do not train
  Expr active_parameters;  // those of them that one token meets: of routed experts as many as it goes to
  Expr kv_cache_bytes;     // kept of a token for those that follow it, in inference, in all layers
  static int shape_index(bool first, bool last, bool has_layers);
  const StageShape& shape(bool first, bool last, bool has_layers) const {
    return shapes[static_cast<size_t>(shape_index(first, last, has_layers))];
  }
};

StepModel make_step_model(std::shared_ptr<const Graph> graph);
StepModel make_bound_model(std::shared_ptr<const Graph> graph);

}  // namespace shardscape
