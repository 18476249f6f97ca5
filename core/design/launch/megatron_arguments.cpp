#include "design/launch/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// Arguments that change neither memory nor operations of a training step: data, checkpoints, logging,
// learning rates, initial weights and validation. A final '*' stands for any ending.
constexpr const char* kNoEffect[] = {"--adam-*",
                                     "--apply-layernorm-1p",
                                     "--apply-query-key-layer-scaling",
                                     "--async-save",
                                     "--async-strategy",
                                     "--auto-detect-ckpt-format",
                                     "--calculate-per-token-loss",
                                     "--check-weight-hash-across-dp-replicas-interval",
                                     "--ckpt-*",
                                     "--data-*",
                                     "--ddp-average-in-collective",
                                     "--decoupled-*",
                                     "--deterministic-mode",
                                     "--disable-gloo-process-groups",
                                     "--dist-ckpt-*",
                                     "--distributed-backend",
                                     "--distributed-timeout-minutes",
                                     "--eval-*",
                                     "--exit-*",
                                     "--fim-*",
                                     "--init-method-std",
                                     "--load",
                                     "--log-*",
                                     "--logging-level",
                                     "--lr",
                                     "--lr-*",
                                     "--manual-gc",
                                     "--manual-gc-interval",
                                     "--merge-file",
                                     "--min-lr",
                                     "--mock-data",
                                     "--no-mmap-bin-files",
                                     "--norm-epsilon",
                                     "--num-workers",
                                     "--overlap-p2p-communication-warmup-flush",
                                     "--override-opt-param-scheduler",
                                     "--override-opt_param-scheduler",
                                     "--rotary-base",
                                     "--save",
                                     "--save-*",
                                     "--seed",
                                     "--split",
                                     "--tensorboard-*",
                                     "--tiktoken-*",
                                     "--timing-*",
                                     "--tokenizer-model",
                                     "--tp-comm-overlap-cfg",
                                     "--train-iters",
                                     "--train-samples",
                                     "--use-checkpoint-args",
                                     "--use-checkpoint-opt_param-scheduler",
                                     "--use-mcore-models",
                                     "--use-persistent-ckpt-worker",
                                     "--verify-integrity",
                                     "--vocab-file",
                                     "--wandb-*",
                                     "--weight-decay"};

bool has_no_effect(std::string_view argument) {
  return std::any_of(std::begin(kNoEffect), std::end(kNoEffect), [&](std::string_view known) {
    return known.ends_with('*') ? argument.starts_with(known.substr(0, known.size() - 1)) : argument == known;
  });
}

constexpr int64_t kGpt2Vocabulary = 50257;

class MegatronReader {
 public:
  MegatronReader(const LaunchArguments& arguments, int64_t gpus) : arguments_(arguments), gpus_(gpus) {}

  LaunchDesign run() {
    out_.design.model.preset.clear();
    sizes();
    architecture();
    degrees();
    pipeline();
    sync();
    precision();
    recompute();
    kernels();
    graphs();
    for (const auto& [argument, text] : arguments_)
      if (!used_.contains(argument) && !has_no_effect(argument))
        unmapped(argument, "a design has no counterpart");
    return std::move(out_);
  }

 private:
  // The first reason of an argument counts.
  void unmapped(const std::string& argument, const std::string& reason) {
    const auto same = [&](const UnmappedArgument& one) { return one.argument == argument; };
    if (std::none_of(out_.unmapped.begin(), out_.unmapped.end(), same))
      out_.unmapped.push_back({argument, reason});
  }

  // The text of an argument; nullopt if the launch lacks it. Marks the argument as read.
  std::optional<std::string> text(const std::string& argument) {
    const auto it = arguments_.find(argument);
    if (it == arguments_.end()) return std::nullopt;
    used_.insert(argument);
    return it->second;
  }
  bool on(const std::string& argument) { return text(argument).value_or("false") == "true"; }
  int64_t number(const std::string& argument, int64_t otherwise) {
    const auto found = text(argument);
    if (!found) return otherwise;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(found->data(), found->data() + found->size(), value);
    if (error == std::errc() && end == found->data() + found->size()) return value;
    unmapped(argument, "\"" + *found + "\" is not a whole number");
    return otherwise;
  }
  // Whether a probability is above zero: "0.1", "0.0".
  bool positive(const std::string& argument, const char* otherwise) {
    return text(argument).value_or(otherwise).find_first_not_of("0.") != std::string::npos;
  }

