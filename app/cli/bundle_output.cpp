#include "app/cli/bundle_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "base/json_text.h"
#include "base/units.h"
#include "bundle/archive.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

std::string progress_text(const ExportProgress& p) {
  std::string text = "rank " + grouped(p.ranks_done) + " of " + grouped(p.ranks) + ", " +
                     format_bytes(p.bytes);
  if (p.seconds <= 0) return text;
  const double rate = static_cast<double>(p.bytes) / p.seconds;
  return text + ", " + format_bytes(static_cast<Wide>(rate), UnitSystem::Decimal) + "/s";
}

// An impossible trace is a problem of the design, a damaged compact bundle one of its content; all other
// problems are of the folder or the disk.
int exit_code_of(const Problem& problem) {
  if (problem.code == ProblemCode::TraceNameInvalid || problem.code == ProblemCode::ConflictingFlags ||
      problem.code == ProblemCode::FlagValueInvalid)
    return kWrongUsage;
  const bool of_design = problem.code == ProblemCode::DesignNotComputed ||
                         problem.code == ProblemCode::TraceOverflow ||
                         problem.code == ProblemCode::ValueTooLarge || problem.code == ProblemCode::OneRank ||
                         problem.code == ProblemCode::UnknownAccelerator;
  return of_design || problem.code == ProblemCode::WrongKindOfFile ? kNegativeAnswer : kFileError;
}

// Whether the bundle goes to standard output, by whatever name.
bool writes_standard_output(const fs::path& target) {
  if (target == "-") return true;
  struct stat named {
  }, standard{};
  return archive_format(target) && ::stat(target.c_str(), &named) == 0 &&
         ::fstat(STDOUT_FILENO, &standard) == 0 && named.st_dev == standard.st_dev &&
         named.st_ino == standard.st_ino;
}

std::string summary_text(const ExportSummary& s, const fs::path& target) {
  const std::string traces = "the traces of " + grouped(s.ranks) + " ranks, " + grouped(s.nodes) +
                             " nodes, " + format_bytes(s.bytes);
  const std::string where = target == "-" ? "standard output" : s.target.string();
  if (s.stored_bytes > 0)
    return "wrote a compact bundle, " + format_bytes(s.stored_bytes) + ", in " + format_seconds(s.seconds) +
           " to " + where + "\nit stands for " + traces + "\nexpand it with: shardscape-cli expand " +
           target.string() + " -o DIR\n";
  std::string text = (s.resumed ? "resumed and wrote " : "wrote ") + traces + ", in " +
                     format_seconds(s.seconds) + " to " + where + "\n";
  if (!archive_format(target)) text += "check it with: shardscape-cli check " + target.string() + "\n";
  return text;
}

}  // namespace

std::vector<Flag> bundle_flags() {
  return {
      {"--name", 0, FlagKind::Value, "NAME", "Traces are called NAME.<rank>.et; default: trace.", ""},
      {"--tensors", 0, FlagKind::Switch, "",
       "Write names and sizes of input and output tensors; more than doubles the size.", ""},
      {"--granularity", 0, FlagKind::Value, "NAME",
       "What a compute node covers: " + granularity_list() +
           ". block: the ops of attention or of the MLP of a layer; pass: the forward or the backward of a "
           "microbatch; between-communications: all compute between two communications. FLOPs, bytes and "
           "seconds add up to the same totals, and communication is the same. Default: op.",
       ""},
      {"--networks", 0, FlagKind::Value, "NAMES", kNetworksHelp, ""},
      {"--flat-network", 0, FlagKind::Switch, "", kFlatNetworkHelp, ""},
      {"--replace", 0, FlagKind::Switch, "",
       "Replace an existing bundle or archive of a bundle. Other folders and files are never replaced.", ""}};
}

Result<ExportOptions> bundle_options(const Arguments& arguments, const std::filesystem::path& target) {
  ExportOptions options;
  if (const std::string* name = arguments.value("--granularity")) {
    const auto granularity = parse_granularity(*name);
    if (!granularity)
      return Problem{ProblemCode::FlagValueInvalid, "--granularity", "\"" + *name + "\" is no granularity",
                     granularity_list()};
    options.granularity = *granularity;
  }
  if (const std::string* names = arguments.value("--networks")) {
    auto read = parse_packet_backends(*names, "--networks");
    if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
    options.networks = std::move(std::get<std::vector<PacketBackend>>(read));
  }
  options.target = target;
  if (const std::string* name = arguments.value("--name")) options.name = *name;
  options.tensors = arguments.has("--tensors");
  options.flat_network = arguments.has("--flat-network");
  options.replace = arguments.has("--replace");
  return options;
}

Result<ExportSummary> with_progress(const BundleExport& write) {
  ProgressLine line;
  return write([&](const ExportProgress& p) { line.show(progress_text(p)); });
}

int export_failed(const Problem& problem, const Interrupt& interrupt) {
  print_problem(problem);
  return interrupt.requested() ? static_cast<int>(kInterrupted) : exit_code_of(problem);
}

void print_substitutions(const ExportSummary& summary) {
  for (const std::string& text : summary.substitutions)
    print_problem(Problem::note(ProblemCode::NetworkApproximated, "network.yml", text));
  for (const auto& [file, text] : summary.packet_substitutions)
    print_problem(Problem::note(ProblemCode::NetworkApproximated, file, text));
}

void print_summary(const ExportSummary& s, const fs::path& target, const std::string& name, bool json,
                   bool on_error) {
  for (const std::string& line : s.removed) std::cerr << "note: " << line << "\n";
  std::ostream& out = on_error || writes_standard_output(target) ? std::cerr : std::cout;
  if (!json) {
    out << summary_text(s, target);
    return;
  }
  nlohmann::ordered_json j{{"target", s.target.string()}};
  if (!name.empty()) j["name"] = name;
  j.update({{"ranks", s.ranks},
            {"nodes", s.nodes},
            {"bytes", s.bytes},
            {"seconds", s.seconds},
            {"resumed", s.resumed},
            {"removed", s.removed},
            {"nearest", s.substitutions}});
  for (const auto& [file, text] : s.packet_substitutions) j["packet_nearest"][file].push_back(text);
  if (s.stored_bytes > 0) j["stored_bytes"] = s.stored_bytes;
  out << json_document(j);
}

Flag resume_flag() {
  return {
      "--resume",
      0,
      FlagKind::Switch,
      "",
      "Go on with what a killed export, or one on a full disk, left next to the folder. The design and the "
      "flags must be the same; the bundle has the same bytes as from one export. Without --resume, an export "
      "removes what was left.",
      ""};
}

}  // namespace shardscape
