#include "launch/server/server_launch.h"

#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/model_overrides.h"
#include "launch/server/inferencex_text.h"
#include "launch/server/served_model.h"
#include "launch/server/server_fields.h"
#include "launch/server/server_flags.h"
#include "launch/server/server_layout.h"
#include "launch/server/server_text.h"
#include "model/preset_names.h"
#include "serving/inference.h"

namespace shardscape {
namespace {

constexpr int64_t kMostSequences = 1 << 24;

bool is_launch(std::string_view text, EngineKind engine) {
  return has_server_command(text, engine) || has_server_log(text, engine) || has_server_options(text, engine);
}

std::string model_of(const ServerText& server, const char* argument) {
  const auto it = server.arguments.find(argument);
  return it == server.arguments.end() || it->second == "true" ? "" : it->second;
}

// What names the model: a folder may say nothing, the served name something.
const char* naming_argument(const ServerText& server) {
  const bool served = !preset_of_name(model_of(server, "model")) &&
                      preset_of_name(model_of(server, "served_model_name"));
  return served ? "served_model_name" : "model";
}

std::variant<NamedModel, Problem> find_model(const LaunchRequest& request, const ServerText& server) {
  LaunchRequest at;  // without the text, which may be long
  at.where = request.where + ", line " + std::to_string(server.line);
  at.shell.source = request.shell.source;
  at.model = request.model;
  at.checkpoint = request.checkpoint;
  auto found = find_model(at, model_of(server, naming_argument(server)), server_flag(server.engine, "model"));
  if (auto* problem = std::get_if<Problem>(&found); problem && model_of(server, "model").empty()) {
    problem->what = server.program + " names no model, or its variable is empty";
    problem->accepted += ", or the variable NAME=VALUE (command line: --variable NAME=VALUE)";
  }
  return found;
}

// The server of the line, or else the first; servers without a model come last.
const ServerText* choose(const std::vector<ServerText>& servers, const LaunchRequest& request,
                         LaunchImport& out) {
  const ServerText* chosen = nullptr;
  for (const ServerText& server : servers)
    if (request.line > 0 ? server.line == request.line
                         : !chosen && std::holds_alternative<NamedModel>(find_model(request, server)))
      chosen = &server;
  if (!chosen && request.line > 0) {
    std::string lines;
    for (const ServerText& server : servers)
      lines += (lines.empty() ? "" : ", ") + std::to_string(server.line);
    out.problems.emplace_back(ProblemCode::LaunchFormat,
                              request.where + ", line " + std::to_string(request.line),
                              "no server starts in this line", "--line N with one of " + lines);
    return nullptr;
  }
  if (!chosen && !servers.empty()) chosen = &servers.front();
  for (const ServerText& server : servers)
    if (&server != chosen)
      out.notes.push_back({server.line, server.program +
                                            " starts another server; the design is that of line " +
                                            std::to_string(chosen->line) + " (--line " +
                                            std::to_string(server.line) + " reads this one)"});
  return chosen;
}

void read_model(ServerFields& f, const NamedModel& model, const LaunchRequest& request) {
  const std::string& preset = model.model.preset;
  const char* const naming = naming_argument(f.source());
  const std::string given = model_of(f.source(), "model");
  f.take_model(model, !request.model.empty()           ? request.model + " (given)"
                      : std::string(naming) == "model" ? given
                                                       : given + " (" + model_of(f.source(), naming) + ")");
  const std::string named = !request.model.empty() && given.empty() ? request.model
                                                                    : model_of(f.source(), naming);
  // The formats of a config.json are those of its checkpoint.
  if (preset.empty() && !model.model.weight_formats.empty()) return (void)f.text("quantization");
  // What the command says of the weights, or else what the name of the checkpoint says.
  std::string precision = served_precision(named);
  const std::string quantization = f.text("quantization").value_or("");
  if (precision.empty() && quantization.starts_with("fp8")) precision = "fp8";
  if (precision.empty() && (quantization == "awq" || quantization == "gptq")) precision = "int4";
  if (precision.empty() && quantization.find("fp4") != std::string::npos) precision = "fp4";
  const char* const argument = f.has("quantization") ? "quantization" : "model";
  if (precision == "bf16") return f.follow("weight_formats", "", argument, "the name ends in BF16", "");
  if (precision.empty()) {
    if (f.has("quantization")) f.unmapped("quantization", "the formats of its weights are not known");
    return;
  }
  const bool experts = f.design().model.experts > 0;
  const auto formats = served_formats(preset, experts, precision);
  if (!formats) {
    if (f.design().model.weight_formats.empty())
      f.unmapped(argument, "the formats of a checkpoint of " + preset + " in " + precision +
                               " are not known; the design has weights in the data type");
    return;
  }
  f.follow("weight_formats", formats->text, argument, "weights of the published checkpoint in " + precision,
           "config.json and hf_quant_config.json of the checkpoint");
  if (formats->fp8_cache && named.starts_with("nvidia/") && !f.has("kv_cache_dtype"))
    f.follow("kv_cache_dtype", "fp8", "kv_cache_dtype", "the checkpoint states an FP8 cache",
             "hf_quant_config.json, kv_cache_quant_algo");
}

void read_layout(ServerFields& f, const ServerLayout& layout) {
  for (const char* degree : {"tp", "pp", "dp", "cp", "dcp", "ep", "etp"})
    if (f.has(degree) && f.number(degree, 1) < 1) f.misread(degree, "a degree is at least 1");
  const auto set = [&](const char* knob, int64_t value, const char* argument, const char* rule) {
    const auto given = f.text(argument);
    if (given && *given == std::to_string(value)) return f.set(knob, value, argument);
    if (!given && value == 1) return f.set(knob, value, argument);
    f.follow(knob, value, argument, rule, "");
  };
  set("tp", layout.tp, "tp", "ranks of attention = tp / dp");
  set("pp", layout.pp, "pp", "");
  set("dp", layout.dp, f.engine() == EngineKind::Trtllm ? "dp_attention" : "dp",
      "attention runs data-parallel over the tp ranks");
  (void)f.text("dp_attention");
  if (f.has("cp") || layout.cp > 1) set("cp", layout.cp, "cp", "");
  if (f.has("dcp")) set("dcp", layout.dcp, "dcp", "");
  const bool experts = f.design().model.experts > 0;
  for (const char* argument : {"ep", "etp", "expert_parallel", "moe_a2a_backend", "all2all_backend"})
    if (!experts && f.has(argument)) f.ignore(argument, "the model has no experts");
  if (!experts) return;
  for (const char* argument : {"ep", "etp", "moe_a2a_backend", "all2all_backend", "enable_deepep_moe"})
    (void)f.text(argument);
  if (layout.dp == 1 && layout.ep == 1) return (void)f.text("expert_parallel");
  const char* const
      rule = "experts are whole on ep ranks, or split over etp; ep x etp = ranks that share them";
  f.follow("ep", layout.ep, layout.expert_argument, rule, "");
  f.follow("etp", layout.etp, layout.expert_argument, rule, "");
  const char* const backend = f.engine() == EngineKind::Vllm     ? "all2all_backend"
                              : f.engine() == EngineKind::Sglang ? "moe_a2a_backend"
                                                                 : "moe_config.backend";
  f.follow("dispatcher", layout.dispatcher, backend,
           f.has(backend) ? "the kernels of this backend" : "without a backend: gather and reduce", "");
}

// Sequences of a step. Decode: as many as may run at once; vLLM and TensorRT-LLM count them for each replica
// of attention, SGLang for all that share the tp ranks. Prefill: the prompts that fit into the tokens of a
// step.
void read_batch(ServerFields& f, const ServerLayout& layout) {
  const Design& design = f.design();
  const EngineSettings& engine = f.spec().engine;
  const bool prompts = design.workload.mode == Mode::Prefill;
  const char* const most = f.engine() == EngineKind::Vllm     ? "max_num_seqs"
                           : f.engine() == EngineKind::Sglang ? "max_running_requests"
                                                              : "max_batch_size";
  if (f.has(most) && f.number(most, 1) < 1) f.misread(most, "at least one sequence runs at once");
  const int64_t length = std::max<int64_t>(1, prompts ? design.workload.seq : design.workload.context_length);
  const bool shared = f.engine() == EngineKind::Sglang && f.on("dp_attention");
  int64_t batch = std::max<int64_t>(1, most_sequences(engine) / (shared ? layout.dp : 1));
  if (prompts) batch = std::clamp<int64_t>(most_step_tokens(engine) / length, 1, batch);
  if (batch > kMostSequences / layout.dp) return f.misread(most, "the number is too large");
  const Design served = serving_design(design, design.workload.mode, batch * layout.dp, length);
  const std::string limit = std::string("the most sequences that run at once") +
                            (f.has(most) ? "" : " by default") +
                            "; the cache may hold fewer (shardscape-cli inference)";
  f.follow("batch", served.workload.batch, f.has(most) && !prompts ? most : "batch",
           prompts ? "prompts that fit into the tokens of a step" : limit, "");
  f.follow("microbatch", served.workload.microbatch, "microbatch",
           prompts ? "short prompts share a pass" : "as few microbatches as fill the pipeline stages", "");
}

// The GPUs of one engine follow from its degrees; more of them are further engines.
bool read_gpus(const LaunchRequest& request, const ServerLayout& layout, LaunchImport& out) {
  const int64_t ranks = layout.ranks(), given = request.gpus.value_or(ranks);
  out.gpus = given;
  out.gpus_from = request.gpus ? "given" : "the degrees of the engine";
  if (given % ranks == 0) return true;
  out.problems.emplace_back(
      ProblemCode::LaunchGpus, request.where,
      "an engine has " + std::to_string(ranks) + " GPUs, which do not divide " + std::to_string(given),
      "a multiple of " + std::to_string(ranks) + " GPUs");
  return false;
}

}  // namespace

bool is_inferencex_launch(std::string_view text) { return is_inferencex_script(text); }
bool is_vllm_launch(std::string_view text) { return is_launch(text, EngineKind::Vllm); }
bool is_sglang_launch(std::string_view text) { return is_launch(text, EngineKind::Sglang); }
bool is_trtllm_launch(std::string_view text) { return is_launch(text, EngineKind::Trtllm); }

void read_server_launch(const LaunchRequest& request, LaunchImport& out) {
  std::vector<ServerText> servers = find_servers(request, out);
  if (!out.problems.empty()) return;
  if (servers.empty()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where, "no command starts a serving engine",
                              "vllm serve, python -m sglang.launch_server or trtllm-serve with its flags");
    return;
  }
  const ServerText* server = choose(servers, request, out);
  if (!server) return;
  out.framework = kEngineIds[static_cast<size_t>(server->engine)];
  auto model = find_model(request, *server);
  if (auto* problem = std::get_if<Problem>(&model)) return out.problems.push_back(std::move(*problem));
  const ServerLayout layout = server_layout(server->engine, server->arguments);
  if (!layout.problem.empty()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat,
                              request.where + ", line " + std::to_string(server->line), layout.problem,
                              "degrees that the engine accepts");
    return;
  }
  if (!read_gpus(request, layout, out)) return;
  ServerFields fields(*server, layout.ranks());
  read_model(fields, std::get<NamedModel>(model), request);
  override_model(fields,
                 fields.engine() == EngineKind::Sglang ? "json_model_override_args." : "hf_overrides.");
  if (server->has_config) (void)fields.text("config");
  fields.follow("profile", out.framework, "profile", "the kernels of the engine", "");
  read_server_engine(fields);
  read_speculation(fields);
  read_layout(fields, layout);
  read_batch(fields, layout);
  if (*out.gpus > layout.ranks())
    fields.serve("replicas", std::to_string(*out.gpus / layout.ranks() * layout.dp), "gpus");
  for (const auto& [setting, value] : server->fleet) fields.serve(setting, value, setting);
  LaunchDesign read = fields.finish();
  out.design = std::move(read.design);
  out.fields = std::move(read.fields);
  out.service = fields.take_settings();
  if (has_server_log(request.text, EngineKind::Vllm))
    out.measured = vllm_measurements(request.text, out.service);
}

}  // namespace shardscape
