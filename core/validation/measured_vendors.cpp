// Measured runs on accelerators of other makers: Gaudi (Optimum Habana), Trainium 1 (Neuron), AMD Instinct
// (Primus). measured_ascend.cpp has the NPUs of Huawei.
#include <map>
#include <tuple>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// Sizes that differ from the preset of the same blocks.
struct KnownModel {
  const char* name;
  const char* preset;
  std::vector<std::pair<const char*, int64_t>> sizes;
};

// Sets the model of the row by its name in a table, or by the name of a preset.
bool known_model(RowMapper& m, const std::vector<KnownModel>& models, const std::string& name) {
  for (const KnownModel& model : models) {
    if (plain_name(model.name) != plain_name(name)) continue;
    if (!m.preset(model.preset)) return false;
    for (const auto& [knob, value] : model.sizes) m.set(knob, value);
    return true;
  }
  return m.preset(preset_named(name));
}

void gaudi_sync(RowMapper& m, const std::string& parallel) {
  if (parallel == "DDP" || parallel == "single") return m.set("sync", "ddp-buckets");
  m.set("grad_dtype", "bf16");
  if (parallel == "DeepSpeed ZeRO-2") {
    // "reduce_scatter": false: gradients are all-reduced, which is the communication of ZeRO-1.
    m.set("sync", "zero-1");
  } else if (parallel == "DeepSpeed ZeRO-3") {
    m.set("sync", "zero-3");
    for (const char* limit : {"stage3_max_live_parameters", "stage3_max_reuse_distance"})
      m.set(limit, 100000);
  } else {
    m.refuse("\"" + parallel + "\" is not one of single, DDP, DeepSpeed ZeRO-2 and DeepSpeed ZeRO-3");
  }
}

}  // namespace

// Optimum Habana's tests. The rows omit three settings, which are those of the tests at the same commit
// (huggingface/optimum-habana @1d8504c, tests/configs): attention is not fused (no --use_flash_attention),
// gradients are clipped, and DeepSpeed uses deepspeed_zero_2.json and deepspeed_zero_3_gaudi1.json.
void map_gaudi(const MeasuredJson& set, MeasuredSet& out) {
  // Sources: config.json of the models on Hugging Face. GPT-NeoX adds attention and MLP to the same input and
  // rotates queries and keys; its products are those of GPT-3's blocks.
  static const std::vector<KnownModel> models{
      {"gemma-2b-it", "gemma-2b", {}},
      {"chatglm3-6b",
       "qwen2.5-7b",
       {{"layers", 28}, {"hidden", 4096}, {"heads", 32}, {"kv_heads", 2}, {"ffn", 13696}, {"vocab", 65024}}},
      {"gpt-neox-20b",
       "gpt3-13b",
       {{"layers", 44},
        {"hidden", 6144},
        {"heads", 64},
        {"kv_heads", 64},
        {"head_dim", 96},
        {"ffn", 24576},
        {"vocab", 50432},
        {"tied_embeddings", 0}}}};
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(number++));
    const std::string hardware = m.text("hardware"), parallel = m.text("parallel");
    m.out().name += ": " + m.text("model") + " " + m.text("method") + " " +
                    std::to_string(m.integer("devices", 1)) + " x " + hardware + ", " + parallel;
    m.out().design.name = m.out().name;
    m.seconds_from("step_seconds_est");
    if (m.text("method") == "LoRA")
      m.refuse("LoRA: the row does not say which matrices have adapters");
    else if (!m.has("seq"))
      m.refuse("the row has no sequence length");
    else if (known_model(m, models, m.text("model"))) {
      for (const char* axis : {"tp", "pp", "dp", "seq"}) m.set_from(axis, axis);
      m.set_from("microbatch", "micro_batch");
      m.set_from("batch", "global_batch");
      gaudi_sync(m, parallel);
      m.set("recompute", m.text("recompute", "none"));
      m.set("profile", "transformers-eager");
      m.set("vocab_multiple", 1);
      m.set("clip_grad_norm", "true");
      if (hardware.starts_with("Gaudi 2") || hardware.starts_with("Gaudi 3"))
        m.set("accelerator", hardware.starts_with("Gaudi 2") ? "gaudi2" : "gaudi3");
      else
        m.refuse("the catalogue has no " + hardware);
    }
    out.rows.push_back(m.finish());
  }
}

namespace {

// neuronx-nemo-megatron (BF16+SR: parameters in bfloat16 with stochastic rounding, without float32 copies).
// Defaults of its scripts: sequence parallelism, full recompute of each layer
// (aws-neuron/neuronx-nemo-megatron @05dde85, nemo/examples/nlp/language_modeling/test.sh).
void neuron_nemo(RowMapper& m) {
  m.set("sync", "ddp-flat");
  m.set("master_weights", "false");
  m.set("moment_dtype", "bf16");
  m.set("grad_dtype", "bf16");
  m.set("recompute", "full");
  m.set("profile", "megatron-core-unfused");
}

// neuronx-distributed (BF16+FP32Optimizer: float32 copies and states). Defaults of its Llama tutorials:
// sequence parallelism, ZeRO-1 and fused attention, which leaves no attention core to recompute (AWS Neuron
// documentation, Training Llama-2-7B with tensor parallelism and ZeRO-1).
void neuron_distributed(RowMapper& m) {
  m.set("sync", "zero-1");
  m.set("profile", "flash");
}

}  // namespace

