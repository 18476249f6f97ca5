#include "performance/attention_model.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

// FP8 attention over attention in 16 bits, forward: 1.2 PFLOP/s over 740 TFLOP/s on H100 (FlashAttention-3,
// Shah et al., arXiv 2407.08608, abstract). GEMMs run twice as fast, exponentials do not. No figure is
// published for the backward, which therefore takes the time of 16 bits.
constexpr double kFp8Speedup = 1.2 / 0.74;
constexpr double kTile = 128;  // rows of queries, and of keys, that a processor computes at a time
// Rows of a decode tile: one query of each head of a group that shares keys.
constexpr double kSmallTile = 64;
constexpr double kMinimalKeys = 256;  // fewer keys are not split over processors
// Share of the peak that the best kernels reach; the correction is then near 0.
constexpr double kReachable = 0.75;
constexpr double kMemoryShare = 0.9;

double as_double(int64_t value) { return static_cast<double>(value); }

// The sum of min(max(first + i, 0), most) over 0 <= i < count.
double sum_clamped(double first, double count, double most) {
  const double below = std::clamp(-first, 0.0, count);
  const double rising = std::clamp(std::min(most - first, count) - below, 0.0, count);
  const double start = std::max(first, 0.0);
  return rising * start + rising * (rising - 1) / 2 + (count - below - rising) * most;
}

// Pairs of the first `queries` queries of a sequence with the keys of their chunks up to themselves.
double pairs_in_chunks(double queries, double chunk) {
  const double whole = std::floor(queries / chunk), rest = queries - whole * chunk;
  return (whole * chunk * (chunk + 1) + rest * (rest + 1)) / 2;
}

double first_of(const AttentionShape& s) {
  return s.first_query >= 0 ? as_double(s.first_query) : as_double(s.keys - s.queries);
}

// The sum of min(floor(i / ratio), keys) over 1 <= i <= count: pairs of queries with keys of whole blocks.
double pairs_with_blocks(double count, double keys, double ratio) {
  const double most = std::min(keys, std::floor(count / ratio));
  return ratio * most * (most - 1) / 2 + most * (count - ratio * most + 1);
}
double block_pairs(const AttentionShape& s, double keys) {
  const double queries = as_double(s.queries), ratio = as_double(s.ratio), first = std::max(0.0, first_of(s));
  return s.causal ? pairs_with_blocks(first + queries, keys, ratio) - pairs_with_blocks(first, keys, ratio)
                  : queries * keys;
}

// Keys of tokens that a query reads at most, and all keys.
double tokens_per_query(const AttentionShape& s) { return as_double(s.window > 0 ? s.window : s.keys); }
double keys_per_query(const AttentionShape& s) {
  return s.compressed > 0 ? tokens_per_query(s) + as_double(s.compressed)
                          : as_double(s.picked > 0 ? s.picked : s.keys);
}
// Whether the rows of a tile are the heads of one query, because queries read different keys.
bool has_own_keys(const AttentionShape& s) { return s.picked > 0 || s.compressed > 0; }

bool is_decoding(const AttentionShape& s) { return attention_pass(s) == AttentionPass::Decode; }

double attention_element_bytes(DType type) {
  if (type == DType::FP8Entry) return 584.0 / 512;
  return is_quantized(type) ? 1 : dtype_bytes(type);
}

// Pairs of queries and keys of single tokens.
double token_pairs(const AttentionShape& s) {
  const double queries = as_double(s.queries), keys = as_double(s.keys), window = as_double(s.window);
  if (!s.causal) return queries * (s.window > 0 ? std::min(window, keys) : keys);
  const double first = first_of(s), chunk = as_double(s.chunk);
  if (s.chunk > 0) return pairs_in_chunks(first + queries, chunk) - pairs_in_chunks(first, chunk);
  const double seen = sum_clamped(first + 1, queries, keys);
  return s.window > 0 ? seen - sum_clamped(first + 1 - window, queries, keys) : seen;
}

}  // namespace

AttentionPass attention_pass(const AttentionShape& s) {
  if (s.backward) return AttentionPass::Backward;
  return as_double(s.queries) < kSmallTile && s.keys > s.queries ? AttentionPass::Decode
                                                                 : AttentionPass::Forward;
}

double attended_pairs(const AttentionShape& s) {
  const double queries = as_double(s.queries);
  if (s.picked > 0)
    return s.causal ? sum_clamped(first_of(s) + 1, queries, as_double(s.picked))
                    : queries * as_double(s.picked);
  if (s.compressed > 0) return token_pairs(s) + block_pairs(s, as_double(s.compressed));
  return s.ratio > 1 ? block_pairs(s, as_double(s.keys)) : token_pairs(s);
}

double computed_pairs(const AttentionShape& s) {
  const double queries = as_double(s.queries), keys = as_double(s.keys), pairs = attended_pairs(s);
  // Kernels compute the places of absent keys, too.
  if (s.picked > 0 || s.gathered) return queries * keys_per_query(s);
  if (s.compressed > 0 && s.causal) return std::min(pairs + queries * kTile / 2, queries * keys_per_query(s));
  // The mask's edge crosses half a tile on average; windows and chunks have two edges.
  return s.causal ? std::min(pairs + queries * kTile / 2 * (s.window > 0 || s.chunk > 0 ? 2 : 1),
                             queries * std::ceil(keys / kTile) * kTile)
                  : pairs;
}

