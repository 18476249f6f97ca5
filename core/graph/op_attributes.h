// Attributes that only ops of some kinds have: one struct per family of kinds (OpFamily).
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "mesh/placement.h"

namespace shardscape {

// Attention whose K and V move round a ring of ranks. Zigzag: see ContextMode.
enum class Ring : uint8_t { None, Plain, Zigzag };

struct RopeAttributes {
  bool part = false;     // rotates the first Er numbers of every head; the others stay
  bool inverse = false;  // rotates back
};

struct AttentionAttributes {
  bool causal = false;    // keys after the query are masked
  bool window = false;    // keys further back than the window are masked
  bool chunk = false;     // keys outside of the query's chunk are masked
  bool packed = false;    // keys outside of the query's document are masked
  bool soft_cap = false;  // scores pass a tanh
  bool alibi = false;     // scores fall with distance
  bool block = false;     // index_top_k picks blocks of Bi keys, and attention reads these blocks
  Ring ring = Ring::None;
};

struct SwiGluAttributes {
  // As in gpt-oss: the gate is at most 7 and is multiplied by sigmoid(1.702 · gate); the other operand is
  // limited to [-7, 7], plus 1.
  bool clamp = false;
  // As in DeepSeek-V4 (swiglu_limit): the gate is at most 10, the other operand is limited to [-10, 10].
  bool limit = false;
  // SiTU of Kimi K3: silu(gate) becomes 4 tanh(gate / 4) sigmoid(gate); the other operand is capped smoothly
  // as 25 tanh(up / 25).
  bool situ = false;
};

// Weights of residual streams (arXiv 2512.24880). Of the projections [pre, post, mix] of a sublayer, the
// weights with which it reads the streams come from the first part. post: the weights with which it writes to
// them, from the second part, twice as large.
struct StreamGateAttributes {
  bool post = false;
};

// The scores of a router. Without a flag: softmax over the scores of the selected experts.
struct RouterAttributes {
  bool sigmoid = false;
  bool sqrt_softplus = false;  // sqrt(log(1 + exp(x))) (DeepSeek-V4, arXiv 2606.19348)
  // The weights are the scores themselves, for softmax over all experts. Otherwise the weights of a token add
  // up to 1.
  bool raw = false;
};

// The state S [value dim, key dim] of a value head. Each scan has one of the flags.
//   delta:   S = exp(g) S (I - beta k k^T) + beta v k^T, g one number per head (Gated DeltaNet, arXiv
//            2412.06464, eq. 10)
//   channel: as delta, with one decay per key channel (Kimi Delta Attention, arXiv 2510.26692, eq. 1)
//   fixed:   S = exp(-slope) S + v k^T, the slope a constant of the head (MiniMax-01, arXiv 2501.08313,
//            section 2.2)
// The result is S q. With a delta rule the kernel divides q and k by their length.
struct LinearScanAttributes {
  bool delta = false, channel = false, fixed = false;
  bool has_delta_rule() const { return delta || channel; }
};

struct DecayGateAttributes {
  // -5 sigmoid(exp(a_log) (a + dt_bias)) (Kimi K3) instead of -exp(a_log) softplus(a + dt_bias).
  bool bounded = false;
};

// Collectives and local slices.
struct Redistribution {
  MeshAxes group;  // mesh axes of the ranks that take part
  int dim = -1;    // all-gather: dimension joined; reduce-scatter, slice: dimension split
  // All-to-all: dimension split, while dim is joined. dim_to -1: each rank is sent a copy. dim -1: arriving
  // parts are summed. Both serve B and C of a mixer group whose heads are spread over cp.
  int dim_to = -1;
  Reduce reduce = Reduce::Sum;
  std::string why{};  // explanation with producer's placement, consumer's placement and rule
  uint32_t input_at = 0, input_size = 0;  // the part of `why` that is the name of the input
};
// `why` with another name for the input.
std::string why_with_name(const Redistribution& by, std::string_view input);

// monostate: the op has no attributes.
using OpAttributes = std::variant<std::monostate, RopeAttributes, AttentionAttributes, SwiGluAttributes,
                                  StreamGateAttributes, RouterAttributes, LinearScanAttributes,
                                  DecayGateAttributes, Redistribution>;

// Sets the flag that a word after the letters of a block template names: part, inverse (rope); causal,
// window, chunk, soft_cap, alibi, block (attention); clamp, limit, situ (swiglu); post (stream_gate);
// sigmoid, sqrt_softplus, raw (routers); delta, channel, fixed (linear_scan); bounded (decay_gate). False,
// and no change, for any other word and for a word of another family than that of the words before.
bool set_attribute(OpAttributes& attributes, std::string_view word);

}  // namespace shardscape
