#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/real_text.h"
#include "launch/deepspeed/deepspeed_config.h"
#include "launch/deepspeed/megatron_deepspeed.h"

namespace shardscape {
namespace {

constexpr int64_t kGpt2Vocabulary = 50257;
constexpr const char* kSource = "megatron/arguments.py";

constexpr const char* kArgumentsWithoutEffect[] = {"--adam-*",
                                                   "--apply-*",
                                                   "--abort-on-unmet-fused-kernel-constraints",
                                                   "--attention-softmax-in-fp32",
                                                   "--codecarbon-dir",
                                                   "--create-moe-param-group",
                                                   "--data-*",
                                                   "--dataloader-type",
                                                   "--deepspeed",
                                                   "--deepspeed-activation-checkpointing",
                                                   "--deepspeed_config",
                                                   "--distributed-*",
                                                   "--eval-*",
                                                   "--exit-*",
                                                   "--finetune",
                                                   "--hysteresis",
                                                   "--init-method-std",
                                                   "--kill-switch-*",
                                                   "--load",
                                                   "--local_rank",
                                                   "--log-*",
                                                   "--loss-scale",
                                                   "--loss-scale-window",
                                                   "--lr",
                                                   "--lr-*",
                                                   "--merge-file",
                                                   "--min-lr",
                                                   "--min-loss-scale",
                                                   "--moe-eval-capacity-factor",
                                                   "--moe-loss-coeff",
                                                   "--no-query-key-layer-scaling",
                                                   "--num-workers",
                                                   "--override-opt_param-scheduler",
                                                   "--override-lr-scheduler",
                                                   "--repeated-dataloader",
                                                   "--rotary-position-embeddings-theta",
                                                   "--save",
                                                   "--save-*",
                                                   "--seed",
                                                   "--split",
                                                   "--tensorboard-*",
                                                   "--tokenizer-*",
                                                   "--train-*",
                                                   "--valid-*",
                                                   "--vocab-file",
                                                   "--wandb-*",
                                                   "--weight-decay",
                                                   "--universal-checkpoint",
                                                   "--use-checkpoint-*",
                                                   "--sync-tp-duplicated-parameters",
                                                   "--train-weighted-split-paths-path",
                                                   "--no-masked-softmax-fusion",
                                                   "--no-bias-gelu-fusion",
                                                   "--no-bias-dropout-fusion",
                                                   "--no-gradient-accumulation-fusion",
                                                   "--no-async-tensor-model-parallel-allreduce",
                                                   "--layernorm-epsilon",
                                                   "--use-pin-memory",
                                                   "--initial-loss-scale",
                                                   "--DDP-impl",
                                                   "--no-contiguous-buffers-in-local-ddp",
                                                   "--contigious-checkpointing",
                                                   "--no-load-*",
                                                   "--no-save-*"};

class ArgumentsReader {
 public:
  ArgumentsReader(LaunchFields& fields, bool has_json, const ModelSpec* named)
      : f_(fields), has_json_(has_json), named_(named) {}

  void run() {
    sizes();
    blocks();
    degrees();
    batch();
    synchronization();
    recompute();
    kernels();
  }

 private:
  void sizes() {
    const int64_t hidden = f_.number("--hidden-size", 0), heads = f_.number("--num-attention-heads", 1);
    f_.set("layers", f_.number("--num-layers", 0), "--num-layers");
    f_.set("hidden", hidden, "--hidden-size");
    f_.set("heads", heads, "--num-attention-heads");
    f_.derive("kv_heads", std::to_string(f_.number("--num-key-value-heads", heads)), "--num-key-value-heads",
              "as many as heads", std::string(kSource) + ":444");
    f_.derive("head_dim", std::to_string(f_.number("--kv-channels", hidden / std::max<int64_t>(heads, 1))),
              "--kv-channels", "hidden size / heads", std::string(kSource) + ":298");
    constexpr int64_t kMultiple = 64;
    const bool gated = f_.has("--swiglu");
    ffn_ = f_.number("--ffn-hidden-size", gated ? 8 * hidden / 3 / kMultiple * kMultiple : 4 * hidden);
    f_.derive("ffn", std::to_string(ffn_), "--ffn-hidden-size",
              "4 x hidden size; with --swiglu 8/3 x hidden size, rounded down to a multiple of 64",
              std::string(kSource) + ":287");
    f_.set("seq", f_.number("--seq-length", 0), "--seq-length");
    f_.set("tied_embeddings", f_.on("--untie-embeddings-and-output-weights") ? "false" : "true",
           "--untie-embeddings-and-output-weights");
    vocabulary();
  }

