#include "launch/megatron/megatron_words.h"

#include <algorithm>
#include <map>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"

namespace shardscape {
namespace {

class Words {
 public:
  explicit Words(const Design& design) : d_(design) {}

  std::string knob(std::string_view id) const { return knob_text(d_, *find_knob(id)); }
  bool on(std::string_view id) const { return knob(id) == "true"; }
  void put(const char* name, std::string value) { out_.push_back({name, std::move(value)}); }
  void put(const char* name, int64_t value) { put(name, std::to_string(value)); }
  void put_switch(const char* name, bool on) {
    if (on) out_.push_back({name, ""});
  }
  // The knob's text as the argument's value.
  void copy(const char* name, std::string_view id) { put(name, knob(id)); }
  std::vector<MegatronWord> take() { return std::exchange(out_, {}); }

 private:
  const Design& d_;
  std::vector<MegatronWord> out_;
};

// Arguments of the blocks of an architecture, which megatron_model.cpp reads back.
struct Blocks {
  bool experts, latent, qk_norm, qkv_bias, sigmoid, shared_gate;
};

std::optional<Blocks> blocks_of(const std::string& architecture) {
  static const std::map<std::string, Blocks> kBlocks{
      {"llama", {}},
      {"mistral", {}},
      {"qwen2", {false, false, false, true, false, false}},
      {"qwen3", {false, false, true, false, false, false}},
      {"mixtral", {true, false, false, false, false, false}},
      {"qwen3-moe", {true, false, true, false, false, false}},
      {"deepseek-moe", {true, false, false, false, false, false}},
      {"qwen2-moe", {true, false, false, true, false, true}},
      {"glm4-moe", {true, false, false, false, true, false}},
      {"glm4-moe; qkv_bias", {true, false, false, true, true, false}},
      {"glm4-moe; qk_norm", {true, false, true, false, true, false}},
      {"glm4-moe; qkv_bias, qk_norm", {true, false, true, true, true, false}},
      {"deepseek2", {true, true, true, false, false, false}},
      {"deepseek3", {true, true, true, false, true, false}}};
  const auto found = kBlocks.find(architecture);
  return found == kBlocks.end() ? std::nullopt : std::optional(found->second);
}

class ModelWords {
 public:
  explicit ModelWords(const Design& design) : d_(design), m_(design.model), w_(design) {}

  std::variant<std::vector<MegatronWord>, Problem> run() {
    const auto blocks = blocks_of(m_.architecture);
    const bool classic = m_.architecture == "gpt" || m_.architecture.starts_with("gpt; ");
    if (!blocks && !classic && m_.architecture != "nemotron4")
      return Problem{ProblemCode::LaunchSetting, "--as",
                     "no arguments of Megatron-LM describe the architecture " + m_.architecture,
                     "gpt, llama, mistral, qwen2, qwen3, nemotron4, mixtral, qwen2-moe, qwen3-moe, glm4-moe, "
                     "deepseek-moe, deepseek2 or deepseek3"};
    sizes(blocks && blocks->latent);
    if (blocks)
      modern(*blocks);
    else
      plain();
    w_.put_switch("--untie-embeddings-and-output-weights", !m_.tied_embeddings);
    // NullTokenizer adds one token for the end of documents.
    w_.put("--tokenizer-type", "NullTokenizer");
    w_.put("--vocab-size", m_.vocab - 1);
    w_.copy("--make-vocab-size-divisible-by", "vocab_multiple");
    return w_.take();
  }

 private:
  void sizes(bool latent) {
    w_.put("--num-layers", m_.layers);
    w_.put("--hidden-size", m_.hidden);
    w_.put("--ffn-hidden-size", m_.ffn);
    w_.put("--num-attention-heads", m_.heads);
    if (!latent && m_.kv_heads != m_.heads) {
      w_.put_switch("--group-query-attention", true);
      w_.put("--num-query-groups", m_.kv_heads);
    }
    w_.put("--kv-channels", m_.head_dim);
    w_.put("--seq-length", d_.workload.seq);
  }

