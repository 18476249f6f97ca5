#include "report/time_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/units.h"
#include "campaign/running_cost.h"
#include "performance/calibration.h"
#include "plan/collective_rows.h"
#include "report/text_columns.h"
#include "timing/pass_times.h"
#include "timing/step_distribution.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

Json categories_json(const std::array<double, kTimeCategoryCount>& seconds) {
  Json out = Json::object();
  for (int c = 0; c < kTimeCategoryCount; ++c)
    out[std::string(time_category_name(static_cast<TimeCategory>(c)))] = seconds[static_cast<size_t>(c)];
  return out;
}

std::string name_of(const KernelTime& time) {
  return FlopsValue{time.kind, time.phase, time.compute, {}, {}}.name();
}

Json kernels_json(const StageTimes& times) {
  Json out = Json::array();
  for (const KernelTime& time : times.kernels)
    out.push_back({{"op", name_of(time)},
                   {"phase", phase_name(time.phase)},
                   {"kernels", time.kernels},
                   {"seconds", time.seconds}});
  return out;
}

Json time_json(const Simulation& s) {
  Json out;
  out["machine"] = {{"accelerator", s.machine.accelerator->id},
                    {"domain", s.machine.network.domain},
                    {"products", matmul_basis(*s.machine.accelerator, s.product_type)},
                    {"attention", attention_basis(*s.machine.accelerator, AttentionPass::Forward)}};
  out["step_seconds"] = s.step_seconds;
  out["tokens_per_second"] = s.tokens_per_second;
  out["model_tflops_per_gpu"] = s.model_tflops;
  out["hardware_tflops_per_gpu"] = s.hardware_tflops;
  if (const std::optional<StepDistribution> spread = step_distribution(s))
    out["step_distribution"] = {{"percentile_5", spread->percentile_5},
                                {"median", spread->median},
                                {"percentile_95", spread->percentile_95},
                                {"ranks", s.machine.spread.ranks},
                                {"slowest_rank", s.machine.slowest_rank}};
  out["mfu"] = s.mfu;
  out["hfu"] = s.hfu;
  out["mfu_peak_tflops"] = s.peak_tflops;
  out["mfu_peak_type"] = dtype_name(s.peak_type);
  if (const std::string why = above_peak_text(s); !why.empty()) out["mfu_above_peak"] = why;
  out["bubble"] = s.bubble;
  out["exposed_communication"] = s.exposed;
  Json stages = Json::array();
  for (size_t i = 0; i < s.stages.size(); ++i)
    stages.push_back({{"stage", i},
                      {"seconds", categories_json(s.stages[i].seconds)},
                      {"communication", s.stages[i].communication},
                      {"exposed", s.stages[i].exposed},
                      {"kernels", kernels_json(s.stages[i])}});
  out["stages"] = stages;
  Json parts = Json::array();
  for (const CriticalPart& part : s.critical)
    parts.push_back(
        {{"stage", part.stage},
         {"what",
          span_title(s, s.stages[static_cast<size_t>(part.stage)].spans[static_cast<size_t>(part.span)])},
         {"begin", part.begin},
         {"end", part.end}});
  out["critical_path"] = {{"seconds", categories_json(s.critical_seconds)}, {"parts", parts}};
  return out;
}

// Next to the counts of the same row.
void add_collectives(Json& rows, const StageTimes& times) {
  for (size_t i = 0; i < times.collectives.size(); ++i) {
    const CollectiveTime& time = times.collectives[i];
    rows[i]["seconds"] = time.seconds;
    rows[i]["exposed_seconds"] = time.exposed;
    rows[i]["seconds_per_call"] = time.per_call;
    rows[i]["bus_bandwidth"] = time.bus_rate;
    rows[i]["level"] = network_level_name(time.level);
  }
}

}  // namespace

std::string with_time(const std::string& json, const Report& report, const Simulation& simulation) {
  Json out = Json::parse(json);
  for (size_t s = 0; s < simulation.stages.size(); ++s)
    add_collectives(out["stages"][s]["collectives"], simulation.stages[s]);
  out["time"] = time_json(simulation);
  const RunningCost cost = running_cost(report.design.cluster, report.ranks, simulation.tokens_per_second);
  if (cost.dollars) out["time"]["usd_per_million_tokens"] = *cost.dollars;
  if (cost.kwh) out["time"]["kwh_per_million_tokens"] = *cost.kwh;
  const ScheduleKind kind = schedule_of(report.design.parallel);
  if (report.stages.size() > 1 && splits_backward(kind) && chunk_layout(kind) == ChunkLayout::Round) {
    const PassPlan measured = measured_passes(report, simulation);
    out["time"]["passes"] = {{"pass_times", measured.times}, {"waiting_percent", measured.waiting_percent}};
  }
  return json_document(out);
}

std::string mfu_convention() {
  return "MFU is the model FLOPs utilization: model FLOPs per second as a share of the GPU's dense peak in "
         "the storage type, even if GEMMs run in a narrower type. Model FLOPs follow Megatron-LM: the tokens "
         "and their top-k experts, without recomputation, with masked attention scores counted in full. HFU "
         "counts the FLOPs that kernels execute against the same peak. They include recomputation and "
         "padding, and exclude the tiles that fused attention skips under a mask, so HFU can be below MFU.";
}

