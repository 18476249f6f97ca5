#include "support/index_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/kernel_base.h"

namespace shardscape::test {
namespace {

class IndexKernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    RealTensor& picked = out_[0];
    const RealTensor& q = in(0);
    const bool adds = c_.inputs.size() > 2;  // the weighted scores of all heads
    const int64_t heads = q.shape[2], count = picked.shape.back();
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t s = 0; s < q.shape[1]; ++s)
        for (int64_t h = 0; h < (adds ? 1 : heads); ++h)
          pick(b, s, h, ((b * q.shape[1] + s) * (adds ? 1 : heads) + h) * count);
    return std::move(out_);
  }

 private:
  double product(int64_t b, int64_t s, int64_t h, int64_t t) const {
    const RealTensor &q = in(0), &k = in(1);
    double out = 0;
    for (int64_t e = 0; e < q.shape[3]; ++e)
      out += at(q, ((b * q.shape[1] + s) * q.shape[2] + h) * q.shape[3] + e) *
             at(k, (b * k.shape[1] + t) * k.shape[2] + e);
    return out;
  }
  double score(int64_t b, int64_t s, int64_t h, int64_t t) const {
    if (c_.inputs.size() < 3) return product(b, s, h, t);
    const RealTensor& q = in(0);
    double out = 0;
    for (int64_t i = 0; i < q.shape[2]; ++i)
      out += at(in(2), (b * q.shape[1] + s) * q.shape[2] + i) * std::max(0.0, product(b, s, i, t));
    return out;
  }

  // The places with the largest scores; of equal scores the first.
  void pick(int64_t b, int64_t s, int64_t h, int64_t to) {
    // A compressed key stands for a block of tokens, all of which the query sees.
    const int64_t ratio = std::max<int64_t>(1, c_.compress_ratio),
                  block = ratio * std::max<int64_t>(1, c_.index_block);
    std::map<int64_t, double> best;  // by key or block
    for (int64_t t = 0; t < in(1).shape[1]; ++t) {
      if (attention_attributes(c_.op).causal && position(1, t) + ratio - 1 > position(0, s)) continue;
      const int64_t place = position(1, t) / block;
      const double found = score(b, s, h, t);
      const auto known = best.try_emplace(place, found).first;
      known->second = std::max(known->second, found);
    }
    if (c_.index_block > 0) best[position(0, s) / block] = INFINITY;
    std::vector<std::pair<double, int64_t>> order;
    for (const auto& [place, found] : best) order.emplace_back(-found, place);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < out_[0].shape.back(); ++i)
      at(out_[0], to + i) = i < std::ssize(order) ? static_cast<double>(order[static_cast<size_t>(i)].second)
                                                  : -1;
  }
};

}  // namespace

std::vector<RealTensor> run_index_kernel(const KernelCall& call) { return IndexKernel(call).run(); }

}  // namespace shardscape::test
