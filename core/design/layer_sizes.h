// Sizes of layers of one model that differ from kind to kind: their symbols and numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "design/design.h"
#include "model/layer_variant.h"

namespace shardscape {

// The kinds of layers of a design; those of an unknown architecture are unknown: none. With residual blocks,
// layers with different streams are of different kinds: "layer_3_start" starts a block with three vectors per
// token, "layer_3_received" is the first layer of its stage. With carried tensors, layers with another use of
// them are of different kinds: "shared_5" is as "shared" in the lines, and layer 5 is its first layer.
ModelLayers layers_of(const Design& design);
// Whether a pass of the design has carried tensors. Those of a tower (CarriedTensor::added_to) need images.
bool runs_carries(const Design& design, const Architecture& architecture);
// Vectors per token of the residual stream that leaves the last layer; 1 without residual blocks.
int64_t final_vectors(const ModelSpec& model);
// The kinds with sizes of their own.
std::vector<LayerVariant> kinds_with_sizes(const Design& design);

// Calls test(model) for the model, and for the model as each kind with sizes of its own sees it, until test
// returns false. Returns whether all calls returned true.
template <class Test>
bool all_layer_models(const Design& design, const Test& test) {
  if (!test(design.model)) return false;
  if (design.model.variants.empty()) return true;
  for (const LayerVariant& kind : kinds_with_sizes(design))
    if (!test(layer_model(design.model, kind))) return false;
  return true;
}

// Numbers of KV heads below tp of kinds with their own number, each once. They split tp (kKvSplits, after the
// split of the model).
std::vector<int64_t> own_kv_splits(const Design& design);

// The symbol of a size of a kind: "E_full".
Symbol layer_symbol(std::string_view symbol, const std::string& kind);
// The symbols that have a value of their own in the kind, as pairs of the model's symbol and that of the
// kind. A size without a symbol counts through the symbols that depend on it. kv_split: see LayerStructure.
std::vector<std::pair<Symbol, Symbol>> layer_symbols(const std::string& kind, const std::vector<int>& sizes,
                                                     int kv_split);

}  // namespace shardscape
