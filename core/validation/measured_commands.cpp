// gpustack's performance lab: bursts and closed loops against servers whose start commands differ in one
// setting at a time.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "serving/requests/lengths.h"
#include "validation/server_command.h"
#include "validation/serving_mapping.h"

namespace shardscape {
namespace {

// The format that a name states. Qwen's and DeepSeek's FP8 checkpoints have blocks of 128.
std::string precision_of(const std::string& model) {
  const std::string known = plain_name(model);
  const auto has = [&](const char* part) { return known.find(part) != std::string::npos; };
  if (has("awq") || has("w8a8")) return "int4";
  if (has("gptoss")) return "mxfp4";
  if (has("fp8") || has("deepseek")) return "fp8_block";
  return "bf16";
}

// vLLM schedules while a step runs by default since 0.14.
bool schedules_ahead(const std::string& version) {
  constexpr int kFirst = 14;
  return !version.starts_with("0.") || std::atoi(version.c_str() + 2) >= kFirst;
}

// The layout of the GPUs, and what is left of the settings.
void lab_layout(ServingMapper& m, ServerSettings& settings) {
  const auto take = [&](const char* name) {
    const auto it = settings.find(name);
    if (it == settings.end()) return std::string();
    const std::string value = it->second;
    settings.erase(it);
    return value;
  };
  const auto degree = [&](const char* name) { return std::max<int64_t>(1, std::atoll(take(name).c_str())); };
  int64_t tp = degree("tp"), dp = degree("dp"), ep = degree("ep");
  const int64_t pp = degree("pp");
  const bool experts = take("expert_parallel") == "true", attention = take("dp_attention") == "true";
  if (m.serving().cell.engine == "sglang" && attention) tp = std::max<int64_t>(1, tp / dp);
  const int64_t gpus = tp * dp;
  if (experts) ep = gpus;
  if (gpus % ep != 0) return m.refuse("the degrees do not divide each other");
  // SGLang's dp without attention runs replicas, each with its experts.
  const bool replicas = m.serving().cell.engine == "sglang" && !attention && dp > 1;
  m.layout(tp, dp, replicas ? std::min(ep, tp) : ep, replicas ? tp / std::min(ep, tp) : gpus / ep);
  m.set("pp", pp);
  if (const std::string type = take("kv_cache_dtype"); !type.empty() && type != "auto")
    m.set("kv_cache_dtype", type.starts_with("fp8") ? "fp8" : type);
}

// Applies the settings of the scheduler. Refuses a row with any other setting.
void lab_settings(ServingMapper& m, const ServerSettings& settings) {
  for (const auto& [name, value] : settings) {
    const ServiceSetting* setting = find_setting(name);
    if (!setting || setting->group != SettingGroup::Engine || check_engine(m.serving().spec, *setting))
      return m.refuse("the server has the setting " + name + ", which has no counterpart");
    if (const auto problem = set_setting(m.serving().spec, *setting, value))
      return m.refuse(to_string(*problem));
  }
}

// Prompts and answers of a data set, scaled to the mean lengths of the run.
Result<Workload> lab_requests(const std::filesystem::path& file, int64_t count, int64_t users, double input,
                              double output) {
  const auto read = read_lengths(file);
  if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
  // vLLM's client leaves out short and long conversations.
  constexpr int32_t kLeast = 4, kMost = 1024;
  std::vector<RequestLength> rows = std::get<0>(read);
  std::erase_if(rows, [](const RequestLength& row) {
    return row.prompt < kLeast || row.prompt > kMost || row.output < kLeast;
  });
  std::vector<RequestLength> lengths = sampled_lengths(rows, count, 0);
  scale_lengths(lengths, input, output);
  if (users > 0) return closed_loop(users, lengths);
  return open_loop(std::vector<double>(lengths.size(), 0.0), lengths);
}

void lab_workload(ServingMapper& m, const std::string& folder) {
  const int64_t requests = m.integer("num_requests", 0), users = m.integer("max_concurrency", 0);
  const auto input = positive_number(m.row(), "mean_input_tokens"),
             output = positive_number(m.row(), "mean_output_tokens");
  if (requests < 1 || !input || !output) return m.refuse("the row has no requests or no lengths");
  RequestSource& source = m.source();
  source.arrivals = ArrivalKind::AllAtOnce;
  source.requests = requests;
  source.users = users;
  source.input_len = static_cast<int64_t>(std::round(*input));
  source.output_len = std::max<int64_t>(1, static_cast<int64_t>(std::round(*output)));
  if (m.text("dataset") != "ShareGPT") return;
  const auto file = (std::filesystem::path(folder) / ".." / "lengths" / "sharegpt-vicuna.csv")
                        .lexically_normal();
  if (!std::filesystem::exists(file))
    return m.refuse("the lengths of the data set are missing: " + file.string());
  m.serving().requests = [=, in = *input, out = *output] {
    return lab_requests(file, requests, users, in, out);
  };
}

void lab_figures(ServingMapper& m) {
  m.figure(ServedQuantity::Throughput, positive_number(m.row(), "output_throughput"));
  const auto of = [&](ServedQuantity quantity, const char* mean, const char* p50, const char* p99) {
    m.figure(quantity, positive_number(m.row(), mean, 1e-3), ServedStatistic::Mean);
    m.figure(quantity, positive_number(m.row(), p50, 1e-3), ServedStatistic::P50);
    m.figure(quantity, positive_number(m.row(), p99, 1e-3), ServedStatistic::P99);
  };
  of(ServedQuantity::Ttft, "ttft_mean_ms", "ttft_p50_ms", "ttft_p99_ms");
  // guidellm received several tokens in a chunk.
  if (m.text("client").find("guidellm") == std::string::npos)
    of(ServedQuantity::Tpot, "tpot_mean_ms", "tpot_p50_ms", "tpot_p99_ms");
}

}  // namespace

void map_gpustack(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    ServingMapper m(row, row_number(++number), text_field(row, "engine"));
    const std::string model = m.text("model"), label = m.text("sub_label"), dataset = m.text("dataset");
    m.out().name += ": " + m.text("file") + " " + m.text("label") + " " + label;
    m.out().design.name = m.out().name;
    lab_figures(m);
    if (m.flag("ambiguous_copy", false)) m.refuse("the same result is printed for another GPU or model");
    m.accelerator(m.text("gpu"));
    m.checkpoint(model, precision_of(model));
    m.set("kv_cache_dtype", "bf16");  // unless the command says otherwise
    const std::string& engine = m.serving().cell.engine;
    ServerSettings settings = server_settings(engine, m.text("command"));
    // The label of some rows corrects a command that the page repeats.
    if (label.starts_with("--"))
      for (auto& [name, value] : server_settings(engine, label)) settings[name] = value;
    m.serving().settings = settings;
    m.serving().settings["engine"] = engine;
    m.serving().settings["model"] = model;
    m.serving().engine_version = m.text("engine_version");
    if (engine == "vllm") m.schedule_ahead(schedules_ahead(m.serving().engine_version));
    lab_layout(m, settings);
    lab_workload(m, out.folder);
    lab_settings(m, settings);
    const std::string lengths = m.text("file") + " " + dataset + " " + std::to_string(m.source().input_len) +
                                "/" + std::to_string(m.source().output_len);
    out.rows.push_back(m.finish_serving(lengths, "c" + std::to_string(m.source().users)));
  }
}

}  // namespace shardscape
