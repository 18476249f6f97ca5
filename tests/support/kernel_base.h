// Base of all kernels: operands, and statistics by their name in the kernel profile.
#pragma once

#include <cmath>

#include "support/kernels.h"

namespace shardscape::test {

inline constexpr double kEps = 1e-5;  // of norms

class KernelBase {
 public:
  explicit KernelBase(const KernelCall& call) : c_(call) {
    for (const auto& shape : call.output_shapes) out_.emplace_back(shape);
  }

 protected:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  const RealTensor& in(size_t i) const { return *c_.inputs[i]; }
  int64_t position(size_t input, int64_t row) const {
    return c_.input_positions[input][static_cast<size_t>(row)];
  }
  static double& at(RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }
  static double at(const RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }

  // Whether the tensor is the statistic with this name in the profile; a numeric suffix distinguishes copies.
  static bool is(const std::string& tensor, const std::string& statistic) {
    const auto plain = [](const std::string& name) {
      const size_t end = name.find_last_not_of("0123456789");
      return name[end] == '_' ? name.substr(0, end) : name;
    };
    std::string name = plain(tensor);
    if (name.ends_with(".recompute")) name = plain(name.substr(0, name.size() - 10));  // recomputed
    return name.ends_with("." + statistic);
  }
  // The output (or input) with a name of the profile; null if the profile does not have it.
  RealTensor* output(const std::string& statistic) {
    for (size_t i = 1; i < out_.size(); ++i)
      if (is(c_.output_names[i], statistic)) return &out_[i];
    return nullptr;
  }
  // Index among the inputs of a backward, whose input 0 is the gradient; 0: not found.
  size_t place(const std::string& statistic) const {
    for (size_t i = 1; i < c_.inputs.size(); ++i)
      if (is(c_.input_names[i], statistic)) return i;
    return 0;
  }
  const RealTensor* input(const std::string& statistic) const {
    return place(statistic) ? c_.inputs[place(statistic)] : nullptr;
  }
  // Writes all copies of a statistic.
  template <class Value>
  void fill(const std::string& statistic, Value value) {
    for (size_t i = 1; i < out_.size(); ++i)
      if (is(c_.output_names[i], statistic))
        for (int64_t j = 0; j < out_[i].elements(); ++j) at(out_[i], j) = value(j);
  }

  const KernelCall& c_;
  std::vector<RealTensor> out_;
};

// Convolution, scans and gated norm of state-space mixers.
std::vector<RealTensor> run_mixer_kernel(const KernelCall& call);
// Compressed keys, and the state from which decode makes them.
std::vector<RealTensor> run_compress_kernel(const KernelCall& call);
// Several residual streams: copies, mean square, weights, sums.
std::vector<RealTensor> run_stream_kernel(const KernelCall& call);
// Linear attention: scan, decay, gates of single elements.
std::vector<RealTensor> run_linear_kernel(const KernelCall& call);
std::vector<RealTensor> run_vision_kernel(const KernelCall& call);

}  // namespace shardscape::test
