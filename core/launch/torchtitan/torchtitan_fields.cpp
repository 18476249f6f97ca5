#include "launch/torchtitan/torchtitan_fields.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "design/limits.h"
#include "launch/document/document_launch.h"
#include "launch/torchtitan/torchtitan_models.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"checkpoint.*",
                                     "comm.*",
                                     "debug.moe_force_load_balance",
                                     "debug.seed",
                                     "experimental.custom_args_module",
                                     "experimental.custom_import",
                                     "job.*",
                                     "lr_scheduler.*",
                                     "memory_estimation.*",
                                     "metrics.*",
                                     "model.hf_assets_path",
                                     "model.print_after_conversion",
                                     "model.tokenizer_path",
                                     "optimizer.beta1",
                                     "optimizer.beta2",
                                     "optimizer.eps",
                                     "optimizer.lr",
                                     "optimizer.weight_decay",
                                     "profiling.*",
                                     "training.dataloader.*",
                                     "training.dataset",
                                     "training.dataset_path",
                                     "training.gc_debug",
                                     "training.gc_freq",
                                     "training.seed",
                                     "training.steps",
                                     "validation.*",
                                     "activation_checkpoint.debug",
                                     "activation_checkpoint.determinism_check",
                                     "activation_checkpoint.early_stop",
                                     "activation_checkpoint.preserve_rng_state",
                                     "activation_checkpoint.visualize_memory_budget_pareto"};

constexpr std::pair<const char*, const char*> kChanges[] = {
    {"activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
     "single GEMMs that run again have no setting"},
    {"fault_tolerance.enable", "replicas of TorchFT have no setting"},
    {"parallelism.pipeline_parallel_schedule_csv", "a schedule from a file has no setting"},
    {"parallelism.enable_compiled_autograd", "a compiled backward has no kernel profile"},
    {"training.deterministic", "deterministic kernels are slower"},
    {"debug.deterministic", "deterministic kernels are slower"}};

constexpr const char* kSections[] = {"activation_checkpoint",
                                     "checkpoint",
                                     "comm",
                                     "compile",
                                     "debug",
                                     "experimental",
                                     "float8",
                                     "job",
                                     "lr_scheduler",
                                     "memory_estimation",
                                     "metrics",
                                     "model",
                                     "mx",
                                     "optimizer",
                                     "parallelism",
                                     "profiling",
                                     "quantize",
                                     "training",
                                     "validation",
                                     "fault_tolerance"};

bool is_default(const std::string& argument, const std::string& value) {
  static const std::map<std::string, std::string> kDefaults{
      {"compile.backend", "inductor"},
      {"debug.deterministic", "false"},
      {"debug.deterministic_warn_only", "false"},
      {"training.deterministic", "false"},
      {"optimizer.early_step_in_backward", "false"},
      {"parallelism.enable_compiled_autograd", "false"},
      {"parallelism.pipeline_parallel_schedule_csv", ""},
      {"parallelism.pipeline_parallel_expert_parallel_overlap", "true"},
      {"fault_tolerance.enable", "false"}};
  const auto found = kDefaults.find(argument);
  return found != kDefaults.end() ? found->second == value
                                  : argument.starts_with("fault_tolerance.") || value.empty();
}

int64_t degree(const LaunchArguments& arguments, const char* name, int64_t otherwise) {
  const auto given = arguments.find(name);
  int64_t value = 0;
  if (given == arguments.end()) return otherwise;
  const std::string& text = given->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= 1'000'000 ? value : otherwise;
}

class SettingsReader {
 public:
  SettingsReader(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out)
      : f_(fields), request_(request), out_(out) {}

  bool run() {
    if (!model() || !degrees()) return false;
    experts();
    pipeline();
    batch();
    precision();
    recompute();
    kernels();
    return out_.problems.empty();
  }

 private:
  bool refuse(ProblemCode code, std::string what, std::string accepted) {
    out_.problems.emplace_back(code, request_.where, std::move(what), std::move(accepted));
    return false;
  }

