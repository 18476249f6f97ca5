// What the families of config.json share: the keys of their sizes and the defaults of absent keys. Defaults
// are those of the configuration classes of the transformers library, version 4.
#pragma once

#include "model/huggingface/hf_reader.h"

namespace shardscape::hf {

// Where a value comes from that a file leaves out.
inline constexpr const char* kFamilyDefault = "the default of this family";

using json = nlohmann::ordered_json;

// A file of one family and the model that it becomes.
struct Family {
  const char* type;  // of the row in the registry
  HfReader& in;
  HfReader* around;  // of the whole file, where `in` reads one of several models; otherwise null
  ModelSpec& model;
  int64_t& context;  // longest sequence that the file states
};

inline constexpr const char* kNoBias = "biases of the projections are not supported in this family";

// A file of several models may say it outside of the language model.
void tied(Family& f, bool fallback);
// The head size hidden / heads. Without "head_dim" in the file, the heads must divide the hidden size.
int64_t even_head_dim(Family& f, const char* hidden_key);
// The keys that Llama and related families share. head_dim: default of "head_dim"; nullopt: hidden / heads.
// inner: the field that "intermediate_size" sets; nullptr if no layer is a dense MLP.
void llama_sizes(Family& f, std::optional<int64_t> head_dim, bool tied_by_default,
                 int64_t ModelSpec::*inner = &ModelSpec::ffn);
void silu(Family& f);
// Reads a number that may be 0; an absent key also means 0.
void count(Family& f, int64_t ModelSpec::*field, const char* key, const char* none);
// Routed experts. experts_key: the family's name of their number. other_key: another name that transformers
// also writes.
void routed_experts(Family& f, const char* experts_key, const char* other_key, int64_t experts,
                    int64_t per_token);
// The texts of a list; none for anything else.
std::vector<std::string> texts_of(const json* list);
// Numbers of a list that has one entry per layer; zeros and a problem for anything else.
std::vector<int64_t> per_layer_numbers(Family& f, const char* key, const char* becomes);
// A text of which only one value has blocks.
void only_text(HfReader& in, const char* key, const char* accepted, const char* becomes);
// The kinds of layers that "layer_types" lists: sliding or full. Without the list: the usual ones.
std::vector<std::string> listed_layers(Family& f, std::vector<std::string> usual);
// Sizes of latent attention (DeepSeek-V2). The number of KV heads equals the number of heads.
void latent_sizes(Family& f);
// Qwen files have a window and a switch for it. The switch is off in every released dense model.
void switched_window(Family& f);
// Experts with the keys of the DeepSeek families (deepseek.cpp). Returns false if the file has no experts.
bool deepseek_experts(Family& f);
// Heads of which a part is rotated: "partial_rotary_factor", or "rotary_dim" in numbers. usual: the factor
// without a key.
void rotated_part(Family& f, double usual);
// Requires that sliding and full attention alternate. An absent key means the same.
void windows_alternate(Family& f);

}  // namespace shardscape::hf
