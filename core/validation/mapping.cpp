#include "validation/mapping.h"

#include <algorithm>

#include "base/wide.h"
#include "validation/field_ledger.h"
#include "validation/model_mapping.h"

namespace shardscape {
namespace {

// The first word is the type: "bf16 (A_log, D, residual fp32)", "bf16-true", "torch.float32".
std::string dtype_knob(const std::string& text) {
  for (const auto& [word, knob] : {std::pair{"bf16", "bf16"},
                                   {"bfloat16", "bf16"},
                                   {"fp16", "fp16"},
                                   {"float16", "fp16"},
                                   {"fp32", "fp32"},
                                   {"float32", "fp32"}})
    if (const size_t at = text.find(word); at == 0 || at == 6) return knob;
  return text;
}

class Mapper {
 public:
  explicit Mapper(const Recording& recording) : r_(recording), ledger_(recording, m_) {}

  Mapping run() {
    m_.design = Design{};
    m_.design.name = r_.name;
    m_.code = code_base_of(r_);
    if (m_.code == CodeBase::Unknown) ledger_.unmapped("source", "the source names no known code base");
    if (is_sync_only(m_.code)) return std::move(m_);  // no design has these parameters
    degrees();
    map_model(r_, m_, ledger_);
    layers();
    workload();
    profile();
    memory_saving();
    experts_and_context();
    // The code base and the tensor names determine these fields, or they change only the order of kernels.
    ledger_.ignore({"gradient_accumulation_fusion", "async_tensor_model_parallel_allreduce", "experts_impl",
                    "dtype", "seq"});
    ledger_.close();
    return std::move(m_);
  }

 private:
  int64_t degree(const char* field, const char* knob) {
    const int64_t value = ledger_.integer({field}).value_or(1);
    ledger_.set(knob, value, field, "1");
    return value;
  }

  void degrees() {
    tp_ = degree("parallel.tp", "tp");
    pp_ = degree("parallel.pp", "pp");
    dp_ = degree("parallel.dp", "dp");
    degree("parallel.cp", "cp");
    degree("parallel.ep", "ep");
    degree("parallel.vp", "virtual_stages");
    m_.stage = static_cast<int>(ledger_.integer({"parallel.pp_stage"}).value_or(0));
    if (m_.stage < 0 || m_.stage >= m_.design.parallel.pp) {
      ledger_.unmapped("parallel.pp_stage",
                       "stages are numbered from 0 to " + std::to_string(m_.design.parallel.pp - 1));
      m_.stage = 0;
    }
    // The default of Megatron-LM in 2022. Under sequence parallelism, messages are shards already.
    if (m_.code == CodeBase::MegatronLm && pp_ > 1 && tp_ > 1)
      ledger_.set("scatter_gather_pipeline", "true", "parallel.pp");
    // Sequence parallelism has no effect with tp = 1.
    if (ledger_.flag("parallel.sequence_parallel") && tp_ > 1)
      ledger_.set("sequence_parallel", "true", "parallel.sequence_parallel");
  }

  void layers() {
    m_.layers_here = ledger_.integer({"layers_in_this_run"}).value_or(0);
    m_.full_layers = ledger_.integer({"layers_of_full_model", "n_layer_full"}).value_or(0);
    const auto built = ledger_.integer({"layers_total_built"});
    ledger_.set("layers", built ? to_string(*built) : to_string(Wide(m_.layers_here) * pp_),
                "layers_in_this_run");
  }

  void workload() {
    const int64_t microbatch = ledger_.integer({"micro_batch"}).value_or(1);
    const int64_t microbatches = ledger_.integer({"num_microbatches"}).value_or(1);
    ledger_.set("seq", ledger_.integer({"seq"}).value_or(0), "seq");
    ledger_.set("microbatch", microbatch, "micro_batch");
    ledger_.set("batch", to_string(Wide(microbatch) * microbatches * dp_), "num_microbatches");
    ledger_.set("dtype", dtype_knob(ledger_.text({"dtype"}).value_or("")), "dtype");
    if (const auto grad = ledger_.text({"grad_reduce_dtype"}))
      ledger_.set("grad_dtype", dtype_knob(*grad), "grad_reduce_dtype");
    // The recorded vocabulary includes the padding.
    ledger_.set("vocab_multiple", 1, "vocab");
  }

