// The flags that describe a space of designs: those of a design, each also with a list, a range or "all".
#pragma once

#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "explore/search.h"

namespace shardscape {

// --space, --gpus, --nodes, --where, --margin, --usual, then those of a design.
std::vector<Flag> space_flags();
extern const char* const kSpaceFlagsHelp;

// The space, or the exit code after the problems were printed.
std::variant<std::shared_ptr<const Space>, int> space_of(const Arguments& arguments);

// Into --output and --csv where they are given; an exit code where that failed.
std::optional<int> write_result(const Arguments& arguments, const SearchResult& result);

// A number of a flag, or the exit code; fallback where the flag is missing.
std::variant<int64_t, int> count_flag(const Arguments& arguments, const char* flag, int64_t fallback,
                                      int64_t least, int64_t most);

}  // namespace shardscape
