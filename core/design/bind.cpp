// Binds the symbols of a design to numbers.
#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "design/expert_nodes.h"
#include "design/layer_sizes.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "design/validate/validate.h"
#include "design/vision.h"
#include "mesh/pipeline_layout.h"
#include "model/library.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

// Symbols of the workload and the mesh.
void bind_base(Binding& binding, const Design& d) {
  static const std::array<Symbol, 9> symbols = [] {
    const auto s = [](const char* name) { return Symbol::intern(name); };
    return std::array<Symbol, 9>{s("B"), s("b"), s("S"), s("tp"), s("cp"), s("pp"), s("dp"), s("v"), s("C")};
  }();
  const std::array<int64_t, 9> values{d.workload.batch,
                                      d.workload.microbatch,
                                      d.workload.seq,
                                      d.parallel.tp,
                                      d.parallel.cp,
                                      d.parallel.pp,
                                      d.parallel.dp,
                                      d.parallel.virtual_stages,
                                      trains(d) ? 0 : d.workload.context_length};
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0) binding.set(symbols[i], values[i]);
  if (trains(d) && d.workload.lora_rank > 0) binding.set(Symbol::intern("Ra"), d.workload.lora_rank);
  if (packs_documents(d)) binding.set(Symbol::intern("Ld"), d.workload.packed_length);
  if (trains(d) && d.workload.offload_optimizer)
    binding.set(Symbol::intern("Of"), d.workload.optimizer_offload_fraction);
  if (!runs_tower(d)) return;
  binding.set(Symbol::intern("I"), images_per_sequence(d));
  binding.set(Symbol::intern("Np"), patches_per_image(d));
}

// Sizes of the model. No formula contains the size of a part that the model lacks, such as attention or an
// MLP; the size is then 0. routes_to_all: routers may also choose experts without computation.
void bind_sizes(Binding& binding, const ModelSpec& model, bool routes_to_all) {
  static const std::vector<std::pair<Symbol, const ModelSize*>> sizes = [] {
    std::vector<std::pair<Symbol, const ModelSize*>> out;
    for (const ModelSize& size : kModelSizes)
      if (*size.symbol) out.emplace_back(Symbol::intern(size.symbol), &size);
    return out;
  }();
  for (const auto& [symbol, size] : sizes)
    if (model.*size->member > 0 && (size->section != ModelSection::Experts || model.experts > 0))
      binding.set(symbol, model.*size->member);
  // Without a position table, no formula contains this size, but it must still be positive.
  static const Symbol positions = Symbol::intern("Smax"), shared = Symbol::intern("Fs"),
                      routes = Symbol::intern("Xr");
  binding.set(positions, std::max<int64_t>(1, model.positions));
  if (model.experts == 0) return;
  binding.set(shared, model.shared_width());
  if (routes_to_all) binding.set(routes, model.experts + model.zero_experts);
}

// Sizes of layers that differ from the model's.
void bind_layers(Binding& binding, const Design& design, bool routes_to_all) {
  for (const LayerVariant& kind : kinds_with_sizes(design)) {
    Binding own;
    bind_sizes(own, layer_model(design.model, kind), routes_to_all);
    std::vector<int> rows;
    for (const auto& [row, value] : kind.sizes) rows.push_back(row);
    // Splits of mesh axes are bound with the mesh, derived symbols by their rules.
    for (const auto& [of_model, symbol] : layer_symbols(kind.name, rows, 0))
      if (const auto value = own.get(of_model)) binding.set(symbol, *value);
  }
}

// Numbers of KV heads and of splits of mesh axes.
void bind_splits(Binding& binding, const MeshDegrees& degrees) {
  static const std::vector<std::pair<Symbol, MeshAxisRow::Field>> splits = [] {
    std::vector<std::pair<Symbol, MeshAxisRow::Field>> out;
    for (const MeshAxisRow& row : kMeshAxes)
      if (row.field) out.emplace_back(Symbol::intern(row.degree), row.field);
    return out;
  }();
  for (const auto& [symbol, field] : splits)
    if (degrees.*field > 0) binding.set(symbol, degrees.*field);
}

}  // namespace

