// Flags that describe a space: the flags of a design, which in a space also accept a list, a range or "all".
#pragma once

#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "explore/search.h"

namespace shardscape {

// --space, --gpus, --nodes, --where, --margin, --usual, then the flags of a design.
std::vector<Flag> space_flags();
extern const char* const kSpaceFlagsHelp;

// The space, or an exit code after printing the problems.
std::variant<std::shared_ptr<const Space>, int> space_of(const Arguments& arguments);

// Writes the files of --output and --csv, if given. Returns an exit code on failure.
std::optional<int> write_result(const Arguments& arguments, const SearchResult& result);

// The number of a flag, or an exit code; `fallback` if the flag is missing.
std::variant<int64_t, int> count_flag(const Arguments& arguments, const char* flag, int64_t fallback,
                                      int64_t least, int64_t most);

}  // namespace shardscape
