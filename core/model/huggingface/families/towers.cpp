#include "model/huggingface/families/towers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/library.h"
#include "model/model_limits.h"

namespace shardscape::hf {
namespace {

// The architecture of the library that adds the tower to that of the language model.
void add_tower(HfReader& vision, Family& language, const char* tower) {
  std::string accepted;
  for (const Architecture& with : ModelLibrary::instance().architectures()) {
    if (with.tower.id != tower || with.language.empty()) continue;
    if (with.language == language.model.architecture) {
      language.model.architecture = with.id;
      return;
    }
    accepted += (accepted.empty() ? "a language model of architecture " : " or ") + with.language;
  }
  vision.problem(ProblemCode::HfUnsupportedVariant, "model_type",
                 "the vision tower is not supported with a language model of architecture " +
                     language.model.architecture,
                 accepted);
}

void tower_head_dim(HfReader& vision, ModelSpec& m, const char* hidden_key) {
  if (m.vision_hidden % m.vision_heads != 0)
    vision.problem(ProblemCode::HfSizesContradict, hidden_key,
                   "the hidden size " + std::to_string(m.vision_hidden) + " does not split over " +
                       std::to_string(m.vision_heads) + " heads",
                   "a multiple of the heads");
  m.vision_head_dim = std::max<int64_t>(1, m.vision_hidden / m.vision_heads);
}

// Sizes under the names that CLIP's config has in transformers.
void clip_sizes(HfReader& vision, ModelSpec& m) {
  vision.size(&ModelSpec::vision_layers, "num_hidden_layers");
  vision.size(&ModelSpec::vision_hidden, "hidden_size");
  vision.size(&ModelSpec::vision_heads, "num_attention_heads");
  tower_head_dim(vision, m, "hidden_size");
  vision.size(&ModelSpec::vision_ffn, "intermediate_size");
  vision.size(&ModelSpec::vision_patch, "patch_size");
}

// Both are sizes of the language model, which the projector reads.
void same_as(HfReader& vision, const char* key, int64_t wanted, const char* what) {
  if (vision.absent(key)) return;
  if (vision.number(key, what, wanted, what) != wanted)
    vision.problem(ProblemCode::HfSizesContradict, key,
                   std::string(what) + " is " + vision.shown(key) + ", not " + std::to_string(wanted),
                   std::to_string(wanted));
}

// The tower of Qwen3-VL and Qwen3.5 (transformers, modeling_qwen3_vl.py).
void qwen_sizes(HfReader& vision, ModelSpec& m) {
  vision.size(&ModelSpec::vision_layers, "depth");
  vision.size(&ModelSpec::vision_hidden, "hidden_size");
  vision.size(&ModelSpec::vision_heads, "num_heads");
  tower_head_dim(vision, m, "hidden_size");
  vision.size(&ModelSpec::vision_ffn, "intermediate_size");
  vision.size(&ModelSpec::vision_positions, "num_position_embeddings");
  vision.size(&ModelSpec::vision_patch, "patch_size");
  vision.size(&ModelSpec::vision_frames, "temporal_patch_size", 2, "the default of this family");
  const int64_t side = vision.number("spatial_merge_size", "side of a token in patches", 2,
                                     "the default of this family");
  m.vision_merge = side * side;
  same_as(vision, "in_channels", 3, "colours per pixel");
  same_as(vision, "out_hidden_size", m.hidden, "hidden size of the language model");
  vision.activation({"hidden_act"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  if (!vision.absent("model_type")) vision.recognise("model_type", "vision tower");
}

constexpr const char* kDeepStack = "deepstack_visual_indexes";

// Three DeepStack mergers next to the merger.
void qwen3_vl(HfReader& vision, Family& language) {
  qwen_sizes(vision, language.model);
  const json* deepstack = vision.value(kDeepStack);
  if (deepstack && deepstack->is_array() && deepstack->size() == 3)
    vision.recognise(kDeepStack, "3 DeepStack mergers, which run in the projector");
  else
    vision.problem(ProblemCode::HfUnsupportedVariant, kDeepStack,
                   "the tower supports only three DeepStack mergers", "a list of three layers");
  add_tower(vision, language, "qwen3-vl");
}

void qwen3_5(HfReader& vision, Family& language) {
  qwen_sizes(vision, language.model);
  const json* deepstack = vision.value(kDeepStack);
  if (deepstack && *deepstack != json::array())
    vision.problem(ProblemCode::HfUnsupportedVariant, kDeepStack,
                   "the tower of this family does not support DeepStack mergers", "an empty list");
  else if (deepstack)
    vision.recognise(kDeepStack, "no DeepStack mergers");
  add_tower(vision, language, "qwen3.5");
}

// MoonViT of Kimi K2.5 (modeling_kimi_k25.py): a table of 64 x 64 positions; a norm after the last layer.
void moonvit(HfReader& vision, ModelSpec& m) {
  vision.size(&ModelSpec::vision_layers, "vt_num_hidden_layers");
  vision.size(&ModelSpec::vision_hidden, "vt_hidden_size");
  vision.size(&ModelSpec::vision_heads, "vt_num_attention_heads");
  vision.size(&ModelSpec::vision_ffn, "vt_intermediate_size");
  vision.size(&ModelSpec::vision_patch, "patch_size");
  m.vision_positions = vision.number("init_pos_emb_height", "rows of positions") *
                       vision.number("init_pos_emb_width", "columns of positions");
  m.vision_frames = 1;
  m.vision_merge = 4;
  const json* merged = vision.value("merge_kernel_size");
  if (merged && *merged == json::array({2, 2}))
    vision.recognise("merge_kernel_size", "patches of a token (Mv)");
  else
    vision.problem(ProblemCode::HfUnsupportedVariant, "merge_kernel_size",
                   "the projector of this family merges 2 x 2 patches", "[2, 2]");
  same_as(vision, "mm_hidden_size", m.vision_hidden, "hidden size of the vision tower (D_vision)");
  same_as(vision, "text_hidden_size", m.hidden, "hidden size of the language model");
  for (const char* key : {"init_pos_emb_time", "merge_type", "video_attn_type", "pos_emb_type"})
    if (!vision.absent(key)) vision.ignore(key, "frames of videos; the tower reads single images");
  vision.activation({"projector_hidden_act"}, {"gelu"}, "gelu");
}

void kimi_k25(HfReader& vision, Family& language) {
  moonvit(vision, language.model);
  tower_head_dim(vision, language.model, "vt_hidden_size");
  add_tower(vision, language, "moonvit");
}

// MoonViT of Kimi K3: RMS norms, no biases, and heads that are together wider than the hidden size.
void kimi_k3(HfReader& vision, Family& language) {
  ModelSpec& m = language.model;
  moonvit(vision, m);
  const int64_t width = vision.number("qkv_hidden_size", "heads together", m.vision_hidden,
                                      "the hidden size");
  if (width % m.vision_heads != 0)
    vision.problem(
        ProblemCode::HfSizesContradict, "qkv_hidden_size",
        std::to_string(width) + " does not split over " + std::to_string(m.vision_heads) + " heads",
        "a multiple of the heads");
  m.vision_head_dim = std::max<int64_t>(1, width / m.vision_heads);
  for (const char* key : {"attn_bias", "linear_bias", "patch_embed_proj_bias"})
    vision.only(key, false, kNoBias);
  only_text(vision, "norm_type", "rmsnorm", "RMS norms");
  only_text(vision, "mlp_type", "mlp2", "an MLP of two projections");
  only_text(vision, "mm_projector_type", "patchmergerv2", "projector");
  vision.activation({"activation_func"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  add_tower(vision, language, "moonvit-k3");
}

// Patches along a side of an image, from sizes in pixels.
int64_t patches_of_side(HfReader& vision, const ModelSpec& m, std::optional<int64_t> usual) {
  return vision.number("image_size", "pixels per side", usual, "as in the released models") /
         std::max<int64_t>(1, m.vision_patch);
}

// Gemma 4 (modeling_gemma4.py of transformers): a table for columns and one for rows of patches, and pooling.
void gemma4(HfReader& vision, Family& language) {
  ModelSpec& m = language.model;
  vision.size(&ModelSpec::vision_layers, "num_hidden_layers");
  vision.size(&ModelSpec::vision_hidden, "hidden_size");
  vision.size(&ModelSpec::vision_heads, "num_attention_heads");
  if (vision.absent("head_dim"))
    tower_head_dim(vision, m, "hidden_size");
  else
    vision.size(&ModelSpec::vision_head_dim, "head_dim");
  same_as(vision, "num_key_value_heads", m.vision_heads, "attention heads of the vision tower");
  same_as(vision, "global_head_dim", m.vision_head_dim, "head size of the vision tower");
  vision.size(&ModelSpec::vision_ffn, "intermediate_size");
  vision.size(&ModelSpec::vision_patch, "patch_size", 16, kFamilyDefault);
  vision.size(&ModelSpec::vision_positions, "position_embedding_size", 10240, kFamilyDefault);
  m.vision_frames = 1;
  const int64_t side = vision.number("pooling_kernel_size", "side of a token in patches", 3, kFamilyDefault);
  m.vision_merge = side * side;
  vision.only("attention_bias", false, kNoBias);
  vision.activation({"hidden_activation"}, {"gelu_pytorch_tanh"}, "gelu_pytorch_tanh");
  const bool standardised = vision.flag("standardize", "stored means and deviations", false, kFamilyDefault);
  if (vision.flag("use_clipped_linears", "projections with bounds", false, kFamilyDefault) == standardised)
    vision.problem(
        ProblemCode::HfUnsupportedVariant, "standardize",
        "towers without bounds and stored deviations, or with both, are not supported in this family",
        "the opposite of \"use_clipped_linears\"");
  if (!vision.absent("model_type")) vision.recognise("model_type", "vision tower");
  for (const char* key : {"default_output_length", "max_position_embeddings"})
    if (!vision.absent(key)) vision.ignore(key, "the workload sets the size of images");
  add_tower(vision, language, standardised ? "gemma4" : "gemma4-clipped");
}

// Llama 4 (modeling_llama4.py of transformers): one class token; sizes are those of Scout and Maverick.
void llama4(HfReader& vision, Family& language) {
  constexpr const char* kReleased = "as in the released models";
  ModelSpec& m = language.model;
  vision.size(&ModelSpec::vision_layers, "num_hidden_layers", 34, kReleased);
  vision.size(&ModelSpec::vision_hidden, "hidden_size", 1408, kReleased);
  vision.size(&ModelSpec::vision_heads, "num_attention_heads", 16, kReleased);
  tower_head_dim(vision, m, "hidden_size");
  vision.size(&ModelSpec::vision_ffn, "intermediate_size", 5632, kReleased);
  vision.size(&ModelSpec::vision_patch, "patch_size", 14, kReleased);
  const int64_t side = patches_of_side(vision, m, 336);
  m.vision_positions = side * side + 1;
  m.vision_frames = 1;
  m.vision_merge = 4;
  if (const json* ratio = vision.value("pixel_shuffle_ratio"); ratio && *ratio != json(0.5))
    vision.problem(ProblemCode::HfUnsupportedVariant, "pixel_shuffle_ratio",
                   "the projector of this family merges 2 x 2 patches", "0.5");
  else if (ratio)
    vision.recognise("pixel_shuffle_ratio", "patches of a token (Mv)");
  vision.size(&ModelSpec::vision_projector, "projector_input_dim", 4096, kReleased);
  for (const char* key : {"projector_output_dim", "vision_output_dim"})
    same_as(vision, key, m.vision_projector, "inner width of the projector (Wp)");
  same_as(vision, "num_channels", 3, "colours per pixel");
  vision.activation({"hidden_act"}, {"gelu"}, "gelu");
  add_tower(vision, language, "llama4");
}

// MiniMax-M3: a CLIP tower with rotary positions alone; patches are projected before they are merged.
void minimax_m3(HfReader& vision, Family& language) {
  ModelSpec& m = language.model;
  clip_sizes(vision, m);
  constexpr const char* kCompression = "img_token_compression_config";
  only_text(vision, "img_token_compression_config.image_token_compression_method", "patch_merge",
            "patches are merged");
  const int64_t side = vision.number("img_token_compression_config.spatial_merge_size",
                                     "side of a token in patches", 2, "the default of this family");
  m.vision_merge = side * side;
  vision.size(&ModelSpec::vision_frames, "img_token_compression_config.temporal_patch_size", 2,
              "the default of this family");
  if (!language.around->absent(kCompression))
    language.around->ignore(kCompression, "\"vision_config\" has this value");
  only_text(vision, "position_embedding_type", "rope", "rotary positions");
  same_as(vision, "projection_dim", m.hidden, "hidden size of the language model");
  language.around->size(&ModelSpec::vision_projector, "projector_hidden_size", m.hidden,
                        "the hidden size of the language model");
  language.around->only("multimodal_projector_bias", true,
                        "a projector without biases is not supported in this family");
  language.around->activation({"projector_hidden_act"}, {"gelu"}, "gelu");
  same_as(vision, "num_channels", 3, "colours per pixel");
  vision.activation({"hidden_act"}, {"gelu"}, "gelu");
  if (!vision.absent("model_type")) vision.recognise("model_type", "vision tower");
  add_tower(vision, language, "minimax-m3");
}

// Step-3.7: a perception encoder and two convolutions that make one token of 4 x 4 patches.
void step3p7(HfReader& vision, Family& language) {
  ModelSpec& m = language.model;
  vision.size(&ModelSpec::vision_layers, "layers");
  vision.size(&ModelSpec::vision_hidden, "width");
  vision.size(&ModelSpec::vision_heads, "heads");
  tower_head_dim(vision, m, "width");
  const json* ratio = vision.value("mlp_ratio");
  const double width = ratio && ratio->is_number()
                           ? ratio->get<double>() * static_cast<double>(m.vision_hidden)
                           : 0;
  if (width < 1 || width > kMaxFfn)
    vision.problem(ProblemCode::HfSizeInvalid, "mlp_ratio",
                   "\"mlp_ratio\", the FFN size / hidden size, is " + vision.shown("mlp_ratio"),
                   "a number such as 4.0");
  else
    vision.recognise("mlp_ratio", "FFN size of the vision tower (F_vision)");
  m.vision_ffn = static_cast<int64_t>(std::llround(std::clamp(width, 1.0, static_cast<double>(kMaxFfn))));
  vision.size(&ModelSpec::vision_patch, "patch_size");
  const int64_t side = patches_of_side(vision, m, {});
  m.vision_positions = side * side;
  m.vision_frames = 1;
  m.vision_merge = 16;
  for (const char* key : {"use_ln_pre", "use_abs_posemb", "use_rope2d"})
    vision.only(key, true, "the tower of this family requires it");
  vision.only("use_ln_post", false, "a norm after the last layer is not supported in this family");
  if (vision.absent("ls_init_value") || vision.null("ls_init_value"))
    vision.problem(ProblemCode::HfUnsupportedVariant, "ls_init_value",
                   "layers without scales are not supported in this family", "a number, such as 0.1");
  else
    vision.recognise("ls_init_value", "sublayers have scales");
  same_as(*language.around, "understand_projector_stride", 2, "stride of the convolutions");
  language.around->only("projector_bias", false, kNoBias);
  same_as(vision, "num_channels", 3, "colours per pixel");
  vision.activation({"hidden_act"}, {"quick_gelu", "gelu"}, "quick_gelu");
  if (!vision.absent("model_type")) vision.recognise("model_type", "vision tower");
  add_tower(vision, language, "perception");
}

// SigLIP of Gemma 3: the projector averages the patches of an image to "mm_tokens_per_image" tokens.
void gemma3_siglip(HfReader& vision, Family& language) {
  ModelSpec& m = language.model;
  clip_sizes(vision, m);
  const int64_t side = vision.number("image_size", "pixels per side") / std::max<int64_t>(1, m.vision_patch);
  m.vision_positions = side * side;
  m.vision_frames = 1;
  const int64_t tokens = language.around->number("mm_tokens_per_image", "tokens of an image", 256,
                                                 "the default of this family");
  m.vision_merge = std::max<int64_t>(1, m.vision_positions / std::max<int64_t>(1, tokens));
  same_as(vision, "num_channels", 3, "colours per pixel");
  if (!vision.absent("model_type")) vision.recognise("model_type", "vision tower");
  add_tower(vision, language, "siglip");
}

constexpr TowerRow kTowerRows[] = {
    {"gemma3", gemma3_siglip},  {"gemma4", gemma4},       {"kimi_k25", kimi_k25},
    {"kimi_k3", kimi_k3},       {"llama4", llama4, true}, {"minimax_m3_vl", minimax_m3},
    {"qwen3_5", qwen3_5},       {"qwen3_5_moe", qwen3_5}, {"qwen3_vl", qwen3_vl},
    {"qwen3_vl_moe", qwen3_vl}, {"step3p7", step3p7}};

}  // namespace

const TowerRow* tower_of_type(const std::string& type) {
  const auto it = std::find_if(std::begin(kTowerRows), std::end(kTowerRows),
                               [&](const TowerRow& row) { return row.type == type; });
  return it == std::end(kTowerRows) ? nullptr : &*it;
}

}  // namespace shardscape::hf
