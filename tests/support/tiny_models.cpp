#include "support/tiny_models.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/layer_variant.h"
#include "model/library.h"
#include "model/model_sizes.h"

namespace shardscape::test {
namespace {

using M = ModelSpec;

constexpr int64_t kConvolvedPatches = 16;  // that a tower with two convolutions merges into a token

// A larger value of the same size in another kind of layers: twice, three times as much for each smaller one.
int64_t tiny_value(const SmallSize& size, int64_t value, const std::set<int64_t>& all) {
  return size.tiny * (1 + std::distance(all.begin(), all.find(value)));
}

// The kinds of layers that the model has, in the order of their first layers, at most two of one kind of the
// architecture.
std::vector<LayerVariant> kinds_of(const ModelSpec& model, const Architecture& architecture) {
  const ModelLayers all = layers_of(model, architecture);
  std::vector<LayerVariant> out;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    const int kind = all.lead >= 0 && layer < model.dense_layers ? all.lead
                                                                 : all.pattern.at(layer, model.layers);
    const LayerVariant& variant = all.kinds[static_cast<size_t>(kind)];
    if (std::find(out.begin(), out.end(), variant) != out.end()) continue;
    if (std::count_if(out.begin(), out.end(), [&](const auto& v) { return v.kind == variant.kind; }) < 2)
      out.push_back(variant);
  }
  return out;
}

void shrink_sizes(ModelSpec& model) {
  const ModelSpec whole = model;
  for (const SmallSize& size : small_sizes()) {
    const int row = size_row(size.member);
    std::set<int64_t> all;
    if (whole.*size.member > 0) all.insert(whole.*size.member);
    for (const LayerVariant& v : whole.variants)
      if (v.sizes.count(row) && v.sizes.at(row) > 0) all.insert(v.sizes.at(row));
    if (whole.*size.member > 0) model.*size.member = tiny_value(size, whole.*size.member, all);
    for (LayerVariant& v : model.variants)
      if (v.sizes.count(row) && v.sizes.at(row) > 0) v.sizes[row] = tiny_value(size, v.sizes.at(row), all);
  }
  if (whole.kv_heads == whole.heads || whole.kv_rank > 0) model.kv_heads = model.heads;
  if (whole.kv_heads == 1) model.kv_heads = 1;
  if (whole.vision_merge == kConvolvedPatches) {
    model.vision_merge = kConvolvedPatches;
    model.vision_positions = kConvolvedPatches;
  }
  if (whole.linear_value_heads == whole.linear_key_heads) model.linear_value_heads = model.linear_key_heads;
  model.experts_per_token = std::min(whole.experts_per_token, model.experts_per_token);
  model.expert_groups = model.groups_per_token = 1;
  model.index_dim = whole.q_rank > 0 && whole.index_dim > 0 ? 128 : model.index_dim;  // of the kernels
}

}  // namespace

