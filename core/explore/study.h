// A saved design with the search over designs that belongs to it: one document.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "design/design.h"
#include "explore/result.h"

namespace shardscape {

struct Study {
  Design design;
  std::shared_ptr<const SearchResult> search;  // with its space; null: the document has none
  std::optional<Problem> lost;                 // what was wrong with the search; the design is there all the same
};

// The JSON of a saved design (design/document.h) and, under "explore", that of the result.
std::string to_json(const Design& design, const SearchResult* search);
// A Problem where the design cannot be read.
std::variant<Study, Problem> study_from_json(const std::string& text, const std::string& where);
std::variant<Study, Problem> load_study(const std::filesystem::path& path);
// Written beside and renamed, so that a failure leaves the old file whole.
std::optional<Problem> save_study(const Design& design, const SearchResult* search, const std::filesystem::path& path);

}  // namespace shardscape
