// Variables of the submissions of NVIDIA and AMD to MLPerf training, rounds v3.0 to v5.1 (mlcommons,
// training_results_v*), as arguments of Megatron-LM. The benchmark fixes the model.
#include "launch/nemo/mlperf_launch.h"

#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/model_arguments.h"

namespace shardscape {
namespace {

constexpr SettingAs kOn = SettingAs::On;

constexpr SettingRow kMlperfRows[] = {{"TENSOR_MODEL_PARALLEL", "--tensor-model-parallel-size"},
                                      {"TP", "--tensor-model-parallel-size"},
                                      {"PIPELINE_MODEL_PARALLEL", "--pipeline-model-parallel-size"},
                                      {"PP", "--pipeline-model-parallel-size"},
                                      {"CONTEXT_PARALLEL", "--context-parallel-size"},
                                      {"CP", "--context-parallel-size"},
                                      {"INTERLEAVED_PIPELINE", "--num-virtual-stages-per-pipeline-rank"},
                                      {"VP", "--num-virtual-stages-per-pipeline-rank"},
                                      {"EXPERT_PARALLEL", "--expert-model-parallel-size"},
                                      {"MICRO_BATCH_SIZE", "--micro-batch-size"},
                                      {"MBS", "--micro-batch-size"},
                                      {"SEQ_PARALLEL", "--sequence-parallel", kOn},
                                      {"SP", "--sequence-parallel", kOn},
                                      {"TP_COMM_OVERLAP", "--tp-comm-overlap", kOn},
                                      {"MC_TP_OVERLAP_RS_DGRAD", "--tp-comm-overlap-rs-dgrad", kOn},
                                      {"OVERLAP_GRAD_REDUCE", "--overlap-grad-reduce", kOn},
                                      {"OVERLAP_PARAM_GATHER", "--overlap-param-gather", kOn},
                                      {"USE_DIST_OPTIMIZER", "--use-distributed-optimizer", kOn},
                                      {"ASYM_PP_EMBED", "--account-for-embedding-in-pipeline-split", kOn},
                                      {"ASYM_PP_LOSS", "--account-for-loss-in-pipeline-split", kOn},
                                      {"TP_PP_DP_MAPPING", "--use-tp-pp-dp-mapping", kOn},
                                      {"ACT_CKPT_GRANULARITY", "--recompute-granularity"},
                                      {"ACG", "--recompute-granularity"},
                                      {"ACT_CKPT_METHOD", "--recompute-method"},
                                      {"ACM", "--recompute-method"},
                                      {"ACT_CKPT_NUM_LAYERS", "--recompute-num-layers"},
                                      {"ACL", "--recompute-num-layers"},
                                      {"MAX_SEQLEN", "--seq-length"}};

struct Change {
  const char *name, *usual, *reason;
};
constexpr Change kChanges[] = {
    {"LAYER_CUDA_GRAPH", "0", "graphs of layers in this submission also hold the order of microbatches"},
    {"OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP", "False", "parameters are gathered after the optimizer's step"},
    {"DEFER_EMBEDDING_WGRAD_COMPUTE", "False", "weight gradients of the head are not deferred"},
    {"SHARP", "False", "in_network_reduction of the cluster says it"},
    {"BUCKET_CAP_MB", "", "buckets of Apex, in MB, are not modelled"}};

// A benchmark by the folder of its configurations or the variable MODEL_SIZE.
struct Benchmark {
  const char *folder, *size, *preset;
  int64_t seq;
  const char* rule;
};
constexpr Benchmark kBenchmarks[] = {
    {"llama31_405b", "405b", "llama3.1-405b", 8192, "the benchmark llama31_405b"},
    {"llama31_8b", "8b", "llama3-8b", 8192, "the benchmark llama31_8b"},
    {"llama2_70b_lora", "70b", "llama2-70b", 8192, "the benchmark llama2_70b_lora"},
    {"gpt3", "", "gpt3-175b-megatron", 2048, "the benchmark gpt3"}};

// Names of variables that a launch of MLPerf reads; others belong to NCCL, Slurm or the container.
constexpr const char* kOurs[] = {
    "MINIBS",     "DGXNNODES",       "DGXNGPU", "FP8",      "FP8_HYBRID",   "FP4",
    "FP4_RECIPE", "MODEL_SIZE",      "FP8_DPA", "LORA_DIM", "LORA_DROPOUT", "FP8_ACTIVATION",
    "FP8_PARAMS", "FP8_PARAM_GATHER"};

class MlperfReader {
 public:
  MlperfReader(const LaunchRequest& request, LaunchDocument document)
      : request_(request), s_("MLPerf", std::move(document)) {}

