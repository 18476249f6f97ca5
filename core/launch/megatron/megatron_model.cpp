// Sizes and architecture of a Megatron-LM launch. Defaults: megatron/training/arguments.py and
// megatron/core/transformer/transformer_config.py of d98e8a6.
#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>

#include "launch/megatron/megatron_fields.h"

#include "base/real_text.h"
#include "launch/megatron/model_arguments.h"

namespace shardscape {
namespace {

constexpr int64_t kGpt2Vocabulary = 50257;

class ModelReader {
 public:
  explicit ModelReader(MegatronFields& fields) : f_(fields) {}

  void run() {
    sizes();
    vocabulary();
    blocks();
    prediction_and_window();
    positions();
  }

 private:
  void sizes() {
    const int64_t hidden = f_.number("--hidden-size", 0), heads = f_.number("--num-attention-heads", 1);
    f_.set("layers", f_.number("--num-layers", 0), "--num-layers");
    f_.set("hidden", hidden, "--hidden-size");
    f_.set("heads", heads, "--num-attention-heads");
    const int64_t groups = f_.number("--num-query-groups", heads);  // read only with group-query-attention
    const bool grouped = f_.on("--group-query-attention") && !f_.on("--multi-latent-attention");
    if (!grouped) f_.ignore("--num-query-groups", "read only with --group-query-attention");
    f_.derive("kv_heads", std::to_string(grouped ? groups : heads), "--num-query-groups",
              "as many as heads without --group-query-attention", "megatron/training/arguments.py:2382");
    f_.derive("head_dim", std::to_string(f_.number("--kv-channels", hidden / std::max<int64_t>(heads, 1))),
              "--kv-channels", "hidden size / heads", "megatron/training/arguments.py:1333");
    constexpr int64_t kMultiple = 64;
    const int64_t otherwise = f_.on("--swiglu") ? 8 * hidden / 3 / kMultiple * kMultiple : 4 * hidden;
    ffn_ = f_.number("--ffn-hidden-size", otherwise);
    f_.derive("ffn", std::to_string(ffn_), "--ffn-hidden-size",
              "4 x hidden size; with --swiglu 8/3 x hidden size, rounded down to a multiple of 64",
              "megatron/training/arguments.py:1327");
    f_.set("seq", f_.number("--seq-length", 0), "--seq-length");
    f_.set("tied_embeddings", f_.on("--untie-embeddings-and-output-weights") ? "false" : "true",
           "--untie-embeddings-and-output-weights");
    f_.set("clip_grad_norm", f_.positive("--clip-grad", "1.0") ? "true" : "false", "--clip-grad");
  }

  // A padded vocabulary is not padded again.
  void vocabulary() {
    const std::string tokenizer = f_.text("--tokenizer-type").value_or("GPT2BPETokenizer");
    if (f_.has("--padded-vocab-size")) {
      f_.set("vocab", f_.number("--padded-vocab-size", 0), "--padded-vocab-size");
      f_.set("vocab_multiple", 1, "--padded-vocab-size");
      (void)f_.text("--vocab-size");
      (void)f_.text("--make-vocab-size-divisible-by");
      return;
    }
    entries(tokenizer);
    if (f_.number("--extra-vocab-size", 0) != 0)  // of Pai-Megatron-Patch
      f_.unmapped("--extra-vocab-size", "added to a vocabulary that only the tokenizer knows");
    f_.set("vocab_multiple", f_.number("--make-vocab-size-divisible-by", 128),
           "--make-vocab-size-divisible-by");
  }

  // Without --vocab-size, the name of the tokenizer says its entries.
  void entries(const std::string& tokenizer) {
    const std::string size = "--vocab-size", name = f_.text("--tokenizer-model").value_or("");
    if (tokenizer == "NullTokenizer" && f_.has(size))
      return f_.conclude("vocab", std::to_string(f_.number(size, kGpt2Vocabulary - 1) + 1), size,
                         "a NullTokenizer adds a token for the end of documents",
                         "megatron/training/tokenizer/tokenizer.py, _NullTokenizer");
    if (f_.has(size) || tokenizer == "GPT2BPETokenizer")
      return f_.set("vocab", f_.number(size, kGpt2Vocabulary), size);
    if (const int64_t known = tokenizer_entries(name); known > 0)
      return f_.conclude("vocab", std::to_string(known), size, "of the tokenizer " + name,
                         "config.json of the model");
    const std::string reason = "the launch does not give the vocabulary of a " + tokenizer;
    f_.unmapped("--tokenizer-type", reason);
    f_.assume("vocab", std::to_string(kGpt2Vocabulary), size, reason + "; the design has that of GPT-2");
  }

