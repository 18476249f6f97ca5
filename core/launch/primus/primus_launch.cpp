// Settings of AMD-AGI/Primus fd1eeab (2026-08-22). Overrides replace the preset of the module, which replaces
// that of the model; names are those of Megatron-LM's dump, with settings of Primus beside them.
#include "launch/primus/primus_launch.h"

#include <algorithm>
#include <set>
#include <vector>

#include "launch/document/launch_document.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/megatron_yaml.h"
#include "launch/megatron/model_arguments.h"
#include "launch/primus/primus_presets.h"

namespace shardscape {
namespace {

constexpr const char* kModule = "modules.pre_trainer.";
constexpr const char* kSource = "primus/configs";
constexpr int kDeepestExtends = 10;

// "${PRIMUS_TP:8}": the variable, or the value behind the colon.
std::string substituted(const std::string& text, const std::map<std::string, std::string>& variables) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find("${", at),
                 end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos) return out + text.substr(at);
    const std::string inside = text.substr(begin + 2, end - begin - 2);
    const size_t colon = std::min(inside.find(':'), inside.size());
    const auto found = variables.find(inside.substr(0, colon));
    out += text.substr(at, begin - at);
    out += found != variables.end() ? found->second : colon < inside.size() ? inside.substr(colon + 1) : "";
    at = end + 1;
  }
  return out;
}

std::string truth(const std::string& text) {
  return text == "True" ? "true" : text == "False" ? "false" : text;
}

struct Change {
  const char *name, *usual, *reason;
};
// Settings of Primus and Megatron-core that change the step, though no setting of a design says so.
constexpr Change kChanges[] = {
    {"turbo_sync_free_moe_stage", "0", "a MoE layer without waits of the host is not modelled"},
    {"recompute_layer_ids", "null", "layers of full recompute are chosen by number"},
    {"use_sink_attention", "false", "learned sinks of attention are known only in gpt-oss"},
    {"use_turbo_mega_moe", "false", "the fused MoE layer has no kernel profile"},
    {"moe_use_legacy_grouped_gemm", "false", "the older grouped GEMM has no kernel profile"},
    {"enable_turbo_attention_float8", "false", "FP8 attention of Primus has no kernel profile"},
    {"patch_zero_bubble", "false", "zero-bubble schedules of Primus are not read"},
    {"patch_primus_pipeline", "false", "the pipeline of Primus is not read"},
    {"patch_moe_overlap", "false", "the overlap of Primus is not modelled"},
    {"offload", "false", "activations that the pipeline offloads are not read"},
    {"cpu_offload", "false", "offload of the optimizer by chunks is not read"},
    {"moe_use_fused_router_with_aux_score", "*", "a fused kernel of the router"},
    {"decoder_pipeline_manual_split_list", "null",
     "layers of stages are read from pipeline_model_parallel_layout"}};

// Endings of overrides that change no memory and no operations.
constexpr const char* kIdle[] = {"wandb_*",
                                 "stderr_sink_level",
                                 "file_sink_level",
                                 "sink_level",
                                 "disable_*",
                                 "auto_continue_train",
                                 "finetune",
                                 "log_*",
                                 "enable_primus_turbo",
                                 "use_turbo_*",
                                 "turbo_deepep_use_comm_stream",
                                 "pp_warmup",
                                 "mlflow_*",
                                 "dump_pp_data",
                                 "use_pytorch_profiler",
                                 "profile*",
                                 "torch_profiler_*",
                                 "sink_sliding_window",
                                 "sink_window_even_layers_only",
                                 "norm_epsilon",
                                 "moe_router_force_load_balancing_type",
                                 "turbo_gemm_backend",
                                 "train_data_path",
                                 "trainable",
                                 "no_fp8_*",
                                 "use_rocm_mem_info*",
                                 "tokenizer_model",
                                 "fused_padded_mla_attention"};

class PrimusReader {
 public:
  PrimusReader(const LaunchRequest& request, LaunchDocument document)
      : request_(request), s_("Primus", std::move(document)) {}

  void run(LaunchImport& out) {
    const std::string framework = s_.text(std::string(kModule) + "framework").value_or("megatron");
    if (framework != "megatron") {
      out.problems.emplace_back(ProblemCode::LaunchFormat, request_.where,
                                "modules.pre_trainer.framework is \"" + framework + "\"",
                                "megatron; files of " + framework + " itself are read with --as");
      return;
    }
    presets();
    turbo();
    overrides();
    if (!s_.set("--num-layers") &&
        !use_model_arguments(request_, s_, s_.text(std::string(kModule) + "model").value_or(""), out))
      return;
    tokenizer();
    const auto& variables = request_.shell.environment;
    const auto find = [&](const char* name) -> std::optional<int64_t> {
      const auto it = variables.find(name);
      return it == variables.end() ? std::nullopt : whole_number(it->second);
    };
    s_.finish(request_, gpus_of(find("NNODES"), find("GPUS_PER_NODE")), "NNODES x GPUS_PER_NODE", out);
  }

