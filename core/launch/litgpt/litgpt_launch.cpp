#include "launch/litgpt/litgpt_launch.h"

#include <algorithm>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"data*",
                                     "eval.*",
                                     "hparams*",
                                     "initial_checkpoint_dir",
                                     "logger_name",
                                     "model_config",
                                     "num_nodes",
                                     "optimizer.init_args.*",
                                     "out_dir",
                                     "resume",
                                     "seed",
                                     "tokenizer_dir",
                                     "train.epochs",
                                     "train.log_interval",
                                     "train.lr_warmup*",
                                     "train.max_steps",
                                     "train.max_tokens",
                                     "train.min_lr",
                                     "train.save_interval"};

bool read_model(LaunchFields& f, const LaunchRequest& request, LaunchImport& out) {
  const std::string name = f.text("model_name").value_or("");
  if (plain_name(name) != "tinyllama11b") {
    if (!name.empty() && set_preset(f, preset_id_of_name(name), "model_name")) return true;
    return set_requested_model(f, request, "model_name \"" + name + "\" is no model with known sizes", out);
  }
  set_preset(f, "llama2-7b", "model_name");  // litgpt/config.py, TinyLlama
  f.design().model.preset.clear();
  f.design().name = "TinyLlama 1.1B";
  for (const auto& [knob, value] : {std::pair{"layers", "22"},
                                    {"hidden", "2048"},
                                    {"heads", "32"},
                                    {"kv_heads", "4"},
                                    {"head_dim", "64"},
                                    {"ffn", "5632"},
                                    {"vocab", "32000"}})
    f.set(knob, value, "model_name");
  return true;
}

// litgpt pads the vocabulary to a multiple of 512 (litgpt/config.py, padding_multiple).
constexpr int64_t kVocabularyMultiple = 512;

void read_run(LaunchFields& f, int64_t nodes) {
  const int64_t gpus = f.gpus(), micro = std::max<int64_t>(f.number("train.micro_batch_size", 4), 1),
                global = f.number("train.global_batch_size", 512);
  f.derive("dp", std::to_string(gpus), "gpus", "devices x num_nodes", "litgpt/pretrain.py");
  f.derive("sync", "fsdp1", "strategy", "FSDPStrategy with HYBRID_SHARD on several devices",
           "litgpt/pretrain.py");
  if (nodes > 1 && gpus % nodes == 0)
    f.derive("dp_shard", std::to_string(gpus / nodes), "strategy of nodes",
             "states are sharded inside a node", "litgpt/pretrain.py");
  f.set("microbatch", micro, "train.micro_batch_size");
  const int64_t steps = std::max<int64_t>(global / gpus / micro,
                                          1);  // litgpt/args.py, gradient_accumulation_iters
  const int64_t batch = capped_product({steps, micro, gpus});
  f.set("batch", batch, "train.global_batch_size");
  if (batch != global)
    f.unmapped("train.global_batch_size", "the devices run " + std::to_string(steps) + " microbatches each");
  f.set("seq", f.number("train.max_seq_length", 2048), "train.max_seq_length");
  f.derive("vocab_multiple", std::to_string(kVocabularyMultiple), "padding_multiple", "", "litgpt/config.py");
  const std::string precision = f.text("precision").value_or("bf16-true");
  if (precision != "bf16-mixed" && precision != "bf16-true" && precision != "32-true" &&
      precision != "16-mixed")
    f.misread("precision", "\"" + precision + "\" is not bf16-mixed, bf16-true, 16-mixed or 32-true");
  const std::string type = precision.starts_with("bf16") ? "bf16"
                           : precision.starts_with("16") ? "fp16"
                                                         : "fp32";
  f.set("dtype", type, "precision");
  f.set("grad_dtype", type, "precision");
  if (precision == "bf16-true")
    f.unmapped("precision", "the design has float32 parameters between their uses");
  f.set("clip_grad_norm", f.positive("train.max_norm", "0") ? "true" : "false", "train.max_norm");
  if (f.on("train.tie_embeddings")) f.set("tied_embeddings", "true", "train.tie_embeddings");
  const std::string optimizer = f.text("optimizer.class_path")
                                    .value_or(f.text("optimizer").value_or("AdamW"));
  if (optimizer.ends_with("AdamW") || optimizer.ends_with("Adam"))
    f.set("optimizer", "adam", "optimizer.class_path");
  else
    f.unmapped("optimizer.class_path", "\"" + optimizer + "\" has no setting");
  f.derive("profile", "litgpt", "kernels", "those of litgpt", "litgpt/model.py");
  (void)f.text("devices");
}

}  // namespace

bool is_litgpt_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  return has("micro_batch_size:") && has("global_batch_size:") && has("max_seq_length:") &&
         has("precision:") && has("tokenizer_dir:");
}

void read_litgpt_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Yaml, request.text, request, out);
  if (!document) return;
  LaunchFields sizes(document->arguments, 0, "litgpt");
  const std::string devices = sizes.text("devices").value_or("auto");
  const int64_t nodes = std::clamp<int64_t>(sizes.number("num_nodes", 1), 1, 1'000'000),
                each = devices == "auto" ? 0 : std::clamp<int64_t>(sizes.number("devices", 0), 0, 1'000'000);
  if (!set_launch_gpus(request, each * nodes, "devices x num_nodes", out)) return;
  LaunchFields fields(document->arguments, *out.gpus, "litgpt 26857050");
  if (!read_model(fields, request, out)) return;
  read_run(fields, nodes);
  finish_launch(fields.finish({"litgpt 26857050", kNoEffect}), document->lines, out);
}

}  // namespace shardscape
