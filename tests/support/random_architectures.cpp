#include "support/random_architectures.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <vector>

#include "model/library.h"
#include "model/model_sizes.h"
#include "support/tiny_models.h"

namespace shardscape::test {
namespace {

using Words = std::vector<std::string>;

// Of each list at most one, because they say different things of the same tensor. The empty word: none.
const std::vector<Words> kAttentionOptions = {{"", "qkv_bias"},
                                              {"", "out_bias"},
                                              {"", "qk_norm", "all_norm"},
                                              {"", "rope", "rope, part_rope", "alibi"},
                                              {"", "unit_norm"},
                                              {"", "v_norm", "key_as_value"},
                                              {"", "gate", "head_gate"},
                                              {"", "chunk", "window"},
                                              {"", "soft_cap"},
                                              {"", "sink"}};
const std::vector<Words> kExpertOptions = {
    {"", "sigmoid", "sqrt_softplus"}, {"", "raw"}, {"", "relu2", "limit", "clamp"}, {"", "balance"}};

class Composer {
 public:
  explicit Composer(std::mt19937& random) : random_(random) {}

  std::string text(const std::string& id) {
    frame_ = chance(70) ? Frame::Plain : chance(50) ? Frame::Streams : Frame::Blocks;
    linear_ = one_of({"gated_delta_net", "kimi_delta_attention", "kimi_delta_attention; bounded, full_gate",
                      "lightning_attention", "rotary_lightning_attention"});
    sparse_ = one_of({"sparse_latent_attention", "block_sparse_attention",
                      "block_sparse_attention; part_rope", "compressed_attention",
                      "compressed_attention; compress", "compressed_attention; compress, pick"});
    mamba_ = one_of({"mamba_mixer", "jamba_mixer", "mamba2_mixer"});
    weighed_ = chance(20);
    norm_ = one_of({"rms_norm", "layer_norm", "unbiased_layer_norm"});
    const int kinds = 1 + static_cast<int>(below(4));
    std::string layers, pattern, starts;
    for (int i = 0; i < kinds; ++i) {
      const std::string name = "kind" + std::to_string(i);
      const Words lines = layer();
      append(layers, "\"" + name + "\": [" + listed(lines) + "]");
      append(pattern, "\"" + name + "\"");
      if (frame_ != Frame::Blocks) continue;
      Words start = lines;
      for (std::string& line : start)
        if (line.starts_with("h = residual_accumulate")) line.replace(0, 23, "h = residual_append");
      append(layers, "\"start" + std::to_string(i) + "\": [" + listed(start) + "]");
      append(starts, "\"" + name + "\": \"start" + std::to_string(i) + "\"");
    }
    const std::string stream = frame_ == Frame::Streams
                                   ? "\"stream\": [\"batch\", \"seq\", \"streams\", \"hidden\"], "
                               : frame_ == Frame::Blocks
                                   ? "\"stream\": [\"batch\", \"seq\", \"residual_blocks\", \"hidden\"], "
                                   : "";
    const Words first = embedding(), last = head();
    return "{\"architecture\": \"" + id + "\", " + stream + "\"embedding\": [" + listed(first) +
           "], \"layers\": {" + layers + "}, \"pattern\": [" + pattern + "], " +
           (starts.empty() ? "" : "\"block_start\": {" + starts + "}, ") + "\"head\": [" + listed(last) +
           "]" + prediction() + "}";
  }

 private:
  enum class Frame { Plain, Streams, Blocks };

  size_t below(size_t n) { return random_() % n; }
  bool chance(size_t percent) { return below(100) < percent; }
  std::string one_of(const Words& words) { return words[below(words.size())]; }
  static void append(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  }
  static std::string listed(const Words& lines) {
    std::string out;
    for (const std::string& line : lines) append(out, "\"" + line + "\"");
    return out;
  }
  std::string options(const std::vector<Words>& groups) {
    std::string out;
    for (const Words& group : groups)
      if (const std::string word = one_of(group); !word.empty()) append(out, word);
    return out.empty() ? "" : "; " + out;
  }
  // "mlp = gated_mlp(n)", from "gated_mlp; option".
  static std::string call(const std::string& name, const std::string& block, const std::string& input) {
    const size_t end = block.find(';');
    return name + " = " + block.substr(0, end) + "(" + input +
           (end == std::string::npos ? "" : block.substr(end)) + ")";
  }