  void modern(const Blocks& blocks) {
    w_.put("--max-position-embeddings", d_.workload.seq);
    w_.put("--normalization", "RMSNorm");
    w_.put("--position-embedding-type", "rope");
    w_.put_switch("--swiglu", true);
    w_.put_switch("--disable-bias-linear", true);
    w_.put_switch("--add-qkv-bias", blocks.qkv_bias);
    w_.put_switch("--qk-layernorm", blocks.qk_norm);
    if (m_.window > 0 && m_.window <= d_.workload.seq)
      w_.put("--window-size", std::to_string(m_.window - 1) + ",0");
    if (blocks.latent) latent();
    if (blocks.experts) experts(blocks);
    if (m_.mtp_layers > 0) w_.put("--mtp-num-layers", m_.mtp_layers);
  }

  void latent() {
    w_.put_switch("--multi-latent-attention", true);
    if (m_.q_rank > 0) w_.put("--q-lora-rank", m_.q_rank);
    w_.put("--kv-lora-rank", m_.kv_rank);
    w_.put("--qk-head-dim", m_.nope_head_dim);
    w_.put("--qk-pos-emb-head-dim", m_.rope_head_dim);
    w_.put("--v-head-dim", m_.value_head_dim);
  }

  void experts(const Blocks& blocks) {
    w_.put("--num-experts", m_.experts);
    w_.put("--moe-router-topk", m_.experts_per_token);
    w_.put("--moe-ffn-hidden-size", m_.expert_ffn);
    w_.put_switch("--moe-grouped-gemm", true);
    if (blocks.sigmoid) w_.put("--moe-router-score-function", "sigmoid");
    w_.put_switch("--moe-router-enable-expert-bias", blocks.sigmoid);
    if (m_.shared_width() > 0) w_.put("--moe-shared-expert-intermediate-size", m_.shared_width());
    w_.put_switch("--moe-shared-expert-gate", blocks.shared_gate && m_.shared_width() > 0);
    if (m_.expert_groups > 1) {
      w_.put("--moe-router-num-groups", m_.expert_groups);
      w_.put("--moe-router-group-topk", m_.groups_per_token);
    }
    const int64_t dense = std::min(m_.dense_layers, m_.layers);
    if (dense > 0)
      w_.put("--moe-layer-freq",
             "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(m_.layers - dense) + ")");
  }

  // "gpt; rope, swiglu": LayerNorm and learned positions unless the options say otherwise.
  void plain() {
    const bool nemotron = m_.architecture == "nemotron4";
    const auto has = [&](const char* option) { return m_.architecture.find(option) != std::string::npos; };
    const bool rope = nemotron || has("rope");
    w_.put("--max-position-embeddings", rope ? d_.workload.seq : m_.positions);
    w_.put("--normalization", "LayerNorm");
    w_.put("--position-embedding-type", rope ? "rope" : "learned_absolute");
    w_.put_switch("--swiglu", has("swiglu"));
    w_.put_switch("--squared-relu", nemotron);
    w_.put_switch("--disable-bias-linear", nemotron || has("unbiased"));
  }

  const Design& d_;
  const ModelSpec& m_;
  Words w_;
};

class LayoutWords {
 public:
  explicit LayoutWords(const Design& design) : d_(design), p_(design.parallel), w_(design) {}

  std::vector<MegatronWord> parallelism() {
    w_.put("--tensor-model-parallel-size", p_.tp);
    w_.put("--pipeline-model-parallel-size", p_.pp);
    w_.put("--context-parallel-size", p_.cp);
    context();
    w_.put_switch("--sequence-parallel", p_.tp > 1 && p_.sequence_parallel);
    w_.put_switch("--tp-comm-overlap", w_.on("tp_comm_overlap"));
    w_.put_switch("--tp-comm-overlap-rs-dgrad", w_.on("tp_comm_overlap_rs_dgrad"));
    if (d_.model.experts > 0) experts();
    pipeline();
    w_.put_switch("--use-tp-pp-dp-mapping", w_.knob("rank_order") == "tp-cp-pp-dp");
    sync();
    return w_.take();
  }

