// A study: a saved design, the search over its space, and the designs compared with it. One document.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "design/design.h"
#include "explore/result.h"

namespace shardscape {

struct NamedDesign {
  std::string name;
  Design design;
  friend bool operator==(const NamedDesign&, const NamedDesign&) = default;
};

struct Study {
  Design design;
  std::shared_ptr<const SearchResult> search;  // with its space; null: the document has none
  std::vector<NamedDesign> compared;           // in the order of the file
  // The search or a compared design is unreadable and was dropped; the design itself is readable.
  std::optional<Problem> lost;
  // True: read from a search result or a space. The design is the best one, or else the first of the space.
  bool of_search = false;
};

// The JSON of a saved design (design/document.h), with the search result under "explore" and a list of
// {"name", "design"} under "compare".
std::string to_json(const Study& study);
// Reads a document, a search result (result_json) or a space without a result (to_json of SpaceSpec). A
// Problem if the design, the result or the space is unreadable.
Result<Study> study_from_json(const std::string& text, const std::string& where);
Result<Study> load_study(const std::filesystem::path& path);
// Writes a temporary file in the same folder and renames it, so that a failure leaves the old file intact.
std::optional<Problem> save_study(const Study& study, const std::filesystem::path& path);

}  // namespace shardscape
