// Count: the FLOPs of every op, and the bytes that it reads and writes.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"
#include "graph/useful_flops.h"

namespace shardscape {
namespace {

constexpr int64_t kQuantizeFlops = 2;  // per element: largest absolute value, scaling
constexpr int64_t kMergeFlops = 3;     // per part of a softmax: maximum, exponential, sum
// Per element of a SwiGLU, beyond its own. clamp: three comparisons, a multiplication, an addition; limit:
// three comparisons; both as many in the backward. situ: two smooth caps, counted as ops soft_cap.
constexpr int64_t kClampFlops = 5, kLimitFlops = 3, kSituFlops = 10, kSituBackwardFlops = 8;
// Per element of an activation that the weight of its slot multiplies.
constexpr int64_t kWeighFlops = 1, kWeighBackwardFlops = 4, kWeighBiasBackwardFlops = 3;
// Copies written: one scaled along the contraction of this GEMM, one along that of the weight gradient.
constexpr int64_t kQuantizedCopies = 2;

// Product of the local sizes of every letter of the op: its index space on one rank.
Expr index_space(const Segment& s, const Op& op) {
  const OpSpec spec = *parse_op_spec(op.spec);
  std::set<char> seen;
  Expr out(1);
  auto take = [&](const std::string& letters, TensorId id) {
    for (size_t d = 0; d < letters.size(); ++d)
      if (seen.insert(letters[d]).second) out = out * local_size(s.tensor(id), static_cast<int>(d));
  };
  for (size_t i = 0; i < spec.in.size(); ++i) take(spec.in[i], op.inputs[i]);
  take(spec.out, op.outputs[0]);
  return out;
}

// Keys that a query reads at most.
Expr keys_per_query(const Segment& s, const Op& forward) {
  if (compressed_keys(s, forward) >= 0)
    return window_per_query(s, forward) + compressed_per_query(s, forward);
  if (attention_attributes(forward).packed) return document_tokens();
  return picked_keys(s, forward) >= 0 ? picked_per_query(s, forward)
                                      : local_size(s.tensor(forward.inputs[1]), 1);
}

// FLOPs of `with_keys` products with keys and `with_values` products with values, over all scores (queries x
// keys x heads). KV heads are not a separate dimension of the scores.
Expr attention_products(const Segment& s, const Op& op, const Expr& keys, int64_t with_keys,
                        int64_t with_values) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]),
               &v = s.tensor(forward.inputs[2]);
  const Expr scores = local_size(q, 0) * local_size(q, 1) * local_size(q, 2) * keys;
  return Expr(2) * scores *
         (Expr(with_keys) * local_size(k, last_dim(k)) + Expr(with_values) * local_size(v, last_dim(v)));
}

// Share of the scores that the kernels of a ring compute: whole blocks of keys; blocks behind all queries are
// skipped. Rank ic of n computes ic + 1 blocks. Under zigzag it computes its own block and half of each other
// one (Llama team, arXiv 2407.21783, section 3.3.2, for the layout).
Expr ring_part(const Segment& s, const Op& op) {
  static const Expr position{Symbol::intern("ic")};
  const Tensor& q = s.tensor((op.forward >= 0 ? s.op(op.forward) : op).inputs[0]);
  const AttentionAttributes& attributes = attention_attributes(op);
  if (attributes.ring == Ring::None || !attributes.causal) return Expr(1);
  const Expr ranks = q.sizes[1] / local_size(q, 1);
  return attributes.ring == Ring::Zigzag ? (ranks + Expr(1)) / (Expr(2) * ranks)
                                         : (position + Expr(1)) / ranks;
}

// Exact share of the picked scores under a causal mask. The first K of S queries, for K picked keys, see
// 1, 2, ..., K keys, and the others K. Blocks of B keys include that of the query, which sees 1, 2, ..., B
// keys of it. Exact if B divides S.
Expr picked_part(const Segment& s, const Op& forward, const Expr& length) {
  static const Expr block{Symbol::intern("Bi")};
  const Expr keys = picked_per_query(s, forward);
  const Expr others = attention_attributes(forward).block ? keys - (block - Expr(1)) / Expr(2) : keys;
  return rising_pairs(keys, others, length) / (length * keys);
}