  std::vector<MegatronWord> batch() {
    w_.copy("--micro-batch-size", "microbatch");
    w_.copy("--global-batch-size", "batch");
    if (d_.workload.ramp.exists())
      w_.put("--rampup-batch-size", w_.knob("batch_ramp_start") + " " + w_.knob("batch_ramp_increment") +
                                        " " + w_.knob("batch_ramp_samples"));
    return w_.take();
  }

 private:
  void context() {
    const std::string mode = w_.knob("context");
    if (p_.cp == 1) return;
    const int64_t heads = p_.ulysses_degree;
    if (mode == "all-gather") w_.put("--cp-comm-type", "allgather");
    if (mode == "ulysses") w_.put("--cp-comm-type", "a2a");
    if (mode == "zigzag" || mode == "ring") w_.put("--cp-comm-type", "p2p");
    if (mode != "ulysses-zigzag" && mode != "ulysses-ring") return;
    w_.put("--cp-comm-type", "a2a+p2p");
    if (heads > 0 && p_.cp % heads == 0)
      w_.put("--hierarchical-context-parallel-sizes",
             std::to_string(heads) + " " + std::to_string(p_.cp / heads));
  }

  void experts() {
    const std::string kind = w_.knob("dispatcher");
    w_.put("--expert-model-parallel-size", p_.ep);
    w_.put("--expert-tensor-parallel-size", p_.etp > 0 ? p_.etp : p_.tp);
    w_.put("--moe-token-dispatcher-type", kind);
    w_.put_switch("--moe-enable-deepep", kind == "flex");
    if (kind == "flex" && p_.dispatch_sms > 0) w_.put("--moe-deepep-num-sms", p_.dispatch_sms);
    w_.put_switch("--overlap-moe-expert-parallel-comm", w_.on("ep_comm_overlap"));
    w_.put_switch("--moe-shared-expert-overlap", w_.on("shared_expert_overlap"));
    if (d_.workload.capacity_factor > 0) w_.copy("--moe-expert-capacity-factor", "capacity_factor");
    w_.put_switch("--moe-pad-expert-input-to-capacity", d_.workload.pad_to_capacity);
  }

  void pipeline() {
    const bool listed = !p_.stage_layers.empty();
    if (p_.virtual_stages > 1 && !listed) w_.put("--num-virtual-stages-per-pipeline-rank", p_.virtual_stages);
    if (w_.knob("schedule") == "flexible" && p_.microbatch_group != p_.pp)
      w_.copy("--microbatch-group-size-per-virtual-pipeline-stage", "microbatch_group");
    if (listed && p_.pp > 1) w_.put("--pipeline-model-parallel-layout", layout());
    w_.put_switch("--account-for-embedding-in-pipeline-split", p_.account_for_embedding_in_pipeline_split);
    w_.put_switch("--account-for-loss-in-pipeline-split", p_.account_for_loss_in_pipeline_split);
  }

  // "Ettt|ttt|ttL": embedding first; prediction and loss last.
  std::string layout() {
    std::string out = "E";
    const std::vector<int64_t> stages = layers_per_virtual_stage(d_);
    for (size_t i = 0; i < stages.size(); ++i) {
      if (i > 0) out += "|";
      if (stages[i] > 0) out += stages[i] == 1 ? "t" : "t*" + std::to_string(stages[i]);
    }
    if (d_.model.mtp_layers > 0) out += "m*" + std::to_string(d_.model.mtp_layers);
    return out + "L";
  }

