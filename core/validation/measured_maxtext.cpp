// Measured runs of MaxText: recipes for TPUs, and MaxText's own tables of TFLOP/s.
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// Sizes that differ from the preset of the same blocks: configs/models of AI-Hypercomputer/maxtext
// @e591f30cb.
struct MaxTextModel {
  const char* name;
  const char* preset;
  std::vector<std::pair<const char*, const char*>> sizes;
};

const std::vector<MaxTextModel>& models() {
  static const std::vector<MaxTextModel> list{
      {"gpt3-175b", "gpt3-175b-megatron", {{"vocab", "50304"}}},
      {"gemma3-12b",
       "gemma3-27b",
       {{"layers", "48"},
        {"hidden", "3840"},
        {"heads", "16"},
        {"kv_heads", "8"},
        {"head_dim", "256"},
        {"ffn", "15360"}}},
      {"deepseek3-671b", "deepseek-v3", {{"mtp_layers", "0"}}},
      {"mistral-7b", "mistral-7b-v0.3", {{"vocab", "32000"}}},
      {"llama4-17b-16e", "llama4-scout", {}},
      // Every second layer has experts.
      {"llama4-17b-128e",
       "llama4-scout",
       {{"experts", "128"}, {"layer_pattern", "(chunked_dense, chunked, chunked_dense, full)*"}}}};
  return list;
}

