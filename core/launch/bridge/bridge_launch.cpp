#include "launch/bridge/bridge_launch.h"

#include <algorithm>

#include "launch/bridge/bridge_settings.h"
#include "launch/megatron/megatron_text.h"
#include "launch/megatron/model_arguments.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

// Flags of run_recipe.py and of scripts/performance, and the settings that they override.
constexpr std::pair<const char*, const char*> kFlags[] = {
    {"-gb", "train.global_batch_size"},
    {"--global_batch_size", "train.global_batch_size"},
    {"-mb", "train.micro_batch_size"},
    {"--micro_batch_size", "train.micro_batch_size"},
    {"-sl", "dataset.seq_length"},
    {"--seq_length", "dataset.seq_length"},
    {"-tp", "model.tensor_model_parallel_size"},
    {"--tensor_model_parallel_size", "model.tensor_model_parallel_size"},
    {"-pp", "model.pipeline_model_parallel_size"},
    {"--pipeline_model_parallel_size", "model.pipeline_model_parallel_size"},
    {"-cp", "model.context_parallel_size"},
    {"--context_parallel_size", "model.context_parallel_size"},
    {"-vp", "model.virtual_pipeline_model_parallel_size"},
    {"--virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size"},
    {"-ep", "model.expert_model_parallel_size"},
    {"--expert_model_parallel_size", "model.expert_model_parallel_size"},
    {"-et", "model.expert_tensor_parallel_size"},
    {"-etp", "model.expert_tensor_parallel_size"},
    {"--expert_tensor_parallel_size", "model.expert_tensor_parallel_size"},
    {"--num_layers", "model.num_layers"},
    {"--hidden_size", "model.hidden_size"},
    {"--num_moe_experts", "model.num_moe_experts"},
    {"--pipeline_model_parallel_layout", "model.pipeline_model_parallel_layout"},
    {"--cuda_graph_impl", "model.cuda_graph_impl"},
    {"--cuda_graph_scope", "model.cuda_graph_scope"},
    {"--moe_flex_dispatcher_backend", "model.moe_flex_dispatcher_backend"},
    {"--use_megatron_fsdp", "ddp.use_megatron_fsdp"}};

// Types of the performance scripts (--compute_dtype).
constexpr std::pair<const char*, const char*> kTypes[] = {
    {"bf16", "bf16_mixed"},
    {"fp8_ds", "bf16_with_fp8_delayed_scaling_mixed"},
    {"fp8_cs", "bf16_with_fp8_current_scaling_mixed"},
    {"fp8_mx", "bf16_with_mxfp8_mixed"},
    {"fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed"},
    {"nvfp4", "bf16_with_nvfp4_mixed"}};

constexpr const char* kVanilla = "vanilla_gpt_pretrain";

// The command of a text, without the script around it: from the line with the runner to the last line that a
// backslash continues. Commands in texts that a script only writes are found too.
std::string runner_command(const std::string& text) {
  for (const char* mark : {"run_recipe.py", "--model_recipe_name", "--recipe ", "--recipe="}) {
    size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    const auto begin_of = [&](size_t place) { return text.rfind('\n', place) + 1; };
    size_t begin = begin_of(at);
    while (begin >= 2 && text.find_last_not_of(" \t", begin - 2) != std::string::npos &&
           text[text.find_last_not_of(" \t", begin - 2)] == '\\')
      begin = begin_of(begin - 2);
    size_t end = text.find('\n', at);
    while (end != std::string::npos && end > 0 && text[text.find_last_not_of(" \t\r", end - 1)] == '\\')
      end = text.find('\n', end + 1);
    return text.substr(begin, end == std::string::npos ? end : end - begin);
  }
  return {};
}

struct Runner {
  LaunchDocument settings;
  std::string recipe, model;
  std::optional<int64_t> gpus;
  std::string gpus_from;
};

void take_flag(const std::string& name, const std::string& value, int line, Runner& out) {
  const auto put = [&](const std::string& setting, const std::string& text) {
    out.settings.arguments[setting] = text == "None"    ? "null"
                                      : text == "True"  ? "true"
                                      : text == "False" ? "false"
                                                        : text;
    out.settings.lines[setting] = line;
  };
  if (name == "--recipe" || name == "--model_recipe_name" || name == "-mr" || name == "--model")
    (name == "--recipe" ? out.recipe : out.model) = value;
  if (name == "--num_gpus" || name == "-ng") {
    out.gpus = whole_number(value);
    out.gpus_from = name;
  }
  if (name == "--compute_dtype" || name == "-d")
    for (const auto& [type, precision] : kTypes)
      if (value == type) return put("mixed_precision", precision);
  for (const auto& [flag, setting] : kFlags)
    if (name == flag) return put(setting, value);
  put(name, value);
}

Runner read_runner(const ShellCommand& command) {
  Runner out;
  std::optional<int64_t> each, nodes;
  const std::vector<std::string>& words = command.words;
  bool python = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t sign = word.find('=');
    if (!word.starts_with('-')) {
      python = python || word.ends_with(".py");
      if (!python || sign == std::string::npos) continue;
      std::string name = word.substr(0, sign);
      while (name.starts_with('+')) name.erase(0, 1);
      take_flag(name, word.substr(sign + 1), command.line, out);
      continue;
    }
    std::string name = word.substr(0, sign), value = sign == std::string::npos ? "" : word.substr(sign + 1);
    if (value.empty() && i + 1 < words.size() && !words[i + 1].starts_with('-') &&
        words[i + 1].find('=') == std::string::npos && !words[i + 1].ends_with(".py"))
      value = words[++i];
    if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
    if (name == "--nproc_per_node" || name == "--gpus_per_node" || name == "-gn") each = whole_number(value);
    if (name == "--nnodes" || name == "--nodes") nodes = whole_number(value);
    if (python) take_flag(name, value.empty() ? "true" : value, command.line, out);
  }
  if (!out.gpus && each) {
    out.gpus = gpus_of(nodes.value_or(1), each);
    out.gpus_from = nodes ? "--nproc_per_node x --nnodes" : "--nproc_per_node";
  }
  return out;
}

