#include "launch/automodel/automodel_launch.h"

#include <algorithm>
#include <cctype>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr const char* kFramework = "NeMo Automodel 36044ad";
constexpr const char* kMesh = "nemo_automodel/components/distributed/mesh_utils.py:300";
constexpr const char* kStages = "nemo_automodel/components/distributed/pipelining/functional.py:182";

constexpr const char* kNoEffect[] = {"benchmark.*",
                                     "checkpoint.*",
                                     "ci.*",
                                     "comet*",
                                     "dataloader.*",
                                     "dataset*",
                                     "dist_env.*",
                                     "distributed._target_",
                                     "distributed.enable_fsdp2_prefetch",
                                     "distributed.fsdp2_*",
                                     "distributed.moe._target_",
                                     "distributed.moe.ignore_router_for_ac",
                                     "distributed.moe.wrap_outer_model",
                                     "distributed.patch_is_packed_sequence",
                                     "distributed.pipeline._target_",
                                     "distributed.pipeline.dtype",
                                     "distributed.pipeline.patch_*",
                                     "distributed.pipeline.scale_grads_in_schedule",
                                     "kd_*",
                                     "launcher*",
                                     "logger*",
                                     "loss_fn.*",
                                     "lr_scheduler.*",
                                     "mlflow*",
                                     "model._target_",
                                     "model.backend._target_",
                                     "model.backend.enable_*",
                                     "model.backend.fake_balanced_gate",
                                     "model.backend.rope",
                                     "model.config._target_",
                                     "model.config.trust_remote_code",
                                     "model.config.name_or_path",
                                     "model.force_hf",
                                     "model.load_base_model",
                                     "model.mtp_loss_scaling_factor",
                                     "model.output_hidden_states",
                                     "model.trust_remote_code",
                                     "model.use_liger_kernel",
                                     "optimizer.adam_w_mode",
                                     "optimizer.betas",
                                     "optimizer.eps",
                                     "optimizer.foreach",
                                     "optimizer.fused",
                                     "optimizer.lr",
                                     "optimizer.min_lr",
                                     "optimizer.store_param_remainders",
                                     "optimizer.weight_decay",
                                     "packed_sequence.packing_strategy",
                                     "packed_sequence.split_across_pack",
                                     "parallelizer.*",
                                     "peft._target_",
                                     "peft.alpha",
                                     "peft.dropout_position",
                                     "peft.lora_A_init",
                                     "peft.moe_rank_scaling",
                                     "peft.use_memory_efficient_lora",
                                     "peft.use_triton",
                                     "quantization.bnb_*",
                                     "recipe*",
                                     "rng.*",
                                     "seed",
                                     "separate_meshes",
                                     "skypilot.*",
                                     "slurm.*",
                                     "step_scheduler.*",
                                     "teacher_*",
                                     "tokenizer*",
                                     "validation*",
                                     "wandb*"};

// "none" of the older recipes is an absent value.
std::string given(LaunchFields& f, const std::string& name, const std::string& otherwise) {
  const std::string text = f.text(name).value_or(otherwise);
  return text == "none" || text == "None" ? otherwise : text;
}

class AutomodelReader {
 public:
  explicit AutomodelReader(LaunchFields& fields) : f_(fields) {}

  void run(int64_t usual_seq) {
    degrees();
    sharding();
    experts();
    batch(usual_seq);
    if (f_.design().parallel.pp > 1)
      pipeline();
    else
      f_.ignore("distributed.pipeline.*", "one stage");
    precision();
    step();
    adapters();
  }

 private:
  int64_t degree(const char* name) {
    const std::string argument = "distributed." + std::string(name), text = given(f_, argument, "1");
    if (!positive_number(text)) f_.misread(argument, "\"" + text + "\" is no number of ranks");
    return positive_number(text).value_or(1);
  }

