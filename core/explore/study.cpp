#include "explore/study.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_write.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "design/document.h"
#include "design/embedded_document.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kKey = "explore";
constexpr const char* kCompared = "compare";
constexpr const char *kServing = "serving", *kTimeline = "timeline", *kBookmarks = "bookmarks",
                     *kRequests = "requests";
constexpr std::pair<const char*, std::optional<double> ServiceLimits::*> kLimits[] = {
    {"ttft_limit", &ServiceLimits::ttft}, {"tpot_limit", &ServiceLimits::tpot}};

Study study_of(SearchResult result) {
  Study study{{}, std::make_shared<const SearchResult>(std::move(result)), {}, std::nullopt, true};
  const SearchResult& search = *study.search;
  study.design = search.space->design_at(search.best.empty() ? 0 : search.best.front().index);
  return study;
}

// Reads results of `shardscape-cli explore -o` and merge, and space files of --space.
std::optional<Result<Study>> of_search(const std::string& text, const std::string& where) {
  json root;
  if (parse_json(text, root)) return std::nullopt;  // the reader of designs tells the mistake
  if (root.is_object() && root.contains("shardscape_result")) {
    auto result = result_from_json(text, where);
    if (auto* problem = std::get_if<Problem>(&result)) return std::move(*problem);
    return study_of(std::get<SearchResult>(std::move(result)));
  }
  if (root.is_object() && root.contains("shardscape_space")) {
    auto spec = space_from_json(text, where);
    if (auto* problem = std::get_if<Problem>(&spec)) return std::move(*problem);
    auto space = Space::make(std::get<SpaceSpec>(std::move(spec)));
    if (auto* problem = std::get_if<Problem>(&space)) return std::move(*problem);
    return study_of(ResultCollector(std::get<0>(std::move(space)), {}).result());
  }
  return std::nullopt;
}

// The settings that differ from their defaults, as texts by id.
json service_json(const ServiceSpec& service) {
  json out = json::object();
  const ServiceSpec standard;
  for (const ServiceSetting& setting : service_settings())
    if (std::string text = setting.text(service); text != setting.text(standard))
      out[setting.id] = std::move(text);
  return out;
}

void write_pages(json& root, const StudyPages& pages) {
  for (const auto& [key, limit] : kLimits)
    if (const auto& seconds = pages.limits.*limit) root[kServing][key] = *seconds;
  if (!pages.bookmarks.empty()) root[kTimeline][kBookmarks] = pages.bookmarks;
  if (json requests = service_json(pages.service); !requests.empty()) root[kRequests] = std::move(requests);
}

// Settings that are unknown or out of their range are lost, the others are there.
void read_service(const json& requests, const std::string& where, ServiceSpec& service,
                  std::optional<Problem>& lost) {
  if (!requests.is_object()) {
    lost = Problem{ProblemCode::DataValue, where, "the value is not an object", "settings by their id"};
    return;
  }
  for (const auto& [id, text] : requests.items()) {
    const ServiceSetting* setting = find_setting(id);
    ServiceSpec spec = service;
    std::optional<Problem> problem;
    if (!setting || !text.is_string())
      problem = Problem{ProblemCode::DataValue, {}, "\"" + id + "\" is no setting with a text"};
    else
      problem = set_setting(spec, *setting, text.get<std::string>());
    if (!problem) problem = check_spec(spec);
    if (problem) {
      problem->where = where;
      lost = std::move(*problem);
    } else {
      service = spec;
    }
  }
}