constexpr const char* kRunnerOnly[] = {"--recipe",
                                       "--model",
                                       "--model_recipe_name",
                                       "--model_family_name",
                                       "--mode",
                                       "--dataset",
                                       "--num_gpus",
                                       "--gpus_per_node",
                                       "--gpu",
                                       "--max_steps",
                                       "-ms",
                                       "-mr",
                                       "-m",
                                       "-ng",
                                       "-gn",
                                       "-g",
                                       "--lr",
                                       "--min_lr",
                                       "--warmup_iters",
                                       "--save_dir",
                                       "--load_dir",
                                       "--save_interval",
                                       "--domain",
                                       "--task",
                                       "--data",
                                       "-hf",
                                       "--hf_token",
                                       "--pretrained_checkpoint",
                                       "--compute_dtype",
                                       "-d"};

// Defaults of the recipe that leaves every value to the command (recipes/gpt/h100/vanilla_gpt.py).
void assume_vanilla(MegatronSettings& s) {
  const std::string source = "src/megatron/bridge/recipes/gpt/h100/vanilla_gpt.py:55";
  s.assume("--global-batch-size", "32", source);
  s.assume("--micro-batch-size", "2", source);
  s.assume("--seq-length", "1024", source);
  if (!s.set("--fp16")) s.assume("--bf16", "true", source);
  s.assume("--use-distributed-optimizer", "true", "src/megatron/bridge/recipes/utils/optimizer_utils.py");
  s.assume("--tokenizer-type", "NullTokenizer", source);
}

void read_command(const LaunchRequest& request, LaunchImport& out) {
  auto script = read_shell_script(request.text, request.shell);
  std::vector<ShellCommand> commands;
  if (auto* read = std::get_if<ShellScript>(&script)) commands = read->commands;
  const auto names_recipe = [](const ShellCommand& command) {
    return std::any_of(command.words.begin(), command.words.end(), [](const std::string& word) {
      return word.starts_with("--recipe") || word == "--model_recipe_name" || word.ends_with("run_recipe.py");
    });
  };
  auto chosen = std::find_if(commands.begin(), commands.end(), names_recipe);
  if (chosen == commands.end()) {
    auto inside = read_shell_script(runner_command(request.text), request.shell);
    if (auto* read = std::get_if<ShellScript>(&inside)) commands = read->commands;
    chosen = std::find_if(commands.begin(), commands.end(), names_recipe);
  }
  if (chosen == commands.end()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where,
                              "no command of the script starts a recipe of Megatron-Bridge",
                              "a command with run_recipe.py and --recipe or --model");
    return;
  }
  Runner runner = read_runner(*chosen);
  const bool vanilla = runner.recipe.starts_with(kVanilla);
  std::string named = runner.model.empty() ? runner.recipe : runner.model;
  for (const char* ending : {"_pretrain", "_sft", "_peft"})
    if (const size_t at = named.find(ending); at != std::string::npos) named.erase(at);
  std::string which;
  for (const char* flag : {"--recipe", "--model", "--model_recipe_name", "-mr"})
    if (runner.settings.arguments.contains(flag)) which = flag;
  MegatronSettings settings("Megatron-Bridge", std::move(runner.settings));
  translate_bridge_settings(settings);
  if (vanilla)
    assume_vanilla(settings);
  else if (!use_model_arguments(request, settings, named, out))
    return;
  settings.no_effect(kRunnerOnly);
  if (!vanilla) {
    if (!settings.set("--fp16"))
      settings.assume("--bf16", "true", "src/megatron/bridge/recipes/common.py:130");
    settings.assume("--use-distributed-optimizer", "true", "src/megatron/bridge/recipes/common.py:87");
    settings.assume("--overlap-grad-reduce", "true", "src/megatron/bridge/recipes/common.py:83");
    settings.assume("--overlap-param-gather", "true", "src/megatron/bridge/recipes/common.py:84");
    settings.assume("--global-batch-size", "32", "src/megatron/bridge/recipes/common.py:66");
    settings.assume("--micro-batch-size", "2", "src/megatron/bridge/recipes/common.py:67");
    settings.assume("--seq-length", "4096", "src/megatron/bridge/recipes/common.py:95");
    settings.assume("--hidden-dropout", "0.0", "");
    settings.assume("--attention-dropout", "0.0", "");
    settings.unmapped(which,
                      "the recipe is Python: values that the command does not state are the defaults of "
                      "Megatron-Bridge here, and may be others in the recipe");
  }
  derive_bridge_positions(settings);
  settings.finish(request, runner.gpus, runner.gpus_from, out);
}

void read_config(const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  MegatronSettings settings("Megatron-Bridge", std::move(std::get<LaunchDocument>(read)));
  translate_bridge_settings(settings);
  if (!settings.set("--num-layers") && !use_model_arguments(request, settings, "", out)) return;
  derive_bridge_positions(settings);
  settings.finish(request, std::nullopt, "", out);
}

}  // namespace

bool is_bridge_launch(std::string_view text) {
  if (mentions(text, "_target_: megatron.bridge")) return true;
  return (mentions(text, "--model_recipe_name") && mentions(text, ".py")) || mentions(text, "run_recipe.py");
}

void read_bridge_launch(const LaunchRequest& request, LaunchImport& out) {
  if (mentions(request.text, "_target_: megatron.bridge"))
    read_config(request, out);
  else
    read_command(request, out);
}

}  // namespace shardscape
