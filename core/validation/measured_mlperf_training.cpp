// Measured runs of MLPerf Training: GPT-3 175B, Llama 3.1 405B and 8B, and Llama 2 70B with LoRA, with NeMo
// and Megatron-core.
#include <algorithm>
#include <string_view>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr const char* kLora = "llama2_70b_lora";

// "h100_sxm" -> "h100", "gb200" -> "gb200"
std::string mlperf_accelerator(RowMapper& m) {
  std::string gpu = m.text("gpu");
  if (const size_t form = gpu.find("_sxm"); form != std::string::npos) gpu.erase(form);
  std::replace(gpu.begin(), gpu.end(), '_', '-');
  return gpu;
}

// The code base of a round: NGC 23.04 and 23.09 in v3.0 and v3.1, NeMo 24 to 25.04 up to v5.0, later versions
// from v5.1 on.
const char* profile_of_round(const std::string& round) {
  if (round == "v3.0") return "nemo-23.04";
  if (round == "v3.1") return "nemo-23.09";
  return round == "v4.0" || round == "v4.1" || round == "v5.0" ? "megatron-core-te-1"
                                                               : "megatron-core-te-fused-loss";
}

// What NVIDIA's code of Llama 3.1 sets for all runs (training_results_v5.1, NVIDIA/benchmarks/
// llama31_405b/implementations/theia_ngpu512_ngc25.09_nemo @441d65f4). Transformer Engine passes keys and
// values round a ring. conf/nccl/custom_communicator_cta.yaml limits the CTAs of communicators.
// conf/custom.yaml: BUCKET_SIZE. config_common.sh: NCCL_NVLS_ENABLE=0.
void megatron_llama(RowMapper& m) {
  if (m.integer("cp", 1) > 1) m.set("context", "zigzag");
  m.set("tp_max_ctas", 8);
  m.set("cp_max_ctas", 1);
  m.set("dp_max_ctas", 8);
  m.set("ddp_bucket_size", 134217728);
  m.set("in_network_reduction", "none");
}

// The model of a benchmark, with the vocabulary of the benchmark.
void mlperf_model(RowMapper& m) {
  const std::string benchmark = m.text("benchmark");
  if (benchmark == "gpt3") {
    m.preset("gpt3-175b-megatron");
  } else if (benchmark == "llama31_405b") {
    if (m.preset("llama3.1-405b")) m.set("vocab", 32000);
    megatron_llama(m);
    // The pipeline counts embedding and loss as layers (setup of the set).
    if (m.flag("embedding_loss_as_pp_layers", true) && m.integer("pp", 1) > 1) {
      m.set("account_for_embedding_in_pipeline_split", "true");
      m.set("account_for_loss_in_pipeline_split", "true");
    }
  } else if (benchmark == "llama31_8b") {
    m.preset("llama3-8b");
    megatron_llama(m);
    m.set("ddp_bucket_size", 768000000);  // BUCKET_SIZE of config_common_8b.sh
  } else if (benchmark == kLora) {
    m.preset("llama2-70b");
    if (!m.has("tp")) m.refuse("the row does not give the layout of the run");
    if (!m.has("precision")) m.refuse("the row does not give the precision of the run");
  } else {
    m.refuse("the benchmark " + benchmark + " is not one of gpt3, llama31_405b, llama31_8b and " + kLora);
  }
}

void precision(RowMapper& m, const std::string& accelerator) {
  const std::string precision = m.text("precision"), recipe = m.text("fp8_recipe", "delayed");
  std::string compute = precision;
  if (precision == "bf16") compute = "storage";
  if (precision == "fp4") compute = "nvfp4";
  if (precision == "fp8" && recipe.find("mxfp8") != std::string::npos) compute = "mxfp8";
  if (precision == "fp8" && recipe.find("block") != std::string::npos) compute = "fp8-blockwise";
  m.set("compute", compute);
  // Rows without the field: the defaults of Megatron-core.
  if (m.text("benchmark") != kLora && m.flag("fp8_params", false)) m.set("fp8_params", "true");
  set_transposed_weights(m, accelerator);
  m.set("grad_dtype", "bf16");
}

// Rows without a field: the defaults of the submitters' scripts, in which all collectives overlap
// (training_results_v3.0, NVIDIA/benchmarks/gpt3/implementations/pytorch/run_and_time.sh).
void overlaps(RowMapper& m) {
  const MeasuredJson none = MeasuredJson::object();
  const MeasuredJson& fields = m.has("overlap") && m.row()["overlap"].is_object() ? m.row()["overlap"] : none;
  const auto on = [&](const char* field) {
    const auto it = fields.find(field);
    return it == fields.end() || !it->is_boolean() || it->get<bool>();
  };
  m.set("sync", m.flag("dist_optimizer", true) ? "distributed-optimizer" : "ddp-flat");
  if (on("grad_reduce")) m.set("overlap_grad_reduce", "true");
  if (on("grad_reduce") && on("param_gather") && m.flag("dist_optimizer", true))
    m.set("overlap_param_gather", "true");
  if (m.integer("tp", 1) < 2) return;
  if (m.flag("sequence_parallel", true)) m.set("sequence_parallel", "true");
  if (m.flag("sequence_parallel", true) && on("tp_comm")) m.set("tp_comm_overlap", "true");
}