  bool model() {
    const std::string name = f_.text("model.name").value_or("llama3"),
                      flavor = f_.text("model.flavor").value_or("debugmodel");
    if (name == "flux")
      return refuse(ProblemCode::LaunchFormat, "model.name is flux, which makes images by diffusion",
                    "a launch of a language model: llama3, llama4, deepseek_v3, qwen3 or gpt_oss");
    const TorchtitanModel* known = torchtitan_model(name, flavor);
    if (known)
      set_flavor(*known, flavor);
    else if (!set_requested_model(f_, request_,
                                  "model.name \"" + name + "\" has no known model.flavor \"" + flavor + "\"",
                                  out_))
      return false;
    f_.set("seq", f_.number("training.seq_len", 2048), "training.seq_len");
    f_.derive("vocab_multiple", "1", "vocabulary", "not padded", "torchtitan/models/llama3/model/model.py");
    return true;
  }

  void set_flavor(const TorchtitanModel& known, const std::string& flavor) {
    set_preset(f_, known.preset, "model.flavor");
    if (!known.sizes.empty()) f_.design().model.preset.clear();
    for (const auto& [knob, value] : known.sizes) f_.set(knob, value, "model.flavor");
    f_.design().name = std::string(known.name) + " " + flavor;
    if (*known.difference != '\0') f_.unmapped("model.flavor", known.difference);
    if (sees_documents(known, flavor))
      f_.unmapped("model.flavor", "attention sees one document at a time; packed_length would say how long");
  }

  bool degrees() {
    d_ = torchtitan_degrees(f_.arguments());
    const std::string shard = "parallelism.data_parallel_shard_degree";
    const int64_t inner = d_.inner(), gpus = f_.gpus();
    const bool solved = d_.shard < 1;
    if (solved) d_.shard = std::max<int64_t>(gpus / inner, 1);
    const int64_t all = capped_product({d_.shard, inner});
    if (all != gpus)
      return refuse(ProblemCode::LaunchGpus,
                    std::to_string(gpus) + " GPUs are not dp_replicate " + std::to_string(d_.replicate) +
                        (solved ? "" : " x dp_shard " + std::to_string(d_.shard)) + " x cp " +
                        std::to_string(d_.cp) + " x tp " + std::to_string(d_.tp) + " x pp " +
                        std::to_string(d_.pp),
                    all > kMaxWorld
                        ? "degrees with at most " + grouped(kMaxWorld) + " ranks"
                        : (solved ? "a multiple of " : "") + std::to_string(solved ? inner : all) + " GPUs");
    f_.set("tp", d_.tp, "parallelism.tensor_parallel_degree");
    f_.set("pp", d_.pp, "parallelism.pipeline_parallel_degree");
    f_.set("cp", d_.cp, "parallelism.context_parallel_degree");
    for (const char* read :
         {"parallelism.tensor_parallel_degree", "parallelism.pipeline_parallel_degree",
          "parallelism.context_parallel_degree", shard.c_str(), "parallelism.data_parallel_replicate_degree"})
      (void)f_.number(read, 1);
    f_.derive("dp", std::to_string(d_.replicate * d_.shard), "dp_replicate x dp_shard",
              "dp_shard takes the GPUs that the other degrees leave",
              "torchtitan/distributed/parallel_dims.py:48");
    sharding(shard);
    if (d_.tp > 1)
      f_.derive("sequence_parallel", "true", "sequence parallelism", "norms and residuals are split over tp",
                "torchtitan/models/llama3/infra/parallelize.py:apply_tp");
    const bool async = f_.on("parallelism.enable_async_tensor_parallel");
    if (d_.tp > 1 && async) f_.set("tp_comm_overlap", "true", "parallelism.enable_async_tensor_parallel");
    if (d_.tp > 1 && f_.on("parallelism.disable_loss_parallel"))
      f_.set("gathered_logits", "true", "parallelism.disable_loss_parallel");
    else
      (void)f_.text("parallelism.disable_loss_parallel");
    context();
    return true;
  }

