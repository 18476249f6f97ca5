// shardscape-cli graph
#include <algorithm>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/graph_listing.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"

namespace shardscape {
namespace {

int unknown(const char* flag, const std::string& word, std::vector<std::string> known) {
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  print_problem({ProblemCode::FlagValueInvalid, flag, "the graph has no \"" + word + "\"",
                 "one of " + joined(known, ", ")});
  return kWrongUsage;
}

// An exit code, or 0 and the filter.
int read_filter(const Arguments& arguments, const Graph& graph, GraphFilter& filter) {
  std::vector<std::string> segments, phases;
  for (const Segment& segment : graph.segments) {
    segments.push_back(segment.name);
    for (const Op& op : segment.ops) {
      phases.emplace_back(phase_name(op.phase));
      if (const auto* word = arguments.value("--phase"); word && *word == phases.back())
        filter.phase = op.phase;
    }
  }
  if (const std::string* word = arguments.value("--segment")) {
    if (std::find(segments.begin(), segments.end(), *word) == segments.end())
      return unknown("--segment", *word, segments);
    filter.segment = *word;
  }
  const std::string* word = arguments.value("--phase");
  return word && !filter.phase ? unknown("--phase", *word, phases) : kDone;
}

using Print = std::string (*)(const Report& report, const std::vector<ListedSegment>& listing);

int run_graph(const Arguments& arguments) {
  const std::pair<const char*, Print> formats[] = {
      {"--json", graph_json}, {"--dot", graph_dot}, {"--graphml", graph_graphml}};
  Print print = graph_text;
  const char* chosen = nullptr;
  for (const auto& [flag, of_flag] : formats) {
    if (!arguments.has(flag)) continue;
    if (chosen) {
      print_problem({ProblemCode::ConflictingFlags, flag, std::string("it cannot be combined with ") + chosen,
                     "one of the two"});
      return kWrongUsage;
    }
    chosen = flag;
    print = of_flag;
  }
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  print_design_problems(report.problems, arguments);
  GraphFilter filter;
  if (const int exit_code = read_filter(arguments, report.graph(), filter)) return exit_code;
  std::cout << print(report, list_graph(report, filter));
  return kDone;
}

}  // namespace

Command graph_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--dot", 0, FlagKind::Switch, "", "Print the graph for Graphviz.", ""},
      {"--graphml", 0, FlagKind::Switch, "", "Print the graph as GraphML, for NetworkX, Gephi or yEd.", ""},
      {"--segment", 0, FlagKind::Value, "NAME", "Only this segment: embedding, a kind of layer, or head.",
       ""},
      {"--phase", 0, FlagKind::Value, "NAME", "Only this phase: forward or backward.", ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "graph",
      "print the symbolic tensor graph of a design, op by op",
      "[FLAGS]",
      std::string(
          "Prints the forward and backward ops of every segment (embedding, each kind of layer, head) with "
          "shapes, placements and formulas of FLOPs. Every collective has the reason why it is inserted. ") +
          kDesignFlagsHelp,
      {"shardscape-cli graph --model llama3-8b --tp 2 --segment layer --phase forward",
       "shardscape-cli graph --model llama3-70b --tp 8 --sequence-parallel --json",
       "shardscape-cli graph --segment layer --dot > layer.dot"},
      std::move(flags),
      0,
      run_graph};
}

}  // namespace shardscape
