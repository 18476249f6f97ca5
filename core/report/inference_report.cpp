// Figures of inference as text and JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/units.h"
#include "report/band_report.h"
#include "report/inference_report.h"
#include "report/text_columns.h"
#include "serving/within_limits.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

const char* seconds_key(Mode mode) { return mode == Mode::Decode ? "tpot_seconds" : "ttft_seconds"; }

Json figures_json(Mode mode, const InferenceFigures& f) {
  Json out{{seconds_key(mode), f.seconds}};
  if (mode != Mode::Decode) out["ttft_first_seconds"] = f.first_seconds;
  out.update({{"tokens_per_second", f.tokens_per_second},
              {"tokens_per_second_per_gpu", f.tokens_per_gpu},
              {"kv_cache_bytes", f.kv_cache_bytes}});
  return out;
}

Json phase_json(Mode mode, const SweptPhase& phase) {
  if (!phase.valid()) return nullptr;
  Json out = figures_json(mode, phase.figures);
  out.update({{"microbatch", phase.microbatch}, {"fits", phase.fits}, {"memory_bytes", phase.memory}});
  return out;
}

const ServedPoint* find_point(const ServingSweep& sweep, int64_t context, int64_t batch) {
  for (const ServedPoint& p : sweep.points)
    if (p.context == context && p.batch == batch) return &p;
  return nullptr;
}

// Prompts in the first microbatch of all replicas.
int64_t first_prompts(const Design& design) { return design.workload.microbatch * design.parallel.dp; }
std::string whole(double value) { return grouped(nearest_whole(value)); }

// The limits that a point exceeds: "ttft", "tpot" or both.
std::vector<std::string> broken_limits(const ServedPoint& point, const ServiceLimits& limits) {
  std::vector<std::string> out;
  if (breaks_ttft(point, limits)) out.emplace_back("ttft");
  if (breaks_tpot(point, limits)) out.emplace_back("tpot");
  return out;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// "within TTFT <= 2 s and TPOT <= 50 ms: at most 96 sequences of 8,192 tokens, ..."
std::string within_text(const ServingSweep& sweep) {
  std::string out;
  for (const auto& [context, batch] : sweep.within) {
    const std::string of = " of " + grouped(context) + " tokens";
    out += "within " + limits_text(sweep.limits) + ": ";
    const ServedPoint* p = find_point(sweep, context, batch);
    if (!p) {
      out += "no sequences" + of + "\n";
      continue;
    }
    out += "at most " + grouped(batch) + " sequences" + of + ", TTFT " +
           format_seconds(p->prefill.figures.seconds) + ", TPOT " +
           format_seconds(p->decode.figures.seconds) + ", " + significant(p->decode.figures.tokens_per_gpu) +
           " tokens/s per GPU";
    const RunningCost cost = output_cost(sweep.design, *p);
    if (cost.dollars) out += ", $" + significant(*cost.dollars);
    if (cost.kwh) out += (cost.dollars ? " and " : ", ") + significant(*cost.kwh) + " kWh";
    if (cost.dollars || cost.kwh) out += " per million output tokens";
    out += "\n";
  }
  return out;
}

}  // namespace

std::string with_inference(const std::string& report_json, const Report& report,
                           const Simulation& simulation) {
  if (trains(report.design)) return report_json;
  Json out = Json::parse(report_json);
  Json figures = figures_json(report.design.workload.mode, inference_figures(report, simulation));
  figures["mode"] = report.design.workload.mode == Mode::Decode ? "decode" : "prefill";
  out["inference"] = std::move(figures);
  return json_document(out);
}

