#include "launch/server/server_writer.h"

#include <utility>

#include "design/knobs/knobs.h"
#include "launch/launch_gaps.h"
#include "launch/server/server_flags.h"
#include "serving/inference.h"

namespace shardscape {
namespace {

constexpr EngineKind kVllm = EngineKind::Vllm, kSglang = EngineKind::Sglang, kTrtllm = EngineKind::Trtllm;

// The model that the engine's reader takes from the name of a checkpoint.
ModelSpec read_model(const std::string& checkpoint) {
  LaunchRequest request;
  request.text = "vllm serve " + checkpoint;
  return import_launch(request).design.model;
}

// A name of the checkpoint that stands for the model of the design, except perhaps for the formats of its
// weights. Empty: the model is no preset.
std::string checkpoint_of(const Design& design) {
  const std::string& preset = design.model.preset;
  if (preset.empty()) return {};
  for (const char* ending : {"", "-BF16", "-FP8", "-FP4", "-INT4"})
    if (read_model(preset + ending) == design.model) return preset + ending;
  ModelSpec read = read_model(preset);
  read.weight_formats = design.model.weight_formats;
  return read == design.model ? preset : std::string();
}

class ServerWriter {
 public:
  ServerWriter(EngineKind engine, const Design& design)
      : engine_(engine), design_(design), checkpoint_(checkpoint_of(design)) {}

  std::variant<LaunchText, Problem> write() {
    gap("weight_formats", "no published checkpoint of " + checkpoint_ + " has these formats");
    gap("profile", std::string(engine_name(engine_)) + " has kernels of its own");
    layout();
    types();
    sequences();
    return with_gaps(design_, {text(), "serve.sh", {}}, kEngineIds[static_cast<size_t>(engine_)], reasons_,
                     checkpoint_.empty() ? std::optional(design_.model) : std::nullopt);
  }

 private:
  const Design& d() const { return design_; }
  // Why the command does not say the knob.
  void gap(const char* knob, const std::string& reason) { reasons_.emplace_back(knob, reason); }
  bool prompts() const { return d().workload.mode == Mode::Prefill; }

  // name: common (server_flags.h).
  void put(const std::string& name, const std::string& value) {
    arguments_.emplace_back(server_flag(engine_, name), value);
  }
  void put(const std::string& name, int64_t value) { put(name, std::to_string(value)); }
  void put_above_1(const std::string& name, int64_t value) {
    if (value > 1) put(name, value);
  }

  void layout() {
    const ParallelSpec& p = d().parallel;
    switch (engine_) {
      case kVllm: vllm_layout(p); break;
      case kSglang: sglang_layout(p); break;
      case kTrtllm: trtllm_layout(p); break;
    }
    put_above_1("pp", p.pp);
    if (p.dcp > 1 && !prompts()) {
      if (engine_ == kTrtllm)
        gap("dcp", "trtllm-serve has no option for it");
      else
        put("dcp", p.dcp);
    }
  }

  bool experts() const { return d().model.experts > 0; }
  // Whether the reader sets ep, etp and the dispatcher.
  bool spread() const { return experts() && (d().parallel.dp > 1 || d().parallel.ep > 1); }
  void gap_experts(const std::string& reason) {
    gap("ep", reason);
    gap("etp", reason);
  }
  void vllm_layout(const ParallelSpec& p) {
    put("tp", p.tp);
    put_above_1("dp", p.dp);
    if (p.cp > 1 && prompts())
      put("cp", p.cp);
    else if (p.cp > 1)
      gap("cp", "vLLM splits the context of decode inside tensor-parallel groups (dcp)");
    if (!experts()) return;
    const int64_t ranks = p.tp * p.dp;
    const bool whole = p.ep == ranks && p.expert_tp() == 1;
    if (whole && ranks > 1)
      put("expert_parallel", "");
    else if (!whole && !(p.ep == 1 && p.expert_tp() == ranks))
      gap_experts("vLLM has whole experts on all tp x dp ranks, or splits each over all of them");
    if (!spread()) return;
    if (!whole || ranks == 1)
      gap("dispatcher", "vLLM exchanges tokens only between ranks with whole experts");
    else if (p.dispatcher == Dispatcher::Flex)
      put("all2all_backend", prompts() ? "deepep_high_throughput" : "deepep_low_latency");
    else if (p.dispatcher == Dispatcher::AllToAll)
      put("all2all_backend", "flashinfer_all2allv");
    else if (p.dispatcher != Dispatcher::AllGather)
      gap("dispatcher", "vLLM exchanges tokens by all-gather, all-to-all or DeepEP");
  }