  void sharding(const std::string& shard) {
    const std::string replicate = "parallelism.data_parallel_replicate_degree";
    const bool fsdp = d_.shard > 1 || d_.cp > 1 ||
                      degree(f_.arguments(), "parallelism.expert_parallel_degree", 1) > 1;
    if (fsdp || d_.replicate == 1) {
      f_.set("sync", "fsdp2", shard);
      if (d_.replicate > 1) f_.set("dp_shard", d_.shard, replicate);
      if (!fsdp)
        f_.unmapped("training.mixed_precision_param",
                    "without FSDP, torch.autocast casts float32 parameters before each use");
    } else {
      f_.set("sync", "ddp-buckets", replicate);
      f_.derive("bucket_cap_mb", "100", "bucket_cap_mb", "buckets of 100 MB",
                "torchtitan/models/llama3/infra/parallelize.py:apply_ddp");
      f_.unmapped("training.mixed_precision_param", "under DDP, torch.autocast casts float32 parameters");
    }
    const std::string argument = "parallelism.fsdp_reshard_after_forward";
    const std::string policy = f_.text(argument).value_or("default");
    if (policy != "default" && policy != "always" && policy != "never")
      return f_.misread(argument, "\"" + policy + "\" is not default, always or never");
    if (!fsdp) return;
    const bool reshards = policy == "always" || (policy == "default" && d_.pp == 1);
    f_.set("reshard_after_forward", reshards ? "true" : "false", argument);
  }

  void context() {
    const std::string rotate = "parallelism.context_parallel_rotate_method",
                      balance = "parallelism.context_parallel_load_balancer";
    const std::string method = f_.text(rotate).value_or("allgather");
    const bool balanced = !f_.arguments().contains(balance) || f_.has(balance);
    const std::string balancer = f_.text(balance).value_or("headtail");
    if (d_.cp == 1) return;
    if (balanced && balancer != "headtail")
      f_.unmapped(balance, "blocks in the order \"" + balancer + "\" have no setting");
    if (method == "allgather")
      f_.set("context", "all-gather", rotate);
    else if (method == "alltoall")
      f_.set("context", balanced ? "zigzag" : "ring", rotate);
    else
      f_.misread(rotate, "\"" + method + "\" is not allgather or alltoall");
  }

  void experts() {
    const std::string ep = "parallelism.expert_parallel_degree",
                      etp = "parallelism.expert_tensor_parallel_degree",
                      backend = "parallelism.expert_parallel_comm_backend";
    const int64_t ranks = f_.number(ep, 1), tensor = f_.number(etp, 1);
    const std::string kind = f_.text(backend).value_or("standard");
    if (f_.design().model.experts == 0) {
      for (const std::string& one : {ep, etp, backend}) f_.ignore(one, "the model has no experts");
      return;
    }
    f_.set("ep", ranks, ep);
    if (ranks == 1) return f_.ignore(etp, "read only with expert_parallel_degree above 1: tp splits experts");
    if (tensor != 1 && tensor != d_.tp)
      f_.misread(etp, std::to_string(tensor) + " is neither 1 nor tensor_parallel_degree");
    else if (d_.tp > 1)
      f_.set("etp", tensor == d_.tp ? 0 : tensor, etp);
    if (kind == "standard")
      f_.set("dispatcher", "alltoall", backend);
    else if (kind == "deepep")
      f_.set("dispatcher", "flex", backend);
    else
      f_.misread(backend, "\"" + kind + "\" is not standard or deepep");
  }

  void pipeline();
  void stages(bool several);

  void batch() {
    const std::string local_name = "training.local_batch_size", global_name = "training.global_batch_size";
    const int64_t local = std::max<int64_t>(f_.number(local_name, 8), 1), dp = d_.replicate * d_.shard,
                  slots = capped_product({local, dp}), global = f_.number(global_name, -1);
    if (global > 0)
      f_.set("batch", global, global_name);
    else
      f_.derive("batch", std::to_string(slots), "global batch", "local_batch_size x dp",
                "torchtitan/train.py:200");
    const std::string micro = "parallelism.pipeline_parallel_microbatch_size";
    const int64_t size = f_.number(micro, 1);
    if (d_.pp > 1) {
      f_.set("microbatch", size, micro);
      (void)f_.text(local_name);
    } else {
      f_.set("microbatch", local, local_name);
    }
    const int64_t steps = global > 0 ? global / slots : 1;
    if (global > 0 && global % slots != 0)
      f_.misread(global_name, "not a multiple of local_batch_size x dp = " + std::to_string(slots));
    if (steps < 2) return;
    if (d_.pp > 1)
      f_.unmapped(global_name, "the pipeline drains after each of " + std::to_string(steps) +
                                   " accumulation steps; in the design it runs through");
    else
      f_.derive("reduce_every_microbatch", "true", "gradient accumulation",
                "every accumulation step reduces its gradients", "torchtitan/train.py:561");
  }