void read_pages(const json& root, const std::string& where, Study& study) {
  const auto lose = [&](const char* key, const char* accepted) {
    study.lost = Problem{ProblemCode::DataValue, where + " (" + key + ")", "this value cannot be read",
                         accepted};
  };
  if (const auto serving = root.find(kServing); serving != root.end()) {
    if (!serving->is_object()) lose(kServing, "an object");
    for (const auto& [key, limit] : kLimits) {
      const auto it = serving->is_object() ? serving->find(key) : serving->end();
      if (it == serving->end()) continue;
      if (it->is_number() && it->get<double>() > 0)
        study.pages.limits.*limit = it->get<double>();
      else
        lose(key, "seconds above 0");
    }
  }
  if (const auto requests = root.find(kRequests); requests != root.end())
    read_service(*requests, where + " (" + kRequests + ")", study.pages.service, study.lost);
  const auto timeline = root.find(kTimeline);
  if (timeline == root.end()) return;
  const json marks = timeline->is_object() ? timeline->value(kBookmarks, json::array()) : json();
  const bool numbers = marks.is_array() && std::all_of(marks.begin(), marks.end(), [](const json& mark) {
                         return mark.is_number() && mark.get<double>() >= 0;
                       });
  constexpr size_t kMostBookmarks = 1000;
  if (!numbers || marks.size() > kMostBookmarks)
    return lose(kTimeline, "a list of at most 1000 parts of the step under \"bookmarks\"");
  for (const json& mark : marks) study.pages.bookmarks.push_back(mark.get<double>());
  std::sort(study.pages.bookmarks.begin(), study.pages.bookmarks.end());
}

}  // namespace

std::string to_json(const Study& study) {
  if (!study.search && study.compared.empty() && study.pages == StudyPages()) return to_json(study.design);
  json root = json::parse(to_json(study.design));
  for (const NamedDesign& compared : study.compared) {
    json entry{{"name", compared.name}, {"design", json::parse(to_json(compared.design))}};
    if (compared.service) entry[kRequests] = service_json(*compared.service);
    root[kCompared].push_back(std::move(entry));
  }
  write_pages(root, study.pages);
  if (study.search) root[kKey] = json::parse(result_json(*study.search));
  return json_document(root, 1);
}

Result<Study> study_from_json(const std::string& text, const std::string& where) {
  if (auto search = of_search(text, where)) return std::move(*search);
  auto design = design_from_json(text, where);
  if (auto* problem = std::get_if<Problem>(&design)) return std::move(*problem);
  Study study{std::get<Design>(std::move(design)), nullptr, {}, std::nullopt, false};
  json root;
  if (auto problem = read_json(text, where, root)) return std::move(*problem);
  if (const auto it = root.find(kKey); it != root.end()) {
    auto result = result_from_json(it->dump(1), where + " (" + kKey + ")");
    if (auto* problem = std::get_if<Problem>(&result))
      study.lost = std::move(*problem);
    else
      study.search = std::make_shared<const SearchResult>(std::get<SearchResult>(std::move(result)));
  }
  if (const auto it = root.find(kCompared); it != root.end()) {
    const std::string place = where + " (" + kCompared + ")";
    if (!it->is_array())
      study.lost = Problem{ProblemCode::DataValue, place, "the value is not a list",
                           "a list of {\"name\", \"design\"}"};
    else
      for (const json& entry : *it) {
        const bool named = entry.is_object() && entry.contains("design") &&
                           entry.value("name", json()).is_string();
        auto design = design_from_json(named ? entry["design"].dump(1) : "", place);
        if (auto* problem = std::get_if<Problem>(&design)) {
          study.lost = std::move(*problem);
          continue;
        }
        study.compared.push_back({entry["name"].get<std::string>(), std::get<Design>(std::move(design))});
        if (entry.contains(kRequests))
          read_service(entry[kRequests], place, study.compared.back().service.emplace(), study.lost);
      }
  }
  read_pages(root, where, study);
  return study;
}

Result<Study> load_study(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  const bool of_report = is_report_document(std::get<std::string>(text));
  auto json = design_json_of(std::get<std::string>(std::move(text)), path.string());
  if (auto* problem = std::get_if<Problem>(&json)) return std::move(*problem);
  auto study = study_from_json(std::get<std::string>(json), path.string());
  if (of_report)
    if (auto* read = std::get_if<Study>(&study)) read->of_report = true;
  return study;
}

std::optional<Problem> save_study(const Study& study, const std::filesystem::path& path) {
  return atomic_write(path, to_json(study));
}

}  // namespace shardscape