  void sglang_layout(const ParallelSpec& p) {
    const int64_t split = p.ep * p.expert_tp();
    shared_ = experts() && p.dp > 1 && split == p.tp * p.dp;
    int64_t all = shared_ ? p.tp * p.dp : p.tp;
    if (p.cp > 1 && prompts() && !experts()) {
      all *= p.cp;
      put("cp", p.cp);
    } else if (p.cp > 1) {
      gap("cp", "SGLang splits the context of prompts, of models without experts");
    }
    put("tp", all);
    put_above_1("dp", p.dp);
    if (shared_) put("dp_attention", "");
    if (!experts()) return;
    if (split != all) gap_experts("experts of SGLang share all ranks of an engine: ep x etp = tp");
    const bool exchanges = p.dispatcher != Dispatcher::AllGather;
    const bool possible = (p.dispatcher == Dispatcher::Flex || p.dispatcher == Dispatcher::AllToAll) &&
                          p.ep == all && split == all;
    if (spread() && exchanges && possible)
      put("moe_a2a_backend", p.dispatcher == Dispatcher::Flex ? "deepep" : "flashinfer");
    else if (spread() && exchanges)
      gap("dispatcher", "SGLang exchanges tokens only between ranks with whole experts: ep = tp");
    if (split == all) put_above_1("ep", p.ep);
  }

  void trtllm_layout(const ParallelSpec& p) {
    const int64_t split = p.ep * p.expert_tp();
    shared_ = experts() && p.dp > 1 && p.tp == 1 && split == p.dp;
    const int64_t all = shared_ ? p.dp : p.tp;
    if (p.dp > 1 && !shared_) {
      gap("dp",
          "attention of TensorRT-LLM runs data-parallel over all ranks or not at all; start a server "
          "for each replica");
      gap("batch", "each replica has its part");
    }
    if (p.cp > 1) gap("cp", "trtllm-serve has no option for it");
    put("tp", all);
    if (shared_) put("dp_attention", "true");
    if (!experts()) return;
    if (split != all) {
      gap_experts("experts of TensorRT-LLM share all ranks of an engine: ep x etp = tp");
    } else {
      put_above_1("ep", p.ep);
      if (p.ep > 1) put_above_1("etp", p.expert_tp());
    }
    if (!spread()) return;
    const bool of_engine = split == all && (p.ep > 1 || shared_);  // the ranks of one engine share experts
    if (!of_engine)
      gap("dispatcher", "the ranks of one engine do not share experts");
    else if (p.dispatcher == Dispatcher::AllToAll)
      put("moe_config.backend", "WIDEEP");
    else if (p.dispatcher != Dispatcher::AllGather)
      gap("dispatcher", "TensorRT-LLM exchanges tokens by all-gather or all-to-all");
  }

  void types() {
    const std::string dtype = knob_text(d(), *find_knob("dtype"));
    if (dtype == "fp16" || dtype == "fp32")
      put("dtype", dtype == "fp16" ? "float16" : "float32");
    else if (dtype != "bf16")
      gap("dtype", "the engine computes in bf16, fp16 or fp32");
    const std::string cache = knob_text(d(), *find_knob("kv_cache_dtype"));
    if (cache == "fp8")
      put("kv_cache_dtype", engine_ == kSglang ? "fp8_e4m3" : "fp8");
    else if (cache != "bf16")
      gap("kv_cache_dtype", "the cache has the data type or fp8");
  }

