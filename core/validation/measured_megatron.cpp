// Measured runs of Megatron-LM and of code bases built on it.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "validation/bridge_recipes.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// The first integer after a word: "KV heads 16 (not the published 8)".
std::optional<int64_t> number_after(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != ',') continue;
    // "KV heads" is not a match for "heads".
    if (word == "heads" && at >= 3 && text.compare(at - 3, 3, "KV ") == 0) continue;
    size_t digit = at + word.size();
    while (digit < text.size() && text[digit] == ' ') ++digit;
    if (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit]))) {
      int64_t number = 0;
      if (std::from_chars(text.data() + digit, text.data() + text.size(), number).ec == std::errc())
        return number;
    }
  }
  return std::nullopt;
}

std::string plain_model(std::string name) {
  for (const char* tail : {"_padding_128", "-instruct"})
    if (const size_t at = name.find(tail); at != std::string::npos) name.erase(at);
  return name;
}

void recompute(RowMapper& m) {
  const std::string policy = m.text("recompute", "none");
  if (policy.find("full") != std::string::npos) m.set("recompute", "full");
  if (policy.find("selective") != std::string::npos) m.set("recompute", "selective");
}

}  // namespace

void data_parallel(RowMapper& m, int64_t gpus) {
  const ParallelSpec& p = m.out().design.parallel;
  const int64_t inner = p.tp * p.pp * p.cp;
  if (inner == 0 || gpus % inner != 0)
    return m.refuse(std::to_string(gpus) +
                    " GPUs are not a multiple of tp x pp x cp = " + std::to_string(inner));
  m.set("dp", gpus / inner);
}

void uneven_layers(RowMapper& m) {
  const Design& d = m.out().design;
  const int64_t chunks = d.parallel.pp * d.parallel.virtual_stages, layers = d.model.layers;
  if (m.refused() || chunks < 2 || layers % chunks == 0) return;
  const int64_t each = (layers + chunks - 1) / chunks, lacking = each * chunks - layers, first = lacking / 2;
  if (lacking - first > each) return;
  std::string list;
  for (int64_t c = 0; c < chunks; ++c)
    list += (c ? "," : "") + std::to_string(each - (c == 0 ? first : c + 1 == chunks ? lacking - first : 0));
  m.set("stage_layers", list);
}

void map_megatron_profiled(const MeasuredJson& set, MeasuredSet& out) {
  const MeasuredJson setup = set.value("setup", MeasuredJson::object());
  const auto setup_text = [&](const char* key) {
    return setup.contains(key) && setup[key].is_string() ? setup[key].get<std::string>() : std::string();
  };
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    m.out().name = m.out().design.name = m.text("case", m.out().name);
    m.seconds_from("measured_ms", 1e-3);
    m.bytes_from("measured_alloc_GiB", kGiB);
    const std::string model = plain_model(m.text("model"));
    if (m.preset(preset_named(model))) {
      for (const auto& [knob, word] : {std::pair{"hidden", "hidden"},
                                       {"ffn", "ffn"},
                                       {"heads", "heads"},
                                       {"kv_heads", "KV heads"},
                                       {"vocab", "vocabulary"}})
        if (const auto value = number_after(setup_text(model.c_str()), word)) m.set(knob, *value);
      m.set_from("layers", "layers");
      for (const char* axis : {"tp", "pp", "cp"}) m.set_from(axis, axis);
      m.set_from("dp", "dp");
      m.set_from("virtual_stages", "vp");
      if (m.out().design.model.experts > 0) {
        m.set("dense_layers", 1);
        m.set("mtp_layers", 0);
        m.set_from("ep", "ep");
        m.set("capacity_factor", "1");
        m.set("pad_to_capacity", "true");
      }
      if (m.integer("tp", 1) > 1) m.set("sequence_parallel", "true");
      if (m.integer("cp", 1) > 1) m.set("context", "ulysses");
      m.set("seq", m.integer("seq", 4096));
      m.set("microbatch", m.integer("micro_batch", 1));
      m.set_product("batch",
                    {m.integer("micro_batches", 1), m.integer("micro_batch", 1), m.integer("dp", 1)});
      m.set("sync", "distributed-optimizer");
      m.set("clip_grad_norm", "true");
      m.set("profile", m.flag("ce_fusion", true) ? "megatron-core-te-fused-loss" : "megatron-core-te");
      recompute(m);
      m.set("accelerator",
            setup_text("framework").find("B200") != std::string::npos ? "b200" : m.text("gpu", "b200"));
    }
    out.rows.push_back(m.finish());
  }
}

