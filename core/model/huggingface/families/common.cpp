#include "model/huggingface/families/common.h"

#include "base/wide.h"

namespace shardscape::hf {

void tied(Family& f, bool fallback) {
  constexpr const char* kKey = "tie_word_embeddings";
  const bool outside = f.around && f.in.absent(kKey) && !f.around->absent(kKey);
  f.model.tied_embeddings = (outside ? *f.around : f.in)
                                .flag(kKey, "tied embeddings", fallback, "the default of this family");
}

int64_t even_head_dim(Family& f, const char* hidden_key) {
  const ModelSpec& m = f.model;
  if (m.hidden % m.heads != 0)
    f.in.problem(ProblemCode::HfSizesContradict, hidden_key,
                 "the hidden size " + std::to_string(m.hidden) + " does not split over " +
                     std::to_string(m.heads) + " heads",
                 "a multiple of the heads, or a head size in \"head_dim\"");
  return m.hidden / m.heads;
}

void llama_sizes(Family& f, std::optional<int64_t> head_dim, bool tied_by_default,
                 int64_t ModelSpec::*inner) {
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "hidden_size");
  const int64_t heads = f.in.size(&ModelSpec::heads, "num_attention_heads");
  f.in.size(&ModelSpec::kv_heads, "num_key_value_heads", heads, "as many as attention heads");
  if (!head_dim && (f.in.absent("head_dim") || f.in.null("head_dim")))
    head_dim = even_head_dim(f, "hidden_size");
  f.in.size(&ModelSpec::head_dim, "head_dim", head_dim,
            head_dim == hidden / heads ? "hidden size / heads" : "the default of this family");
  if (inner)
    f.in.size(inner, "intermediate_size");
  else if (!f.in.absent("intermediate_size"))
    f.in.ignore("intermediate_size", "size of dense layers; this model has none");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, tied_by_default);
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
}

void silu(Family& f) { f.in.activation({"hidden_act"}, {"silu", "swish"}, "silu"); }

void count(Family& f, int64_t ModelSpec::*field, const char* key, const char* none) {
  const json* found = f.in.value(key);
  if (found && (found->is_null() || *found == 0)) return f.in.recognise(key, none);
  if (found) f.in.size(field, key);
}

void routed_experts(Family& f, const char* experts_key, const char* other_key, int64_t experts,
                    int64_t per_token) {
  const bool other = f.in.absent(experts_key) && !f.in.absent(other_key);
  f.in.size(&ModelSpec::experts, other ? other_key : experts_key, experts, kFamilyDefault);
  if (!other && !f.in.absent(other_key))
    f.in.ignore(other_key, std::string("\"") + experts_key + "\" has this value");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok", per_token, kFamilyDefault);
  for (const char* key : {"router_jitter_noise", "router_z_loss_coef"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant");
}

std::vector<std::string> texts_of(const json* list) {
  std::vector<std::string> out;
  if (list && list->is_array())
    for (const json& entry : *list)
      if (entry.is_string()) out.push_back(entry.get<std::string>());
  return out;
}

std::vector<std::string> listed_layers(Family& f, std::vector<std::string> usual) {
  const json* types = f.in.value("layer_types");
  if (!types || types->is_null()) return usual;
  std::vector<std::string> out;
  for (const std::string& name : texts_of(types)) {
    if (static_cast<int64_t>(out.size()) == f.model.layers) break;
    if (name != "sliding_attention" && name != "full_attention") break;
    out.push_back(name.substr(0, name.find('_')));
  }
  if (static_cast<int64_t>(out.size()) == f.model.layers) {
    f.in.recognise("layer_types", "kinds of layers");
    return out;
  }
  f.in.problem(ProblemCode::HfUnsupportedVariant, "layer_types",
               "the value does not name the attention of every layer",
               std::to_string(f.model.layers) + " entries, each sliding_attention or full_attention");
  return usual;
}

std::vector<int64_t> per_layer_numbers(Family& f, const char* key, const char* becomes) {
  const json* list = f.in.value(key);
  std::vector<int64_t> out;
  for (size_t i = 0; list && list->is_array() && i < list->size(); ++i)
    if ((*list)[i].is_number_integer()) out.push_back((*list)[i].get<int64_t>());
  if (static_cast<int64_t>(out.size()) == f.model.layers) {
    f.in.recognise(key, becomes);
    return out;
  }
  f.in.problem(ProblemCode::HfUnsupportedVariant, key, "the value has no entry for each layer",
               "a list of " + std::to_string(f.model.layers) + " numbers, 0 or 1");
  return std::vector<int64_t>(static_cast<size_t>(f.model.layers));
}

void only_text(HfReader& in, const char* key, const char* accepted, const char* becomes) {
  if (in.absent(key) || in.null(key)) return;
  if (in.text_or(key, "") == accepted) return in.recognise(key, becomes);
  in.problem(ProblemCode::HfUnsupportedVariant, key, in.shown(key) + " is not supported in this family",
             accepted);
}

void switched_window(Family& f) {
  if (f.in.value("use_sliding_window") && *f.in.value("use_sliding_window") == json(true)) {
    f.in.assume("use_sliding_window", "false",
                "a window only on upper layers is not supported: all layers attend to the whole sequence");
  } else if (!f.in.absent("use_sliding_window")) {
    f.in.recognise("use_sliding_window", "every layer attends to the whole sequence");
  }
  for (const char* key : {"sliding_window", "max_window_layers", "layer_types"})
    if (!f.in.absent(key)) f.in.ignore(key, "no layer has sliding-window attention");
}

void rotated_part(Family& f, double usual) {
  constexpr const char* kNote = "rotary part of a head (Er)";
  if (!f.in.absent("rotary_dim")) {
    f.in.size(&ModelSpec::rope_head_dim, "rotary_dim");
    return;
  }
  for (const char* key : {"partial_rotary_factor", "rope_parameters.partial_rotary_factor"})
    if (const json* factor = f.in.value(key); factor && factor->is_number()) {
      f.model.rope_head_dim = whole_int64(static_cast<double>(f.model.head_dim) * factor->get<double>());
      return f.in.recognise(key, kNote);
    }
  f.model.rope_head_dim = static_cast<int64_t>(static_cast<double>(f.model.head_dim) * usual);
  f.in.assume("partial_rotary_factor", std::to_string(f.model.rope_head_dim) + " numbers of a head",
              "the default of this family");
}

void windows_alternate(Family& f) {
  const json* types = f.in.value("layer_types");
  if (!types || types->is_null()) return;
  bool alternate = types->is_array();
  for (size_t i = 0; alternate && i < types->size(); ++i)
    alternate = (*types)[i] == (i % 2 == 0 ? "sliding_attention" : "full_attention");
  if (alternate) return f.in.recognise("layer_types", "sliding and full attention alternate");
  f.in.problem(ProblemCode::HfUnsupportedVariant, "layer_types",
               "the layers do not alternate between sliding and full attention",
               "sliding_attention, full_attention, sliding_attention, ...");
}

}  // namespace shardscape::hf
