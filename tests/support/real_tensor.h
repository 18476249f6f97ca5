// Dense tensors of doubles, and operations on their parts.
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

// cut() copies the part [starts, starts + sizes) of a tensor; paste() writes it back.
RealTensor cut(const RealTensor& whole, const std::vector<int64_t>& starts,
               const std::vector<int64_t>& sizes);
void paste(RealTensor& whole, const RealTensor& part, const std::vector<int64_t>& starts);
// The same for parts given by a list of row indices per dimension.
using Rows = std::vector<std::vector<int64_t>>;
RealTensor cut(const RealTensor& whole, const Rows& rows);
void paste(RealTensor& whole, const RealTensor& part, const Rows& rows);
void add(RealTensor& whole, const RealTensor& part, const Rows& rows);  // adds to the present values

// Einstein summation over the letters that the result lacks; one or two operands.
RealTensor einsum(const std::string& spec, const std::vector<const RealTensor*>& operands,
                  const std::vector<int64_t>& out_shape);

}  // namespace shardscape::test
