// Runs of nanotron: the layout sweep of the Ultra-Scale Playbook (Hugging Face, 2025).
#include <algorithm>
#include <numeric>

#include "base/real_text.h"
#include "base/wide.h"
#include "launch/nanotron/nanotron_stages.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr int64_t kSequence = 4096;      // scripts/scaling_benchmarks.py
constexpr double kNicEfficiency = 0.94;  // of the network dgx-h100, which the bandwidths below replace

// Why nanotron refuses a layout; empty: it runs. stages: of nanotron_stages.
std::string cannot_run(const std::vector<int64_t>& stages, int64_t microbatches) {
  if (stages.empty()) return "nanotron's split leaves a stage without blocks";
  // Asserted by src/nanotron/parallel/pipeline_parallel/engine.py, OneForwardOneBackwardPipelineEngine.
  const auto least = static_cast<int64_t>(stages.size()) - 1;
  if (microbatches < least)
    return "nanotron's 1F1B needs " + std::to_string(least) + " microbatches, and the row has " +
           std::to_string(microbatches);
  return {};
}

// Bus bandwidth of an all-reduce over so many nodes, in 10^9 bytes per second; 0: not measured.
double allreduce_bandwidth(const MeasuredJson& set, int64_t nodes) {
  const MeasuredJson::json_pointer counts("/cluster_network/nodes"), means("/cluster_network/allreduce/mean");
  if (!set.contains(counts) || !set.contains(means)) return 0;
  const MeasuredJson &of = set[counts], &mean = set[means];
  for (size_t i = 0; i < of.size() && i < mean.size(); ++i)
    if (of[i] == nodes && mean[i].is_number()) return mean[i].get<double>();
  return 0;
}

std::optional<NanotronShape> shape_of(const MeasuredJson& set, const MeasuredJson& row) {
  const MeasuredJson models = set.value("models", MeasuredJson::object());
  if (!row.is_object() || !row.contains("model_b") || !row["model_b"].is_number()) return std::nullopt;
  for (const auto& [name, model] : models.items())
    if (parse_real(name) == row["model_b"].get<double>())
      return NanotronShape{model.value("layers", int64_t{1}), model.value("hidden", int64_t{1}),
                           model.value("ffn", int64_t{1}), model.value("vocab", int64_t{1})};
  return std::nullopt;
}

// Not in the data, for the whole set as in scripts/scaling_benchmarks.py: sequence parallelism, 1F1B, no
// recomputation, gradients accumulated in float32.
void set_run(RowMapper& m, const NanotronShape& shape, const std::vector<int64_t>& stages, bool tied) {
  for (const auto& [knob, value] : {std::pair{"layers", shape.layers},
                                    {"hidden", shape.hidden},
                                    {"ffn", shape.ffn},
                                    {"vocab", shape.vocab},
                                    {"positions", int64_t{0}}})
    m.set(knob, value);
  const int64_t heads = 32, tp = m.integer("tp", 1);
  m.set("heads", heads);
  m.set("kv_heads", heads);
  m.set("head_dim", shape.hidden / heads);
  m.set("tied_embeddings", tied ? "true" : "false");
  for (const char* axis : {"tp", "dp", "pp"}) m.set_from(axis, axis);
  std::string list;
  for (const int64_t layers : stages) list += (list.empty() ? "" : ",") + std::to_string(layers);
  if (stages.size() > 1) m.set("stage_layers", list);
  if (tp > 1) m.set("sequence_parallel", "true");
  m.set("seq", kSequence);
  m.set_from("microbatch", "micro_batch");
  m.set_from("batch", "global_batch");
  m.set("grad_dtype", "fp32");
  m.set("sync", m.integer("zero_stage", 0) > 0 ? "distributed-optimizer" : "ddp-flat");
  m.set("overlap_grad_reduce", "true");
  m.set("clip_grad_norm", "true");
  m.set("vocab_multiple", 1);
  m.set("profile", "nanotron");
  m.set("accelerator", "h100-80gb");
}

}  // namespace

void map_nanotron(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    const auto degree = [&](const char* label, const char* field) {
      return std::string(" ") + label + std::to_string(m.integer(field, 1));
    };
    const auto shape = shape_of(set, row);
    const int64_t nodes = m.integer("nodes", 1), pp = m.integer("pp", 1);
    m.out().name += ": " + (shape ? std::to_string(shape->layers) + " layers" : std::string("?")) +
                    degree("nodes", "nodes") + degree("dp", "dp") + degree("tp", "tp") + degree("pp", "pp") +
                    degree("mbs", "micro_batch") + degree("zero", "zero_stage");
    m.out().design.name = m.out().name;
    m.out().ran = m.has("mfu_pct");
    if (const auto speed = m.measured("tokens_per_s_per_gpu", 1, m.out().no_seconds))
      m.out().seconds = static_cast<double>(m.integer("global_batch", 1) * kSequence) /
                        (*speed * static_cast<double>(nodes * kNodeGpus));
    m.bytes_from("memory_gb", kGiB);  // src/nanotron/helpers.py, "Mem Res (GB)"
    m.out().measure = MemoryMeasure::Reserved;
    m.out().native_segments = true;  // no script sets PYTORCH_CUDA_ALLOC_CONF
    m.out().stage = 0;               // rank 0 writes the table (src/nanotron/helpers.py, log_throughput)
    if (m.has("suspect"))
      m.refuse(m.text("suspect"));
    else if (!shape)
      m.refuse("the set has no shape of this model");
    else if (pp < 1 || Wide{m.integer("tp", 1)} * m.integer("dp", 1) * pp != nodes * kNodeGpus)
      m.refuse("the GPUs are not tp x dp x pp");
    else if (m.preset("llama3.2-1b")) {
      const std::vector<int64_t> stages = nanotron_stages(*shape, pp);
      if (const std::string reason = cannot_run(stages, m.integer("grad_accum", 1)); !reason.empty()) {
        m.out().cannot_run = reason;
        out.rows.push_back(std::move(m.out()));
        continue;
      }
      set_run(m, *shape, stages, shape->layers < 32);
      const double bandwidth = allreduce_bandwidth(set, nodes);
      if (nodes > 1 && bandwidth > 0)
        m.set("nic_bandwidth", static_cast<int64_t>(bandwidth / kNicEfficiency + 0.5));
    }
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
