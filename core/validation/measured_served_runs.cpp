// Served runs of vLLM at given arrivals, static batches, and cache capacities that engines print.
#include <algorithm>
#include <cmath>
#include <span>

#include "base/number_text.h"
#include "base/real_text.h"
#include "base/units.h"
#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "serving/requests/service_results.h"
#include "serving/requests/speculation.h"
#include "validation/serving_mapping.h"

namespace shardscape {
namespace {

constexpr int64_t kBlockTokens = 16;
constexpr int32_t kMostTokensOfRequest = 10'000'000;

// CodeLlama 34B has no preset: Llama 2 70B with other sizes (config.json of
// codellama/CodeLlama-34b-Instruct-hf).
void code_llama(ServingMapper& m, const std::string& precision) {
  m.checkpoint("llama2-70b", precision);
  m.serving().cell.model = "codellama-34b";
  m.set("layers", 48);
  m.set("ffn", 22016);
}

// The mean of a distribution of lengths, in whole tokens.
int32_t mean_tokens(RowMapper& m, const char* field) {
  const auto mean = m.has(field) ? positive_number(m.row()[field], "mean") : std::nullopt;
  return static_cast<int32_t>(std::clamp(std::round(mean.value_or(1)), 1.0, 1e6));
}

// Requests of inference-perf's shared prefixes: `groups` system prompts with `each` prompts of their own,
// which the client sends again and again in a fixed order.
Workload repeated_prompts(int64_t groups, int64_t each, int32_t system, std::span<const double> arrivals,
                          RequestLength length) {
  Workload out = open_loop(arrivals, std::vector<RequestLength>(arrivals.size(), length));
  out.tokens_per_hash = kBlockTokens;
  const int64_t prompts = groups * each, blocks = length.prompt / kBlockTokens,
                shared = std::min<int64_t>(system / kBlockTokens, blocks);
  for (int64_t prompt = 0; prompt < prompts; ++prompt)
    for (int64_t block = 0; block < blocks; ++block)
      out.hashes.push_back(
          static_cast<uint64_t>((block < shared ? prompt % groups : groups + prompt) * blocks + block + 1));
  for (size_t i = 0; i < out.requests.size(); ++i) {
    out.requests[i].hashes = static_cast<int32_t>(blocks);
    out.requests[i].first_hash = static_cast<int64_t>(i) % prompts * blocks;
  }
  return out;
}

}  // namespace

// vLLM's sampled gaps between tokens are those between chunks of the client and are not compared.
void map_blis_stages(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    const int64_t stage = m.integer("stage", 0), requests = m.integer("requests", 0);
    m.out().name = m.text("experiment", m.out().name) + " stage " + std::to_string(stage);
    m.out().design.name = m.out().name;
    m.latencies(ServedQuantity::Ttft, "ttft_ms");
    m.figure(ServedQuantity::Tpot, positive_number(m.row(), "tpot_mean_ms", 1e-3));
    m.latencies(ServedQuantity::E2e, "e2e_ms");
    if (m.has("throughput"))
      m.figure(ServedQuantity::Throughput, positive_number(m.row()["throughput"], "output_tokens_per_sec"));
    if (stage < 0) m.refuse("the summary of the stages of the experiment");
    // Failed requests are missing from the latencies.
    if (10 * m.integer("succeeded", requests) < 9 * requests)
      m.refuse("more than a tenth of the requests failed");
    m.accelerator(m.text("gpu"));
    const std::string model = m.text("model");
    if (model.find("CodeLlama-34b") != std::string::npos)
      code_llama(m, m.text("precision"));
    else
      m.checkpoint(model, m.text("precision"));
    m.layout(m.integer("tp", 1));
    m.engine().max_num_batched_tokens = m.integer("max_num_batched_tokens", 2048);
    m.engine().max_num_seqs = m.integer("max_num_seqs", 128);
    m.engine().max_model_len = m.integer("max_model_len", 4096);
    const auto rate = positive_number(m.row(), "rate");
    if (!rate || requests < 1) m.refuse("the row has no rate or no requests");
    if (!m.refused()) {
      const MeasuredJson text = m.has("lengths") ? row["lengths"] : MeasuredJson::object();
      RowMapper lengths(text, "");
      const int64_t groups = std::max<int64_t>(1, lengths.integer("effective_num_groups", 1)),
                    each = std::max<int64_t>(1, lengths.integer("effective_num_prompts_per_group", requests));
      const auto system = static_cast<int32_t>(lengths.integer("system_prompt_len", 0));
      const RequestLength length{mean_tokens(m, "prompt_tokens"), mean_tokens(m, "output_tokens")};
      const Wide blocks = Wide{groups} * each * (length.prompt / kBlockTokens);
      if (blocks > kMostHashes) m.refuse("the prompts have " + grouped(blocks) + " cache blocks");
      m.serving().requests = [=, rate = *rate]() -> Result<Workload> {
        const auto arrivals = arrival_times(steady_arrivals(ArrivalKind::Constant, rate), requests);
        if (const auto* problem = std::get_if<Problem>(&arrivals)) return *problem;
        return repeated_prompts(groups, each, system, std::get<0>(arrivals), length);
      };
    }
    out.rows.push_back(m.finish_serving(m.text("workload"), significant(rate.value_or(0)) + " per second"));
  }
}

