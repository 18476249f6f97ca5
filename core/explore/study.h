// A saved design with what belongs to it: the search over designs, and those that are compared with it. One
// document.
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
  std::vector<NamedDesign> compared;           // in their order
  std::optional<Problem> lost;  // what was wrong with the search or these; the design is there all the same
  bool of_search = false;       // read from what a search wrote (the design is its best, or the first of the
                                // space), or from a space
};

// The JSON of a saved design (design/document.h); under "explore" that of the result, under "compare" a list
// of {"name", "design"}.
std::string to_json(const Study& study);
// Of a document, of the result of a search (result_json), or of a space nobody has searched (to_json of its
// spec). A Problem where the design, that result or space cannot be read.
std::variant<Study, Problem> study_from_json(const std::string& text, const std::string& where);
std::variant<Study, Problem> load_study(const std::filesystem::path& path);
// Written beside and renamed, so that a failure leaves the old file whole.
std::optional<Problem> save_study(const Study& study, const std::filesystem::path& path);

}  // namespace shardscape
