// simulate_requests() on the conversation trace of Mooncake: 12,031 requests, 4 million output tokens. One
// core. Nothing is asserted.
#include <chrono>
#include <cstdio>
#include <vector>

#include "serving/requests/service_results.h"
#include "serving/requests/trace_file.h"
#include "support/bench_figures.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::bench;

namespace {

// The median of five runs.
double run_seconds(const Workload& workload, int64_t tokens, int32_t replicas,
                   EngineKind engine = EngineKind::Vllm) {
  ServiceSetup setup;
  setup.engine.engine = engine;
  setup.engine.max_model_len = 131072;
  setup.engine.max_num_batched_tokens = 8192;
  setup.engine.max_num_seqs = 1024;
  setup.engine.sglang.context_len = 131072;
  setup.engine.trtllm.max_seq_len = 131072;
  setup.engine.trtllm.enable_chunked_context = true;
  set_cache_tokens(setup.engine, tokens);
  setup.replicas = replicas;
  setup.router = Router::PrefixAware;
  setup.keep_steps = false;
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    test::LinearClock clock(0.005, 1e-5, 2e-9);
    const auto begin = std::chrono::steady_clock::now();
    const auto result = simulate_requests(workload, setup, clock);
    service_results(workload, std::get<RequestSimulation>(result));
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return percentile(times, 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  const auto trace = read_trace(SHARDSCAPE_TEST_DATA "/requests/mooncake_conversation.csv");
  if (const auto* problem = std::get_if<Problem>(&trace)) {
    std::fprintf(stderr, "%s\n", to_string(*problem).c_str());
    return 1;
  }
  const auto& workload = std::get<Workload>(trace);
  constexpr int64_t kCache = 640'000;  // tokens
  const std::vector<Figure> figures{
      {"endless cache", run_seconds(workload, 0, 1), "s", "< 1 s"},
      {"640,000 tokens of cache", run_seconds(workload, kCache, 1), "s", "< 1 s"},
      {"four replicas, endless cache", run_seconds(workload, 0, 4), "s", ""},
      {"SGLang, 640,000 tokens", run_seconds(workload, kCache, 1, EngineKind::Sglang), "s", ""},
      {"TensorRT-LLM, 640,000 tokens", run_seconds(workload, kCache, 1, EngineKind::Trtllm), "s", ""},
  };
  return report_figures("The Mooncake trace", figures, argc, argv);
}