// Exact mean of the keys that a query of a sequence sees, in its window and of compressed keys.
Expr compressed_keys_seen(const Segment& s, const Op& forward) {
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]);
  const Expr &length = k.sizes[1], keys = compressed_per_query(s, forward);
  if (!attention_attributes(forward).causal || q.sizes[1] != length) return keys_per_query(s, forward);
  const Expr reach = window_per_query(s, forward);
  return (rising_pairs(reach, reach, length) + compressed_pairs(s, length, keys)) / length;
}

// Exact share of the scores under a causal mask: (S + 1) / (2 S) of all pairs without a window. The scores of
// packed documents are those of each document with itself.
Expr causal_part(const Segment& s, const Op& op, const Expr& all) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]);
  const AttentionAttributes& attributes = attention_attributes(forward);
  if (!attributes.causal || q.sizes[1] != k.sizes[1]) return all;
  const Expr
      length = attributes.packed
                   ? document_tokens()
                   : k.sizes[1];  // if ranks hold parts of the queries, the result is the mean over ranks
  if (picked_keys(s, forward) >= 0) return all * picked_part(s, forward, length);
  if (attributes.window) {
    static const Expr window{Symbol::intern("We")};
    const Expr reach = s.scope.of(window);
    return all * rising_pairs(reach, reach, length) / (length * length);
  }
  if (attributes.chunk) {
    static const Expr chunk{Symbol::intern("Wce")}, whole{Symbol::intern("Wn")};
    return all * chunk_pairs(s.scope.of(chunk), s.scope.of(whole), length) / (length * length);
  }
  // All keys before this rank's block, and its own block under the mask.
  if (attributes.ring == Ring::Plain) {
    static const Expr position{Symbol::intern("ic")};
    const Expr block = attributes.packed ? length * local_size(q, 1) / q.sizes[1] : local_size(q, 1);
    return all * (Expr(2) * position * block + block + Expr(1)) / (Expr(2) * length);
  }
  return all * (length + Expr(1)) / (Expr(2) * length);
}

Expr chunk_tokens(const Segment& s, const Op& op) {
  return s.scope.of(Expr(Symbol::intern(op_traits(op.kind).chunk)));
}

// SSD: a scan in chunks of Qe tokens as matrix products (Dao and Gu, arXiv 2405.21060, section 6), with B and
// C per group and x per head. Forward: C·B within a chunk, its product with x, states of chunks from B and x,
// results from C and states. Backward: C·B and states again, and two products for each of the four. Decode,
// one token, per number of the state: its decay, the step size times B times x, C times the new state, and
// the additions of both products (mamba_ssm, ops/triton/selective_state_update.py).
void count_ssd(const Segment& s, Op& op, bool decodes) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &x = s.tensor(forward.inputs[0]), &b = s.tensor(forward.inputs[3]);
  const Expr state = local_elements(x) * local_size(b, last_dim(b));
  if (decodes) {
    op.flops = op.useful_flops = Expr(6) * state;
    return;
  }
  const Expr chunk = chunk_tokens(s, op);
  const bool backward = op.grad != GradRole::None;
  const Expr scores = Expr(2) * local_elements(b) * chunk, values = Expr(2) * local_elements(x) * chunk;
  const Expr states = Expr(2) * state;
  op.flops = Expr(backward ? 3 : 1) * scores + Expr(backward ? 2 : 1) * values +
             Expr(backward ? 5 : 2) * states;
  // Exact: unmasked scores only, and nothing twice.
  op.useful_flops = Expr(backward ? 2 : 1) *
                    ((scores + values) * (chunk + Expr(1)) / (Expr(2) * chunk) + Expr(2) * states);
}

