#include "support/caches.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace shardscape::test {

std::string cache_name(const std::string& instance, const std::string& tensor, int microbatch) {
  return instance + "/" + tensor.substr(0, tensor.rfind('.')) + "/" + std::to_string(microbatch);
}

RealTensor grown(const RealTensor& kept, const Tensor& past, const std::vector<int64_t>& sizes) {
  const auto dim = static_cast<size_t>(std::find_if(past.axes.begin(), past.axes.end(), is_context) -
                                       past.axes.begin());
  if (dim == past.axes.size()) return kept;  // a state of fixed size
  // Row j of n is token C - n + j; `kept` has the tokens before the last one.
  // Compressed keys stay where they are, whether or not the last token completes a block.
  const int64_t had = kept.shape[dim], room = is_compressed(past.axes[dim]) ? had : sizes[dim] - 1,
                taken = std::min(room, had);
  Rows from, to;
  for (size_t d = 0; d < sizes.size(); ++d) {
    from.emplace_back(static_cast<size_t>(d == dim ? taken : sizes[d]));
    std::iota(from.back().begin(), from.back().end(), d == dim ? had - taken : 0);
    to.emplace_back(from.back().size());
    std::iota(to.back().begin(), to.back().end(), d == dim ? room - taken : 0);
  }
  RealTensor out(sizes);
  paste(out, cut(kept, from), to);
  return out;
}

bool same(const RealTensor& a, const RealTensor& b) {
  constexpr double kRounding = 1e-10;
  return a.shape == b.shape && std::equal(a.data.begin(), a.data.end(), b.data.begin(),
                                          [](double x, double y) { return std::abs(x - y) < kRounding; });
}

std::vector<int64_t> sizes_of(const Tensor& tensor, const Binding& binding) {
  std::vector<int64_t> out;
  for (const Expr& e : tensor.sizes)
    out.push_back(static_cast<int64_t>(std::get<Wide>(evaluate(e, binding))));
  return out;
}

std::vector<int64_t> starts_of(const Rows& rows) {
  std::vector<int64_t> out;
  for (const auto& list : rows) out.push_back(list.front());
  return out;
}

std::vector<int64_t> lengths(const Rows& rows) {
  std::vector<int64_t> out;
  for (const auto& list : rows) out.push_back(static_cast<int64_t>(list.size()));
  return out;
}

Rows within(const Rows& outer, Rows rows) {
  for (size_t d = 0; d < rows.size(); ++d)
    for (int64_t& row : rows[d]) {
      const auto at = std::find(outer[d].begin(), outer[d].end(), row);
      if (at == outer[d].end()) throw std::runtime_error("a rank is to cut what it does not hold");
      row = at - outer[d].begin();
    }
  return rows;
}

}  // namespace shardscape::test