std::vector<int64_t> layers_per_virtual_stage(const Design& design) {
  if (!design.parallel.stage_layers.empty()) return design.parallel.stage_layers;
  const int64_t pp = language_stages(design), v = design.parallel.virtual_stages,
                layers = std::max<int64_t>(0, design.model.layers);
  if (pp < 1 || pp > kMaxWorld || v < 1 || v > kMaxWorld / pp) return {};
  const int64_t stages = pp * v, parts = layers + design.parallel.ends_counted_as_layers();
  std::vector<int64_t> result(static_cast<size_t>(stages), parts / stages);
  for (int64_t i = 0; i < parts % stages; ++i) ++result[static_cast<size_t>(i)];
  for (const auto& [end, counted] :
       {std::pair{&result.front(), design.parallel.account_for_embedding_in_pipeline_split},
        std::pair{&result.back(), design.parallel.account_for_loss_in_pipeline_split}})
    if (counted && *end > 0) --*end;
  // The tower alone; the schedule of the other virtual stages is refused.
  result.insert(result.begin(), static_cast<size_t>((design.parallel.pp - pp) * v), 0);
  return result;
}

std::vector<int64_t> layers_per_stage(const Design& design) {
  std::vector<int64_t> chunks = layers_per_virtual_stage(design);
  PipelineLayout places = pipeline_layout(design.parallel);
  if (places.chunks == 1 || chunks.empty()) return chunks;
  places.stages = std::clamp<int64_t>(places.stages, 1, kMaxWorld);
  std::vector<int64_t> result(static_cast<size_t>(places.stages), 0);
  for (int64_t stage = 0; stage < places.stages; ++stage)
    for (int64_t chunk = 0; chunk < places.chunks; ++chunk)
      if (const auto k = static_cast<size_t>(places.virtual_stage({stage, chunk})); k < chunks.size())
        result[static_cast<size_t>(stage)] += chunks[k];
  return result;
}

namespace {

// The symbols of a model, or of a kind of layers with sizes of its own.
class SymbolsOf {
 public:
  explicit SymbolsOf(const LayerVariant* kind) {
    if (!kind) return;
    std::vector<int> rows;
    for (const auto& [row, value] : kind->sizes) rows.push_back(row);
    own_ = layer_symbols(kind->name, rows, 0);
    name_ = kind->name;
  }
  Symbol operator()(const char* name) const {
    const Symbol of_model = Symbol::intern(name);
    for (const auto& [symbol, own] : own_)
      if (symbol == of_model) return own;
    return of_model;
  }
  // Whether the layers have a value of their own.
  bool own(const char* name) const { return (*this)(name) != Symbol::intern(name); }
  // A symbol that no formula contains.
  Symbol step(const char* name) const {
    return name_.empty() ? Symbol::intern(name) : layer_symbol(name, name_);
  }

