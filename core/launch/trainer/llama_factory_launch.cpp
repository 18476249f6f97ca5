// LLaMA-Factory ff6d4d1 (2026-08-18): src/llamafactory/hparams/*.py.
#include "launch/launch_parts.h"
#include "launch/trainer/accelerate_settings.h"
#include "launch/trainer/trainer_files.h"
#include "launch/trainer/trainer_launch.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr const char* kDataNames[] = {"lora_alpha",
                                      "resize_vocab",
                                      "mask_history",
                                      "train_on_prompt",
                                      "streaming",
                                      "buffer_size",
                                      "mix_strategy",
                                      "media_dir",
                                      "image_*",
                                      "video_*",
                                      "interleave_probs",
                                      "tokenized_path",
                                      "default_system",
                                      "enable_thinking",
                                      "pref_*",
                                      "kto_*",
                                      "dpo_label_smoothing",
                                      "create_new_adapter",
                                      "adapter_folder",
                                      "loraplus_*",
                                      "use_rslora",
                                      "additional_target_init",
                                      "compute_accuracy",
                                      "predict_with_generate",
                                      "max_new_tokens",
                                      "top_p",
                                      "temperature",
                                      "upcast_layernorm",
                                      "rope_scaling",
                                      "low_cpu_mem_usage",
                                      "infer_*",
                                      "use_cache",
                                      "quantization_*",
                                      "double_quantization",
                                      "disable_shuffling",
                                      "use_swanlab",
                                      "swanlab_*",
                                      "print_param_status",
                                      "ray_*",
                                      "resources_per_worker",
                                      "placement_strategy",
                                      "neftune_noise_alpha",
                                      "early_stopping_steps"};

class LlamaFactoryReader {
 public:
  explicit LlamaFactoryReader(LaunchFields& fields) : f_(fields) {}

  void run() {
    const bool deepspeed = f_.has("deepspeed");
    const bool fsdp = f_.has("fsdp");
    (void)f_.text("fsdp");
    (void)f_.text("deepspeed");
    TrainerNames names{"LLaMA-Factory"};
    names.attention = "flash_attn";
    names.checkpointing = "";
    take_accelerate_names(f_, names);
    TrainerSettings settings(f_, names);
    settings.degrees({deepspeed ? "deepspeed.tensor_parallel.autotp_size" : "",
                      deepspeed ? "deepspeed.sequence_parallel_size" : "", "", "", ""});
    settings.batch();
    f_.set("seq", f_.number("cutoff_len", 2048), "cutoff_len");
    settings.sync(fsdp, deepspeed, accelerate_node(f_));
    read_accelerate_fp8(f_);
    recompute();
    settings.optimizer();
    settings.kernels();
    if (f_.on("enable_liger_kernel"))
      f_.unmapped("enable_liger_kernel", "the fused kernels of Liger, its loss among them, have no profile");
    packing();
    method();
  }

 private:
  // src/llamafactory/hparams/model_args.py:145
  void recompute() {
    if (f_.on("disable_gradient_checkpointing"))
      f_.set("recompute", "none", "disable_gradient_checkpointing");
    else
      f_.set("recompute", "full", "disable_gradient_checkpointing");
    if (f_.on("use_unsloth")) f_.unmapped("use_unsloth", "the kernels of Unsloth have no profile");
  }

  void packing() {
    const bool separate = f_.on("neat_packing");
    if (f_.on("packing") && !separate) return;
    if (separate)
      f_.unmapped("neat_packing",
                  "attention reads single documents, whose mean length only the data has: set packed_length");
  }

  void method() {
    const std::string stage = f_.text("stage").value_or("sft"),
                      kind = f_.text("finetuning_type").value_or("lora");
    if (stage != "sft" && stage != "pt")
      f_.unmapped("stage", "\"" + stage + "\" runs more than one model or answer in a step");
    if (kind == "lora") {
      if (f_.on("use_dora")) f_.unmapped("use_dora", "DoRA also trains the lengths of the columns");
      read_adapters(f_, {});
      quantization();
    } else if (kind != "full") {
      f_.unmapped("finetuning_type",
                  "\"" + kind + "\" trains a part of the layers, for which there is no setting");
    }
    if (kind != "lora")
      for (const char* pattern : {"lora_*", "quantization_*", "double_quantization", "use_dora"})
        f_.ignore(pattern, "read only with finetuning_type lora");
    for (const char* name :
         {"use_galore", "use_apollo", "use_badam", "use_adam_mini", "use_llama_pro", "use_muon"})
      if (f_.on(name)) {
        if (name == std::string("use_muon"))
          f_.set("optimizer", "muon", name);
        else
          f_.unmapped(name, "this optimizer has no setting");
      }
  }

  // src/llamafactory/hparams/model_args.py:283
  void quantization() {
    const std::string name = "quantization_bit";
    const int64_t bits = f_.number(name, 0);
    if (bits == 0) return;
    const std::string type = f_.text("quantization_type").value_or("nf4");
    const bool twice = f_.text("double_quantization").value_or("true") == "true";
    if (bits != 4 || type != "nf4")
      return f_.unmapped(name,
                         std::to_string(bits) + " bits (" + type + ") of frozen weights have no setting");
    f_.set_effective("frozen_dtype", twice ? "nf4-double" : "nf4", name);
  }

  LaunchFields& f_;
};

}  // namespace

bool is_llama_factory_yaml(std::string_view text) {
  if (!has_yaml_key(text, "model_name_or_path")) return false;
  for (const char* key : {"finetuning_type", "template", "stage", "dataset", "per_device_train_batch_size"})
    if (has_yaml_key(text, key)) return true;
  return false;
}

void read_llama_factory_yaml(const LaunchRequest& request, LaunchImport& out) {
  if (auto document = read_trainer_yaml(request, out)) read_llama_factory(request, std::move(*document), out);
}

void read_llama_factory(const LaunchRequest& request, LaunchDocument document, LaunchImport& out) {
  const auto assumed = add_deepspeed_file(request, "deepspeed", document, out);
  const auto named_at = document.arguments.find("model_name_or_path");
  const std::string named = named_at == document.arguments.end() ? "" : named_at->second;
  const auto model = find_model(request, named, "model_name_or_path");
  if (const auto* problem = std::get_if<Problem>(&model)) out.problems.push_back(*problem);
  const auto processes = document.arguments.find("num_processes");
  const auto stated = processes == document.arguments.end() ? std::nullopt
                                                            : positive_number(processes->second);
  if (!set_launch_gpus(request, stated, "num_processes", out) || !out.problems.empty()) return;
  LaunchFields fields(document.arguments, *out.gpus, "LLaMA-Factory");
  take_model(fields, request, std::get<NamedModel>(model), named, "model_name_or_path");
  LlamaFactoryReader(fields).run();
  std::vector<std::string> names = trainer_no_effect("");
  names.insert(names.end(), std::begin(kDataNames), std::end(kDataNames));
  const std::vector<std::string> launcher = accelerate_no_effect();
  names.insert(names.end(), launcher.begin(), launcher.end());
  finish_launch(fields.finish({"LLaMA-Factory ff6d4d1", patterns(names)}), document.lines, out);
  mark_assumed(assumed, out);
}

}  // namespace shardscape
