// Measured runs that NVIDIA published with NeMo: the recipes of DGX Cloud, and tables of releases
// before 26.02.
#include <algorithm>

#include "validation/bridge_recipes.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

std::string preset_of(const std::string& model) {
  const std::string known = plain_name(model);
  // NeMo's GPT-3 175B has the vocabulary of Megatron-LM. "Nemotron-340B" is Nemotron-4.
  if (known == "gpt3175b") return "gpt3-175b-megatron";
  if (known == "nemotron340b") return "nemotron4-340b";
  return preset_named(model);
}

// "H100-SXM5-80GB" -> "h100"
std::string accelerator_of(const std::string& gpu) {
  for (const char* name : {"GB300", "GB200", "B300", "B200", "H200", "H100"})
    if (gpu.find(name) != std::string::npos) {
      std::string out = name;
      std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
      return out;
    }
  return gpu;
}

// Why the row has no design; empty if its fields give one.
std::string why_not(RowMapper& m) {
  const std::string task = m.text("task", "pretrain"), framework = m.text("framework", "NeMo");
  if (framework != "NeMo")
    return framework + " shards by named axes, and the recipe does not print what it recomputes";
  if (task == "lora") return "the row trains adapters (LoRA)";
  for (const char* doubt : {"suspect_layout", "suspect"})
    if (m.has(doubt)) return "the set marks the layout as doubtful: " + m.text(doubt);
  for (const char* field : {"micro_batch", "global_batch", "tp", "pp"})
    if (!m.has(field)) return std::string("the row has no ") + field;
  return "";
}

void published_layout(RowMapper& m) {
  m.set_from("layers", "layers");
  for (const char* axis : {"tp", "pp", "cp", "ep"}) m.set_from(axis, axis);
  if (m.integer("pp", 1) > 1) m.set_from("virtual_stages", "vp");
  uneven_layers(m);
  if (m.out().design.model.positions > 0) m.set_from("positions", "seq");
  m.set_from("seq", "seq");
  m.set_from("microbatch", "micro_batch");
  m.set_from("batch", "global_batch");
  data_parallel(m, m.integer("gpus", 1));
  if (m.integer("cp", 1) > 1) m.set("context", "zigzag");  // Transformer Engine's ring ("p2p")
}

// Rows without a field take the values that the base configurations of the recipes have at v25.01:
// gradients in bfloat16, the distributed optimizer, and overlap of all collectives.
void communication(RowMapper& m) {
  m.set("sync", m.integer("fsdp", 0) > 0 ? "megatron-fsdp" : "distributed-optimizer");
  m.set("grad_dtype", m.text("grad_sync_dtype", "bf16"));
  if (m.integer("fsdp", 0) == 0) {
    m.set("overlap_grad_reduce", m.flag("overlap_grad", true) ? "true" : "false");
    if (m.flag("overlap_param", true)) m.set("overlap_param_gather", "true");
  }
  if (m.integer("tp", 1) < 2 || !m.flag("sequence_parallel", true)) return;
  m.set("sequence_parallel", "true");
  if (m.flag("tp_comm_overlap", true)) m.set("tp_comm_overlap", "true");
}

void machine(RowMapper& m) {
  const std::string accelerator = accelerator_of(m.text("gpu"));
  m.set("accelerator", accelerator);
  set_transposed_weights(m, accelerator);
  const auto read = BridgeRecipes::read();
  const auto* recipes = std::get_if<BridgeRecipes>(&read);
  if (!recipes) return m.refuse("the recipes cannot be read: " + to_string(std::get<Problem>(read)));
  m.set("gpus_per_node",
        std::min(m.integer("gpus", 1), recipes->nvlink_gpus(accelerator).value_or(kNodeGpus)));
}

void precision(RowMapper& m) {
  const std::string precision = m.text("precision");
  if (precision == "bf16") return m.set("compute", "storage");
  if (precision.starts_with("fp8") && precision.find("not stated") == std::string::npos)
    return m.set("compute", "fp8");
  m.refuse("the recipe of the precision is not known: " + precision);
}