 private:
  std::vector<std::pair<Symbol, Symbol>> own_;
  std::string name_;
};

Expr symbol_expr(const char* name) { return Expr(Symbol::intern(name)); }

// Ranks that split the tokens of a sequence before they are routed.
Expr ranks_of_tokens(const Design& design, bool over_cp) {
  const ParallelSpec& p = design.parallel;
  const bool split = p.tp > 1 && splits_tokens_over_tp(design) && p.dispatcher != Dispatcher::AllToAllSeq;
  return (over_cp ? symbol_expr("cp") : Expr(1)) * (split ? symbol_expr("tp") : Expr(1));
}

// Slots per node for the tokens of one rank: each token goes to some of the nodes, each node equally often.
void derive_node_slots(const Design& design, const ModelSpec& model, const SymbolsOf& symbol,
                       std::vector<DerivedSymbol>& out) {
  const int64_t nodes = ep_nodes(design);
  const int64_t copies = nodes_per_token(model, nodes), common = std::gcd(copies, nodes * 1000);
  out.push_back({symbol("Cn"), DerivedRule::CeilDiv,
                 symbol_expr("b") * symbol_expr("S") * Expr(copies / common),
                 ranks_of_tokens(design, true) * Expr(nodes * 1000 / common)});
}

// Slots per expert for the tokens of one rank: those of the fullest expert, at most the capacity. Padding
// fills the capacity.
void derive_expert_slots(const Design& design, const SymbolsOf& symbol, std::vector<DerivedSymbol>& out) {
  const Expr even = symbol_expr("b") * symbol_expr("S") * Expr(symbol("K"));
  const bool over_cp = design.parallel.cp > 1 &&
                       (design.workload.mode != Mode::Decode || cp_splits_sequences(design));
  const char* routes = uses_axis(design, Axis::AllRoutes) ? "Xr" : "X";
  const Expr experts = ranks_of_tokens(design, over_cp) * Expr(symbol(routes)) * Expr(1000);
  const int64_t factor = design.workload.capacity_factor;
  const bool pads = design.workload.pad_to_capacity && factor > 0;
  out.push_back({symbol("Cx"), DerivedRule::CeilDiv,
                 even * Expr(pads ? factor : design.workload.load_imbalance), experts});
  if (factor <= 0 || pads) return;
  out.back().symbol = symbol.step("Ci");
  out.push_back({symbol.step("Cc"), DerivedRule::CeilDiv, even * Expr(factor), experts});
  out.push_back({symbol("Cx"), DerivedRule::Min, Expr(symbol.step("Ci")), Expr(symbol.step("Cc"))});
}

void derive_slots(const Design& design, const LayerVariant* kind, std::vector<DerivedSymbol>& out) {
  const SymbolsOf symbol(kind);
  if (sends_by_node(design) && (!kind || symbol.own("Cn")))
    derive_node_slots(design, kind ? layer_model(design.model, *kind) : design.model, symbol, out);
  if (slots_are_derived(design) && (!kind || symbol.own("Cx"))) derive_expert_slots(design, symbol, out);
}

}  // namespace

