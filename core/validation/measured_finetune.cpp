// Memory of fine-tuning: tables of torchtune and litgpt.
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr double kGB = 1e9;

// litgpt @26857050, finetune/lora.py: rank 8 on queries and values, dropout 0.05. LoRAQKVLinear drops its
// input once for all of its adapters. The lines of A for queries and for values are stacked; they count once
// here. bnb_quantize replaces every linear layer, the head included; the head stays in 16 bits here.
void litgpt(RowMapper& m) {
  m.bytes_from("memory_gb", kGB);
  const std::string model = m.text("model"), method = m.text("method");
  if (method != "LoRA") return m.refuse(method + " trains prefixes, norms and biases, not low-rank matrices");
  if (m.integer("gpus", 1) > 1)
    return m.refuse(
        "FSDP1 of litgpt has trained and frozen weights in one flat parameter, so frozen weights have "
        "gradients");
  if (model == "StableLM Alpha 3 B") {
    // GPT-NeoX: attention and MLP read the same input, and queries and keys are rotated; GEMMs, norms and
    // biases are those of GPT-3's blocks (litgpt/config.py, stablelm-base-alpha-3b).
    if (!m.preset("gpt3-6.7b")) return;
    m.out().design.model.architecture = "gpt; rope";
    m.set("positions", int64_t{0});
    m.set("layers", 16);
    m.set("vocab", 50688);
    m.set("tied_embeddings", "false");
  } else if (model == "Llama 2 13 B") {
    m.preset("llama2-13b");
  } else {
    return m.refuse("the row's model is not one of StableLM Alpha 3 B and Llama 2 13 B: " + model);
  }
  m.set("vocab_multiple", 1);
  m.set("lora_rank", 8);
  m.set("lora_modules", "q,v");
  m.set("lora_dropout", "true");
  m.set("lora_packed", "true");
  m.set("master_weights", "false");  // bf16-true
  m.set("grad_dtype", "bf16");
  m.set("moment_dtype", "bf16");
  m.set("profile", "litgpt");
  m.set_from("seq", "longest_sequence");
  m.set("accelerator", "a100-sxm-40gb");
  const std::string type = m.text("quantization", "None");
  if (type == "bnb.nf4") m.set("frozen_dtype", "nf4");
  if (type == "bnb.nf4-dq") m.set("frozen_dtype", "nf4-double");
}

// torchtune @bd2a0fc7c, recipes/configs/llama3_1. Its loss multiplies hidden states with the head in chunks
// of the sequence (LinearCrossEntropyLoss), so that the logits of a microbatch never exist as a whole.
void torchtune(RowMapper& m) {
  const std::string method = m.text("method");
  m.bytes_from("memory_gib", kGiB);
  if (method.find("offload") != std::string::npos) return m.refuse("FSDP2 offloads parameters to the host");
  if (method.starts_with("full"))
    return m.refuse("the optimizer steps inside the backward, which frees every gradient at once");
  m.refuse(
      "torchtune computes the loss in chunks of the sequence; a design holds the logits of a microbatch");
}

}  // namespace

void map_finetune(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    const bool from_litgpt = m.has("longest_sequence");
    const int64_t microbatch = m.integer("micro_batch", 1);
    m.out().name = m.out().design.name = m.text("model") + " " + m.text("method") + " " + m.text("gpu") +
                                         " batch " + std::to_string(microbatch) +
                                         (m.has("quantization") ? " " + m.text("quantization") : "");
    m.out().no_seconds = "iterations have sequences of varying length";
    if (from_litgpt)
      litgpt(m);
    else
      torchtune(m);
    if (m.flag("oom", false)) m.refuse("the run ran out of memory");
    m.set("microbatch", microbatch);
    m.set("batch", microbatch);
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