// Linear attention, per token and value head, with key size k, value size v and chunks of C tokens. With a
// delta rule (Yang et al., arXiv 2412.06464, section 3.3): k·k and q·k 4 C k, the triangular solve for the
// rows that a chunk writes C (k + v), values 2 C v, states read twice and written 6 k v. Fixed decays (Qin et
// al., arXiv 2401.04658, algorithm 1): scores 2 C k, values 2 C v, states 4 k v. The backward computes the
// forward of a chunk again, and two products for each of its products. Decode, one token: the same reads and
// writes of the state, and its decay k v.
void count_linear_scan(const Segment& s, Op& op, bool decodes) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const bool delta = linear_scan_of(forward)->has_delta_rule(), backward = op.grad != GradRole::None;
  const Tensor &q = s.tensor(forward.inputs[0]), &v = s.tensor(forward.inputs[2]);
  const Expr values = local_elements(v),
             keys = values / local_size(v, last_dim(v)) * local_size(q, last_dim(q));
  const Expr state = values * local_size(q, last_dim(q));
  if (decodes) {
    op.flops = op.useful_flops = Expr(delta ? 7 : 4) * state;
    return;
  }
  const Expr chunk = chunk_tokens(s, op);
  const Expr pairs = Expr(delta ? 4 : 2) * chunk * keys + Expr(2) * chunk * values;
  const Expr rest = Expr(delta ? 6 : 4) * state + (delta ? chunk * (keys + values) : Expr());
  op.flops = Expr(backward ? 3 : 1) * (pairs + rest);
  // Exact: unmasked pairs only, and nothing twice. The solve skips masked rows.
  op.useful_flops = Expr(backward ? 2 : 1) * (pairs * (chunk + Expr(1)) / (Expr(2) * chunk) + rest);
}

void count_attention(const Segment& s, Op& op, const KernelProfile& profile) {
  const bool backward = op.grad != GradRole::None;
  // Forward: scores and values. Backward: scores again, then the gradients of values and weights, of queries
  // and keys (Dao et al., arXiv 2205.14135, alg. 4).
  const KernelRule* rule = profile.rule("attention");
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Expr keys = keys_per_query(s, forward);
  op.flops = (backward ? attention_products(s, op, keys, (rule ? rule->backward_products : 5) - 2, 2)
                       : attention_products(s, op, keys, 1, 1)) *
             ring_part(s, op) * seen_of_cache(s, op);
  const int64_t useful = backward ? 2 : 1;
  const auto pairs = pairs_after_cached(s, forward);
  op.useful_flops = compressed_keys(s, forward) >= 0
                        ? attention_products(s, op, compressed_keys_seen(s, forward), useful, useful)
                    : pairs ? attention_products(s, op, *pairs / s.tensor(forward.inputs[0]).sizes[1], useful,
                                                 useful)
                            : causal_part(s, op, attention_products(s, op, keys, useful, useful)) *
                                  seen_of_cache(s, op);
}

// Every query of every head with every key. Adding the weighted scores of the heads is not counted.
void count_index(const Segment& s, Op& op) {
  const Tensor &q = s.tensor(op.inputs[0]), &k = s.tensor(op.inputs[1]);
  op.flops = Expr(2) * local_elements(q) * local_size(k, 1);
  if (const auto pairs = pairs_after_cached(s, op))
    op.useful_flops = Expr(2) * local_elements(q) * *pairs / q.sizes[1];
  else if (k.axes[1] == Axis::Compressed && attention_attributes(op).causal)
    op.useful_flops = op.flops * compressed_pairs(s, q.sizes[1], k.sizes[1]) / (q.sizes[1] * k.sizes[1]);
  else
    op.useful_flops = causal_part(s, op, op.flops);
}

// FLOPs per element that words after the letters add, and the weights of slots of experts. Backward of the
// latter: gradient times weight, and the activation again, times the gradient, summed (weighted_swiglu_back
// in Megatron-core's fused_bias_swiglu.py); of a bias, two products and a sum more than without weights.
int64_t flops_of_words(const Op& op, const Op& forward) {
  const OpTraits& traits = op_traits(op.kind);
  const int64_t weighed = traits.weighs_slots && std::ssize(forward.inputs) > traits.operands
                              ? (op.grad == GradRole::None                      ? kWeighFlops
                                 : traits.gradient == GradientRule::ToParameter ? kWeighBiasBackwardFlops
                                                                                : kWeighBackwardFlops)
                              : 0;
  const SwiGluAttributes* gate = swiglu_of(op);
  if (!gate) return weighed;
  if (gate->situ) return weighed + (op.grad != GradRole::None ? kSituBackwardFlops : kSituFlops);
  return weighed + (gate->clamp ? kClampFlops : gate->limit ? kLimitFlops : 0);
}

// The index space of an op, of which a partial rotation computes Er numbers of every head.
Expr computed_space(const Segment& s, const Op& op) {
  static const Expr rotated{Symbol::intern("Er")};
  const RopeAttributes* rope = rope_of(op);
  if (!rope || !rope->part) return index_space(s, op);
  const Tensor& t = s.tensor(op.inputs[0]);
  Expr out = s.scope.of(rotated);
  for (int d = 0; d < last_dim(t); ++d) out = out * local_size(t, d);
  return out;
}

