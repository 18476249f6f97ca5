// Serving points in closed loops: InferenceX, the accuracy set of AIConfigurator, and repeated sweeps of
// vLLM.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "serving/requests/speculation.h"
#include "validation/inferencex_recipes.h"
#include "validation/serving_mapping.h"

namespace shardscape {
namespace {

std::string lengths_text(int64_t input, int64_t output) {
  return std::to_string(input) + "/" + std::to_string(output);
}
std::string load_text(int64_t users) { return "c" + std::to_string(users); }

// A layout of GPUs in which attention runs data-parallel (dp > 1) or tensor-parallel.
struct Layout {
  int64_t tp = 1, dp = 1, ep = 1, etp = 1;
  std::string text() const {
    return "tp" + std::to_string(tp) + " dp" + std::to_string(dp) + " ep" + std::to_string(ep);
  }
};

// The degrees of an aggregated row. Rows with attention_dp are InferenceX's n GPUs with or without
// data-parallel attention. Expert parallelism over all of them is written as moe_ep = n, as
// moe_tp = moe_ep = n, or as tp = attention_dp = n; then tp or attention_dp may be n^2. Times of rows that
// also exist in InferenceX's own form confirm this. Rows without attention_dp are literal.
Layout aiconfigurator_layout(RowMapper& m) {
  const auto degree = [&](const char* field) { return std::max<int64_t>(1, m.integer(field, 1)); };
  const int64_t tp = degree("tp"), dp = degree("attention_dp"), moe_tp = degree("moe_tp"),
                ep = degree("moe_ep");
  if (m.integer("attention_dp", 0) == 0) return {tp, std::max<int64_t>(1, moe_tp * ep / tp), ep, moe_tp};
  if (moe_tp == ep && ep > 1) return dp == 1 ? Layout{ep, 1, ep, 1} : Layout{1, ep, ep, 1};
  if (tp == dp && dp > 1) return {tp, 1, tp, 1};
  return {tp, dp, ep, moe_tp};
}

// Multi-token prediction, which the set does not mark. InferenceX's own data mark some of these points; the
// others have the same image and layout.
bool predicts_tokens(RowMapper& m, const Layout& layout) {
  const std::string model = m.text("model"), version = m.text("engine_version"), engine = m.text("engine"),
                    precision = m.text("precision");
  if (model.find("DeepSeek-R1") != std::string::npos) {
    if (engine == "trtllm" && version == "1.2.0rc6.post3") return true;
    if (engine == "trtllm" && version == "1.1.0rc2.post2") return precision == "fp8" || layout.ep > 1;
    return engine == "sglang" && version == "0.5.9" && precision == "fp8" && layout.tp == 8 &&
           m.text("gpu") == "b200_sxm";
  }
  return model.find("Qwen3.5") != std::string::npos && engine == "sglang" && version == "0.5.9" &&
         precision == "fp8" && layout.tp == 4 && layout.ep == 1;
}

// AIConfigurator's own runs: equal lengths, and servers that its generator starts for a benchmark. A step has
// room for one prompt, 1,500 tokens and a token of each sequence, and as many sequences run as there are
// users (ai-dynamo/aiconfigurator @095f58a51, generator/rule_plugin/benchmark/{vllm,trtllm,sglang}.rule; of
// TensorRT-LLM the same in generator/backends/trtllm.py @b642c1e25, 2025-10). Prompts therefore start one by
// one, and users do not stay in step. Each user sends 20 requests
// (backend_templates/benchmark/bench_run.sh.j2). The generator did not start SGLang before version 0.5.6
// (@b642c1e25): older servers have their defaults.
void aiconfigurator_loop(ServingMapper& m, int64_t users, int64_t input, int64_t output) {
  constexpr int64_t kRequestsPerUser = 20, kRoom = 1500;
  m.closed_loop(users, input, output, 1);
  m.no_prefix_cache();
  EngineSettings& engine = m.engine();
  if (engine.engine == EngineKind::Sglang && m.text("engine_version").starts_with("0.5.1.")) return;
  m.source().requests = kRequestsPerUser * users;
  const int64_t sequences = std::max<int64_t>(1, m.integer("batch_per_dp", users));
  m.most_sequences(sequences);
  if (engine.engine != EngineKind::Sglang) return m.step_tokens(sequences + input + kRoom);
  engine.sglang.max_prefill_tokens = input + kRoom;
  engine.sglang.enable_mixed_chunk = true;
}

double mean_of(const MeasuredJson& row, const char* field) {
  const auto it = row.find(field);
  return it == row.end() ? 0 : positive_number(*it, "mean").value_or(0);
}

// Tokens per step of a server that sends its tokens after every so many steps (stream-interval of the
// scripts): the mean gap between two messages over the time per token is the number of tokens of a message.
// Empty if the row lacks means, or fits no interval.
std::optional<double> streamed_length(const MeasuredJson& row, int64_t drafts) {
  const double gap = mean_of(row, "itl_ms"), token = mean_of(row, "tpot_ms");
  if (gap == 0 || token == 0) return std::nullopt;
  for (const double interval : {10.0, 30.0})
    if (const double length = gap / token / interval; length > 1 && length < 1 + static_cast<double>(drafts))
      return length;
  return std::nullopt;
}

// Multi-token prediction of InferenceX. Rows whose acceptance is not known begin with the rate that the
// authors of the model report; share_acceptance() replaces it where it can.
void multi_token_prediction(ServingMapper& m, bool dp_attention) {
  const ServedCell& cell = m.serving().cell;
  const InferencexRecipe* recipe = inferencex_recipe(cell.model, cell.engine, cell.precision, cell.gpu, true);
  const int64_t drafts = !recipe ? 0 : dp_attention ? recipe->dp_drafts : recipe->drafts;
  if (drafts == 0) return m.refuse("multi-token prediction, and the number of draft tokens is not known");
  const auto length = streamed_length(m.row(), drafts);
  m.speculation(SpeculativeMethod::Mtp, drafts,
                {length ? rate_of_length(*length, drafts) : kReportedDraftRate});
  m.figure(ServedQuantity::TokensPerStep, length);
}

// The rows of the set without an acceptance of their own get the mean rate of those with the same engine and
// number of draft tokens. Without any, their cells are set apart.
void share_acceptance(std::vector<MeasuredRow>& rows) {
  const auto measured = [](const MeasuredServing& of) {
    return std::any_of(of.figures.begin(), of.figures.end(), [](const ServedFigure& figure) {
      return figure.quantity == ServedQuantity::TokensPerStep;
    });
  };
  std::map<std::pair<std::string, int64_t>, std::pair<double, double>>
      sums;  // of the rates, and their number
  const auto sum_of = [&](const MeasuredServing& of) -> std::pair<double, double>& {
    return sums[{of.cell.engine, of.spec.engine.speculation.num_speculative_tokens}];
  };
  for (const MeasuredRow& row : rows)
    if (row.serving && measured(*row.serving)) {
      auto& [sum, number] = sum_of(*row.serving);
      sum += row.serving->spec.engine.speculation.acceptance.front();
      ++number;
    }
  for (MeasuredRow& row : rows)
    if (row.serving && draft_tokens(row.serving->spec.engine.speculation) > 0 && !measured(*row.serving)) {
      if (const auto& [sum, number] = sum_of(*row.serving); number > 0)
        row.serving->spec.engine.speculation.acceptance = {sum / number};
      else
        row.serving->cell.precision += kAssumedAcceptance;
    }
}

// Whether the gaps of a row lie between tokens. Many servers send several tokens at once; then the gaps
// between these chunks are longer than the time per token.
bool gaps_of_tokens(RowMapper& m) {
  const auto middle = [&](const char* field) {
    if (!m.has(field)) return 0.0;
    const auto mean = positive_number(m.row()[field], "mean");
    return mean ? *mean : positive_number(m.row()[field], "p50").value_or(0);
  };
  constexpr double kMost = 1.5;
  return middle("itl_ms") < kMost * middle("tpot_ms");
}

constexpr char kNoAcceptance[] = "multi-token prediction, and the row has no acceptance";
constexpr char kDisaggregated[] = "prefill and decode run on separate machines";

}  // namespace

void map_aiconfigurator(const MeasuredJson& set, MeasuredSet& out) {
  std::map<std::string, std::string> seen;  // measurements and the first row of each
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    m.out().name = m.out().design.name = m.text("id", m.out().name);
    for (const auto& [quantity, field] :
         {std::pair{ServedQuantity::Ttft, "ttft_mean_ms"}, {ServedQuantity::Tpot, "tpot_mean_ms"}})
      m.figure(quantity, positive_number(m.row(), field, 1e-3));
    m.serving().engine_version = m.text("engine_version");
    const int64_t input = m.integer("isl", 0), output = m.integer("osl", 0),
                  users = m.integer("concurrency", 0);
    if (m.text("mode") != "agg") m.refuse(kDisaggregated);
    // Their degrees are sums over the workers of disaggregated runs.
    if (m.text("gpu") == "gb200") m.refuse("the layout of the GB200 rows is not known");
    m.accelerator(m.text("gpu"));
    const std::string gemm = m.text("gemm"), precision = m.text("precision");
    m.checkpoint(m.text("model"), gemm == "fp8_block" ? gemm : precision);
    const Layout layout = aiconfigurator_layout(m);
    if (predicts_tokens(m, layout)) m.refuse(kNoAcceptance);
    m.layout(layout.tp, layout.dp, layout.ep, layout.etp);
    m.set_from("pp", "pp");
    if (m.integer("attention_dp", 0) > 0) {
      m.inferencex_loop(users, input, output);
    } else {
      aiconfigurator_loop(m, users, input, output);
    }
    if (!m.refused() && !m.serving().figures.empty()) {
      std::string same = m.serving().cell.model + m.serving().cell.gpu + m.serving().cell.engine + precision +
                         lengths_text(input, output) + " " + load_text(users);
      for (const ServedFigure& figure : m.serving().figures) same += " " + std::to_string(figure.value);
      if (const auto [first, fresh] = seen.try_emplace(same, m.out().name); !fresh)
        m.refuse("the same measurement as " + first->second);
    }
    out.rows.push_back(m.finish_serving(lengths_text(input, output), load_text(users)));
  }
}