// The recipe of GPT-3 175B trains with dropout, and stores parameters in FP8 (NVIDIA/dgxc-benchmarking,
// nemo_megatron/gpt3_175b_hydra.yaml: hidden_dropout, attention_dropout, fp8_params).
void gpt3_recipe(RowMapper& m) {
  if (m.text("framework").empty() || preset_of(m.text("model")) != "gpt3-175b-megatron") return;
  m.set("dropout", "true");
  if (m.text("precision") == "fp8") m.set("fp8_params", "true");
}

// A row of NeMo or Megatron-LM. SFT packs short sequences; its attention counts as that of one sequence.
MeasuredRow nemo_row(const MeasuredJson& row, const std::string& name, const char* seconds,
                     const char* profile) {
  RowMapper m(row, name);
  m.seconds_from(seconds);
  if (const std::string why = why_not(m); !why.empty())
    m.refuse(why);
  else if (m.preset(preset_of(m.text("model")))) {
    published_layout(m);
    communication(m);
    machine(m);
    precision(m);
    gpt3_recipe(m);
    m.set("clip_grad_norm", "true");
    m.set("profile", profile);
  }
  return m.finish();
}

std::string row_name(const MeasuredJson& row, size_t number, const char* set) {
  RowMapper m(row, "");
  const std::string of = m.text(set);
  return std::to_string(number) + ": " + (of.empty() ? "" : of + " ") + m.text("model") + " " +
         m.text("task") + " " + m.text("precision").substr(0, 12) + " " +
         std::to_string(m.integer("gpus", 0)) + " GPUs";
}

// The precision as the tables of Megatron-Bridge print it. The second granularity of FP8 is MXFP8 on
// Blackwell and blocks of 128 numbers on H100.
std::string bridge_precision(const std::string& text, bool blackwell) {
  if (text == "BF16") return text;
  if (text == "fp8" || text == "FP8-CS") return "FP8";
  if (text == "FP8-MX") return "MXFP8";
  if (text.find("second granularity") != std::string::npos) return blackwell ? "MXFP8" : "fp8-blockwise";
  return text;
}

// The row with the fields of Megatron-Bridge's later tables.
MeasuredJson bridge_row(const MeasuredJson& row) {
  RowMapper m(row, "");
  MeasuredJson out = row;
  const std::string gpu = m.text("gpu"), set = m.text("set");
  out["system"] = "DGX-" + gpu;
  out["precision"] = bridge_precision(m.text("precision"), gpu.find('B') != std::string::npos);
  out["release"] = set.substr(set.find(' ') + 1, 5);
  out["derived_iteration_s"] = row.value("step_seconds_est", MeasuredJson());
  out["mbs"] = row.value("micro_batch", MeasuredJson());
  out["gbs"] = row.value("global_batch", MeasuredJson());
  return out;
}

}  // namespace

void map_dgx_cloud(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"])
    out.rows.push_back(
        nemo_row(row, row_name(row, number++, "framework"), "step_seconds", "megatron-core-te-1"));
}

void map_nvidia_releases(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    const std::string name = row_name(row, number++, "set"), of = m.text("set");
    if (!of.starts_with("Megatron-Bridge") || m.has("suspect")) {
      const bool later = of.starts_with("NeMo 25.07") || of.starts_with("Megatron-LM");
      out.rows.push_back(nemo_row(row, name, "step_seconds_est",
                                  later ? "megatron-core-te-fused-loss" : "megatron-core-te-1"));
      continue;
    }
    MeasuredJson one = MeasuredJson::object();
    one["rows"] = MeasuredJson::array({bridge_row(row)});
    map_megatron_bridge(one, out);
    out.rows.back().name = out.rows.back().design.name = name;
  }
}

}  // namespace shardscape