  void set(const char* knob, const std::string& value, const std::string& argument) {
    if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
      unmapped(argument, to_string(*problem));
  }
  void set(const char* knob, int64_t value, const std::string& argument) {
    set(knob, std::to_string(value), argument);
  }
  void turn_on(const char* knob, const std::string& argument) {
    if (on(argument)) set(knob, "true", argument);
  }

  void sizes() {
    const int64_t hidden = number("--hidden-size", 0), heads = number("--num-attention-heads", 1);
    const bool gated = arguments_.contains("--swiglu");
    set("layers", number("--num-layers", 0), "--num-layers");
    set("hidden", hidden, "--hidden-size");
    set("heads", heads, "--num-attention-heads");
    const int64_t groups = number("--num-query-groups", heads);  // read only with group-query-attention
    set("kv_heads", on("--group-query-attention") ? groups : heads, "--num-query-groups");
    set("head_dim", number("--kv-channels", hidden / std::max<int64_t>(heads, 1)), "--kv-channels");
    constexpr int64_t kMultiple = 64;
    set("ffn", number("--ffn-hidden-size", gated ? 8 * hidden / 3 / kMultiple * kMultiple : 4 * hidden),
        "--ffn-hidden-size");
    // A NullTokenizer adds a token for the end of documents.
    const std::string tokenizer = text("--tokenizer-type").value_or("GPT2BPETokenizer");
    const int64_t added = tokenizer == "NullTokenizer" ? 1 : 0;
    if (!arguments_.contains("--vocab-size") && tokenizer != "GPT2BPETokenizer")
      unmapped("--tokenizer-type", "the launch does not give the vocabulary of a " + tokenizer);
    set("vocab", number("--vocab-size", kGpt2Vocabulary - added) + added, "--vocab-size");
    set("vocab_multiple", number("--make-vocab-size-divisible-by", 128), "--make-vocab-size-divisible-by");
    set("seq", number("--seq-length", 0), "--seq-length");
    set("tied_embeddings", on("--untie-embeddings-and-output-weights") ? "false" : "true",
        "--untie-embeddings-and-output-weights");
    set("clip_grad_norm", positive("--clip-grad", "1.0") ? "true" : "false", "--clip-grad");
  }

  void architecture() {
    const std::string positions = text("--position-embedding-type").value_or("learned_absolute");
    const bool rope = positions == "rope" || on("--use-rotary-position-embeddings");
    if (!rope && positions != "learned_absolute")
      unmapped("--position-embedding-type", "\"" + positions + "\" is not learned_absolute or rope");
    const bool gated = on("--swiglu"), unbiased = on("--disable-bias-linear");
    const std::string norm = text("--normalization").value_or("LayerNorm");
    if (norm == "RMSNorm" && rope && gated && unbiased) {
      out_.design.model.architecture = on("--qk-layernorm") ? "qwen3" : "llama";
    } else if (norm == "RMSNorm") {
      unmapped("--normalization", "RMSNorm is known only with rope, SwiGLU and without biases");
    } else {
      std::string options;
      for (const auto& [chosen, option] :
           {std::pair{rope, "rope"}, {gated, "swiglu"}, {unbiased, "unbiased"}})
        if (chosen) options += (options.empty() ? "; " : ", ") + std::string(option);
      out_.design.model.architecture = "gpt" + options;
    }
    set("positions", rope ? 0 : number("--max-position-embeddings", 0), "--max-position-embeddings");
    text("--max-position-embeddings");  // rope does not read it
    if (text("--rotary-percent").value_or("1.0") != "1.0")
      unmapped("--rotary-percent", "the rotation covers whole heads");
  }

