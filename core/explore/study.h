// A study: a saved design, the search over its space, the designs compared with it, and what a person set on
// pages of the window. One document.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "design/design.h"
#include "explore/result.h"
#include "serving/service/service_spec.h"
#include "serving/service_limits.h"

namespace shardscape {

struct NamedDesign {
  std::string name;
  Design design;
  std::optional<ServiceSpec> service = {};  // pinned on the page Requests, with these settings
  friend bool operator==(const NamedDesign&, const NamedDesign&) = default;
};

struct StudyPages {
  ServiceLimits limits;  // of the page Serving
  std::vector<double>
      bookmarks;             // of the timeline: parts of the step, ascending; a pinned step may be longer
  ServiceSpec service = {};  // of the page Requests
  friend bool operator==(const StudyPages&, const StudyPages&) = default;
};

struct Study {
  Design design;
  std::shared_ptr<const SearchResult> search;  // with its space; null: the document has none
  std::vector<NamedDesign> compared;           // in the order of the file
  // The search, a compared design or a setting of a page is unreadable and was dropped; the design itself is
  // readable.
  std::optional<Problem> lost;
  // True: read from a search result or a space. The design is the best one, or else the first of the space.
  bool of_search = false;
  bool of_report = false;  // read from a report as a web page or PDF
  StudyPages pages = {};
};

// The JSON of a saved design (design/document.h), with the search result under "explore", a list of {"name",
// "design"} under "compare" (with the settings of its requests under "requests", if it has own ones),
// {"ttft_limit", "tpot_limit"} in seconds under "serving", {"bookmarks"} under "timeline", and the settings
// of requests that differ from their defaults, as texts by id, under "requests".
std::string to_json(const Study& study);
// Reads a document, a search result (result_json) or a space without a result (to_json of SpaceSpec). A
// Problem if the design, the result or the space is unreadable.
Result<Study> study_from_json(const std::string& text, const std::string& where);
Result<Study> load_study(const std::filesystem::path& path);
// Writes a temporary file in the same folder and renames it, so that a failure leaves the old file intact.
std::optional<Problem> save_study(const Study& study, const std::filesystem::path& path);

}  // namespace shardscape
