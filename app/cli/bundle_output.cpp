#include "app/cli/bundle_output.h"

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "base/units.h"

namespace shardscape {
namespace {

std::string progress_text(const ExportProgress& p) {
  std::string text = "rank " + grouped(p.ranks_done) + " of " + grouped(p.ranks) + ", " +
                     format_bytes(p.bytes);
  if (p.seconds <= 0) return text;
  const double rate = static_cast<double>(p.bytes) / p.seconds;
  return text + ", " + format_bytes(static_cast<Wide>(rate), UnitSystem::Decimal) + "/s";
}

// An impossible trace is a problem of the design; all other problems are of the folder or the disk.
int exit_code_of(const Problem& problem) {
  if (problem.code == ProblemCode::TraceNameInvalid) return kWrongUsage;
  const bool of_design = problem.code == ProblemCode::DesignNotComputed ||
                         problem.code == ProblemCode::TraceOverflow ||
                         problem.code == ProblemCode::UnknownAccelerator;
  return of_design ? kNegativeAnswer : kFileError;
}

}  // namespace

std::vector<Flag> bundle_flags() {
  return {{"--name", 0, FlagKind::Value, "NAME", "Traces are called NAME.<rank>.et; default: trace.", ""},
          {"--tensors", 0, FlagKind::Switch, "",
           "Write names and sizes of input and output tensors; more than doubles the size.", ""},
          {"--flat-network", 0, FlagKind::Switch, "", kFlatNetworkHelp, ""},
          {"--replace", 0, FlagKind::Switch, "",
           "Replace an existing bundle. A folder that is not a bundle is never replaced.", ""}};
}

ExportOptions bundle_options(const Arguments& arguments, const std::filesystem::path& target) {
  ExportOptions options;
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
}

std::string summary_text(const ExportSummary& s, const std::filesystem::path& target) {
  return "wrote the traces of " + grouped(s.ranks) + " ranks, " + grouped(s.nodes) + " nodes, " +
         format_bytes(s.bytes) + ", in " + format_seconds(s.seconds) + " to " + s.target.string() + "\n" +
         "check it with: shardscape-cli check " + target.string() + "\n";
}

}  // namespace shardscape