namespace {

// The workers of InferenceX for prompts or answers.
struct Workers {
  int64_t gpus = 1, number = 1;  // of a worker, and of workers
  Layout layout;
};
Workers inferencex_workers(ServingMapper& m, const char* field, bool disaggregated) {
  const MeasuredJson object = m.has(field) ? m.row()[field] : MeasuredJson::object();
  RowMapper of(object, "");
  Workers out;
  out.gpus = std::max<int64_t>(1, of.integer("tp", 1));
  out.number = of.integer("workers", disaggregated ? 0 : 1);
  const int64_t ep = std::max<int64_t>(1, of.integer("ep", 1)), all = of.integer("gpus", 0);
  const bool dp = of.flag("dp_attention", false);
  out.layout = {dp ? 1 : out.gpus, dp ? out.gpus : 1, ep, out.gpus / ep};
  if (of.refused()) m.refuse(of.out().unmapped);
  if (disaggregated && (out.number < 1 || all != out.number * out.gpus))
    m.refuse("the degrees do not give the GPUs of a worker (" + std::string(field) + ": tp " +
             std::to_string(out.gpus) + ", " + std::to_string(out.number) + " workers, " +
             std::to_string(all) + " GPUs)");
  return out;
}

void set_layout(ServingMapper& m, const Layout& of) { m.layout(of.tp, of.dp, of.ep, of.etp); }

}  // namespace