namespace {

// A recorded request: index, input, output, arrival, queued, scheduled, first token, last token, tokens of
// the longest prefix that an earlier request has too, and this request's index.
struct RecordedRequest {
  RequestLength length;
  double arrival = 0, first = 0, last = 0;
  int64_t shared = 0, shared_with = -1;
};
std::optional<RecordedRequest> recorded_request(const MeasuredJson& cells, size_t index) {
  constexpr size_t kColumns = 10;
  if (!cells.is_array() || cells.size() < kColumns) return std::nullopt;
  // Lengths and the shared prefix, then times.
  for (size_t i = 0; i + 1 < kColumns; ++i) {
    if (!cells[i].is_number()) return std::nullopt;
    const bool tokens = i == 1 || i == 2 || i == 8;
    if (tokens && std::abs(cells[i].get<double>()) > kMostTokensOfRequest) return std::nullopt;
  }
  RecordedRequest out{{cells[1].get<int32_t>(), cells[2].get<int32_t>()},
                      cells[3].get<double>(),
                      cells[6].get<double>(),
                      cells[7].get<double>(),
                      cells[8].get<int64_t>(),
                      cells[9].is_number_integer() ? cells[9].get<int64_t>() : -1};
  const bool earlier = out.shared_with < static_cast<int64_t>(index);
  if (out.length.prompt < 1 || out.length.output < 1 || out.arrival < 0 || !earlier) return std::nullopt;
  return out;
}

// The requests as they arrived, with prefixes in blocks, and the latencies of the record.
void recorded_requests(ServingMapper& m) {
  const MeasuredJson& rows = m.row()["requests"];
  Workload workload;
  workload.tokens_per_hash = kBlockTokens;
  std::vector<double> ttft, tpot, e2e;
  for (const MeasuredJson& cells : rows) {
    const size_t index = workload.requests.size();
    const auto read = recorded_request(cells, index);
    if (!read) return m.refuse("request " + std::to_string(index) + " has no lengths and times");
    Request request;
    request.arrival = read->arrival;
    request.prompt = read->length.prompt;
    request.output = read->length.output;
    request.first_hash = static_cast<int64_t>(workload.hashes.size());
    request.hashes = request.prompt / static_cast<int32_t>(kBlockTokens);
    if (static_cast<int64_t>(workload.hashes.size()) + request.hashes > kMostHashes)
      return m.refuse("the prompts have more than " + grouped(kMostHashes) + " cache blocks");
    for (int64_t block = 0; block < request.hashes; ++block) {
      uint64_t hash = (static_cast<uint64_t>(index + 1) << 32) + static_cast<uint64_t>(block);
      if (read->shared_with >= 0 && block < read->shared / kBlockTokens) {
        const Request& other = workload.requests[static_cast<size_t>(read->shared_with)];
        if (block < other.hashes) hash = workload.hashes[static_cast<size_t>(other.first_hash + block)];
      }
      workload.hashes.push_back(hash);
    }
    workload.requests.push_back(request);
    ttft.push_back(read->first - read->arrival);
    e2e.push_back(read->last - read->arrival);
    if (request.output > 1) tpot.push_back((read->last - read->first) / (request.output - 1));
  }
  if (workload.requests.empty()) return m.refuse("the row has no requests");
  for (auto& [quantity, values] :
       {std::pair{ServedQuantity::Ttft, &ttft}, {ServedQuantity::Tpot, &tpot}, {ServedQuantity::E2e, &e2e}}) {
    const Distribution of = distribution(std::move(*values));
    m.figure(quantity, of.mean, ServedStatistic::Mean);
    m.figure(quantity, of.p50, ServedStatistic::P50);
    m.figure(quantity, of.p99, ServedStatistic::P99);
  }
  m.serving().requests = [workload = std::move(workload)] { return Result<Workload>(workload); };
}

}  // namespace

