// Results of MLPerf Inference: servers of language models at Poisson arrivals, and offline throughput.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/units.h"
#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "validation/serving_mapping.h"

namespace shardscape {
namespace {

constexpr double kLeastSeconds = 600;  // of a run of LoadGen
constexpr double kMostSamples = 1e6;

// The data set of a model: the file with the lengths of its samples, and the most tokens of an answer
// (max_new_tokens of the reference implementations, github.com/mlcommons/inference, language/).
struct DataSet {
  const char *model, *file;
  int32_t most_output;
};
constexpr DataSet kDataSets[] = {
    {"llama2-70b", "mlperf_llama2-70b-99.csv", 1024},
    {"llama3-8b", "mlperf_llama3-1-8b-datacenter.csv", 128},
    {"llama3.1-405b", "mlperf_llama3-1-405b.csv", 2000},
    {"mixtral-8x7b", "mlperf_mixtral-8x7b.csv", 1024},
    {"deepseek-v3", "mlperf_deepseek-r1.csv", 20000},
};

const DataSet* data_set(const std::string& model) {
  const auto it = std::find_if(std::begin(kDataSets), std::end(kDataSets),
                               [&](const DataSet& of) { return model == of.model; });
  return it == std::end(kDataSets) ? nullptr : it;
}

// The file with the lengths of the samples, in the folder next to that of the set.
std::filesystem::path lengths_file(const DataSet& data, const std::string& folder) {
  return (std::filesystem::path(folder) / ".." / "lengths" / data.file).lexically_normal();
}

// Scales the answers so that they have `mean` tokens on average and at most `most`. Where the mean is at
// least `most`, all answers have `most`: LoadGen also counts the token that ends an answer.
void scale_answers(std::vector<RequestLength>& lengths, double mean, int32_t most) {
  const auto scaled = [&](const RequestLength& length, double factor) {
    return std::min<double>(length.output * factor, most);
  };
  // The mean grows with the factor.
  double low = 0, high = most;
  for (int halving = 0; halving < 50; ++halving) {
    const double factor = (low + high) / 2;
    double sum = 0;
    for (const RequestLength& length : lengths) sum += scaled(length, factor);
    (sum < mean * static_cast<double>(lengths.size()) ? low : high) = factor;
  }
  for (RequestLength& length : lengths)
    length.output = static_cast<int32_t>(std::max(1.0, std::round(scaled(length, high))));
}

// Samples of a data set, drawn with replacement. The answers are scaled so that they have `output` tokens on
// average, as in the run: only the reference model has the lengths of the file.
Result<Workload> mlperf_requests(const std::filesystem::path& file, const RequestSource& source,
                                 double output, int32_t most_output) {
  auto read = read_lengths(file);
  if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
  std::vector<RequestLength> rows = std::get<0>(std::move(read));
  scale_answers(rows, output, most_output);
  const auto arrivals = arrival_times(steady_arrivals(source.arrivals, source.rate), source.requests);
  if (const auto* problem = std::get_if<Problem>(&arrivals)) return *problem;
  return open_loop(std::get<0>(arrivals), sampled_lengths(rows, source.requests, 0));
}

// What a configuration file says of the engine. Rates, names of classes and paths say nothing.
MeasuredJson engine_settings(const MeasuredJson& row) {
  MeasuredJson out = MeasuredJson::object();
  if (!row.is_object()) return out;
  if (const auto config = row.find("config"); config != row.end() && config->is_object())
    for (const auto& [name, value] : config->items())
      if (!name.ends_with("_qps") && name != "class" && name != "tensor_path") out[name] = value;
  return out;
}

// The settings of a row without any: those of all rows with the same round, model, scenario and accelerator,
// if they agree. Partners of NVIDIA submit with its code and configuration files.
class SharedSettings {
 public:
  explicit SharedSettings(const MeasuredJson& set) {
    for (const MeasuredJson& row : set["rows"]) {
      MeasuredJson settings = engine_settings(row);
      if (settings.empty()) continue;
      const auto [at, fresh] = settings_.emplace(key(row), settings);
      if (!fresh && at->second != settings) at->second = MeasuredJson::object();
    }
  }
  MeasuredJson of(const MeasuredJson& row) const {
    MeasuredJson own = engine_settings(row);
    if (!own.empty()) return own;
    const auto shared = settings_.find(key(row));
    return shared == settings_.end() ? own : shared->second;
  }