  void vocabulary() {
    const std::string padded = "--pad-vocab-size-to",
                      tokenizer = f_.text("--tokenizer-type").value_or("GPT2BPETokenizer");
    if (f_.has(padded)) {
      f_.set("vocab", f_.number(padded, 0), padded);
      f_.set("vocab_multiple", 1, padded);
      return;
    }
    const std::string given = "--vocab-size";
    if (!f_.has(given) && named_)
      f_.assume("vocab", std::to_string(named_->vocab), "--model",
                "the vocabulary of the model that --model names");
    else if (!f_.has(given) && tokenizer != "GPT2BPETokenizer")
      f_.unmapped("--tokenizer-type",
                  "only the " + tokenizer + " knows the vocabulary; --model NAME gives it");
    if (f_.has(given) || !named_) f_.set("vocab", f_.number(given, kGpt2Vocabulary), given);
    f_.set("vocab_multiple", f_.number("--make-vocab-size-divisible-by", 128),
           "--make-vocab-size-divisible-by");
  }

  void blocks() {
    const bool rotary = f_.on("--use-rotary-position-embeddings"), gated = f_.on("--swiglu"),
               unbiased = f_.on("--disable-bias-linear");
    const std::string positions = f_.text("--position-embedding-type").value_or("absolute"),
                      norm = f_.text("--normalization").value_or("layernorm");
    const bool alibi = positions == "alibi", rope = rotary || positions == "rotary";
    if (norm == "rmsnorm" && rope && gated && unbiased) {
      f_.set_architecture("llama", "--normalization");
    } else if (alibi && f_.on("--embed-layernorm") && !gated && !unbiased && norm == "layernorm") {
      f_.set_architecture("bloom", "--position-embedding-type");
    } else {
      if (norm == "rmsnorm")
        f_.unmapped("--normalization",
                    "RMSNorm is known only with rotary positions, SwiGLU and without biases");
      if (alibi) f_.unmapped("--position-embedding-type", "ALiBi is known only with --embed-layernorm");
      std::string options;
      for (const auto& [chosen, option] :
           {std::pair{rope, "rope"}, {gated, "swiglu"}, {unbiased, "unbiased"}})
        if (chosen) options += (options.empty() ? "; " : ", ") + std::string(option);
      f_.set_architecture("gpt" + options, "--normalization");
    }
    (void)f_.on("--embed-layernorm");
    if (!rope && !alibi) {
      f_.set("positions", f_.number("--max-position-embeddings", 0), "--max-position-embeddings");
    } else {
      f_.design().model.positions = 0;
      f_.ignore("--max-position-embeddings", "there is no table of learned positions");
    }
    const std::string percent = f_.text("--rotary-percent").value_or("1");
    if (parse_real(percent) != 1) f_.unmapped("--rotary-percent", "the rotation covers whole heads");
    experts();
  }

  // Experts in every second layer by default: kinds of layers that the architecture makes of its own.
  void experts() {
    std::string text = f_.text("--num-experts").value_or("1");
    const int64_t interval = f_.number("--expert-interval", 2), layers = f_.design().model.layers;
    if (text.find(' ') != std::string::npos) {
      f_.unmapped("--num-experts", "the numbers of experts of single layers have no setting");
      return;
    }
    const int64_t count = f_.number("--num-experts", 1);
    if (count <= 1) {
      for (const char* pattern : {"--moe-*", "--expert-interval", "--topk", "--create-moe-param-group"})
        f_.ignore(pattern, "the model has no experts");
      return;
    }
    if (interval < 1 || interval > layers || layers % interval != 0)
      return f_.unmapped("--expert-interval", "the layers with experts do not divide the layers");
    std::string& architecture = f_.design().model.architecture;
    architecture += (architecture.find(';') == std::string::npos ? "; " : ", ") +
                    std::string("moe = layer(feed_forward = moe)");
    const std::string dense = interval == 1   ? ""
                              : interval == 2 ? "layer, "
                                              : "layer*" + std::to_string(interval - 1) + ", ";
    f_.set("layer_pattern", "(" + dense + "moe)*" + std::to_string(layers / interval), "--expert-interval");
    f_.set("experts", count, "--num-experts");
    f_.set("experts_per_token", f_.number("--topk", 1), "--topk");
    f_.assume("expert_ffn", std::to_string(ffn_), "width of experts", "that of the other layers");
    f_.unmapped("--num-experts",
                "an expert is an MLP of two matrices with biases; in a design it has three (SwiGLU)");
    if (f_.text("--mlp-type").value_or("standard") != "standard")
      f_.unmapped("--mlp-type", "residual experts have no setting");
    if (!f_.on("--disable-moe-token-dropping"))
      f_.set("capacity_factor", f_.text("--moe-train-capacity-factor").value_or("1.0"),
             "--moe-train-capacity-factor");
    if (const int64_t least = f_.number("--moe-min-capacity", 4); least > 0)
      f_.ignore("--moe-min-capacity", "smaller than the capacity of a long sequence");
    f_.turn_on("pad_to_capacity", "--moe-pad-expert-input-to-capacity");
  }