void map_recorded_requests(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), "vllm");
    m.out().name = m.out().design.name = m.text("run", m.out().name);
    m.serving().engine_version = m.text("vllm_version");
    const MeasuredJson text = m.has("engine_kwargs") ? row["engine_kwargs"] : MeasuredJson::object(),
                       cache = m.has("kv_cache") ? row["kv_cache"] : MeasuredJson::object();
    RowMapper settings(text, "");
    if (m.has("requests")) recorded_requests(m);
    m.figure(ServedQuantity::Capacity, positive_number(cache, "num_kv_tokens"));
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), settings.text("dtype") == "bfloat16" ? "bf16" : settings.text("dtype"));
    m.layout(settings.integer("tensor_parallel_size", 1), settings.integer("data_parallel_size", 1));
    m.engine().max_num_seqs = settings.integer("max_num_seqs", 256);
    m.engine().max_num_batched_tokens = settings.integer("max_num_batched_tokens", 2048);
    m.engine().max_model_len = settings.integer("max_model_len", m.engine().max_model_len);
    if (settings.refused()) m.refuse(settings.out().unmapped);
    out.rows.push_back(m.finish_serving(m.out().name, ""));
  }
}

void map_kv_capacity(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    m.out().name = m.out().name + ": " + m.text("model") + " " + m.text("gpu") + " " + m.text("engine");
    m.out().design.name = m.out().name;
    m.figure(ServedQuantity::Capacity, positive_number(m.row(), "kv_tokens"));
    if (m.text("kind") != "measured") m.refuse("the row is " + m.text("kind") + ", not printed by an engine");
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), m.text("precision"));
    const int64_t tp = std::max<int64_t>(1, m.integer("tp", 1)),
                  ep = std::max<int64_t>(1, m.integer("ep", 1));
    m.layout(tp, 1, ep, tp / ep);
    if (m.has("kv_cache_dtype")) m.set("kv_cache_dtype", m.text("kv_cache_dtype"));
    // It samples with other kernels, so the peak of the largest step is another one.
    if (m.integer("model_runner", 1) > 1)
      m.refuse("the sampler of vLLM's second model runner is not modelled");
    if (m.has("max_num_batched_tokens")) m.step_tokens(m.integer("max_num_batched_tokens", 1));
    if (m.has("max_num_seqs")) m.most_sequences(m.integer("max_num_seqs", 1));
    m.engine().mxfp4_use_marlin = m.text("mxfp4_kernel") == "marlin";
    m.engine().block_size = static_cast<int32_t>(m.integer("block_size", kBlockTokens));
    if (const auto share = positive_number(m.row(), "memory_fraction")) m.memory_share(*share);
    out.rows.push_back(m.finish_serving("", ""));
  }
}

// A static batch: all prompts in one step, then steps of decode (vLLM 0.1). Memory is no subject of the rows.
// The end-to-end times of long outputs are shorter than their steps, so they are not compared.
void map_splitwise(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, "", "vllm");
    const int64_t batch = std::max<int64_t>(1, m.integer("batch", 1)),
                  input = std::max<int64_t>(1, m.integer("prompt_tokens", 1)),
                  output = std::max<int64_t>(1, m.integer("output_tokens", 1));
    const std::string lengths = "b" + std::to_string(batch) + " " + std::to_string(input) + "/" +
                                std::to_string(output);
    m.out().name = m.text("model") + " " + m.text("gpu") + " tp" + std::to_string(m.integer("tp", 1)) + " " +
                   lengths;
    m.out().design.name = m.out().name;
    m.figure(ServedQuantity::Ttft, positive_number(m.row(), "prefill_ms", 1e-3));
    m.figure(ServedQuantity::Tpot, positive_number(m.row(), "decode_step_ms", 1e-3));
    if (m.text("gpu").ends_with("-pcap"))
      m.refuse("the GPUs run under a power cap that the row does not give");
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), "fp16");
    m.layout(m.integer("tp", 1));
    m.source().arrivals = ArrivalKind::AllAtOnce;
    m.source().requests = batch;
    m.source().input_len = input;
    m.source().output_len = output;
    m.engine().max_num_batched_tokens = m.engine().max_model_len;
    m.engine().async_scheduling = m.engine().enable_prefix_caching = false;
    m.engine().num_gpu_blocks = batch * ((input + output) / kBlockTokens + 1) + 1;
    out.rows.push_back(m.finish_serving(lengths, ""));
  }
}