  void degrees() {
    for (const auto& [knob, argument] : {std::pair{"tp", "--tensor-model-parallel-size"},
                                         {"pp", "--pipeline-model-parallel-size"},
                                         {"cp", "--context-parallel-size"}})
      set(knob, number(argument, 1), argument);
    const ParallelSpec& p = out_.design.parallel;
    const int64_t inner = p.tp * p.pp * p.cp;
    if (gpus_ < 1 || gpus_ % inner != 0)
      unmapped("gpus",
               std::to_string(gpus_) + " GPUs are not a multiple of tp x pp x cp = " + std::to_string(inner));
    else
      set("dp", gpus_ / inner, "gpus");
    text("--expert-tensor-parallel-size");  // without experts, nothing reads it
    // Sequence parallelism is switched off where tp is 1.
    if (on("--sequence-parallel") && p.tp > 1) set("sequence_parallel", "true", "--sequence-parallel");
    if (on("--tp-comm-overlap")) set("tp_comm_overlap", "true", "--tp-comm-overlap");
    if (on("--tp-comm-overlap-rs-dgrad"))
      set("tp_comm_overlap_rs_dgrad", "true", "--tp-comm-overlap-rs-dgrad");
    if (on("--use-tp-pp-dp-mapping")) set("rank_order", "tp-cp-pp-dp", "--use-tp-pp-dp-mapping");
    const std::string ring = text("--cp-comm-type").value_or("p2p");
    if (p.cp > 1)
      set("context",
          ring == "p2p"         ? "zigzag"
          : ring == "a2a"       ? "ulysses"
          : ring == "allgather" ? "all-gather"
                                : ring,
          "--cp-comm-type");
    const int64_t microbatch = number("--micro-batch-size", 1);
    set("microbatch", microbatch, "--micro-batch-size");
    set("batch", number("--global-batch-size", microbatch * p.dp), "--global-batch-size");
    batch_ramp();
  }

  // "192 16 9765625": start, increment, samples.
  void batch_ramp() {
    const std::string argument = "--rampup-batch-size";
    const auto found = text(argument);
    if (!found) return;
    std::string digits = *found;
    std::erase(digits, '_');  // Python reads 9_765_625
    std::istringstream in(digits);
    int64_t start = 0, increment = 0, samples = 0;
    if (!(in >> start >> increment >> samples) || !(in >> std::ws).eof())
      return unmapped(argument, "\"" + *found + "\" is not START INCREMENT SAMPLES");
    set("batch_ramp_start", start, argument);
    set("batch_ramp_increment", increment, argument);
    set("batch_ramp_samples", samples, argument);
  }

  void pipeline() {
    const ParallelSpec& p = out_.design.parallel;
    const std::string by_layers = "--num-layers-per-virtual-pipeline-stage";
    const int64_t each = number(by_layers, 0);
    int64_t chunks = number("--num-virtual-stages-per-pipeline-rank", 1);
    if (each > 0) {
      if (out_.design.model.layers % (p.pp * each) != 0)
        return unmapped(by_layers, "the layers do not fill the virtual stages");
      chunks = out_.design.model.layers / p.pp / each;
    }
    set("virtual_stages", chunks, by_layers);
    const std::string group = "--microbatch-group-size-per-virtual-pipeline-stage";
    if (const int64_t size = number(group, p.pp); size != p.pp) {
      set("schedule", "flexible", group);
      set("microbatch_group", size, group);
    }
    uneven_stages();
    for (const char* knob :
         {"account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"}) {
      std::string argument = std::string("--") + knob;
      std::replace(argument.begin(), argument.end(), '_', '-');
      turn_on(knob, argument);
    }
  }

  // The given layers of the first and last stage; the stages in between share the others evenly.
  void uneven_stages() {
    const std::string at_first = "--decoder-first-pipeline-num-layers",
                      at_last = "--decoder-last-pipeline-num-layers";
    if (!arguments_.contains(at_first) && !arguments_.contains(at_last)) return;
    const ParallelSpec& p = out_.design.parallel;
    const int64_t first = number(at_first, 0), last = number(at_last, 0);
    const int64_t between = p.pp - (first > 0) - (last > 0), rest = out_.design.model.layers - first - last;
    if (p.virtual_stages > 1 || between < 1 || rest < 0 || rest % between != 0)
      return unmapped(at_first,
                      "the other layers do not fill the other stages evenly, without virtual stages");
    std::string list;
    for (int64_t stage = 0; stage < p.pp; ++stage) {
      const bool is_first = stage == 0 && first > 0, is_last = stage + 1 == p.pp && last > 0;
      list += (stage ? "," : "") + std::to_string(is_first ? first : is_last ? last : rest / between);
    }
    set("stage_layers", list, at_first);
  }

