// The step of a profiled run: where the time of the device goes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "profile/kernel_class.h"
#include "profile/profile.h"

namespace shardscape {

// All times are seconds per step.
struct KernelRow {
  std::string name;
  ProfileCategory category{};
  double seconds = 0;  // its share of the step: moments of a kind in front of it in ProfileCategory excluded
  double calls = 0;
};

struct CollectiveTotal {
  double calls = 0;
  double elements = 0, bytes = 0;   // of the full buffers; calls without recorded sizes count 0
  double sized_calls = 0;           // calls with recorded sizes
  double seconds = 0, exposed = 0;  // of all calls; the part during which nothing else runs
};
inline constexpr double kSmallCollective = 1024;
struct CollectiveKey {
  CollectiveKind kind{};
  int64_t group_size = 0;
  std::string dtype;
  bool small = false;  // calls of at most kSmallCollective bytes: losses, norms, flags
  auto operator<=>(const CollectiveKey&) const = default;
};

// One layer of the model: what the kernels that it launched add to the step. backward: kernels of autograd,
// recomputation included.
struct ProfiledLayer {
  std::string name;  // "LlamaDecoderLayer_3"
  int64_t number = 0;
  double forward = 0, backward = 0;
};

struct StreamTotal {
  int32_t stream = 0;
  double busy = 0;
  double kernels = 0;
};

struct ProfiledStep {
  int64_t steps = 1;
  bool annotated = false;  // steps are those of the annotations ProfilerStep#N, else given or the whole trace
  double seconds = 0;      // sum of `categories`
  double host_fastest = 0, host_slowest = 0;  // between the annotations on the host; 0: not annotated
  std::array<double, kProfileCategoryCount> categories{};
  double busy = 0;                       // anything runs
  double classified = 0;                 // share of the time of kernels that have a kind; 1 without kernels
  double communication = 0, hidden = 0;  // of collectives and messages; the part during which compute runs
  std::vector<StreamTotal> streams;      // longest first
  std::vector<KernelRow> kernels;        // longest first; one row per name
  std::map<CollectiveKey, CollectiveTotal> collectives;
  std::vector<ProfiledLayer> layers;  // by number; empty: no ranges of layers
  std::string layer_ranges;           // the ranges: "nn.Module LlamaDecoderLayer"; empty: none
  int32_t device = 0;
  int64_t other_devices = 0;  // devices of the file that this step leaves out
};

// steps: how many steps the profile holds; 0: count the annotations ProfilerStep#N, one without any. A
// Problem (ProfileFormat) if the profile has no kernels.
Result<ProfiledStep> profiled_step(const Profile& profile, int64_t steps = 0);

}  // namespace shardscape