void layout(RowMapper& m) {
  for (const char* axis : {"tp", "pp", "cp", "ep", "dp", "seq"}) m.set_from(axis, axis);
  if (m.integer("pp", 1) > 1) m.set_from("virtual_stages", "vp");
  m.set_from("microbatch", "mbs");
  m.set_from("batch", "gbs");
  m.set_from("offload_activations", "cpu_offloading_layers");
  const std::string recompute = m.text("recompute", "none");
  if (recompute.find("full") != std::string::npos) m.set("recompute", "full");
  // "full block 21 layers"
  if (constexpr std::string_view block = "full block "; recompute.starts_with(block)) {
    m.set("recompute_method", "block");
    m.set("recompute_num_layers",
          recompute.substr(block.size(), recompute.find(' ', block.size()) - block.size()));
  }
  if (recompute.find("selective") != std::string::npos) m.set("recompute", "selective");
  // TP_PP_DP_MAPPING of the scripts of Llama 3.1: replicas are the outermost ranks.
  if (m.text("benchmark") != "gpt3") m.set("rank_order", "tp-cp-pp-dp");
}

// Llama 2 70B with LoRA: settings that the submitters' scripts share and rows omit. NVIDIA's scripts are
// training_results_v4.0 .. v5.0, NVIDIA/benchmarks/llama2_70b_lora/implementations: train.py,
// conf/megatron_gpt_peft_tuning_config.yaml and configs; those of AMD are in the same place.
void lora_settings(RowMapper& m, const std::string& accelerator) {
  m.set("lora_rank", 16);
  m.set("lora_modules", "q,k,v,o");  // linear_qkv, linear_proj
  m.set("lora_dropout", "true");     // 0.1, before the adapter
  // DeepSpeed with PEFT. It checkpoints every layer.
  if (m.integer("zero_stage", 0) == 3) {
    m.set("sync", "zero-3");
    m.set("profile", "transformers-flash");
    return;
  }
  const int64_t tp = m.integer("tp", 1), cp = m.integer("cp", 1);
  const bool fp8 = m.text("precision") == "fp8", v4_0 = m.text("round") == "v4.0",
             amd = accelerator.starts_with("mi"),
             blackwell = accelerator.starts_with("b") || accelerator.starts_with("gb");
  m.set("lora_packed", "true");  // one A for linear_qkv
  // fp8_params of the model equals fp8 in all scripts. The field of the rows is fp8_param_gather of DDP.
  if (fp8) m.set("fp8_params", "true");
  if (fp8 && m.flag("fp8_attention", false)) m.set("fp8_attention", "true");
  // disable_parameter_transpose_cache: Hopper transposes FP8 weights for every GEMM that needs it.
  if (fp8) m.set("transposed_weights", "false");
  // FP8_ACTIVATION of AMD's scripts, FP8_ACT of the scripts tp1pp1cp1 for Blackwell.
  if (fp8 && (amd || (blackwell && tp * cp == 1))) m.set("activation_cache", "fp8-inputs");
  // cp_comm_type is a2a in the scripts for Blackwell. The others leave Megatron-core's default, p2p.
  if (cp > 1) m.set("context", blackwell ? "ulysses" : "zigzag");
  // MC_TP_OVERLAP_RS_DGRAD: off in v4.0, and later in the scripts with cp 2 for Hopper.
  if (tp > 1 && cp == 1 && !v4_0) m.set("tp_comm_overlap_rs_dgrad", "true");
}

}  // namespace

void map_mlperf_training(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    m.out().name = m.out().design.name = m.text("round") + " " + m.text("submitter") + " " +
                                         m.text("benchmark") + " " + m.text("system", m.out().name);
    m.seconds_from("step_seconds");
    m.bytes_from("memory_gib", kGiB);
    m.out().stage = 0;  // logged by rank 0
    const std::string accelerator = mlperf_accelerator(m);
    if (accelerator.find("gaudi") != std::string::npos || accelerator.find("tpu") != std::string::npos)
      m.refuse("runs of Gaudi and TPU use other code bases than Megatron-core: " +
               m.text("framework", "not named"));
    else if (m.has("same_logs_as"))
      m.refuse("the row repeats the logs of " + m.text("same_logs_as"));
    mlperf_model(m);
    layout(m);
    overlaps(m);
    precision(m, accelerator);
    // A text, or whether whole layers are graphs (the default scope of NeMo's enable_cuda_graph).
    const auto graphs = row.find("cuda_graph");
    if (graphs != row.end() && (*graphs == "per layer" || *graphs == true)) m.set("cuda_graphs", "layer");
    m.set("clip_grad_norm", "true");
    m.set("accelerator", accelerator);
    m.set("profile", profile_of_round(m.text("round")));
    if (m.text("benchmark") == kLora) lora_settings(m, accelerator);
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
