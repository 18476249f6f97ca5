#include "launch/launch_import.h"

#include <algorithm>
#include <filesystem>

#include "launch/automodel/automodel_launch.h"
#include "launch/bridge/bridge_launch.h"
#include "launch/bridge/python_recipe.h"
#include "launch/deepspeed/deepspeed_launch.h"
#include "launch/deepspeed/megatron_deepspeed.h"
#include "launch/document/launch_document.h"
#include "launch/internevo/internevo_launch.h"
#include "launch/litgpt/litgpt_launch.h"
#include "launch/maxtext/maxtext_launch.h"
#include "launch/megatron/megatron_launch.h"
#include "launch/megatron/megatron_yaml.h"
#include "launch/nanotron/nanotron_launch.h"
#include "launch/nemo/mlperf_launch.h"
#include "launch/nemo/nemo_launch.h"
#include "launch/neox/neox_launch.h"
#include "launch/primus/primus_launch.h"
#include "launch/rl/slime_launch.h"
#include "launch/rl/verl_launch.h"
#include "launch/server/server_launch.h"
#include "launch/simumax/simumax_launch.h"
#include "launch/torchtitan/torchtitan_launch.h"
#include "launch/trainer/trainer_launch.h"

namespace shardscape {
namespace {

struct Reader {
  LaunchFramework framework;
  bool (*recognises)(std::string_view text);
  void (*read)(const LaunchRequest& request, LaunchImport& out);
};

const std::vector<Reader>& readers() {
  // The first reader that recognises a text reads it.
  static const std::vector<Reader> kReaders{
      {{"megatron-recipe", "Recipes in Python",
        "recipes of Megatron-Bridge and NeMo 2, with what to read instead"},
       is_megatron_recipe,
       refuse_megatron_recipe},
      {{"verl", "verl", "commands with actor_rollout_ref.actor settings, and the YAML of a run"},
       is_verl_launch,
       read_verl_launch},
      {{"nemo-automodel", "NeMo Automodel", "YAML recipes"}, is_automodel_launch, read_automodel_launch},
      {{"megatron-bridge", "Megatron-Bridge", "run_config.yaml, and commands that run a recipe"},
       is_bridge_launch,
       read_bridge_launch},
      {{"primus", "Primus", "experiments in YAML with modules.pre_trainer"},
       is_primus_launch,
       read_primus_launch},
      {{"megatron-yaml", "Megatron-LM, YAML", "files of --yaml-cfg, and MODEL_ARGS of functional tests"},
       is_megatron_yaml,
       read_megatron_yaml},
      {{"nemo1", "NeMo 1", "YAML with trainer and model, or the model's part alone"},
       is_nemo_launch,
       read_nemo_launch},
      {{"mlperf", "MLPerf", "configurations config_*.sh with DGXNNODES and MINIBS"},
       is_mlperf_launch,
       read_mlperf_launch},
      {{"slime", "slime", "scripts with --actor-num-nodes"}, is_slime_launch, read_slime_launch},
      {{"megatron-deepspeed", "Megatron-DeepSpeed",
        "scripts and command lines with --num-layers and --deepspeed"},
       is_megatron_deepspeed,
       read_megatron_deepspeed},
      {{"megatron-lm", "Megatron-LM",
        "scripts and command lines with --num-layers, and argument dumps in logs"},
       is_megatron_launch,
       read_megatron_launch},
      {{"simumax", "SimuMax", "JSON files of strategies, with --model"},
       is_simumax_launch,
       read_simumax_launch},
      {{"torchtitan", "torchtitan", "TOML files up to v0.2.2, and settings that its logs print"},
       is_torchtitan_launch,
       read_torchtitan_launch},
      {{"nanotron", "nanotron", "YAML files"}, is_nanotron_launch, read_nanotron_launch},
      {{"gpt-neox", "GPT-NeoX", "YAML files"}, is_neox_launch, read_neox_launch},
      {{"internevo", "InternEvo", "configurations in Python with literals"},
       is_internevo_launch,
       read_internevo_launch},
      {{"litgpt", "litgpt", "YAML files of litgpt pretrain"}, is_litgpt_launch, read_litgpt_launch},
      {{"maxtext", "MaxText", "YAML files, command lines of overrides, and parameters in logs"},
       is_maxtext_launch,
       read_maxtext_launch},
      {{"deepspeed-json", "DeepSpeed", "JSON settings of DeepSpeed"}, is_deepspeed_json, read_deepspeed_json},
      {{"axolotl", "axolotl", "YAML files"}, is_axolotl_yaml, read_axolotl_yaml},
      {{"llama-factory", "LLaMA-Factory", "YAML files"}, is_llama_factory_yaml, read_llama_factory_yaml},
      {{"accelerate", "accelerate", "YAML files of accelerate config"},
       is_accelerate_config,
       read_accelerate_config},
      {{"transformers", "Hugging Face transformers",
        "scripts and command lines with TrainingArguments, or with the YAML of a trainer"},
       is_trainer_script,
       read_trainer_script},
      {{"inferencex", "InferenceX", "scripts for disaggregated serving whose variables are given"},
       is_inferencex_launch,
       read_server_launch},
      {{"vllm", "vLLM", "vllm serve commands in scripts and Markdown, --config files, and logs"},
       is_vllm_launch,
       read_server_launch},
      {{"sglang", "SGLang", "sglang.launch_server commands in scripts and Markdown, and logs"},
       is_sglang_launch,
       read_server_launch},
      {{"trtllm", "TensorRT-LLM", "trtllm-serve commands in scripts and Markdown, and files of options"},
       is_trtllm_launch,
       read_server_launch}};
  return kReaders;
}

std::string accepted_frameworks() {
  std::string out = "one of ";
  for (const Reader& reader : readers())
    out += (out == "one of " ? "" : ", ") + std::string(reader.framework.id);
  return out;
}

bool is_python(std::string_view text) {
  const auto begins = [&](std::string_view word) {
    return text.starts_with(word) || text.find("\n" + std::string(word)) != std::string_view::npos;
  };
  return !text.starts_with("#!/bin") && (begins("import ") || begins("from ")) &&
         (begins("def ") || begins("class ") || begins("__all__") || begins("from "));
}

Problem unknown_text(const LaunchRequest& request) {
  if (begins_as_toml(request.text)) {
    const auto read = read_launch_document(DocumentLanguage::Toml, request.text, request.where);
    if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
    return {ProblemCode::LaunchFormat, request.where, "the TOML has no sections of torchtitan",
            "[model] with flavor, [training] and [parallelism]"};
  }
  if (is_python(request.text))
    return {
        ProblemCode::LaunchFormat, request.where, "the text is Python, whose values only its functions know",
        "what the framework writes of a run (a log with its arguments, or its settings in YAML or JSON), or "
        "the command that starts it"};
  return {ProblemCode::LaunchFormat, request.where, "the text is no launch of a known framework",
          accepted_frameworks()};
}

}  // namespace

const std::vector<LaunchFramework>& launch_frameworks() {
  static const std::vector<LaunchFramework> kFrameworks = [] {
    std::vector<LaunchFramework> out;
    for (const Reader& reader : readers()) out.push_back(reader.framework);
    return out;
  }();
  return kFrameworks;
}

std::string launch_framework_id(const std::string& name) {
  return name == "deepspeed" ? "megatron-deepspeed" : name;
}

LaunchImport import_launch(const LaunchRequest& request) {
  LaunchImport out;
  const std::string wanted = launch_framework_id(request.framework);
  const auto chosen = std::find_if(readers().begin(), readers().end(), [&](const Reader& reader) {
    return wanted.empty() ? reader.recognises(request.text) : reader.framework.id == wanted;
  });
  if (chosen == readers().end()) {
    out.problems.push_back(request.framework.empty()
                               ? unknown_text(request)
                               : Problem{ProblemCode::LaunchFormat, "--as",
                                         "\"" + request.framework + "\" is no known framework",
                                         accepted_frameworks()});
    return out;
  }
  out.framework = chosen->framework.id;
  chosen->read(request, out);
  // A launch seldom names itself.
  if (out.design.name == Design().name)
    out.design.name = std::filesystem::path(request.where).stem().string();
  return out;
}

bool looks_like_launch(std::string_view text) {
  return begins_as_toml(text) || std::any_of(readers().begin(), readers().end(),
                                             [&](const Reader& reader) { return reader.recognises(text); });
}

}  // namespace shardscape
