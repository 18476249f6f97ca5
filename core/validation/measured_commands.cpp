// gpustack's performance lab: bursts and closed loops against servers whose start commands differ in one
// setting at a time.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/real_text.h"
#include "base/units.h"
#include "launch/server/server_layout.h"
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

// The value of a setting, which is removed; empty: there is none.
std::string taken(ServerSettings& settings, const char* name) {
  const auto it = settings.find(name);
  if (it == settings.end()) return {};
  const std::string value = it->second;
  settings.erase(it);
  return value;
}

// The layout of the GPUs.
void lab_layout(ServingMapper& m, ServerSettings& settings) {
  const ServerLayout layout = server_layout(m.engine().engine, settings);
  if (layout.dp == 1) m.serving().settings.erase("dp_attention");
  if (!layout.problem.empty()) return m.refuse("the degrees do not divide each other");
  for (const char* name : {"tp", "pp", "dp", "ep", "expert_parallel", "dp_attention"}) settings.erase(name);
  m.layout(layout.tp, layout.dp, layout.ep, layout.etp);
  if (const auto deepep = settings.find("moe_a2a_backend");
      deepep != settings.end() && deepep->second == "deepep") {
    settings.erase(deepep);
    m.set("dispatcher", layout.dispatcher);
  }
  m.set("pp", layout.pp);
  if (const std::string type = taken(settings, "kv_cache_dtype"); !type.empty() && type != "auto")
    m.set("kv_cache_dtype", type.starts_with("fp8") ? "fp8" : type);
}

// Multi-token prediction of DeepSeek models. Other drafts are left in the settings: their acceptance is not
// published for these requests.
void lab_speculation(ServingMapper& m, ServerSettings& settings) {
  // The second token is accepted in 85 to 90 % (DeepSeek-V3, arXiv 2412.19437, section 5.4.3).
  constexpr double kAcceptance = 0.85;
  if (!m.serving().cell.model.starts_with("deepseek")) return;
  const auto value = [&](const char* name) {
    const auto it = settings.find(name);
    return it == settings.end() ? std::string() : it->second;
  };
  const std::string algorithm = value("speculative_algorithm");
  const bool mtp = (algorithm == "EAGLE" || algorithm == "NEXTN") && value("speculative_num_steps") == "1" &&
                   value("speculative_eagle_topk") == "1" && value("speculative_draft_model_path").empty();
  if (!mtp && value("speculative_config") != "{method:mtp,num_speculative_tokens:1}") return;
  for (const char* name : {"speculative_algorithm", "speculative_num_steps", "speculative_eagle_topk",
                           "speculative_num_draft_tokens", "speculative_config"})
    settings.erase(name);
  m.speculation(SpeculativeMethod::Mtp, 1, {kAcceptance});
  if (m.serving().cell.engine != "sglang") return;
  // server_args.py, _handle_speculative_decoding.
  constexpr int64_t kSequences = 48;
  m.most_sequences(kSequences);
  m.schedule_ahead(false);
}

// SGLang's attention on Hopper, where a flag only repeats it (server_args.py, is_fa3_default_architecture).
bool default_attention(ServingMapper& m, const std::string& name, const std::string& value) {
  const ServedCell& cell = m.serving().cell;
  return name == "attention_backend" && value == "fa3" && cell.engine == "sglang" &&
         cell.model.starts_with("qwen3-") && (cell.gpu.starts_with("h100") || cell.gpu.starts_with("h200"));
}

// Applies the settings of the scheduler. Refuses a row with any other setting.
void lab_settings(ServingMapper& m, const ServerSettings& settings) {
  for (const auto& [name, value] : settings) {
    if (default_attention(m, name, value)) {
      m.serving().settings.erase(name);
      continue;
    }
    const ServiceSetting* setting = find_setting(name);
    if (!setting || setting->group != SettingGroup::Engine || check_engine(m.serving().spec, *setting))
      return m.refuse("the server has the setting " + name + ", which has no counterpart");
    const ServiceSpec before = m.serving().spec;
    if (const auto problem = set_setting(m.serving().spec, *setting, value))
      return m.refuse(to_string(*problem));
    // The default, written out: the server equals one without the flag.
    if (m.serving().spec == before) m.serving().settings.erase(name);
  }
}

