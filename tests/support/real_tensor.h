// Dense tensors of doubles, and the kernels that give every op kind its meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shardscape::test {

struct RealTensor {
  std::vector<int64_t> shape;
  std::vector<double> data;

  RealTensor() = default;
  explicit RealTensor(std::vector<int64_t> sizes);
  int64_t elements() const { return static_cast<int64_t>(data.size()); }
  bool defined() const { return !data.empty(); }
};

// The part [starts, starts + sizes) of a tensor, and the reverse.
RealTensor cut(const RealTensor& whole, const std::vector<int64_t>& starts,
               const std::vector<int64_t>& sizes);
void paste(RealTensor& whole, const RealTensor& part, const std::vector<int64_t>& starts);
// The same with the places of rows listed, per dimension.
using Rows = std::vector<std::vector<int64_t>>;
RealTensor cut(const RealTensor& whole, const Rows& rows);
void paste(RealTensor& whole, const RealTensor& part, const Rows& rows);
void add(RealTensor& whole, const RealTensor& part, const Rows& rows);  // to what is there

// Sum of products over the letters that the result lacks; one or two operands.
RealTensor einsum(const std::string& spec, const std::vector<const RealTensor*>& operands,
                  const std::vector<int64_t>& out_shape);

}  // namespace shardscape::test