  void precision() {
    const std::string parameters = "training.mixed_precision_param", stored = "training.dtype";
    const std::string kind = f_.text(parameters).value_or("bfloat16");
    if (kind == "bfloat16" || kind == "float32")
      f_.set("dtype", kind == "bfloat16" ? "bf16" : "fp32", parameters);
    else
      f_.misread(parameters, "\"" + kind + "\" is not bfloat16 or float32");
    if (f_.text(stored).value_or("float32") == "bfloat16")
      f_.unmapped(stored, "the design has float32 parameters, gradients and moments between their uses");
    f_.set("grad_dtype", "fp32", "training.mixed_precision_reduce");
    (void)f_.text("training.mixed_precision_reduce");
    f_.set("clip_grad_norm", f_.positive("training.max_norm", "1.0") ? "true" : "false", "training.max_norm");
    const std::string optimizer = f_.text("optimizer.name").value_or("AdamW");
    if (optimizer == "AdamW" || optimizer == "Adam")
      f_.set("optimizer", "adam", "optimizer.name");
    else
      f_.unmapped("optimizer.name", "\"" + optimizer + "\" has no setting");
    const std::string implementation = f_.text("optimizer.implementation").value_or("fused");
    if (implementation != "fused")
      f_.unmapped("optimizer.implementation", "the update of a design is one fused kernel");
    if (f_.on("training.enable_cpu_offload")) {
      f_.set("offload_optimizer", "true", "training.enable_cpu_offload");
      f_.unmapped("training.enable_cpu_offload",
                  "parameters and gradients are in host memory, too; the design offloads the optimizer");
    }
    quantization();
  }

  // model.converters names the layers that are replaced.
  void quantization() {
    const std::string converters = f_.text("model.converters").value_or("");
    const auto has = [&](std::string_view name) {
      return (" " + converters + " ").find(" " + std::string(name) + " ") != std::string::npos;
    };
    const bool fp8 = has("float8") || has("quantize.linear.float8");
    const bool mx = has("mx") || has("quantize.linear.mx");
    if (!fp8) f_.ignore("quantize.linear.float8.*", "model.converters does not name it");
    if (!fp8) f_.ignore("float8.*", "model.converters does not name it");
    if (!mx) f_.ignore("quantize.linear.mx.*", "model.converters does not name it");
    if (!mx) f_.ignore("mx.*", "model.converters does not name it");
    for (const char* kind : {"float8", "mx"}) {
      const std::string grouped = "quantize.grouped_mm." + std::string(kind);
      if (!has(grouped)) f_.ignore(grouped + ".*", "model.converters does not name it");
      if (has(grouped) && !fp8 && !mx)
        f_.unmapped("model.converters",
                    "a design has one type for all GEMMs, not for those of experts alone");
    }
    if (fp8) float8("quantize.linear.float8.");
    if (fp8) float8("float8.");
    if (fp8) f_.set("compute", "fp8", "model.converters");
    if (mx) f_.set("compute", "mxfp8", "model.converters");
    for (const char* one : {"quantize.linear.mx.filter_fqns", "quantize.linear.mx.recipe_name",
                            "mx.filter_fqns", "mx.recipe_name"})
      if (mx) (void)f_.text(one);
  }

  void float8(const std::string& section) {
    const std::string recipe = section + "recipe_name";
    if (f_.text(recipe).value_or("tensorwise") != "tensorwise")
      f_.unmapped(recipe, "float8 with a scale per row has no setting: the design has one per tensor");
    if (f_.on(section + "enable_fsdp_float8_all_gather"))
      f_.unmapped(section + "enable_fsdp_float8_all_gather", "FSDP gathers parameters in the data type");
    for (const char* one : {"precompute_float8_dynamic_scale_for_fsdp", "filter_fqns", "emulate"})
      (void)f_.text(section + one);
  }

