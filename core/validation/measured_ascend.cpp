// Measured runs on Ascend NPUs of Huawei: MindSpeed-LLM's table, with the layouts of its scripts.
#include <algorithm>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// The row has all sizes but the vocabulary (config.json of the models on Hugging Face). vocab 0: the preset
// is the model, and only the number of layers is the row's.
struct AscendModel {
  const char* name;
  const char* preset;
  int64_t vocab;
};
constexpr AscendModel kModels[]{{"Baichuan 13B", "llama2-13b", 64000},
                                {"Baichuan2 13B", "llama2-13b", 125696},
                                {"Bloom 176B", "gpt3-175b-megatron", 250880},
                                {"ChatGLM3 6B", "qwen2.5-7b", 65024},
                                {"GLM4 9B", "qwen2.5-7b", 151552},
                                {"CodeLlama 34B", "llama2-70b", 32016},
                                {"InternLM 65B", "llama2-70b", 103168},
                                {"InternLM2 20B", "llama2-70b", 92544},
                                {"LLaMA 13B", "llama2-13b", 0},
                                {"LLaMA2 7B", "llama2-7b", 0},
                                {"LLaMA2 34B", "llama2-70b", 32000},
                                {"LLaMA2 70B", "llama2-70b", 0},
                                {"LLaMA3.1 8B", "llama3-8b", 0},
                                {"LLaMA3.2 3B", "llama3.2-3b", 0},
                                {"Qwen 7B", "qwen2.5-7b", 151936},
                                {"Qwen 14B", "qwen2.5-7b", 152064},
                                {"Qwen2 57B-A14B", "qwen2-57b-a14b", 0},
                                {"Qwen2.5 7B", "qwen2.5-7b", 0},
                                {"Qwen2.5 14B", "qwen2.5-14b", 0},
                                {"Mixtral 8x22B", "mixtral-8x22b", 0},
                                {"Gemma 2B", "gemma-2b", 0},
                                {"Gemma 7B", "gemma-7b", 0},
                                {"Grok1 8x5B", "mixtral-8x22b", 131072},
                                {"DeepSeek-V2-Lite 16B", "deepseek-v2-lite", 0},
                                {"MiniCPM 8x2B", "mixtral-8x22b", 122753}};

bool ascend_model(RowMapper& m) {
  for (const AscendModel& model : kModels) {
    if (m.text("model") != model.name) continue;
    if (!m.preset(model.preset)) return false;
    m.set_from("layers", "layers");
    if (model.vocab == 0) return true;
    const int64_t hidden = m.integer("hidden", 1), heads = m.integer("heads", 1);
    m.set("hidden", hidden);
    m.set("heads", heads);
    m.set("kv_heads", m.integer("kv_heads", heads));
    m.set("head_dim", hidden / std::max<int64_t>(heads, 1));
    if (m.has("ffn"))
      m.set_from("ffn", "ffn");
    else
      m.set_product("ffn", {4, hidden});
    if (m.has("experts")) {
      m.set_from("experts", "experts");
      m.set_from("experts_per_token", "top_k");
      m.set_from("expert_ffn", "ffn");
    }
    m.set("vocab", model.vocab);
    return true;
  }
  m.refuse("no preset has the architecture of " + m.text("model"));
  return false;
}

void context_parallel(RowMapper& m) {
  if (m.integer("cp", 1) < 2) return;
  const std::string algorithm = m.text("cp_algorithm");
  if (algorithm == "megatron_cp_algo") return m.set("context", "zigzag");
  if (algorithm == "ulysses_cp_algo") return m.set("context", "ulysses");
  if (algorithm == "hybrid_cp_algo") return m.refuse("hybrid_cp_algo without its degree of Ulysses");
  m.refuse("cp_algorithm " + algorithm + " is not one of megatron_cp_algo and ulysses_cp_algo");
}

void recompute(RowMapper& m) {
  const std::string method = m.text("recompute_method");
  if (method.empty() && m.text("recompute").empty()) return;
  m.set("recompute", "full");
  if (method.empty()) return;
  m.set("recompute_method", method);
  const Design& d = m.out().design;
  const int64_t chunks = d.parallel.pp * d.parallel.virtual_stages,
                most = (d.model.layers + chunks - 1) / std::max<int64_t>(chunks, 1);
  m.set("recompute_num_layers", std::min(m.integer("recompute_layers", most), most));
}

}  // namespace

// Defaults of the set: the table does not name the variant of the 910B, taken as 910B2. It was measured with
// MC2, which fuses GEMMs with the collectives of tensor parallelism. tp_comm_overlap is off all the same: the
// rows with even numbers, which were used to decide, take longer than with the overlap of user buffers.
void map_ascend(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(number++));
    m.out().name += ": " + m.text("model") + " " + std::to_string(m.integer("npus", 0)) + " NPUs seq " +
                    std::to_string(m.integer("seq", 0));
    m.out().design.name = m.out().name;
    m.seconds_from("step_seconds_est");
    if (!m.has("tp"))
      m.refuse("the row has no layout, because no script matches it");
    else if (m.flag("swap_attention", false))
      m.refuse("swap_attention moves some activations to the host, and the row does not say which");
    else if (ascend_model(m)) {
      for (const char* axis : {"tp", "pp", "cp", "dp", "ep", "seq"}) m.set_from(axis, axis);
      m.set_from("virtual_stages", "vp");
      if (m.out().design.model.positions > 0) m.set_from("positions", "seq");
      uneven_layers(m);
      context_parallel(m);
      m.set_from("microbatch", "micro_batch");
      m.set_from("batch", "global_batch");
      m.set("dtype", m.text("precision", "bf16"));
      const bool tensor = m.integer("tp", 1) > 1;
      if (tensor && m.flag("sequence_parallel", false)) m.set("sequence_parallel", "true");
      m.set("sync", m.flag("distributed_optimizer", false) ? "distributed-optimizer" : "ddp-flat");
      m.set("overlap_grad_reduce", m.flag("overlap_grad", false) ? "true" : "false");
      if (m.flag("overlap_param", false)) m.set("overlap_param_gather", "true");
      recompute(m);
      m.set("profile", m.flag("flash_attention", true) ? "flash" : "megatron-core-unfused");
      m.set("clip_grad_norm", "true");
      m.set("accelerator", "ascend-910b");
    }
    if (m.refused() && !m.has("tp")) m.out().no_seconds = m.out().unmapped;
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
