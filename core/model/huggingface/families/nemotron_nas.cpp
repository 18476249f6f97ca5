// Llama-Nemotron (DeciLM): a search chose each layer's KV heads and FFN size, or left a part out.
#include <algorithm>
#include <set>

#include "base/wide.h"
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"
#include "model/model_sizes.h"

namespace shardscape::hf {
namespace {

// 2/3 of the multiple of the hidden size, rounded up to 256 (find_multiple in modeling_decilm.py).
int64_t ffn_width(double multiple, int64_t hidden) {
  constexpr double kMost = 1e15;  // no model permits more
  const int64_t wide = whole_int64(std::min(2 * multiple * static_cast<double>(hidden) / 3, kMost));
  return (wide + 255) / 256 * 256;
}

class Blocks {
 public:
  explicit Blocks(Family& f) : f_(f) {}

  void read(const json& blocks) {
    for (const json& block : blocks) {
      const json attention = block.value("attention", json::object()),
                 ffn = block.value("ffn", json::object());
      if (refused(attention, "attention") || refused(ffn, "ffn")) return;
      LayerVariant variant;
      if (!attention.value("no_op", false)) {
        const int64_t group = attention.contains("n_heads_in_group") &&
                                      attention["n_heads_in_group"].is_number()
                                  ? attention["n_heads_in_group"].get<int64_t>()
                                  : 1;
        if (group < 1 || f_.model.heads % group != 0)
          return wrong("\"n_heads_in_group\" does not divide the heads");
        size(variant, &ModelSpec::kv_heads, f_.model.heads / group, "kv");
      }
      if (!ffn.value("no_op", false)) {
        if (!ffn.contains("ffn_mult") || !ffn["ffn_mult"].is_number())
          return wrong("\"ffn_mult\" is not a number");
        size(variant, &ModelSpec::ffn, ffn_width(ffn["ffn_mult"].get<double>(), f_.model.hidden), "ffn");
      }
      if (variant.sizes.empty()) return wrong("the value has a layer without attention and MLP");
      variant.kind = variant.sizes.size() == 2         ? "layer"
                     : attention.value("no_op", false) ? "mlp"
                                                       : "attention";
      variant.name = variant.kind + "_" + variant.name;
      if (names_.insert(variant.name).second) f_.model.variants.push_back(variant);
      layers_.push_back(variant.name);
    }
    f_.model.layer_pattern = layer_pattern_text(layers_);
    f_.in.recognise("block_configs", std::to_string(names_.size()) + " kinds of layers");
  }

 private:
  void size(LayerVariant& to, int64_t ModelSpec::*member, int64_t value, const char* word) {
    to.sizes[size_row(member)] = value;
    to.name += (to.name.empty() ? "" : "_") + std::string(word) + std::to_string(value);
    f_.model.*member = std::max(f_.model.*member, value);
  }
  bool refused(const json& part, const char* name) {
    for (const char* key : {"replace_with_linear", "sparsify", "window_length", "num_sink_tokens"})
      if (part.contains(key) && !part[key].is_null() && part[key] != json(false)) {
        wrong(std::string("\"") + key + "\" of \"" + name + "\" is not supported");
        return true;
      }
    return false;
  }
  void wrong(const std::string& what) {
    f_.in.problem(ProblemCode::HfUnsupportedVariant, "block_configs", what,
                  "blocks of attention with KV heads and an MLP, or of one of the two");
  }

  Family& f_;
  std::set<std::string> names_;
  std::vector<std::string> layers_;
};

}  // namespace

void nemotron_nas(Family& f) {
  f.model.architecture = "nemotron-nas";
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::heads, "num_attention_heads");
  f.model.head_dim = even_head_dim(f, "hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.only("mlp_bias", false, kNoBias);
  for (const char* key : {"num_key_value_heads", "intermediate_size"})
    if (!f.in.absent(key)) f.in.ignore(key, "\"block_configs\" has a value for each layer");
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
  const json* blocks = f.in.value("block_configs");
  if (blocks && blocks->is_array() && static_cast<int64_t>(blocks->size()) == f.model.layers)
    return Blocks(f).read(*blocks);
  f.in.problem(ProblemCode::HfSizesContradict, "block_configs",
               "the value is not a list with one entry for each layer",
               "a list of " + std::to_string(f.model.layers) + " blocks");
}

}  // namespace shardscape::hf
