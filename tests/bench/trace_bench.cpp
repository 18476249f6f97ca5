// Speed and memory of the overview of one large trace. usage: trace_bench [--nodes 10000000] [--json FILE]
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "support/bench_figures.h"
#include "support/trace_bundle.h"
#include "trace/trace_summary.h"

using namespace shardscape;
using namespace shardscape::test;
using bench::Figure;

namespace {

// Computations and collectives over four groups; each node depends on two others.
std::string made_trace(uint64_t nodes) {
  std::string out;
  TraceFileSpec file;
  for (uint64_t id = 1; id <= nodes; ++id) {
    const std::vector<uint64_t> deps = id > 7 ? std::vector{id - 1, id - 7} : std::vector<uint64_t>{};
    const auto bytes = static_cast<int64_t>(id % 16 + 1) * 4096;
    file.nodes.push_back(id % 5 == 0 ? collective(id, deps, chakra::CollectiveType::AllReduce, bytes,
                                                  std::to_string(id % 4 + 1))
                                     : compute(id, deps, 1000 * bytes, bytes));
    if (file.nodes.size() < 10'000 && id < nodes) continue;
    out += trace_bytes(file);
    file.nodes.clear();
    file.metadata = false;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t nodes = 10'000'000;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--nodes") == 0) nodes = std::strtoull(argv[i + 1], nullptr, 10);
  const std::string trace = made_trace(nodes);
  const auto start = std::chrono::steady_clock::now();
  const auto summary = summarize_trace("trace.0.et", trace);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (std::holds_alternative<Problem>(summary)) return 1;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kMega = 1e6;
  const std::vector<Figure> figures{
      {"nodes", static_cast<double>(std::get<TraceSummary>(summary).nodes), "", ""},
      {"bytes of the trace", static_cast<double>(trace.size()) / kMega, "MB", ""},
      {"overview", seconds, "s", nodes == 10'000'000 ? "< 5 s" : ""},
      {"peak memory of the process", static_cast<double>(usage.ru_maxrss) * 1024 / kMega, "MB", ""}};
  return bench::report_figures("Overview of a trace", figures, argc, argv);
}