namespace {

// "off", or "3 tokens, acceptance 2.18": SGLang's draft tokens, which include the last sampled one, and the
// tokens per step.
void wide_experts_drafts(ServingMapper& m, const std::string& text) {
  if (text.empty() || text == "off") return;
  constexpr std::string_view kBetween = " tokens, acceptance ";
  const size_t at = text.find(kBetween);
  const std::string_view all = text;
  const NumberText draft_tokens = parse_number(all.substr(0, at), false);
  const double length = at == std::string::npos ? 0
                                                : parse_real(all.substr(at + kBetween.size())).value_or(0);
  if (draft_tokens.fault != NumberFault::None || draft_tokens.value < 2 || length <= 0)
    return m.refuse("multi-token prediction without its acceptance: " + text);
  const int64_t drafts = draft_tokens.value - 1;
  m.speculation(SpeculativeMethod::Mtp, drafts, {rate_of_length(length, drafts)});
  m.figure(ServedQuantity::TokensPerStep, length);
}

// Why a row is no decode of one layout.
void refuse_wide_experts(ServingMapper& m) {
  const std::string phase = m.text("phase");
  if (m.text("kind") != "measured") m.refuse("the row is " + m.text("kind", "of no kind") + ", not measured");
  if (phase == "prefill") m.refuse("prompts alone, without a latency or an answer");
  if (phase == "TTFT") m.refuse("the row gives no layout of its decode replica");
  if (phase.find('+') != std::string::npos)
    m.refuse("the row gives no numbers and no layouts of its prefill and decode replicas");
  if (phase != "decode") m.refuse("the phase " + phase + " is unknown");
}

}  // namespace

// Decode of DeepSeek with experts over many nodes and data-parallel attention. The other phase has unlimited
// resources, so all prompts are read in one step, and only the time per token is compared: the batch of a GPU
// over its tokens per second.
void map_wide_experts(const MeasuredJson& set, MeasuredSet& out) {
  constexpr int64_t kOutput = 129;
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    const int64_t gpus = m.integer("gpus", 0), batch = m.integer("batch_per_gpu", 0),
                  input = m.integer("isl", 0), context = m.integer("kv_len", input + m.integer("osl", 0) / 2);
    const std::string parallelism = m.text("parallelism");
    m.out().name = m.text("gpu") + " " + m.text("phase") + " " + parallelism + " " + m.text("mtp", "off");
    m.out().design.name = m.out().name;
    const auto tokens = positive_number(m.row(), "tok_s_per_gpu");
    if (tokens && batch > 0) m.figure(ServedQuantity::Tpot, static_cast<double>(batch) / *tokens);
    refuse_wide_experts(m);
    if (gpus < 1 || batch < 1 || context <= kOutput) m.refuse("the row has no batch, GPUs or context");
    if (parallelism.find("overlap scheduling") != std::string::npos)
      m.schedule_ahead(parallelism.find("no overlap scheduling") == std::string::npos);
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), m.text("precision", "fp8"));  // as published
    m.layout(1, std::max<int64_t>(1, gpus), std::max<int64_t>(1, gpus));
    m.set("dispatcher", "alltoall");
    wide_experts_drafts(m, m.text("mtp"));
    m.source().arrivals = ArrivalKind::AllAtOnce;
    m.source().requests = std::max<int64_t>(1, batch * gpus);
    const Wide step = Wide{std::max<int64_t>(batch, 1)} * std::max<int64_t>(context, 1) *
                      std::max<int64_t>(1, gpus);
    if (step > kMostOfRow) m.refuse("a step of all prompts has " + grouped(step) + " tokens");
    m.source().input_len = std::max<int64_t>(1, context - kOutput / 2);
    m.source().output_len = kOutput;
    // All prompts of a replica in one step; SGLang's replicas share its chunk. The cache has room for twice
    // the batch, so that no sequence waits.
    m.step_tokens(static_cast<int64_t>(std::min<Wide>(step, kMostOfRow)));
    m.no_prefix_cache();
    if (!m.refused())
      set_cache_tokens(m.engine(), 2 * std::max<int64_t>(1, batch) * (context + kOutput + kBlockTokens));
    out.rows.push_back(m.finish_serving("", ""));
  }
}

}  // namespace shardscape
