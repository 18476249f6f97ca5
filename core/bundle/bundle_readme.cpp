#include "bundle/bundle_readme.h"

#include <algorithm>
#include <sstream>

#include "base/units.h"
#include "base/version.h"
#include "bundle/astra_command.h"
#include "bundle/bundle_files.h"
#include "bundle/simulator_facts.h"
#include "design/knobs/layout_text.h"

namespace shardscape {
namespace {

// "Llama 3 8B · tp 2 · pp 2 · sequence 8,192 · batch 64 · 8 x NVIDIA H100 SXM 80 GB"
std::string design_line(const Report& report) {
  const WorkloadSpec& w = report.design.workload;
  std::string line = report.design.name;
  for (const std::string& text : layout_texts(report.design)) line += " · " + text;
  line += w.mode == Mode::Decode ? " · context " + grouped(w.context_length)
                                 : " · sequence " + grouped(w.seq);
  return line + " · batch " + grouped(w.batch) + " · " + grouped(report.ranks) + " x " +
         report.accelerator->name;
}

// Every line as a block of code.
std::string code(const std::string& lines) {
  std::string out = "\n";
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) out += "    " + line + "\n";
  return out + "\n";
}

std::string file_table(const ExportOptions& options, const TraceTotals& totals) {
  std::string out = "| file | content |\n| --- | --- |\n| `" + options.name + ".0.et`";
  if (totals.ranks > 1) out += " to `" + options.name + "." + std::to_string(totals.ranks - 1) + ".et`";
  out += " | one Chakra trace per rank |\n";
  for (const BundleFile& file : kBundleFiles)
    out += std::string("| `") + file.name + "` | " + file.content + " |\n";
  return out;
}

// What the traces are, and of which design.
std::string content_lines(const Report& report, const StepWindow* window) {
  const std::string program = "Written by Shardscape " + std::string(program_version()) + ".\n\n";
  if (!window)
    return "Traces of one step of every rank in MLCommons Chakra format, with the files that ASTRA-sim "
           "needs. " +
           program + "- Design: " + design_line(report);
  std::string line = report.design.name;
  for (const std::string& text : layout_texts(report.design)) line += " · " + text;
  return "Traces of consecutive steps of a serving engine, for every rank of the engine, in MLCommons Chakra "
         "format, with the files that ASTRA-sim needs. " +
         program + "- Engine: " + line + " · " + grouped(report.ranks) + " x " + report.accelerator->name;
}

std::string length_line(double seconds, const StepWindow* window) {
  if (!window) return "- Estimated step: " + format_seconds(seconds);
  const WindowStep &first = window->steps().front(), &last = window->steps().back();
  return "- Steps: " + grouped(first.number) + " to " + grouped(last.number) + " of replica " +
         grouped(window->replica()) + ", " + format_seconds(seconds) + " from " +
         format_seconds(first.begin) + " of the run on";
}

std::string expectation(const ExportOptions& options, double seconds, const StepWindow* window) {
  if (window)
    return "The traces have the seconds of kernels and of the host, which `simulate` and ASTRA-sim replay; "
           "collectives and messages take what the simulator computes. Expect about " +
           format_seconds(seconds) + ".\n";
  if (options.durations)
    return "The traces have estimated compute times, which `simulate` and ASTRA-sim replay. Expect a step "
           "near the estimate, " +
           format_seconds(seconds) + ".\n";
  return "The traces have no compute times, so `simulate` and ASTRA-sim use the roofline of `" +
         std::string(kSystemName) + "`. Expect a step below the estimate, " + format_seconds(seconds) + ".\n";
}

std::string facts(const Report& report, const ExportOptions& options) {
  std::string out;
  for (std::string fact : simulator_facts(report, options)) {
    if (fact[0] != 'A') fact[0] = static_cast<char>(fact[0] - 'a' + 'A');
    out += "- " + fact + ".\n";
  }
  return out;
}

}  // namespace

std::string bundle_readme(const Report& report, const ExportOptions& options, const TraceTotals& totals,
                          double seconds, const StepWindow* window) {
  std::string out = "# Execution traces: " + report.design.name + "\n\n" + content_lines(report, window) +
                    "\n- Traces: " + grouped(totals.ranks) + " with " + grouped(totals.nodes) + " nodes, " +
                    format_bytes(totals.bytes) + "\n" + length_line(seconds, window) + "\n\n## Files\n\n" +
                    file_table(options, totals) +
                    "\n## Check and simulate\n\nRun the commands in this folder:\n" +
                    code(
                        "shardscape-cli check .       # every rank finishes\n"
                        "shardscape-cli simulate .    # the step, as ASTRA-sim computes it\n") +
                    expectation(options, seconds, window);
  out += "\n## Run in ASTRA-sim\n" +
         code(std::string("./") + kScriptName + " /path/to/" + kAstraSimProgram + "\n") +
         "The script runs this command:\n" + code(astra_sim_command({}, options.name)) +
         facts(report, options);
  if (options.flat_network)
    out += std::string("\n`") + kNetworkName +
           "` has one dimension, so the congestion-aware backend (`AstraSim_Analytical_Congestion_Aware`) "
           "also runs this bundle.\n";
  return out;
}

}  // namespace shardscape