// The field "gpus" of aggregated rows with expert parallelism is the square of their GPUs. Tokens per second
// and GPU are of the GPUs of the field "tp", as concurrency over latency confirms; of disaggregated rows they
// are of the decode GPUs. The scripts of disaggregated servers are not in the repository of InferenceX, so
// these have the settings of aggregated ones, but receive requests in every step.
void map_inferencex(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    std::string engine = text_field(row, "engine");
    if (engine.starts_with("dynamo-")) engine.erase(0, std::string_view("dynamo-").size());
    ServingMapper m(row, "", engine);
    const bool disaggregated = m.flag("disaggregated", false);
    const Workers decode = inferencex_workers(m, "decode", disaggregated);
    const Workers prefill = disaggregated ? inferencex_workers(m, "prefill", true) : Workers();
    const int64_t input = m.integer("isl", 0), output = m.integer("osl", 0),
                  users = m.integer("concurrency", 0);
    std::string layout = decode.layout.text();
    if (disaggregated)
      layout = std::to_string(prefill.number) + " x " + prefill.layout.text() + " to " +
               std::to_string(decode.number) + " x " + layout;
    m.out().name = m.text("gpu") + " " + m.text("engine") + " " + m.text("precision") + " " + layout + " " +
                   lengths_text(input, output) + " " + load_text(users) + " " + m.text("date");
    m.out().design.name = m.out().name;
    m.latencies(ServedQuantity::Ttft, "ttft_ms");
    m.latencies(ServedQuantity::Tpot, "tpot_ms");
    if (gaps_of_tokens(m)) m.latencies(ServedQuantity::Itl, "itl_ms");
    m.latencies(ServedQuantity::E2e, "e2e_ms");
    m.figure(ServedQuantity::Throughput,
             positive_number(m.row(), "output_tokens_per_s_per_gpu",
                             static_cast<double>(decode.gpus * (disaggregated ? decode.number : 1))));
    const std::string speculative = m.text("speculative", "none");
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), m.text("precision"));
    m.inferencex_loop(users, input, output, speculative == "mtp");
    if (disaggregated) m.engine().sglang.scheduler_recv_interval = 1;
    const Design before = m.out().design;
    Design prompts;
    if (disaggregated) {
      set_layout(m, prefill.layout);
      prompts = std::exchange(m.out().design, before);
    }
    set_layout(m, decode.layout);
    if (disaggregated) m.disaggregated(prompts, prefill.number, decode.number);
    if (speculative == "mtp")
      multi_token_prediction(m, decode.layout.dp > 1);
    else if (speculative != "none")
      m.refuse("the speculative method " + speculative + " is unknown");
    out.rows.push_back(m.finish_serving(lengths_text(input, output), load_text(users)));
  }
  share_acceptance(out.rows);
}

