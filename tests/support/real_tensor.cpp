#include "support/real_tensor.h"

#include <algorithm>
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

namespace {

// For each letter of an einsum: its extent, and how far one step of it moves in each operand and in the
// result.
struct Loop {
  char letter;
  int64_t extent;
  std::vector<int64_t> steps;
};

// The letters of the result, then those that are summed. Their loops are nested in this order.
std::vector<Loop> loops_of(const OpSpec& spec, const std::vector<const RealTensor*>& operands,
                           const std::vector<int64_t>& out_shape) {
  std::vector<Loop> out;
  const auto add = [&](const std::string& letters, const std::vector<int64_t>& shape, size_t tensor) {
    int64_t step = 1;
    for (size_t d = letters.size(); d-- > 0; step *= shape[d]) {
      const auto loop = std::find_if(out.begin(), out.end(),
                                     [&](const Loop& of) { return of.letter == letters[d]; });
      if (loop->extent != shape[d])
        throw std::logic_error("operands of " + spec.text() + " have other sizes");
      loop->steps[tensor] += step;
    }
  };
  const auto name = [&](const std::string& letters, const std::vector<int64_t>& shape) {
    for (size_t d = 0; d < letters.size(); ++d)
      if (std::none_of(out.begin(), out.end(), [&](const Loop& of) { return of.letter == letters[d]; }))
        out.push_back({letters[d], shape[d], std::vector<int64_t>(operands.size() + 1)});
  };
  name(spec.out, out_shape);
  for (size_t i = 0; i < operands.size(); ++i) name(spec.in[i], operands[i]->shape);
  for (size_t i = 0; i < operands.size(); ++i) add(spec.in[i], operands[i]->shape, i);
  add(spec.out, out_shape, operands.size());
  return out;
}

}  // namespace

RealTensor einsum(const std::string& spec_text, const std::vector<const RealTensor*>& operands,
                  const std::vector<int64_t>& out_shape) {
  const OpSpec spec = *parse_op_spec(spec_text);
  std::vector<Loop> loops = loops_of(spec, operands, out_shape);
  if (loops.empty()) loops.push_back({' ', 1, std::vector<int64_t>(operands.size() + 1)});  // all are scalars
  const Loop inner = loops.back();
  loops.pop_back();
  RealTensor out(out_shape);
  const size_t result = operands.size();
  std::vector<int64_t> at(loops.size()), places(result + 1);
  std::vector<const double*> data;
  for (const RealTensor* of : operands) data.push_back(of->data.data());
  while (true) {
    for (int64_t x = 0; x < inner.extent; ++x) {
      double product = 1;
      for (size_t i = 0; i < result; ++i) product *= data[i][places[i] + x * inner.steps[i]];
      out.data[static_cast<size_t>(places[result] + x * inner.steps[result])] += product;
    }
    size_t l = loops.size();
    for (; l > 0; --l) {
      const Loop& loop = loops[l - 1];
      const bool more = ++at[l - 1] < loop.extent;
      for (size_t i = 0; i <= result; ++i)
        places[i] += more ? loop.steps[i] : -loop.steps[i] * (loop.extent - 1);
      if (more) break;
      at[l - 1] = 0;
    }
    if (l == 0) return out;
  }
}

}  // namespace shardscape::test