  void degrees() {
    for (const char* axis : {"tp", "pp", "cp"}) {
      const std::string argument = std::string(axis) + "_size";
      f_.set(axis, degree(argument.c_str()), "distributed." + argument);
    }
    const ParallelSpec& p = f_.design().parallel;
    const int64_t inner = capped_product({p.tp, p.pp, p.cp});
    if (f_.gpus() % inner != 0)
      return f_.unmapped("gpus", std::to_string(f_.gpus()) +
                                     " GPUs are no multiple of tp x cp x pp = " + std::to_string(inner));
    const int64_t dp = f_.gpus() / inner;
    const std::string stated = given(f_, "distributed.dp_size", "");
    f_.conclude("dp", std::to_string(dp), "distributed.dp_size", "GPUs / (tp x cp x pp)", kMesh);
    if (positive_number(stated).value_or(dp) != dp)
      f_.misread("distributed.dp_size",
                 stated + " replicas are not those of " + std::to_string(f_.gpus()) + " GPUs");
    const bool sequence = f_.on("distributed.sequence_parallel") && p.tp > 1;
    f_.set("sequence_parallel", sequence ? "true" : "false", "distributed.sequence_parallel");
    if (const std::string overlap = "distributed.enable_async_tensor_parallel"; f_.on(overlap))
      f_.set_effective("tp_comm_overlap", "true", overlap);
    if (p.cp > 1) {  // torch's context_parallel, or the ring of Transformer Engine
      const bool te = f_.text("model.backend.attn").value_or("") == "te";
      f_.set("context", te ? "zigzag" : "all-gather", "distributed.cp_size");
    }
  }

  void sharding() {
    const std::string argument = "distributed.strategy", copies = "distributed.dp_replicate_size",
                      again = "distributed.reshard_after_forward",
                      of_experts = "distributed.moe.reshard_after_forward";
    const std::string strategy = given(f_, argument, "fsdp2");
    const ParallelSpec& p = f_.design().parallel;
    if (strategy == "ddp") return f_.set("sync", "ddp-buckets", argument);
    if (strategy == "megatron_fsdp")
      f_.set("sync", "megatron-fsdp", argument);
    else
      f_.set("sync", "fsdp2", argument);
    if (strategy != "fsdp2" && strategy != "megatron_fsdp")
      f_.misread(argument, "\"" + strategy + "\" is not fsdp2, megatron_fsdp or ddp");
    const int64_t replicas = degree("dp_replicate_size");
    if (replicas > 1 && p.dp % replicas == 0)
      f_.set_effective("dp_shard", std::to_string(p.dp / replicas), copies);
    if (strategy != "fsdp2") return;
    const bool moe = f_.design().model.experts > 0 && degree("ep_size") > 1;
    const std::string& name = moe ? of_experts : again;
    const std::string kept = moe || p.pp > 1 ? "false" : "true";
    if (f_.has(name))
      f_.set("reshard_after_forward", f_.on(name) ? "true" : "false", name);
    else
      f_.assume("reshard_after_forward", kept, name,
                moe ? "the default of models with experts (components/distributed/config.py)"
                    : "layers of a pipeline stay gathered (components/distributed/parallelizer.py:683)");
    f_.ignore(moe ? again : of_experts,
              "read only for models " + std::string(moe ? "without" : "with") + " experts on several ranks");
  }

  void experts() {
    const std::string ep = "distributed.ep_size", dispatch = "model.backend.dispatcher",
                      kernels = "model.backend.experts";
    if (f_.design().model.experts == 0) {
      for (const std::string& one : {ep, dispatch, kernels}) f_.ignore(one, "the model has no experts");
      return;
    }
    const int64_t ranks = degree("ep_size");
    f_.set("ep", ranks, ep);
    if (f_.design().parallel.tp > 1 && ranks > 1) f_.set("etp", "1", ep);
    const std::string kind = f_.text(dispatch).value_or("deepep");
    if (kind == "torch")
      f_.set("dispatcher", "allgather", dispatch);
    else if (kind == "deepep" || kind == "hybridep" || kind == "uccl_ep")
      f_.set("dispatcher", "flex", dispatch);
    else
      f_.unmapped(dispatch, "\"" + kind + "\" has no setting; the design has all-to-all");
    if (f_.text(kernels).value_or("gmm") == "torch")
      f_.unmapped(kernels, "experts run one after the other; those of the design are one grouped GEMM");
  }

