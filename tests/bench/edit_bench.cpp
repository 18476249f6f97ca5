// Time from an edited knob to the complete new report, core only: Llama 3.1 405B on 131,072 GPUs;
// DeepSeek-V3, DeepSeek-V4-Pro and Kimi K3 on 2,048. Edits every knob of the table in turn, to neighbouring
// values or to each choice.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "design/knobs/knobs.h"
#include "graph/build.h"
#include "plan/report.h"
#include "plan/step_model.h"
#include "support/bench_figures.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::bench;

namespace {

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// tp 8, pp 16, dp 1,024, 16 microbatches.
Design llama_on_131072() {
  Design d = test::preset_design("llama3.1-405b", 8, 16, 1024, true);
  d.workload.seq = 8192;
  d.workload.microbatch = 1;
  d.workload.batch = 16 * 1024;
  return d;
}

// EP 64 over dp 64 x tp 2 (edp 2), PP 16. The batch of DeepSeek-V3 (15,360 sequences; arXiv 2412.19437,
// section 4.2) is 240 microbatches on each of 64 replicas.
Design experts_on_2048(const char* preset) {
  Design d = test::preset_design(preset, 2, 16, 64, true);
  d.parallel.ep = 64;
  d.parallel.etp = 1;
  d.workload.seq = 4096;
  d.workload.microbatch = 1;
  d.workload.batch = 15360;
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  return d;
}

// Typical edits of a knob: twice and half of a number, each other choice.
std::vector<std::string> values_to_try(const Design& d, const Knob& knob) {
  const std::string now = knob_text(d, knob);
  std::vector<std::string> out;
  switch (knob.type) {
    case KnobType::Integer: {
      const int64_t value = std::stoll(now);
      for (const int64_t to : {value * 2, value / 2, value + 1})
        if (to != value && to >= knob.min && to <= knob.max) out.push_back(std::to_string(to));
      break;
    }
    case KnobType::Decimal:  // limits are thousandths
      for (const auto& [thousandths, text] : {std::pair(250, "0.25"), {1000, "1"}, {1250, "1.25"}})
        if (text != now && thousandths >= knob.min && thousandths <= knob.max) out.emplace_back(text);
      break;
    case KnobType::Boolean: out = {now == "true" ? "false" : "true"}; break;
    case KnobType::Choice:
    case KnobType::ChoiceList:
      for (const KnobChoice& choice : knob.choices)
        if (choice.value != now) out.push_back(choice.value);
      break;
    case KnobType::IntegerList:
    case KnobType::Text: break;
  }
  return out;
}

struct Worst {
  double ms = 0;
  std::string edit;
  void take(double other, const std::string& name) {
    if (other > ms) *this = {other, name};
  }
};

void measure(const std::string& name, const Design& design, std::vector<Figure>& figures) {
  constexpr int kRounds = 3;
  const auto plans = std::make_shared<PlanCache>();  // as a window has it
  if (const auto report = make_report(design, plans); !report->valid())
    throw std::invalid_argument(to_string(report->problems.front()));
  std::vector<double> edits, structural;
  Worst edit, structure;
  double invalid = 0;
  for (int round = 0; round < kRounds; ++round)
    for (const Knob& knob : knobs())
      for (const std::string& value : values_to_try(design, knob)) {
        Design d = design;
        std::shared_ptr<const Report> report;
        edits.push_back(milliseconds([&] {
          if (const auto problem = set_knob(d, knob, value)) throw std::invalid_argument(to_string(*problem));
          report = make_report(d, plans);
        }));
        edit.take(edits.back(), knob.id + " " + value);
        invalid += !report->valid();
        if (round > 0 || !report->valid() || structure_of(d) == structure_of(design)) continue;
        // Without caches: builds graph, derivative and compiled formulas, then binds numbers.
        structural.push_back(milliseconds([&] {
          const auto model = make_step_model(
              std::get<0>(build_graph(structure_of(d), ModelLibrary::instance())));
          if (model.shapes.empty() || !make_report(d, plans)->valid()) throw std::logic_error("no report");
        }));
        structure.take(structural.back(), knob.id + " " + value);
      }
  figures.push_back({name + ": knob to report, median of " + std::to_string(edits.size()),
                     percentile(edits, 0.5), "ms", "< 16 ms"});
  figures.push_back({name + ": 95th percentile", percentile(edits, 0.95), "ms", "< 33 ms"});
  figures.push_back({name + ": worst (" + edit.edit + ")", edit.ms, "ms", "< 50 ms"});
  figures.push_back({name + ": edits that left an invalid design", invalid, "", ""});
  figures.push_back({name + ": structural, no cache, median of " + std::to_string(structural.size()),
                     percentile(structural, 0.5), "ms", "< 50 ms"});
  figures.push_back(
      {name + ": structural, no cache, worst (" + structure.edit + ")", structure.ms, "ms", "< 50 ms"});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Figure> figures;
  measure("Llama 3.1 405B, 131,072 GPUs", llama_on_131072(), figures);
  measure("DeepSeek-V3, 2,048 GPUs", experts_on_2048("deepseek-v3"), figures);
  measure("DeepSeek-V4-Pro, 2,048 GPUs", experts_on_2048("deepseek-v4-pro"), figures);
  measure("Kimi K3, 2,048 GPUs", experts_on_2048("kimi-k3"), figures);
  return report_figures("Edit to report, every knob", figures, argc, argv);
}