void map_inferencex_slo(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    m.out().name = m.out().design.name = m.text("name", m.out().name);
    m.latencies(ServedQuantity::Ttft, "ttft_ms");
    m.latencies(ServedQuantity::Tpot, "tpot_ms");
    m.latencies(ServedQuantity::E2e, "e2e_ms");
    m.figure(ServedQuantity::Throughput, positive_number(m.row(), "output_tokens_per_s"));
    const int64_t input = m.integer("isl", 0), output = m.integer("osl", 0),
                  users = m.integer("concurrency", 0), gpus = m.integer("gpus", 1);
    if (m.has("speculative")) m.refuse(kNoAcceptance);
    if (!m.has("gpu")) m.refuse("the row does not name its GPU");
    m.accelerator(m.text("gpu"));
    m.checkpoint(m.text("model"), m.text("precision"));
    const std::string parallel = m.text("parallel");
    if (parallel.starts_with("tep"))
      m.layout(gpus, 1, gpus);
    else if (parallel.starts_with("dep"))
      m.layout(1, gpus, gpus);
    else if (parallel.starts_with("tp"))
      m.layout(gpus);
    else
      m.refuse("the layout " + parallel + " is unknown");
    m.closed_loop(users, input, output, 1);
    m.source().requests = std::max<int64_t>(1, m.integer("requests", m.source().requests));
    m.no_prefix_cache();
    out.rows.push_back(m.finish_serving(lengths_text(input, output), load_text(users)));
  }
}

namespace {

// EAGLE with the acceptance per position that vLLM has logged.
void eagle(ServingMapper& m) {
  const int64_t tokens = m.integer("num_speculative_tokens", 0);
  std::vector<double> acceptance;
  double length = 1;
  if (m.has("acceptance_per_position"))
    for (const MeasuredJson& rate : m.row()["acceptance_per_position"])
      if (rate.is_number()) length += acceptance.emplace_back(rate.get<double>());
  if (static_cast<int64_t>(acceptance.size()) != tokens)
    return m.refuse("speculative decoding without an acceptance for each position");
  m.speculation(SpeculativeMethod::Eagle, tokens, std::move(acceptance));
  m.figure(ServedQuantity::TokensPerStep, length);
}

}  // namespace

void map_closed_loops(const MeasuredJson& set, MeasuredSet& out) {
  const MeasuredJson text = set.value("setup", MeasuredJson::object());
  RowMapper setup(text, "");
  const bool marlin = text_field(set, "what").find("Marlin") != std::string::npos;
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), "vllm");
    m.out().name = m.out().design.name = m.text("run", m.out().name);
    m.latencies(ServedQuantity::Ttft, "ttft_ms");
    m.latencies(ServedQuantity::Tpot, "tpot_ms");
    m.latencies(ServedQuantity::Itl, "itl_ms");
    m.latencies(ServedQuantity::E2e, "e2e_ms");
    m.figure(ServedQuantity::Throughput, positive_number(m.row(), "output_tokens_per_s"));
    m.preemptions("server");
    if (m.has("num_speculative_tokens")) eagle(m);
    m.accelerator(setup.text("gpu"));
    m.checkpoint(setup.text("model"), "mxfp4");
    m.layout(setup.integer("tp", 1));
    const int64_t users = m.integer("concurrency", 0);
    // "uniform in [0.8,1.0] x (8000 in, 1000 out)"
    constexpr int64_t kInput = 8000, kOutput = 1000;
    constexpr double kShortest = 0.8;
    m.closed_loop(users, kInput, kOutput, kShortest);
    m.source().requests = std::max<int64_t>(1, m.integer("requests", m.source().requests));
    m.source().seed = std::max<int64_t>(0, m.integer("repeat", 0));
    m.engine().max_num_seqs = setup.integer("max_num_seqs", 256);
    m.engine().max_num_batched_tokens = setup.integer("max_num_batched_tokens", 8192);
    m.engine().max_model_len = setup.integer("max_model_len", 10240);
    m.engine().enable_prefix_caching = false;
    m.engine().mxfp4_use_marlin = marlin;
    if (const auto share = positive_number(text, "gpu_memory_utilization"))
      m.serving().spec.gpu_memory_utilization = *share;
    if (setup.refused()) m.refuse(setup.out().unmapped);
    out.rows.push_back(m.finish_serving(lengths_text(kInput, kOutput), load_text(users)));
  }
}

}  // namespace shardscape