  void batch(int64_t usual_seq) {
    const std::string all = "step_scheduler.global_batch_size", local = "step_scheduler.local_batch_size",
                      micro = "distributed.pipeline.pp_microbatch_size",
                      packed = "packed_sequence.packed_sequence_size";
    const ParallelSpec& p = f_.design().parallel;
    const int64_t each = std::max<int64_t>(f_.number(local, 1), 1), global = f_.number(all, each * p.dp),
                  slots = capped_product({each, p.dp});
    f_.set("batch", global, all);
    if (p.pp > 1)
      f_.set("microbatch", f_.number(micro, 1), micro);
    else
      f_.set("microbatch", each, local);
    if (slots > 0 && global % slots != 0)
      f_.misread(all, "not a multiple of local_batch_size x dp = " + std::to_string(slots));
    else if (p.pp > 1 && global > slots)
      f_.unmapped(all, "the pipeline drains after each of " + std::to_string(global / slots) +
                           " accumulation steps; in the design it runs through");
    if (!f_.arguments().contains("distributed.defer_fsdp_grad_sync") ||
        f_.on("distributed.defer_fsdp_grad_sync"))
      (void)f_.text("distributed.defer_fsdp_grad_sync");
    else if (p.pp == 1)
      f_.set_effective("reduce_every_microbatch", "true", "distributed.defer_fsdp_grad_sync");
    const int64_t length = f_.number(packed, 0);
    for (const char* name : {"dataset.seq_len", "dataset.seq_length", "dataset.max_seq_length"})
      if (f_.has(name) && length <= 0) return f_.set("seq", f_.number(name, 0), name);
    if (length > 0) {
      f_.set("seq", length, packed);
      return f_.unmapped(packed, "samples fill sequences of this length; packed_length would say their own");
    }
    if (usual_seq > 0)
      f_.assume("seq", std::to_string(usual_seq), "sequence length",
                "samples have their own lengths: the usual length of the model");
  }

  void pipeline() {
    const std::string section = "distributed.pipeline.", schedule = section + "pp_schedule",
                      per_stage = section + "layers_per_stage",
                      rounding = section + "round_virtual_stages_to_pp_multiple";
    const std::string text = f_.text(schedule).value_or("1f1b");
    std::string plain;
    for (const unsigned char c : text)
      if (std::isalnum(c)) plain += static_cast<char>(std::tolower(c));
    const bool single = plain == "1f1b" || plain == "gpipe";
    if (plain == "interleaved1f1b" || plain == "1f1b")
      f_.set("schedule", "1f1b", schedule);
    else if (plain == "gpipe")
      f_.set("schedule", "gpipe", schedule);
    else
      f_.unmapped(schedule, "\"" + text + "\" has no schedule; the design runs interleaved 1F1B");
    const int64_t layers = f_.design().model.layers, pp = f_.design().parallel.pp,
                  each = f_.number(per_stage, 0);
    int64_t stages = pp * (single ? 1 : 2);
    if (each > 0) stages = (layers + each - 1) / each;
    const std::string round = f_.text(rounding).value_or("");
    if (round == "up") stages += (pp - stages % pp) % pp;
    if (round == "down") stages -= stages % pp;
    if (stages < pp || stages % pp != 0 || stages > layers || (single && stages != pp))
      return f_.misread(per_stage, "makes " + std::to_string(stages) + " virtual stages of " +
                                       std::to_string(layers) + " layers on " + std::to_string(pp) +
                                       " ranks");
    f_.conclude("virtual_stages", std::to_string(stages / pp), per_stage,
                each > 0 ? "layers / layers_per_stage / pp, rounded" : "one or two per rank", kStages);
    std::vector<int64_t> split(static_cast<size_t>(stages), layers / stages);
    for (int64_t i = 0; i < layers % stages; ++i) ++split[static_cast<size_t>(i)];
    if (layers % stages != 0)
      f_.derive("stage_layers", joined_numbers(split), "layers of stages",
                "even, the first ones have one more",
                "nemo_automodel/components/distributed/pipelining/functional.py:98");
  }

