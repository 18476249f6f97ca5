// axolotl 067b021 (2026-07-24): src/axolotl/utils/schemas/*.py.
#include "launch/launch_parts.h"
#include "launch/model_overrides.h"
#include "launch/trainer/accelerate_settings.h"
#include "launch/trainer/trainer_files.h"
#include "launch/trainer/trainer_launch.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr const char* kAxolotlWithoutEffect[] = {"model_type",
                                                 "is_*_derived_model",
                                                 "strict",
                                                 "hub_model_id",
                                                 "special_tokens*",
                                                 "eot_tokens*",
                                                 "chat_template*",
                                                 "test_datasets*",
                                                 "pretraining_dataset*",
                                                 "datasets*",
                                                 "dataset_*",
                                                 "num_epochs",
                                                 "saves_per_epoch",
                                                 "evals_per_epoch",
                                                 "val_set_size",
                                                 "wandb_*",
                                                 "mlflow_*",
                                                 "comet_*",
                                                 "trackio_*",
                                                 "swanlab_*",
                                                 "train_on_inputs",
                                                 "pad_to_sequence_len",
                                                 "shuffle_merged_datasets",
                                                 "lora_alpha",
                                                 "lora_model_dir",
                                                 "lora_on_cpu",
                                                 "peft_*",
                                                 "save_first_step",
                                                 "reinit_weights",
                                                 "low_cpu_mem_usage",
                                                 "experimental_skip_move_to_device",
                                                 "early_stopping_patience",
                                                 "eval_sample_packing",
                                                 "eval_batch_size",
                                                 "eval_sequence_len",
                                                 "ddp",
                                                 "ddp_timeout",
                                                 "rl",
                                                 "roles_to_train",
                                                 "train_on_eos",
                                                 "loraplus_*",
                                                 "revision_of_model",
                                                 "base_model_config",
                                                 "fsdp_config.*",
                                                 "auto_resume_from_checkpoints",
                                                 "xformers_attention",
                                                 "sdp_attention",
                                                 "flash_attention",
                                                 "s2_attention",
                                                 "fsdp_final_state_dict_type",
                                                 "lr_groups",
                                                 "cosine_*",
                                                 "noisy_embedding_alpha",
                                                 "neftune_*",
                                                 "load_best_model_at_end",
                                                 "loss_watchdog_*",
                                                 "gc_steps",
                                                 "use_tensorboard",
                                                 "plugins"};

// Settings that change the step, though no setting of a design says so.
constexpr std::pair<const char*, const char*> kChanges[] = {
    {"unfrozen_parameters", "only the named parameters are trained, for which there is no setting"}};

// sequence_parallel_degree is the older name of context_parallel_size (src/axolotl/utils/schemas/config.py).
TrainerDegrees degrees(const LaunchArguments& given) {
  const bool older = given.contains("sequence_parallel_degree") && !given.contains("context_parallel_size");
  return {"tensor_parallel_size", older ? "sequence_parallel_degree" : "context_parallel_size",
          "dp_replicate_size", "dp_shard_size", "expert_parallel_size"};
}

class AxolotlReader {
 public:
  explicit AxolotlReader(LaunchFields& fields) : f_(fields) {}

  void run() {
    const bool deepspeed = f_.has("deepspeed"), fsdp = sharded();
    (void)f_.text("deepspeed");
    TrainerNames names{"axolotl"};
    names.microbatch = "micro_batch_size";
    names.microbatch_default = 1;
    names.optimizer = "optimizer";
    names.pure_bf16 = true;
    take_accelerate_names(f_, names);
    TrainerSettings settings(f_, names);
    settings.degrees(degrees(f_.arguments()));
    context();
    settings.batch();
    f_.set("seq", f_.number("sequence_len", 512), "sequence_len");
    settings.sync(fsdp, deepspeed, accelerate_node(f_));
    read_accelerate_fp8(f_);
    settings.recompute();
    settings.optimizer();
    settings.kernels();
    packing();
    adapters();
    kernels();
    if (f_.on("activation_offloading"))
      f_.unmapped("activation_offloading", "the saved inputs of layers are on the host");
  }

 private:
  // "fsdp: [full_shard, auto_wrap]", or a section fsdp_config.
  bool sharded() {
    (void)f_.text("fsdp");
    if (f_.has("fsdp")) return true;
    for (const auto& [name, value] : f_.arguments())
      if (name.starts_with("fsdp_config.")) return true;
    return false;
  }

