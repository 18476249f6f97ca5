// The actor on PyTorch's FSDP.
#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/rl/verl_actor.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {
namespace {

constexpr const char* kWorkers = "verl/workers/fsdp_workers.py";

std::string actor(const std::string& name) { return kVerlActor + name; }
std::string model_setting(const std::string& name) { return kVerlModel + name; }
std::string fsdp_setting(const std::string& name) { return actor("fsdp_config." + name); }

void degrees(LaunchFields& f) {
  const std::string plain = actor("ulysses_sequence_parallel_size"),
                    inside = fsdp_setting("ulysses_sequence_parallel_size"),
                    name = f.has(plain) ? plain : inside;
  (void)f.text(inside);
  const int64_t cp = std::max<int64_t>(f.number(name, 1), 1);
  f.set("cp", cp, name);
  if (cp > 1) f.set("context", "ulysses", name);
  if (f.gpus() % cp != 0)
    return f.unmapped(name, std::to_string(f.gpus()) + " GPUs are no multiple of " + std::to_string(cp));
  f.derive("dp", std::to_string(f.gpus() / cp), "gpus", "GPUs / ulysses_sequence_parallel_size",
           std::string(kWorkers) + ":170");
}

void sharding(LaunchFields& f) {
  const std::string strategy = actor("strategy"), size = fsdp_setting("fsdp_size"),
                    again = fsdp_setting("reshard_after_forward"), offload = fsdp_setting("offload_policy");
  const bool second = f.text(strategy).value_or("fsdp") == "fsdp2";
  f.set("sync", second ? "fsdp2" : "fsdp1", strategy);
  f.set("reshard_after_forward", f.text(again).value_or("true") == "false" ? "false" : "true", again);
  const int64_t shards = f.number(size, -1), cp = f.design().parallel.cp, dp = f.design().parallel.dp;
  // The mesh of FSDP counts all GPUs, those of a sequence too (fsdp_workers.py:98).
  if (shards > 0 && shards < f.gpus()) {
    if (shards % cp == 0 && shards / cp >= 1 && shards / cp < dp)
      f.set_effective("dp_shard", std::to_string(shards / cp), size);
    else
      f.unmapped(size, "the ranks of a sequence share the states in the design");
  }
  if (second && f.on(offload)) {
    f.set("offload_optimizer", "true", offload);
    f.unmapped(offload, "the host also holds the shards of parameters, which every step copies to the GPU");
  }
  for (const char* one : {"param_offload", "optimizer_offload"})
    f.ignore(fsdp_setting(one), "the states are back on the GPU when the actor trains");
}

void precision(LaunchFields& f) {
  const std::string param = fsdp_setting("mixed_precision.param_dtype"),
                    reduce = fsdp_setting("mixed_precision.reduce_dtype"), plain = fsdp_setting("dtype"),
                    stored = fsdp_setting("model_dtype");
  const auto type = [](const std::string& text) {
    return text == "fp16" || text == "float16"   ? "fp16"
           : text == "fp32" || text == "float32" ? "fp32"
                                                 : "bf16";
  };
  const std::string name = f.has(param) ? param : plain;
  f.set("dtype", type(f.text(name).value_or("bf16")), name);
  (void)f.text(plain);
  if (f.has(reduce))
    f.set("grad_dtype", type(f.text(reduce).value_or("fp32")), reduce);
  else
    f.assume("grad_dtype", "fp32", "type of reductions", "default of verl (fsdp_workers.py:500)");
  const std::string weights = f.text(stored).value_or("fp32");
  if (std::string_view(type(weights)) != "fp32")
    f.unmapped(stored,
               "optimizer states and shards of parameters have this type; those of the design are float32");
}

void batch(LaunchFields& f) {
  const ParallelSpec& p = f.design().parallel;
  const VerlBatch sizes = verl_batch(f.arguments(), p.cp, p.dp);
  const std::string dynamic = actor("use_dynamic_bsz"), micro = actor("ppo_micro_batch_size_per_gpu"),
                    length = actor("ppo_max_token_len_per_gpu"), all = actor("ppo_micro_batch_size");
  f.conclude("seq", std::to_string(sizes.seq), "data.max_response_length",
             "max_prompt_length + max_response_length, the longest sequence", "");
  f.conclude("batch", std::to_string(sizes.batch), actor("ppo_mini_batch_size"),
             "ppo_mini_batch_size x rollout.n, the sequences of an update", std::string(kWorkers) + ":241");
  if (sizes.by_tokens) {
    f.conclude("microbatch", std::to_string(sizes.microbatch), length,
               "sequences of the longest size that fit the tokens", "verl/workers/actor/dp_actor.py:552");
    f.unmapped(
        dynamic,
        "microbatches hold as many sequences as fit ppo_max_token_len_per_gpu; those of the design hold "
        "as many of the longest");
    f.ignore(micro, "use_dynamic_bsz replaces it");
    f.ignore(all, "use_dynamic_bsz replaces it");
  } else if (sizes.microbatch > 0) {
    f.conclude("microbatch", std::to_string(sizes.microbatch), f.has(micro) ? micro : all,
               f.has(micro) ? "sequences of a GPU" : "sequences of all replicas, divided by them",
               std::string(kWorkers) + ":248");
    f.ignore(length, "use_dynamic_bsz is off");
  }
  (void)f.text(dynamic);
  (void)f.text("data.max_prompt_length");
  (void)f.text("actor_rollout_ref.rollout.n");
}

void step(LaunchFields& f) {
  const std::string checkpoints = model_setting("enable_gradient_checkpointing"),
                    optimizer = actor("optim.optimizer"), clip = actor("grad_clip");
  f.set("recompute", f.text(checkpoints).value_or("true") == "false" ? "none" : "full", checkpoints);
  f.set("clip_grad_norm", f.positive(clip, "1.0") ? "true" : "false", clip);
  f.ignore(actor("optim.clip_grad"), "grad_clip says it");
  const std::string kind = f.text(optimizer).value_or("AdamW");
  f.set("optimizer", "adam", optimizer);
  if (kind != "AdamW" && kind != "Adam") f.unmapped(optimizer, "the optimizer is " + kind + ", not Adam");
  f.conclude("profile", "transformers-flash", "kernels", "flash_attention_2 of transformers", kWorkers);
  if (const int64_t rank = f.number(model_setting("lora_rank"), 0); rank > 0)
    read_adapters(f, {model_setting("lora_rank"), model_setting("target_modules"), ""});
  for (const VerlChange& change : verl_changes())
    if (changes(change, f.arguments())) f.unmapped(change.name, change.reason);
}

// Settings that this backend reads, and those of the other one.
std::vector<const char*> without_effect() {
  std::vector<const char*> out = verl_no_effect();
  for (const char* one :
       {"actor_rollout_ref.actor.megatron.*", "actor_rollout_ref.actor.fsdp_config.forward_prefetch",
        "actor_rollout_ref.actor.fsdp_config.wrap_policy.*",
        "actor_rollout_ref.actor.fsdp_config.forward_only", "actor_rollout_ref.actor.fsdp_config.strategy",
        "actor_rollout_ref.actor.use_torch_compile", "actor_rollout_ref.actor.fsdp_config.use_torch_compile",
        "actor_rollout_ref.model.target_modules", "actor_rollout_ref.model.exclude_modules"})
    out.push_back(one);
  return out;
}

}  // namespace

void read_verl_fsdp(const LaunchDocument& document, std::optional<int64_t> gpus, const std::string& gpus_from,
                    const LaunchRequest& request, LaunchImport& out) {
  if (!set_launch_gpus(request, gpus, gpus_from, out)) return;
  LaunchFields f(document.arguments, *out.gpus, "verl b178a3c");
  const std::string name = model_setting("path"), named = f.text(name).value_or("");
  const auto model = find_model(request, named, name);
  if (const auto* problem = std::get_if<Problem>(&model)) {
    out.problems.push_back(*problem);
    return;
  }
  take_model(f, request, std::get<NamedModel>(model), named, name);
  degrees(f);
  sharding(f);
  precision(f);
  batch(f);
  step(f);
  finish_launch(f.finish({"verl b178a3c", without_effect()}), document.lines, out);
}

}  // namespace shardscape
