// shardscape-cli compare
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/comparison_output.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/page_files.h"
#include "app/cli/trace_compare.h"
#include "base/atomic_write.h"
#include "explore/comparison.h"
#include "explore/study.h"
#include "report/campaign_report.h"
#include "report/comparison_page.h"

namespace shardscape {
namespace {

int run_compare(const Arguments& arguments) {
  if (names_traces(arguments)) return compare_trace_operands(arguments);
  if (!models_found()) return kFileError;
  std::vector<std::string> names, paths;
  std::vector<Design> designs;
  std::vector<ComparedDesign> compared_designs;
  for (const std::string& path : arguments.operands()) {
    auto loaded = load_study(path);
    if (const auto* problem = std::get_if<Problem>(&loaded)) return print_refusal(*problem);
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
    print_problems_of_file(compared_designs.back().report->problems, paths[i]);
    return kNegativeAnswer;
  }
  tell_apart(names, paths);
  std::vector<DifferentSetting> knobs;
  for (ComparedKnob& row : compare_knobs(designs))
    knobs.push_back({row.knob->id, row.knob->label, std::move(row.values)});
  const auto figures = compare_figures(compared_designs);
  std::vector<ClusterSpec> clusters;
  clusters.reserve(designs.size());
  for (const Design& design : designs) clusters.push_back(design.cluster);
  if (const std::string* path = arguments.value("--csv"))
    if (const auto problem = atomic_write(*path, comparison_csv(names, figures))) {
      print_problem(*problem);
      return kFileError;
    }
  if (wants_page(arguments)) return write_pages(arguments, comparison_page(names, compared_designs));
  if (arguments.has("--json"))
    std::cout << comparison_json("designs", names, {{"knobs", knobs}}, figures);
  else
    std::cout << comparison_text(names, knobs, figures) << missing_costs_text(clusters);
  return kDone;
}

}  // namespace

Command compare_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--csv", 0, FlagKind::Value, "FILE", "Write a table: a row per figure.", "", Output::File}};
  for (Flag& flag : page_flags()) flags.push_back(std::move(flag));
  return {
      "compare",
      "compare designs, bundles or traces",
      "A [B...] [--json] [--csv FILE] [--html FILE] [--pdf FILE]",
      "Prints the settings that differ, then time, rates and memory of each design, with the difference "
      "from the first design, absolute and in percent. Layouts of one workload are a tie if the 80 % "
      "band of the ratio contains 1, other designs if their 80 % bands overlap. "
      "Designs with equal names have their file names as "
      "headings. In a single document, the pinned designs come first, then the design itself. Where an "
      "operand is "
      "a bundle or a trace, two operands are compared as traces: kinds of nodes, communication by type, "
      "group "
      "and size, and the nodes that differ; a design is exported for this. Exit code 1: the traces differ.",
      {"shardscape-cli compare ours.shardscape.json theirs.shardscape.json",
       "shardscape-cli compare ours.shardscape.json theirs.shardscape.json --html comparison.html",
       "shardscape-cli compare out/llama8 out/stage"},
      std::move(flags),
      kAnyNumber,
      run_compare};
}

}  // namespace shardscape
