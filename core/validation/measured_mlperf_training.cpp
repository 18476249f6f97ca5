// Measured runs of MLPerf Training: GPT-3 175B, Llama 3.1 405B and 8B, and Llama 2 70B with LoRA, with NeMo
// and Megatron-core.
#include <algorithm>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr const char* kLora = "llama2_70b_lora";

// "h100_sxm" -> "h100", "gb200" -> "gb200"
std::string accelerator_of_row(RowMapper& m) {
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
void model(RowMapper& m) {
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
    // Adapters of rank 16 on the projections of attention (setup of the set); packed sequences of 8,192
    // tokens.
    if (m.preset("llama2-70b")) m.set("lora_rank", 16);
    m.set("lora_modules", "q,k,v,o");
    if (!m.has("tp")) m.refuse("the row does not give the layout of the run");
    if (!m.has("precision")) m.refuse("the row does not give the precision of the run");
    if (m.integer("cp", 1) > 1) m.set("context", "ulysses");  // cp_comm_type a2a (setup of the set)
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
  // Rows without the field: the defaults of Megatron-core. Fine-tuning in FP8 keeps its frozen weights in FP8
  // (setup of the set), also where a row has the value false: four such rows on GB200 measured 82 GiB on a
  // rank with all weights, less than the weights in 16 bits.
  const bool frozen_in_fp8 = m.text("benchmark") == kLora && compute == "fp8";
  if (frozen_in_fp8 || m.flag("fp8_params", false)) m.set("fp8_params", "true");
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
  if (recompute.find("selective") != std::string::npos) m.set("recompute", "selective");
  // TP_PP_DP_MAPPING of the scripts of Llama 3.1: replicas are the outermost ranks.
  if (m.text("benchmark") != "gpt3") m.set("rank_order", "tp-cp-pp-dp");
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
    const std::string accelerator = accelerator_of_row(m);
    if (accelerator.find("gaudi") != std::string::npos || accelerator.find("tpu") != std::string::npos)
      m.refuse("runs of Gaudi and TPU use other code bases than Megatron-core: " +
               m.text("framework", "not named"));
    else if (m.has("same_logs_as"))
      m.refuse("the row repeats the logs of " + m.text("same_logs_as"));
    model(m);
    layout(m);
    overlaps(m);
    precision(m, accelerator);
    const auto graphs = row.find("cuda_graph");  // false or a text
    if (graphs != row.end() && *graphs == "per layer") m.set("cuda_graphs", "layer");
    m.set("clip_grad_norm", "true");
    m.set("accelerator", accelerator);
    m.set("profile", profile_of_round(m.text("round")));
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
