// Runs with ZeRO-1 on A100: the tests of layouts before BLOOM (Megatron-DeepSpeed), and InternEvo.
#include <algorithm>
#include <cmath>

#include "base/real_text.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// Both clusters have four NICs of 100 Gb/s for 8 GPUs: Omni-Path on Jean Zay, RoCE in InternEvo's tests.
constexpr int64_t kNicGigabits = 50;

void set_cluster(RowMapper& m) {
  m.set("accelerator", "a100-80gb");
  m.set("network", "a100-hdr-4");
  m.set("nic_bandwidth", kNicGigabits);
}

// Layers of a BLOOM model. Where the row has none, the chronicle chose a number of layers that pp divides and
// that gives the size in the row: 12 L h^2 + V h parameters.
int64_t bloom_layers(RowMapper& m, int64_t vocab) {
  if (m.has("layers")) return m.integer("layers", 1);
  const double billions = leading_real(m.text("model_size")).value_or(LeadingReal{}).value,
               hidden = static_cast<double>(m.integer("hidden", 1)),
               of_layers = billions * 1e9 - static_cast<double>(vocab) * hidden;
  const int64_t pp = std::max<int64_t>(m.integer("pp", 1), 1);
  return pp * std::llround(of_layers / (12 * hidden * hidden * static_cast<double>(pp)));
}

}  // namespace

void map_bigscience(const MeasuredJson& set, MeasuredSet& out) {
  constexpr int64_t kVocab = 250'880, kHeads = 96;  // heads: the chronicle's value where the row has none
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    const auto degree = [&](const char* label, const char* field) {
      return std::string(" ") + label + std::to_string(m.integer(field, 1));
    };
    m.out().name += ": " + m.text("model_size") + degree("h", "hidden") + " heads" +
                    std::to_string(m.integer("heads", kHeads)) + degree("tp", "tp") + degree("pp", "pp") +
                    degree("dp", "dp") + degree("mbs", "mbs") + degree("gbs", "gbs") +
                    degree("zero", "zero_stage");
    m.out().design.name = m.out().name;
    m.seconds_from("step_seconds");
    m.bytes_from("memory_gb", kGiB);
    m.out().measure = MemoryMeasure::InUse;  // nvidia-smi
    m.out().native_segments = true;          // PyTorch of 2022 has no other ones
    if (m.has("oom")) m.out().ran = !m.flag("oom", false);
    if (m.has("caveat")) {
      m.refuse("the source marks the row as doubtful: " + m.text("caveat"));
    } else if (m.text("gpu") != "a100_sxm_80gb") {
      m.refuse("no network of this cluster is known: " + m.text("gpu"));
    } else if (m.preset("bloom-176b")) {
      const int64_t hidden = m.integer("hidden", 1), heads = m.integer("heads", kHeads);
      m.set("layers", bloom_layers(m, kVocab));
      m.set_gpt_layers(hidden, heads);
      m.set_from("seq", "seq");
      for (const char* axis : {"tp", "pp", "dp"}) m.set_from(axis, axis);
      m.set_from("microbatch", "mbs");
      m.set_from("batch", "gbs");
      // The 16-bit optimizer accumulates gradients in the type of the parameters. Rows without a precision
      // are from days on which the runs were in float16.
      const std::string precision = m.text("precision", "fp16");
      m.set("dtype", precision);
      m.set("grad_dtype", precision);
      m.set("recompute", "full");
      m.set("sync", "zero-" + std::to_string(m.integer("zero_stage", 1)));
      m.set("clip_grad_norm", "true");
      m.set("profile", "megatron-deepspeed-2022");
      set_cluster(m);
    }
    out.rows.push_back(m.finish());
  }
}

void map_internevo(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    const auto degree = [&](const char* label, const char* field) {
      return std::string(" ") + label + std::to_string(m.integer(field, 1));
    };
    m.out().name += ": " + m.text("model") + degree("gpus", "gpus") + degree("tp", "tp") +
                    degree("pp", "pp") + degree("zero", "zero_stage") + degree("group", "zero_group") +
                    degree("mbs", "micro_batch") + " recompute " + m.text("recompute");
    m.out().design.name = m.out().name;
    m.seconds_from("step_seconds_est");
    m.bytes_from("memory_gb", 1e9);
    m.out().measure = MemoryMeasure::Reserved;
    if (!m.has("seq")) {
      m.refuse("the row has no sequence length");
    } else if (m.preset("llama2-7b")) {
      for (const char* size : {"layers", "hidden", "heads", "ffn", "vocab", "seq"}) m.set_from(size, size);
      for (const char* axis : {"tp", "pp", "dp"}) m.set_from(axis, axis);
      m.set_from("microbatch", "micro_batch");
      m.set_product("batch", {m.integer("micro_batch", 1), m.integer("grad_accum", 1), m.integer("dp", 1)});
      m.set("grad_dtype", "bf16");
      m.set("recompute", m.text("recompute", "none"));
      // InternEvo all-reduces gradients over dp, and each rank of a ZeRO-1 group broadcasts the parameters
      // that it updates. The distributed optimizer with groups (its optimizer instances) sends the same bytes
      // over the NICs of a node, and gathers the same bytes inside a group.
      m.set("sync", m.integer("zero_stage", 1) == 3 ? "fsdp1" : "distributed-optimizer");
      const int64_t group = m.integer("zero_group", 1);
      if (group > 1 && group < m.integer("dp", 1)) m.set("dp_shard", group);
      if (m.flag("overlap_sync_grad", false)) m.set("overlap_grad_reduce", "true");
      m.set("clip_grad_norm", "true");
      m.set("profile", "internevo");
      set_cluster(m);
    }
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