// The model by its name, or the blocks of Llama 2 with the sizes of the row ("dims").
bool model(RowMapper& m) {
  const std::string name = m.text("model");
  if (m.has("dims") && m.row()["dims"].is_object()) {
    if (!m.preset("llama2-7b")) return false;
    const MeasuredJson& dims = m.row()["dims"];
    for (const char* size : {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab"}) {
      const auto it = dims.find(size);
      if (it != dims.end() && it->is_number_integer())
        m.set(size, it->get<int64_t>());
      else
        m.refuse("dims has no whole number " + std::string(size));
    }
    return !m.refused();
  }
  for (const MaxTextModel& known : models()) {
    if (plain_name(known.name) != plain_name(name)) continue;
    if (!m.preset(known.preset)) return false;
    for (const auto& [knob, value] : known.sizes) m.set(knob, value);
    return !m.refused();
  }
  return m.preset(preset_named(name));
}

// "tpu_v6e_trillium" -> "tpu-v6e"
std::string tpu_accelerator(RowMapper& m) {
  const std::string gpu = m.text("gpu");
  for (const char* generation : {"v4", "v5e", "v5p", "v6e", "v7"})
    if (gpu.starts_with(std::string("tpu_") + generation)) return std::string("tpu-") + generation;
  m.refuse("gpu \"" + gpu + "\" is not one of tpu_v4, tpu_v5e, tpu_v5p, tpu_v6e and tpu_v7, with any ending");
  return {};
}

// The arguments of MaxText ("layout" of a row). A missing argument has the default of configs/base.yml.
class Arguments {
 public:
  explicit Arguments(const RowMapper& m) {
    const auto it = m.row().find("layout");
    if (it != m.row().end() && it->is_object()) arguments_ = &*it;
  }
  int64_t integer(const char* name, int64_t otherwise) const {
    const MeasuredJson* value = find(name);
    return value && value->is_number_integer() ? value->get<int64_t>() : otherwise;
  }
  std::string text(const char* name) const {
    const MeasuredJson* value = find(name);
    return value && value->is_string() ? value->get<std::string>() : std::string();
  }
  bool flag(const char* name, bool otherwise) const {
    const MeasuredJson* value = find(name);
    return value && value->is_boolean() ? value->get<bool>() : otherwise;
  }
  const MeasuredJson* find(const char* name) const {
    if (!arguments_) return nullptr;
    const auto it = arguments_->find(name);
    return it == arguments_->end() ? nullptr : &*it;
  }
  // Custom policies: the tensor of this name stays on the device or moves to the host.
  bool saved(const char* tensor) const {
    const std::string place = text(tensor);
    return place == "device" || place == "offload";
  }

 private:
  const MeasuredJson* arguments_ = nullptr;
};

// The checkpoint policy (MaxText, layers/decoders.py, get_remat_policy). A policy names the saved tensors,
// and XLA runs everything else again. Three differences:
// - If queries, keys and values are saved and out_proj is not, the design omits the replay of the output
//   projection.
// - A policy that does not save queries, keys and values is full recompute, even if it saves other tensors
//   (mlpwo, context).
// - Saved tensors stay on the device. A policy may move them to the host during the step. Sets with these
//   policies have step times only.
void recompute(RowMapper& m, const Arguments& arguments) {
  const std::string policy = m.text("recompute", arguments.text("remat_policy"));
  if (policy == "full") return m.set("recompute", "full");
  const bool minimal = policy.starts_with("minimal");
  const bool custom = policy == "custom";
  if (!minimal && !custom && policy != "qkv_proj_offloaded" && policy != "save_qkv_proj")
    return m.refuse("the remat policy \"" + policy +
                    "\" is not one of full, minimal..., custom, save_qkv_proj and qkv_proj_offloaded");
  if (custom && !(arguments.saved("query_proj") && arguments.saved("value_proj")))
    return m.set("recompute", "full");
  const bool mlp_saved = minimal || (custom && (arguments.saved("mlpwi") || arguments.saved("mlpwi_0")));
  m.set("recompute", "selective");
  const bool experts = m.out().design.model.experts > 0;
  std::string modules = "core_attn,layernorm";
  modules += mlp_saved ? (experts ? ",moe_act" : ",mlp_act") : (experts ? ",moe" : ",mlp");
  m.set("recompute_modules", modules);
}

// The mesh axes of MaxText. The axes "fsdp", "fsdp_transpose" and "expert" shard parameters, and the axis
// "data" replicates them. Axes "ici_..." are inside a slice. Axes "dcn_..." connect slices, and
// dcn_data_parallelism takes the slices that dcn_fsdp_parallelism leaves (-1 in configs/base.yml).
void mesh(RowMapper& m, const Arguments& arguments) {
  const int64_t gpus = m.integer("gpus", 1), slices = m.integer("slices", 1);
  for (const char* axis : {"tp", "pp", "cp", "ep"}) m.set_from(axis, axis);
  data_parallel(m, gpus);
  if (m.refused()) return;
  int64_t sharded_slices = arguments.integer("dcn_fsdp_parallelism", 1);
  if (sharded_slices == -1) sharded_slices = slices;
  if (slices < 1 || sharded_slices < 1 || gpus % slices != 0 || slices % sharded_slices != 0)
    return m.refuse(std::to_string(slices) + " slices do not divide " + std::to_string(gpus) +
                    " chips, or dcn_fsdp_parallelism does not divide the slices");
  const int64_t dp = m.out().design.parallel.dp;
  const int64_t inside = arguments.integer("ici_data_parallelism", 1), between = slices / sharded_slices;
  if (inside < 1 || inside > dp || dp % (inside * between) != 0)
    return m.refuse("the axis \"data\", ici_data_parallelism " + std::to_string(inside) + " times " +
                    std::to_string(between) + " slices, does not divide " + std::to_string(dp) + " replicas");
  m.set("sync", "fsdp2");
  if (inside * between > 1) m.set("dp_shard", dp / (inside * between));
  m.set("grad_dtype", "bf16");
  if (slices > 1) m.set("scaleup_domain", gpus / slices);  // ICI connects the chips of a slice only
  const int64_t batch = m.integer("gbs", 0), steps = arguments.integer("gradient_accumulation_steps", 1);
  if (steps < 1 || steps > batch || batch % dp != 0 || batch / dp % steps != 0)
    return m.refuse("gbs " + std::to_string(batch) + " does not split into " + std::to_string(dp) +
                    " replicas with " + std::to_string(steps) + " microbatches");
  m.set("batch", batch);
  m.set("microbatch", batch / dp / steps);
  if (m.integer("tp", 1) > 1) {
    // Activations between layers are sharded along the axis "tensor", and XLA splits GEMMs into steps that
    // overlap with their collectives (collective matmul).
    m.set("sequence_parallel", "true");
    m.set("tp_comm_overlap", "true");
  }
}

// Dropping experts: sparse_matmul off with a capacity factor. Every expert computes all slots.
void experts(RowMapper& m, const Arguments& arguments) {
  if (m.out().design.model.experts < 1) return;
  const MeasuredJson* factor = arguments.find("capacity_factor");
  if (arguments.flag("sparse_matmul", true) || !factor || !factor->is_number()) return;
  m.set("capacity_factor", factor->dump());
  m.set("pad_to_capacity", "true");
}

// The step of a row that gives TFLOP/s: MaxText's count of a step, which omits recomputation and counts
// attention without the causal half (maxtext_utils.py, calculate_tflops_training_per_device). A token takes
// 6 FLOPs per weight of the layers and of the head, and 12 S H E of attention in each layer.
void seconds_from_rate(RowMapper& m) {
  const auto rate = m.measured("tflops_per_gpu", 1e12, m.out().no_seconds);
  if (!rate || m.refused()) return;
  const ModelSpec& s = m.out().design.model;
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  const double hidden = real(s.hidden), head_dim = real(s.head_dim), queries = real(s.heads) * head_dim;
  const double layer = 3 * hidden * real(s.ffn) + 2 * hidden * queries +
                       2 * hidden * real(s.kv_heads) * head_dim;
  const double seq = real(m.out().design.workload.seq);
  const double per_token = 6 * (real(s.layers) * layer + hidden * real(s.vocab)) +
                           12 * real(s.layers) * seq * queries;
  m.out().no_seconds.clear();
  m.out().seconds = per_token * seq * real(m.integer("gbs", 0)) / real(m.integer("gpus", 1)) / *rate;
}

void map_row(RowMapper& m) {
  const Arguments arguments(m);
  m.out().name += ": " + m.text("model") + " " + std::to_string(m.integer("gpus", 0)) + " x " +
                  m.text("gpu") + ", slices " + std::to_string(m.integer("slices", 1));
  m.out().design.name = m.out().name;
  const std::string quantization = arguments.text("quantization") + m.text("precision");
  const std::string accelerator = tpu_accelerator(m);
  for (const char* field : {"seq", "gbs", "tp"})
    if (!m.has(field)) m.refuse(std::string("the row has no ") + field);
  if (m.refused() || !model(m)) return;
  m.set_from("seq", "seq");
  mesh(m, arguments);
  recompute(m, arguments);
  experts(m, arguments);
  // AQT quantizes the operands of the forward and of both backward GEMMs (MaxText, layers/quantizations.py).
  // The argument counts, also where the row calls the run FP8.
  if (quantization.find("int8") != std::string::npos)
    m.set("compute", "int8");
  else if (quantization.find("fp8") != std::string::npos)
    m.set("compute", "fp8");
  m.set("clip_grad_norm", "true");
  m.set("vocab_multiple", 1);
  m.set("profile", "torchtitan");  // fused by a compiler, flash attention
  m.set("accelerator", accelerator);
}

}  // namespace

void map_maxtext(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(number++));
    m.seconds_from("step_seconds");
    m.out().no_bytes = "the set has no memory";
    map_row(m);
    if (!m.out().seconds) seconds_from_rate(m);
    if (m.refused() && !m.out().seconds) m.out().no_seconds = m.out().unmapped;
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
