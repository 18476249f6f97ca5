// Flags that describe a space: the flags of a design, which in a space also accept a list, a range or "all".
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
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

// Writes the files of --output and --csv, if given. Returns an exit code on failure; the caller prints the
// result all the same. json: the content of --output; empty: result_json.
std::optional<int> write_result(const Arguments& arguments, const SearchResult& result,
                                const std::function<std::string()>& json = {});

// The threads that --threads asks for: at most one per processor, because oneTBB has no more. 0: all.
int usable_threads(int64_t wanted);

// A flag whose value is a whole number, as the help shows it and the command reads it.
struct CountFlag {
  const char* name = "";
  int64_t fallback = 0, least = 0, most = 0;
  const char* help = "";
  Flag flag() const { return {name, 0, FlagKind::Value, "N", help, ""}; }
};
// The number of a flag, or an exit code; `fallback` if the flag is missing.
std::variant<int64_t, int> count_flag(const Arguments& arguments, const CountFlag& flag);
// Reads several flags. An exit code after printing the first mistake.
std::optional<int> read_counts(const Arguments& arguments,
                               std::initializer_list<std::pair<CountFlag, int64_t*>> flags);

}  // namespace shardscape