  void blocks() {
    const std::string positions = f_.text("--position-embedding-type").value_or("learned_absolute");
    const bool rotary = f_.on("--use-rotary-position-embeddings");
    rope_ = positions == "rope" || positions == "yarn" || rotary;
    if (!rope_ && positions != "learned_absolute")
      f_.unmapped("--position-embedding-type", "\"" + positions + "\" is not learned_absolute, rope or yarn");
    const bool gated = f_.on("--swiglu"), unbiased = f_.on("--disable-bias-linear");
    const std::string norm = f_.text("--normalization").value_or("LayerNorm");
    const int64_t experts = f_.number("--num-experts", 0);
    const bool latent = f_.on("--multi-latent-attention");
    const bool modern = norm == "RMSNorm" && rope_ && gated && unbiased;
    if (experts > 0) f_.set("experts", experts, "--num-experts");
    if (experts == 0)
      for (const char* pattern : {"--moe-*", "--expert-*", "--overlap-moe-*"})
        f_.ignore(pattern, "the model has no experts");
    if (!latent)
      for (const char* argument :
           {"--q-lora-rank", "--kv-lora-rank", "--qk-head-dim", "--qk-pos-emb-head-dim", "--v-head-dim"})
        f_.ignore(argument, "read only with --multi-latent-attention");
    if (modern)
      f_.set_architecture(experts > 0 ? mixture(latent) : dense(latent), "--normalization");
    else
      classic(norm, gated, unbiased, experts);
  }

  std::string dense(bool latent) {
    if (latent) f_.unmapped("--multi-latent-attention", "latent attention is known only with experts");
    if (f_.on("--qk-layernorm")) return "qwen3";
    if (f_.on("--add-qkv-bias")) return "qwen2";
    return f_.has("--window-size") ? "mistral" : "llama";
  }

  void prediction_and_window() {
    if (const int64_t layers = f_.number("--mtp-num-layers", 0); layers > 0)
      f_.set_effective("mtp_layers", std::to_string(layers), "--mtp-num-layers");
    const std::string argument = "--window-size";
    const auto text = f_.text(argument);
    if (!text) return;
    // "127,0": so many keys before the query's own and after it; -1: all.
    std::string digits = *text;
    for (char& c : digits)
      if (c == ',' || c == '(' || c == ')') c = ' ';
    std::istringstream in(digits);
    int64_t before = 0, after = 0;
    if (!(in >> before >> after) || !(in >> std::ws).eof() || after != 0 || before < 0)
      return f_.misread(argument, "\"" + *text + "\" is not LEFT,0");
    if (before < f_.design().workload.seq) f_.set_effective("window", std::to_string(before + 1), argument);
  }

  // LayerNorm, or blocks without a gate or with biases.
  void classic(const std::string& norm, bool gated, bool unbiased, int64_t experts) {
    if (norm == "RMSNorm")
      return f_.unmapped("--normalization", "RMSNorm is known only with rope, SwiGLU and without biases");
    if (experts > 0) f_.unmapped("--num-experts", "experts are known only with RMSNorm, rope and SwiGLU");
    if (f_.on("--squared-relu")) {
      if (!rope_ || !unbiased || gated)
        f_.unmapped("--squared-relu", "known only with rope, without biases and without a gate");
      return f_.set_architecture("nemotron4", "--squared-relu");
    }
    std::string options;
    for (const auto& [chosen, option] : {std::pair{rope_, "rope"}, {gated, "swiglu"}, {unbiased, "unbiased"}})
      if (chosen) options += (options.empty() ? "; " : ", ") + std::string(option);
    f_.set_architecture("gpt" + options, "--normalization");
  }

