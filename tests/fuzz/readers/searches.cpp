#include "explore/goodput_file.h"
#include "explore/result.h"
#include "explore/space.h"
#include "fuzz/reader.h"

namespace shardscape::fuzz {

std::string space(std::string_view input) {
  const auto read = space_from_json(std::string(input), kInputName);
  const auto* spec = std::get_if<SpaceSpec>(&read);
  if (!spec) return reason(read);
  const auto made = Space::make(*spec);
  const auto* space = std::get_if<std::shared_ptr<const Space>>(&made);
  if (space && (*space)->size() > 0) (*space)->design_at((*space)->size() - 1);
  return reason(made);
}

std::string result(std::string_view input) {
  const auto goodput = goodput_from_json(std::string(input), kInputName);
  const auto read = result_from_json(std::string(input), kInputName);
  const auto* result = std::get_if<SearchResult>(&read);
  if (!result) return reason(read);
  result_csv(*result);
  require(std::holds_alternative<SearchResult>(result_from_json(result_json(*result), kInputName)),
          "a saved result is read again");
  const std::string refused = reason(merge_results({*result}));
  return refused.empty() ? reason(goodput) : refused;
}

}  // namespace shardscape::fuzz