std::string inference_text(const Report& report, const Simulation& simulation) {
  if (trains(report.design)) return "";
  const InferenceFigures f = inference_figures(report, simulation);
  const bool decodes = report.design.workload.mode == Mode::Decode;
  const int64_t first = first_prompts(report.design), prompts = report.design.workload.batch;
  std::string out = std::string(decodes ? "time per output token " : "time to first token ") +
                    format_seconds(f.seconds);
  if (!decodes && first < prompts)
    out += " (all " + grouped(prompts) + " prompts read; " +
           (first == 1 ? "the first one" : "the first " + grouped(first)) + " " +
           format_seconds(f.first_seconds) + ")";
  return out + ", " + whole(f.tokens_per_second) + (decodes ? " output tokens/s, " : " prompt tokens/s, ") +
         significant(f.tokens_per_gpu) + " per GPU, KV cache " + format_bytes(f.kv_cache_bytes) +
         " per rank\n";
}

std::string sweep_text(const ServingSweep& sweep) {
  const auto row = [](std::initializer_list<std::string> cells) {
    std::string out;
    for (const std::string& cell : cells)
      if (out.empty() || !cell.empty()) out += pad(cell, out.empty() ? 9 : 13);
    return out + "\n";
  };
  std::string out = row({"context", "sequences", "TTFT, first", "TTFT, last", "TPOT", "tokens/s", "per GPU",
                         "prompts/GPU", "KV cache", "memory", "fits", sweep.limits.any() ? "exceeds" : ""});
  for (const ServedPoint& p : sweep.points) {
    if (!p.requested) continue;
    if (const auto problem = point_problem(p)) {
      out += pad(grouped(p.context), 9) + pad(grouped(p.batch), 13) + "  " + to_string(*problem) + "\n";
      continue;
    }
    const char* fits = p.decode.fits    ? p.prefill.fits ? "yes" : "decode only"
                       : p.prefill.fits ? "prefill only"
                                        : "no";
    std::string breaks;
    for (const std::string& limit : broken_limits(p, sweep.limits))
      breaks += (breaks.empty() ? "" : ", ") + std::string(limit == "ttft" ? "TTFT" : "TPOT");
    out += row({grouped(p.context), grouped(p.batch), format_seconds(p.prefill.figures.first_seconds),
                format_seconds(p.prefill.figures.seconds), format_seconds(p.decode.figures.seconds),
                whole(p.decode.figures.tokens_per_second), significant(p.decode.figures.tokens_per_gpu),
                significant(p.prefill.figures.tokens_per_gpu), format_bytes(p.decode.figures.kv_cache_bytes),
                format_bytes(p.decode.memory), fits, breaks});
  }
  for (const auto& [context, batch] : sweep.largest) {
    const bool possible = std::any_of(
        sweep.points.begin(), sweep.points.end(),
        [context = context](const ServedPoint& p) { return p.context == context && p.decode.valid(); });
    if (batch == 0 && !possible) continue;  // the rows above state the reason
    out += batch > 0 ? "at most " + grouped(batch) + " sequences of " + grouped(context) + " tokens fit"
                     : "no sequences of " + grouped(context) + " tokens fit";
    if (const ServedPoint* p = find_point(sweep, context, batch); p && p->decode.valid())
      out += ": " + format_seconds(p->decode.figures.seconds) + " per output token, " +
             significant(p->decode.figures.tokens_per_gpu) + " tokens/s per GPU";
    out += "\n";
  }
  return out + within_text(sweep) + service_bands_text(sweep.design);
}