// Whether Megatron's fused softmax computes the row (FusedScaleMaskSoftmax.is_kernel_available; vTrain,
// src/model/fused_softmax.py): the heads of all sequences on a rank are a multiple of 4. Otherwise PyTorch's
// kernels run.
static bool fuses_softmax(RowMapper& m) {
  const int64_t heads = m.integer("heads", 4) / std::max<int64_t>(1, m.integer("tp", 1)),
                seq = m.integer("seq", 0);
  return heads * m.integer("mbs", 1) % 4 == 0 && seq > 16 && seq <= 2048 && seq % 4 == 0;
}

void map_megatron_deepspeed(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    m.out().name = m.text("set", "row") + " " + std::to_string(number++) + ": h" +
                   std::to_string(m.integer("hidden", 0)) + " l" + std::to_string(m.integer("layers", 0)) +
                   " tp" + std::to_string(m.integer("tp", 1)) + " dp" + std::to_string(m.integer("dp", 1)) +
                   " pp" + std::to_string(m.integer("pp", 1)) + " mbs" + std::to_string(m.integer("mbs", 1));
    m.out().design.name = m.out().name;
    m.seconds_from("measured_ms", 1e-3);
    if (m.preset("gpt3-175b-megatron")) {
      const int64_t hidden = m.integer("hidden", 1), heads = m.integer("heads", 1);
      m.set_gpt_layers(hidden, heads);
      m.set_from("layers", "layers");
      m.set_from("seq", "seq");
      m.set_from("positions", "seq");
      for (const char* axis : {"tp", "dp", "pp"}) m.set_from(axis, axis);
      m.set_from("microbatch", "mbs");
      m.set_from("batch", "gbs");
      m.set("dtype", "fp16");
      m.set("grad_dtype", "fp16");
      m.set("dropout", "true");
      m.set("recompute", "full");
      // vTrain's model (VIA-Research/vTrain @f8dda84, src/model/gpt_modeling.py) does not pad the vocabulary
      // of 50,257. Each tp rank has a whole part: 25,128, 12,564 or 6,282 rows, which are even.
      m.set("vocab", 50257);
      m.set("vocab_multiple", m.integer("tp", 1) > 1 ? 2 : 1);
      m.set("profile", fuses_softmax(m) ? "megatron-2022" : "megatron-2022-unfused");
      m.set("clip_grad_norm", "true");
      m.set("accelerator", "a100-80gb");
      m.set("network", "a100-hdr-4");  // 800 Gb/s between nodes
    }
    out.rows.push_back(m.finish());
  }
}

void map_korthikanti(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["table3_5"]) {
    ++number;
    for (const auto& [field, what] : {std::pair{"iter_full_recompute_s", "full recompute"},
                                      {"iter_seq_sel_s", "sequence parallel, selective recompute"}}) {
      if (row.is_object() && !row.contains(field)) continue;
      RowMapper m(row, row_number(number));
      m.out().name = m.out().design.name = m.text("model", m.out().name) + ", " + what;
      m.seconds_from(field);
      if (m.preset(preset_named(m.text("model")))) {
        for (const char* same : {"heads", "hidden", "layers", "vocab", "seq", "tp", "pp"})
          m.set_from(same, same);
        m.set_from("kv_heads", "heads");
        m.set_from("virtual_stages", "interleave");
        m.set_from("microbatch", "mbs");
        m.set_from("batch", "gbs");
        data_parallel(m, m.integer("gpus", 1));
        m.set("dtype", "fp16");
        m.set("dropout", "true");
        m.set("profile", "megatron-2022");
        m.set("clip_grad_norm", "true");
        m.set("accelerator", "a100-80gb");
        m.set("network", "dgx-a100");
        const bool selective = std::string_view(field) == "iter_seq_sel_s";
        m.set("recompute", selective ? "selective" : "full");
        if (selective) m.set("sequence_parallel", "true");
      }
      out.rows.push_back(m.finish());
    }
  }
}

