#include "explore/study.h"

#include <nlohmann/json.hpp>

#include "base/data_dir.h"
#include "design/atomic_write.h"
#include "design/document.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kKey = "explore";

}  // namespace

std::string to_json(const Design& design, const SearchResult* search) {
  if (!search) return to_json(design);
  json root = json::parse(to_json(design));
  root[kKey] = json::parse(result_json(*search));
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::variant<Study, Problem> study_from_json(const std::string& text, const std::string& where) {
  auto design = design_from_json(text, where);
  if (auto* problem = std::get_if<Problem>(&design)) return std::move(*problem);
  Study study{std::get<Design>(std::move(design)), nullptr, std::nullopt};
  const json root = json::parse(text);  // the design was read: this is JSON
  if (const auto it = root.find(kKey); it != root.end()) {
    auto result = result_from_json(it->dump(1), where + " (" + kKey + ")");
    if (auto* problem = std::get_if<Problem>(&result)) study.lost = std::move(*problem);
    else study.search = std::make_shared<const SearchResult>(std::get<SearchResult>(std::move(result)));
  }
  return study;
}

std::variant<Study, Problem> load_study(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return study_from_json(std::get<std::string>(text), path.string());
}

std::optional<Problem> save_study(const Design& design, const SearchResult* search, const std::filesystem::path& path) {
  return atomic_write(path, to_json(design, search));
}

}  // namespace shardscape