void count_flops(const Segment& s, Op& op, const KernelProfile& profile, bool decodes) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const auto per_element = [&](const Expr& elements) {
    const KernelRule* rule = profile.rule(std::string(template_name(op.kind)));
    if (!rule) return;
    op.flops = Expr((op.grad != GradRole::None ? rule->backward_flops : rule->flops) +
                    flops_of_words(op, forward)) *
               elements;
  };
  switch (op_traits(op.kind).flops) {
    case FlopsRule::None: return;
    case FlopsRule::Attention: return count_attention(s, op, profile);
    case FlopsRule::IndexScores: return count_index(s, op);
    case FlopsRule::Scan: return count_ssd(s, op, decodes);
    case FlopsRule::LinearScan: return count_linear_scan(s, op, decodes);
    case FlopsRule::Letters: per_element(computed_space(s, forward)); break;
    case FlopsRule::OwnLetters: per_element(index_space(s, op)); break;
    case FlopsRule::Result: per_element(local_elements(s.tensor(forward.outputs[0]))); break;
    case FlopsRule::FirstOperand: per_element(local_elements(s.tensor(forward.inputs[0]))); break;
    case FlopsRule::SecondOperand: per_element(local_elements(s.tensor(forward.inputs[1]))); break;
    case FlopsRule::Contraction: op.flops = Expr(2) * index_space(s, op); break;
    case FlopsRule::Sum:
      op.flops = Expr(static_cast<int64_t>(op.inputs.size()) - 1) * local_elements(s.tensor(op.outputs[0]));
      break;
    case FlopsRule::Merge:
      op.flops = local_elements(s.tensor(op.inputs[0])) +
                 Expr(kMergeFlops) * local_elements(s.tensor(op.inputs[2]));
      break;
    case FlopsRule::Quantize: op.flops = Expr(kQuantizeFlops) * local_elements(s.tensor(op.inputs[0])); break;
  }
  op.useful_flops = op.flops;
}

// Bytes written to a cache. Decode, and prefill after cached tokens: the part of the new tokens. Prefill: the
// part of the prompt that the cache holds.
void count_cache_write(const Segment& s, Op& op) {
  const Tensor &made = s.tensor(op.inputs[0]), &cache = s.tensor(op.outputs[0]);
  const Expr elements = op.inputs.size() > 1 ? local_elements(made) : local_elements(cache);
  op.read_bytes = elements * dtype_size(made.dtype);
  op.written_bytes = elements * dtype_size(cache.dtype);
}

// Bytes of an operand that an op reads.
Expr bytes_read(const Segment& s, const Op& op, TensorId id) {
  const Tensor& t = s.tensor(id);
  if (t.role == TensorRole::Cache && attention_of(op)) return local_bytes(t) * seen_of_cache(s, op);
  if (t.role != TensorRole::Parameter) return local_bytes(t);
  switch (op_traits(op.kind).bytes) {
    case BytesRule::LookedUpRows: return local_bytes(s.tensor(op.outputs[0]));
    case BytesRule::PositionRows:
      return local_size(s.tensor(op.inputs[0]), 1) * local_size(t, 1) * Expr(dtype_bytes(t.dtype));
    case BytesRule::Tensors:
    case BytesRule::QuantizedCopies:
    case BytesRule::CacheWrite:
    case BytesRule::LastToken:
    case BytesRule::LastVector: break;
  }
  if (op.stored) return s.param(id)->stored_bytes;
  return is_quantized(op.compute) ? local_elements(t) * dtype_size(op.compute) : local_bytes(t);
}

// A sparse attention gathers the picked keys and values of every query: bytes read per byte of the tensor.
Expr share_gathered(const Segment& s, const Op& op, TensorId id) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  if (picked_keys(s, forward) < 0) return Expr(1);
  const bool compressed = compressed_keys(s, forward) >= 0;  // keys of a window are not gathered
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[compressed ? 3 : 1]);
  const std::vector<TensorId>& inputs = op.inputs;
  const auto at = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), id) - inputs.begin());
  // A backward reads the gradient first.
  const size_t keys = (compressed ? 3 : 1) + (op.grad == GradRole::None ? 0 : 1);
  if (at != keys && (compressed || at != keys + 1)) return Expr(1);
  return local_size(q, 1) * picked_per_query(s, forward) / local_size(k, 1);
}

