#include "launch/internevo/internevo_launch.h"

#include <algorithm>
#include <cctype>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"

namespace shardscape {
namespace {

constexpr const char* kFramework = "InternEvo c628a8c";
constexpr const char* kLaunch = "internlm/initialize/launch.py";
constexpr const char* kContext = "internlm/core/context/parallel_context.py";

constexpr const char* kNoEffect[] = {"adam.*",
                                     "alert_address*",
                                     "beta2_scheduler.*",
                                     "ckpt.*",
                                     "cudnn_*",
                                     "data.diag_outlier_ratio",
                                     "data.empty_cache_and_diag_interval",
                                     "data.fixed_random_dataset_seqlen",
                                     "data.min_length",
                                     "data.num_worker",
                                     "data.rampup_batch_size",
                                     "data.skip_batches",
                                     "data.text_field",
                                     "data.tokenizer_*",
                                     "data.total_steps",
                                     "data.train_folder",
                                     "data.type",
                                     "data.valid_*",
                                     "enable_tb",
                                     "grad_scaler.*",
                                     "loss.*",
                                     "lr_scheduler.*",
                                     "metric_dtype",
                                     "model.embed_grad_scale",
                                     "model.embed_split_hidden",
                                     "model.layer_norm_epsilon",
                                     "model.max_position_embeddings",
                                     "model.parallel_output",
                                     "model.rope_base",
                                     "model.use_dynamic_ntk_rope",
                                     "model.use_scaled_init",
                                     "moe.eval_capacity_factor",
                                     "moe.min_capacity",
                                     "moe.noisy_gate_policy",
                                     "moe.use_rts",
                                     "monitor.*",
                                     "parallel.pipeline.interleaved_overlap",
                                     "resume_tb_folder",
                                     "tensorboard_folder"};

class InternevoReader {
 public:
  explicit InternevoReader(LaunchFields& fields) : f_(fields) {}

  void run() {
    model();
    experts();
    degrees();
    sharding();
    batch();
    step();
  }

 private:
  // A number, or the size in a mapping: parallel.pipeline = 2, parallel.pipeline = dict(size=2).
  std::string sized(const std::string& name) const {
    return f_.has(name + ".size") || !f_.has(name) ? name + ".size" : name;
  }

  void model() {
    const std::string kind = f_.text("model_type").value_or("INTERNLM");
    const bool no_bias = kind.starts_with("INTERNLM2") || kind == "LLAMA2" || f_.on("model.no_bias");
    set_preset(f_, "llama2-7b", "model_type");
    f_.design().model.preset.clear();
    f_.design().name = "InternEvo";
    if (!no_bias) f_.set_architecture("qwen2", "model_type");
    if (!no_bias)
      f_.unmapped("model_type",
                  "the output projection of attention also has a bias, which the design does not have");
    (void)f_.text("model.no_bias");
    const int64_t hidden = f_.number("model.hidden_size", 768),
                  heads = f_.number("model.num_attention_heads", 12);
    f_.set("layers", f_.number("model.num_layers", 12), "model.num_layers");
    f_.set("hidden", hidden, "model.hidden_size");
    f_.set("heads", heads, "model.num_attention_heads");
    f_.derive("kv_heads", std::to_string(f_.number("model.num_kv_attention_heads", heads)),
              "model.num_kv_attention_heads", "as many as heads", "internlm/model/modeling_internlm.py:92");
    f_.derive("head_dim", std::to_string(hidden / std::max<int64_t>(heads, 1)), "head size",
              "hidden_size / num_attention_heads", "internlm/model/modeling_internlm.py:86");
    f_.conclude("ffn", std::to_string(width(hidden)), "model.mlp_ratio",
                "hidden_size x mlp_ratio, rounded up to a multiple of multiple_of",
                "internlm/model/modules/mlp.py:52");
    f_.set("vocab", f_.number("model.vocab_size", 50304), "model.vocab_size");
    f_.set("vocab_multiple", "1", "multiple of the vocabulary");
    f_.set("tied_embeddings", "false", "weights of the head");
    if (f_.text("model.norm_type").value_or("rmsnorm") != "rmsnorm")
      f_.unmapped("model.norm_type", "the design has RMSNorm");
    if (f_.text("model.use_swiglu").value_or("true") != "true")
      f_.unmapped("model.use_swiglu", "the design has SwiGLU");
    for (const char* one : {"model.apply_post_layer_norm", "model.residual_in_fp32", "use_fp32_norm"})
      if (f_.on(one))
        f_.unmapped(one, "residuals and norms of the design are before the blocks, in the data type");
    if (f_.positive("model.drop_rate", "0") || f_.positive("model.attn_drop_rate", "0"))
      f_.set("dropout", "true", "model.drop_rate");
  }