  // src/axolotl/utils/schemas/config.py:1119
  void context() {
    const std::string name = "ring_attn_func";
    if (f_.design().parallel.cp == 1) return f_.ignore(name, "the context parallel size is 1");
    const std::string usual = f_.text("sample_packing").value_or("false") == "true" ? "varlen_llama3"
                                                                                    : "batch_ring",
                      kind = f_.text(name).value_or(usual);
    const char* const mode = kind == "varlen_llama3" ? "all-gather"
                             : kind == "batch_ring"  ? "ring"
                                                     : "zigzag";
    f_.derive("context", mode, name,
              kind +
                  ": with sample packing varlen_llama3, which gathers keys and values, "
                  "otherwise batch_ring",
              "src/axolotl/utils/schemas/config.py:1119");
    if (kind == "batch_stripe")
      f_.unmapped(name, "stripes of single tokens have no setting; zigzag is as even");
  }

  void packing() {
    if (f_.on("sample_packing"))
      f_.unmapped("sample_packing",
                  "attention reads single documents, whose mean length only the data has: set packed_length");
  }

  void adapters() {
    const std::string adapter = f_.text("adapter").value_or("");
    const bool four = f_.on("load_in_4bit"), eight = f_.on("load_in_8bit");
    if (adapter.empty()) {
      for (const char* pattern : {"lora_*", "load_in_4bit", "load_in_8bit"})
        f_.ignore(pattern, "no adapter is trained");
      return;
    }
    if (adapter != "lora" && adapter != "qlora")
      return f_.unmapped("adapter", "\"" + adapter + "\" is not lora or qlora");
    AdapterNames names{"lora_r", "lora_target_modules", "lora_dropout"};
    names.modules_default = f_.on("lora_target_linear") ? "all" : "q v";
    read_adapters(f_, names);
    if (four) f_.set_effective("frozen_dtype", "nf4-double", "load_in_4bit");
    if (eight) f_.unmapped("load_in_8bit", "frozen weights in 8 bits have no setting");
  }

  void kernels() {
    for (const auto& [name, value] : f_.arguments())
      if ((name.starts_with("liger_") || name.starts_with("lora_mlp_kernel") || name == "use_kernels") &&
          value == "true")
        f_.unmapped(name, "fused kernels of this kind have no profile");
    (void)f_.text("use_kernels");
    if (f_.text("plugins").value_or("").find("CutCrossEntropy") != std::string::npos)
      f_.unmapped("plugins", "the fused loss of Cut Cross Entropy never holds the logits; no profile has it");
    if (f_.has("experts_implementation"))
      f_.ignore("experts_implementation", "experts run as grouped GEMMs in a design");
  }

  LaunchFields& f_;
};

}  // namespace

bool is_axolotl_yaml(std::string_view text) {
  if (!has_yaml_key(text, "base_model")) return false;
  for (const char* key : {"micro_batch_size", "sequence_len", "datasets", "adapter"})
    if (has_yaml_key(text, key)) return true;
  return false;
}

void read_axolotl_yaml(const LaunchRequest& request, LaunchImport& out) {
  if (auto document = read_trainer_yaml(request, out)) read_axolotl(request, std::move(*document), out);
}

void read_axolotl(const LaunchRequest& request, LaunchDocument document, LaunchImport& out) {
  const auto assumed = add_deepspeed_file(request, "deepspeed", document, out);
  const LaunchArguments& given = document.arguments;
  const auto named_at = given.find("base_model");
  const std::string named = named_at == given.end() ? "" : named_at->second;
  const auto model = find_model(request, named, "base_model");
  if (const auto* problem = std::get_if<Problem>(&model)) out.problems.push_back(*problem);
  const auto stated = stated_degrees(given, degrees(given));
  if (!set_launch_gpus(request, stated, "product of the degrees", out) || !out.problems.empty()) return;
  LaunchFields fields(given, *out.gpus, "axolotl");
  take_model(fields, request, std::get<NamedModel>(model), named, "base_model");
  override_model(fields, "overrides_of_model_config.");
  AxolotlReader(fields).run();
  std::vector<std::string> names = trainer_no_effect("");
  const std::vector<std::string> launcher = accelerate_no_effect();
  names.insert(names.end(), std::begin(kAxolotlWithoutEffect), std::end(kAxolotlWithoutEffect));
  names.insert(names.end(), launcher.begin(), launcher.end());
  finish_launch(fields.finish({"axolotl 067b021", patterns(names), kChanges}), document.lines, out);
  mark_assumed(assumed, out);
}

}  // namespace shardscape
