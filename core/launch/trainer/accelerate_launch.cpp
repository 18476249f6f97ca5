// accelerate 16cb6eb (2026-07-24): src/accelerate/commands/config/config_args.py and utils/dataclasses.py.
#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/trainer/trainer_files.h"
#include "launch/trainer/trainer_launch.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"compute_environment",
                                     "debug",
                                     "enable_cpu_affinity",
                                     "machine_rank",
                                     "main_process_ip",
                                     "main_process_port",
                                     "main_training_function",
                                     "rdzv_backend",
                                     "same_network",
                                     "tpu_env",
                                     "tpu_use_cluster",
                                     "tpu_use_sudo",
                                     "tpu_name",
                                     "tpu_zone",
                                     "use_cpu",
                                     "commands",
                                     "command_file",
                                     "gpu_ids",
                                     "num_machines",
                                     "num_processes",
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

class AccelerateReader {
 public:
  AccelerateReader(LaunchFields& fields, bool deepspeed) : f_(fields), deepspeed_(deepspeed) {}

  void run(int64_t gpus_per_node) {
    TrainerNames names{"accelerate"};
    names.clip = "";
    names.bf16 = "mixed_precision";
    names.fp16 = "";
    names.accumulation = "gradient_accumulation_steps";
    TrainerSettings settings(f_, names);
    settings.degrees({"parallelism_config.parallelism_config_tp_size",
                      "parallelism_config.parallelism_config_cp_size",
                      "parallelism_config.parallelism_config_dp_replicate_size",
                      "parallelism_config.parallelism_config_dp_shard_size", ""});
    sequence_parallel();
    batch();
    if (deepspeed_)
      deepspeed(settings.precision());
    else
      settings.sync(f_.text("distributed_type").value_or("NO") == "FSDP", false, gpus_per_node);
    quantized();
    f_.assume("profile", "transformers-flash", "code of the model",
              "the YAML does not name it: Hugging Face transformers with flash attention");
  }

 private:
  // DeepSpeed's Ulysses (ALST) under accelerate; a design has one axis for the sequence.
  void sequence_parallel() {
    const std::string name = "parallelism_config.parallelism_config_sp_size";
    if (const int64_t size = f_.number(name, 1); size > 1) {
      f_.set("cp", size, name);
      f_.set("context", "ulysses", name);
      if (f_.gpus() % size == 0) f_.set("dp", f_.gpus() / size, "gpus");
    } else if (f_.design().parallel.cp > 1) {
      f_.assume("context", "all-gather", "parallelism_config.parallelism_config_cp_comm_strategy",
                "default of accelerate: keys and values are gathered");
    }
  }

  void batch() {
    f_.assume("microbatch", "1", "batch size of the script",
              "the YAML does not say it: one sequence per GPU and microbatch");
    const std::string name = deepspeed_ ? "deepspeed_config.gradient_accumulation_steps"
                                        : "gradient_accumulation_steps";
    const int64_t steps = std::max<int64_t>(1, f_.number(name, 1));
    const std::string all = std::to_string(capped_product({steps, f_.design().parallel.dp}));
    if (f_.has(name))
      f_.set("batch", all, name);
    else
      f_.assume("batch", all, "batch size of the script", "one sequence per GPU and microbatch");
  }

  void quantized() {
    if (f_.text("mixed_precision").value_or("no") != "fp8") return;
    f_.set("compute", "fp8", "mixed_precision");
    const std::string backend = f_.text("fp8_config.backend").value_or("TE");
    if (backend == "MSAMP" || backend == "MS-AMP")
      f_.unmapped("fp8_config.backend", "MS-AMP also keeps optimizer states and gradients in 8 bits");
  }

  void deepspeed(const std::string& dtype) {
    const std::string at = "deepspeed_config.";
    const std::string stage = at + "zero_stage";
    f_.conclude("grad_dtype", dtype, "gradient type", "the type of the parameters",
                "deepspeed/runtime/engine.py:1492");
    f_.set("sync", "zero-" + std::to_string(f_.number(stage, 2)), stage);
    for (const auto& [name, what] :
         {std::pair{"offload_optimizer_device", "states"}, {"offload_param_device", "parameters"}}) {
      const std::string device = f_.text(at + name).value_or("none");
      if (device == "cpu" && what == std::string("states"))
        f_.set("offload_optimizer", "true", at + name);
      else if (device != "none")
        f_.unmapped(at + name, std::string(what) + " outside the GPU have no setting");
    }
    const std::string clip = at + "gradient_clipping";
    f_.set("clip_grad_norm", f_.positive(clip, "1.0") ? "true" : "false", clip);
  }

  LaunchFields& f_;
  bool deepspeed_;
};

// GPUs of the file: all processes; "NO" is a single one.
std::optional<int64_t> processes(const LaunchArguments& arguments) {
  if (const auto it = arguments.find("num_processes"); it != arguments.end())
    return positive_number(it->second);
  const auto kind = arguments.find("distributed_type");
  const bool single = kind != arguments.end() && (kind->second == "NO" || kind->second == "false");
  return single ? std::optional<int64_t>(1) : std::nullopt;
}

}  // namespace

bool is_accelerate_config(std::string_view text) {
  return has_yaml_key(text, "distributed_type") && !has_yaml_key(text, "base_model") &&
         !has_yaml_key(text, "model_name_or_path");
}

void read_accelerate_config(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_trainer_yaml(request, out);
  if (!document) return;
  const LaunchArguments& given = document->arguments;
  const auto kind = given.find("distributed_type");
  const bool deepspeed = kind != given.end() && kind->second == "DEEPSPEED";
  if (kind != given.end() && kind->second == "MEGATRON_LM")
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where + ", distributed_type",
                              "Megatron-LM under accelerate is not read", "NO, MULTI_GPU, FSDP or DEEPSPEED");
  const auto model = find_model(request, "", "");
  if (const auto* problem = std::get_if<Problem>(&model)) out.problems.push_back(*problem);
  if (!set_launch_gpus(request, processes(given),
                       given.contains("num_processes") ? "num_processes" : "distributed_type", out) ||
      !out.problems.empty())
    return;
  const auto machines = given.contains("num_machines") ? positive_number(given.at("num_machines")) : 1;
  LaunchFields fields(given, *out.gpus, "accelerate");
  const auto& named = std::get<NamedModel>(model);
  take_model(fields, request, named, "", "");
  if (named.seq > 0)
    fields.assume("seq", std::to_string(named.seq), "sequence length",
                  "the YAML does not say it: the usual length of the model");
  AccelerateReader(fields, deepspeed).run(machines ? *out.gpus / *machines : 0);
  finish_launch(fields.finish({"accelerate 16cb6eb", kNoEffect}), document->lines, out);
}

}  // namespace shardscape
