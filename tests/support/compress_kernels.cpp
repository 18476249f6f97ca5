// Compression of blocks of tokens to single keys on one rank (DeepSeek-V4, arXiv 2606.19348).
#include <algorithm>
#include <cmath>

#include "support/kernel_base.h"

namespace shardscape::test {
namespace {

class CompressKernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    if (c_.op.grad != GradRole::None)
      backward();
    else if (out_.size() == 3 && c_.inputs.size() == 5)
      decode();
    else
      forward();
    return std::move(out_);
  }

 private:
  // A token that a key is made of: its row, and the half of its projections that the key reads.
  struct Source {
    int64_t row, half, in_block;
  };

  // Row of values and gates [batch, token, half, number].
  static int64_t place(const RealTensor& t, int64_t b, const Source& from) {
    return ((b * t.shape[1] + from.row) * t.shape[2] + from.half) * t.shape[3];
  }
  // The tokens of block j that are rows from `first` on: those of the block before with the first half of
  // their projections, if there are two halves, and its own with the last half.
  std::vector<Source> sources(int64_t j, int64_t first, int64_t halves) const {
    std::vector<Source> out;
    const int64_t ratio = c_.compress_ratio;
    for (int64_t half = 0; half < halves; ++half)
      for (int64_t i = 0; i < ratio; ++i)
        if (const int64_t token = (j + half - halves + 1) * ratio + i; token >= 0)
          out.push_back({token - first, half, i});
    return out;
  }
  // Weight of each source for number e of a key.
  std::vector<double> weights(const RealTensor& gates, const RealTensor& bias, int64_t b,
                              const std::vector<Source>& from, int64_t e) const {
    std::vector<double> out;
    double total = 0;
    for (const Source& source : from) {
      const double score = at(gates, place(gates, b, source) + e) +
                           at(bias, (source.in_block * bias.shape[1] + source.half) * bias.shape[2] + e);
      total += out.emplace_back(std::exp(score));
    }
    for (double& weight : out) weight /= total;
    return out;
  }
  void make(const RealTensor& values, const RealTensor& gates, int64_t j, int64_t first, int64_t to) {
    const std::vector<Source> from = sources(j, first, values.shape[2]);
    for (int64_t b = 0; b < values.shape[0]; ++b)
      for (int64_t e = 0; e < values.shape[3]; ++e) {
        const std::vector<double> weight = weights(gates, in(2), b, from, e);
        for (size_t i = 0; i < from.size(); ++i)
          at(out_[0], (b * out_[0].shape[1] + to) * values.shape[3] +
                          e) += weight[i] * at(values, place(values, b, from[i]) + e);
      }
  }

  void forward() {  // values, gates, bias; result and, in prefill, what decode reads of the last tokens
    for (int64_t j = 0; j < out_[0].shape[1]; ++j) make(in(0), in(1), j, 0, j);
    for (size_t of = 0; of + 1 < out_.size(); ++of)
      keep(in(of), RealTensor(out_[of + 1].shape), out_[of + 1]);
  }
  // The last rows of the past and the new tokens.
  static void keep(const RealTensor& made, const RealTensor& past, RealTensor& to) {
    const int64_t kept = to.shape[1], tokens = made.shape[1], width = to.shape[2] * to.shape[3];
    for (int64_t b = 0; b < to.shape[0]; ++b)
      for (int64_t i = 0; i < kept; ++i) {
        const int64_t token = tokens - kept + i;  // negative: of the past
        const RealTensor& from = token < 0 ? past : made;
        const int64_t row = token < 0 ? b * kept + kept + token : b * tokens + token;
        for (int64_t e = 0; e < width; ++e) at(to, (b * kept + i) * width + e) = at(from, row * width + e);
      }
  }
  // values, gates, bias, past values, past gates. The key counts only if the token completes its block.
  void decode() {
    for (const size_t of : {size_t{0}, size_t{1}}) keep(in(of), in(of + 3), out_[of + 1]);
    const int64_t tokens = c_.tokens_so_far;
    if (tokens % c_.compress_ratio == 0)
      make(out_[1], out_[2], tokens / c_.compress_ratio - 1, tokens - out_[1].shape[1], 0);
  }

  void backward() {  // gradient, values, gates, bias
    const RealTensor &g = in(0), &values = in(1), &gates = in(2), &bias = in(3);
    for (int64_t b = 0; b < g.shape[0]; ++b)
      for (int64_t j = 0; j < g.shape[1]; ++j)
        for (int64_t e = 0; e < g.shape[2]; ++e) {
          const std::vector<Source> from = sources(j, 0, values.shape[2]);
          const std::vector<double> weight = weights(gates, bias, b, from, e);
          const double slope = at(g, (b * g.shape[1] + j) * g.shape[2] + e);
          double mean = 0;
          for (size_t i = 0; i < from.size(); ++i)
            mean += weight[i] * at(values, place(values, b, from[i]) + e);
          for (size_t i = 0; i < from.size(); ++i) {
            const int64_t row = place(values, b, from[i]) + e;
            const double of_score = slope * weight[i] * (at(values, row) - mean);
            at(out_[0], row) += slope * weight[i];
            at(out_[1], row) += of_score;
            at(out_[2], (from[i].in_block * bias.shape[1] + from[i].half) * bias.shape[2] + e) += of_score;
          }
        }
  }
};

}  // namespace

std::vector<RealTensor> run_compress_kernel(const KernelCall& call) { return CompressKernel(call).run(); }

}  // namespace shardscape::test
