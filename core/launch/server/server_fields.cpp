#include "launch/server/server_fields.h"

#include <algorithm>

#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// Arguments that change neither memory nor operations of a step: addresses, templates, tokens, logs, names.
// A final '*' stands for any ending.
constexpr const char* kNoEffect[] = {"admin_api_key",
                                     "allow_*",
                                     "allowed_*",
                                     "api_key",
                                     "api_server_count",
                                     "argument",
                                     "async_engine_args",
                                     "backend",
                                     "bucket_*",
                                     "chat_template*",
                                     "collect_*",
                                     "config_format",
                                     "crash_dump_folder",
                                     "data_parallel_address",
                                     "data_parallel_backend",
                                     "data_parallel_rpc_port",
                                     "data_parallel_start_rank",
                                     "decode_log_interval",
                                     "default_chat_template_kwargs*",
                                     "disable_access_log*",
                                     "disable_fastapi_docs",
                                     "disable_log_*",
                                     "disable_uvicorn_access_log",
                                     "disaggregation_bootstrap_port",
                                     "disaggregation_ib_device",
                                     "dist_init_addr",
                                     "distributed_executor_backend",
                                     "download_dir",
                                     "enable_auto_tool_choice",
                                     "enable_cache_report",
                                     "enable_log_*",
                                     "enable_metrics",
                                     "enable_prompt_tokens*",
                                     "enable_request_*",
                                     "enable_server_load_tracking",
                                     "expert_distribution_*",
                                     "file_storage_path",
                                     "generation_config",
                                     "grpc_mode",
                                     "headless",
                                     "hf_token",
                                     "host",
                                     "ignore_patterns",
                                     "iter_perf_stats",
                                     "kv_events_config*",
                                     "load_balance_method",
                                     "load_format",
                                     "log_*",
                                     "master_addr",
                                     "master_port",
                                     "max_log_len",
                                     "metadata_server_config_file",
                                     "middleware",
                                     "model_impl",
                                     "model_loader_*",
                                     "nnodes",
                                     "node_rank",
                                     "override_generation_config*",
                                     "port",
                                     "preferred_sampling_params",
                                     "print_iter_log",
                                     "random_seed",
                                     "reasoning_parser*",
                                     "response_role",
                                     "return_*",
                                     "revision",
                                     "root_path",
                                     "router*",
                                     "seed",
                                     "served_model_name",
                                     "show_*",
                                     "skip_server_warmup",
                                     "skip_tokenizer_init",
                                     "ssl_*",
                                     "stream_interval",
                                     "stream_output",
                                     "structured_outputs_config*",
                                     "tokenizer*",
                                     "tool_call_parser",
                                     "tool_parser_plugin",
                                     "tool_server",
                                     "trust_remote_code",
                                     "uds",
                                     "use_tqdm*",
                                     "uvicorn_*",
                                     "warmups",
                                     "watchdog_timeout",
                                     "weight_version",
                                     "weights_load_device",
                                     "worker_extension_cls",
                                     "server_role",
                                     "num_postprocess_workers",
                                     "detokenizer*",
                                     "data_parallel_rank",
                                     "data_parallel_size_local",
                                     "gpus_per_node",
                                     "kv_transfer_config.engine_id",
                                     "kv_transfer_config.kv_buffer*",
                                     "kv_transfer_config.kv_rank",
                                     "kv_transfer_config.kv_ip",
                                     "kv_transfer_config.kv_port",
                                     "kv_transfer_config.kv_connector_extra_config*",
                                     "kv_transfer_config.kv_load_failure_policy",
                                     "disable_hybrid_lb",
                                     "data_parallel_hybrid_lb",
                                     "data_parallel_external_lb"};