  std::string mixer() {
    switch (below(8)) {
      case 0: return linear_;
      case 1: return sparse_;
      case 2: return mamba_;
      case 3:
        return one_of({"latent_attention", "direct_query_latent_attention"}) +
               options({{"", "unrotated"}, {"", "gate"}});
      case 4: return "value_dim_attention" + options({{"", "window"}, {"", "sink"}});
      default: return "self_attention" + options(kAttentionOptions);
    }
  }
  std::string routed() {
    if (weighed_) return "routed_experts; weighed" + options(kExpertOptions).replace(0, 1, ",");
    switch (below(6)) {
      case 0: return one_of({"moe", "bias_moe", "balanced_moe", "sigmoid_moe"});
      case 1: return "latent_experts" + options({{"", "relu2", "situ"}, {"", "norm"}});
      case 2: return "routed_experts; identity, raw, balance";
      case 3: return "routed_experts; hash, sqrt_softplus";
      default: return "routed_experts" + options(kExpertOptions);
    }
  }
  // Lines from `in` to the result `f` of a feed-forward block.
  Words feed_forward(const std::string& in) {
    if (chance(50))
      return {call("f",
                   one_of({"gated_mlp", "geglu_mlp", "plain_mlp", "unbiased_mlp", "relu2_mlp", "situ_mlp",
                           "clamped_mlp", "limited_mlp", "biased_gated_mlp"}),
                   in)};
    if (!weighed_ && chance(15)) return {"f = scaled_moe(" + in + ", " + in + ")"};
    std::string experts = routed();
    if (experts.ends_with(",")) experts.pop_back();
    if (chance(50)) return {call("f", experts, in)};
    return {call("e", experts, in),
            call("s",
                 one_of({"shared_mlp", "shared_mlp; situ", "shared_mlp; clamp", "shared_mlp; limit",
                         "gated_shared_mlp", "relu2_shared_mlp"}),
                 in),
            "f = residual(e, s)"};
  }
  // Lines that add `branch` to `x`.
  static std::string residual(const std::string& out, const std::string& x, const std::string& branch) {
    return out + " = residual(" + x + ", " + branch + ")";
  }
  // Norms before, after, or before and after each sublayer; attention and feed-forward side by side; or one
  // mixer alone, with a number for the whole layer or for its branch.
  Words plain_layer() {
    Words out;
    const auto add = [&](const Words& lines) { out.insert(out.end(), lines.begin(), lines.end()); };
    switch (below(5)) {
      case 0:
        add({"n1 = " + norm_ + "(x)", call("a", mixer(), "n1")});
        add(feed_forward("n1"));
        add({residual("b", "a", "f"), residual("y", "x", "b")});
        break;
      case 1:
        add({call("a", mixer(), "x"), "n1 = " + norm_ + "(a)", residual("h", "x", "n1")});
        add(feed_forward("h"));
        add({"n2 = " + norm_ + "(f)", residual("y", "h", "n2")});
        break;
      case 2:
        add({"n1 = " + norm_ + "(x)", call("a", mixer(), "n1"), "n2 = " + norm_ + "(a)",
             residual("h", "x", "n2"), "n3 = " + norm_ + "(h)"});
        add(feed_forward("n3"));
        add({"n4 = " + norm_ + "(f)", residual("z", "h", "n4"), "y = layer_scalar(z)"});
        break;
      case 3:
        add({"n1 = " + norm_ + "(x)", call("a", mixer(), "n1"), "m = residual_scale(a)",
             residual("y", "x", "m")});
        break;
      default:
        add({"n1 = " + norm_ + "(x)", call("a", mixer(), "n1"), "d = dropout(a)", residual("h", "x", "d"),
             "n2 = " + norm_ + "(h)"});
        add(feed_forward("n2"));
        add({residual("y", "h", "f")});
    }
    return out;
  }
  Words layer() {
    if (frame_ == Frame::Plain) return plain_layer();
    const bool blocks = frame_ == Frame::Blocks;
    const auto read = [&](const std::string& n, const std::string& x) -> Words {
      if (blocks) return {"r" + n + " = residual_attention(" + x + ")"};
      return {"q" + n + " = stream_mean_square(" + x + ")", "p" + n + " = stream_projection(" + x + ")",
              "r" + n + " = stream_read(" + x + ", p" + n + ", q" + n + ")"};
    };
    const auto write = [&](const std::string& out, const std::string& n, const std::string& x,
                           const std::string& branch) {
      return blocks ? out + " = residual_accumulate(" + x + ", " + branch + ")"
                    : out + " = stream_write(" + x + ", p" + n + ", q" + n + ", " + branch + ")";
    };
    Words out = read("1", "x");
    const auto add = [&](const Words& lines) { out.insert(out.end(), lines.begin(), lines.end()); };
    add({"n1 = " + norm_ + "(r1)", call("a", mixer(), "n1"), write("h", "1", "x", "a")});
    add(read("2", "h"));
    add({"n2 = " + norm_ + "(r2)"});
    add(feed_forward("n2"));
    add({write("y", "2", "h", "f")});
    return out;
  }
  Words embedding() {
    Words out{"e0 = token_embedding()"};
    std::string last = "e0";
    const auto then = [&](const std::string& block) {
      const std::string next = "e" + std::to_string(out.size());
      out.push_back(call(next, block, last));
      last = next;
    };
    if (chance(30)) then("embedding_scale");
    if (chance(20)) then("learned_positions");
    if (chance(20)) then("dropout");
    if (frame_ == Frame::Streams) then("stream_copies");
    return out;
  }
  Words head() {
    Words out;
    if (frame_ == Frame::Streams) out.push_back("c = stream_collapse(x)");
    if (frame_ == Frame::Blocks) out.push_back("c = residual_attention(x)");
    out.push_back("n = " + norm_ + (frame_ == Frame::Plain ? "(x)" : "(c)"));
    out.push_back("l0 = lm_head(n)");
    std::string last = "l0";
    for (const char* block : {"logit_scale", "logit_soft_cap"})
      if (chance(25)) {
        out.push_back(call(std::string("l_") + block, block, last));
        last = std::string("l_") + block;
      }
    out.push_back("loss = cross_entropy(" + last + ")");
    return out;
  }
  std::string prediction() {
    if (frame_ == Frame::Blocks || !chance(35)) return "";
    const bool streams = frame_ == Frame::Streams;
    Words lines{"e = token_embedding()",
                streams ? "x = stream_mtp_projection(x, e)"
                        : "x = " + one_of({"mtp_projection", "mtp_sum_projection"}) + "(n, e)"};
    for (const std::string& line : layer()) lines.push_back(line);
    if (streams) lines.push_back("c = stream_collapse(y)");
    lines.push_back("n = " + norm_ + (streams ? "(c)" : "(y)"));
    lines.push_back("logits = " + one_of({"lm_head", "own_lm_head"}) + "(n)");
    lines.push_back("further = cross_entropy(logits)");
    lines.push_back("loss = mtp_loss(loss, further)");
    return ", \"mtp\": [" + listed(lines) + "]";
  }

