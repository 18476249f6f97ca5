// Writing a small file so that a failure leaves what was there.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

// Written beside the target, synced and renamed. A Problem names the path and the system's reason.
std::optional<Problem> atomic_write(const std::filesystem::path& path, std::string_view text);

}  // namespace shardscape
