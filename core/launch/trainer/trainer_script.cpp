// Commands with transformers' TrainingArguments (src/transformers/training_args.py, 00349ae), and commands
// that start a trainer with its YAML.
#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_text.h"
#include "launch/trainer/accelerate_settings.h"
#include "launch/trainer/trainer_files.h"
#include "launch/trainer/trainer_launch.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr std::string_view kMarks[] = {"--per_device_train_batch_size", "--model_name_or_path",
                                       "accelerate launch", "llamafactory-cli train", "axolotl train"};

// A command's flags without dashes: TrainingArguments as the YAML files write them.
LaunchDocument plain_names(const MegatronText& command) {
  LaunchDocument out;
  for (const auto& [name, value] : command.arguments) {
    std::string plain = name.substr(2);
    std::replace(plain.begin(), plain.end(), '-', '_');
    out.arguments[plain] = value == "True" ? "true" : value == "False" ? "false" : value;
    if (const auto line = command.lines.find(name); line != command.lines.end())
      out.lines[plain] = line->second;
  }
  return out;
}

// Processes of torchrun, deepspeed and accelerate: per node, nodes, or all.
std::optional<int64_t> launched(const MegatronText& command, const LaunchDocument& accelerate,
                                const std::string& devices) {
  const auto find = [&](const char* name) -> std::optional<int64_t> {
    const auto it = command.launcher.find(name);
    return it == command.launcher.end() ? std::nullopt : positive_number(it->second);
  };
  if (const auto all = accelerate.arguments.find("num_processes"); all != accelerate.arguments.end())
    return positive_number(all->second);
  auto each = find("--nproc_per_node");
  if (!each) each = find("--num_gpus");
  if (!each && !devices.empty()) each = 1 + std::count(devices.begin(), devices.end(), ',');
  if (!each) return std::nullopt;
  auto nodes = find("--nnodes");
  if (!nodes) nodes = find("--num_nodes");
  constexpr int64_t kMost = 1'000'000;
  if (*each > kMost || nodes.value_or(1) > kMost) return std::nullopt;
  return *each * nodes.value_or(1);
}

bool has_degrees(const LaunchFields& fields) {
  const auto at = fields.arguments().lower_bound("parallelism_config.");
  return at != fields.arguments().end() && at->first.starts_with("parallelism_config.");
}

struct ScriptReader {
  const LaunchRequest& request;
  LaunchImport& out;