  // Megatron-FSDP (core/distributed/fsdp; --use-custom-fsdp until 2025). Without sharded gradients it has the
  // buffers of Megatron's other policies. Returns the gradient sync; null: Megatron-FSDP is off.
  const char* megatron_fsdp() {
    const char* const argument = "--use-megatron-fsdp";
    if (!on(argument) && !on("--use-custom-fsdp")) return nullptr;
    if (on("--fsdp-double-buffer"))
      unmapped("--fsdp-double-buffer", "permanent double buffers of units are not modelled");
    const std::string name = "--data-parallel-sharding-strategy", strategy = text(name).value_or("no_shard"),
                      outer = text("--outer-dp-sharding-strategy").value_or("no_shard");
    if (outer != "no_shard") unmapped("--outer-dp-sharding-strategy", "\"" + outer + "\" is not no_shard");
    if (text("--megatron-fsdp-main-params-dtype").value_or("fp32") != "fp32")
      unmapped("--megatron-fsdp-main-params-dtype", "main weights are float32");
    if (strategy == "no_shard") return "ddp-flat";
    if (strategy == "optim") return "distributed-optimizer";
    if (strategy == "optim_grads")
      for (const char* knob : {"reshard_after_forward", "reshard_after_backward"}) set(knob, "false", name);
    else if (strategy != "optim_grads_params")
      unmapped(name, "\"" + strategy + "\" is not no_shard, optim, optim_grads or optim_grads_params");
    return "megatron-fsdp";
  }

  void sync() {
    const bool distributed = on("--use-distributed-optimizer");
    const char* const fsdp = megatron_fsdp();
    const bool sharded = fsdp ? fsdp != std::string("ddp-flat") : distributed;
    set("sync", fsdp ? fsdp : sharded ? "distributed-optimizer" : "ddp-flat", "--use-distributed-optimizer");
    turn_on("overlap_grad_reduce", "--overlap-grad-reduce");
    turn_on("overlap_param_gather", "--overlap-param-gather");
    if (arguments_.contains("--ddp-bucket-size"))
      set("ddp_bucket_size", number("--ddp-bucket-size", 0), "--ddp-bucket-size");
    const std::string instances = "--num-distributed-optimizer-instances";
    if (const int64_t copies = number(instances, 1); copies > 1 && sharded) {
      if (out_.design.parallel.dp % copies != 0)
        unmapped(instances, "the replicas are not a multiple of " + std::to_string(copies));
      else
        set("dp_shard", out_.design.parallel.dp / copies, instances);
    }
    if (on("--optimizer-cpu-offload")) {
      set("offload_optimizer", "true", "--optimizer-cpu-offload");
      set("optimizer_offload_fraction", text("--optimizer-offload-fraction").value_or("1"),
          "--optimizer-offload-fraction");
    }
    const std::string optimizer = text("--optimizer").value_or("adam");
    if (optimizer == "muon")
      set("optimizer", optimizer, "--optimizer");
    else if (optimizer != "adam")
      unmapped("--optimizer", "the optimizer is " + optimizer + ", not adam or muon");
    const std::string parts = text("--muon-tp-mode").value_or("blockwise");
    if (optimizer == "muon" && out_.design.parallel.tp > 1 && parts != "blockwise")
      unmapped("--muon-tp-mode", "the mode is " + parts + ", not blockwise");
  }

  // Megatron-FSDP of 2026 names the types of its gradient shards and of their reductions; "auto" is the type
  // of the parameters.
  void fsdp_gradients() {
    const std::string reduced = "--megatron-fsdp-grad-comm-dtype";
    const auto shards = text("--megatron-fsdp-main-grads-dtype"), sent = text(reduced);
    if (!shards && !sent) return;
    const std::string type = shards.value_or("auto");
    if (type != sent.value_or("auto")) unmapped(reduced, "gradients are reduced in the type of their shards");
    set("grad_dtype", type == "auto" ? knob_text(out_.design, *find_knob("dtype")) : type, reduced);
  }

  void precision() {
    const bool bf16 = on("--bf16"), fp16 = on("--fp16");
    set("dtype", bf16 ? "bf16" : fp16 ? "fp16" : "fp32", "--bf16");
    // --bf16 implies float32 gradients; --fp16 does not.
    const bool whole = on("--accumulate-allreduce-grads-in-fp32") || !fp16;
    set("grad_dtype",
        on("--grad-reduce-in-bf16") ? "bf16"
        : whole                     ? "fp32"
                                    : "fp16",
        "--grad-reduce-in-bf16");
    fsdp_gradients();
    const auto format = text("--fp8-format");
    const std::string recipe = text("--fp8-recipe").value_or("delayed");
    if (!format) return;
    for (const auto& [known, knob] : {std::pair{"delayed", "fp8"},
                                      {"tensorwise", "fp8"},
                                      {"blockwise", "fp8-blockwise"},
                                      {"mxfp8", "mxfp8"}})
      if (recipe == known) return set("compute", knob, "--fp8-recipe");
    unmapped("--fp8-recipe", "\"" + recipe + "\" is not delayed, tensorwise, blockwise or mxfp8");
  }

