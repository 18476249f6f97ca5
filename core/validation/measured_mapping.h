// Maps the fields of a measured row to a design. Private to core/validation, because it includes the JSON
// library.
#pragma once

#include <initializer_list>
#include <optional>

#include "launch/server/served_model.h"
#include "model/preset_names.h"
#include "symbolic/json_value.h"
#include "validation/measured_set.h"

namespace shardscape {

using MeasuredJson = nlohmann::json;

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
inline constexpr int64_t kMostOfRow = 2'147'483'647;  // of an integer: products of two stay in range
inline constexpr int64_t kNodeGpus = 8;               // GPUs of a node with one baseboard

// Sets knobs one by one. The row is refused at the first value that the design does not accept, or at the
// first field of a wrong type. A null field counts as missing.
class RowMapper {
 public:
  RowMapper(const MeasuredJson& row, std::string name);  // refuses a row that is no JSON object
  bool preset(const std::string& id);                    // false: no such preset
  void set(const char* knob, const std::string& text);
  void set(const char* knob, int64_t value) { set(knob, std::to_string(value)); }
  void set_product(const char* knob, std::initializer_list<int64_t> factors);
  // Sizes of GPT-3's layers: every head has its own keys and values, and the MLP is 4 x hidden wide.
  void set_gpt_layers(int64_t hidden, int64_t heads);
  // Sets the knob to the number of the field, if the row has it.
  void set_from(const char* knob, const char* field);
  int64_t integer(const char* field, int64_t otherwise);  // at most kMostOfRow
  std::string text(const char* field, const std::string& otherwise = "");
  bool flag(const char* field, bool otherwise);
  // The measured figures, in units of `unit` seconds or bytes. Values that are not positive count as missing.
  void seconds_from(const char* field, double unit = 1) {
    out_.seconds = measured(field, unit, out_.no_seconds);
  }
  void bytes_from(const char* field, double unit) { out_.bytes = measured(field, unit, out_.no_bytes); }
  std::optional<double> measured(const char* field, double unit, std::string& why_not) const;
  bool has(const char* field) const;
  void refuse(const std::string& why);  // only the first reason is stored
  bool refused() const { return !out_.unmapped.empty(); }
  const MeasuredJson& row() const { return row_; }
  MeasuredRow& out() { return out_; }
  // Validates the design and returns the row.
  MeasuredRow finish();

 private:
  void mistyped(const char* field, const char* wanted);
  const MeasuredJson& row_;
  MeasuredRow out_;
};

// Sets transposed_weights for the accelerator: Transformer Engine 2 makes no transposed FP8 copies for
// Blackwell, whose GEMMs read both layouts (is_non_tn_fp8_gemm_supported).
void set_transposed_weights(RowMapper& m, const std::string& accelerator);

// "row 3": the name of a row without a name.
std::string row_number(size_t number);

// Degree of dp: the number of GPUs divided by the degrees of all other axes.
void data_parallel(RowMapper& mapper, int64_t gpus);

// If layers do not split evenly, embedding and loss replace the missing layers of the first and the last
// virtual stage (Megatron-core's account_for_embedding_in_pipeline_split and
// account_for_loss_in_pipeline_split).
void uneven_layers(RowMapper& mapper);

// One function per file format; each appends its rows to the set.
// SimuMax's releases: Megatron-core on one node
void map_megatron_profiled(const MeasuredJson& set, MeasuredSet& out);
void map_megatron_golden(const MeasuredJson& set, MeasuredSet& out);  // Megatron-LM's functional tests
void map_torchtitan(const MeasuredJson& set, MeasuredSet& out);
void map_megatron_deepspeed(const MeasuredJson& set, MeasuredSet& out);  // vTrain's runs
void map_korthikanti(const MeasuredJson& set, MeasuredSet& out);
void map_composer_fsdp(const MeasuredJson& set, MeasuredSet& out);  // llm-foundry's tables
void map_megatron_bridge(const MeasuredJson& set, MeasuredSet& out);
void map_dgx_cloud(const MeasuredJson& set, MeasuredSet& out);        // NVIDIA's DGX Cloud recipes
void map_nvidia_releases(const MeasuredJson& set, MeasuredSet& out);  // NeMo and Megatron-Bridge before 26.02
void map_bridge_cards(const MeasuredJson& set, MeasuredSet& out);     // Megatron-Bridge's verification cards
void map_megatron_sweeps(const MeasuredJson& set, MeasuredSet& out);  // sweeps of one setting
void map_llama3(const MeasuredJson& set, MeasuredSet& out);
void map_deepseek_v3(const MeasuredJson& set, MeasuredSet& out);
void map_mlperf_training(const MeasuredJson& set, MeasuredSet& out);  // GPT-3 175B, Llama 3.1, LoRA
void map_finetune(const MeasuredJson& set, MeasuredSet& out);    // torchtune's and litgpt's memory tables
void map_nanotron(const MeasuredJson& set, MeasuredSet& out);    // layouts of the Ultra-Scale Playbook
void map_bigscience(const MeasuredJson& set, MeasuredSet& out);  // Megatron-DeepSpeed before BLOOM
void map_internevo(const MeasuredJson& set, MeasuredSet& out);
void map_gaudi(const MeasuredJson& set, MeasuredSet& out);        // Optimum Habana's tests
void map_trainium(const MeasuredJson& set, MeasuredSet& out);     // AWS Neuron's tables for Trainium 1
void map_ascend(const MeasuredJson& set, MeasuredSet& out);       // MindSpeed-LLM's table
void map_primus(const MeasuredJson& set, MeasuredSet& out);       // AMD Primus
void map_maxtext(const MeasuredJson& set, MeasuredSet& out);      // MaxText on TPUs
void map_narayanan(const MeasuredJson& set, MeasuredSet& out);    // Megatron-LM's paper of 2021
void map_zero_bubble(const MeasuredJson& set, MeasuredSet& out);  // table 4 of Qi et al.
void map_stage_paper(const MeasuredJson& set, MeasuredSet& out);  // memory of STAGE's table V
void map_fsdp_posts(const MeasuredJson& set, MeasuredSet& out);   // FSDP and ZeRO in README files
void map_nccl(const MeasuredJson& set, MeasuredSet& out);         // times of collectives
// Serving points
void map_aiconfigurator(const MeasuredJson& set, MeasuredSet& out);
void map_inferencex(const MeasuredJson& set, MeasuredSet& out);
void map_inferencex_slo(const MeasuredJson& set, MeasuredSet& out);
void map_blis_stages(const MeasuredJson& set, MeasuredSet& out);        // load stages of vLLM at given rates
void map_recorded_requests(const MeasuredJson& set, MeasuredSet& out);  // LLMServingSim's runs of vLLM
void map_kv_capacity(const MeasuredJson& set, MeasuredSet& out);
void map_closed_loops(const MeasuredJson& set, MeasuredSet& out);  // repeated sweeps of vLLM
void map_mlperf(const MeasuredJson& set, MeasuredSet& out);
void map_gpustack(const MeasuredJson& set, MeasuredSet& out);      // servers by their start commands
void map_wide_experts(const MeasuredJson& set, MeasuredSet& out);  // experts over many nodes
void map_splitwise(const MeasuredJson& set, MeasuredSet& out);

}  // namespace shardscape