  std::mt19937& random_;
  Frame frame_ = Frame::Plain;
  std::string linear_, sparse_, mamba_, norm_;  // one family per architecture, because they share sizes
  bool weighed_ = false;                        // a token has one expert
};

// Blocks that a text calls, and options of them.
std::set<std::string> called_blocks(const std::string& architecture) {
  const std::regex kCall("= ([a-z0-9_]+)\\(([^)]*)\\)");
  std::set<std::string> out;
  for (std::sregex_iterator at(architecture.begin(), architecture.end(), kCall), end; at != end; ++at) {
    const std::string block = (*at)[1], args = (*at)[2];
    out.insert(block);
    const size_t options = args.find(';');
    if (options == std::string::npos) continue;
    const std::regex kWord("[a-z0-9_]+");
    const std::string words = args.substr(options);
    for (std::sregex_iterator word(words.begin(), words.end(), kWord), last; word != last; ++word)
      out.insert(block + "; " + word->str());
  }
  return out;
}

}  // namespace

std::string random_architecture(const std::string& id, std::mt19937& random) {
  return Composer(random).text(id);
}

ComposedArchitectures compose_architectures(const std::string& home, int count, unsigned seed) {
  const std::filesystem::path folder = std::filesystem::path(home) / "shardscape/models/architectures";
  std::filesystem::create_directories(folder);
  ::setenv("XDG_DATA_HOME", home.c_str(), 1);
  std::mt19937 random(seed);
  ComposedArchitectures out;
  for (int i = 0; i < count; ++i) {
    out.ids.push_back("composed-" + std::to_string(i));
    const std::string text = random_architecture(out.ids.back(), random);
    std::ofstream(folder / (out.ids.back() + ".json")) << text;
    out.calls.merge(called_blocks(text));
  }
  for (const Problem& problem : ModelLibrary::instance().problems())
    throw std::runtime_error(to_string(problem));
  return out;
}

Design composed_design(const std::string& id) {
  const Architecture* architecture = ModelLibrary::instance().architecture(id);
  if (!architecture) throw std::invalid_argument("there is no architecture " + id);
  Design d;
  d.model.preset = "";
  d.model.architecture = id;
  d.model.hidden = 16;
  d.model.vocab = 40;
  const bool experts = architecture->uses(Axis::Experts);
  for (const SmallSize& small : small_sizes()) {
    const ModelSize& size = model_size(small.member);
    const bool of_experts = size.section == ModelSection::Experts && !size.part.axis;
    if (size.part.axis ? architecture->uses(*size.part.axis) : of_experts && experts)
      d.model.*small.member = small.tiny;
  }
  ModelSpec& m = d.model;
  m.dense_layers = m.ssm_heads = m.shared_experts = 0;
  m.positions = architecture->uses(Axis::Positions) ? 32 : 0;
  m.window = 3;
  m.attention_chunk = 4;
  if (architecture->uses(Axis::KvRank) || architecture->uses(Axis::OutputGroups)) m.kv_heads = m.heads;
  if (architecture->uses(Axis::IndexHeads)) {
    m.index_heads = 2;
    m.index_dim = 128;
    m.index_top_k = 3;
    m.index_block = 0;
  } else if (architecture->uses(Axis::IndexDim)) {
    m.index_top_k = m.index_block = 2;
  }
  if (architecture->ops.contains("weigh_tokens")) m.experts_per_token = 1;
  if (!architecture->block_start.empty()) m.block_layers = 2;
  if (!architecture->mtp.lines.empty()) m.mtp_layers = 1;
  m.layers = std::max<int64_t>(2, static_cast<int64_t>(architecture->pattern.size()));
  d.workload.seq = 16;
  d.workload.batch = 4;
  d.workload.microbatch = d.workload.vocab_multiple = 1;
  return d;
}

}  // namespace shardscape::test
