#include "report/band_report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/units.h"
#include "memory/memory_timeline.h"
#include "timing/served_seconds.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

const StageMemory& fullest(const Report& report) {
  return report.memory->stages[static_cast<size_t>(report.memory->peak_stage)];
}

// The time that the band of a design is about, and its name in text and JSON.
struct BandTime {
  double seconds = 0;
  const char *name = "", *key = "";
};
BandTime band_time(const Report& report, const Simulation& simulation) {
  const double seconds = served_seconds(report, simulation);
  switch (report.design.workload.mode) {
    case Mode::Train: break;
    case Mode::Prefill: return {seconds, "time to first token", "ttft_seconds"};
    case Mode::Decode: return {seconds, "time per output token", "tpot_seconds"};
  }
  return {seconds, "step time", "step_seconds"};
}

Json basis_json(const ErrorBand& band) {
  return {{"rows", band.rows}, {"sets", band.sets}, {"basis", band.basis}};
}

}  // namespace

std::string over_memory_text(const Report& report, const DesignBands& bands, UnitSystem units) {
  if (!report.memory || !report.memory->fits) return "";
  const int64_t over = bytes_over(fullest(report).in_use, report.memory->capacity, bands.memory);
  return over > 0 ? "the 80 % band reaches over the memory by " + format_bytes(over, units) : "";
}

std::string bands_text(const Report& report, const Simulation& simulation, const DesignBands& bands) {
  const auto bytes = [](double value) { return format_bytes(whole_part(value)); };
  const auto rate = [](double value) { return grouped(nearest_whole(value)); };
  std::string out;
  const BandTime time = band_time(report, simulation);
  if (bands.time)
    out += std::string("80 % band of the ") + time.name + ": " +
           band_text(time.seconds, bands.time, format_seconds) + ", " +
           rate(simulation.tokens_per_second / bands.time->high) + " to " +
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
    const BandTime time = band_time(report, simulation);
    entry[time.key] = {{"low", time.seconds * of->low}, {"high", time.seconds * of->high}};
    entry[time.key].update(basis_json(*of));
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
  return json_document(out);
}

std::string service_bands_text(const Design& design) {
  const ServiceBands bands = service_bands(design);
  const auto percent = [](double factor) {
    return (factor < 1 ? "-" : "+") + significant(100 * std::abs(factor - 1)) + " %";
  };
  std::string out;
  for (const auto& [name, band] : {std::pair{"TTFT", &bands.ttft}, std::pair{"TPOT", &bands.tpot}})
    if (*band)
      out += std::string(out.empty() ? "80 % bands of mean and median: " : ", ") + name + " " +
             percent((*band)->low) + " to " + percent((*band)->high) + " (" + (*band)->basis + ")";
  return out.empty() ? out : out + "\n";
}

std::string service_bands_json(const Design& design) {
  const ServiceBands bands = service_bands(design);
  if (!bands.ttft && !bands.tpot) return "null";
  Json out{{"coverage", kBandCoverage}};
  for (const auto& [name, band] : {std::pair{"ttft", &bands.ttft}, std::pair{"tpot", &bands.tpot}})
    if (*band) {
      out[name] = {{"low", (*band)->low}, {"high", (*band)->high}};
      out[name].update(basis_json(**band));
    }
  return out.dump();
}

}  // namespace shardscape
