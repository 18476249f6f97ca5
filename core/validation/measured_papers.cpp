// Tables of papers: Narayanan et al. (arXiv 2104.04473), Qi et al. (arXiv 2401.10241) and STAGE
// (arXiv 2511.10480).
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr double kGB = 1e9;

// A GPT-3 model with full attention heads, on DGX A100.
bool gpt_on_a100(RowMapper& m, int64_t layers, int64_t hidden, int64_t heads) {
  if (!m.preset("gpt3-175b-megatron")) return false;
  m.set("layers", layers);
  m.set_gpt_layers(hidden, heads);
  m.set("dtype", "fp16");
  m.set("dropout", "true");
  m.set("clip_grad_norm", "true");
  m.set("profile", "megatron-2022");
  m.set("accelerator", "a100-80gb");
  m.set("network", "dgx-a100");
  return true;
}

// Seconds of a step by the FLOPs of section 3.5 of arXiv 2104.04473, equation 3: 96 B s l h^2 (1 + s/6h +
// V/16lh) with full recomputation.
double narayanan_seconds(const Design& d, double tflops) {
  const auto of = [](int64_t value) { return static_cast<double>(value); };
  const double batch = of(d.workload.batch), seq = of(d.workload.seq), layers = of(d.model.layers),
               hidden = of(d.model.hidden), vocab = of(d.model.vocab);
  const double flops = 96 * batch * seq * layers * hidden * hidden *
                       (1 + seq / (6 * hidden) + vocab / (16 * layers * hidden));
  return flops / (of(d.world()) * tflops * 1e12);
}

// Schedules of Qi et al.: the durations of table 9, in microseconds, for the model of the row. They are those
// of the run with the nearest number of microbatches.
void set_pass_durations(const MeasuredJson& set, RowMapper& m) {
  const MeasuredJson::json_pointer rows("/deterministic_schedule_test/rows");
  const MeasuredJson* nearest = nullptr;
  const int64_t wanted = m.integer("microbatches", 0);
  const auto distance = [&](const MeasuredJson& row) {
    return std::abs(std::clamp(row.value("m", int64_t{0}), -kMostOfRow, kMostOfRow) - wanted);
  };
  if (set.contains(rows))
    for (const MeasuredJson& row : set[rows])
      if (row.is_object() && row.value("model", "") == m.text("model") &&
          (!nearest || distance(row) < distance(*nearest)))
        nearest = &row;
  if (!nearest) return m.refuse("the set has no durations of passes of this model (table 9)");
  std::string times;
  for (const char* field : {"T_F_ms", "T_B_ms", "T_W_ms", "T_comm_ms"}) {
    const int64_t microseconds = std::llround(nearest->value(field, 0.0) * 1e3);
    times += (times.empty() ? "" : ",") + std::to_string(microseconds);
  }
  m.set("schedule", "zb-auto");
  m.set("pass_times", times);
}

void set_schedule(const MeasuredJson& set, RowMapper& m) {
  const std::string schedule = m.text("schedule");
  const int64_t pp = m.integer("pp", 1);
  if (schedule == "1F1B") {
    m.set("schedule", "1f1b");
  } else if (schedule.starts_with("1F1B-I")) {
    // One layer per chunk. The embedding and the head take a chunk each (--allow-padding-num-layers).
    m.set("virtual_stages", (m.integer("layers", 1) + 2) / std::max<int64_t>(pp, 1));
  } else if (schedule == "ZB-1p" || schedule == "ZB-2p") {
    set_pass_durations(set, m);
    m.set_product("most_in_flight", {schedule == "ZB-1p" ? 1 : 2, pp});
  } else {
    m.refuse("schedule " + schedule + " is not one of 1F1B, 1F1B-I, ZB-1p and ZB-2p");
  }
}

}  // namespace

void map_narayanan(const MeasuredJson& set, MeasuredSet& out) {
  for (const char* table : {"table1", "table2", "extra"}) {
    if (!set.contains(table) || !set[table].is_array()) continue;
    size_t number = 0;
    for (const MeasuredJson& row : set[table]) {
      RowMapper m(row, std::string(table) + " " + row_number(++number));
      m.out().no_bytes = "the paper has no memory";
      const auto tflops = m.measured("tflops_gpu", 1, m.out().no_seconds);
      const std::string scheme = m.text("scheme");
      m.out().name += ": " + (scheme.empty() ? m.text("case", "GPT") : scheme);
      if (m.has("params_b")) m.out().name += " " + m.row()["params_b"].dump() + "B";
      if (m.has("gpus")) m.out().name += " " + std::to_string(m.integer("gpus", 1)) + " GPUs";
      m.out().design.name = m.out().name;
      if (scheme != "ZeRO-3") {
        m.out().seconds = m.measured("derived_iteration_s", 1, m.out().no_seconds);
        m.refuse(m.has("mbs") ? "the paper does not give the interleaving, and tp and pp only as a product"
                              : "the paper gives neither the microbatch nor the interleaving of this run");
        m.out().no_seconds = m.out().unmapped;
      } else {
        const bool of_175b = m.row().value("params_b", 0.0) < 200;
        // Sizes of the models: table 1, and section 5.1.
        if (gpt_on_a100(m, of_175b ? 96 : 105, of_175b ? 12288 : 20480, of_175b ? 96 : 128)) {
          m.set_from("dp", "gpus");
          m.set_from("batch", "gbs");
          m.set_from("microbatch", "mbs");
          m.set("seq", 2048);
          m.set("recompute", "full");
          m.set("sync", "zero-3");
          if (tflops && !m.refused()) m.out().seconds = narayanan_seconds(m.out().design, *tflops);
        }
      }
      out.rows.push_back(m.finish());
    }
  }
}

void map_zero_bubble(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["measured_table4"]) {
    RowMapper m(row, "");
    const int64_t microbatches = m.integer("microbatches", 1), microbatch = m.integer("mbs", 1);
    m.out().name = m.out().design.name = m.text("model") + " pp" + std::to_string(m.integer("pp", 1)) + " m" +
                                         std::to_string(microbatches) + " " + m.text("schedule");
    m.seconds_from("derived_iter_s");
    m.bytes_from("memory_GB", kGB);
    if (gpt_on_a100(m, m.integer("layers", 1), m.integer("hidden", 1), m.integer("heads", 1))) {
      // Settings of the script (sail-sg/zero-bubble-pipeline-parallelism, examples/pretrain_zero_bubble.sh):
      // fp16 with gradients in fp16, dropout, no recomputation. The vocabulary is not given: GPT-2's.
      m.set("grad_dtype", "fp16");
      for (const char* same : {"seq", "tp", "pp", "dp"}) m.set_from(same, same);
      m.set_from("positions", "seq");
      m.set("microbatch", microbatch);
      m.set_product("batch", {microbatch, microbatches, m.integer("dp", 1)});
      set_schedule(set, m);
      uneven_layers(m);
    }
    out.rows.push_back(m.finish());
  }
}

void map_stage_paper(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["peak_memory"]) {
    RowMapper m(row, "");
    m.out().name = m.out().design.name = m.text("model_inferred", "model") + " " + m.text("hardware") + " " +
                                         m.text("parallel");
    m.out().no_seconds = "table V has no time";
    m.bytes_from("measured_GB", kGB);
    m.refuse("table V has no sequence length, microbatch and batch, and the set infers the model");
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