std::string sweep_json(const ServingSweep& sweep) {
  Json points = Json::array(), largest = Json::array();
  for (const ServedPoint& p : sweep.points) {
    if (!p.requested) continue;
    Json point{{"batch", p.batch}, {"context", p.context}};
    const auto problem = point_problem(p);
    point["valid"] = !problem;
    if (!problem) {
      point["fits"] = p.prefill.fits && p.decode.fits;
      point["kv_cache_bytes_per_token"] = p.decode.cache_per_token;
    } else {
      point["problem"] = to_string(*problem);
    }
    if (sweep.limits.any()) {
      point["breaks_limits"] = broken_limits(p, sweep.limits);
      point["within_limits"] = keeps_limits(p, sweep.limits);
    }
    point["prefill"] = phase_json(Mode::Prefill, p.prefill);
    point["decode"] = phase_json(Mode::Decode, p.decode);
    points.push_back(std::move(point));
  }
  const auto entry_of = [&](int64_t context, int64_t batch) {
    Json entry{{"context", context}, {"batch", batch}};
    if (const ServedPoint* p = find_point(sweep, context, batch)) {
      entry["prefill"] = phase_json(Mode::Prefill, p->prefill);
      entry["decode"] = phase_json(Mode::Decode, p->decode);
      const RunningCost cost = output_cost(sweep.design, *p);
      entry["dollars_per_million_output_tokens"] = optional_json(cost.dollars);
      entry["kwh_per_million_output_tokens"] = optional_json(cost.kwh);
    }
    return entry;
  };
  for (const auto& [context, batch] : sweep.largest) largest.push_back(entry_of(context, batch));
  Json out{{"name", sweep.design.name},
           {"accelerator", sweep.design.cluster.accelerator},
           {"ranks", sweep.design.world()},
           {"bands", Json::parse(service_bands_json(sweep.design))}};
  out["points"] = std::move(points);
  out["largest_batches"] = std::move(largest);
  if (sweep.limits.any()) {
    out["limits"] = {{"ttft_seconds", optional_json(sweep.limits.ttft)},
                     {"tpot_seconds", optional_json(sweep.limits.tpot)}};
    Json within = Json::array();
    for (const auto& [context, batch] : sweep.within) within.push_back(entry_of(context, batch));
    out["largest_batches_within_limits"] = std::move(within);
  }
  return json_document(out);
}

std::vector<std::vector<std::string>> sweep_table(const ServingSweep& sweep) {
  std::vector<std::vector<std::string>> out{{"context",
                                             "batch",
                                             "largest",
                                             "ttft_first_seconds",
                                             "ttft_seconds",
                                             "prompt_tokens_per_second",
                                             "prompt_tokens_per_second_per_gpu",
                                             "prefill_microbatch",
                                             "prefill_memory_bytes",
                                             "prefill_fits",
                                             "tpot_seconds",
                                             "tokens_per_second",
                                             "tokens_per_second_per_gpu",
                                             "decode_microbatch",
                                             "decode_memory_bytes",
                                             "decode_fits",
                                             "kv_cache_bytes",
                                             "dollars_per_million_output_tokens",
                                             "kwh_per_million_output_tokens",
                                             "breaks_limits",
                                             "largest_within_limits",
                                             "problem"}};
  const auto flag = [](bool on) { return std::string(on ? "true" : "false"); };
  for (const ServedPoint& p : sweep.points) {
    std::vector<std::string> row{std::to_string(p.context), std::to_string(p.batch), flag(p.largest)};
    const auto add = [&](const SweptPhase& phase, const auto&... values) {
      (row.push_back(phase.valid() ? Json(values).dump() : std::string()), ...);
    };
    const SweptPhase &read = p.prefill, &made = p.decode;
    add(read, read.figures.first_seconds, read.figures.seconds, read.figures.tokens_per_second,
        read.figures.tokens_per_gpu, read.microbatch, read.memory, read.fits);
    add(made, made.figures.seconds, made.figures.tokens_per_second, made.figures.tokens_per_gpu,
        made.microbatch, made.memory, made.fits, made.figures.kv_cache_bytes);
    const RunningCost cost = output_cost(sweep.design, p);
    for (const std::optional<double>& value : {cost.dollars, cost.kwh})
      row.push_back(value ? Json(*value).dump() : std::string());
    std::string broken;
    for (const std::string& limit : broken_limits(p, sweep.limits))
      broken += (broken.empty() ? "" : " ") + limit;
    row.push_back(broken);
    row.push_back(sweep.limits.any() ? flag(p.within) : std::string());
    const auto problem = point_problem(p);
    row.push_back(problem ? to_string(*problem) : std::string());
    out.push_back(std::move(row));
  }
  return out;
}

std::string sweep_csv(const ServingSweep& sweep) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string out;
  for (const auto& row : sweep_table(sweep)) {
    for (size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "," : "") + quoted(row[i]);
    out += "\n";
  }
  return out;
}

}  // namespace shardscape
