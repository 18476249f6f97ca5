// accelerate 16cb6eb (2026-07-24): src/accelerate/commands/launch.py and utils/launch.py.
#include "launch/trainer/accelerate_settings.h"

#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_text.h"
#include "launch/trainer/trainer_files.h"

namespace shardscape {
namespace {

constexpr const char* kDegree = "parallelism_config.parallelism_config_";

constexpr const char* kAccelerateWithoutEffect[] = {"compute_environment",
                                                    "debug",
                                                    "enable_cpu_affinity",
                                                    "machine_rank",
                                                    "main_process_ip",
                                                    "main_process_port",
                                                    "main_training_function",
                                                    "rdzv_*",
                                                    "same_network",
                                                    "tpu_*",
                                                    "use_cpu",
                                                    "commands",
                                                    "command_file",
                                                    "config_file",
                                                    "gpu_ids",
                                                    "num_machines",
                                                    "num_processes",
                                                    "num_cpu_threads_per_process",
                                                    "max_restarts",
                                                    "monitor_interval",
                                                    "module",
                                                    "no_python",
                                                    "quiet",
                                                    "role",
                                                    "log_dir",
                                                    "tee",
                                                    "use_parallelism_config",
                                                    "distributed_type",
                                                    "downcast_bf16",
                                                    "fsdp_config.fsdp_auto_wrap_policy",
                                                    "fsdp_config.fsdp_cpu_ram_efficient_loading",
                                                    "fsdp_config.fsdp_state_dict_type",
                                                    "fsdp_config.fsdp_sync_module_states",
                                                    "fsdp_config.fsdp_use_orig_params",
                                                    "fsdp_config.fsdp_transformer_layer_cls_to_wrap",
                                                    "fsdp_config.fsdp_min_num_params",
                                                    "fsdp_config.fsdp_backward_prefetch",
                                                    "fsdp_config.fsdp_forward_prefetch",
                                                    "fsdp_config.fsdp_version",
                                                    "fp8_config.*",
                                                    "deepspeed_config.zero3_*",
                                                    "deepspeed_config.deepspeed_multinode_launcher",
                                                    "deepspeed_config.deepspeed_hostfile",
                                                    "deepspeed_config.deepspeed_moe_layer_cls_names"};

// Flags of the section deepspeed_config.
constexpr std::string_view kDeepSpeedFlags[] = {"zero_stage", "offload_*", "gradient_clipping", "zero3_*",
                                                "deepspeed_*"};

// The name in the YAML of a flag without its dashes.
std::string yaml_name(const std::string& flag, bool deepspeed) {
  for (const auto& [beginning, section] :
       {std::pair{"fsdp_", "fsdp_config."}, {"parallelism_config_", "parallelism_config."}})
    if (flag.starts_with(beginning)) return section + flag;
  if (flag.starts_with("fp8_")) return "fp8_config." + flag.substr(4);
  if (flag.starts_with("dynamo_")) return "dynamo_config." + flag;
  const bool of_deepspeed = std::any_of(
      std::begin(kDeepSpeedFlags), std::end(kDeepSpeedFlags),
      [&](std::string_view pattern) { return matches_name(pattern, flag); });
  if (of_deepspeed || (deepspeed && flag == "gradient_accumulation_steps")) return "deepspeed_config." + flag;
  return flag;
}

// The words of `accelerate launch` and behind it; empty: another command.
ShellCommand launch_words(const ShellCommand& command) {
  for (size_t i = 0; i + 1 < command.words.size(); ++i) {
    const std::string &word = command.words[i], &next = command.words[i + 1];
    const size_t begin = word.ends_with("accelerate-launch") ? i + 1
                         : next != "launch"                  ? 0
                         : word.ends_with("accelerate") || word == "accelerate.commands.accelerate_cli"
                             ? i + 2
                             : 0;
    if (begin == 0) continue;
    return {{command.words.begin() + static_cast<std::ptrdiff_t>(begin), command.words.end()}, command.line};
  }
  return {};
}

void take_flags(const std::map<std::string, std::string>& flags, int line, LaunchDocument& out) {
  const auto put = [&](const std::string& name, const std::string& value) {
    out.arguments[name] = value;
    out.lines[name] = line;
  };
  const bool deepspeed = flags.contains("--use_deepspeed");
  for (const auto& [flag, value] : flags) {
    const std::string name = flag.substr(2);
    if (name == "use_fsdp")
      put("distributed_type", "FSDP");
    else if (name == "use_deepspeed")
      put("distributed_type", "DEEPSPEED");
    else if (name == "use_megatron_lm")
      put("distributed_type", "MEGATRON_LM");
    else if (name == "multi_gpu" && !flags.contains("--use_fsdp") && !deepspeed)
      put("distributed_type", "MULTI_GPU");
    else if (name != "multi_gpu")
      put(yaml_name(name, deepspeed), value.empty() || value == "True" ? "true"
                                      : value == "False"               ? "false"
                                                                       : value);
  }
}

}  // namespace

std::optional<LaunchDocument> accelerate_command(const LaunchRequest& request, const ShellCommand& command,
                                                 LaunchImport& out) {
  ShellCommand words = launch_words(command);
  LaunchDocument settings;
  if (words.words.empty()) return settings;
  words.words.insert(words.words.begin(), "torchrun");  // flags in front of the program belong to a launcher
  const auto flags = megatron_command(words).launcher;
  if (const auto file = flags.find("--config_file"); file != flags.end()) {
    const auto text = file_beside(request, file->second);
    if (!text) {
      out.problems.push_back(missing_file(request, file->second, ""));
      return std::nullopt;
    }
    auto read = read_launch_document(DocumentLanguage::Yaml, *text, file->second);
    if (auto* problem = std::get_if<Problem>(&read)) {
      out.problems.push_back(std::move(*problem));
      return std::nullopt;
    }
    settings = std::get<LaunchDocument>(std::move(read));
    settings.lines.clear();  // they are lines of another file
  }
  take_flags(flags, command.line, settings);
  const auto kind = settings.arguments.find("distributed_type");
  if (kind == settings.arguments.end() || kind->second != "MEGATRON_LM") return settings;
  out.problems.emplace_back(ProblemCode::LaunchFormat, request.where + ", distributed_type",
                            "Megatron-LM under accelerate is not read", "NO, MULTI_GPU, FSDP or DEEPSPEED");
  return std::nullopt;
}

void add_accelerate_settings(const LaunchDocument& accelerate, LaunchDocument& program, LaunchImport& out) {
  for (const auto& [name, value] : accelerate.arguments) {
    const bool json = name == "deepspeed_config.deepspeed_config_file";
    const auto [place, added] = program.arguments.emplace(json ? "deepspeed" : name, value);
    const auto line = accelerate.lines.find(name);
    if (added && line != accelerate.lines.end()) program.lines[place->first] = line->second;
    if (!added && place->second != value)
      out.notes.push_back(
          {line == accelerate.lines.end() ? 0 : line->second,
           "accelerate's " + name + " " + value + ": the program's " + place->second + " replaces it"});
  }
}

void take_accelerate_names(LaunchFields& fields, TrainerNames& names) {
  const std::string precision = "mixed_precision", steps = "deepspeed_config.gradient_accumulation_steps";
  if (fields.has(precision)) {
    if (!fields.has(names.bf16) && !fields.has(names.fp16)) {
      names.bf16 = precision;
      names.fp16.clear();
    } else {
      fields.ignore(precision, "the program's bf16 or fp16 replaces it");
    }
  }
  const auto given = fields.arguments().find(steps);
  if (given == fields.arguments().end()) return;
  if (!fields.has(names.accumulation) && positive_number(given->second))
    names.accumulation = steps;
  else
    fields.ignore(steps, "the program's accumulation counts");
}

TrainerDegrees accelerate_degrees() {
  const std::string at = kDegree;
  return {at + "tp_size", at + "cp_size", at + "dp_replicate_size", at + "dp_shard_size", ""};
}

// A design has one axis for the sequence.
void read_accelerate_sequence(LaunchFields& fields) {
  const std::string name = std::string(kDegree) + "sp_size";
  if (const int64_t size = fields.number(name, 1); size > 1) {
    fields.set("cp", size, name);
    fields.set("context", "ulysses", name);
    if (fields.gpus() % size == 0) fields.set("dp", fields.gpus() / size, "gpus");
  } else if (fields.design().parallel.cp > 1) {
    const std::string way = std::string(kDegree) + "cp_comm_strategy";
    if (fields.text(way).value_or("allgather") != "allgather")
      fields.set("context", "ring", way);
    else
      fields.assume("context", "all-gather", way, "default of accelerate: keys and values are gathered");
  }
}

void read_accelerate_fp8(LaunchFields& fields) {
  const std::string backend = "dynamo_config.dynamo_backend";
  if (const std::string kind = fields.text(backend).value_or("no");
      kind != "no" && kind != "NO" && kind != "false")
    fields.unmapped(backend, "compiled kernels of transformers have no profile");
  if (fields.text("mixed_precision").value_or("no") != "fp8") return;
  fields.set("compute", "fp8", "mixed_precision");
  const std::string engine = fields.text("fp8_config.backend").value_or("TE");
  if (engine == "MSAMP" || engine == "MS-AMP")
    fields.unmapped("fp8_config.backend", "MS-AMP also keeps optimizer states and gradients in 8 bits");
}

void read_accelerate_zero(LaunchFields& fields, const std::string& dtype, const std::string& program_clip) {
  const std::string at = "deepspeed_config.", stage = at + "zero_stage";
  fields.conclude("grad_dtype", dtype, "gradient type", "the type of the parameters",
                  "deepspeed/runtime/engine.py:1492");
  fields.set("sync", "zero-" + std::to_string(fields.number(stage, 2)), stage);
  for (const auto& [name, what] :
       {std::pair{"offload_optimizer_device", "states"}, {"offload_param_device", "parameters"}}) {
    const std::string device = fields.text(at + name).value_or("none");
    if (device == "cpu" && what == std::string("states"))
      fields.set("offload_optimizer", "true", at + name);
    else if (device != "none")
      fields.unmapped(at + name, std::string(what) + " outside the GPU have no setting");
  }
  const std::string own = at + "gradient_clipping";
  const std::string clip = fields.has(own) || program_clip.empty() ? own : program_clip;
  fields.set("clip_grad_norm", fields.positive(clip, "1.0") ? "true" : "false", clip);
}

int64_t accelerate_node(const LaunchFields& fields) {
  const auto it = fields.arguments().find("num_machines");
  if (it == fields.arguments().end()) return 0;
  const auto machines = positive_number(it->second);
  return machines ? fields.gpus() / *machines : 0;
}

std::vector<std::string> accelerate_no_effect() {
  return {std::begin(kAccelerateWithoutEffect), std::end(kAccelerateWithoutEffect)};
}

}  // namespace shardscape