  int64_t width(int64_t hidden) {
    const std::string text = f_.text("model.mlp_ratio").value_or("4");
    const auto ratio = real_number(text);
    if (!ratio || *ratio <= 0 || *ratio > 1000) {
      f_.misread("model.mlp_ratio", "\"" + text + "\" is no ratio");
      return 4 * hidden;
    }
    const int64_t multiple = std::clamp<int64_t>(f_.number("model.multiple_of", 256), 1, 1'000'000),
                  exact = static_cast<int64_t>(static_cast<double>(std::min<int64_t>(hidden, 1'000'000)) *
                                               *ratio);
    return (exact + multiple - 1) / multiple * multiple;
  }

  void experts() {
    const std::string name = "model.num_experts";
    const int64_t experts = f_.number(name, 1);
    if (experts < 2) {
      f_.ignore("moe.*", "the model has no experts");
      return f_.ignore("model.moe_*", "the model has no experts");
    }
    const std::string wide = std::to_string(f_.design().model.ffn);
    f_.set_architecture("mixtral", name);
    f_.set("experts", experts, name);
    f_.set("experts_per_token", f_.number("moe.top_k", 1), "moe.top_k");
    f_.conclude("expert_ffn", wide, "model.mlp_ratio", "the width of the MLP",
                "internlm/model/modeling_moe.py:139");
    f_.set("ffn", "0", name);
    const bool drops = f_.text("moe.drop_tokens").value_or("true") == "true";
    if (drops && f_.has("moe.capacity_factor"))
      f_.set("capacity_factor", *f_.text("moe.capacity_factor"), "moe.capacity_factor");
    else if (!drops)
      f_.ignore("moe.capacity_factor", "no tokens are dropped");
    if (f_.on("model.moe_use_residual"))
      f_.unmapped("model.moe_use_residual", "an MLP next to the experts has no setting");
    const std::string type = f_.text("model.moe_type").value_or("GShard");
    if (type != "GShard" && !type.starts_with("MegaBlock"))
      f_.misread("model.moe_type", "\"" + type + "\" is not GShard, MegaBlock or MegaBlock-D");
    if (type == "GShard")
      f_.unmapped(
          "model.moe_type",
          "tokens are sorted by products with a mask of tokens x experts x capacity, which the design does "
          "not count");
  }

