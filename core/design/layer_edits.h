// Edits of the layers of a model: another mixer or feed-forward part for a kind of layers, sizes of one kind,
// a new kind, and the order of layers in three parts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/layer_parts.h"
#include "model/library.h"
#include "model/model_spec.h"

namespace shardscape {

// Layers `name` get this call as mixer or feed-forward part. Other layers stay. Sizes follow: those of mixers
// that no layer has become 0, and missing ones come from a preset. library: ModelLibrary::instance().
Result<ModelSpec> with_part(const ModelSpec& model, const std::string& name, BlockUse use,
                            const std::string& call, const ModelLibrary& library);
// Layers `name` get their own size; nullopt: that of the model. row: of kModelSizes. Without a variant of
// this name, one is made of the kind.
ModelSpec with_size(const ModelSpec& model, const std::string& name, int row, std::optional<int64_t> size);
// A new kind with the parts of layers `from`, and one layer of it behind the others. pattern: the present
// order of layers. `made` receives the name of the kind.
ModelSpec with_new_kind(const ModelSpec& model, const std::string& from, const std::string& pattern,
                        const ModelLibrary& library, std::string& made);

// Sizes that the architecture needs and the model lacks come from the preset that has most of them. Returns
// their ids.
std::vector<std::string> complete_sizes(ModelSpec& model, const Architecture& architecture,
                                        const ModelLibrary& library);

// The order of the layers as a text, that of the architecture if the model has none: "dense*3, (linear*3,
// full)*". Empty for an unknown architecture.
std::string pattern_of(const ModelSpec& model, const ModelLibrary& library);
// The order of layers in three parts: "dense*3", "linear*3, full" and "". The repeated part fills the model.
struct PatternParts {
  std::string prefix, repeat, suffix;
  bool operator==(const PatternParts&) const = default;
};
Result<PatternParts> pattern_parts(const std::string& pattern);
std::string pattern_text(const PatternParts& parts);

}  // namespace shardscape
