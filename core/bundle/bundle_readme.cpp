#include "bundle/bundle_readme.h"

#include <algorithm>
#include <sstream>

#include "base/shown_text.h"
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
  std::string line = markdown_text(report.design.name);
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

std::string file_table(const Report& report, const ExportOptions& options) {
  const bool whole = options.part.whole();
  std::string out = "| file | content |\n| --- | --- |\n| `" + options.name +
                    (whole ? ".0.et`" : ".<rank>.et`");
  if (whole && report.ranks > 1)
    out += " to `" + options.name + "." + std::to_string(report.ranks - 1) + ".et`";
  out += " | one Chakra trace per rank |\n";
  const auto row = [&](const auto& file) {
    out += std::string("| `") + file.name + "` | " + file.content + " |\n";
  };
  for (const BundleFile& file : kBundleFiles) row(file);
  for (const PacketFileKind& file : packet_file_kinds())
    if (std::count(options.networks.begin(), options.networks.end(), file.backend) > 0) row(file);
  return out;
}

// What the traces are, and of which design.
std::string content_lines(const Report& report, const ExportOptions& options, const StepWindow* window) {
  const std::string program = "Written by Shardscape " + std::string(program_version()) + ".\n\n";
  if (!window)
    return "Traces of " + (options.steps > 1 ? grouped(options.steps) + " steps" : "one step") +
           (options.part.whole() ? " of every rank" : " of some ranks") +
           " in MLCommons Chakra format, with the files that ASTRA-sim "
           "needs. " +
           program + "- Design: " + design_line(report);
  std::string line = markdown_text(report.design.name);
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

std::string node_line(const ExportOptions& options, const StepWindow* window) {
  std::string line = "- Compute nodes: one per " + granularity_unit(options.granularity);
  if (options.granularity != Granularity::Op)
    line += " (granularity " + std::string(granularity_name(options.granularity)) +
            "); nodes are apart where communication comes between";
  line += "\n";
  if (!window && options.steps > 1)
    line += "- Steps in each trace: " + grouped(options.steps) + ", one after the other\n";
  return line;
}

// What the commands can do with a part.
const char* const kPartUse =
    "`check` verifies each trace of this part on its own. It cannot match collectives and messages with "
    "ranks "
    "that are not here. `simulate` and ASTRA-sim need all ranks: put the traces of all parts into one "
    "folder. "
    "Parts of the same design and options fit together; their other files are equal, except README.md and "
    "manifest.json.\n";

std::string expectation(const ExportOptions& options, double seconds, const StepWindow* window) {
  if (window)
    return "The traces have the seconds of kernels and of the host, which `simulate` and ASTRA-sim replay; "
           "collectives and messages take what the simulator computes. Expect about " +
           format_seconds(seconds) + ".\n";
  const std::string steps = options.steps > 1 ? grouped(options.steps) + " steps of about " : "";
  if (options.durations)
    return "The traces have estimated compute times, which `simulate` and ASTRA-sim replay. Expect " +
           (steps.empty() ? "a step near the estimate, " : steps) + format_seconds(seconds) + ".\n";
  return "The traces have no compute times, so `simulate` and ASTRA-sim use the roofline of `" +
         std::string(kSystemName) + "`. Expect " +
         (steps.empty() ? "a step below the estimate, " : "at most " + steps) + format_seconds(seconds) +
         ".\n";
}

std::string facts(const Report& report, const ExportOptions& options) {
  std::string out;
  for (std::string fact : simulator_facts(report, options)) {
    if (fact[0] != 'A') fact[0] = static_cast<char>(fact[0] - 'a' + 'A');
    out += "- " + fact + ".\n";
  }
  return out;
}

const char* packet_facts(PacketBackend backend) {
  switch (backend) {
    case PacketBackend::Ns3:
      return "`CC_MODE` of `ns3-config.txt` chooses the congestion control: 1 DCQCN, 3 HPCC, 7 TIMELY, 8 "
             "DCTCP; 12 none but the window. ns-3 takes 34 MB of memory per switch and memory for each pair "
             "of ranks. It writes `ns3-output*` into this folder.";
    case PacketBackend::Htsim:
      return "`--htsim_opts` ends the options of ASTRA-sim, so it comes last. `network.yml` gives the "
             "dimensions of collectives only. htsim takes memory for each pair of ranks, stops after 4 "
             "simulated seconds, and writes `logout.dat` and `idmap.txt` into this folder.";
  }
  return "";
}

std::string packet_sections(const ExportOptions& options) {
  std::string out;
  for (const PacketBackend backend : options.networks)
    out += "\n## Run in ASTRA-sim with " + std::string(backend_label(backend)) +
           "\n\nRun the command in this folder, which the files expect:\n" +
           code(packet_command(backend, options.name)) + packet_facts(backend) +
           " A message must have less than 2 GiB, because this backend counts its bytes in 32 bits. "
           "`manifest.json` lists what the network file cannot express.\n";
  return out;
}

}  // namespace

std::string trace_lines(const TraceTotals& totals, const RankPart& part, int64_t world) {
  std::string lines = "- Traces: " + grouped(totals.ranks) + " with " + grouped(totals.nodes) + " nodes, " +
                      format_bytes(totals.bytes) + "\n";
  if (part.whole()) return lines;
  lines += "- **A part of the job**: traces of " + grouped(totals.ranks) + " of " + grouped(world) + " ranks";
  if (!part.ranks.empty()) lines += ", ranks " + to_string(part.ranks);
  if (!part.stages.empty()) lines += ", stages " + to_string(part.stages);
  return lines + ". All other files are those of the whole job\n";
}

std::string bundle_readme(const Report& report, const ExportOptions& options, const std::string& traces,
                          double seconds, const StepWindow* window) {
  std::string out = "# Execution traces: " + markdown_text(report.design.name) + "\n\n" +
                    content_lines(report, options, window) + "\n" + traces + node_line(options, window) +
                    length_line(seconds, window) + "\n\n## Files\n\n" + file_table(report, options) +
                    "\n## Check and simulate\n\nRun the commands in this folder:\n" +
                    code(options.part.whole()
                             ? "shardscape-cli check .       # every rank finishes\n"
                               "shardscape-cli simulate .    # the step, as ASTRA-sim computes it\n"
                             : "shardscape-cli check .       # each trace on its own\n") +
                    (options.part.whole() ? expectation(options, seconds, window) : kPartUse);
  out += "\n## Run in ASTRA-sim\n" +
         code(std::string("./") + kScriptName + " /path/to/" + kAstraSimProgram + "\n") +
         "The script runs this command:\n" + code(astra_sim_command({}, options.name)) +
         facts(report, options);
  if (options.flat_network)
    out += std::string("\n`") + kNetworkName +
           "` has one dimension, so the congestion-aware backend (`AstraSim_Analytical_Congestion_Aware`) "
           "also runs this bundle.\n";
  return out + packet_sections(options);
}

}  // namespace shardscape