  void degrees() {
    for (const auto& [knob, argument] : {std::pair{"tp", "--tensor-model-parallel-size"},
                                         {"pp", "--pipeline-model-parallel-size"},
                                         {"cp", "--ds-sequence-parallel-size"}})
      f_.set(knob, f_.number(argument, 1), argument);
    const ParallelSpec& p = f_.design().parallel;
    if (p.cp > 1) f_.set("context", "ulysses", "--ds-sequence-parallel-size");
    const int64_t inner = p.tp * p.pp * p.cp;
    if (inner < 1 || f_.gpus() % inner != 0)
      f_.unmapped("gpus", std::to_string(f_.gpus()) +
                              " GPUs are no multiple of tp x pp x cp = " + std::to_string(inner));
    else
      f_.derive("dp", std::to_string(f_.gpus() / inner), "gpus", "GPUs / (tp x pp x cp)",
                std::string(kSource) + ":108");
    if (f_.on("--sequence-parallel") && p.tp > 1) f_.set("sequence_parallel", "true", "--sequence-parallel");
    if (p.tp == 1) f_.ignore("--sequence-parallel", "off where the tensor parallel size is 1");
    if (f_.on("--ds-sequence-parallel-fpdt"))
      f_.unmapped("--ds-sequence-parallel-fpdt",
                  "attention in chunks of the sequence (FPDT), which leave the GPU, has no setting");
    for (const char* argument :
         {"--ds-sequence-parallel-fpdt-chunk-size", "--ds-sequence-parallel-fpdt-offloading"})
      (void)f_.text(argument);
    if (f_.design().model.experts > 0) {
      f_.set("ep", f_.number("--moe-expert-parallel-size", 1), "--moe-expert-parallel-size");
      f_.assume("etp", f_.on("--enable-expert-tensor-parallelism") ? "0" : "1",
                "--enable-expert-tensor-parallelism",
                "experts are not split over tensor-parallel ranks without it");
    }
    f_.set("schedule", f_.on("--enable-zbh1-pipeline") ? "zb-h1" : "1f1b", "--enable-zbh1-pipeline");
    if (f_.on("--enable-zbh1-exact-semantics"))
      f_.ignore("--enable-zbh1-exact-semantics", "the optimizer of a design waits for all stages");
    (void)f_.on("--no-pipeline-parallel");
    partition();
  }

  // 'type:transformer|embedding' counts the embedding and the head as layers. Without it, DeepSpeed splits
  // the layers evenly.
  void partition() {
    const std::string method = "--pp-partition-method";
    const auto given = f_.text(method);
    if (!given || f_.design().parallel.pp == 1) return;
    if (*given == "type:transformer|embedding") {
      f_.set("account_for_embedding_in_pipeline_split", "true", method);
      f_.set("account_for_loss_in_pipeline_split", "true", method);
    } else if (*given != "type:transformer" && *given != "uniform") {
      f_.unmapped(method, "\"" + *given + "\" is not type:transformer or type:transformer|embedding");
    }
  }

