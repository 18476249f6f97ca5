// Evaluation of many designs, core only: GPT-3 175B on 4,096 A100, random points of a space of parallel
// degrees, microbatches, virtual stages, recomputation and gradient sync. --designs N, --threads N, --check N
// (compares N designs with the full report).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "explore/evaluation.h"
#include "memory/estimate.h"
#include "support/bench_figures.h"
#include "support/designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::bench;

namespace {

using Clock = std::chrono::steady_clock;
double microseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double resident_mb() {
  std::ifstream in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

int64_t argument(int argc, char** argv, const char* name, int64_t usual) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::stoll(argv[i + 1]);
  return usual;
}

// Random points of the space, including invalid ones.
std::vector<Design> designs(size_t count) {
  constexpr int64_t kWorld = 4096;
  std::mt19937 random(1);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  Design base = test::preset_design("gpt3-175b", 1, 1, 1);
  base.cluster.accelerator = "a100-sxm-80gb";
  base.workload.seq = 2048;
  base.workload.batch = 4096;
  std::vector<Design> out;
  while (out.size() < count) {
    Design d = base;
    ParallelSpec& p = d.parallel;
    p.tp = of({1, 2, 4, 8});
    p.pp = of({1, 2, 4, 8, 16, 32, 64});
    p.dp = kWorld / p.tp / p.pp;
    p.virtual_stages = of({1, 2, 3, 4, 6, 12});
    p.sequence_parallel = of({0, 1});
    p.sync = static_cast<SyncStrategy>(of({static_cast<int64_t>(SyncStrategy::DdpFlat),
                                           static_cast<int64_t>(SyncStrategy::DistributedOptimizer),
                                           static_cast<int64_t>(SyncStrategy::DistributedOptimizer)}));
    p.overlap_grad_reduce = of({0, 1});
    p.overlap_param_gather = p.overlap_grad_reduce && of({0, 1});
    p.tp_comm_overlap = of({0, 1});
    p.scatter_gather_pipeline = of({0, 1});
    WorkloadSpec& w = d.workload;
    w.microbatch = of({1, 2, 4, 8});
    w.recompute = static_cast<Recompute>(of({0, 1, 2}));
    w.recompute_method = static_cast<RecomputeMethod>(of({0, 1}));
    w.recompute_num_layers = of({1, 2, 4});
    w.distribute_saved_activations = of({0, 1});
    out.push_back(std::move(d));
  }
  return out;
}

struct Tally {
  std::vector<double> us[3];  // by feasibility
};

std::vector<Tally> run(Evaluator& evaluator, const std::vector<Design>& all, int threads, double& seconds) {
  std::vector<Tally> tallies(static_cast<size_t>(threads));
  std::atomic<size_t> next{0};
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        constexpr size_t kBatch = 64;
        for (size_t at = next.fetch_add(kBatch); at < all.size(); at = next.fetch_add(kBatch))
          for (size_t i = at; i < std::min(all.size(), at + kBatch); ++i) {
            const auto start = Clock::now();
            const Evaluation e = evaluator.evaluate(all[i]);
            tallies[static_cast<size_t>(t)].us[static_cast<size_t>(e.feasibility)].push_back(
                microseconds(start));
          }
      });
  }
  seconds = microseconds(begin) * 1e-6;
  return tallies;
}

void measure(Evaluator& evaluator, const std::vector<Design>& all, int threads, const std::string& name,
             std::vector<Figure>& figures) {
  double seconds = 0;
  const std::vector<Tally> tallies = run(evaluator, all, threads, seconds);
  const char* const kinds[] = {"invalid", "does not fit", "timed"};
  for (int f = 0; f < 3; ++f) {
    std::vector<double> us;
    for (const Tally& tally : tallies) us.insert(us.end(), tally.us[f].begin(), tally.us[f].end());
    double sum = 0;
    for (const double one : us) sum += one;
    if (us.empty()) continue;
    figures.push_back({name + ", " + kinds[f] + ": designs", static_cast<double>(us.size()), "", ""});
    figures.push_back({name + ", " + kinds[f] + ": mean", sum / static_cast<double>(us.size()), "us",
                       f == 0   ? "< 10 us"
                       : f == 2 ? "< 100 us"
                                : ""});
    figures.push_back({name + ", " + kinds[f] + ": median", percentile(us, 0.5), "us", ""});
    figures.push_back({name + ", " + kinds[f] + ": 99th percentile", percentile(us, 0.99), "us", ""});
  }
  figures.push_back(
      {name + ": designs per second", static_cast<double>(all.size()) / seconds, "1/s", "> 100000"});
}