  void recompute() {
    const auto granularity = text("--recompute-granularity");
    if (on("--recompute-activations")) set("recompute", "selective", "--recompute-activations");
    if (!granularity) return;
    set("recompute", *granularity, "--recompute-granularity");
    if (const auto method = text("--recompute-method"))
      set("recompute_method", *method, "--recompute-method");
    if (arguments_.contains("--recompute-num-layers"))
      set("recompute_num_layers", number("--recompute-num-layers", 1), "--recompute-num-layers");
    turn_on("distribute_saved_activations", "--distribute-saved-activations");
  }

  // Modules of Megatron-core that --cuda-graph-scope names, joined by commas or spaces. Older versions say
  // full for whole layers.
  void graphs() {
    if (on("--moe-shared-expert-overlap"))
      set("shared_expert_overlap", "true", "--moe-shared-expert-overlap");
    const std::string engine = text("--cuda-graph-impl").value_or("none");
    std::string scope = text("--cuda-graph-scope").value_or("full");
    if (engine == "none") return;
    if (engine == "full_iteration") scope = "full_iteration";
    std::replace(scope.begin(), scope.end(), ' ', ',');
    static const std::map<std::string, const char*> kScopes{
        {"full", "layer"},
        {"attn,mlp", "layer"},
        {"mlp,attn", "layer"},
        {"attn", "attention"},
        {"moe_router", "router"},
        {"moe_router,moe_preprocess", "router"},
        {"attn,moe_router", "attention-router"},
        {"attn,moe_router,moe_preprocess", "attention-router"},
        {"full_iteration", "iteration"}};
    const auto known = kScopes.find(scope);
    if (known == kScopes.end())
      return unmapped("--cuda-graph-scope", "graphs of the modules \"" + scope + "\" have no setting");
    set("cuda_graphs", known->second, "--cuda-graph-scope");
  }

  void kernels() {
    const bool hidden = positive("--hidden-dropout", "0.1"), scores = positive("--attention-dropout", "0.1");
    if (hidden != scores)
      unmapped("--attention-dropout", "a design has one setting for both kinds of dropout");
    set("dropout", hidden ? "true" : "false", "--hidden-dropout");
    if (on("--no-gradient-accumulation-fusion"))
      set("gradient_accumulation_fusion", "false", "--no-gradient-accumulation-fusion");
    text("--attention-softmax-in-fp32");  // of the fused softmax, only the registers
    const std::string engine = text("--transformer-impl").value_or("transformer_engine");
    const std::string attention = text("--attention-backend").value_or("auto");
    if (engine == "local") return set("profile", "megatron-2022", "--transformer-impl");
    if (engine != "transformer_engine")
      return unmapped("--transformer-impl", "\"" + engine + "\" is not transformer_engine or local");
    const std::string implementation = text("--cross-entropy-fusion-impl").value_or("native");
    const bool fused = on("--cross-entropy-loss-fusion");
    if (fused && implementation != "te")
      unmapped("--cross-entropy-loss-fusion", "the native fused loss has no kernel profile");
    if (attention != "auto" && attention != "flash" && attention != "fused" && attention != "unfused")
      unmapped("--attention-backend", "\"" + attention + "\" is not auto, flash, fused or unfused");
    if (attention == "unfused" && fused)
      unmapped("--attention-backend", "unfused attention with a fused loss has no kernel profile");
    set("profile",
        attention == "unfused" ? "megatron-core-te-unfused"
        : fused                ? "megatron-core-te-fused-loss"
                               : "megatron-core-te",
        "--attention-backend");
  }

  const LaunchArguments& arguments_;
  int64_t gpus_;
  LaunchDesign out_;
  std::set<std::string> used_;
};

}  // namespace

LaunchDesign read_megatron_arguments(const LaunchArguments& arguments, int64_t gpus) {
  return MegatronReader(arguments, gpus).run();
}

}  // namespace shardscape
