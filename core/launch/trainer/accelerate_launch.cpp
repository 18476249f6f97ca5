// accelerate 16cb6eb (2026-07-24): src/accelerate/commands/config/config_args.py and utils/dataclasses.py.
#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/trainer/accelerate_settings.h"
#include "launch/trainer/trainer_files.h"
#include "launch/trainer/trainer_launch.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

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
    settings.degrees(accelerate_degrees());
    read_accelerate_sequence(f_);
    batch();
    settings.sync(false, false, gpus_per_node);
    read_accelerate_fp8(f_);
    f_.assume("profile", "transformers-flash", "code of the model",
              "the YAML does not name it: Hugging Face transformers with flash attention");
  }

 private:
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
  finish_launch(fields.finish({"accelerate 16cb6eb", patterns(accelerate_no_effect())}), document->lines,
                out);
}

}  // namespace shardscape
