// Inference caches in the interpreter, and parts of tensors by rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/real_tensor.h"
#include "symbolic/binding.h"

namespace shardscape::test {

// Name of a cached tensor of a layer before or after a step: "layer3/attention.kr/0".
std::string cache_name(const std::string& instance, const std::string& tensor, int microbatch);
// The cache of one step in the layout that a step with one more token reads: its last tokens, and a free
// place for the new token at the end. past: the tensor that this step reads; sizes: its full sizes.
RealTensor grown(const RealTensor& kept, const Tensor& past, const std::vector<int64_t>& sizes);
bool same(const RealTensor& a, const RealTensor& b);  // equal to rounding

std::vector<int64_t> sizes_of(const Tensor& tensor, const Binding& binding);  // full, unsharded sizes
std::vector<int64_t> starts_of(const Rows& rows);
std::vector<int64_t> lengths(const Rows& rows);
// Indices of rows relative to the rows of a larger part.
Rows within(const Rows& outer, Rows rows);

}  // namespace shardscape::test