  void profile() {
    const std::string attention = ledger_.text({"attention", "attn_implementation"}).value_or("");
    const bool fused = m_.code != CodeBase::MegatronLm || ledger_.flag("fused_kernels");
    std::string id;
    switch (m_.code) {
      case CodeBase::MegatronLm: id = fused ? "megatron-2022" : "megatron-2022-unfused"; break;
      case CodeBase::MegatronCore:
        id = attention.starts_with("flash") ? "flash" : "megatron-core-unfused";
        break;
      case CodeBase::Fairscale: id = "fairscale"; break;
      // Litgpt's flash path does not support a soft cap.
      case CodeBase::Litgpt:
        id = ledger_.text({"softcap"})                     ? "litgpt-capped"
             : attention.find("math") == std::string::npos ? "litgpt"
                                                           : "litgpt-math";
        break;
      case CodeBase::Transformers:
        id = attention.starts_with("flash") ? "transformers-flash" : "transformers-eager";
        break;
      case CodeBase::Mamba: id = "mamba"; break;
      case CodeBase::Unknown:
      case CodeBase::TorchDdp:
      case CodeBase::TorchFsdp:
      case CodeBase::DeepSpeed: return;
    }
    const std::string field = r_.field("config.attention")             ? "attention"
                              : r_.field("config.attn_implementation") ? "attn_implementation"
                                                                       : "source";
    ledger_.set("profile", id, fused ? field : "fused_kernels");
    // A loss that gathers the logits of all ranks uses another head than the vocabulary-parallel loss.
    const std::string loss = ledger_.text({"loss"}).value_or("");
    const bool gathers = loss.find("all-gathered") != std::string::npos;
    if (gathers && tp_ > 1) ledger_.set("gathered_logits", "true", "loss");
    if (!loss.empty() && !gathers && loss.find("vocab-parallel") == std::string::npos)
      ledger_.unmapped("loss", "this loss is unknown");
    if (dropout()) ledger_.set("dropout", "true", "dropout", "false");
    if (ledger_.flag("fp32_residual"))
      ledger_.unmapped("fp32_residual", "a residual stream in float32 is not supported");
  }

  // Without a field, a saved mask of the size of a residual-stream tensor shows dropout.
  bool dropout() {
    if (const auto rate = ledger_.text({"dropout"}))
      return rate->find_first_not_of("0.") != std::string::npos;
    return std::any_of(r_.saved.begin(), r_.saved.end(), [](const RecordedStorage& s) {
      return s.scope.find("dropout") != std::string::npos && (s.dtype == "bool" || s.dtype == "uint8");
    });
  }

  void memory_saving() {
    const std::string text = ledger_.text({"recompute"})
                                 .value_or(ledger_.flag("gradient_checkpointing") ? "full" : "none");
    ledger_.ignore({"gradient_checkpointing"});
    if (const auto method = ledger_.text({"recompute_method"}))
      ledger_.set("recompute_method", *method, "recompute_method");
    if (const auto number = ledger_.integer({"recompute_num_layers"}))
      ledger_.set("recompute_num_layers", *number, "recompute_num_layers");
    if (const auto modules = ledger_.text({"recompute_modules"}))
      ledger_.set("recompute_modules", *modules, "recompute_modules");
    ledger_.set("recompute", text.substr(0, text.find(' ')),
                r_.field("config.recompute") ? "recompute" : "gradient_checkpointing", "none");
    if (ledger_.flag("distribute_saved_activations"))
      ledger_.set("distribute_saved_activations", "true", "distribute_saved_activations", "false");
    if (ledger_.flag("distributed_optimizer"))
      ledger_.set("sync", "distributed-optimizer", "distributed_optimizer");
    if (ledger_.flag("overlap_grad_reduce"))
      ledger_.set("overlap_grad_reduce", "true", "overlap_grad_reduce", "false");
  }

  void experts_and_context() {
    if (const auto dispatcher = ledger_.text({"moe_dispatcher"}); dispatcher && m_.design.model.experts > 0) {
      // Megatron-core 0.8 calls alltoall the dispatcher that 0.9 and later call alltoall_seq.
      const bool by_hidden = *dispatcher == "alltoall" && r_.source.find("core_v0.8") != std::string::npos;
      ledger_.set("dispatcher", by_hidden ? "alltoall_seq" : *dispatcher, "moe_dispatcher");
    }
    if (const auto factor = ledger_.text({"moe_capacity_factor"})) {
      ledger_.set("capacity_factor", *factor, "moe_capacity_factor");
      // --moe-pad-expert-input-to-capacity has no field; names of cases list the arguments.
      if (r_.name.ends_with("_pad")) ledger_.set("pad_to_capacity", "true", "moe_capacity_factor");
    }
    if (const auto ring = ledger_.text({"cp_impl"})) ledger_.set("context", *ring, "cp_impl");
  }

  const Recording& r_;
  Mapping m_;
  FieldLedger ledger_;
  int64_t tp_ = 1, pp_ = 1, dp_ = 1;
};

}  // namespace

Mapping map_recording(const Recording& recording) { return Mapper(recording).run(); }

}  // namespace shardscape
