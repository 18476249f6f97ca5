// Rows of PyTorch FSDP and ZeRO in README files: torchao, torchtitan, fms-fsdp, JAX-Toolbox, ColossalAI,
// DeepSpeed.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// Why the row does not name a design; empty if it does.
std::string why_not(RowMapper& m) {
  if (m.has("suspect")) return "the set marks the row as doubtful: " + m.text("suspect");
  if (!m.has("micro_batch")) return "the row has no microbatch";
  if (!m.has("recompute")) return "the row does not say what is recomputed";
  const std::string recompute = m.text("recompute"), precision = m.text("precision");
  if (recompute == "selective")
    return "the fraction of recomputed layers is not printed (fms-fsdp, every k-th layer)";
  if (recompute != "none") return "the recomputation " + recompute + " is a policy of MaxText";
  if (precision == "mxfp8 linears" || precision == "mxfp8 grouped GEMM")
    return "only some matrix products run in MXFP8; a design has one type for all";
  return "";
}

// "A100-80GB": a100-80gb
std::string accelerator_of(const std::string& gpu) {
  std::string out;
  for (const char c : gpu) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void set_memory(RowMapper& m) {
  m.out().measure = MemoryMeasure::Reserved;
  if (m.has("memory_mib"))
    m.bytes_from("memory_mib", kMiB);
  else if (m.has("memory_gb"))
    m.bytes_from("memory_gb", kGiB);
  else
    m.bytes_from("memory_gib", kGiB);
}

// Seconds of a step, from the figure that the row has.
void set_time(RowMapper& m) {
  std::string& why = m.out().no_seconds;
  const double gpus = static_cast<double>(std::max<int64_t>(1, m.integer("gpus", 1)));
  if (m.has("step_seconds")) return m.seconds_from("step_seconds");
  if (m.has("samples_per_s")) {
    const double samples = static_cast<double>(m.integer("batch_per_dp", 1) * m.integer("dp", 1));
    if (const auto speed = m.measured("samples_per_s", 1, why)) m.out().seconds = samples / *speed;
    return;
  }
  // Without a batch, the time of one sequence per GPU stands for the step; the row is not mapped then.
  const double tokens = static_cast<double>(m.integer("global_batch", m.integer("gpus", 1))) *
                        static_cast<double>(m.integer("seq", 0));
  if (const auto speed = m.measured("tokens_per_s_per_gpu", 1, why))
    m.out().seconds = tokens / (*speed * gpus);
}

// What the code bases of the mapped rows have in common.
void set_common(RowMapper& m) {
  m.set_from("dp", "gpus");
  m.set_from("seq", "seq");
  m.set_from("microbatch", "micro_batch");
  m.set_from("batch", "global_batch");
  m.set("recompute", "none");
  m.set("clip_grad_norm", "true");
  m.set("vocab_multiple", 1);
  m.set("accelerator", accelerator_of(m.text("gpu")));
}

// fms-fsdp: FSDP1 with torch.compile; HSDP shards inside a node.
void set_fms_fsdp(RowMapper& m) {
  if (!m.preset(preset_named(m.text("model")))) return;
  set_common(m);
  m.set("sync", "fsdp1");
  if (m.text("parallel") == "HSDP") m.set("dp_shard", 8);
  m.set("grad_dtype", "bf16");  // its bfloat16 policy reduces in bfloat16
  m.set("profile", "torchtitan");
  // Per node: "400 Gb/s per node" is 50 Gb/s for each of 8 GPUs.
  const int64_t per_node = std::atoll(m.text("network").c_str());
  if (per_node > 0) m.set("nic_bandwidth", per_node / 8);
}

// torchao's benchmark of experts: torchtitan's Llama 4 Scout with two layers.
void set_torchao(RowMapper& m) {
  if (!m.preset("llama4-scout")) return;
  m.set("layers", 2);
  set_common(m);
  m.set_from("ep", "ep");
  m.set("sync", "fsdp2");
  m.set("profile", "torchtitan-2025");
  if (m.text("precision") == "mxfp8 both") m.set("compute", "mxfp8");
}

}  // namespace

void map_fsdp_posts(const MeasuredJson& set, MeasuredSet& out) {
  size_t number = 0;
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, row_number(++number));
    m.out().name += ": " + m.text("model") + " " + m.text("gpu") + " " +
                    std::to_string(m.integer("gpus", 1)) + " GPUs " + m.text("parallel") + " " +
                    m.text("precision");
    m.out().design.name = m.out().name;
    set_memory(m);
    set_time(m);
    if (const std::string why = why_not(m); !why.empty())
      m.refuse(why);
    else if (m.text("source_path").starts_with("pytorch/ao"))
      set_torchao(m);
    else if (m.text("source_path").find("fms-fsdp") != std::string::npos)
      set_fms_fsdp(m);
    else
      m.refuse("the code base of " + m.text("source_path") + " is not mapped");
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