const std::vector<SmallSize>& small_sizes() {
  static const std::vector<SmallSize> sizes{{&M::layers, 2, {1, 2, 3, 4, 6, 8}},
                                            {&M::hidden, 16, {16, 32, 48, 64}},
                                            {&M::heads, 4, {2, 4, 8}},
                                            {&M::kv_heads, 2},
                                            {&M::head_dim, 4, {4, 8, 16}},
                                            {&M::ffn, 24, {24, 32, 48, 64}},
                                            {&M::vocab, 40, {40, 51, 64, 128}},
                                            {&M::positions, 32, {64, 128}},
                                            {&M::window, 3, {1, 3, 8, 100}},
                                            {&M::attention_chunk, 4, {1, 3, 8, 100}},
                                            {&M::experts, 4, {4, 6, 8}},
                                            {&M::experts_per_token, 2, {1, 2, 3}},
                                            {&M::expert_ffn, 8, {8, 12, 16}},
                                            {&M::expert_groups, 1},
                                            {&M::groups_per_token, 1},
                                            {&M::shared_experts, 1, {1, 2, 4}},
                                            {&M::dense_layers, 1, {0, 1, 2}},
                                            {&M::q_rank, 6, {0, 6, 12}},
                                            {&M::kv_rank, 5, {8, 10}},
                                            {&M::rope_head_dim, 2, {2, 4}},
                                            {&M::nope_head_dim, 4, {4, 8}},
                                            {&M::value_head_dim, 3, {4, 6}},
                                            {&M::mtp_layers, 1, {0, 1, 2}},
                                            {&M::ssm_state, 3, {4, 8}},
                                            {&M::ssm_conv, 3, {3, 4}},
                                            {&M::ssm_expand, 2, {1, 2}},
                                            {&M::ssm_dt_rank, 2, {2, 3}},
                                            {&M::ssm_head_dim, 4, {4, 8}},
                                            {&M::ssm_groups, 4, {1, 2, 4}},
                                            {&M::ssm_chunk, 4, {4, 8, 64}},
                                            {&M::ssm_heads, 8},
                                            {&M::shared_ffn, 12},
                                            {&M::latent_ffn, 6, {6, 8, 12}},
                                            {&M::zero_experts, 4, {2, 4}},
                                            {&M::index_heads, 2},
                                            {&M::index_dim, 4},
                                            {&M::index_top_k, 3},
                                            {&M::index_block, 2},
                                            {&M::compress_ratio, 2, {2, 4}},
                                            {&M::output_groups, 4, {1, 2, 4}},
                                            {&M::output_rank, 3, {3, 8}},
                                            {&M::block_layers, 2},
                                            {&M::streams, 3},
                                            {&M::linear_key_heads, 4},
                                            {&M::linear_value_heads, 8},
                                            {&M::linear_key_dim, 4, {4, 6, 8}},
                                            {&M::linear_value_dim, 3, {3, 4, 8}},
                                            {&M::linear_conv, 3, {1, 3, 4}},
                                            {&M::linear_chunk, 4},
                                            {&M::linear_norm_groups, 4},
                                            {&M::gate_rank, 3, {2, 3, 8}},
                                            {&M::vision_layers, 2},
                                            {&M::vision_hidden, 8},
                                            {&M::vision_heads, 4},
                                            {&M::vision_head_dim, 2},
                                            {&M::vision_ffn, 12},
                                            {&M::vision_positions, 9},
                                            {&M::vision_patch, 1},
                                            {&M::vision_frames, 1},
                                            {&M::vision_merge, 4},
                                            {&M::vision_projector, 12},
                                            {&M::per_layer_dim, 3}};
  return sizes;
}

Design tiny_preset(const std::string& preset) {
  Design d = default_design();
  if (!apply_preset(d, preset)) throw std::invalid_argument("there is no preset " + preset);
  d.parallel = {};
  ModelSpec& model = d.model;
  const Architecture& architecture = *ModelLibrary::instance().architecture(model.architecture);
  model.variants = kinds_of(model, architecture);
  model.layer_pattern.clear();
  shrink_sizes(model);
  model.layers = std::max<int64_t>(2, static_cast<int64_t>(model.variants.size()));
  model.dense_layers = 0;
  for (LayerVariant& v : model.variants) {
    model.layer_pattern += (model.layer_pattern.empty() ? "" : ", ") + v.name;
    v.formats = {};
  }
  if (model.variants.size() == 1) model.layer_pattern += "*";
  std::erase_if(model.variants, [](const LayerVariant& v) { return v.sizes.empty() && v.name == v.kind; });
  model.weight_formats = {};
  model.mtp_layers = architecture.mtp.lines.empty() ? 0 : 1;
  d.workload = {};
  d.workload.seq = model.experts > 0 ? 16 : 8;  // every expert gets whole tokens from every rank
  d.workload.batch = 4;
  d.workload.microbatch = d.workload.vocab_multiple = 1;
  if (model.vision_layers == 0) return d;
  d.workload.images = 2;
  d.workload.frames = model.vision_merge == kConvolvedPatches ? 1 : 2;
  d.workload.image_size = model.vision_merge == kConvolvedPatches ? 4 : 2;
  return d;
}

std::vector<std::string> presets_by_architecture() {
  std::set<std::string> seen;
  std::vector<std::string> out;
  for (const Preset& preset : ModelLibrary::instance().presets())
    if (seen.insert(preset.model.architecture).second) out.push_back(preset.id);
  return out;
}

}  // namespace shardscape::test