double computed_share(const AttentionShape& s) {
  const double all = as_double(s.queries) * keys_per_query(s);
  // At most 1: the fill-up of the last tile does not count.
  return s.score_bytes > 0 || all == 0 ? 1 : std::min(1.0, computed_pairs(s) / all);
}

double attention_flops(const AttentionShape& s) {
  const double queries = as_double(s.queries);
  double pairs = computed_pairs(s), heads = as_double(s.heads);
  if (is_decoding(s) || has_own_keys(s)) {
    const double group = heads / as_double(s.kv_heads), rows = has_own_keys(s) ? group : queries * group;
    pairs *= std::ceil(rows / kSmallTile) * kSmallTile / rows;
  }
  const double dims = s.backward ? as_double(3 * s.head_dim + 2 * s.value_dim)
                                 : as_double(s.head_dim + s.value_dim);
  return 2 * as_double(s.batch) * heads * pairs * dims;
}

double attention_bytes(const AttentionShape& s) {
  const double queries = as_double(s.queries), head = as_double(s.head_dim), value = as_double(s.value_dim);
  const double reach = as_double(std::max(s.window, s.chunk));
  const double keys = (s.picked > 0            ? queries * as_double(s.picked)  // gathered by every query
                       : reach > 0 && s.causal ? std::min(as_double(s.keys), queries + reach)
                                               : as_double(s.keys)) +
                      as_double(s.compressed) * (s.gathered ? queries : 1);
  const double rows = as_double(s.heads) * queries * (head + value),
               columns = as_double(s.kv_heads) * keys * (s.values_in_keys ? head : head + value);
  // The backward reads the inputs, the output and its gradient, and writes three gradients. The gradient of
  // the queries accumulates in float32.
  if (!s.backward)
    return as_double(s.batch) * (rows * attention_element_bytes(s.compute) +
                                 columns * attention_element_bytes(s.cached.value_or(s.compute)));
  return as_double(s.batch) * (2 * (rows + columns) + as_double(s.heads) * queries * (value + 4 * head)) *
         attention_element_bytes(s.compute);
}

std::array<double, 3> attention_grid_position(const AttentionShape& s) {
  const int64_t reach = std::max(s.window, s.chunk);
  const double keys = has_own_keys(s) ? keys_per_query(s)
                      : reach > 0     ? std::min(as_double(s.keys), as_double(reach) + kTile)
                                      : as_double(s.keys);
  const double parallel = as_double(s.batch * (is_decoding(s) ? s.kv_heads : s.heads));
  return {std::log2(keys), std::log2(parallel), std::log2(as_double(s.head_dim + s.value_dim) / 2)};
}

double modelled_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& c,
                                  const AttentionShape& s) {
  const double processors = accelerator.processors > 0 ? as_double(accelerator.processors) : 1;
  double tiles = as_double(s.batch * s.heads) * std::ceil(as_double(s.backward ? s.keys : s.queries) / kTile);
  if (is_decoding(s)) {
    const double group = as_double(s.heads) / as_double(s.kv_heads);
    tiles = as_double(s.batch * s.kv_heads) * std::ceil(as_double(s.queries) * group / kSmallTile);
    tiles *= std::max(1.0, std::floor(as_double(s.keys) / kMinimalKeys));
  }
  if (has_own_keys(s)) {
    tiles = as_double(s.batch * s.kv_heads * s.queries) *
            std::ceil(as_double(s.heads) / as_double(s.kv_heads) / kSmallTile);
    if (is_decoding(s)) tiles *= std::max(1.0, std::floor(keys_per_query(s) / kMinimalKeys));
  }
  const double idle = std::max(1.0, processors / tiles);
  double peak = peak_flops(accelerator, s.compute);
  if (s.compute == DType::FP8 && s.value_dim > 0)
    peak = std::min(peak, (s.backward ? 1 : kFp8Speedup) * peak_flops(accelerator, DType::BF16));
  const double compute = attention_flops(s) / (peak * kReachable) * idle;
  const double memory = attention_bytes(s) / (accelerator.memory_gbps * 1e9 * kMemoryShare) *
                        std::min(idle, 4.0);
  return c.launch_us * 1e-6 + std::max(compute, memory);
}

double calibrated_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& c,
                                    const AttentionShape& s) {
  const double correction = c.residual.empty() ? 1 : std::exp(c.residual.at(attention_grid_position(s)));
  const double useful = 2 * as_double(s.batch * s.heads) * attended_pairs(s) *
                        (s.backward ? as_double(3 * s.head_dim + 2 * s.value_dim)
                                    : as_double(s.head_dim + s.value_dim));
  return std::max({modelled_attention_seconds(accelerator, c, s) * c.scale * correction,
                   useful / peak_flops(accelerator, s.compute),
                   attention_bytes(s) / (accelerator.memory_gbps * 1e9)});
}

}  // namespace shardscape