  void recompute() {
    const std::string mode_name = "activation_checkpoint.mode",
                      option_name = "activation_checkpoint.selective_ac_option";
    const std::string mode = f_.text(mode_name).value_or("selective"),
                      option = f_.text(option_name).value_or("2");
    if (mode != "selective") f_.ignore(option_name, "read only with mode selective");
    if (mode != "memory_budget")
      f_.ignore("activation_checkpoint.memory_budget", "read only with mode memory_budget");
    if (mode == "none") return f_.set("recompute", "none", mode_name);
    if (mode == "full") return f_.set("recompute", "full", mode_name);
    if (mode == "memory_budget")
      return f_.unmapped(mode_name, "the compiler decides which ops run again; the design runs none again");
    if (mode != "selective")
      return f_.misread(mode_name, "\"" + mode + "\" is not none, selective, full or memory_budget");
    if (option == "op") {  // the profile runs ops again
      selective_ops_ = true;
      return f_.set("recompute", "none", mode_name);
    }
    every_nth_layer(option_name, f_.number(option_name, 2));
  }

  void every_nth_layer(const std::string& argument, int64_t every) {
    if (every < 0) return f_.misread(argument, std::to_string(every) + " is not op or a number of layers");
    f_.set("recompute", "full", argument);
    if (every < 2) return;
    const int64_t chunks = d_.pp * f_.design().parallel.virtual_stages,
                  layers = f_.design().model.layers / std::max<int64_t>(chunks, 1) / every;
    if (layers < 1) return f_.set("recompute", "none", argument);
    f_.set("recompute_method", "block", argument);
    f_.set("recompute_num_layers", layers, argument);
    f_.unmapped(argument, "every layer with a number divisible by " + std::to_string(every) +
                              " runs again; in the design, as many first layers of each virtual stage do");
  }

  void kernels() {
    const std::string enable = f_.arguments().contains("training.compile") ? "training.compile"
                                                                           : "compile.enable",
                      components = f_.text("compile.components").value_or("model loss");
    const bool layers = f_.on(enable) && (" " + components + " ").find(" model ") != std::string::npos;
    f_.set("profile", selective_ops_ ? "torchtitan-2025-selective" : "torchtitan-2025",
           selective_ops_ ? "activation_checkpoint.selective_ac_option" : enable);
    if (!layers)
      f_.unmapped(enable,
                  "kernels of layers that are not compiled have no profile; the design has those of "
                  "compiled layers");
    (void)f_.text("compile.backend");
  }

  LaunchFields& f_;
  const LaunchRequest& request_;
  LaunchImport& out_;
  TorchtitanDegrees d_;
  bool selective_ops_ = false;
};

void SettingsReader::pipeline() {
  const std::string name = "parallelism.pipeline_parallel_schedule";
  const std::string schedule = f_.text(name).value_or("1F1B");
  if (d_.pp == 1) {
    for (const char* one : {"parallelism.pipeline_parallel_*", "parallelism.module_fqns_per_model_part"})
      f_.ignore(one, "one stage");
    return;
  }
  std::string plain = plain_name(schedule);
  const bool several = plain != "1f1b" && plain != "gpipe";
  static const std::map<std::string, const char*> kSchedules{
      {"1f1b", "1f1b"},          {"gpipe", "gpipe"},        {"interleaved1f1b", "1f1b"},
      {"loopedbfs", "flexible"}, {"zbvzerobubble", "zb-v"}, {"dualpipev", "dualpipe-v"}};
  const auto known = kSchedules.find(plain);
  if (known == kSchedules.end())
    f_.unmapped(name, "\"" + schedule + "\" has no schedule; the design runs interleaved 1F1B");
  else
    f_.set("schedule", known->second, name);
  stages(several);
  if (f_.design().parallel.schedule != ScheduleKind::OneFOneB && plain != "loopedbfs") return;
  // Groups of microbatches of Interleaved1F1B: torch/distributed/pipelining/schedules.py.
  const int64_t local = f_.number("training.local_batch_size", 8),
                size = std::max<int64_t>(f_.number("parallelism.pipeline_parallel_microbatch_size", 1), 1),
                m = std::max<int64_t>(local / size, 1), rounds = std::max<int64_t>(m / d_.pp, 1);
  if (plain == "loopedbfs") return f_.set("microbatch_group", m, name);
  if (!several || m % d_.pp == 0) return;
  if (m % rounds != 0)
    return f_.misread(
        name, std::to_string(m) + " microbatches are no multiple of " + std::to_string(rounds) + " rounds");
  f_.set("schedule", "flexible", name);
  f_.set("microbatch_group", m / rounds, name);
}

