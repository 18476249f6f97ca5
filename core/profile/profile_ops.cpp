#include "profile/profile_ops.h"

#include <algorithm>
#include <tuple>

#include "profile/kernel_class.h"
#include "profile/launches.h"

namespace shardscape {
namespace {

constexpr int64_t kLargestSize = 1'000'000'000;
constexpr int64_t kSmallestCopy = int64_t{64} << 10;
constexpr double kMicrosecond = 1000;  // nanoseconds

// Which inputs of an op are the matrices. Signatures: PyTorch, aten/src/ATen/native/native_functions.yaml.
struct MatmulOp {
  std::string_view name;
  size_t first;  // index of the left matrix; the right one follows
  size_t rank;   // of the shapes; 3: batched
};
constexpr MatmulOp kMatmuls[] = {
    {"aten::mm", 0, 2}, {"aten::addmm", 1, 2}, {"aten::bmm", 0, 3}, {"aten::baddbmm", 1, 3}};

// query: index of the query, which keys and values follow. heads_first: shapes are [batch, heads, tokens,
// dim], otherwise [batch, tokens, heads, dim]. absent: index of an input (bias, offsets of packed sequences)
// with which the op is no plain attention.
struct AttentionOp {
  std::string_view name;
  size_t query, absent, causal;
  bool heads_first, backward;
};
constexpr AttentionOp kAttentions[] = {
    {"aten::_scaled_dot_product_flash_attention", 0, 99, 4, true, false},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, 6, 11, true, true},
    {"aten::_scaled_dot_product_efficient_attention", 0, 3, 6, true, false},
    {"aten::_scaled_dot_product_cudnn_attention", 0, 3, 6, true, false},
    {"aten::_flash_attention_forward", 0, 3, 8, false, false},
    {"aten::_flash_attention_backward", 1, 6, 11, false, true},
};

bool usable(const std::vector<int64_t>& shape, size_t rank) {
  return shape.size() == rank && std::all_of(shape.begin(), shape.end(),
                                             [](int64_t size) { return size > 0 && size <= kLargestSize; });
}

std::optional<int64_t> type_of(const OpInputs& inputs, size_t index) {
  if (index >= inputs.types.size()) return std::nullopt;
  const auto type = dtype_from_name(profiled_dtype(inputs.types[index]));
  if (!type || !is_arithmetic(*type)) return std::nullopt;
  return static_cast<int64_t>(*type);
}

// Type, batch, m, n, k.
std::optional<std::vector<int64_t>> matmul_key(const MatmulOp& op, const OpInputs& inputs) {
  if (inputs.shapes.size() < op.first + 2) return std::nullopt;
  const auto &left = inputs.shapes[op.first], &right = inputs.shapes[op.first + 1];
  if (!usable(left, op.rank) || !usable(right, op.rank)) return std::nullopt;
  const size_t row = op.rank - 2;
  if (left[row + 1] != right[row] || (op.rank == 3 && left[0] != right[0])) return std::nullopt;
  const auto type = type_of(inputs, op.first);
  if (!type) return std::nullopt;
  return std::vector<int64_t>{*type, op.rank == 3 ? left[0] : 1, left[row], right[row + 1], left[row + 1]};
}

// Type, backward, causal, batch, heads, KV heads, queries, keys, head dimension, value dimension.
std::optional<std::vector<int64_t>> attention_key(const AttentionOp& op, const OpInputs& inputs) {
  if (inputs.shapes.size() < op.query + 3 || inputs.values.size() <= op.causal) return std::nullopt;
  if (op.absent < inputs.shapes.size() && !inputs.shapes[op.absent].empty()) return std::nullopt;
  const std::string& causal = inputs.values[op.causal];
  const auto &q = inputs.shapes[op.query], &k = inputs.shapes[op.query + 1], &v = inputs.shapes[op.query + 2];
  if ((causal != "True" && causal != "False") || !usable(q, 4) || !usable(k, 4) || !usable(v, 4))
    return std::nullopt;
  const size_t heads = op.heads_first ? 1 : 2, tokens = op.heads_first ? 2 : 1;
  const auto type = type_of(inputs, op.query);
  if (!type || q[heads] % k[heads] != 0) return std::nullopt;
  return std::vector<int64_t>{*type,    op.backward, causal == "True", q[0], q[heads],
                              k[heads], q[tokens],   k[tokens],        q[3], v[3]};
}

// Ranks of the group on one host. "[0, 1, 8, 9]" with 8 devices: 2. 0: not recorded, or not equally many.
int64_t ranks_per_host(const CollectiveArguments& call, int64_t devices) {
  if (devices < 1) return 0;
  std::map<int64_t, int64_t> hosts;
  int64_t number = -1, ranks = 0;
  for (const char c : call.ranks + ",") {
    if (c >= '0' && c <= '9' && number < kLargestSize) {
      number = std::max<int64_t>(number, 0) * 10 + (c - '0');
    } else if (c == ',' || c == ']') {
      if (number >= 0) ++hosts[number / devices], ++ranks;
      number = -1;
    } else if (c != ' ' && c != '[') {
      return 0;  // "...": the list is cut
    }
  }
  if (ranks != call.group_size || hosts.empty()) return 0;
  const int64_t first = hosts.begin()->second;
  const bool equal = std::all_of(hosts.begin(), hosts.end(),
                                 [&](const auto& h) { return h.second == first; });
  return equal ? first : 0;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Op, size_t N>
const Op* find_op(const Op (&list)[N], std::string_view name) {
  const auto at = std::find_if(std::begin(list), std::end(list),
                               [&](const Op& op) { return op.name == name; });
  return at == std::end(list) ? nullptr : &*at;
}

}  // namespace

void ProfileOps::add(const Profile& profile) {
  const Launches launches(profile);
  std::map<const HostSpan*, double> ops;  // microseconds of the kernels of an op
  std::map<int32_t, int64_t> per_hosts;   // by index of the collective: many kernels may share one
  for (const DeviceSpan& span : profile.spans) {
    const double us = static_cast<double>(span.end - span.begin) / kMicrosecond;
    if (us <= 0) continue;
    if (span.work == DeviceWork::Copy && span.bytes >= kSmallestCopy && span.bytes <= INT64_MAX / 2 &&
        profile.name(span).find("DtoD") != std::string::npos)
      copies_[2 * span.bytes].push_back(us);
    if (span.work != DeviceWork::Kernel) continue;
    const auto collective = span.collective >= 0 ? profiled_collective(profile, span) : std::nullopt;
    if (collective && collective->bytes && *collective->bytes > 0) {
      const CollectiveArguments& call = profile.collectives[static_cast<size_t>(span.collective)];
      const auto [known, first] = per_hosts.try_emplace(span.collective);
      if (first) known->second = ranks_per_host(call, profile.devices);
      const int64_t per_host = known->second;
      if (collective->group_size < 2 || per_host < 1) continue;
      const auto [at, fresh] = collectives_.try_emplace(
          {std::string(collective_kind_name(collective->kind)), collective->group_size, per_host,
           *collective->bytes},
          us);
      at->second = std::min(at->second, us);
      continue;
    }
    if (const HostSpan* op = launches.op(span)) ops[op] += us;
  }
  for (const auto& [op, us] : ops) {
    const std::string& name = profile.name(*op);
    const MatmulOp* matmul = find_op(kMatmuls, name);
    const AttentionOp* attention = find_op(kAttentions, name);
    if (!matmul && !attention) continue;
    const OpInputs* inputs = op->inputs < 0 ? nullptr : &profile.inputs[static_cast<size_t>(op->inputs)];
    const auto key = !inputs  ? std::nullopt
                     : matmul ? matmul_key(*matmul, *inputs)
                              : attention_key(*attention, *inputs);
    if (key)
      (matmul ? matmuls_ : attention_)[*key].push_back(us);
    else
      ++without_shape_;
  }
}

MeasuredOps ProfileOps::ops() const {
  MeasuredOps out;
  for (const auto& [key, times] : matmuls_) {
    MeasuredMatmul row;
    row.shape.compute = static_cast<DType>(key[0]);
    row.shape.output = row.shape.compute == DType::FP32 ? DType::FP32 : DType::BF16;
    row.shape.batch = key[1];
    row.shape.m = key[2];
    row.shape.n = key[3];
    row.shape.k = key[4];
    row.us = median(times);
    out.matmul.push_back(row);
  }
  for (const auto& [key, times] : attention_) {
    MeasuredAttention row;
    row.shape.compute = static_cast<DType>(key[0]);
    row.shape.backward = key[1] != 0;
    row.shape.causal = key[2] != 0;
    row.shape.batch = key[3];
    row.shape.heads = key[4];
    row.shape.kv_heads = key[5];
    row.shape.queries = key[6];
    row.shape.keys = key[7];
    row.shape.head_dim = key[8];
    row.shape.value_dim = key[9];
    row.us = median(times);
    out.attention.push_back(row);
  }
  for (const auto& [bytes, times] : copies_)
    out.memory.push_back({static_cast<double>(bytes), median(times)});
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> sizes;  // of each curve
  for (const auto& [key, us] : collectives_) ++sizes[{key.op, key.ranks, key.per_domain}];
  for (const auto& [key, us] : collectives_)
    if (sizes[{key.op, key.ranks, key.per_domain}] > 1)
      out.collectives.push_back({key.op, key.ranks, key.per_domain, static_cast<double>(key.bytes), us});
  return out;
}

}  // namespace shardscape