// Prompts and answers of a data set, scaled to the mean lengths of the run.
Result<Workload> lab_requests(const std::filesystem::path& file, const RequestSource& source, double input,
                              double output) {
  const auto read = read_lengths(file, 0, true);
  if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
  // vLLM's client leaves out short and long conversations (is_valid_sequence, vllm/benchmarks/datasets.py).
  constexpr int32_t kLeast = 4, kMost = 1024, kMostTotal = 2048;
  std::vector<RequestLength> rows = std::get<0>(read);
  std::erase_if(rows, [](const RequestLength& row) {
    return row.prompt < kLeast || row.prompt > kMost || row.output < kLeast ||
           row.prompt + row.output > kMostTotal;
  });
  std::vector<RequestLength> lengths = sampled_lengths(rows, source.requests, 0);
  scale_lengths(lengths, input, output);
  if (source.users > 0) return closed_loop(source.users, lengths);
  const auto arrivals = arrival_times(steady_arrivals(source.arrivals, source.rate), source.requests);
  if (const auto* problem = std::get_if<Problem>(&arrivals)) return *problem;
  return open_loop(std::get<0>(arrivals), lengths);
}

// What the client sent. Answers of equal requests differ by a few tokens, because sampling is not exact.
std::string lab_lengths(ServingMapper& m) {
  const auto length = [&](const char* nominal, int64_t mean) {
    return std::to_string(m.has(nominal) ? m.integer(nominal, 0) : (mean + 50) / 100 * 100);
  };
  return m.text("dataset") + " " + length("isl", m.source().input_len) + "/" +
         length("osl", m.source().output_len);
}

// Requests per second of a client with a constant rate; 0: others. A page that varies the rate states it in
// the section.
double lab_rate(ServingMapper& m) {
  const auto after = [&](const char* field, const std::string& words) {
    const std::string text = m.text(field);
    const size_t at = text.find(words);
    if (at == std::string::npos) return 0.0;
    return leading_real(std::string_view(text).substr(at + words.size())).value_or(LeadingReal{}).value;
  };
  const double rate = after("arrivals", "constant rate ");
  const double own = after("section", "/ Rate ");
  return own > 0 ? own : rate;
}

std::string lab_load(const RequestSource& source) {
  if (source.users > 0) return "c" + std::to_string(source.users);
  return source.arrivals == ArrivalKind::Constant ? "r" + significant(source.rate) : "c0";
}

