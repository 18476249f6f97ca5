#include "report/band_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "memory/memory_timeline.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

const StageMemory& fullest(const Report& report) {
  return report.memory->stages[static_cast<size_t>(report.memory->peak_stage)];
}

Json basis_json(const ErrorBand& band) {
  return {{"rows", band.rows}, {"sets", band.sets}, {"basis", band.basis}};
}

}  // namespace

std::string band_text(double value, const std::optional<ErrorBand>& band,
                      const std::function<std::string(double)>& text) {
  return band ? text(value * band->low) + " to " + text(value * band->high) : "";
}

std::string over_memory_text(const Report& report, const DesignBands& bands, UnitSystem units) {
  if (!report.memory || !report.memory->fits) return "";
  const int64_t over = bytes_over(fullest(report).in_use, report.memory->capacity, bands.memory);
  return over > 0 ? "the 80 % band reaches over the memory by " + format_bytes(over, units) : "";
}

std::string bands_text(const Report& report, const Simulation& simulation, const DesignBands& bands) {
  const auto bytes = [](double value) { return format_bytes(static_cast<Wide>(value)); };
  const auto rate = [](double value) { return grouped(static_cast<Wide>(std::llround(value))); };
  std::string out;
  if (bands.time)
    out += "80 % band of the step time: " + band_text(simulation.step_seconds, bands.time, format_seconds) +
           ", " + rate(simulation.tokens_per_second / bands.time->high) + " to " +
           rate(simulation.tokens_per_second / bands.time->low) + " tokens/s (" + bands.time->basis + ")\n";
  if (bands.memory)
    out += "80 % band of the peak memory: " +
           band_text(static_cast<double>(fullest(report).in_use), bands.memory, bytes) + " (" +
           bands.memory->basis + ")\n";
  if (const std::string over = over_memory_text(report, bands); !over.empty())
    out += "may not fit: " + over + "\n";
  return out;
}

std::string with_bands(const std::string& json, const Report& report, const Simulation& simulation,
                       const DesignBands& bands) {
  if (!bands.time && !bands.memory) return json;
  Json out = Json::parse(json);
  Json& entry = out["bands"] = {{"coverage", kBandCoverage}};
  if (const auto& of = bands.time) {
    entry["step_seconds"] = {{"low", simulation.step_seconds * of->low},
                             {"high", simulation.step_seconds * of->high}};
    entry["step_seconds"].update(basis_json(*of));
    entry["tokens_per_second"] = {{"low", simulation.tokens_per_second / of->high},
                                  {"high", simulation.tokens_per_second / of->low}};
  }
  if (const auto& of = bands.memory) {
    const auto bytes = static_cast<double>(fullest(report).in_use);
    entry["memory"] = {{"low", std::llround(bytes * of->low)},
                       {"high", std::llround(bytes * of->high)},
                       {"over_capacity", bytes_over(fullest(report).in_use, report.memory->capacity, of)}};
    entry["memory"].update(basis_json(*of));
  }
  return out.dump(2) + "\n";
}

}  // namespace shardscape