  void batch() {
    f_.set("microbatch", f_.number("--micro-batch-size", 1), "--micro-batch-size");
    const int64_t one_each = f_.design().workload.microbatch * f_.design().parallel.dp;
    f_.set("batch", f_.number("--global-batch-size", one_each), "--global-batch-size");
    const std::string ramp = "--rampup-batch-size";
    if (auto text = f_.text(ramp)) {
      std::erase(*text, '_');
      std::istringstream in(*text);
      std::string start, increment, samples;
      if (!(in >> start >> increment >> samples))
        return f_.misread(ramp, "\"" + *text + "\" is not START INCREMENT SAMPLES");
      f_.set("batch_ramp_start", start, ramp);
      f_.set("batch_ramp_increment", increment, ramp);
      f_.set("batch_ramp_samples", samples, ramp);
    }
    for (const char* same :
         {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"})
      same_as_command(std::string("deepspeed_config.") + same, same);
  }

  // The JSON repeats numbers of the command; DeepSpeed asserts that they agree.
  void same_as_command(const std::string& argument, const std::string& name) {
    const int64_t value = f_.number(argument, 0);
    if (value == 0) return;
    const WorkloadSpec& w = f_.design().workload;
    const int64_t wanted = name == "train_batch_size" ? w.batch
                           : name == "train_micro_batch_size_per_gpu"
                               ? w.microbatch
                               : w.batch / w.microbatch / f_.design().parallel.dp;
    if (value != wanted) f_.misread(argument, "the command says " + std::to_string(wanted));
  }

  void synchronization() {
    DeepSpeedCaller caller{"deepspeed_config.", "Megatron-DeepSpeed"};
    caller.dtype = f_.on("--bf16") ? "bf16" : f_.on("--fp16") ? "fp16" : "fp32";
    caller.pipeline = !f_.on("--no-pipeline-parallel");
    caller.clips = f_.positive("--clip-grad", "1.0");
    const std::string stage = "--zero-stage";
    // The launcher writes 1.0.
    const double given = leading_real(f_.text(stage).value_or("1")).value_or(LeadingReal{}).value;
    const std::string wanted = fixed_text(given, 0);
    if (has_json_) {
      read_deepspeed_sync(f_, caller);
      report_deepspeed_changes(f_, caller.prefix);
      (void)f_.text("--clip-grad");
    } else {
      f_.set("dtype", caller.dtype, caller.dtype == "fp16" ? "--fp16" : "--bf16");
      f_.conclude("grad_dtype", caller.dtype, "gradient type", "the type of the parameters",
                  "deepspeed/runtime/engine.py:1492");
      const bool engine = wanted == "0" && caller.dtype == "bf16" && caller.pipeline;
      f_.set("sync", engine ? "zero-1" : "zero-" + wanted, stage);
      f_.set("clip_grad_norm", caller.clips ? "true" : "false", "--clip-grad");
    }
    if (f_.on("--cpu-optimizer")) f_.set("offload_optimizer", "true", "--cpu-optimizer");
    if (f_.text("--remote-device").value_or("none") != "none")
      f_.unmapped("--remote-device", "parameters outside the GPU have no setting");
    if (f_.text("--optimizer").value_or("adam") != "adam")
      f_.unmapped("--optimizer", "the optimizer is not adam");
  }

  void recompute() {
    const std::string granularity = "--recompute-granularity";
    if (f_.on("--checkpoint-activations")) {
      f_.set("recompute", "full", "--checkpoint-activations");
      f_.set("recompute_num_layers", f_.number("--checkpoint-num-layers", 1), "--checkpoint-num-layers");
    } else if (f_.on("--recompute-activations")) {
      f_.set("recompute", "selective", "--recompute-activations");
    } else if (f_.has(granularity)) {
      f_.set("recompute", *f_.text(granularity), granularity);
      if (const auto method = f_.text("--recompute-method"))
        f_.set("recompute_method", *method, "--recompute-method");
      f_.set("recompute_num_layers", f_.number("--recompute-num-layers", 1), "--recompute-num-layers");
    }
    for (const char* parts : {"--distribute-checkpointed-activations", "--partition-activations"})
      if (f_.on(parts)) f_.set_effective("distribute_saved_activations", "true", parts);
    if (f_.on("--checkpoint-in-cpu"))
      f_.unmapped("--checkpoint-in-cpu", "saved inputs of layers are on the host");
  }

  void kernels() {
    const bool hidden = f_.positive("--hidden-dropout", "0.1"),
               scores = f_.positive("--attention-dropout", "0.1");
    if (hidden != scores)
      f_.unmapped("--attention-dropout", "a design has one setting for both kinds of dropout");
    f_.set("dropout", hidden ? "true" : "false", "--hidden-dropout");
    const char* flash = nullptr;
    for (const char* name : {"--use-flash-attn", "--use-flash-attn-v1", "--use-flash-attn-v2",
                             "--use-flash-attn-triton", "--use-flash-attn-builder"})
      if (f_.on(name)) flash = name;
    f_.set("profile", flash ? "flash" : "megatron-deepspeed-2022", flash ? flash : "--use-flash-attn-v2");
    if (f_.on("--use-tutel")) f_.unmapped("--use-tutel", "the kernels of Tutel have no profile");
  }

  LaunchFields& f_;
  bool has_json_;
  const ModelSpec* named_;
  int64_t ffn_ = 0;
};

}  // namespace

LaunchDesign read_megatron_deepspeed_arguments(const LaunchArguments& arguments, int64_t gpus, bool has_json,
                                               const ModelSpec* named) {
  LaunchFields fields(arguments, gpus, "Megatron-DeepSpeed");
  ArgumentsReader(fields, has_json, named).run();
  const std::vector<std::string> json = deepspeed_no_effect("deepspeed_config.");
  std::vector<const char*> names = patterns(json);
  names.insert(names.end(), std::begin(kArgumentsWithoutEffect), std::end(kArgumentsWithoutEffect));
  return fields.finish({"Megatron-DeepSpeed 4efb479", names});
}

}  // namespace shardscape
