// shardscape-cli compare
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "explore/comparison.h"
#include "explore/study.h"
#include "report/campaign_report.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

// Makes equal names distinct: by the file name, else by the path, else by the index.
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

// "-12.2 % better"
std::string judged_percent(const ComparedFigure& figure, size_t design) {
  const std::string percent = figure.percent(design);
  switch (figure.verdict(design)) {
    case Verdict::Better: return percent + " better";
    case Verdict::Worse: return percent + " worse";
    case Verdict::None: break;
  }
  return percent;
}

json verdict_json(Verdict verdict) {
  switch (verdict) {
    case Verdict::Better: return "better";
    case Verdict::Worse: return "worse";
    case Verdict::None: break;
  }
  return nullptr;
}

json compare_json(const std::vector<std::string>& names, const std::vector<ComparedKnob>& knobs,
                  const std::vector<ComparedFigure>& figures) {
  json out{{"designs", names}};
  json& differing = out["knobs"] = json::object();
  for (const ComparedKnob& row : knobs) differing[row.knob->id] = row.values;
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
  }
  return out;
}

std::string compare_text(const std::vector<std::string>& names, const std::vector<ComparedKnob>& knobs,
                         const std::vector<ComparedFigure>& figures) {
  std::vector<std::vector<std::string>> rows{{""}};
  std::vector<Align> aligns{Align::Left};
  for (const std::string& name : names) {
    rows[0].push_back(name);
    aligns.push_back(Align::Right);
  }
  for (const ComparedKnob& row : knobs) {
    rows.push_back({"  " + row.knob->label});
    for (const std::string& value : row.values) rows.back().push_back(value.empty() ? "-" : value);
  }
  std::string out = knobs.empty() ? "no setting differs\n" : text_table(rows, aligns);
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
  }
  return out + "\n" + text_table(rows, aligns);
}

int run(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  std::vector<std::string> names, paths;
  std::vector<Design> designs;
  std::vector<ComparedDesign> compared_designs;
  for (const std::string& path : arguments.operands()) {
    auto loaded = load_study(path);
    if (const auto* problem = std::get_if<Problem>(&loaded)) {
      print_problem(*problem);
      return kFileError;
    }
    const Study& study = std::get<Study>(loaded);
    if (arguments.operands().size() == 1) {
      // Pinned designs are older: the first is the baseline, as in the window.
      if (study.lost) print_problem(*study.lost);
      for (const NamedDesign& pinned : study.compared) {
        designs.push_back(pinned.design);
        names.push_back(pinned.name);
        paths.push_back(path + ", " + pinned.name);
      }
    }
    designs.push_back(study.design);
    names.push_back(study.design.name);
    paths.push_back(path);
  }
  if (designs.size() < 2) {
    print_problem({ProblemCode::OperandMissing, "DESIGN", "two designs are needed to compare",
                   "shardscape-cli compare A.json B.json, or one document with pinned designs"});
    return kWrongUsage;
  }
  const auto plans = std::make_shared<PlanCache>();
  for (size_t i = 0; i < designs.size(); ++i) {
    compared_designs.push_back(compared(designs[i], plans));
    if (compared_designs.back().simulation) continue;
    std::cerr << paths[i] << ":\n";
    print_problems(compared_designs.back().report->problems);
    return kNegativeAnswer;
  }
  tell_apart(names, paths);
  const auto knobs = compare_knobs(designs);
  const auto figures = compare_figures(compared_designs);
  std::vector<ClusterSpec> clusters;
  for (const Design& design : designs) clusters.push_back(design.cluster);
  if (arguments.has("--json"))
    std::cout << compare_json(names, knobs, figures).dump(2, ' ', false, json::error_handler_t::replace)
              << "\n";
  else
    std::cout << compare_text(names, knobs, figures) << missing_costs_text(clusters);
  return kDone;
}

}  // namespace

Command compare_command() {
  return {"compare",
          "compare designs",
          "A.json [B.json...] [--json]",
          "Prints the settings that differ, then time, rates and memory of each design, with the difference "
          "from the first design, absolute and in percent. Designs with equal names have their file names as "
          "headings. In a single document, the pinned designs come first, then the design itself.",
          {"shardscape-cli compare ours.shardscape.json theirs.shardscape.json"},
          {json_flag()},
          kAnyNumber,
          run};
}

}  // namespace shardscape
