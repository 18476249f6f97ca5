#include "model/model_sizes.h"

namespace shardscape {

std::string_view model_section_label(ModelSection section) {
  switch (section) {
    case ModelSection::Size: return "Size";
    case ModelSection::Attention: return "Attention";
    case ModelSection::Mlp: return "MLP";
    case ModelSection::Experts: return "Experts";
    case ModelSection::Embeddings: return "Embeddings";
    case ModelSection::LatentAttention: return "Latent attention";
    case ModelSection::SparseAttention: return "Sparse attention";
    case ModelSection::MultiToken: return "Multi-token prediction";
    case ModelSection::StateSpace: return "State space";
    case ModelSection::LinearAttention: return "Linear attention";
    case ModelSection::Streams: return "Residual streams";
    case ModelSection::Vision: return "Vision tower";
  }
  return "";
}

const ModelSize* find_model_size(std::string_view id) {
  const auto* size = std::find_if(kModelSizes.begin(), kModelSizes.end(),
                                  [&](const ModelSize& row) { return row.id == id; });
  return size == kModelSizes.end() ? nullptr : size;
}

}  // namespace shardscape