// Lower limit of the time of an evaluation: hand-written formulas for a dense model after Narayanan et al.
// (arXiv 2104.04473) and Korthikanti et al. (arXiv 2205.05198). Bytes of states and activations, GEMMs at a
// share of the peak, collectives over their bandwidths, a bubble. No graph, no layout, no overlap.
double by_hand(const Design& d) {
  const auto f = [](int64_t n) { return static_cast<double>(n); };
  const ParallelSpec& p = d.parallel;
  const WorkloadSpec& w = d.workload;
  const double hidden = f(d.model.hidden), layers = f(d.model.layers), seq = f(w.seq), b = f(w.microbatch),
               tp = f(p.tp), pp = f(p.pp), dp = f(p.dp), v = f(p.virtual_stages);
  const double m = f(w.batch) / (b * dp), here = layers / pp, tokens = b * seq;
  const double parameters = 12 * hidden * hidden * here / tp + f(d.model.vocab) * hidden / tp / pp;
  const double states = parameters * (6 + 12 / (p.sync == SyncStrategy::DistributedOptimizer ? dp : 1));
  const bool full = w.recompute == Recompute::Full, scores = w.recompute == Recompute::None;
  const double share = p.sequence_parallel ? 34 / tp : 10 + 24 / tp;
  const double kept = full ? 2 : share + (scores ? 5 * f(d.model.heads) * seq / hidden / tp : 0);
  const double held = std::min(m, pp) * (1 + (v > 1 ? (pp - 1) / (pp * v) : 0));
  const double memory = states + tokens * hidden * kept * here * held;
  const double flops = 24 * tokens * hidden * hidden * (1 + seq / (6 * hidden)) * here / tp;
  const double work = flops * (full ? 4 : 3) / (312e12 * 0.6);
  const double bytes = 2 * tokens * hidden;
  const double tensor = p.tp > 1 ? here * (full ? 6 : 4) * (2 * (tp - 1) / tp * bytes / 240e9 + 20e-6) : 0;
  const double message = p.pp > 1 ? 2 * v * bytes / (p.scatter_gather_pipeline ? tp : 1) / 25e9 : 0;
  const double forth_and_back = work + tensor + message;
  const double reduce = p.dp > 1 ? 2 * (dp - 1) / dp * parameters * dtype_bytes(w.grad_dtype) / 25e9 : 0;
  const double step = forth_and_back * (m + (pp - 1) / v) +
                      (p.overlap_grad_reduce ? std::max(0.0, reduce - forth_and_back) : reduce) +
                      parameters * 20 / dp / 1.6e12;
  return memory > 80.0 * (int64_t{1} << 30) ? 0 : step;
}

void measure_limit(const std::vector<Design>& all, std::vector<Figure>& figures) {
  double sum = 0;
  const auto begin = Clock::now();
  for (const Design& d : all) sum += by_hand(d);
  const double us = microseconds(begin) / static_cast<double>(all.size());
  figures.push_back({"the limit, formulas by hand: a design", us * 1000, "ns", ""});
  volatile double made = sum;  // prevents the compiler from removing the sum
  (void)made;
}

// Largest differences from the full report.
void check(Evaluator& evaluator, const std::vector<Design>& all, size_t count, std::vector<Figure>& figures) {
  double time = 0, bubble = 0, exposed = 0, wrong = 0, full_us = 0, fast_us = 0;
  size_t timed = 0;
  const auto plans = std::make_shared<PlanCache>();
  for (size_t i = 0; i < all.size() && timed < count; ++i) {
    const auto begin = Clock::now();
    const Evaluation e = evaluator.evaluate(all[i], {.time_if_too_large = true});
    const double fast = microseconds(begin);
    if (e.feasibility == Feasibility::Invalid) continue;
    const auto again = Clock::now();
    const auto report = estimate(all[i], plans);
    const auto step = simulate(*report);
    full_us += microseconds(again);
    fast_us += fast;
    ++timed;
    wrong += e.memory != memory_in_use(*report, report->memory->peak_stage);
    time = std::max(time, std::abs(e.step_seconds / step->step_seconds - 1));
    bubble = std::max(bubble, std::abs(e.bubble - step->bubble));
    exposed = std::max(exposed, std::abs(e.exposed - step->exposed));
  }
  figures.push_back({"against the full report: designs", static_cast<double>(timed), "", ""});
  figures.push_back({"against the full report: memory differs", wrong, "", "0"});
  figures.push_back({"against the full report: largest error of time", time * 100, "%", "< 1 %"});
  figures.push_back({"against the full report: largest error of bubble", bubble * 100, "%", ""});
  figures.push_back({"against the full report: largest error of exposed", exposed * 100, "%", ""});
  figures.push_back({"against the full report: times faster", full_us / fast_us, "", ""});
}

}  // namespace

int main(int argc, char** argv) {
  const auto count = static_cast<size_t>(argument(argc, argv, "--designs", 100000));
  const auto checked = static_cast<size_t>(argument(argc, argv, "--check", 300));
  const auto threads = static_cast<int>(argument(argc, argv, "--threads", 0));
  const std::vector<Design> all = designs(count);
  std::vector<Figure> figures;
  Evaluator evaluator;
  const double before = resident_mb();
  if (threads > 0) {
    measure(evaluator, all, threads, std::to_string(threads) + " threads", figures);
  } else {
    measure(evaluator, all, 1, "first pass, 1 thread", figures);
    for (int64_t i = argument(argc, argv, "--again", 0); i > 0; --i) {
      double seconds = 0;
      run(evaluator, all, 1, seconds);
    }
    measure(evaluator, all, 1, "again, 1 thread", figures);
    measure(evaluator, all, 2, "again, 2 threads", figures);
  }
  measure_limit(all, figures);
  figures.push_back({"resident memory of the evaluator", resident_mb() - before, "MB", "< 400 MB"});
  check(evaluator, all, checked, figures);
  return report_figures("GPT-3 175B on 4,096 A100, evaluated", figures, argc, argv);
}