 private:
  std::string at(const std::string& name) const { return kModule + ("overrides." + name); }

  // What the presets say, with the overrides on top: name -> text.
  void presets() {
    const PrimusPresets& all = primus_presets();
    values_ = all.language_model;
    std::string model = s_.text(std::string(kModule) + "model").value_or("");
    if (!request_.model.empty()) model = request_.model;
    const std::string name = model.ends_with(".yaml") ? model.substr(0, model.size() - 5) : model;
    const auto known = all.models.find(name);
    model_ = name;
    if (known != all.models.end()) merge(known->second);
    if (known == all.models.end()) own_preset(model, 0);
    merge(all.trainer, false);
    known_model_ = values_.contains("hidden_size") && known != all.models.end();
  }

  void merge(const PrimusValues& values, bool of_model = true) {
    for (const auto& [key, value] : values) {
      values_[key] = value;
      if (of_model) of_model_.insert(key);
    }
  }

  // A preset beside the file, or below primus/configs/models/megatron.
  void own_preset(const std::string& name, int depth) {
    if (!request_.shell.source || name.empty() || depth > kDeepestExtends) return;
    for (const std::string& path : {name, "primus/configs/models/megatron/" + name}) {
      const auto text = request_.shell.source(path);
      if (!text) continue;
      auto read = read_launch_document(DocumentLanguage::Yaml, *text, path);
      const auto* document = std::get_if<LaunchDocument>(&read);
      if (!document) return;
      if (const auto found = document->arguments.find("extends"); found != document->arguments.end()) {
        const std::string base = found->second, stem = base.substr(0, base.find(".yaml"));
        const auto known = primus_presets().models.find(stem);
        if (known != primus_presets().models.end())
          merge(known->second);
        else
          own_preset(base, depth + 1);
      }
      merge(document->arguments);
      own_ = true;
      return;
    }
  }

  void overrides() {
    const std::string prefix = at("");
    // The file's own words first, so that fields keep its names.
    s_.translate(prefix, megatron_core_names());
    for (const Change& change : kChanges) {
      const auto value = s_.text(at(change.name));
      if (!value || truth(*value) == change.usual || *change.usual == '*') continue;
      s_.unmapped(at(change.name), change.reason);
    }
    std::vector<std::string> idle;
    for (const char* name : kIdle) idle.push_back(at(name));
    idle.insert(idle.end(), {"work_group", "user_name", "exp_name", "workspace", "platform.*",
                             std::string(kModule) + "config", std::string(kModule) + "framework"});
    for (const std::string& name : idle) {
      const char* const pattern = name.c_str();
      s_.no_effect({&pattern, 1});
    }
    s_.translate_dumped(prefix);
    // Values that only presets say.
    const bool own = own_ || known_model_;
    for (const auto& [name, value] : values_) {
      if (value == "null" || s_.has(at(name)) || s_.document().arguments.contains(at(name))) continue;
      if (!own && name == "num_layers") continue;
      s_.assume_dumped(name, truth(value),
                       of_model_.contains(name) ? "of the preset " + model_ : "default of Primus", kSource);
    }
  }

  // DeepEP kernels of Primus in the place of the dispatcher.
  void turbo() {
    const bool on = s_.on(at("enable_primus_turbo")) && s_.on(at("use_turbo_deepep"));
    if (!on) return;
    s_.put("--moe-enable-deepep", "true", at("use_turbo_deepep"));
    s_.put("--moe-token-dispatcher-type", "flex", at("use_turbo_deepep"));
    if (const auto units = s_.text(at("turbo_deepep_num_cu")))
      s_.put("--moe-deepep-num-sms", *units, at("turbo_deepep_num_cu"));
  }

  void tokenizer() {
    if (s_.set("--vocab-size")) return;
    const auto found = values_.find("tokenizer_model");
    const int64_t entries = found == values_.end() ? 0 : tokenizer_entries(found->second);
    if (entries > 0)
      s_.derive("--vocab-size", std::to_string(entries), "of the tokenizer " + found->second);
    else
      s_.unmapped(std::string(kModule) + "model",
                  "the vocabulary of the tokenizer is not known; the design has that of GPT-2");
  }

  const LaunchRequest& request_;
  MegatronSettings s_;
  PrimusValues values_;
  std::set<std::string> of_model_;  // values of the model's preset
  std::string model_;
  bool own_ = false, known_model_ = false;
};

}  // namespace

bool is_primus_launch(std::string_view text) {
  return text.find("pre_trainer:") != std::string_view::npos &&
         text.find("modules:") != std::string_view::npos;
}

void read_primus_launch(const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  LaunchDocument document = std::move(std::get<LaunchDocument>(read));
  for (auto& [name, value] : document.arguments) value = substituted(value, request.shell.environment);
  PrimusReader(request, std::move(document)).run(out);
}

}  // namespace shardscape
