#include "launch/megatron/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "design/knobs/knobs.h"
#include "launch/megatron/megatron_fields.h"
#include "launch/megatron/megatron_layout.h"

namespace shardscape {
namespace {

// "moe_router,attn" -> "attn moe_router"
std::string sorted_words(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream in(text);
  std::set<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

class MegatronReader {
 public:
  explicit MegatronReader(MegatronFields& fields) : f_(fields) {}

  void run() {
    degrees();
    pipeline();
    sync();
    precision();
    recompute();
    kernels();
    graphs();
  }

 private:
  void degrees() {
    for (const auto& [knob, argument] : {std::pair{"tp", "--tensor-model-parallel-size"},
                                         {"pp", "--pipeline-model-parallel-size"},
                                         {"cp", "--context-parallel-size"}})
      f_.set(knob, f_.number(argument, 1), argument);
    const ParallelSpec& p = f_.design().parallel;
    const int64_t inner = p.tp * p.pp * p.cp;
    if (f_.gpus() < 1 || f_.gpus() % inner != 0)
      f_.unmapped("gpus", std::to_string(f_.gpus()) +
                              " GPUs are not a multiple of tp x pp x cp = " + std::to_string(inner));
    else
      f_.derive("dp", std::to_string(f_.gpus() / inner), "gpus", "GPUs / (tp x pp x cp)",
                "megatron/training/arguments.py:448");
    experts();
    // Sequence parallelism is switched off where tp is 1.
    if (f_.on("--sequence-parallel") && p.tp > 1) f_.set("sequence_parallel", "true", "--sequence-parallel");
    if (p.tp == 1) f_.ignore("--sequence-parallel", "off where the tensor parallel size is 1");
    if (f_.on("--tp-comm-overlap")) f_.set("tp_comm_overlap", "true", "--tp-comm-overlap");
    if (f_.on("--tp-comm-overlap-rs-dgrad"))
      f_.set("tp_comm_overlap_rs_dgrad", "true", "--tp-comm-overlap-rs-dgrad");
    if (f_.on("--use-tp-pp-dp-mapping")) f_.set("rank_order", "tp-cp-pp-dp", "--use-tp-pp-dp-mapping");
    const std::string ring = f_.text("--cp-comm-type").value_or("p2p");
    const std::string sizes = "--hierarchical-context-parallel-sizes";
    if (p.cp > 1)
      f_.set("context",
             ring == "p2p"         ? "zigzag"
             : ring == "a2a"       ? "ulysses"
             : ring == "a2a+p2p"   ? "ulysses-zigzag"
             : ring == "allgather" ? "all-gather"
                                   : ring,
             "--cp-comm-type");
    if (p.cp > 1 && ring == "a2a+p2p" && f_.has(sizes)) {
      const std::string levels = *f_.text(sizes);
      f_.set("ulysses_degree", levels.substr(0, levels.find(' ')), sizes);
    }
    f_.set("microbatch", f_.number("--micro-batch-size", 1), "--micro-batch-size");
    const int64_t one_each = f_.design().workload.microbatch * p.dp;
    f_.set("batch", f_.number("--global-batch-size", one_each), "--global-batch-size");
    batch_ramp();
  }

  // Expert parallelism and the way of tokens to their experts.
  void experts() {
    const std::string tensor = "--expert-tensor-parallel-size", dispatch = "--moe-token-dispatcher-type";
    const int64_t inside = f_.number(tensor, f_.design().parallel.tp);
    const std::string kind = f_.text(dispatch).value_or("allgather");
    const std::string backend = f_.text("--moe-flex-dispatcher-backend").value_or("deepep");
    const bool deepep = f_.on("--moe-enable-deepep");
    const int64_t groups = f_.number("--expert-model-parallel-size", 1);
    if (!f_.has("--num-experts")) return;  // nothing reads them
    f_.set("ep", groups, "--expert-model-parallel-size");
    f_.derive("etp", std::to_string(inside), tensor, "the tensor parallel size",
              "megatron/training/arguments.py:588");
    f_.set("dispatcher", kind, dispatch);
    if (kind == "flex" && !deepep && !f_.has("--moe-flex-dispatcher-backend"))
      f_.unmapped(dispatch, "flex needs --moe-enable-deepep or --moe-flex-dispatcher-backend");
    if (f_.has("--moe-expert-capacity-factor"))
      f_.set("capacity_factor", *f_.text("--moe-expert-capacity-factor"), "--moe-expert-capacity-factor");
    f_.turn_on("pad_to_capacity", "--moe-pad-expert-input-to-capacity");
    f_.turn_on("ep_comm_overlap", "--overlap-moe-expert-parallel-comm");
    const char* const processors = backend == "hybridep" ? "--moe-hybridep-num-sms" : "--moe-deepep-num-sms";
    if (f_.has(processors)) f_.set("dispatch_sms", f_.number(processors, 0), processors);
    if (f_.on("--moe-router-force-load-balancing"))
      f_.set("load_imbalance", "1", "--moe-router-force-load-balancing");
  }

  // "192 16 9765625": start, increment, samples.
  void batch_ramp() {
    const std::string argument = "--rampup-batch-size";
    const auto found = f_.text(argument);
    if (!found) return;
    std::string digits = *found;
    std::erase(digits, '_');  // Python reads 9_765_625
    std::istringstream in(digits);
    int64_t start = 0, increment = 0, samples = 0;
    if (!(in >> start >> increment >> samples) || !(in >> std::ws).eof())
      return f_.misread(argument, "\"" + *found + "\" is not START INCREMENT SAMPLES");
    f_.set("batch_ramp_start", start, argument);
    f_.set("batch_ramp_increment", increment, argument);
    f_.set("batch_ramp_samples", samples, argument);
  }

  void pipeline() {
    const ParallelSpec& p = f_.design().parallel;
    const std::string by_layers = "--num-layers-per-virtual-pipeline-stage";
    const int64_t each = f_.number(by_layers, 0);
    const std::string by_stages = "--num-virtual-stages-per-pipeline-rank";
    int64_t chunks = f_.number(by_stages, 1);
    if (each > 0) {
      const int64_t layers = f_.design().model.layers;
      if (each > layers || layers % (p.pp * each) != 0)
        return f_.unmapped(by_layers, "the layers do not fill the virtual stages");
      chunks = layers / p.pp / each;
    }
    f_.set("virtual_stages", chunks, each > 0 || !f_.has(by_stages) ? by_layers : by_stages);
    if (chunks == 1)
      for (const char* argument :
           {"--no-overlap-p2p-communication", "--overlap-p2p-communication-warmup-flush"})
        f_.ignore(argument, "read only with virtual stages");
    const std::string group = "--microbatch-group-size-per-virtual-pipeline-stage";
    if (const int64_t size = f_.number(group, p.pp); size != p.pp) {
      f_.set("schedule", "flexible", group);
      f_.set("microbatch_group", size, group);
    }
    if (f_.has("--pipeline-model-parallel-layout"))
      layout();
    else
      uneven_stages();
    for (const char* knob :
         {"account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"}) {
      std::string argument = std::string("--") + knob;
      std::replace(argument.begin(), argument.end(), '_', '-');
      f_.turn_on(knob, argument);
    }
  }

  void layout() {
    const std::string argument = "--pipeline-model-parallel-layout", text = *f_.text(argument);
    const ParallelSpec& p = f_.design().parallel;
    const auto read = read_megatron_layout(text);
    if (!read) return f_.misread(argument, "\"" + text + "\" is not of E, t, m, L and \"|\"");
    if (!read->usual)
      return f_.unmapped(argument, "embedding and loss are known only on the first and last stage");
    const auto stages = static_cast<int64_t>(read->layers.size());
    if (stages % p.pp != 0)
      return f_.misread(argument, std::to_string(stages) + " stages are no multiple of the pipeline size");
    f_.set("virtual_stages", stages / p.pp, argument);
    std::string list;
    for (const int64_t layers : read->layers) list += (list.empty() ? "" : ",") + std::to_string(layers);
    f_.set("stage_layers", list, argument);
  }

  // The given layers of the first and last stage; the stages in between share the others evenly.
  void uneven_stages() {
    const std::string at_first = "--decoder-first-pipeline-num-layers",
                      at_last = "--decoder-last-pipeline-num-layers";
    if (!f_.has(at_first) && !f_.has(at_last)) return;
    const ParallelSpec& p = f_.design().parallel;
    const int64_t first = f_.number(at_first, 0), last = f_.number(at_last, 0);
    const int64_t between = p.pp - (first > 0) - (last > 0), rest = f_.design().model.layers - first - last;
    if (p.virtual_stages > 1 || between < 1 || rest < 0 || rest % between != 0)
      return f_.unmapped(at_first,
                         "the other layers do not fill the other stages evenly, without virtual stages");
    std::string list;
    for (int64_t stage = 0; stage < p.pp; ++stage) {
      const bool is_first = stage == 0 && first > 0, is_last = stage + 1 == p.pp && last > 0;
      list += (stage ? "," : "") + std::to_string(is_first ? first : is_last ? last : rest / between);
    }
    f_.set("stage_layers", list, at_first);
  }

  // Megatron-FSDP (core/distributed/fsdp; --use-custom-fsdp until 2025). Without sharded gradients it has the
  // buffers of Megatron's other policies. Returns the gradient sync; null: Megatron-FSDP is off.
  const char* megatron_fsdp() {
    const char* const argument = "--use-megatron-fsdp";
    if (!f_.on(argument) && !f_.on("--use-custom-fsdp")) return nullptr;
    if (f_.on("--fsdp-double-buffer"))
      f_.unmapped("--fsdp-double-buffer", "permanent double buffers of units are not modelled");
    const std::string name = "--data-parallel-sharding-strategy",
                      strategy = f_.text(name).value_or("optim_grads_params"),
                      outer = f_.text("--outer-dp-sharding-strategy").value_or("no_shard");
    if (outer != "no_shard") f_.unmapped("--outer-dp-sharding-strategy", "\"" + outer + "\" is not no_shard");
    if (f_.text("--megatron-fsdp-main-params-dtype").value_or("fp32") != "fp32")
      f_.unmapped("--megatron-fsdp-main-params-dtype", "main weights are float32");
    if (strategy == "no_shard") return "ddp-flat";
    if (strategy == "optim") return "distributed-optimizer";
    if (strategy == "optim_grads")
      for (const char* knob : {"reshard_after_forward", "reshard_after_backward"})
        f_.set(knob, "false", name);
    else if (strategy != "optim_grads_params")
      f_.misread(name, "\"" + strategy + "\" is not no_shard, optim, optim_grads or optim_grads_params");
    return "megatron-fsdp";
  }

  void sync() {
    const bool distributed = f_.on("--use-distributed-optimizer");
    const char* const fsdp = megatron_fsdp();
    fsdp_ = fsdp != nullptr;
    if (!fsdp_)
      for (const char* pattern : {"--data-parallel-sharding-strategy", "--outer-dp-sharding-strategy",
                                  "--megatron-fsdp-*", "--fsdp-double-buffer"})
        f_.ignore(pattern, "read only by Megatron-FSDP");
    const bool fsdp2 = !fsdp_ && f_.on("--use-torch-fsdp2");
    const bool sharded = fsdp ? fsdp != std::string("ddp-flat") : distributed;
    f_.set("sync",
           fsdp      ? fsdp
           : fsdp2   ? "fsdp2"
           : sharded ? "distributed-optimizer"
                     : "ddp-flat",
           fsdp_   ? "--use-megatron-fsdp"
           : fsdp2 ? "--use-torch-fsdp2"
                   : "--use-distributed-optimizer");
    if (fsdp2 && f_.on("--torch-fsdp2-no-reshard-after-forward"))
      f_.set("reshard_after_forward", "false", "--torch-fsdp2-no-reshard-after-forward");
    f_.turn_on("overlap_grad_reduce", "--overlap-grad-reduce");
    f_.turn_on("overlap_param_gather", "--overlap-param-gather");
    if (f_.has("--ddp-bucket-size"))
      f_.set("ddp_bucket_size", f_.number("--ddp-bucket-size", 0), "--ddp-bucket-size");
    const std::string instances = "--num-distributed-optimizer-instances";
    if (const int64_t copies = f_.number(instances, 1); copies > 1 && sharded) {
      if (f_.design().parallel.dp % copies != 0)
        f_.unmapped(instances, "the replicas are not a multiple of " + std::to_string(copies));
      else
        f_.set("dp_shard", f_.design().parallel.dp / copies, instances);
    }
    if (f_.on("--optimizer-cpu-offload")) {
      f_.set("offload_optimizer", "true", "--optimizer-cpu-offload");
      f_.set("optimizer_offload_fraction", f_.text("--optimizer-offload-fraction").value_or("1"),
             "--optimizer-offload-fraction");
    }
    const std::string optimizer = f_.text("--optimizer").value_or("adam");
    if (optimizer == "muon")
      f_.set("optimizer", optimizer, "--optimizer");
    else if (optimizer != "adam")
      f_.unmapped("--optimizer", "the optimizer is " + optimizer + ", not adam or muon");
    const std::string parts = f_.text("--muon-tp-mode").value_or("duplicated");
    if (optimizer == "muon" && f_.design().parallel.tp > 1 && parts != "blockwise")
      f_.unmapped("--muon-tp-mode", "the mode is " + parts + ", not blockwise");
  }

  // Types of the optimizer's states.
  void moments() {
    const std::string first = "--exp-avg-dtype", second = "--exp-avg-sq-dtype";
    if (!f_.on("--use-precision-aware-optimizer")) {
      for (const std::string& argument :
           {first, second, std::string("--main-params-dtype"), std::string("--main-grads-dtype")})
        f_.ignore(argument, "read only with --use-precision-aware-optimizer");
      return;
    }
    const std::string type = f_.text(first).value_or("fp32");
    f_.set("moment_dtype", type, first);
    if (f_.text(second).value_or("fp32") != type) f_.unmapped(second, "both moments have one type");
    if (f_.text("--main-params-dtype").value_or("fp32") != "fp32")
      f_.unmapped("--main-params-dtype", "main weights are float32");
    if (f_.has("--main-grads-dtype"))
      f_.set("grad_dtype", *f_.text("--main-grads-dtype"), "--main-grads-dtype");
  }

  // Megatron-FSDP of 2026 names the types of its gradient shards and of their reductions; "auto" is the type
  // of the parameters.
  bool fsdp_gradients() {
    const std::string reduced = "--megatron-fsdp-grad-comm-dtype";
    if (!fsdp_) return false;
    const auto shards = f_.text("--megatron-fsdp-main-grads-dtype"), sent = f_.text(reduced);
    if (!shards && !sent) return false;
    const std::string type = shards.value_or("auto");
    if (type != sent.value_or("auto"))
      f_.unmapped(reduced, "gradients are reduced in the type of their shards");
    f_.set("grad_dtype", type == "auto" ? knob_text(f_.design(), *find_knob("dtype")) : type,
           sent ? reduced : "--megatron-fsdp-main-grads-dtype");
    return true;
  }

  // One argument says the type. --bf16 implies float32 gradients; --fp16 does not.
  void gradients() {
    const std::string in_fp32 = "--accumulate-allreduce-grads-in-fp32", in_bf16 = "--grad-reduce-in-bf16";
    const bool aware = f_.on("--use-precision-aware-optimizer") && f_.has("--main-grads-dtype");
    if (fsdp_gradients() || aware) {
      for (const std::string& argument : {in_fp32, in_bf16})
        f_.ignore(argument, aware ? "--main-grads-dtype says the type of gradients"
                                  : "Megatron-FSDP has its own types of gradients");
      return;
    }
    const bool fp16 = f_.on("--fp16") && !f_.on("--bf16"), whole = f_.on(in_fp32) || !fp16;
    if (f_.on(in_bf16))
      f_.set("grad_dtype", "bf16", in_bf16);
    else
      f_.derive("grad_dtype", whole ? "fp32" : "fp16", in_fp32, "float32 unless the parameters are fp16",
                "megatron/training/arguments.py:1216");
  }

  void precision() {
    const bool bf16 = f_.on("--bf16"), fp16 = f_.on("--fp16");
    f_.set("dtype", bf16 ? "bf16" : fp16 ? "fp16" : "fp32", !bf16 && fp16 ? "--fp16" : "--bf16");
    gradients();
    moments();
    const std::string four = "--fp4-format";
    if (f_.has(four)) {
      const std::string recipe = f_.text("--fp4-recipe").value_or("nvfp4");
      if (recipe == "nvfp4")
        f_.set("compute", "nvfp4", four);
      else
        f_.unmapped("--fp4-recipe", "\"" + recipe + "\" is not nvfp4");
      (void)f_.text(four);
    }
    const auto format = f_.text("--fp8-format");
    const std::string recipe = f_.text("--fp8-recipe").value_or("delayed");
    if (!format) return;
    f_.turn_on("fp8_params", "--fp8-param-gather");
    for (const auto& [known, knob] : {std::pair{"delayed", "fp8"},
                                      {"tensorwise", "fp8"},
                                      {"blockwise", "fp8-blockwise"},
                                      {"mxfp8", "mxfp8"}})
      if (recipe == known) return f_.set("compute", knob, "--fp8-recipe");
    f_.unmapped("--fp8-recipe", "\"" + recipe + "\" is not delayed, tensorwise, blockwise or mxfp8");
  }

  void recompute() {
    if (const int64_t layers = f_.number("--cpu-offloading-num-layers", 0); layers > 0)
      f_.set("offload_activations", layers, "--cpu-offloading-num-layers");
    const auto granularity = f_.text("--recompute-granularity");
    if (f_.on("--recompute-activations")) f_.set("recompute", "selective", "--recompute-activations");
    if (!granularity)
      for (const char* argument : {"--recompute-method", "--recompute-num-layers", "--recompute-modules"})
        f_.ignore(argument, "read only with --recompute-granularity");
    if (!granularity) return;
    f_.set("recompute", *granularity, "--recompute-granularity");
    if (const auto method = f_.text("--recompute-method"))
      f_.set("recompute_method", *method, "--recompute-method");
    if (f_.has("--recompute-num-layers"))
      f_.set("recompute_num_layers", f_.number("--recompute-num-layers", 1), "--recompute-num-layers");
    if (f_.has("--recompute-modules")) {
      std::string modules = *f_.text("--recompute-modules");
      std::replace(modules.begin(), modules.end(), ' ', ',');
      f_.set("recompute_modules", modules, "--recompute-modules");
    }
    f_.turn_on("distribute_saved_activations", "--distribute-saved-activations");
  }

  // Modules of Megatron-core that --cuda-graph-scope names, joined by commas or spaces. Older versions say
  // full for whole layers.
  void graphs() {
    if (f_.on("--moe-shared-expert-overlap"))
      f_.set("shared_expert_overlap", "true", "--moe-shared-expert-overlap");
    const std::string engine = f_.text("--cuda-graph-impl").value_or("none");
    std::string scope = f_.text(f_.has("--cuda-graph-modules") ? "--cuda-graph-modules"
                                                               : "--cuda-graph-scope")
                            .value_or("full");
    if (engine == "none") return;
    if (engine == "full_iteration") scope = "full_iteration";
    static const std::map<std::string, const char*> kScopes{
        {"full", "layer"},
        {"attn mlp", "layer"},
        {"attn", "attention"},
        {"moe_router", "router"},
        {"moe_preprocess moe_router", "router"},
        {"attn moe_router", "attention-router"},
        {"attn moe_preprocess moe_router", "attention-router"},
        {"full_iteration", "iteration"}};
    scope = sorted_words(scope);
    const auto known = kScopes.find(scope);
    if (known == kScopes.end())
      return f_.unmapped("--cuda-graph-scope", "graphs of the modules \"" + scope + "\" have no setting");
    f_.set("cuda_graphs", known->second, "--cuda-graph-scope");
  }

  void kernels() {
    const bool hidden = f_.positive("--hidden-dropout", "0.1"),
               scores = f_.positive("--attention-dropout", "0.1");
    if (hidden != scores)
      f_.unmapped("--attention-dropout", "a design has one setting for both kinds of dropout");
    f_.set("dropout", hidden ? "true" : "false", "--hidden-dropout");
    if (f_.on("--no-gradient-accumulation-fusion"))
      f_.set("gradient_accumulation_fusion", "false", "--no-gradient-accumulation-fusion");
    f_.text("--attention-softmax-in-fp32");  // of the fused softmax, only the registers
    const std::string engine = f_.text("--transformer-impl").value_or("transformer_engine");
    const std::string attention = f_.text("--attention-backend").value_or("auto");
    if (engine == "local") return f_.set("profile", "megatron-2022", "--transformer-impl");
    if (engine != "transformer_engine")
      return f_.unmapped("--transformer-impl", "\"" + engine + "\" is not transformer_engine or local");
    const std::string implementation = f_.text("--cross-entropy-fusion-impl").value_or("native");
    const bool fused = f_.on("--cross-entropy-loss-fusion");
    if (fused && implementation != "te")
      f_.unmapped("--cross-entropy-loss-fusion", "the native fused loss has no kernel profile");
    if (attention != "auto" && attention != "flash" && attention != "fused" && attention != "unfused")
      f_.unmapped("--attention-backend", "\"" + attention + "\" is not auto, flash, fused or unfused");
    if (attention == "unfused" && fused)
      f_.unmapped("--attention-backend", "unfused attention with a fused loss has no kernel profile");
    f_.set("profile",
           attention == "unfused" ? "megatron-core-te-unfused"
           : fused                ? "megatron-core-te-fused-loss"
                                  : "megatron-core-te",
           "--attention-backend");
  }

  MegatronFields& f_;
  bool fsdp_ = false;  // Megatron-FSDP
};

}  // namespace

LaunchDesign read_megatron_arguments(const LaunchArguments& arguments, int64_t gpus) {
  MegatronFields fields(arguments, gpus);
  read_megatron_model(fields);
  MegatronReader(fields).run();
  return fields.finish();
}

}  // namespace shardscape