// Sets knobs that the tables omit and the recipe of the release has. If the release has no recipe for the
// model, system and precision, sets only the knob that all recipes share: gradients in bfloat16. Offloading
// on rack systems is left out: real hosts are attached by NVLink-C2C, modelled hosts by PCI Express, which
// would delay the step.
static void apply_recipe(RowMapper& m, const BridgeRecipe* recipe, bool rack) {
  if (!recipe) return m.set("grad_dtype", "bf16");
  const int64_t stages = m.out().design.parallel.pp * m.out().design.parallel.virtual_stages;
  for (const auto& [knob, value] : recipe->knobs) {
    if (knob == "tp_comm_overlap" && m.integer("tp", 1) < 2) continue;
    if (knob == "offload_activations" && rack) continue;
    if (knob == "stage_layers" && std::count(value.begin(), value.end(), ',') + 1 != stages) continue;
    m.set(knob.c_str(), value);
  }
}

void map_megatron_bridge(const MeasuredJson& set, MeasuredSet& out) {
  const auto read = BridgeRecipes::read();
  const auto* recipes = std::get_if<BridgeRecipes>(&read);
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    m.out().name = std::to_string(number++) + ": " + m.text("model") + " " + m.text("system") + " " +
                   m.text("precision") + " " + m.text("release").substr(0, 8);
    m.out().design.name = m.out().name;
    m.seconds_from("derived_iteration_s");
    if (m.text("section", "Pre-Training").find("Pre-Training") == std::string::npos)
      m.refuse("the row is fine-tuning, not pre-training: " + m.text("section"));
    else if (const std::string id = preset_named(m.text("model")); id.empty())
      m.refuse("no preset has the architecture of " + m.text("model"));
    else if (!recipes)
      m.refuse("the recipes cannot be read: " + to_string(std::get<Problem>(read)));
    else if (m.preset(id)) {
      for (const char* axis : {"tp", "pp", "cp", "ep"}) m.set_from(axis, axis);
      m.set_from("virtual_stages", "vp");
      uneven_layers(m);
      m.set_from("seq", "seq");
      m.set_from("microbatch", "mbs");
      m.set_from("batch", "gbs");
      data_parallel(m, m.integer("gpus", 1));
      if (m.out().design.model.experts > 0 && m.integer("tp", 1) > 1) m.set("etp", 1);
      if (m.integer("tp", 1) > 1) m.set("sequence_parallel", "true");
      const int64_t shards = m.integer("fsdp", 0);
      m.set("sync", shards > 0 ? "megatron-fsdp" : "distributed-optimizer");
      if (shards == 0) m.set("overlap_grad_reduce", "true");
      const std::string precision = m.text("precision");
      m.set("compute", precision == "BF16"    ? "storage"
                       : precision == "FP8"   ? "fp8"
                       : precision == "MXFP8" ? "mxfp8"
                       : precision == "NVFP4" ? "nvfp4"
                                              : precision);
      std::string system = m.text("system");
      std::transform(system.begin(), system.end(), system.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      if (system.starts_with("dgx-")) system.erase(0, 4);
      m.set("accelerator", system);
      // bf16_with_fp8_current_scaling_mixed and bf16_with_mxfp8_mixed (training/mixed_precision.py)
      if (shards == 0 && (precision == "FP8" || precision == "MXFP8")) m.set("fp8_params", "true");
      set_transposed_weights(m, system);
      const int64_t nvlink = recipes->nvlink_gpus(system).value_or(kNodeGpus);
      m.set("gpus_per_node", std::min(m.integer("gpus", 1), nvlink));
      m.set("profile", "megatron-core-te-fused-loss");
      const std::string release = m.text("release");
      apply_recipe(m, recipes->find(id, system, precision, release.substr(0, release.find(' '))),
                   nvlink > kNodeGpus);
      m.set("clip_grad_norm", "true");
      recompute(m);
    }
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
