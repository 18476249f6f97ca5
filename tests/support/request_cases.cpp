#include "support/request_cases.h"

#include <algorithm>
#include <variant>

#include "serving/requests/random.h"

namespace shardscape::test {

double LinearClock::seconds(const StepBatch& batch) {
  int64_t tokens = batch.decode_sequences + batch.draft_tokens, context = batch.decode_context;
  for (const PrefillChunk& chunk : batch.chunks) {
    tokens += chunk.tokens;
    context += chunk.context + chunk.tokens;
  }
  return constant_ + token_ * static_cast<double>(tokens) + context_ * static_cast<double>(context);
}

Request request(double arrival, int32_t prompt, int32_t output) {
  Request out;
  out.arrival = arrival;
  out.prompt = prompt;
  out.output = output;
  return out;
}

Workload workload(std::vector<Request> requests) {
  Workload out;
  out.requests = std::move(requests);
  return out;
}

RequestCase random_case(uint64_t seed) {
  Random random(seed, 99);
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.below(static_cast<int64_t>(values.size()))];
  };
  RequestCase out;
  EngineSettings& e = out.settings;
  e.block_size = static_cast<int32_t>(one_of({1, 4, 16}));
  e.max_num_batched_tokens = one_of({4, 40, 200, 2000});
  e.max_num_seqs = one_of({1, 3, 20, 256});
  e.long_prefill_token_threshold = one_of({0, 0, 5, 30});
  e.enable_prefix_caching = random.below(3) > 0;
  e.policy = random.below(3) ? SchedulingPolicy::Fcfs : SchedulingPolicy::Priority;
  e.scheduler_reserve_full_isl = random.below(2);
  e.watermark = random.below(3) ? 0 : 0.1;
  e.async_scheduling = random.below(2);
  Workload& w = out.workload;
  w.tokens_per_hash = static_cast<int32_t>(one_of({8, 16, 24}));
  const int64_t count = 10 + random.below(40);
  const double rate = static_cast<double>(one_of({1, 5, 50}));
  double now = 0;
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (random.below(4)) now += random.exponential() / rate;
    Request r = request(now, 1 + static_cast<int32_t>(random.below(120)),
                        1 + static_cast<int32_t>(random.below(60)));
    r.priority = static_cast<int32_t>(random.below(3));
    if (i > 0 && random.below(4) == 0) {
      r.parent = static_cast<int32_t>(random.below(i));
      const Request& parent = w.requests[static_cast<size_t>(r.parent)];
      r.prompt += random.below(4) ? parent.prompt + parent.output : 0;
      r.arrival = random.exponential();
    } else if (random.below(2)) {
      // One of three prefixes, then parts of its own.
      const int64_t parts = (r.prompt + w.tokens_per_hash - 1) / w.tokens_per_hash;
      const int64_t shared = std::min(parts, random.below(6)), prefix = random.below(3);
      r.first_hash = static_cast<int64_t>(w.hashes.size());
      r.hashes = static_cast<int32_t>(parts);
      for (int64_t k = 0; k < parts; ++k)
        w.hashes.push_back(static_cast<uint64_t>(k < shared ? 1000 * prefix + k : 10000 + 100 * i + k));
    }
    most = std::max<int64_t>(most, r.prompt + r.output);
    w.requests.push_back(r);
  }
  e.enable_chunked_prefill = random.below(4) > 0;
  if (!e.enable_chunked_prefill) e.max_num_batched_tokens = std::max(e.max_num_batched_tokens, most);
  const int64_t blocks = (most + e.block_size - 1) / e.block_size;
  e.num_gpu_blocks = 1 + blocks * one_of({1, 2, 3, 30}) + random.below(blocks);
  return out;
}

