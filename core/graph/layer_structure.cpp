// The kinds of layers of a model in the structure of its graph.
#include "design/fields.h"
#include "design/layer_sizes.h"
#include "graph/graph.h"
#include "model/block.h"

namespace shardscape {

void add_to(CacheKey& key, const CarriedUse& use) {
  for (const int mask : {use.made, use.held, use.last, use.added}) key.add(int64_t{mask});
}

void add_to(CacheKey& key, const LayerStructure& layer) {
  const auto& [name, kind, sizes, window, chunk, q_compressed, grouped, local_experts, kv_split, one_kv_head,
               formats, vectors, holds_vectors, carried] = layer;
  const auto add = [&](const auto&... member) { (add_value(key, member), ...); };
  add(name, kind, sizes, window, chunk, q_compressed, grouped, local_experts, kv_split, one_kv_head, formats,
      vectors, holds_vectors, carried);
}

Structure structure_of_layer(const Structure& structure, const LayerStructure& layer) {
  Structure out = structure;
  out.window = layer.window;
  out.chunk = layer.chunk;
  out.q_compressed = layer.q_compressed;
  out.grouped = layer.grouped;
  out.local_experts = layer.local_experts;
  out.kv_split = layer.kv_split;
  out.one_kv_head = layer.one_kv_head;
  out.vectors = layer.vectors;
  out.holds_vectors = layer.holds_vectors;
  out.carried = layer.carried;
  out.formats = layer.formats;
  return out;
}

SymbolScope scope_of(const Structure& structure, const LayerStructure* layer) {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  SymbolScope out;
  if (structure.ssm_free_heads)  // channels are Hm P instead of e D
    out.add(symbol("e"), Expr(symbol("Hm")) * Expr(symbol("P")) / Expr(symbol("D")));
  if (!layer) return out;
  for (const auto& [of_model, own] : layer_symbols(layer->name, layer->sizes, layer->kv_split))
    out.add(of_model, Expr(own));
  return out;
}

Structure structure_of_tower(const Structure& structure) {
  Structure out = structure;
  out.window = out.chunk = out.q_compressed = out.grouped = out.dropout = false;
  out.formats.clear();
  out.vectors = 0;
  out.carried.held = out.carried.last = out.carried.added = 0;  // the projector makes some
  out.holds_vectors = false;
  out.sequence_parallel = out.ulysses = out.ring = out.zigzag = out.cp_sequences = false;
  out.ssm_free_heads = out.ssm_heads = out.ssm_shared = out.dcp = out.dcp_groups = false;
  out.kv_split = 0;
  out.one_kv_head = false;
  // Recompute of the language model leaves towers alone (Structure::vision_recompute).
  out.recompute = Recompute::None;
  out.recompute_modules = {};
  out.split_checkpoints = false;
  if (!out.tower_data) out.cp = false;  // every rank of cp encodes all images
  return out;
}

SymbolScope tower_scope(const TowerTemplate& tower, bool sizes) {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  SymbolScope out;
  out.add(symbol("b"), Expr(symbol("b")) * Expr(symbol("I")));
  out.add(symbol("S"), Expr(symbol("Np")) + Expr(tower.class_token ? 1 : 0));
  constexpr std::pair<const char*, const char*> kSizes[] = {{"D", "D_vision"}, {"H", "H_vision"},
                                                            {"G", "H_vision"}, {"E", "E_vision"},
                                                            {"F", "F_vision"}, {"Smax", "Smax_vision"}};
  for (const auto& [of_model, own] : kSizes)
    if (sizes) out.add(symbol(of_model), Expr(symbol(own)));
  return out;
}

}  // namespace shardscape
