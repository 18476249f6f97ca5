// What inference keeps between steps, and parts of tensors by rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/real_tensor.h"
#include "symbolic/binding.h"

namespace shardscape::test {

// Of a layer's tensor, as it was before a step or after it: "layer3/attention.kr/0".
std::string cache_name(const std::string& instance, const std::string& tensor, int microbatch);
// What was kept, laid out as a step of one more token reads it: its last tokens, and room for the new one at
// the end. past: the tensor that this step reads; sizes: of it, whole.
RealTensor grown(const RealTensor& kept, const Tensor& past, const std::vector<int64_t>& sizes);
bool same(const RealTensor& a, const RealTensor& b);  // to rounding

std::vector<int64_t> sizes_of(const Tensor& tensor, const Binding& binding);  // whole
std::vector<int64_t> starts_of(const Rows& rows);
std::vector<int64_t> lengths(const Rows& rows);
// Places of rows within those of a larger part.
Rows within(const Rows& outer, Rows rows);

}  // namespace shardscape::test
