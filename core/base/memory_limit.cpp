#include "base/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/units.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallNeed = int64_t{64} << 20;

// The first number of a file; kNoLimit for the word "max" and for a file that cannot be read.
int64_t number_in(const fs::path& path) {
  std::ifstream file(path);
  int64_t value = kNoLimit;
  return file >> value && value >= 0 ? value : kNoLimit;
}

int64_t available_on_computer() {
  constexpr int64_t kKibi = 1024;
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (int64_t value = 0; file >> name >> value && std::getline(file, unit);)
    if (name == "MemAvailable:") return value * kKibi;
  return kNoLimit;
}

int64_t left_of_address_space() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const int64_t pages = number_in("/proc/self/statm");
  if (pages == kNoLimit) return kNoLimit;
  return std::max<int64_t>(0, static_cast<int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
}

// Bytes of files that the kernel caches for a group, and drops when memory is short.
int64_t cached_files(const fs::path& folder) {
  int64_t out = 0;
  std::ifstream file(folder / "memory.stat");
  std::string name;
  for (int64_t value = 0; file >> name >> value;)
    if (name == "inactive_file" || name == "active_file") out += value;
  return out;
}

int64_t left_of(const fs::path& folder, const char* limit, const char* used) {
  const int64_t most = number_in(folder / limit), now = number_in(folder / used);
  if (most == kNoLimit || now == kNoLimit) return kNoLimit;
  return std::max<int64_t>(0, most - std::max<int64_t>(0, now - cached_files(folder)));
}

// Control groups, and the groups that contain them: version 2 ("0::/user.slice/...") and the memory
// controller of version 1 ("4:memory:/...").
int64_t left_of_control_groups() {
  const fs::path root = "/sys/fs/cgroup";
  int64_t left = kNoLimit;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool memory = controllers.find("memory") != std::string::npos;
    if (!controllers.empty() && !memory) continue;
    const fs::path base = memory ? root / "memory" : root;
    // A container may see its own group as the root.
    for (fs::path at = line.substr(second + 1); !at.empty(); at = at.parent_path()) {
      const fs::path folder = base / at.relative_path();
      left = std::min(left, memory ? left_of(folder, "memory.limit_in_bytes", "memory.usage_in_bytes")
                                   : left_of(folder, "memory.max", "memory.current"));
      if (at == at.parent_path()) break;
    }
  }
  return left;
}

}  // namespace

int64_t free_memory() {
  return std::min({available_on_computer(), left_of_address_space(), left_of_control_groups()});
}

std::optional<Problem> memory_short(const MemoryNeed& need) {
  if (need.bytes <= kSmallNeed) return std::nullopt;
  const int64_t left = free_memory();
  if (need.bytes <= left) return std::nullopt;
  return Problem(ProblemCode::MemoryShort, need.where,
                 need.what + " takes some " + format_bytes(need.bytes) + " of memory, of which " +
                     format_bytes(left) + " are free",
                 need.accepted);
}

}  // namespace shardscape