// Decode of compressed keys: a token writes one row of a state, and every Cr-th token reads the rows of the
// blocks that it completes. Reads are means: so many rows per token as the state has blocks, and one row of
// the bias per sequence.
Expr share_of_blocks(const Segment& s, const Op& op, TensorId id) {
  static const Expr ratio{Symbol::intern("Cr")};
  if (op_traits(op.kind).state != StateRule::LastBlocks || op.inputs.size() < 4) return Expr(1);
  const Tensor& t = s.tensor(id);
  if (t.role != TensorRole::Cache && t.role != TensorRole::Parameter) return Expr(1);
  const bool written = std::find(op.outputs.begin(), op.outputs.end(), id) != op.outputs.end();
  if (written) return Expr(1) / t.sizes[1];
  const Expr sequences = t.role == TensorRole::Parameter ? local_size(s.tensor(op.inputs[0]), 0) : Expr(1);
  return sequences / s.scope.of(ratio);
}

void count_tensors(const Segment& s, Op& op) {
  const BytesRule rule = op_traits(op.kind).bytes;
  std::set<TensorId> read, written(op.outputs.begin(), op.outputs.end());
  for (TensorId id : op.inputs) {
    if (!read.insert(id).second) continue;
    if (values_in_keys(s, op) && id == op.inputs[2] && id != op.inputs[1]) continue;
    op.read_bytes += bytes_read(s, op, id) * share_gathered(s, op, id) * share_of_blocks(s, op, id);
  }
  for (TensorId id : written) {
    const Tensor& t = s.tensor(id);
    Expr bytes = local_bytes(t) * share_of_blocks(s, op, id);
    if (rule == BytesRule::LookedUpRows && t.role == TensorRole::ParameterGradient)
      bytes = local_elements(s.tensor(op.inputs[0])) * Expr(dtype_bytes(t.dtype));
    op.written_bytes += rule == BytesRule::QuantizedCopies ? Expr(kQuantizedCopies) * bytes : bytes;
    // Gradients of parameters accumulate over microbatches, so they are also read.
    if (t.role == TensorRole::ParameterGradient) op.read_bytes += bytes;
  }
}

// A list of vectors per token. Forward: the new vector, which may be the operand itself; backward: copies.
void count_last_vector(const Segment& s, Op& op) {
  if (op.grad != GradRole::None) {
    for (TensorId id : op.outputs) op.written_bytes += local_bytes(s.tensor(id));
    op.read_bytes = op.written_bytes;
  } else if (const Tensor& vector = s.tensor(op.inputs[1]);
             s.tensor(op.outputs[0]).storage != vector.storage) {
    op.read_bytes = Expr(2) * local_bytes(vector);
    op.written_bytes = local_bytes(vector);
  }
}

void count_bytes(const Segment& s, Op& op) {
  if (is_relabelling(op.kind) || is_cache_view(s, op)) return;
  switch (op_traits(op.kind).bytes) {
    case BytesRule::CacheWrite: return count_cache_write(s, op);
    case BytesRule::LastVector: return count_last_vector(s, op);
    case BytesRule::LastToken:
      op.read_bytes = op.written_bytes = local_bytes(s.tensor(op.outputs[0]));
      return;
    case BytesRule::Tensors:
    case BytesRule::LookedUpRows:
    case BytesRule::PositionRows:
    case BytesRule::QuantizedCopies: return count_tensors(s, op);
  }
}

void count(const SegmentBuilder& builder, const Segment& s, Op& op) {
  count_flops(s, op, builder.profile(), builder.structure().mode == Mode::Decode);
  // A recomputed op does no useful work.
  op.useful_flops = is_recomputation(op) ? Expr() : useful_flops_of(s, op.useful_flops);
  count_bytes(s, op);
}

}  // namespace

void count_flops_and_bytes(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  for (Op& op : s.ops) {
    try {
      count(builder, s, op);
    } catch (const std::domain_error& error) {
      throw OpSizeError{op.forward >= 0 ? s.op(op.forward).name : op.name, error.what()};
    }
  }
}

}  // namespace shardscape