void use_engine(RequestCase& request_case, EngineKind engine, uint64_t seed) {
  Random random(seed, 98);
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.below(static_cast<int64_t>(values.size()))];
  };
  EngineSettings& e = request_case.settings;
  e.engine = engine;
  if (engine == EngineKind::Vllm) return;
  int64_t most = 0;
  for (const Request& r : request_case.workload.requests) most = std::max<int64_t>(most, r.prompt + r.output);
  SglangSettings& s = e.sglang;
  s.page_size = static_cast<int32_t>(one_of({1, 1, 4}));
  s.max_total_tokens = most * one_of({1, 2, 3, 30}) + 2 * s.page_size + random.below(most);
  s.max_running_requests = one_of({1, 3, 20, 256});
  s.max_prefill_tokens = one_of({40, 200, 2000});
  s.chunked_prefill_size = one_of({-1, 4, 40, 200, 2000});
  s.enable_mixed_chunk = random.below(3) == 0;
  s.schedule_policy = random.below(2) ? SglangPolicy::Fcfs : SglangPolicy::Lpm;
  s.schedule_conservativeness = static_cast<double>(one_of({0, 1, 2})) / 2;
  s.disable_radix_cache = random.below(3) == 0;
  s.disable_overlap_schedule = random.below(2);
  s.scheduler_recv_interval = one_of({1, 1, 3, 50});
  s.max_mamba_cache_size = s.page_size == 1 ? one_of({0, 0, 1, 5, 100}) : 0;
  s.mamba_radix_cache_strategy = static_cast<StateStrategy>(random.below(2));
  TrtllmSettings& t = e.trtllm;
  t.tokens_per_block = static_cast<int32_t>(one_of({4, 16}));
  t.max_tokens = (most + t.tokens_per_block) * one_of({1, 2, 3, 30}) + random.below(most);
  t.max_batch_size = one_of({1, 3, 20, 256});
  t.enable_block_reuse = random.below(3) > 0;
  t.capacity_scheduler_policy = static_cast<CapacityPolicy>(random.below(3));
  t.enable_chunked_context = random.below(2);
  t.max_num_tokens = t.enable_chunked_context ? one_of({16, 40, 200}) : most + random.below(200);
  t.context_chunking_policy = static_cast<ChunkingPolicy>(random.below(2));
  t.disable_overlap_scheduler = random.below(2);
  t.batch_wait_timeout_iters = one_of({0, 0, 5});
  t.batch_wait_max_tokens_ratio = 0.5;
  t.enable_balance = random.below(2);
}

RequestSimulation simulated(const Workload& workload, const EngineSettings& settings, StepClock& clock) {
  ServiceSetup setup;
  setup.engine = settings;
  return std::get<RequestSimulation>(simulate_requests(workload, setup, clock));
}

std::string settings_text(const EngineSettings& e) {
  const auto text = [](const char* name, int64_t value) {
    return std::string(name) + "=" + std::to_string(value) + " ";
  };
  if (e.engine == EngineKind::Sglang)
    return text("max_total_tokens", e.sglang.max_total_tokens) +
           text("max_running_requests", e.sglang.max_running_requests) +
           text("max_prefill_tokens", e.sglang.max_prefill_tokens) +
           text("chunked_prefill_size", e.sglang.chunked_prefill_size) +
           text("enable_mixed_chunk", e.sglang.enable_mixed_chunk) +
           text("lpm", e.sglang.schedule_policy == SglangPolicy::Lpm) +
           text("disable_radix_cache", e.sglang.disable_radix_cache) +
           text("disable_overlap_schedule", e.sglang.disable_overlap_schedule) +
           text("scheduler_recv_interval", e.sglang.scheduler_recv_interval) +
           "schedule_conservativeness=" + std::to_string(e.sglang.schedule_conservativeness);
  if (e.engine == EngineKind::Trtllm)
    return text("max_tokens", e.trtllm.max_tokens) + text("tokens_per_block", e.trtllm.tokens_per_block) +
           text("max_batch_size", e.trtllm.max_batch_size) + text("max_num_tokens", e.trtllm.max_num_tokens) +
           text("enable_block_reuse", e.trtllm.enable_block_reuse) +
           text("capacity_scheduler_policy", static_cast<int64_t>(e.trtllm.capacity_scheduler_policy)) +
           text("enable_chunked_context", e.trtllm.enable_chunked_context) +
           text("context_chunking_policy", static_cast<int64_t>(e.trtllm.context_chunking_policy)) +
           text("disable_overlap_scheduler", e.trtllm.disable_overlap_scheduler);
  return text("block_size", e.block_size) + text("num_gpu_blocks", e.num_gpu_blocks) +
         text("max_num_batched_tokens", e.max_num_batched_tokens) + text("max_num_seqs", e.max_num_seqs) +
         text("long_prefill_token_threshold", e.long_prefill_token_threshold) +
         text("enable_chunked_prefill", e.enable_chunked_prefill) +
         text("enable_prefix_caching", e.enable_prefix_caching) +
         text("priority", e.policy == SchedulingPolicy::Priority) +
         text("scheduler_reserve_full_isl", e.scheduler_reserve_full_isl) +
         text("async_scheduling", e.async_scheduling) + "watermark=" + std::to_string(e.watermark);
}

std::vector<int> prefill_tokens(const RequestSimulation& run) {
  std::vector<int> out;
  for (const StepRecord& step : run.steps) out.push_back(step.prefill_tokens);
  return out;
}

std::vector<int> decode_sequences(const RequestSimulation& run) {
  std::vector<int> out;
  for (const StepRecord& step : run.steps) out.push_back(step.decode_sequences);
  return out;
}

}  // namespace shardscape::test