  void run(LaunchImport& out) {
    const Benchmark* const benchmark = find();
    if (!benchmark && request_.model.empty()) {
      out.problems.emplace_back(ProblemCode::LaunchFormat, request_.where,
                                "neither MODEL_SIZE nor the folder of the file says the benchmark",
                                "--model with a preset, for example llama3.1-405b or gpt3-175b-megatron");
      return;
    }
    const auto nodes = whole_number(s_.text("DGXNNODES").value_or("")),
               each = whole_number(s_.text("DGXNGPU").value_or("8"));
    const auto gpus = gpus_of(nodes, each);
    if (!set_launch_gpus(request_, gpus, "DGXNNODES x DGXNGPU", out)) return;
    s_.translate("", kMlperfRows);
    s_.assume("--use-distributed-optimizer", "true", "");
    if (benchmark) fixed(*benchmark);
    precision();
    batch(*out.gpus);
    if (!use_model_arguments(request_, s_, benchmark ? benchmark->preset : "", out)) return;
    for (const Change& change : kChanges) {
      const auto value = s_.text(change.name);
      if (value && *value != change.usual) s_.unmapped(change.name, change.reason);
    }
    if (lora_) adapters();
    s_.finish(request_, gpus, "DGXNNODES x DGXNGPU", out);
  }

 private:
  const Benchmark* find() {
    const std::string size = s_.text("MODEL_SIZE").value_or("");
    for (const Benchmark& one : kBenchmarks)
      if ((!size.empty() && size == one.size) || request_.where.find(one.folder) != std::string::npos)
        return &one;
    return nullptr;
  }

  void fixed(const Benchmark& benchmark) {
    lora_ = std::string_view(benchmark.folder).ends_with("lora");
    s_.derive("--seq-length", std::to_string(benchmark.seq), benchmark.rule);
    s_.derive("--hidden-dropout", "0.0", benchmark.rule);
    s_.derive("--attention-dropout", "0.0", benchmark.rule);
    // Overlap of tensor-parallel exchange works on sequence-parallel ranks; the configurations that do not
    // overlap keep the same default.
    if (!lora_) s_.derive("--sequence-parallel", "true", "SEQ_PARALLEL is on unless the file says otherwise");
  }

  void precision() {
    s_.assume("--bf16", "true", "");
    if (s_.on("FP4")) {
      s_.put("--fp4-format", "e2m1", "FP4");
      s_.put("--fp4-recipe", s_.text("FP4_RECIPE").value_or("nvfp4"), "FP4_RECIPE");
    }
    const bool fp8 = s_.on("FP8");
    for (const char* name : {"FP8_PARAM_GATHER", "FP8_PARAMS"}) {
      const auto value = s_.text(name);
      if (value && !fp8 && s_.on(name))
        s_.unmapped(name, "fp8_params needs FP8=True, which no file that is read here says");
      else if (value)
        s_.put("--fp8-param-gather", s_.on(name) ? "true" : "false", name);
    }
    if (!fp8) return;
    s_.put("--fp8-format", "hybrid", "FP8");
    (void)s_.text("FP8_HYBRID");
    s_.derive("--fp8-recipe", "delayed", "of the implementation");
    if (s_.on("FP8_DPA")) s_.knob("fp8_attention", "true", "FP8_DPA");
    if (s_.on("FP8_ACTIVATION")) s_.knob("activation_cache", "fp8-inputs", "FP8_ACTIVATION");
  }

  // MINIBS is the batch of one replica.
  void batch(int64_t gpus) {
    const auto each = whole_number(s_.text("MINIBS").value_or(""));
    if (!each) return;
    int64_t inside = 1;
    for (const char* degree :
         {"--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size"}) {
      const auto size = whole_number(s_.argument(degree).value_or("1"));
      if (!size || *size < 1 || *size > gpus) return;
      inside *= *size;
      if (inside > gpus) return;
    }
    int64_t all = 0;
    if (!__builtin_mul_overflow(*each, gpus / inside, &all))
      s_.put("--global-batch-size", std::to_string(all), "MINIBS");
  }

  void adapters() {
    s_.knob("lora_rank", s_.text("LORA_DIM").value_or("16"), "LORA_DIM");
    s_.knob("lora_modules", "q,k,v,o", "LORA_DIM");
    s_.knob("lora_packed", "true", "LORA_DIM");
    s_.knob("lora_dropout", "true", "LORA_DROPOUT");
  }

  const LaunchRequest& request_;
  MegatronSettings s_;
  bool lora_ = false;
};

bool is_ours(const std::string& name) {
  const auto same = [&](const auto& row) { return name == row.name; };
  return std::any_of(std::begin(kMlperfRows), std::end(kMlperfRows), same) ||
         std::any_of(std::begin(kChanges), std::end(kChanges), same) ||
         std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs) || name.starts_with("LORA_");
}

}  // namespace

bool is_mlperf_launch(std::string_view text) {
  return text.find("DGXNNODES=") != std::string_view::npos ||
         (text.find("DGXSYSTEM=") != std::string_view::npos && text.find("MINIBS") != std::string_view::npos);
}

void read_mlperf_launch(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return;
  LaunchDocument document;
  for (const auto& [name, value] : script->variables)
    if (is_ours(name)) document.arguments[name] = value;
  MlperfReader(request, std::move(document)).run(out);
}

}  // namespace shardscape