// several: the schedule has at least two virtual stages per rank.
void SettingsReader::stages(bool several) {
  const std::string per_stage = "parallelism.pipeline_parallel_layers_per_stage",
                    first_name = "parallelism.pipeline_parallel_first_stage_less_layers",
                    last_name = "parallelism.pipeline_parallel_last_stage_less_layers",
                    names = "parallelism.module_fqns_per_model_part";
  const int64_t first = f_.number(first_name, 1), last = f_.number(last_name, 1),
                layers = f_.design().model.layers, each = f_.number(per_stage, 0);
  int64_t stages = d_.pp * (several ? 2 : 1);
  if (each > 0) stages = (layers + first + last + each - 1) / each;
  if (stages % d_.pp != 0 || stages < 1)
    return f_.misread(per_stage, "makes " + std::to_string(stages) + " virtual stages, which " +
                                     std::to_string(d_.pp) + " ranks do not divide");
  const int64_t chunks = stages / d_.pp;
  const ScheduleKind kind = f_.design().parallel.schedule;
  if ((kind == ScheduleKind::ZbV || kind == ScheduleKind::DualPipeV) && chunks != 2)
    return f_.misread(
        per_stage, "makes " + std::to_string(chunks) + " virtual stages per rank, and this schedule has two");
  if (kind != ScheduleKind::GPipe)
    f_.derive("virtual_stages", std::to_string(chunks), per_stage,
              several ? "two per rank with this schedule" : "one per rank with this schedule",
              "torchtitan/distributed/pipeline_parallel.py:106");
  if (f_.arguments().contains(names + ".0") || f_.has(names))
    f_.unmapped(names, "stages of named modules are not read");
  const std::vector<int64_t> split = torchtitan_stages(layers, stages, first, last);
  if (split.empty())
    return f_.unmapped("parallelism.pipeline_parallel_degree", "torchtitan refuses to split " +
                                                                   std::to_string(layers) + " layers into " +
                                                                   std::to_string(stages) + " stages");
  if (std::all_of(split.begin(), split.end(), [&](int64_t one) { return one == split.front(); })) return;
  f_.derive("stage_layers", joined_numbers(split), "layers of stages",
            "even, with the embedding and the head counted as layers",
            "torchtitan/distributed/pipeline_parallel.py:240");
}

}  // namespace

TorchtitanDegrees torchtitan_degrees(const LaunchArguments& arguments) {
  return {degree(arguments, "parallelism.data_parallel_replicate_degree", 1),
          degree(arguments, "parallelism.data_parallel_shard_degree", -1),
          degree(arguments, "parallelism.context_parallel_degree", 1),
          degree(arguments, "parallelism.tensor_parallel_degree", 1),
          degree(arguments, "parallelism.pipeline_parallel_degree", 1)};
}

std::vector<int64_t> torchtitan_stages(int64_t layers, int64_t stages, int64_t first, int64_t last) {
  const int64_t all = layers + first + last;
  if (stages < 1 || stages > all || first < 0 || last < 0) return {};
  if (stages == 1) return {layers};
  const int64_t each = all / stages, more = all % stages;
  if (first > each || last > each) return {};
  std::vector<int64_t> out;
  int64_t left = layers;
  for (int64_t i = 0; i < stages; ++i) {
    const int64_t own = each + (i < more ? 1 : 0) - (i == 0 ? first : i == stages - 1 ? last : 0);
    out.push_back(std::min(own, left));
    left -= out.back();
  }
  return out;
}

LaunchDesign read_torchtitan_settings(const LaunchArguments& arguments, const LaunchRequest& request,
                                      LaunchImport& out) {
  LaunchFields fields(arguments, out.gpus.value_or(1), "torchtitan v0.2.2");
  if (!SettingsReader(fields, request, out).run()) return {};
  LaunchRules rules{"torchtitan v0.2.2", kNoEffect};
  std::vector<std::pair<const char*, const char*>> changes;
  for (const auto& change : kChanges)
    if (const auto given = arguments.find(change.first);
        given != arguments.end() && !is_default(given->first, given->second))
      changes.push_back(change);
  rules.changes = changes;
  rules.knows = [](const std::string& argument) {
    const std::string section = argument.substr(0, argument.find('.'));
    return std::find(std::begin(kSections), std::end(kSections), section) != std::end(kSections);
  };
  rules.is_default = is_default;
  return fields.finish(rules);
}

}  // namespace shardscape