  void degrees() {
    const std::string tensor = sized("parallel.tensor"), pipeline = sized("parallel.pipeline"),
                      mode_name = "parallel.tensor.mode";
    const int64_t split = std::max<int64_t>(f_.number(tensor, 1), 1),
                  pp = std::max<int64_t>(f_.number(pipeline, 1), 1);
    const std::string mode = f_.text(mode_name).value_or("mtp");
    isp_ = mode == "isp";
    if (mode != "mtp" && mode != "msp" && mode != "fsp" && !isp_)
      f_.misread(mode_name, "\"" + mode + "\" is not mtp, msp, fsp or isp");
    f_.set(isp_ ? "cp" : "tp", split, tensor);
    if (isp_ && split > 1) f_.set("context", "ulysses", mode_name);
    f_.set("pp", pp, pipeline);
    const bool sequence = !isp_ && split > 1 && (mode == "msp" || mode == "fsp");
    f_.set("sequence_parallel", sequence ? "true" : "false", mode_name);
    (void)f_.text("parallel.sequence_parallel");
    if (f_.gpus() % capped_product({split, pp}) != 0)
      return f_.unmapped("gpus", std::to_string(f_.gpus()) + " GPUs are no multiple of tensor x pipeline = " +
                                     std::to_string(capped_product({split, pp})));
    const int64_t dp = f_.gpus() / split / pp;
    f_.derive("dp", std::to_string(dp), "gpus", "GPUs / pipeline / tensor", std::string(kContext) + ":495");
    if (f_.design().model.experts > 0)
      f_.derive("ep", std::to_string(std::min(dp, f_.design().model.experts)), "expert parallelism",
                "as many replicas as there are experts", std::string(kContext) + ":541");
    stages(pp);
  }

  void stages(int64_t pp) {
    const int64_t chunks = f_.number("model.num_chunks", 1), layers = f_.design().model.layers;
    if (pp == 1) return f_.ignore("model.num_chunks", "one stage");
    f_.set("schedule", "1f1b", "parallel.pipeline");
    f_.set("virtual_stages", chunks, "model.num_chunks");
    if (chunks > 0 && layers % capped_product({pp, chunks}) != 0)
      f_.unmapped("model.num_layers", "InternEvo gives the last stages one layer more");
  }

  void sharding() {
    const std::string zero = sized("parallel.zero1"), weight = sized("parallel.weight");
    const int64_t size = f_.number(zero, -1), weights = f_.number(weight, 1), dp = f_.design().parallel.dp;
    const bool fsdp = f_.on("parallel.zero1.fsdp");
    for (const char* one : {"parallel.weight.overlap", "parallel.weight.memory_pool"}) (void)f_.text(one);
    if (fsdp || (isp_ && weights > 1)) {
      f_.set("sync", "fsdp1", fsdp ? "parallel.zero1.fsdp" : weight);
      if (!fsdp)
        f_.unmapped(weight,
                    "the weights of a layer are gathered from " + std::to_string(weights) +
                        " ranks, and optimizer states are sharded further; the design gathers both from all "
                        "replicas");
      return f_.ignore(zero, "the design shards all states");
    }
    if (weights > 1) f_.misread(weight, "weights are sharded only in the tensor mode isp");
    f_.set("sync", size == 1 ? "ddp-flat" : "distributed-optimizer", zero);
    if (size > 1 && size < dp) f_.set_effective("dp_shard", std::to_string(size), zero);
    for (const auto& [knob, name] :
         {std::pair{"overlap_grad_reduce", "hybrid_zero_optimizer.overlap_sync_grad"},
          {"overlap_param_gather", "hybrid_zero_optimizer.overlap_sync_param"}})
      if (f_.on(name)) f_.set_effective(knob, "true", name);
  }

  void batch() {
    const int64_t micro = f_.number("data.micro_bsz", 1), steps = f_.number("data.micro_num", 1);
    f_.set("seq", f_.number("data.seq_len", 2048), "data.seq_len");
    f_.set("microbatch", micro, "data.micro_bsz");
    f_.conclude("batch", std::to_string(capped_product({micro, steps, f_.design().parallel.dp})),
                "data.micro_num", "micro_bsz x micro_num x dp", kLaunch);
    if (f_.has("data.gradient_accumulation")) f_.ignore("data.gradient_accumulation", "micro_num says it");
    f_.ignore("data.packed_length", "seq_len x micro_bsz replaces it");
    if (f_.text("data.use_packed_dataset").value_or("true") == "true" && !f_.on("data.pack_sample_into_one"))
      f_.unmapped(
          "data.pack_sample_into_one",
          "attention sees each sample of a sequence alone; packed_length would say how long they are");
  }

