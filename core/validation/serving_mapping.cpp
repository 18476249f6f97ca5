#include "validation/serving_mapping.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/accelerator.h"
#include "serving/inference.h"
#include "validation/inferencex_recipes.h"

namespace shardscape {
namespace {

constexpr int64_t kAnyContext = 1024;     // of the design; steps have contexts of their own
constexpr int64_t kLongest = 1 << 20;     // tokens; no row exceeds the limit of its engine
constexpr int64_t kRequestsPerUser = 10;  // InferenceX

// The accelerator with the longest name that the text contains.
const Accelerator* named_accelerator(const std::string& text) {
  const std::string wanted = plain_name(text);
  const Accelerator* best = nullptr;
  size_t longest = 0;
  for (const Accelerator& accelerator : accelerators()) {
    std::vector<std::string> names = accelerator.aliases;
    names.push_back(accelerator.id);
    for (const std::string& name : names)
      if (const std::string own = plain_name(name); own.size() > longest && wanted.find(own) != wanted.npos) {
        best = &accelerator;
        longest = own.size();
      }
  }
  return best;
}

}  // namespace

const char* served_quantity_name(ServedQuantity quantity) {
  switch (quantity) {
    case ServedQuantity::Ttft: return "ttft";
    case ServedQuantity::Tpot: return "tpot";
    case ServedQuantity::Itl: return "itl";
    case ServedQuantity::E2e: return "e2e";
    case ServedQuantity::Throughput: return "throughput";
    case ServedQuantity::Capacity: return "capacity";
    case ServedQuantity::TokensPerStep: return "tokens_per_step";
    case ServedQuantity::Preemptions: return "preemptions";
  }
  return "";
}

std::optional<double> positive_number(const MeasuredJson& object, const char* field, double unit) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(field);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>() * unit;
  return value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> positive_integer(const MeasuredJson& object, const char* field) {
  const auto number = positive_number(object, field);
  if (!number || std::trunc(*number) != *number || *number > static_cast<double>(kMostOfRow))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::string text_field(const MeasuredJson& object, const char* field) {
  if (!object.is_object()) return {};
  const auto it = object.find(field);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// vLLM starts with the settings of its API server on GPUs with 70 GiB or more except A100
// (vllm/engine/arg_utils.py; accelerator() has the others), the other engines with their defaults. No row
// exceeds the longest sequence of its engine.
ServingMapper::ServingMapper(const MeasuredJson& row, std::string name, const std::string& engine)
    : RowMapper(row, std::move(name)) {
  out().serving.emplace();
  const std::string known = plain_name(engine);
  serving().cell.engine = known.starts_with("trt") || known.starts_with("tensorrt") ? "trtllm" : known;
  if (const std::string& own = serving().cell.engine; own != "vllm" && own != "sglang" && own != "trtllm")
    refuse("the engine " + engine + " is unknown");
  EngineSettings& settings = this->engine();
  for (const EngineKind kind : {EngineKind::Sglang, EngineKind::Trtllm})
    if (serving().cell.engine == kEngineIds[static_cast<size_t>(kind)]) settings.engine = kind;
  settings.max_num_batched_tokens = 8192;
  settings.max_num_seqs = 1024;
  settings.max_model_len = settings.sglang.context_len = settings.trtllm.max_seq_len = kLongest;
}

void scale_lengths(std::span<RequestLength> lengths, double input, double output) {
  const auto scale = [&](int32_t RequestLength::*of, double mean) {
    double sum = 0;
    for (const RequestLength& length : lengths) sum += length.*of;
    if (mean <= 0 || sum <= 0) return;
    const double factor = mean * static_cast<double>(lengths.size()) / sum;
    for (RequestLength& length : lengths)
      length.*of = static_cast<int32_t>(std::clamp(std::round(length.*of * factor), 1.0, 1e9));
  };
  scale(&RequestLength::prompt, input);
  scale(&RequestLength::output, output);
}

void ServingMapper::step_tokens(int64_t tokens) {
  switch (engine().engine) {
    case EngineKind::Vllm: engine().max_num_batched_tokens = tokens; break;
    case EngineKind::Sglang:
      engine().sglang.chunked_prefill_size = engine().sglang.max_prefill_tokens = tokens;
      break;
    case EngineKind::Trtllm: engine().trtllm.max_num_tokens = tokens; break;
  }
}

void ServingMapper::most_sequences(int64_t count) {
  const int64_t most = std::max<int64_t>(1, count);
  switch (engine().engine) {
    case EngineKind::Vllm: engine().max_num_seqs = most; break;
    case EngineKind::Sglang: engine().sglang.max_running_requests = most; break;
    case EngineKind::Trtllm: engine().trtllm.max_batch_size = most; break;
  }
}

void ServingMapper::schedule_ahead(bool ahead) {
  engine().async_scheduling = ahead;
  engine().sglang.disable_overlap_schedule = engine().trtllm.disable_overlap_scheduler = !ahead;
}

void ServingMapper::no_prefix_cache() {
  engine().enable_prefix_caching = engine().trtllm.enable_block_reuse = false;
  engine().sglang.disable_radix_cache = true;
}

void ServingMapper::memory_share(double share) {
  ServiceSpec& spec = serving().spec;
  switch (engine().engine) {
    case EngineKind::Vllm: spec.gpu_memory_utilization = share; break;
    case EngineKind::Sglang: spec.mem_fraction_static = share; break;
    case EngineKind::Trtllm: spec.free_gpu_memory_fraction = share; break;
  }
}

void ServingMapper::figure(ServedQuantity quantity, std::optional<double> value, ServedStatistic statistic) {
  if (!value) return;
  std::string metric = served_quantity_name(quantity);
  const auto taken = [&] {
    return std::any_of(serving().figures.begin(), serving().figures.end(),
                       [&](const ServedFigure& figure) { return figure.metric == metric; });
  };
  if (statistic == ServedStatistic::P99) metric += "_p99";
  if (statistic == ServedStatistic::P50 && taken()) metric += "_p50";
  serving().figures.push_back({metric, quantity, statistic, *value});
}

void ServingMapper::latencies(ServedQuantity quantity, const char* field) {
  if (!has(field)) return;
  for (const auto& [name, statistic] : {std::pair{"mean", ServedStatistic::Mean},
                                        {"p50", ServedStatistic::P50},
                                        {"p99", ServedStatistic::P99}})
    figure(quantity, positive_number(row()[field], name, 1e-3), statistic);
}

void ServingMapper::preemptions(const char* field) {
  if (!has(field) || !row()[field].is_object()) return;
  const auto it = row()[field].find("preemptions");
  if (it == row()[field].end() || !it->is_number()) return;
  const double count = it->get<double>();
  if (count >= 0 && std::isfinite(count)) figure(ServedQuantity::Preemptions, count);
}

void ServingMapper::accelerator(const std::string& name) {
  const Accelerator* found = named_accelerator(name);
  serving().cell.gpu = found ? found->id : name;
  if (!found) return refuse("the catalogue has no accelerator " + name);
  set("accelerator", found->id);
  constexpr int64_t kLarge = int64_t{70} << 30;  // bytes
  if (found->memory_bytes >= kLarge && !found->id.starts_with("a100")) return;
  engine().max_num_batched_tokens = 2048;
  engine().max_num_seqs = 256;
}

void ServingMapper::checkpoint(const std::string& model, const std::string& precision) {
  const std::string id = preset_id_of_name(model);
  serving().cell.model = id.empty() ? model : id;
  serving().cell.precision = precision.empty() ? "as published" : precision;
  if (refused()) return;
  if (!preset(id)) return;
  set("mode", "decode");
  set("profile", serving().cell.engine);  // kernels and host of the engine
  if (precision.empty()) return;
  if (precision == "bf16" || precision == "fp16") {
    set("dtype", precision);
    return set("weight_formats", "");
  }
  const auto formats = served_formats(id, out().design.model.experts > 0, precision);
  if (!formats) return refuse("no checkpoint of " + id + " in " + precision + " is known");
  set("weight_formats", formats->text);
  if (formats->fp8_cache) set("kv_cache_dtype", "fp8");
}

void ServingMapper::layout(int64_t tp, int64_t dp, int64_t ep, int64_t etp) {
  set("tp", tp);
  set("dp", dp);
  if (out().design.model.experts == 0 || (dp == 1 && ep == 1)) return;
  set("ep", ep);
  set("etp", etp);
  set("dispatcher", "allgather");
}

void ServingMapper::disaggregated(const Design& prompts, int64_t prefill, int64_t decode) {
  if (prefill < 1 || decode < 1) return refuse("the row does not give the numbers of its workers");
  if (refused()) return;
  serving().prefill = serving_design(prompts, Mode::Decode, least_batch(prompts), kAnyContext);
  serving().spec.fleet.prefill_replicas = prefill * prompts.parallel.dp;
  serving().spec.fleet.decode_replicas = decode * out().design.parallel.dp;
}

void ServingMapper::closed_loop(int64_t users, int64_t input, int64_t output, double ratio) {
  if (users < 1) return refuse("the row has no concurrency");
  serving().inferencex_client = true;
  source().users = users;
  source().requests = kRequestsPerUser * users;
  source().input_len = input;
  source().output_len = output;
  source().range_ratio = ratio;
  if (engine().engine == EngineKind::Trtllm) step_tokens(prompt_and_users(users, input));
}

void ServingMapper::speculation(SpeculativeMethod method, int64_t tokens, std::vector<double> acceptance) {
  engine().speculation = {method, tokens, std::move(acceptance), 0};
}

void ServingMapper::inferencex_loop(int64_t users, int64_t input, int64_t output, bool drafts) {
  constexpr double kShortest = 0.8;  // the shortest length over the longest
  closed_loop(users, input, output, kShortest);
  no_prefix_cache();
  const ServedCell& cell = serving().cell;
  const InferencexRecipe* recipe = inferencex_recipe(cell.model, cell.engine, cell.precision, cell.gpu,
                                                     drafts);
  if (!recipe) return;
  set("kv_cache_dtype", recipe->fp8_cache ? "fp8" : "bf16");
  step_tokens(recipe->step_tokens(users, input));
  most_sequences(recipe->sequences == InferencexRecipe::kUsers ? users : recipe->sequences);
  memory_share(recipe->share);
  engine().sglang.scheduler_recv_interval = recipe->receive_interval(users);
}

MeasuredRow ServingMapper::finish_serving(const std::string& lengths, const std::string& load) {
  const ServedCell& cell = serving().cell;
  serving().series = cell.model + " " + cell.gpu + " " + lengths;
  serving().load = load;
  Design& design = out().design;
  if (!refused() && design.parallel.dp > 0)
    design = serving_design(design, Mode::Decode, least_batch(design), kAnyContext);
  return finish();
}

}  // namespace shardscape
