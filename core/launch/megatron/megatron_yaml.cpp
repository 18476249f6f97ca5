#include "launch/megatron/megatron_yaml.h"

#include <algorithm>

namespace shardscape {
namespace {

constexpr SettingRow kCoreNames[] = {
    {"num_moe_experts", "--num-experts"},
    {"gated_linear_unit", "--swiglu", SettingAs::On},
    {"share_embeddings_and_output_weights", "--untie-embeddings-and-output-weights", SettingAs::Off},
    {"add_bias_linear", "--disable-bias-linear", SettingAs::Off},
    {"gradient_accumulation_fusion", "--no-gradient-accumulation-fusion", SettingAs::Off},
    {"virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank"},
    {"num_layers_in_first_pipeline_stage", "--decoder-first-pipeline-num-layers"},
    {"num_layers_in_last_pipeline_stage", "--decoder-last-pipeline-num-layers"},
    {"qk_layernorm", "--qk-layernorm", SettingAs::On},
    {"fp8", "--fp8-format"},
    {"fp4", "--fp4-format"},
    {"rotary_percent", "--rotary-percent"},
    {"window_size", "--window-size"}};

constexpr const char* kNoEffect[] = {"ENV_VARS.*",
                                     "TEST_TYPE",
                                     "LAUNCHER",
                                     "METRICS.*",
                                     "METRICS",
                                     "MODE",
                                     "BEFORE_SCRIPT",
                                     "AFTER_SCRIPT",
                                     "NON_DETERMINSTIC_RESULTS",
                                     "N_REPEAT",
                                     "*.layernorm_epsilon"};

// Files of NeMo 2 in the same folder of tests set values of a recipe that they do not name.
bool is_recipe_override(const LaunchDocument& document) {
  return std::any_of(document.arguments.begin(), document.arguments.end(), [](const auto& one) {
    return one.first.starts_with("MODEL_ARGS.trainer.") || one.first.starts_with("MODEL_ARGS.model.config.");
  });
}

void read_test(MegatronSettings& settings) {
  const std::string prefix = "MODEL_ARGS.";
  for (const auto& [name, value] : settings.document().arguments) {
    if (!name.starts_with(prefix + "--")) continue;
    settings.put(name.substr(prefix.size()), value, name);
  }
}

void read_config(MegatronSettings& settings) {
  for (const char* prefix : {"language_model.", "model_parallel.", ""}) {
    settings.translate(prefix, kCoreNames);
    if (const auto groups = settings.text(std::string(prefix) + "num_query_groups")) {
      settings.put("--group-query-attention", "true", std::string(prefix) + "num_query_groups");
      settings.put("--num-query-groups", *groups, std::string(prefix) + "num_query_groups");
    }
    settings.translate_dumped(prefix);
  }
  const std::string activation = settings.text("language_model.activation_func").value_or("gelu");
  if (activation == "swiglu") settings.put("--swiglu", "true", "language_model.activation_func");
  if (activation == "squaredrelu") settings.put("--squared-relu", "true", "language_model.activation_func");
}

}  // namespace

std::span<const SettingRow> megatron_core_names() { return kCoreNames; }

bool is_megatron_yaml(std::string_view text) {
  const auto begins = [&](std::string_view word) {
    return text.starts_with(word) || text.find("\n" + std::string(word)) != std::string_view::npos;
  };
  return begins("MODEL_ARGS:") || (begins("language_model:") && begins("model_parallel:"));
}

void read_megatron_yaml(const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  LaunchDocument document = std::move(std::get<LaunchDocument>(read));
  if (is_recipe_override(document)) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where,
                              "MODEL_ARGS changes values of a recipe of NeMo 2, which the file does not name",
                              "MODEL_ARGS with arguments of Megatron-LM (--num-layers: 12)");
    return;
  }
  const bool test = request.text.find("MODEL_ARGS:") != std::string::npos;
  MegatronSettings settings("Megatron-LM", std::move(document));
  if (test)
    read_test(settings);
  else
    read_config(settings);
  settings.no_effect(kNoEffect);
  if (!settings.set("--num-layers")) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where, "the file does not say the layers",
                              test ? "MODEL_ARGS with --num-layers" : "language_model.num_layers");
    return;
  }
  settings.finish(request, std::nullopt, "", out);
}

}  // namespace shardscape
