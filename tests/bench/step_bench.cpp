// Time to simulate a step, core only: Llama 3.1 405B op by op, and the additional time in the report of an
// edited knob.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "design/knobs/knobs.h"
#include "support/bench_figures.h"
#include "support/designs.h"
#include "timing/step_ops.h"

using namespace shardscape;
using namespace shardscape::bench;

namespace {

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Design llama(int64_t dp) {
  Design d = test::preset_design("llama3.1-405b", 8, 16, dp, true);
  d.workload.seq = 8192;
  d.workload.microbatch = 1;
  d.workload.batch = 128 * dp;
  return d;
}

std::shared_ptr<const Report> valid_report(const Design& design, const std::shared_ptr<PlanCache>& plans) {
  auto report = make_report(design, plans);
  if (!report->valid()) throw std::invalid_argument(to_string(report->problems.front()));
  return report;
}

// Computes the time of every op of every action of one step, as for a user who inspects each op.
size_t ops_of_all_actions(const std::shared_ptr<const Report>& report) {
  const auto simulated = simulate(*report);
  StepOps step(report, simulated);
  size_t ops = 0;
  for (size_t stage = 0; stage < simulated->stages.size(); ++stage)
    for (size_t i = 0; i < simulated->stages[stage].spans.size(); ++i)
      ops += step.of(static_cast<int>(stage), static_cast<int>(i)).size();
  return ops;
}

void measure(const std::string& name, const Design& design, std::vector<Figure>& figures) {
  constexpr int kRounds = 50;
  const auto plans = std::make_shared<PlanCache>();  // as a window has it
  const auto report = valid_report(design, plans);
  const double first = milliseconds([&] { simulate(*report); });
  std::vector<double> simulations, verdicts;
  for (int i = 0; i < kRounds; ++i) {
    simulations.push_back(milliseconds([&] { simulate(*report); }));
    // A new value every time, so that no cache has it.
    Design edited = design;
    edited.workload.seq += 128 * (i + 1);
    verdicts.push_back(milliseconds([&] { simulate(*valid_report(edited, plans)); }));
  }
  figures.push_back({name + ": the first simulation", first, "ms", "< 200 ms"});
  figures.push_back({name + ": a simulation, median of " + std::to_string(kRounds),
                     percentile(simulations, 0.5), "ms", "< 200 ms"});
  figures.push_back({name + ": knob to report and step, median", percentile(verdicts, 0.5), "ms", "< 16 ms"});
  figures.push_back({name + ": the same, 95th percentile", percentile(verdicts, 0.95), "ms", "< 33 ms"});
  figures.push_back(
      {name + ": ops of a step on all stages", static_cast<double>(ops_of_all_actions(report)), "", ""});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Figure> figures;
  measure("Llama 3.1 405B, PP 16, 128 microbatches, 1,024 GPUs", llama(8), figures);
  measure("the same on 131,072 GPUs", llama(1024), figures);
  return report_figures("A step in time", figures, argc, argv);
}