  void sync() {
    const std::string kind = w_.knob("sync");
    w_.put_switch("--use-distributed-optimizer", kind == "distributed-optimizer");
    w_.put_switch("--use-torch-fsdp2", kind == "fsdp2");
    w_.put_switch("--torch-fsdp2-no-reshard-after-forward",
                  kind == "fsdp2" && !w_.on("reshard_after_forward"));
    if (kind == "megatron-fsdp") {
      w_.put_switch("--use-megatron-fsdp", true);
      const bool whole = !w_.on("reshard_after_forward") && !w_.on("reshard_after_backward");
      w_.put("--data-parallel-sharding-strategy", whole ? "optim_grads" : "optim_grads_params");
    }
    w_.put_switch("--overlap-grad-reduce", w_.on("overlap_grad_reduce"));
    w_.put_switch("--overlap-param-gather", w_.on("overlap_param_gather"));
    if (p_.ddp_bucket_size > 0) w_.copy("--ddp-bucket-size", "ddp_bucket_size");
    if (p_.dp_shard > 0 && p_.dp_shard < p_.dp && p_.dp % p_.dp_shard == 0 && kind == "distributed-optimizer")
      w_.put("--num-distributed-optimizer-instances", p_.dp / p_.dp_shard);
    if (!w_.on("clip_grad_norm")) w_.put("--clip-grad", "0.0");
  }

  const Design& d_;
  const ParallelSpec& p_;
  Words w_;
};

class StepWords {
 public:
  explicit StepWords(const Design& design) : d_(design), w_(design) {}

  std::vector<MegatronWord> precision() {
    const std::string type = w_.knob("dtype"), gradients = w_.knob("grad_dtype"), gemms = w_.knob("compute");
    w_.put_switch("--bf16", type == "bf16");
    w_.put_switch("--fp16", type == "fp16");
    w_.put_switch("--grad-reduce-in-bf16", gradients == "bf16");
    w_.put_switch("--accumulate-allreduce-grads-in-fp32", type == "fp16" && gradients == "fp32");
    static const std::map<std::string, const char*> kRecipes{
        {"fp8", "delayed"}, {"fp8-blockwise", "blockwise"}, {"mxfp8", "mxfp8"}};
    if (const auto recipe = kRecipes.find(gemms); recipe != kRecipes.end()) {
      w_.put("--fp8-format", gemms == "fp8" ? "hybrid" : "e4m3");
      w_.put("--fp8-recipe", recipe->second);
      w_.put_switch("--fp8-param-gather", w_.on("fp8_params"));
    }
    if (gemms == "nvfp4") {
      w_.put("--fp4-format", "e2m1");
      w_.put("--fp4-recipe", "nvfp4");
    }
    if (w_.knob("optimizer") == "muon") {
      w_.put("--optimizer", "muon");
      w_.put("--muon-tp-mode", "blockwise");
    }
    const std::string moments = w_.knob("moment_dtype");
    if (moments == "bf16" || moments == "fp16" || moments == "fp8") {
      w_.put_switch("--use-precision-aware-optimizer", true);
      w_.put("--exp-avg-dtype", moments);
      w_.put("--exp-avg-sq-dtype", moments);
    }
    return w_.take();
  }

  std::vector<MegatronWord> memory() {
    const std::string kind = w_.knob("recompute");
    if (kind != "none") w_.put("--recompute-granularity", kind);
    if (kind == "full") {
      w_.copy("--recompute-method", "recompute_method");
      w_.copy("--recompute-num-layers", "recompute_num_layers");
      w_.put_switch("--distribute-saved-activations", w_.on("distribute_saved_activations"));
    }
    if (kind == "selective") {
      std::string modules = w_.knob("recompute_modules");
      std::replace(modules.begin(), modules.end(), ',', ' ');
      if (!modules.empty() && modules != "core_attn") w_.put("--recompute-modules", modules);  // the default
    }
    if (w_.on("offload_optimizer")) {
      w_.put_switch("--optimizer-cpu-offload", true);
      w_.copy("--optimizer-offload-fraction", "optimizer_offload_fraction");
    }
    if (d_.workload.offload_activations > 0) w_.copy("--cpu-offloading-num-layers", "offload_activations");
    return w_.take();
  }

