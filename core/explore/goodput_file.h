// The file of a search by goodput: what merge and --resume need.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "explore/goodput_search.h"

namespace shardscape {

struct GoodputFile {
  GoodputResult result;
  GoodputOptions options;
};

// result_json of the first stage, which other readers take, with "goodput_search": the settings of the
// service that differ from their defaults, the best design of each engine, and the entries. Equal results
// give equal bytes.
std::string goodput_file_json(const GoodputResult& result, const GoodputOptions& options);
// Nothing: the result of a search by another objective.
Result<std::optional<GoodputFile>> goodput_from_json(const std::string& text, const std::string& where);
Result<std::optional<GoodputFile>> load_goodput(const std::filesystem::path& path);

}  // namespace shardscape