  void precision() {
    const std::string policy = "distributed.mp_policy.", stored = "model.torch_dtype",
                      plain = "model.config.torch_dtype";
    const auto type = [&](const std::string& name, const char* otherwise) {
      const std::string text = f_.text(name).value_or(otherwise);
      return text.ends_with("float32") || text == "fp32"                ? "fp32"
             : text.ends_with("float16") && !text.ends_with("bfloat16") ? "fp16"
                                                                        : "bf16";
    };
    f_.set("dtype", type(policy + "param_dtype", "bfloat16"), policy + "param_dtype");
    f_.set("grad_dtype", type(policy + "reduce_dtype", "float32"), policy + "reduce_dtype");
    for (const char* one : {"_target_", "output_dtype", "cast_forward_inputs"}) (void)f_.text(policy + one);
    const std::string name = f_.has(stored) || !f_.has(plain) ? stored : plain;
    if (std::string_view(type(name, "auto")) != "fp32")
      f_.unmapped(name,
                  "parameters, gradients and moments are kept in 16 bits; those of the design are float32 "
                  "between their uses");
    const std::string recipe = "model.backend.te_fp8.recipe", enabled = "fp8.enabled";
    if (const auto kind = f_.text(recipe)) {
      f_.set("compute", *kind == "mxfp8" ? "mxfp8" : *kind == "block" ? "fp8-blockwise" : "fp8", recipe);
      if (*kind != "mxfp8" && *kind != "block" && *kind != "current")
        f_.unmapped(recipe, "the design has one scale per tensor");
    }
    if (f_.on(enabled)) f_.set("compute", "fp8", enabled);
    f_.ignore("fp8.*", f_.on(enabled) ? "scales of float8" : "fp8 is off");
  }

  void step() {
    const std::string plain = "distributed.activation_checkpointing",
                      older = "parallelizer.activation_checkpointing",
                      again = f_.has(older) && !f_.has(plain) ? older : plain,
                      clip = "clip_grad_norm.max_norm", optimizer = "optimizer._target_",
                      compile = "compile.enabled",
                      attention = f_.has("model.backend.attn") ? "model.backend.attn"
                                                               : "model.attn_implementation";
    const std::string mode = f_.text(again).value_or("false");
    f_.set("recompute", mode == "true" || mode == "full" ? "full" : "none", again);
    if (mode == "selective")
      f_.unmapped(again, "every second GEMM and cheap ops run again; the design runs none again");
    f_.set("clip_grad_norm", f_.positive(clip, "1.0") ? "true" : "false", clip);
    const std::string kind = f_.text(optimizer).value_or("torch.optim.AdamW");
    f_.set("optimizer", "adam", optimizer);
    if (!kind.ends_with("Adam") && !kind.ends_with("AdamW"))
      f_.unmapped(optimizer, "\"" + kind + "\" has no setting; the design has Adam");
    const std::string kernels = f_.text(attention).value_or("sdpa");
    (void)f_.text("model.attn_implementation");
    const bool te = kernels == "te" || f_.text("model.backend.linear").value_or("") == "te";
    f_.set("profile",
           te                   ? "megatron-core-te"
           : kernels == "eager" ? "transformers-eager"
                                : "transformers-flash",
           attention);
    for (const char* one : {"model.backend.linear", "model.backend.rms_norm", "model.backend.rope_fusion",
                            "model.backend.gate_precision"})
      (void)f_.text(one);
    for (const std::string& one :
         {compile, std::string("model.backend.compile_attn"), std::string("distributed.enable_compile")})
      if (f_.on(one)) f_.unmapped(one, "compiled kernels of this framework have no profile");
    f_.ignore("compile.*", f_.on(compile) ? "how the compiler works" : "compile is off");
    for (const char* name : {"model.num_nextn_predict_layers", "model.config.num_nextn_predict_layers",
                             "model.mtp_use_repeated_layer", "model.config.mtp_use_repeated_layer"})
      if (f_.has(name) && f_.text(name) != "0" && f_.text(name) != "false")
        f_.unmapped(name, "the preset says the heads of further tokens");
    const std::string teacher = "teacher_model.pretrained_model_name_or_path";
    if (f_.has(teacher)) f_.unmapped(teacher, "the forward pass of a teacher is not in the design");
  }