  void run() {
    auto read = read_script(request, out);
    if (!read) return;
    script = std::move(*read);
    for (const ShellCommand& command : script.commands) {
      const MegatronText text = megatron_command(command);
      if (text.arguments.contains("--per_device_train_batch_size") ||
          text.arguments.contains("--model_name_or_path"))
        return with_arguments(text, command);
      if (const std::string yaml = yaml_of(command); !yaml.empty()) return with_yaml(command, yaml);
    }
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where,
                              "no command of the script has --model_name_or_path or a YAML of a trainer",
                              "a script that starts a program with transformers' TrainingArguments");
  }

  // The last word that ends in .yaml or .yml, of a command that starts a trainer.
  std::string yaml_of(const ShellCommand& command) const {
    std::string all, found;
    for (size_t i = 0; i < command.words.size(); ++i) {
      const std::string& word = command.words[i];
      all += word + " ";
      const bool option = i > 0 && command.words[i - 1].starts_with("--");
      if (!option && (word.ends_with(".yaml") || word.ends_with(".yml"))) found = word;
    }
    const bool trainer = all.find("accelerate launch") != std::string::npos ||
                         all.find("llamafactory-cli") != std::string::npos ||
                         all.find("axolotl") != std::string::npos ||
                         all.find("torchrun") != std::string::npos;
    return trainer ? found : "";
  }

  std::string visible_devices() const {
    const auto line = request.text.find("CUDA_VISIBLE_DEVICES=");
    if (line == std::string::npos) return "";
    const size_t from = line + std::string_view("CUDA_VISIBLE_DEVICES=").size();
    const std::string value = request.text.substr(from, request.text.find_first_of(" \t\n", from) - from);
    const bool list = value.find_first_not_of("0123456789,") == std::string::npos;
    return list ? value : "";
  }

  // The settings of accelerate join those of the trainer's file.
  void with_yaml(const ShellCommand& command, const std::string& yaml) {
    const auto own = file_beside(request, yaml);
    if (!own) return out.problems.push_back(missing_file(request, yaml, "the YAML file itself"));
    const auto accelerate = accelerate_command(request, command, out);
    if (!accelerate) return;
    LaunchRequest inner = request;
    inner.where = yaml;
    inner.text = *own;
    auto document = read_trainer_yaml(inner, out);
    if (!document) return;
    add_accelerate_settings(*accelerate, *document, out);
    inner.gpus = request.gpus ? request.gpus
                              : launched(megatron_command(command), *accelerate, visible_devices());
    if (is_axolotl_yaml(inner.text)) return read_axolotl(inner, std::move(*document), out);
    read_llama_factory(inner, std::move(*document), out);
  }

  void with_arguments(const MegatronText& text, const ShellCommand& command) {
    LaunchDocument document = plain_names(text);
    LaunchRequest inner = request;
    const auto files = script.files;
    const auto outer = request.shell.source;
    inner.shell.source = [files, outer](const std::string& path) -> std::optional<std::string> {
      if (const auto it = files.find(path); it != files.end()) return it->second;
      return outer ? outer(path) : std::nullopt;
    };
    const auto accelerate = accelerate_command(inner, command, out);
    if (!accelerate) return;
    add_accelerate_settings(*accelerate, document, out);
    const auto assumed = add_deepspeed_file(inner, "deepspeed", document, out);
    const auto at = document.arguments.find("model_name_or_path");
    const std::string named = at == document.arguments.end() ? "" : at->second;
    const auto model = find_model(inner, named, "--model_name_or_path");
    if (const auto* problem = std::get_if<Problem>(&model)) out.problems.push_back(*problem);
    if (!set_launch_gpus(request, launched(text, *accelerate, visible_devices()), "the launcher's processes",
                         out) ||
        !out.problems.empty())
      return;
    LaunchFields fields(document.arguments, *out.gpus, "transformers");
    const auto& found = std::get<NamedModel>(model);
    take_model(fields, request, found, named, "model_name_or_path");
    settings(fields, found);
    std::vector<std::string> names = trainer_no_effect(""), launcher = accelerate_no_effect();
    names.insert(names.end(), launcher.begin(), launcher.end());
    finish_launch(fields.finish({"transformers 00349ae", patterns(names)}), document.lines, out);
    mark_assumed(assumed, out);
    for (LaunchField& field : out.fields)
      if (text.arguments.contains("--" + field.name)) field.name = "--" + field.name;
  }

  void settings(LaunchFields& fields, const NamedModel& model) {
    const bool deepspeed = fields.has("deepspeed"), fsdp = fields.has("fsdp");
    (void)fields.text("deepspeed");
    (void)fields.text("fsdp");
    for (const char* name : {"model_max_length", "max_seq_length", "max_length"})
      if (fields.has(name)) fields.set("seq", fields.number(name, 0), name);
    if (!fields.has("model_max_length") && !fields.has("max_seq_length") && !fields.has("max_length") &&
        model.seq > 0)
      fields.assume("seq", std::to_string(model.seq), "sequence length",
                    "the command does not say it: the usual length of the model");
    TrainerNames names{"transformers"};
    take_accelerate_names(fields, names);
    TrainerSettings trainer(fields, names);
    if (deepspeed)
      trainer.degrees(
          {"deepspeed.tensor_parallel.autotp_size", "deepspeed.sequence_parallel_size", "", "", ""});
    else
      trainer.degrees(has_degrees(fields) ? accelerate_degrees() : TrainerDegrees{});
    if (!deepspeed) read_accelerate_sequence(fields);
    trainer.batch();
    trainer.sync(fsdp, deepspeed, accelerate_node(fields));
    read_accelerate_fp8(fields);
    trainer.recompute();
    trainer.optimizer();
    trainer.kernels();
    if (fields.on("use_liger_kernel"))
      fields.unmapped("use_liger_kernel", "the fused kernels of Liger, its loss among them, have no profile");
    if (fields.has("lora_r")) read_adapters(fields, {"lora_r", "lora_target_modules", "lora_dropout"});
  }

  ShellScript script = {};
};

}  // namespace

bool is_trainer_script(std::string_view text) {
  if (text.find("--num-layers") != std::string_view::npos) return false;
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
}

void read_trainer_script(const LaunchRequest& request, LaunchImport& out) {
  ScriptReader{request, out}.run();
}

}  // namespace shardscape
