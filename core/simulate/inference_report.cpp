// Figures of serving as text and JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "simulate/inference.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

const char* seconds_key(Mode mode) { return mode == Mode::Decode ? "tpot_seconds" : "ttft_seconds"; }

Json figures_json(const Report& report, const InferenceFigures& f) {
  return {{seconds_key(report.design.workload.mode), f.seconds}, {"tokens_per_second", f.tokens_per_second},
          {"tokens_per_second_per_gpu", f.tokens_per_gpu}, {"kv_cache_bytes", f.kv_cache_bytes}};
}

Json phase_json(const ServedPhase& phase) {
  if (!phase.valid()) return nullptr;
  Json out = figures_json(*phase.report, phase.figures);
  const MemoryTimeline& memory = *phase.report->memory;
  out["microbatch"] = phase.report->design.workload.microbatch;
  out["fits"] = memory.fits;
  out["memory_bytes"] = memory.stages[static_cast<size_t>(memory.peak_stage)].in_use;
  return out;
}

std::string pad(std::string text, size_t width) { return std::string(width > text.size() ? width - text.size() : 0, ' ') + text; }
std::string whole(double value) { return grouped(static_cast<Wide>(std::llround(value))); }

}  // namespace

std::string with_inference(const std::string& report_json, const Report& report, const Simulation& simulation) {
  if (trains(report.design)) return report_json;
  Json out = Json::parse(report_json);
  Json figures = figures_json(report, inference_figures(report, simulation));
  figures["mode"] = report.design.workload.mode == Mode::Decode ? "decode" : "prefill";
  out["inference"] = std::move(figures);
  return out.dump(2) + "\n";
}

std::string inference_text(const Report& report, const Simulation& simulation) {
  if (trains(report.design)) return "";
  const InferenceFigures f = inference_figures(report, simulation);
  const bool decodes = report.design.workload.mode == Mode::Decode;
  return std::string(decodes ? "time per output token " : "time to first token ") + format_seconds(f.seconds) + ", " + whole(f.tokens_per_second) +
         (decodes ? " tokens/s made, " : " tokens/s of prompts, ") + significant(f.tokens_per_gpu) + " per GPU, KV cache " + format_bytes(f.kv_cache_bytes) +
         " per rank\n";
}

std::string sweep_text(const ServingSweep& sweep) {
  const auto row = [](std::initializer_list<std::string> cells) {
    std::string out;
    for (const std::string& cell : cells) out += pad(cell, out.empty() ? 9 : 14);
    return out + "\n";
  };
  std::string out = row({"context", "sequences", "TTFT", "TPOT", "tokens/s", "per GPU", "prompts/GPU", "KV cache", "memory", "fits"});
  for (const ServedPoint& p : sweep.points) {
    if (const auto problem = point_problem(p)) {
      out += pad(grouped(p.context), 9) + pad(grouped(p.batch), 14) + "  " + to_string(*problem) + "\n";
      continue;
    }
    const MemoryTimeline& memory = *p.decode.report->memory;
    const bool fits = memory.fits && p.prefill.report->memory->fits;
    out += row({grouped(p.context), grouped(p.batch), format_seconds(p.prefill.figures.seconds), format_seconds(p.decode.figures.seconds),
                whole(p.decode.figures.tokens_per_second), significant(p.decode.figures.tokens_per_gpu), significant(p.prefill.figures.tokens_per_gpu),
                format_bytes(p.decode.figures.kv_cache_bytes), format_bytes(memory.stages[static_cast<size_t>(memory.peak_stage)].in_use), fits ? "yes" : "no"});
  }
  for (const auto& [context, batch] : sweep.largest)
    out += batch > 0 ? "at most " + grouped(batch) + " sequences of " + grouped(context) + " tokens fit\n" : "no sequences of " + grouped(context) + " tokens fit\n";
  return out;
}

std::string sweep_json(const ServingSweep& sweep) {
  Json points = Json::array(), largest = Json::array();
  for (const ServedPoint& p : sweep.points) {
    Json point{{"batch", p.batch}, {"context", p.context}};
    const auto problem = point_problem(p);
    point["valid"] = !problem;
    if (!problem) {
      point["fits"] = p.prefill.report->memory->fits && p.decode.report->memory->fits;
      point["kv_cache_bytes_per_token"] = static_cast<int64_t>(p.decode.report->kv_cache_bytes.value);
    } else {
      point["problem"] = to_string(*problem);
    }
    point["prefill"] = phase_json(p.prefill);
    point["decode"] = phase_json(p.decode);
    points.push_back(std::move(point));
  }
  for (const auto& [context, batch] : sweep.largest) largest.push_back({{"context", context}, {"batch", batch}});
  Json out{{"name", sweep.design.name}, {"accelerator", sweep.design.cluster.accelerator}, {"ranks", sweep.design.world()}};
  out["points"] = std::move(points);
  out["largest_batches"] = std::move(largest);
  return out.dump(2) + "\n";
}

}  // namespace shardscape
