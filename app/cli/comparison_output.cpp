#include "app/cli/comparison_output.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/text.h"
#include "base/json_text.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

// "-12.2 % better"
std::string judged_percent(const ComparedFigure& figure, size_t design) {
  const std::string percent = figure.percent(design);
  switch (figure.verdict(design)) {
    case Verdict::Better: return percent + " better";
    case Verdict::Worse: return percent + " worse";
    case Verdict::Tie: return percent + " tie";
    case Verdict::None: break;
  }
  return percent;
}

json verdict_json(Verdict verdict) {
  switch (verdict) {
    case Verdict::Better: return "better";
    case Verdict::Worse: return "worse";
    case Verdict::Tie: return "tie";
    case Verdict::None: break;
  }
  return nullptr;
}

// The band of a design's value relative to the first design's, and how sure the sign of the change is. Null
// for the first design, and for designs of different workloads.
json ratio_json(const ComparedFigure& figure, size_t design) {
  const auto it = figure.ratios.find({0, design});
  const double ratio = figure.values[design] / figure.values[0];
  if (it == figure.ratios.end() || !std::isfinite(ratio)) return nullptr;
  const RatioErrors& errors = *it->second;
  return {{"ratio", ratio},
          {"low", ratio / errors.factor()},
          {"high", ratio * errors.factor()},
          {"confidence", errors.confidence(ratio)},
          {"basis", errors.basis}};
}

}  // namespace

void tell_apart(std::vector<std::string>& names, const std::vector<std::string>& paths) {
  const auto file_name = [](const std::string& path) {
    std::string name = std::filesystem::path(path).filename().string();
    for (const std::string_view end : {".json", ".shardscape"})
      if (name.ends_with(end)) name.resize(name.size() - end.size());
    return name;
  };
  for (int round = 0; round < 3; ++round) {
    const std::vector<std::string> before = names;
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::count(before.begin(), before.end(), before[i]) < 2) continue;
      names[i] = round == 0   ? file_name(paths[i])
                 : round == 1 ? paths[i]
                              : before[i] + " #" + std::to_string(i + 1);
    }
  }
}

std::string comparison_json(const char* kind, const std::vector<std::string>& names,
                            const std::vector<std::pair<const char*, std::vector<DifferentSetting>>>& lists,
                            const std::vector<ComparedFigure>& figures) {
  json out{{kind, names}};
  for (const auto& [key, settings] : lists) {
    json& differing = out[key] = json::object();
    for (const DifferentSetting& row : settings) differing[row.id] = row.values;
  }
  json& list = out["figures"] = json::array();
  for (const ComparedFigure& row : figures) {
    json values = json::array(), differences = json::array(), percents = json::array(),
         verdicts = json::array();
    for (size_t i = 0; i < row.values.size(); ++i) {
      const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(nullptr); };
      values.push_back(number(row.values[i]));
      differences.push_back(number(row.change(i)));
      percents.push_back(number(100 * row.change(i) / row.values[0]));
      verdicts.push_back(verdict_json(row.verdict(i)));
    }
    list.push_back({{"id", row.id},
                    {"label", row.label},
                    {"group", figure_group_label(row.group)},
                    {"values", values},
                    {"differences", differences},
                    {"percents", percents},
                    {"verdicts", verdicts}});
    if (row.bands.empty()) continue;
    json& ratios = list.back()["ratios"] = json::array();
    for (size_t i = 0; i < row.values.size(); ++i) ratios.push_back(ratio_json(row, i));
    json& bands = list.back()["bands"] = json::array();
    for (const auto& [low, high] : row.bands)
      bands.push_back(std::isfinite(low) ? json{low, high} : json(nullptr));
  }
  return json_document(out);
}

std::string comparison_text(const std::vector<std::string>& names,
                            const std::vector<DifferentSetting>& settings,
                            const std::vector<ComparedFigure>& figures) {
  std::vector<std::vector<std::string>> rows{{""}};
  std::vector<Align> aligns{Align::Left};
  for (const std::string& name : names) {
    rows[0].push_back(name);
    aligns.push_back(Align::Right);
  }
  for (const DifferentSetting& row : settings) {
    rows.push_back({"  " + row.label});
    for (const std::string& value : row.values) rows.back().push_back(value.empty() ? "-" : value);
  }
  std::string out = settings.empty() ? "no setting differs\n" : text_table(rows, aligns);
  rows = {{""}};
  aligns = {Align::Left};
  for (size_t i = 0; i < names.size(); ++i) {
    rows[0].push_back(names[i]);
    aligns.push_back(Align::Right);
    if (i == 0) continue;
    rows[0].insert(rows[0].end(), {"difference", "percent"});
    aligns.insert(aligns.end(), {Align::Right, Align::Right});
  }
  std::optional<FigureGroup> group;
  for (const ComparedFigure& row : figures) {
    if (row.group != group) rows.push_back({std::string(figure_group_label(row.group)), ""});
    group = row.group;
    rows.push_back({"  " + row.label});
    for (size_t i = 0; i < names.size(); ++i) {
      rows.back().push_back(row.text(i));
      if (i > 0) rows.back().insert(rows.back().end(), {row.difference(i), judged_percent(row, i)});
    }
    constexpr std::string_view kShown[] = {"step_seconds", "memory", "ttft_mean_seconds",
                                           "tpot_mean_seconds"};
    if (row.bands.empty() || std::find(std::begin(kShown), std::end(kShown), row.id) == std::end(kShown))
      continue;
    rows.push_back({"    80 % band"});
    for (size_t i = 0; i < names.size(); ++i) {
      rows.back().push_back(row.band(i));
      if (i > 0) rows.back().insert(rows.back().end(), {"", row.judged_ratio(i)});
    }
  }
  return out + "\n" + text_table(rows, aligns);
}

std::string comparison_csv(const std::vector<std::string>& names,
                           const std::vector<ComparedFigure>& figures) {
  const auto number = [](double value) { return "," + (std::isfinite(value) ? json(value).dump() : ""); };
  std::string out = "figure";
  for (const std::string& name : names) out += "," + csv_cell(name);
  for (const std::string& name : names)
    for (const char* end : {" (80 % band, low)", " (80 % band, high)"}) out += "," + csv_cell(name + end);
  out += "\n";
  for (const ComparedFigure& row : figures) {
    out += row.id;
    for (const double value : row.values) out += number(value);
    for (size_t i = 0; i < names.size(); ++i)
      out += row.bands.empty() ? ",," : number(row.bands[i].first) + number(row.bands[i].second);
    out += "\n";
  }
  return out;
}

}  // namespace shardscape