// Arguments that change the step, though no setting says so.
constexpr std::pair<const char*, const char*> kChanges[] = {
    {"enforce_eager", "every kernel is launched by the host; the kernel profile has graphs"},
    {"disable_cuda_graph", "every kernel is launched by the host; the kernel profile has graphs"},
    {"enable_dbo", "two halves of a batch overlap; a design of serving runs them one after the other"},
    {"enable_two_batch_overlap",
     "two halves of a batch overlap; a design of serving runs them one after the other"},
    {"enable_eplb", "experts move to even out their load; load_imbalance stands in for the rest"},
    {"cpu_offload_gb", "weights in host memory are not modelled in serving"},
    {"attention_backend", "the kernels of attention are those of the kernel profile"},
    {"moe_backend", "the kernels of experts are those of the kernel profile"},
    {"moe_config.backend", "the kernels of experts are those of the kernel profile"},
    {"moe_dense_tp_size", "dense layers have the tensor parallelism of attention"},
    {"enable_dp_lm_head", "the output layer has the tensor parallelism of attention"},
    {"enable_lora", "adapters are not modelled in serving"},
    {"hf_overrides", "the model is changed, but the value is no JSON object"},
    {"json_model_override_args", "the model is changed, but the value is no JSON object"},
    {"hf_config_path", "the model has the sizes of its name, not those of this folder"},
    {"enable_torch_compile", "the fusions are those of the kernel profile"}};

// Fields that are no arguments of an engine.
constexpr const char* kOfDesigns[] = {
    "gpus", "mode", "profile", "batch", "microbatch", "prefill_replicas", "decode_replicas"};

// Settings of kernels and graphs, with an ending in the text.
constexpr std::pair<const char*, const char*> kKernelGroups[] = {
    {"compilation_config", "the fusions and graphs are those of the kernel profile"},
    {"cuda_graph", "the sizes of the graphs are those of the kernel profile"},
    {"cudagraph", "the sizes of the graphs are those of the kernel profile"},
    {"max_cudagraph", "the sizes of the graphs are those of the kernel profile"},
    {"cache_transceiver_config", "buffers for caches on their way to other engines are not part of a design"},
    {"eplb_config", "copies of experts are no part of a design"}};

}  // namespace

ServerFields::ServerFields(const ServerText& text, int64_t ranks)
    : LaunchFields(text.arguments, ranks, engine_name(text.engine)), text_(text) {
  std::string ignored;
  keep("engine", kEngineIds[static_cast<size_t>(text.engine)], ignored);
}

bool ServerFields::keep(const std::string& setting, const std::string& value, std::string& problem) {
  const ServiceSetting* found = find_setting(setting);
  if (!found) return false;
  if (const auto refused = set_setting(spec_, *found, value)) {
    problem = to_string(*refused);
    return false;
  }
  std::erase_if(settings_, [&](const LaunchSetting& one) { return one.id == setting; });
  settings_.push_back({setting, found->text(spec_)});
  return true;
}

void ServerFields::serve(const std::string& setting, const std::string& value, const std::string& argument) {
  (void)text(argument);
  std::string problem;
  if (!keep(setting, value, problem)) return misread(argument, problem);
  const auto given = arguments().find(argument);
  note(LaunchUse::Taken, argument, given == arguments().end() ? value : given->second, setting);
}

void ServerFields::assume(const std::string& setting, const std::string& value, const std::string& source) {
  if (has(setting)) return;
  std::string problem;
  if (keep(setting, value, problem))
    note(LaunchUse::Assumed, setting, value, setting, std::string("default of ") + engine_name(engine()),
         source);
}

void ServerFields::follow(const char* knob, const std::string& value, const std::string& argument,
                          const std::string& rule, const std::string& source) {
  (void)text(argument);
  if (const auto problem = set_knob(design(), *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  const auto given = arguments().find(argument);
  note(LaunchUse::Derived, argument, given == arguments().end() ? value : given->second, knob, rule, source);
}

void ServerFields::take_model(const NamedModel& model, const std::string& given) {
  set_model(model.model, model.name, "model", given, model.origin);
}

LaunchDesign ServerFields::finish() {
  for (const auto& [argument, value] : arguments()) {
    (void)value;
    for (const auto& [start, reason] : kKernelGroups)
      if (argument.starts_with(start)) unmapped(argument, reason), (void)text(argument);
  }
  LaunchDesign out = LaunchFields::finish({engine_name(engine()), kNoEffect, kChanges});
  for (LaunchField& field : out.fields) {
    const auto written = text_.written.find(field.name);
    if (const auto line = text_.lines.find(field.name); line != text_.lines.end()) field.line = line->second;
    const auto own = [&](const char* name) { return field.name == name; };
    if (std::any_of(std::begin(kOfDesigns), std::end(kOfDesigns), own)) continue;
    field.name = written == text_.written.end() ? server_flag(engine(), field.name) : written->second;
  }
  return out;
}

}  // namespace shardscape
