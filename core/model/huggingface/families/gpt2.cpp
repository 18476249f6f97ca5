// GPT-2 and MPT.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
void gpt2(Family& f) {
  f.model.architecture = "gpt";
  f.in.size(&ModelSpec::layers, "n_layer");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "n_embd");
  f.model.kv_heads = f.in.size(&ModelSpec::heads, "n_head");
  f.model.head_dim = even_head_dim(f, "n_embd");
  f.in.size(&ModelSpec::ffn, "n_inner", 4 * hidden, "4 x hidden size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  f.context = f.in.size(&ModelSpec::positions, "n_positions");
  if (!f.in.absent("n_ctx")) f.in.ignore("n_ctx", "\"n_positions\" has this value");
  tied(f, true);
  f.in.activation({"activation_function"}, {"gelu_new", "gelu", "gelu_fast", "gelu_pytorch_tanh"},
                  "gelu_new");
  f.in.only("add_cross_attention", false, "attention to an encoder is not supported");
}

void mpt(Family& f) {
  f.in.size(&ModelSpec::layers, "n_layers");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "d_model");
  f.model.kv_heads = f.in.size(&ModelSpec::heads, "n_heads");
  f.model.head_dim = even_head_dim(f, "d_model");
  f.model.ffn = hidden *
                f.in.number("expansion_ratio", "FFN size / hidden size", 4, "the default of this family");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, true);
  const bool no_bias = f.in.flag("no_bias", "no biases", true, "the default of this family");
  const bool alibi = f.in.flag("attn_config.alibi", "ALiBi positions", false, "the default of this family");
  f.context = f.in.number("max_seq_len", alibi ? "longest sequence" : "learned positions (Smax)", 2048,
                          "the default of this family");
  if (alibi && !f.in.absent("learned_pos_emb"))
    f.in.ignore("learned_pos_emb", "ALiBi replaces the table of positions");
  const bool learned = !alibi && f.in.flag("learned_pos_emb", "a table of positions", true,
                                           "the default of this family");
  f.in.only("attn_config.qk_ln", false, "layer norms of queries and keys are not supported in this family");
  f.in.only("attn_config.prefix_lm", false, "attention to a whole prefix is not supported");
  const std::string type = f.in.text_or("attn_config.attn_type", "multihead_attention");
  if (type != "multihead_attention")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "attn_config.attn_type",
                 "\"attn_type\" is \"" + type + "\", which is not supported in this family",
                 "multihead_attention");
  else if (!f.in.absent("attn_config.attn_type"))
    f.in.recognise("attn_config.attn_type", "the supported value");
  if (alibi && no_bias) {
    f.model.architecture = "mpt";
  } else if (learned && !no_bias) {
    f.model.architecture = "gpt";
    f.model.positions = f.context;
  } else {
    f.in.problem(ProblemCode::HfUnsupportedVariant, "no_bias",
                 "this combination of biases and positions is not supported",
                 "ALiBi without biases (\"alibi\": true, \"no_bias\": true), or learned positions with "
                 "biases (\"alibi\": false, \"no_bias\": false)");
  }
}

}  // namespace shardscape::hf