  void sequences() {
    const WorkloadSpec& s = d().workload;
    const int64_t length = prompts() ? s.seq : s.context_length, dp = d().parallel.dp;
    // The engine chooses the microbatches.
    const Design served = serving_design(d(), s.mode, s.batch / dp * dp, length);
    const int64_t each = served.workload.batch / dp;
    put(engine_ == kVllm ? "max_model_len" : engine_ == kSglang ? "context_len" : "max_seq_len", length);
    put(engine_ == kVllm     ? "max_num_seqs"
        : engine_ == kSglang ? "max_running_requests"
                             : "max_batch_size",
        engine_ == kSglang && shared_ ? each * dp : each);
    const char* const reason = "the engine splits the sequences into as few microbatches as fill the stages";
    if (served.workload.batch != s.batch) gap("batch", reason);
    if (served.workload.microbatch != s.microbatch) gap("microbatch", reason);
    if (!prompts()) return;
    if (engine_ == kVllm) {
      put("max_num_batched_tokens", each * length);
      put("kv_transfer_config", R"('{"kv_connector":"NixlConnector","kv_role":"kv_producer"}')");
    } else {
      put("chunked_prefill_size", each * length);
      put("max_prefill_tokens", each * length);
      put("disaggregation_mode", "prefill");
    }
  }

  std::string heading() const {
    const int64_t ranks = d().world();
    std::string name = d().name;
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return std::string("#!/bin/bash\n# ") + engine_name(engine_) + ": " + name + ", " +
           (prompts() ? "prefill" : "decode") + " on " + std::to_string(ranks) +
           (ranks == 1 ? " GPU" : " GPUs") + ".\n# Start: MODEL=FOLDER_OR_HUGGING_FACE_ID bash serve.sh\n" +
           (checkpoint_.empty() ? "# The config.json of the checkpoint has the sizes of the design.\n"
                                : "# The preset's name stands for a checkpoint with its sizes.\n") +
           "MODEL=${MODEL:-" + (checkpoint_.empty() ? "/path/to/checkpoint" : checkpoint_) + "}\n";
  }

  std::string text() const {
    std::string out = heading();
    if (engine_ == kTrtllm) {
      out += "cat > options.yaml << EOF\n";
      std::string open;  // mapping that the last key belongs to
      for (const auto& [name, value] : arguments_) {
        const size_t dot = name.find('.');
        const std::string group = dot == std::string::npos ? "" : name.substr(0, dot);
        if (!group.empty() && group != open) out += group + ":\n";
        open = group;
        out += (group.empty() ? name : "  " + name.substr(dot + 1)) + ": " + value + "\n";
      }
      return out + "EOF\ntrtllm-serve \"$MODEL\" --extra_llm_api_options options.yaml\n";
    }
    out += engine_ == kVllm ? "vllm serve \"$MODEL\""
                            : "python3 -m sglang.launch_server --model-path \"$MODEL\"";
    for (const auto& [flag, value] : arguments_) out += " \\\n  " + flag + (value.empty() ? "" : " " + value);
    return out + "\n";
  }

  EngineKind engine_;
  const Design& design_;
  std::string checkpoint_;
  GapReasons reasons_;
  bool shared_ = false;  // attention replicas share the ranks of one engine
  std::vector<std::pair<std::string, std::string>> arguments_;
};

std::variant<LaunchText, Problem> write(EngineKind engine, const Design& design) {
  const Mode mode = design.workload.mode;
  if (mode == Mode::Train)
    return Problem{ProblemCode::LaunchSetting, "mode",
                   std::string(engine_name(engine)) + " serves models, and the design trains one",
                   "mode prefill or decode"};
  if (mode == Mode::Prefill && engine == kTrtllm)
    return Problem{ProblemCode::LaunchSetting, "mode",
                   "a command of trtllm-serve does not say that a server computes prompts only",
                   "mode decode"};
  return ServerWriter(engine, design).write();
}

}  // namespace

std::variant<LaunchText, Problem> write_vllm_launch(const Design& design) { return write(kVllm, design); }
std::variant<LaunchText, Problem> write_sglang_launch(const Design& design) { return write(kSglang, design); }
std::variant<LaunchText, Problem> write_trtllm_launch(const Design& design) { return write(kTrtllm, design); }

}  // namespace shardscape
