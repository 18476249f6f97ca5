// What one rank of each stage stores, computes and communicates in a step: expressions, once per graph structure.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "symbolic/program.h"

namespace shardscape {

// KvCache: keys, values, latents and states of mixers that inference keeps. Buffers and Runtime have no formula: the memory timeline
// finds them (simulate/memory_timeline.h).
enum class MemoryCategory : uint8_t { Parameters, Gradients, Optimizer, Activations, Logits, KvCache, Buffers, Runtime };
inline constexpr int kMemoryCategoryCount = 6;   // those that follow from formulas
inline constexpr int kAllMemoryCategories = 8;
inline constexpr int kStateCategories = 3;       // parameters, gradients, optimizer states: of the stage, however many microbatches there are (gradients may come and go: stage_gradients.h)
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
  Expr count;         // per rank and step
  Expr elements;      // of the full buffers, all of them together
  Expr bytes;
};

// What goes between a device and the memory of its host.
struct HostRow {
  Phase phase;
  std::string op;     // "store": to the host, "load": from it
  std::string what;   // "activations", "gradients", "parameters"
  Expr count, bytes;  // per rank and step
};

struct MemoryPart {          // what a category is made of: by block for activations, by kind for states
  std::string name;
  Expr bytes;
};

// Stages that have the same segments share one shape; Ls (layers here) and nf (microbatches in flight) differ per stage.
// Under virtual stages see end_in_flight_symbol.
struct StageShape {
  bool first = false, last = false;  // has the embedding; has the head
  bool has_layers = true;
  Expr parameters;                   // count, per rank
  Expr memory[kMemoryCategoryCount];
  std::vector<MemoryPart> parts[kMemoryCategoryCount];
  std::vector<FlopsRow> flops;
  std::vector<CollectiveRow> collectives;
  std::vector<HostRow> host;
  std::vector<MemoryPart> host_memory;  // of one rank, in its host
  std::vector<DerivedSymbol> derived; // defined on the stage's binding before anything is evaluated, in order
  ExprProgram program;               // all of the above in the order of expressions()
  std::vector<const Expr*> expressions() const;
};

struct SharedSyncBasis;  // sync_params.h

// What stages of a shape have whatever their microbatches, for outlines (report/outline.h): made when it is asked for. Thread safe.
class StateShapes {
 public:
  struct Shape {
    std::vector<MemoryCategory> categories;  // of each part
    ExprProgram parts;                       // bytes
    std::vector<DerivedSymbol> derived;
    std::vector<Symbol> read;                // by parts, derived symbols and the plan of gradient sync
  };
  explicit StateShapes(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  const Shape& at(int index) const;
  const SharedSyncBasis& basis() const;      // of plans of gradient sync

 private:
  std::shared_ptr<const Graph> graph_;
  mutable std::once_flag based_;
  mutable std::shared_ptr<const SharedSyncBasis> basis_;
  mutable std::array<std::once_flag, 8> made_;
  mutable std::array<Shape, 8> shapes_;
};

inline constexpr const char* kMomentName = "moment, ";  // in names of what the first step of Adam makes: "first moment, fp32"

struct StepModel {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const StateShapes> states;  // of one for outlines: shapes have no expressions then
  uint64_t serial = 0;               // of all for outlines that were ever made
  std::vector<StageShape> shapes;    // index: shape_index(first, last, has_layers)
  Expr model_parameters;             // of the whole unsharded model, vocabulary not padded, ties counted once
  Expr model_buffers;                // those of them that gradients do not train
  Expr active_parameters;            // those of them that one token meets: of routed experts as many as it goes to
  Expr kv_cache_bytes;               // kept of a token for those that follow it, in inference, in all layers
  static int shape_index(bool first, bool last, bool has_layers);
  const StageShape& shape(bool first, bool last, bool has_layers) const {
    return shapes[static_cast<size_t>(shape_index(first, last, has_layers))];
  }
};

// Layers of kind k on a stage are the symbol Ls (one kind) or Ls0, Ls1, ... (several).
Symbol stage_layers_symbol(const Graph& graph, int kind);
// Microbatches whose activations of the embedding (nfe) or the head (nfh) a stage keeps when it keeps most. With virtual
// stages a chunk has its own number of microbatches in flight, so this is a symbol. Without it is nf.
Symbol end_in_flight_symbol(bool head);
// Those of them, with split backwards, whose gradients of weights are still to come: nze, nzh.
Symbol end_waiting_symbol(bool head);
// How layers of one kind on a stage are treated, where they differ: under block recompute, in groups of several layers, and
// where some are offloaded. One entry where all are treated alike.
std::vector<LayerClass> layer_classes(const Structure& structure);
// How many layers of kind k on a stage are of a class: La keep all activations, Lc a checkpoint, Li nothing (inside a group);
// with an o behind where that waits on the host, numbered by kind where there are several. Ls where all are alike.
Symbol layer_count_symbol(const Graph& graph, int kind, LayerClass of);
// The same times microbatches in flight, where chunks hold them (Structure::chunkwise): Lfa, Lfc, Lfi, or Lf; times microbatches
// whose gradients of weights wait: Lza, Lzc, Lzi, or Lz.
Symbol layers_in_flight_symbol(const Graph& graph, int kind, LayerClass of);
Symbol layers_waiting_symbol(const Graph& graph, int kind, LayerClass of);
// Messages that a stage sends per microbatch, where that is no matter of the ends of the model alone (ChunkLayout::Vee).
Symbol messages_symbol();
// Offloaded layers of kind k whose activations are on the device at once, being used or on their way: Lta, Ltc.
Symbol layers_in_transit_symbol(const Graph& graph, int kind, LayerClass of);
inline constexpr int64_t kLayersInTransit = 2;  // the one that runs and the one before or after it
// Layers of kind k whose activations are made again at once: Lw; those of them after the first of their group: Lv. Only
// where that is not always one layer.
Symbol layers_replayed_symbol(const Graph& graph, int kind);
Symbol inner_replayed_symbol(const Graph& graph, int kind);
bool counts_replayed(const Graph& graph);
// Recomputed layers of kind k with others of their group behind them: Lr. Under groups of several layers only.
Symbol layers_followed_symbol(const Graph& graph, int kind);
// Layers of kind k in the whole model: L, or L0, L1, ...
Symbol model_layers_symbol(const Graph& graph, int kind);

StepModel make_step_model(std::shared_ptr<const Graph> graph);
StepModel make_outline_model(std::shared_ptr<const Graph> graph);

}  // namespace shardscape
