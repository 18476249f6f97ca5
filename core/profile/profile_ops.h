// Measured ops for a calibration, from profiles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "performance/measured_ops.h"
#include "profile/profile.h"

namespace shardscape {

// Collects the ops of any number of profiles (ranks of a job, or several jobs on one kind of device).
//
// - Matrix products (aten::mm, addmm, bmm, baddbmm) and attention of PyTorch (flash, cuDNN, efficient)
// without
//   a bias, where the profile has shapes (record_shapes). A row is the median of all calls of one shape.
//   Kernels that one op launches add up.
// - Copies inside the device of at least 64 KiB: read once and written once.
// - Collectives with sizes: the shortest call of all ranks, because the others wait for the last rank to
//   arrive. Ranks of one host, the scale-up domain, are as many as the host has devices. Kinds with two sizes
//   or more.
class ProfileOps {
 public:
  void add(const Profile& profile);
  MeasuredOps ops() const;  // sorted by shape
  // Matrix products and attention that were left out, because their shapes or masks are not recorded.
  int64_t without_shape() const { return without_shape_; }

 private:
  using MatmulKey = std::vector<int64_t>;  // type, batch, m, n, k
  struct CollectiveKey {
    std::string op;
    int64_t ranks = 0, per_domain = 0, bytes = 0;
    auto operator<=>(const CollectiveKey&) const = default;
  };
  std::map<MatmulKey, std::vector<double>> matmuls_;
  std::map<std::vector<int64_t>, std::vector<double>> attention_;
  std::map<int64_t, std::vector<double>> copies_;  // by bytes read and written
  std::map<CollectiveKey, double> collectives_;
  int64_t without_shape_ = 0;
};

}  // namespace shardscape