void lab_workload(ServingMapper& m, const std::string& folder) {
  const int64_t requests = m.integer("num_requests", 0);
  int64_t users = m.integer("max_concurrency", 0);
  // guidellm has at most 512 requests in flight. At 1,000 requests per second it sends them at once.
  constexpr int64_t kMostInFlight = 512;
  constexpr double kBurst = 1000;
  const double rate = lab_rate(m);
  const bool burst = rate == 0 || rate >= kBurst;
  if (rate > 0) users = burst ? kMostInFlight : 0;
  const auto input = positive_number(m.row(), "mean_input_tokens"),
             output = positive_number(m.row(), "mean_output_tokens");
  if (requests < 1 || !input || !output) return m.refuse("the row has no requests or no lengths");
  RequestSource& source = m.source();
  source.arrivals = burst ? ArrivalKind::AllAtOnce : ArrivalKind::Constant;
  source.rate = burst ? 1 : rate;
  source.requests = requests;
  source.users = users;
  source.input_len = static_cast<int64_t>(std::round(*input));
  source.output_len = std::max<int64_t>(1, static_cast<int64_t>(std::round(*output)));
  if (m.text("dataset") != "ShareGPT") return;
  const auto file = (std::filesystem::path(folder) / ".." / "lengths" / "sharegpt-vicuna.csv")
                        .lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return m.refuse("the lengths of the data set are missing: " + file.string());
  m.serving().requests = [=, spec = source, in = *input, out = *output] {
    return lab_requests(file, spec, in, out);
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

// Rows of the lab's pages, with the engine and the model that really ran.
struct LabRow {
  std::string engine, version, model, command;
};

// The program of a command names the engine: some rows have the engine of the page's best result.
const char* command_engine(const std::string& command) {
  struct Program {
    const char *text, *engine;
  };
  constexpr Program kPrograms[] = {
      {"vllm serve", "vLLM"}, {"sglang.launch_server", "SGLang"}, {"trtllm-serve", "TensorRT-LLM"}};
  for (const Program& program : kPrograms)
    if (command.find(program.text) != std::string::npos) return program.engine;
  return nullptr;
}

LabRow lab_row(const MeasuredJson& set, const MeasuredJson& row) {
  LabRow out{text_field(row, "engine"), text_field(row, "engine_version"), text_field(row, "model"),
             text_field(row, "command")};
  const std::string page = text_field(row, "file");
  const char* program = command_engine(out.command);
  // Engines of other makers have the program of vLLM, too.
  const bool known = out.engine == "vLLM" || out.engine == "SGLang" || out.engine == "TensorRT-LLM";
  if (program && known && out.engine != program) {
    out.engine = program;
    out.version.clear();
    for (const MeasuredJson& other : set["rows"])
      if (text_field(other, "file") == page && text_field(other, "engine") == program) {
        out.version = text_field(other, "engine_version");
        break;
      }
  }
  // The folder of a page names its model. A command with another model was copied from another page.
  const std::string folder = page.substr(0, page.find('/'));
  out.model.erase(0, out.model.rfind('/') + 1);
  if (page.find('/') != std::string::npos && !plain_name(out.model).starts_with(plain_name(folder)))
    out.model = folder;
  return out;
}

}  // namespace

void map_gpustack(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  // Newer pages measure the first and the best server with other requests, and print one command for both.
  const auto printed = [](const MeasuredJson& row) {
    std::string key;
    for (const char* field : {"file", "section", "command", "sub_label", "dataset"})
      key += text_field(row, field) + "\n";
    const auto input = positive_number(row, "mean_input_tokens");
    return key + significant(input.value_or(0));
  };
  std::map<std::string, int> servers;
  for (const MeasuredJson& row : set["rows"]) ++servers[printed(row)];
  for (const MeasuredJson& row : set["rows"]) {
    const LabRow lab = lab_row(set, row);
    ServingMapper m(row, row_number(++number), lab.engine);
    const std::string label = m.text("sub_label");
    m.out().name += ": " + m.text("file") + " " + m.text("label") + " " + label;
    m.out().design.name = m.out().name;
    lab_figures(m);
    const bool copied = m.flag("ambiguous_copy", false), several = servers[printed(row)] > 1;
    if (copied) m.refuse("the same result is printed for another GPU or model");
    if (several) m.refuse("the page prints one command for several servers");
    m.accelerator(m.text("gpu"));
    m.checkpoint(lab.model, precision_of(lab.model));
    m.set("kv_cache_dtype", "bf16");  // unless the command says otherwise
    const std::string& engine = m.serving().cell.engine;
    ServerSettings settings = server_settings(engine, lab.command);
    // The label of some rows corrects a command that the page repeats.
    if (label.starts_with("--"))
      for (auto& [name, value] : server_settings(engine, label)) settings[name] = value;
    m.serving().settings = settings;
    m.serving().settings["engine"] = engine + " " + lab.version;
    m.serving().settings["model"] = plain_name(lab.model);
    m.serving().engine_version = lab.version;
    if (engine == "vllm") m.schedule_ahead(schedules_ahead(lab.version));
    lab_layout(m, settings);
    lab_speculation(m, settings);
    lab_workload(m, out.folder);
    lab_settings(m, settings);
    if (copied || several) m.serving().settings.clear();  // of an unknown server
    out.rows.push_back(m.finish_serving(m.text("file") + " " + lab_lengths(m), lab_load(m.source())));
  }
}

}  // namespace shardscape