  void step() {
    const std::string name = "model.dtype", text = f_.text(name).value_or("torch.float16");
    const std::string type = text.ends_with("bfloat16")                            ? "bf16"
                             : text.ends_with("float16") || text.ends_with("half") ? "fp16"
                                                                                   : "fp32";
    f_.set("dtype", type, name);
    f_.conclude("grad_dtype", type, "type of gradients", "the type of the parameters",
                "internlm/solver/optimizer/hybrid_zero_optim.py");
    f_.set("clip_grad_norm", f_.positive("hybrid_zero_optimizer.clip_grad_norm", "0.0") ? "true" : "false",
           "hybrid_zero_optimizer.clip_grad_norm");
    f_.ignore("hybrid_zero_optimizer.reduce_bucket_size", "sizes of messages");
    f_.set("optimizer", "adam", "adam");
    recompute();
    f_.conclude("profile", "internevo", "model.use_flash_attn", "kernels of InternEvo", "internlm/model");
    if (f_.has("model.use_flash_attn") && !f_.on("model.use_flash_attn"))
      f_.unmapped("model.use_flash_attn", "the design has flash attention");
  }

  // The first layers of a chunk, as many as the fraction says.
  void recompute() {
    const std::string name = "model.checkpoint", text = f_.text(name).value_or("false");
    const double share = text == "true" ? 1 : text == "false" ? 0 : real_number(text).value_or(-1);
    if (share < 0 || share > 1) return f_.misread(name, "\"" + text + "\" is not true, false or a fraction");
    const ParallelSpec& p = f_.design().parallel;
    const int64_t chunk = f_.design().model.layers / std::max<int64_t>(p.pp * p.virtual_stages, 1),
                  layers = static_cast<int64_t>(static_cast<double>(chunk) * share);
    f_.set("recompute", layers > 0 ? "full" : "none", name);
    if (layers == 0 || share == 1) return;
    f_.set("recompute_method", "block", name);
    f_.set("recompute_num_layers", layers, name);
  }

  LaunchFields& f_;
  bool isp_ = false;
};

// Names such as SEQ_LEN, which other values refer to.
bool is_variable(const std::string& name) {
  return std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return std::islower(c) || c == '.' || c == ' '; });
}

}  // namespace

bool is_internevo_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  return has("hybrid_zero_optimizer = dict(") && has("parallel = dict(") && has("model = dict(");
}

void read_internevo_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Python, request.text, request, out);
  if (!document) return;
  if (!set_launch_gpus(request, std::nullopt, "", out)) return;
  const auto without_effect = [](const std::string& name) {
    return std::any_of(std::begin(kNoEffect), std::end(kNoEffect),
                       [&](std::string_view pattern) { return matches_name(pattern, name); });
  };
  // A value that Python computes is absent for the readers, and a field of its own.
  LaunchArguments known;
  for (const auto& [name, value] : document->arguments)
    if (!document->computed.contains(name) || without_effect(name)) known[name] = value;
  if (!known.contains("model.hidden_size") || !known.contains("model.num_layers")) {
    out.problems.emplace_back(
        ProblemCode::LaunchFormat, request.where,
        "the file does not state model.hidden_size and model.num_layers as literals",
        "a configuration whose values are literals, names of literals, and arithmetic on them");
    return;
  }
  LaunchFields fields(known, *out.gpus, kFramework);
  for (const auto& [name, value] : known)
    if (is_variable(name)) fields.ignore(name, "a variable of the file");
  InternevoReader(fields).run();
  finish_launch(fields.finish({kFramework, kNoEffect}), document->lines, out);
  for (const std::string& name : document->computed)
    if (!without_effect(name))
      out.fields.push_back({LaunchUse::NotUnderstood,
                            name,
                            document->arguments[name],
                            {},
                            "Python computes the value, and no Python is executed",
                            "",
                            document->lines[name]});
  sort_by_line(out.fields);
}

}  // namespace shardscape