void map_trainium(const MeasuredJson& set, MeasuredSet& out) {
  // GPT3-46B: aws-neuron/neuronx-nemo-megatron @87acba2, gpt_46b.sh
  static const std::vector<KnownModel> models{{"GPT3-46B",
                                               "gpt3-175b-megatron",
                                               {{"layers", 56},
                                                {"hidden", 8192},
                                                {"heads", 64},
                                                {"kv_heads", 64},
                                                {"head_dim", 128},
                                                {"ffn", 32768}}},
                                              {"GPT3-175B", "gpt3-175b-megatron", {}}};
  // Later versions of the table correct layouts of earlier versions. The last row of a measurement counts.
  const auto identity = [](RowMapper& m) {
    std::string ignored;
    return std::tuple(m.text("model"), m.integer("chips", 0), m.text("neuron_version"),
                      m.measured("sequences_per_s", 1, ignored).value_or(0));
  };
  std::map<decltype(identity(std::declval<RowMapper&>())), std::string> last;
  const auto layout = [](RowMapper& m) {
    std::string text;
    for (const char* axis : {"tp", "pp", "dp"})
      text += (text.empty() ? "" : " ") + std::string(axis) + std::to_string(m.integer(axis, 0));
    return text;
  };
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    if (m.flag("check_topology", true)) last[identity(m)] = layout(m);
  }
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(number++));
    m.out().name += ": " + m.text("model") + " " + std::to_string(m.integer("chips", 0)) + " chips " +
                    layout(m) + " Neuron " + m.text("neuron_version");
    m.out().design.name = m.out().name;
    m.seconds_from("step_seconds");
    const std::string precision = m.text("precision");
    if (m.text("model").starts_with("BERT"))
      m.refuse("BERT is an encoder, and the program has decoders only");
    else if (!m.flag("check_topology", true))
      m.refuse("tp x pp x dp is not the number of NeuronCores (an error of the source)");
    else if (last[identity(m)] != layout(m))
      m.refuse("a later version of the table has this measurement with " + last[identity(m)]);
    else if (known_model(m, models, m.text("model"))) {
      for (const char* axis : {"tp", "pp", "dp", "seq"}) m.set_from(axis, axis);
      if (m.text("model").starts_with("GPT3")) {
        m.set_from("positions", "seq");
        m.set("dropout", "true");
      }
      m.set_from("microbatch", "mbs");
      m.set_from("batch", "gbs");
      if (m.integer("tp", 1) > 1) m.set("sequence_parallel", "true");
      if (precision.find("FP32Optimizer") != std::string::npos)
        neuron_distributed(m);
      else if (precision.find("BF16+SR") != std::string::npos)
        neuron_nemo(m);
      else
        m.refuse("precision " + precision + " is not one of BF16+SR and BF16+FP32Optimizer");
      m.set("clip_grad_norm", "true");
      m.set("accelerator", "trainium1");
    }
    out.rows.push_back(m.finish());
  }
}

void map_primus(const MeasuredJson& set, MeasuredSet& out) {
  // The tables omit the global batch. Primus's configurations for MI325X accumulate four microbatches in
  // bfloat16 (AMD-AGI/Primus @fd1eeabb, examples/megatron/configs/MI325X). A rate in tokens per second
  // depends little on it.
  constexpr int64_t kMicrobatches = 4;
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(number++));
    const int64_t gpus = m.integer("gpus", 1), microbatch = m.integer("micro_batch", 1),
                  seq = m.integer("seq", 1);
    m.out().name += ": " + m.text("model") + " " + std::to_string(gpus) + " x " + m.text("gpu") + " " +
                    m.text("precision", m.text("schedule"));
    m.out().design.name = m.out().name;
    if (!m.has("seq") || !m.has("micro_batch"))
      m.refuse("the row has no sequence length and no microbatch");
    else if (m.preset(preset_named(m.text("model")))) {
      if (const auto speed = m.measured("tokens_per_s_per_gpu", 1, m.out().no_seconds))
        m.out().seconds = static_cast<double>(kMicrobatches) * static_cast<double>(microbatch) *
                          static_cast<double>(seq) / *speed;
      for (const char* axis : {"tp", "pp", "cp", "ep", "seq"}) m.set_from(axis, axis);
      data_parallel(m, gpus);
      m.set("microbatch", microbatch);
      m.set_product("batch", {kMicrobatches, microbatch, m.out().design.parallel.dp});
      const bool sharded = m.flag("fsdp", false);
      m.set("sync", sharded ? "fsdp2" : "distributed-optimizer");
      if (sharded) {
        // The same configurations recompute 72 of the 80 layers of Llama 3.1 70B, the model that is sharded.
        m.set("recompute", "full");
        m.set("recompute_method", "block");
        m.set("recompute_num_layers", 72);
      } else {
        m.set("overlap_grad_reduce", "true");
        m.set("overlap_param_gather", "true");
      }
      m.set("compute", m.text("precision") == "fp8" ? "fp8" : "storage");
      m.set("profile", "megatron-core-te-fused-loss");
      m.set("clip_grad_norm", "true");
      m.set("accelerator", m.text("gpu"));
    }
    if (m.refused()) m.out().no_seconds = m.out().unmapped;  // the reason why its step time is not known
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