  std::vector<MegatronWord> kernels() {
    const std::string share = w_.on("dropout") ? "0.1" : "0.0", profile = d_.workload.profile;
    w_.put("--hidden-dropout", share);
    w_.put("--attention-dropout", share);
    w_.put_switch("--no-gradient-accumulation-fusion", !w_.on("gradient_accumulation_fusion"));
    w_.put("--transformer-impl", profile == "megatron-2022" ? "local" : "transformer_engine");
    if (profile == "megatron-core-te-unfused") w_.put("--attention-backend", "unfused");
    if (profile == "megatron-core-te-fused-loss") {
      w_.put_switch("--cross-entropy-loss-fusion", true);
      w_.put("--cross-entropy-fusion-impl", "te");
    }
    static const std::map<std::string, std::string> kScopes{{"attention", "attn"},
                                                            {"router", "moe_router"},
                                                            {"attention-router", "attn moe_router"},
                                                            {"layer", "full"}};
    const std::string graphs = w_.knob("cuda_graphs");
    if (graphs == "iteration") w_.put("--cuda-graph-impl", "full_iteration");
    if (const auto scope = kScopes.find(graphs); scope != kScopes.end()) {
      w_.put("--cuda-graph-impl", "transformer_engine");
      w_.put("--cuda-graph-scope", scope->second);
    }
    return w_.take();
  }

 private:
  const Design& d_;
  Words w_;
};

}  // namespace

int64_t launch_gpus(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return p.tp * p.pp * p.cp * p.dp;
}

GapReasons megatron_gap_reasons(const Design& design, const std::string& framework) {
  GapReasons out{{"profile", framework + " has kernels of its own: the megatron-core profiles"},
                 {"context", "the ring of " + framework + " is balanced (zigzag)"},
                 {"sync", framework + " has no such gradient sync"},
                 {"schedule", framework + " runs 1F1B, with virtual stages interleaved"},
                 {"rank_order", framework + " orders ranks tp-cp-dp-pp or tp-cp-pp-dp"},
                 {"master_weights", framework + " keeps float32 weights beside 16-bit parameters"},
                 {"moment_dtype", "moments are fp32, bf16, fp16 or fp8"},
                 {"layer_pattern", framework + " has one kind of layer here"},
                 {"variants", framework + " has one kind of layer here"}};
  if (design.model.window > design.workload.seq)
    out.emplace_back("window", "the window is longer than the sequence");
  return out;
}

int64_t launch_gpus_per_node(int64_t gpus) {
  constexpr int64_t kMost = 8;
  for (int64_t each = kMost; each > 1; --each)
    if (gpus % each == 0) return each;
  return 1;
}

std::string shell_quoted(const std::string& text) {
  return text.find_first_of("()[]*|, ") == std::string::npos ? text : "\"" + text + "\"";
}

std::variant<std::vector<MegatronWord>, Problem> megatron_model_words(const Design& design) {
  return ModelWords(design).run();
}

std::variant<MegatronWords, Problem> megatron_words(const Design& design, const std::string& framework) {
  if (design.workload.mode != Mode::Train)
    return Problem{ProblemCode::LaunchSetting, "mode", framework + " trains models; the design is inference",
                   "a design with mode train"};
  auto model = megatron_model_words(design);
  if (auto* problem = std::get_if<Problem>(&model)) return std::move(*problem);
  LayoutWords layout(design);
  StepWords step(design);
  MegatronWords out;
  out.groups.emplace_back("Model", std::move(std::get<0>(model)));
  out.groups.emplace_back("Parallelism", layout.parallelism());
  out.groups.emplace_back("Batch", layout.batch());
  out.groups.emplace_back("Precision and optimizer", step.precision());
  out.groups.emplace_back("Memory", step.memory());
  out.groups.emplace_back("Kernels", step.kernels());
  return out;
}

}  // namespace shardscape
