#include "support/real_tensor.h"

#include <array>
#include <numeric>
#include <stdexcept>

#include "graph/op_spec.h"

namespace shardscape::test {

RealTensor::RealTensor(std::vector<int64_t> sizes) : shape(std::move(sizes)) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  data.assign(static_cast<size_t>(n), 0.0);
}

namespace {

// Calls fn(index in whole, index in part) for every element of a part.
template <class Fn>
void each_part(const std::vector<int64_t>& whole, const Rows& rows, Fn fn) {
  size_t n = 1;
  for (const auto& list : rows) n *= list.size();
  std::vector<size_t> at(rows.size(), 0);
  for (size_t i = 0; i < n; ++i) {
    int64_t index = 0;
    for (size_t d = 0; d < rows.size(); ++d) index = index * whole[d] + rows[d][at[d]];
    fn(static_cast<size_t>(index), i);
    for (size_t d = rows.size(); d-- > 0;) {
      if (++at[d] < rows[d].size()) break;
      at[d] = 0;
    }
  }
}

Rows rows_from(const std::vector<int64_t>& starts, const std::vector<int64_t>& sizes) {
  Rows out;
  for (size_t d = 0; d < sizes.size(); ++d) {
    out.emplace_back(static_cast<size_t>(sizes[d]));
    std::iota(out.back().begin(), out.back().end(), starts[d]);
  }
  return out;
}

}  // namespace

RealTensor cut(const RealTensor& whole, const Rows& rows) {
  std::vector<int64_t> sizes;
  for (const auto& list : rows) sizes.push_back(static_cast<int64_t>(list.size()));
  RealTensor part(sizes);
  each_part(whole.shape, rows, [&](size_t w, size_t p) { part.data[p] = whole.data[w]; });
  return part;
}

void paste(RealTensor& whole, const RealTensor& part, const Rows& rows) {
  each_part(whole.shape, rows, [&](size_t w, size_t p) { whole.data[w] = part.data[p]; });
}

void add(RealTensor& whole, const RealTensor& part, const Rows& rows) {
  each_part(whole.shape, rows, [&](size_t w, size_t p) { whole.data[w] += part.data[p]; });
}

RealTensor cut(const RealTensor& whole, const std::vector<int64_t>& starts,
               const std::vector<int64_t>& sizes) {
  return cut(whole, rows_from(starts, sizes));
}

void paste(RealTensor& whole, const RealTensor& part, const std::vector<int64_t>& starts) {
  paste(whole, part, rows_from(starts, part.shape));
}

RealTensor einsum(const std::string& spec_text, const std::vector<const RealTensor*>& operands,
                  const std::vector<int64_t>& out_shape) {
  const OpSpec spec = *parse_op_spec(spec_text);
  std::string letters = spec.out;
  std::array<int64_t, 128> extent{};
  for (size_t d = 0; d < spec.out.size(); ++d) extent[static_cast<size_t>(spec.out[d])] = out_shape[d];
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t d = 0; d < spec.in[i].size(); ++d) {
      const char c = spec.in[i][d];
      if (letters.find(c) == std::string::npos) {
        letters += c;
        extent[static_cast<size_t>(c)] = operands[i]->shape[d];
      }
      if (extent[static_cast<size_t>(c)] != operands[i]->shape[d])
        throw std::logic_error("operands of " + spec_text + " have other sizes");
    }
  RealTensor out(out_shape);
  std::array<int64_t, 128> at{};
  const auto offset = [&](const std::string& of) {
    int64_t index = 0;
    for (char c : of) index = index * extent[static_cast<size_t>(c)] + at[static_cast<size_t>(c)];
    return static_cast<size_t>(index);
  };
  while (true) {
    double product = 1;
    for (size_t i = 0; i < operands.size(); ++i) product *= operands[i]->data[offset(spec.in[i])];
    out.data[offset(spec.out)] += product;
    size_t l = letters.size();
    while (l-- > 0) {
      int64_t& x = at[static_cast<size_t>(letters[l])];
      if (++x < extent[static_cast<size_t>(letters[l])]) break;
      x = 0;
      if (l == 0) return out;
    }
  }
}

}  // namespace shardscape::test