std::vector<DerivedSymbol> derived_symbols(const Design& design) {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  std::vector<DerivedSymbol> out{
      {symbol("Vp"), DerivedRule::Align, symbol("V"),
       Expr(design.workload.vocab_multiple) * Expr(symbol("tp"))},
      {symbol("m"), DerivedRule::FloorDiv, symbol("B"), Expr(symbol("b")) * Expr(symbol("dp"))}};
  const bool cached = design.workload.cached_tokens > 0;  // prefill after tokens in the cache
  // Packed documents: S / Ld of them, rounded to the nearest number, all with the same tokens.
  const bool packed = packs_documents(design);
  if (packed) {
    const Expr length(symbol("Ld")), documents(symbol("Nd")), tokens(symbol("S"));
    out.push_back({symbol("Nd"), DerivedRule::FloorDiv, Expr(2) * tokens + length, Expr(2) * length});
    out.push_back({symbol("Sd"), DerivedRule::FloorDiv, tokens, documents});
  }
  const Symbol reachable = symbol(packed ? "Sd" : design.workload.mode == Mode::Decode || cached ? "C" : "S");
  const Expr before_prompt = Expr(symbol("C")) - Expr(symbol("S"));
  // Wb: cached tokens that the first query of a prompt sees in its window.
  const auto add_window = [&](Symbol width, Symbol effective, Symbol before) {
    out.push_back({effective, DerivedRule::Min, width, reachable});
    if (cached) out.push_back({before, DerivedRule::Min, Expr(width) - Expr(1), before_prompt});
  };
  if (design.model.window > 0) add_window(symbol("W"), symbol("We"), symbol("Wb"));
  for (const LayerVariant& kind : kinds_with_sizes(design))
    if (const auto own = kind.sizes.find(size_row(&ModelSpec::window));
        own != kind.sizes.end() && own->second > 0)
      add_window(layer_symbol("W", kind.name), layer_symbol("We", kind.name), layer_symbol("Wb", kind.name));
  const auto add_compressed = [&](Symbol ratio, Symbol keys, Symbol picked) {
    out.push_back({keys, DerivedRule::FloorDiv, reachable, Expr(ratio)});
    if (design.model.index_top_k > 0) out.push_back({picked, DerivedRule::Min, symbol("Ki"), Expr(keys)});
  };
  if (design.model.compress_ratio > 0) add_compressed(symbol("Cr"), symbol("Nc"), symbol("Kp"));
  for (const LayerVariant& kind : kinds_with_sizes(design))
    if (const auto own = kind.sizes.find(size_row(&ModelSpec::compress_ratio));
        own != kind.sizes.end() && own->second > 0)
      add_compressed(layer_symbol("Cr", kind.name), layer_symbol("Nc", kind.name),
                     layer_symbol("Kp", kind.name));
  if (const ModelSpec& m = design.model; m.index_top_k > 0 && m.compress_ratio == 0) {
    // Picks of a query, and the keys in its picked blocks.
    const Symbol picks = symbol("Ki"), block = symbol("Bi"), blocks = symbol("Nb");
    if (m.index_block > 0) {
      out.push_back({blocks, DerivedRule::CeilDiv, reachable, Expr(block)});
      out.push_back({symbol("Kt"), DerivedRule::Min, Expr(picks) * Expr(block), Expr(reachable)});
    }
    out.push_back({symbol("Kp"), DerivedRule::Min, picks, m.index_block > 0 ? blocks : reachable});
    if (cached) out.push_back({symbol("Kb"), DerivedRule::Min, picks, before_prompt});
  }
  // Chunks of attention: whole chunks in the sequence, or before the decoded token. Wp: before a prompt.
  const Expr before = design.workload.mode == Mode::Decode ? Expr(symbol("C")) - Expr(1) : Expr(reachable);
  const auto add_chunks = [&](Symbol tokens, Symbol effective, Symbol whole, Symbol before_first) {
    out.push_back({effective, DerivedRule::Min, tokens, reachable});
    out.push_back({whole, DerivedRule::FloorDiv, before, Expr(effective)});
    if (cached) out.push_back({before_first, DerivedRule::FloorDiv, before_prompt, Expr(effective)});
  };
  if (design.model.attention_chunk > 0) add_chunks(symbol("Wc"), symbol("Wce"), symbol("Wn"), symbol("Wp"));
  for (const LayerVariant& kind : kinds_with_sizes(design))
    if (const auto own = kind.sizes.find(size_row(&ModelSpec::attention_chunk));
        own != kind.sizes.end() && own->second > 0)
      add_chunks(layer_symbol("Wc", kind.name), layer_symbol("Wce", kind.name), layer_symbol("Wn", kind.name),
                 layer_symbol("Wp", kind.name));
  if (design.model.ssm_chunk > 0) out.push_back({symbol("Qe"), DerivedRule::Min, symbol("Q"), symbol("S")});
  if (design.model.linear_chunk > 0)
    out.push_back({symbol("Qle"), DerivedRule::Min, symbol("Ql"), symbol("S")});
  for (const LayerVariant& kind : kinds_with_sizes(design))
    if (const auto own = kind.sizes.find(size_row(&ModelSpec::linear_chunk));
        own != kind.sizes.end() && own->second > 0)
      out.push_back(
          {layer_symbol("Qle", kind.name), DerivedRule::Min, layer_symbol("Ql", kind.name), symbol("S")});
  const ModelLibrary& library = ModelLibrary::instance();
  const Architecture* architecture = library.architecture(design.model.architecture);
  const KernelProfile* profile = library.profile(design.workload.profile);
  if (architecture && profile)
    for (int64_t tokens : profile->chunks(architecture->ops))
      out.push_back({chunk_count_symbol(tokens), DerivedRule::CeilDiv, symbol("S"), Expr(tokens)});
  derive_slots(design, nullptr, out);
  for (const LayerVariant& kind : kinds_with_sizes(design)) derive_slots(design, &kind, out);
  return out;
}

bool slots_are_derived(const Design& design) {
  return design.model.experts > 0 &&
         (design.workload.capacity_factor > 0 || design.workload.load_imbalance != 1000);
}

Binding bind_symbols(const Design& design) {
  Binding binding;
  bind_base(binding, design);
  const bool routes_to_all = design.model.experts > 0 && uses_axis(design, Axis::AllRoutes);
  bind_sizes(binding, design.model, routes_to_all);
  bind_layers(binding, design, routes_to_all);
  if (design.model.experts > 0) {
    binding.set(Symbol::intern("ep"), design.parallel.ep);
    binding.set(Symbol::intern("etp"), design.parallel.expert_tp());
  }
  bind_splits(binding, mesh_degrees(design));
  if (const auto error = define(binding, derived_symbols(design))) {
    throw std::invalid_argument("an invalid design has no symbols: " + error->message);
  }
  return binding;
}

}  // namespace shardscape
