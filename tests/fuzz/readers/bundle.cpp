#include "bundle/bundle_simulation.h"
#include "bundle/checker.h"
#include "fuzz/input_file.h"
#include "fuzz/reader.h"

namespace shardscape::fuzz {
namespace {

// Before each file: a line with this mark and the name of the file.
constexpr std::string_view kMark = "\n@file ";
constexpr size_t kMostFiles = 24, kLongestName = 40;

void write_files(const InputFolder& folder, std::string_view input) {
  folder.clear();
  size_t files = 0;
  for (size_t at = input.find(kMark); at != std::string_view::npos && files < kMostFiles; ++files) {
    const size_t next = input.find(kMark, at + 1);
    std::string_view file = input.substr(at + kMark.size(),
                                         next == std::string_view::npos ? next : next - at - kMark.size());
    at = next;
    const std::string name(file.substr(0, file.find('\n')));
    file.remove_prefix(std::min(name.size() + 1, file.size()));
    const bool valid = !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
                       name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (valid) folder.write(name, file);
  }
}

}  // namespace

std::string bundle(std::string_view input) {
  static const InputFolder folder;
  write_files(folder, input);
  const CheckReport report = check_bundle(folder.path());
  check_text(report);
  check_json(report);
  const auto simulated = simulate_bundle(folder.path());
  if (const auto* step = std::get_if<SimulationReport>(&simulated)) {
    simulation_text(*step);
    simulation_json(*step);
  }
  if (!report.ok())
    return report.findings.empty() ? "not every rank finishes" : report.findings.front().message;
  return reason(simulated);
}

}  // namespace shardscape::fuzz
