// Time from an edited knob to the complete new report, core only: Llama 3.1 405B, tp 8, pp 16, dp 64, 64 microbatches.
#include <chrono>
#include <random>
#include <stdexcept>

#include "design/knobs.h"
#include "graph/build.h"
#include "report/report.h"
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

Design large_design() {
  Design d = test::preset_design("llama3.1-405b", 8, 16, 64, true);
  d.workload.seq = 8192;
  d.workload.microbatch = 1;
  d.workload.batch = 64 * 64;
  return d;
}

// Edits that a person makes, each through the knob table; some change the structure, most only numbers.
struct Edit {
  const char *knob, *value;
};
constexpr Edit kEdits[] = {{"hidden", "12288"}, {"ffn", "28672"},   {"seq", "4096"},    {"seq", "16384"},     {"batch", "8192"},
                           {"dp", "128"},       {"dp", "32"},       {"tp", "4"},        {"pp", "8"},          {"vocab", "131072"},
                           {"heads", "64"},     {"layers", "128"},  {"microbatch", "2"}, {"schedule", "gpipe"}, {"sequence_parallel", "false"},
                           {"tp", "16"},        {"grad_dtype", "bf16"}, {"accelerator", "a100-sxm-80gb"}};

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  std::vector<double> edits, structural;
  double invalid = 0;
  Design d = large_design();
  size_t stages = make_report(d)->stages.size();
  for (int i = 0; i < 200; ++i) {
    const Edit& edit = kEdits[random() % std::size(kEdits)];
    const Knob* knob = find_knob(edit.knob);
    const std::string before = knob_text(d, *knob);
    edits.push_back(milliseconds([&] {
      if (const auto problem = set_knob(d, *knob, edit.value)) throw std::invalid_argument(to_string(*problem));
      if (!make_report(d)->valid()) ++invalid;
    }));
    (void)set_knob(d, *knob, before);
  }
  // Structural edits from nothing: graph, derivative and compiled formulas are all built anew.
  for (int i = 0; i < 20; ++i) {
    Design s = large_design();
    s.parallel.sequence_parallel = i % 2 == 0;
    structural.push_back(milliseconds([&] {
      auto graph = std::get<0>(build_graph(structure_of(s), ModelLibrary::instance()));
      stages += make_step_model(graph).shapes.size() + make_report(s)->stages.size();
    }));
  }
  return report_figures("Edit to report, Llama 3.1 405B on 8,192 ranks",
                        {{"edited knob to report, median of 200", percentile(edits, 0.5), "ms", "< 16 ms"},
                         {"edited knob to report, 95th percentile", percentile(edits, 0.95), "ms", "< 33 ms"},
                         {"edited knob to report, worst", percentile(edits, 1), "ms", ""},
                         {"edits that left an invalid design", invalid, "", ""},
                         {"structural edit without any cache, median of 20", percentile(structural, 0.5), "ms", "< 50 ms"},
                         {"structural edit without any cache, worst", percentile(structural, 1), "ms", "< 50 ms"}},
                        argc, argv);
}