 private:
  using Key = std::array<std::string, 4>;
  static Key key(const MeasuredJson& row) {
    return {text_field(row, "round"), text_field(row, "model"), text_field(row, "scenario"),
            text_field(row, "accelerator")};
  }
  std::map<Key, MeasuredJson> settings_;  // empty where rows differ
};

const MeasuredJson& member(const MeasuredJson& object, const char* name) {
  static const MeasuredJson none = MeasuredJson::object();
  const auto it = object.find(name);
  return it != object.end() && it->is_object() ? *it : none;
}

// The settings of NVIDIA's harness: flags of the build and of the runtime since round 5.0, before that
// members of the configuration. Both harnesses schedule with MAX_UTILIZATION and without block reuse
// (code/harness/harness_llm/main_llm.cc of round 4.1, code/llmlib of round 5.1).
void trtllm_settings(ServingMapper& m, const MeasuredJson& config) {
  const MeasuredJson &build = member(config, "trtllm_build_flags"),
                     &runtime = member(config, "trtllm_runtime_flags"),
                     &batch = member(config, "gpu_batch_size");
  const auto number = [](std::initializer_list<const MeasuredJson*> objects, const char* name) {
    for (const MeasuredJson* object : objects)
      if (const auto found = positive_integer(*object, name)) return *found;
    return int64_t{0};
  };
  TrtllmSettings& trtllm = m.engine().trtllm;
  for (const auto& [model, sequences] : batch.items())
    if (const auto most = positive_integer(batch, model.c_str())) m.most_sequences(*most);
  if (const int64_t tokens = number({&runtime, &build, &config}, "max_num_tokens")) m.step_tokens(tokens);
  if (const int64_t longest = number({&build}, "max_seq_len")) trtllm.max_seq_len = longest;
  // 64 is the default of trtllm-build in round 4.1 (TensorRT-LLM 0.11).
  constexpr int32_t kBuiltTokensPerBlock = 64;
  const int64_t block = number({&build}, "tokens_per_block");
  trtllm.tokens_per_block = block > 0 ? static_cast<int32_t>(block) : kBuiltTokensPerBlock;
  const auto share = positive_number(runtime, "kvcache_free_gpu_mem_frac");
  m.memory_share(share ? *share : positive_number(config, "kvcache_free_gpu_mem_frac").value_or(0.9));
  const std::string policy = text_field(runtime, "batch_scheduler_policy"),
                    chunking = text_field(runtime, "context_chunking_policy");
  trtllm.capacity_scheduler_policy = policy == "no_evict" ? CapacityPolicy::GuaranteedNoEvict
                                     : policy == "static" ? CapacityPolicy::StaticBatch
                                                          : CapacityPolicy::MaxUtilization;
  if (chunking == "equal_progress") trtllm.context_chunking_policy = ChunkingPolicy::EqualProgress;
  trtllm.enable_chunked_context = runtime.value("enable_chunked_context", false);
  m.no_prefix_cache();
  // Harness workers belong to the PyTorch flow. The C++ executor runs built engines, one step after the other
  // (enable_trt_overlap of round 4.1).
  if (runtime.contains("workers_per_core")) return;
  m.set("profile", "trtllm-engine");
  m.schedule_ahead(false);
}

// The precision of the engine. Configurations of round 4.1 name the inputs "fp16" and switch FP8 on. So do
// the scripts that AMD and Dell run vLLM with (code/llama2-70b-99/test_VllmFp8: --dtype float16
// --quantization fp8 --kv-cache-dtype fp8).
std::string precision_of(ServingMapper& m, const MeasuredJson& config) {
  const bool scripts = m.serving().cell.engine == "vllm" && m.text("round") == "v4.1";
  if (config.value("use_fp8", false) || scripts) return "fp8";
  const std::string own = text_field(config, "precision");
  return own.empty() ? m.text("weight_dtype") : own;
}

// Products whose name contains that of another accelerator, with other memory, links or power.
void other_products(ServingMapper& m, const std::string& gpu) {
  for (const char* other : {"-NVL-", "-PCIe-", "Grace Hopper", "-CTS"})
    if (gpu.find(other) != std::string::npos) m.refuse("the catalogue has no accelerator " + gpu);
}

// TensorRT-LLM in the settings of the submission, vLLM with its defaults and one engine per accelerator.
void engines(ServingMapper& m, const SharedSettings& shared, const MeasuredJson& row) {
  const bool trtllm = m.serving().cell.engine == "trtllm";
  const MeasuredJson config = trtllm ? shared.of(row) : MeasuredJson::object();
  if (trtllm && config.empty()) m.refuse("the row does not give the settings of its engines");
  if (positive_number(config, "power_limit")) m.refuse("the GPUs run under a power cap");
  m.checkpoint(m.text("model"), precision_of(m, config));
  const auto degree = [&](const char* name) {
    const auto value = positive_integer(config, name);
    if (!value && config.contains(name)) m.refuse(std::string(name) + " is not a degree");
    return value.value_or(1);
  };
  const int64_t tp = degree("tensor_parallelism"), pp = degree("pipeline_parallelism"),
                gpus = m.integer("accelerators", 1);
  // Weights of 405 billion parameters need several accelerators per engine.
  if (!trtllm && m.serving().cell.model == "llama3.1-405b")
    m.refuse("the row does not give the layout of its engines");
  if (gpus % (tp * pp) != 0) m.refuse("the engines do not divide the accelerators");
  m.layout(tp);
  if (pp > 1) m.set("pp", pp);
  if (trtllm) trtllm_settings(m, config);
  m.serving().spec.replicas = std::max<int64_t>(1, gpus / (tp * pp));
}

// The limits of the 99th percentiles, and whether the run keeps them. Offline runs have none.
void service_level(ServingMapper& m) {
  struct Limit {
    Latency latency;
    const char *field, *figure;
  };
  bool kept = true;
  ServiceLevel& level = m.serving().spec.level;
  for (const Limit& limit : {Limit{Latency::Ttft, "ttft_limit_ms", "ttft_p99"},
                             Limit{Latency::Tpot, "tpot_limit_ms", "tpot_p99"}}) {
    const auto seconds = positive_number(m.row(), limit.field, 1e-3);
    const std::vector<ServedFigure>& figures = m.serving().figures;
    const auto of = std::find_if(figures.begin(), figures.end(),
                                 [&](const ServedFigure& figure) { return figure.metric == limit.figure; });
    if (!seconds || of == figures.end()) continue;
    level.targets.push_back({LatencyFigure::P99, limit.latency, *seconds});
    kept = kept && of->value <= *seconds;
  }
  if (level.any()) m.serving().kept_level = kept;
}

}  // namespace

// Engines share the requests: the one with the fewest requests gets the next (load_balancing of NVIDIA's
// harness), offline in turns. The server scenario draws samples at Poisson arrivals; the offline scenario
// sends all samples at once.
void map_mlperf(const MeasuredJson& set, MeasuredSet& out) {
  const SharedSettings shared(set);
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    const std::string framework = text_field(row, "framework");
    ServingMapper m(row, row_number(++number), framework.substr(0, framework.find_first_of(" ,")));
    const std::string gpu = m.text("accelerator"), scenario = m.text("scenario");
    const bool offline = scenario == "Offline";
    m.out().name = m.text("round") + " " + m.text("submitter") + " " + m.text("system") + " " +
                   m.text("model") + " " + scenario;
    m.out().design.name = m.out().name;
    m.figure(ServedQuantity::Throughput, positive_number(m.row(), "tokens_per_s"));
    if (!offline) {
      m.latencies(ServedQuantity::Ttft, "ttft_ms");
      m.latencies(ServedQuantity::Tpot, "tpot_ms");
      m.latencies(ServedQuantity::E2e, "latency_ms");
    }
    service_level(m);
    if (gpu.find("),") != std::string::npos) m.refuse("machines of several kinds share the load");
    other_products(m, gpu);
    m.accelerator(gpu);
    engines(m, shared, row);
    m.serving().spec.router = offline ? Router::RoundRobin : Router::LeastOutstanding;
    const auto rate = positive_number(m.row(), "target_qps"),
               tokens = positive_number(m.row(), "tokens_per_s"),
               samples = positive_number(m.row(), "samples_per_s");
    if (!rate || !tokens || !samples) m.refuse("the row has no rates");
    const DataSet* data = data_set(m.serving().cell.model);
    if (!data) m.refuse("the lengths of the samples are not known");
    const auto file = data ? lengths_file(*data, out.folder) : std::filesystem::path();
    std::error_code ignored;
    if (!m.refused() && !std::filesystem::exists(file, ignored))
      m.refuse("the lengths of the samples are missing: " + file.string());
    if (!m.refused()) {
      const auto least = static_cast<double>(m.integer("performance_sample_count", 1));
      RequestSource& source = m.source();
      source.arrivals = offline ? ArrivalKind::AllAtOnce : ArrivalKind::Poisson;
      source.rate = *rate;
      source.requests = static_cast<int64_t>(
          std::clamp(*rate * kLeastSeconds, std::clamp(least, 1.0, kMostSamples), kMostSamples));
      m.serving().requests = [file, source, output = *tokens / *samples, most = data->most_output] {
        return mlperf_requests(file, source, output, most);
      };
    }
    out.rows.push_back(m.finish_serving(scenario, rate ? significant(*rate) + " per second" : ""));
  }
}

}  // namespace shardscape
