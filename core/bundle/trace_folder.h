// The trace files of a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace shardscape {

using TraceFamily = std::map<int64_t, std::filesystem::path>;  // by rank

// Files NAME.<rank> with the suffix, or with the suffix and ".gz", by name. If a rank has both, the result
// has the plain file, which simulators read.
std::map<std::string, TraceFamily> trace_families(const std::filesystem::path& folder,
                                                  std::string_view suffix, std::error_code& error);

}  // namespace shardscape