  std::string mixture(bool latent) {
    f_.set("experts_per_token", f_.number("--moe-router-topk", 2), "--moe-router-topk");
    const int64_t width = f_.number("--moe-ffn-hidden-size", ffn_);
    f_.derive("expert_ffn", std::to_string(width), "--moe-ffn-hidden-size", "the width of dense layers",
              "megatron/training/arguments.py:1651");
    if (f_.has("--moe-router-num-groups")) {
      f_.set("expert_groups", f_.number("--moe-router-num-groups", 1), "--moe-router-num-groups");
      f_.set("groups_per_token", f_.number("--moe-router-group-topk", 1), "--moe-router-group-topk");
    }
    const int64_t lead = leading_dense_layers();
    if (lead > 0) f_.set("dense_layers", lead, "--moe-layer-freq");
    const int64_t shared = shared_width(width);
    const bool sigmoid = f_.text("--moe-router-score-function").value_or("softmax") == "sigmoid";
    (void)f_.on("--moe-router-enable-expert-bias");
    (void)f_.on("--moe-grouped-gemm");  // as the kernel profiles compute experts
    if (latent) {
      latent_attention();
      (void)f_.on("--qk-layernorm");
      return sigmoid ? "deepseek3" : "deepseek2";
    }
    const bool qk_norm = f_.on("--qk-layernorm"), qkv_bias = f_.on("--add-qkv-bias");
    if (sigmoid)
      return std::string("glm4-moe") + (qkv_bias || qk_norm ? "; " : "") + (qkv_bias ? "qkv_bias" : "") +
             (qkv_bias && qk_norm ? ", " : "") + (qk_norm ? "qk_norm" : "");
    const bool gated = f_.on("--moe-shared-expert-gate");
    if (shared > 0 && qk_norm)
      f_.unmapped("--qk-layernorm", "norms of queries and keys are not known with shared experts");
    if (shared > 0 && gated) return "qwen2-moe";
    if (qkv_bias)
      f_.unmapped("--add-qkv-bias", "biases of queries, keys and values are not known with these experts");
    if (shared > 0) return "deepseek-moe";
    if (lead > 0)
      f_.unmapped("--moe-layer-freq", "dense layers at the start are known only with shared experts");
    return qk_norm ? "qwen3-moe" : "mixtral";
  }

  // Shared experts together have this width; the knob counts experts of the routed width.
  int64_t shared_width(int64_t width) {
    const std::string argument = "--moe-shared-expert-intermediate-size";
    const int64_t shared = f_.number(argument, 0);
    if (shared == 0) return 0;
    if (width > 0 && shared % width == 0) {
      f_.set("shared_experts", shared / width, argument);
    } else {
      f_.set("shared_experts", 1, argument);
      f_.set("shared_ffn", shared, argument);
    }
    return shared;
  }

  // "([0]*3+[1]*58)": layers without experts come first. "1": all layers have experts.
  int64_t leading_dense_layers() {
    const std::string argument = "--moe-layer-freq", given = f_.text(argument).value_or("1");
    if (given == "1") return 0;
    std::string text;  // "[0, 1, 1]" is "[0]+[1]+[1]"
    for (const char c : given) text += c == ',' ? "]+[" : c == ' ' ? "" : std::string(1, c);
    int64_t counts[2] = {0, 0};
    size_t at = 0;
    const auto skip = [&](const char* signs) {
      while (at < text.size() && std::string_view(signs).find(text[at]) != std::string_view::npos) ++at;
    };
    bool known = true, experts_begun = false;
    for (skip("( "); at < text.size() && known; skip("+ )")) {
      const bool with_experts = text.compare(at, 3, "[1]") == 0;
      known = (with_experts || text.compare(at, 3, "[0]") == 0) && (with_experts || !experts_begun);
      if (!known) break;
      at += 3;
      int64_t count = 1;
      if (at < text.size() && text[at] == '*') {
        const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), count);
        known = error == std::errc() && count >= 0 && count <= f_.design().model.layers;
        at = static_cast<size_t>(end - text.data());
      }
      counts[with_experts] += count;
      experts_begun = experts_begun || (with_experts && count > 0);
    }
    if (known && counts[0] + counts[1] == f_.design().model.layers) return counts[0];
    f_.unmapped(argument, "\"" + given + "\" is not 1 or ([0]*n+[1]*m) with n dense layers at the start");
    return 0;
  }

  void latent_attention() {
    const auto size = [&](const char* knob, const char* argument, int64_t otherwise) {
      f_.set(knob, f_.number(argument, otherwise), argument);
    };
    size("q_rank", "--q-lora-rank", 0);
    size("kv_rank", "--kv-lora-rank", 32);
    size("nope_head_dim", "--qk-head-dim", 128);
    size("rope_head_dim", "--qk-pos-emb-head-dim", 64);
    size("value_head_dim", "--v-head-dim", 128);
    for (const char* argument :
         {"--rotary-scaling-factor", "--mscale", "--mscale-all-dim", "--original-max-position-embeddings"})
      (void)f_.text(argument);  // factors of the rotation, not its operations
  }

  void positions() {
    if (!rope_) f_.set("positions", f_.number("--max-position-embeddings", 0), "--max-position-embeddings");
    if (rope_) f_.set("positions", 0, "--position-embedding-type");
    (void)f_.text("--max-position-embeddings");  // rope does not read it
    const std::string percent = f_.text("--rotary-percent").value_or("1.0");
    if (parse_real(percent) != 1) f_.unmapped("--rotary-percent", "the rotation covers whole heads");
  }

  MegatronFields& f_;
  bool rope_ = false;
  int64_t ffn_ = 0;
};

}  // namespace

void read_megatron_model(MegatronFields& fields) { ModelReader(fields).run(); }

}  // namespace shardscape