  void adapters() {
    if (!f_.has("peft.dim") && !f_.has("peft._target_")) return;
    read_adapters(f_, {"peft.dim", "peft.target_modules", "peft.dropout"});
    (void)f_.text("peft.match_all_linear");
    if (f_.on("peft.use_dora")) f_.unmapped("peft.use_dora", "the norms of DoRA have no setting");
    for (const auto& [name, value] : f_.arguments())
      if (name == "quantization.load_in_4bit" && value == "true")
        f_.set_effective("frozen_dtype", "nf4", name);
      else if (name.starts_with("quantization.") && value == "false")
        f_.ignore(name, "off");
  }

  LaunchFields& f_;
};

// GPUs that the file states: replicas x inner degrees, or processes of the launcher.
std::optional<int64_t> stated_gpus(const LaunchArguments& arguments) {
  const auto number = [&](const std::string& name) -> std::optional<int64_t> {
    const auto it = arguments.find(name);
    return it == arguments.end() ? std::nullopt : positive_number(it->second);
  };
  const auto degree = [&](const char* name) {
    return number("distributed." + std::string(name)).value_or(1);
  };
  if (const auto dp = number("distributed.dp_size"))
    return capped_product({*dp, degree("tp_size"), degree("cp_size"), degree("pp_size")});
  for (const auto& [nodes, each] : {std::pair{"ci.nodes", "ci.nproc_per_node"},
                                    {"slurm.nodes", "slurm.ntasks_per_node"},
                                    {"benchmark.num_nodes", "ci.nproc_per_node"}})
    if (const auto processes = number(each)) return capped_product({number(nodes).value_or(1), *processes});
  return std::nullopt;
}

std::string model_argument(const LaunchArguments& arguments) {
  for (const char* name :
       {"model.pretrained_model_name_or_path", "model.config.pretrained_model_name_or_path",
        "model.config.name_or_path", "model.config"})
    if (arguments.contains(name)) return name;
  return "model.pretrained_model_name_or_path";
}

}  // namespace

bool is_automodel_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  return has("nemo_automodel") && has("step_scheduler:") && has("model:");
}

void read_automodel_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Yaml, request.text, request, out);
  if (!document) return;
  LaunchArguments& given = document->arguments;
  if (!set_launch_gpus(request, stated_gpus(given), "dp_size x tp x cp x pp, or the launcher's processes",
                       out))
    return;
  LaunchFields fields(given, *out.gpus, kFramework);
  const std::string argument = model_argument(given), named = fields.text(argument).value_or("");
  const auto model = find_model(request, named, argument);
  if (const auto* problem = std::get_if<Problem>(&model)) {
    out.problems.push_back(*problem);
    return;
  }
  const auto& found = std::get<NamedModel>(model);
  take_model(fields, request, found, named, argument);
  if (const std::string layers = "model.config.num_hidden_layers"; fields.has(layers))
    fields.set("layers", fields.number(layers, found.model.layers), layers);
  AutomodelReader(fields).run(found.seq);
  finish_launch(fields.finish({kFramework, kNoEffect}), document->lines, out);
}

}  // namespace shardscape
