// What a kernel of a profile does, from its name and from the op that launched it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mesh/collective_kind.h"
#include "profile/profile.h"

namespace shardscape {

// Kinds of device time. Where work of several kinds runs at the same moment, the moment counts for the first
// of them in this order, so communication counts only while nothing computes: exposed communication.
enum class ProfileCategory : uint8_t {
  MatrixProducts,  // GEMMs and convolutions
  Attention,       // fused attention, state-space mixers
  Optimizer,
  MemoryBound,  // norms, elementwise ops, reductions, routing, copies by kernels
  Unknown,      // no rule knows the name
  Copies,       // memcpy and memset
  Collectives,
  Messages,    // sends and receives
  LaunchGaps,  // nothing runs, because the host has not launched the next kernel yet
  OtherIdle    // nothing runs, though the next kernel was launched, or its launch is not recorded
};
inline constexpr int kProfileCategoryCount = 10;
std::string_view profile_category_name(ProfileCategory category);   // JSON key: "launch_gaps"
std::string_view profile_category_label(ProfileCategory category);  // "Launch gaps"

// op: name of the host op that launched the kernel; empty: not known. in_optimizer: launched inside an
// annotation "Optimizer.step#...".
ProfileCategory kernel_category(std::string_view kernel, std::string_view op, bool in_optimizer);

// A collective as the design's reports count it. Elements and bytes are of the full buffer: the gathered
// output, the full input of a reduction, the whole send buffer.
struct ProfiledCollective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  int64_t group_size = 0;           // 0: not recorded
  std::string dtype;                // "bfloat16"; empty: not recorded
  std::optional<int64_t> elements;  // nullopt: not recorded
  std::optional<int64_t> bytes;
  std::string group;  // meaning of the process group: "tp", "default_pg"; empty: not recorded
};
// From the arguments, otherwise from the name of the kernel. nullopt: not known, for example a barrier.
std::optional<ProfiledCollective> profiled_collective(const Profile& profile, const DeviceSpan& span);

// "float" for "at::Half" etc.: names of types as in designs; unknown names stay in lower case.
std::string profiled_dtype(std::string_view type);
int64_t profiled_dtype_bytes(std::string_view type);  // 0: not known

}  // namespace shardscape
