// shardscape-cli trace
#include <charconv>
#include <iostream>

#include "app/cli/bundle_paths.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "app/cli/trace_output.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
constexpr size_t kFoundNodes = 50, kNeighbours = 200;
constexpr int kDeepest = 1000;

// A whole number of at least 0; `otherwise` if the flag is absent.
Result<uint64_t> number(const Arguments& arguments, const char* flag, uint64_t otherwise, uint64_t most) {
  const std::string* text = arguments.value(flag);
  if (!text) return otherwise;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value <= most) return value;
  return Problem{ProblemCode::FlagValueInvalid, flag, *text + " is not a number of the accepted range",
                 "0 to " + std::to_string(most)};
}

int overview(const Arguments& arguments, const std::map<int64_t, fs::path>& traces, bool whole) {
  Interrupt interrupt;
  const fs::path given = arguments.operands().front();
  std::error_code error;
  const BundlePaths paths = bundle_paths(arguments,
                                         fs::is_directory(given, error) ? given : given.parent_path());
  const auto read = [&] {
    ProgressLine line;
    return read_trace_overview(
        given.string(), paths, traces, whole,
        [&](double part) { line.show("read " + std::to_string(static_cast<int>(100 * part)) + " %"); },
        interrupt.token());
  }();
  if (const auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
  const TraceOverview& out = std::get<TraceOverview>(read);
  if (interrupt.requested()) {
    std::cerr << "interrupted: not all traces are read\n";
    return kInterrupted;
  }
  std::cout << (arguments.has("--json") ? overview_json(out) : terminal_text(overview_text(out)));
  return kDone;
}

int query(const Arguments& arguments, const fs::path& file) {
  const auto content = load_trace(file);
  if (const auto* problem = std::get_if<Problem>(&content)) return print_refusal(*problem);
  const bool json = arguments.has("--json");
  if (const std::string* text = arguments.value("--find")) {
    const auto found = find_nodes(file, std::get<std::string>(content), *text, kFoundNodes);
    if (const auto* problem = std::get_if<Problem>(&found)) return print_refusal(*problem);
    const FoundNodes& nodes = std::get<FoundNodes>(found);
    std::cout << (json ? found_json(nodes) : terminal_text(found_text(nodes, *text)));
    return nodes.count > 0 ? kDone : kNegativeAnswer;
  }
  const auto id = number(arguments, "--node", 0, UINT64_MAX),
             depth = number(arguments, "--depth", 1, kDeepest);
  for (const auto* value : {&id, &depth})
    if (const auto* problem = std::get_if<Problem>(value)) return failed(*problem, kWrongUsage);
  const auto around = around_node(file, std::get<std::string>(content), std::get<uint64_t>(id),
                                  static_cast<int>(std::get<uint64_t>(depth)), kNeighbours);
  if (const auto* problem = std::get_if<Problem>(&around)) return failed(*problem, kNegativeAnswer);
  const auto& nodes = std::get<Neighbourhood>(around);
  std::cout << (json ? neighbourhood_json(nodes) : terminal_text(neighbourhood_text(nodes)));
  return kDone;
}

int run_trace(const Arguments& arguments) {
  if (arguments.operands().empty())
    return failed(
        {ProblemCode::OperandMissing, "FILE", "the trace is missing", "shardscape-cli trace FILE|FOLDER"},
        kWrongUsage);
  auto found = find_traces(arguments.operands().front());
  if (const auto* problem = std::get_if<Problem>(&found)) return print_refusal(*problem);
  auto& traces = std::get<0>(found);
  const auto rank = number(arguments, "--rank", static_cast<uint64_t>(traces.begin()->first), INT32_MAX);
  if (const auto* problem = std::get_if<Problem>(&rank)) return failed(*problem, kWrongUsage);
  const auto wanted = static_cast<int64_t>(std::get<uint64_t>(rank));
  const auto it = traces.find(wanted);
  if (it == traces.end())
    return failed(
        {ProblemCode::FlagValueInvalid, "--rank", "there is no trace of rank " + std::to_string(wanted),
         "a rank from " + std::to_string(traces.begin()->first) + " to " +
             std::to_string(traces.rbegin()->first)},
        kWrongUsage);
  if (arguments.has("--depth") && !arguments.has("--node"))
    return wrong_usage({ProblemCode::ConflictingFlags, "--depth", "no node is given", "--node ID with it"});
  if (arguments.has("--find") || arguments.has("--node")) {
    if (traces.size() > 1 && !arguments.has("--rank") && !arguments.has("--json"))
      std::cout << "rank " << wanted << "; --rank N shows another\n";
    return query(arguments, it->second);
  }
  if (arguments.has("--rank")) return overview(arguments, {*it}, false);
  return overview(arguments, traces, true);
}

}  // namespace

Command trace_command() {
  std::vector<Flag> flags{
      {"--rank", 0, FlagKind::Value, "N", "Read the trace of this rank only.", ""},
      {"--node", 0, FlagKind::Value, "ID", "Show the node with this id, and the nodes around it.", ""},
      {"--depth", 0, FlagKind::Value, "K", "With --node: follow at most K dependencies; default: 1.", ""},
      {"--find", 0, FlagKind::Value, "TEXT", "List the nodes with this text in their name.", ""},
      json_flag()};
  for (Flag& flag : bundle_path_flags()) flags.push_back(std::move(flag));
  return {
      "trace",
      "show what execution traces hold",
      "FILE|FOLDER [--rank N] [--node ID [--depth K] | --find TEXT] [--json]",
      "Prints nodes by kind, FLOPs, collectives by type, group and size, durations, ranks with equal traces "
      "and the longest chain of dependencies. Reads Chakra traces of all versions, binary and JSON, and "
      "execution traces of PyTorch; also compressed with gzip. A folder with network.yml and system.json is "
      "checked as well. Exit code 1: no node has the id or the text.",
      {"shardscape-cli trace out/llama8", "shardscape-cli trace out/llama8 --rank 3 --find attention",
       "shardscape-cli trace out/llama8/trace.0.et --node 17 --depth 2"},
      flags,
      1,
      run_trace};
}

}  // namespace shardscape
