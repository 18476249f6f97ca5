// Kinds of layers with sizes of their own, and the kinds that a model consists of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "model/block.h"
#include "model/layer_pattern.h"
#include "model/model_spec.h"

namespace shardscape {

// Reads and writes variants as one text: "full: global head_dim=512 kv_heads=2; wide: layer ffn=14336". A
// variant has a name, the kind of the architecture that it is, sizes, and formats of weights that differ from
// the model's, such as experts_weights=nvfp4. A Problem names the column.
// At most kMostVariants: counts of a model are sums over its variants.
inline constexpr size_t kMostVariants = 256;
Result<std::vector<LayerVariant>> parse_layer_variants(std::string_view text);
std::string layer_variants_text(const std::vector<LayerVariant>& variants);

// Whether the architecture has layers of this kind.
bool has_kind(const Architecture& architecture, const std::string& name);
// The lines of layers of this kind; nullptr: the architecture has none.
const SectionTemplate* section_of(const Architecture& architecture, const std::string& kind);
// Whether the model says more about its layers than its architecture does.
inline bool has_own_layers(const ModelSpec& model) {
  return !model.layer_pattern.empty() || !model.variants.empty();
}

// The residual stream that enters a layer of a model with residual blocks.
struct EnteringBlocks {
  int64_t vectors = 0;    // per token
  bool received = false;  // from another stage
};

// Masks of carried tensors (Architecture::carries).
struct CarriedUse {
  int made = 0;   // made here and read by later layers
  int held = 0;   // the first layer of its stage that reads a tensor of an earlier stage, or of a tower
  int last = 0;   // read by no later layer
  int added = 0;  // added to the residual stream behind the layer
  auto operator<=>(const CarriedUse&) const = default;
};

// The kinds of layers of a model, and the order of its layers.
struct ModelLayers {
  std::vector<LayerVariant> kinds;  // kinds of the architecture first; without a variant, name and kind agree
  LayerPattern pattern;             // indices into kinds
  int lead = -1;  // the kind of the first dense_layers layers; -1: the pattern has all layers
  std::vector<EnteringBlocks> blocks{};  // by kind; empty without residual blocks
  std::vector<CarriedUse> carried{};     // by kind; empty without carried tensors
  CarriedUse embedding{};                // carried tensors of the embedding
};
// With a layer pattern: the kinds in the pattern. Without one: the kinds and the pattern of the architecture.
// A variant with the name of a kind replaces this kind. A pattern that names an unknown kind counts as none.
ModelLayers layers_of(const ModelSpec& model, const Architecture& architecture);
// The model as the layers of one kind see it: their sizes stand in for the model's.
ModelSpec layer_model(const ModelSpec& model, const LayerVariant& kind);

}  // namespace shardscape