std::string above_peak_text(const Simulation& s) {
  if (std::max(s.mfu, s.hfu) <= 1) return "";
  std::string why;
  const auto add = [&](const std::string& reason) { why += (why.empty() ? "" : "; ") + reason; };
  if (s.masked_tflops > 0 && s.mfu > 1)
    add("model FLOPs count masked scores in full, as in Megatron-LM, but fused attention skips most of them");
  if (const double peak = peak_flops(*s.machine.accelerator, s.product_type) * 1e-12; peak > s.peak_tflops)
    add("matrix products run in " + std::string(dtype_name(s.product_type)) + " at up to " +
        significant(peak) + " TFLOP/s");
  return (s.hfu <= 1   ? "MFU is"
          : s.mfu <= 1 ? "HFU is"
                       : "MFU and HFU are") +
         std::string(" above 100 %") + (why.empty() ? "" : ": " + why);
}

std::string peak_text(const Simulation& s) {
  return significant(s.peak_tflops) + " TFLOP/s, the dense peak in " + std::string(dtype_name(s.peak_type));
}

std::string step_distribution_text(const Simulation& s) {
  const std::optional<StepDistribution> spread = step_distribution(s);
  if (!spread) return "";
  return "the slowest of " + grouped(s.machine.spread.ranks) + " ranks computes " +
         format_percent(s.machine.slowest_rank - 1) + " longer than the mean rank; steps take " +
         format_seconds(spread->median) + " in the median, " + format_seconds(spread->percentile_5) +
         " at the 5th and " + format_seconds(spread->percentile_95) + " at the 95th percentile";
}

std::string time_text(const Simulation& s) {
  constexpr double kShown = 0.0005;  // share of the step
  std::string out = "step on " + s.machine.accelerator->name + ": " + format_seconds(s.step_seconds) + ", " +
                    grouped(nearest_whole(s.tokens_per_second)) + " tokens/s, " +
                    significant(s.model_tflops) + " TFLOP/s per GPU (model), MFU " + format_percent(s.mfu) +
                    ", HFU " + format_percent(s.hfu) + " of " + peak_text(s) + "\n" + "bubble " +
                    format_percent(s.bubble) + ", exposed communication " + format_percent(s.exposed) + "\n";
  if (const std::string why = above_peak_text(s); !why.empty()) out += why + "\n";
  if (const std::string spread = step_distribution_text(s); !spread.empty()) out += spread + "\n";
  for (size_t i = 0; i < s.stages.size(); ++i) {
    out += "  stage " + std::to_string(i) + ":";
    std::string parts;
    for (int c = 0; c < kTimeCategoryCount; ++c) {
      const double share = s.step_seconds > 0 ? s.stages[i].seconds[static_cast<size_t>(c)] / s.step_seconds
                                              : 0;
      if (share < kShown) continue;
      parts += (parts.empty() ? " " : ", ") + std::string(time_category_label(static_cast<TimeCategory>(c))) +
               " " + format_percent(share);
    }
    out += parts + "\n";
  }
  out += "matrix products: " + matmul_basis(*s.machine.accelerator, s.product_type) +
         "\nattention: " + attention_basis(*s.machine.accelerator, AttentionPass::Forward) + "\n";
  return out;
}

std::string row_times_text(const Report& report, const Simulation& simulation) {
  constexpr size_t kName = 38, kLevel = 10, kSeconds = 11;
  const auto line = [&](const std::string& name, double seconds) {
    return "    " + pad(name, kName, false) + pad(format_seconds(seconds), kSeconds, false);
  };
  std::string out;
  for (const StageReport& stage : report.stages) {
    const StageTimes& times = simulation.stages[static_cast<size_t>(stage.stage)];
    const std::string title = "  stage " + std::to_string(stage.stage);
    if (!times.kernels.empty()) out += title + ", time of kernels\n";
    std::vector<KernelTime> kernels = times.kernels;
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const KernelTime& a, const KernelTime& b) { return a.seconds > b.seconds; });
    for (const KernelTime& one : kernels)
      out += line(name_of(one) + " " + std::string(phase_name(one.phase)), one.seconds) +
             grouped(one.kernels) + (one.kernels == 1 ? " kernel\n" : " kernels\n");
    if (!times.collectives.empty()) out += title + ", time of collectives\n";
    for (size_t i = 0; i < times.collectives.size(); ++i) {
      const CollectiveValue& row = stage.collectives[i];
      const CollectiveTime& time = times.collectives[i];
      const double exposed = time.seconds > 0 ? time.exposed / time.seconds : 0;
      out += line(std::string(phase_name(row.phase)) + " " + std::string(row.op.name()) + " " + row.group +
                      " " + std::string(dtype_name(row.dtype)),
                  time.seconds) +
             pad(std::string(network_level_label(time.level, simulation.machine.network)), kLevel, false) +
             pad(format_seconds(time.per_call), kSeconds, false) + "x " + grouped(row.count.value) +
             ", bus " + significant(time.bus_rate * 1e-9) + " GB/s" +
             (has_waits(row) ? ", exposed " + format_percent(exposed) : "") + "\n";
    }
  }
  return out;
}

std::string span_title(const Simulation& simulation, const Span& span) {
  if (span.name >= 0) return simulation.names[static_cast<size_t>(span.name)].text;
  std::string out(span_kind_label(span.kind));
  if (span.microbatch >= 0) out += " of microbatch " + std::to_string(span.microbatch);
  if (span.chunk > 0) out += ", virtual stage " + std::to_string(span.chunk);
  return out;
}

}  // namespace shardscape
