// Measured runs of PyTorch FSDP, and runs that papers report.
#include <algorithm>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* between = " ") {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

// Layers per virtual stage as torchtitan splits them (generate_split_points, 2024-12): the remainder goes to
// the stages after the first, one layer each.
std::string torchtitan_split(int64_t layers, int64_t stages) {
  std::vector<std::string> parts;
  for (int64_t stage = 0; stage < stages; ++stage) {
    const bool extra = stage > 0 && stage <= layers % stages;
    parts.push_back(std::to_string(layers / stages + (extra ? 1 : 0)));
  }
  return joined(parts, ",");
}

}  // namespace

void map_torchtitan(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    const auto degree = [&](const char* axis) {
      return std::string(axis) + std::to_string(m.integer(axis, 1));
    };
    const std::string mode = m.text("mode");
    m.out().name = joined({m.text("model"), std::to_string(m.integer("gpus", 1)) + " GPUs", degree("fsdp"),
                           degree("tp"), degree("pp"), degree("cp"),
                           "seq" + std::to_string(m.integer("seq", 0)), m.text("ac"), mode});
    m.out().design.name = m.out().name;
    const int64_t shards = m.integer("fsdp", 1), cp = m.integer("cp", 1), pp = m.integer("pp", 1),
                  local = m.integer("lbs", 1), seq = m.integer("seq", 8192);
    m.bytes_from("mem_GiB", kGiB);
    m.out().measure = MemoryMeasure::Reserved;
    if (const auto speed = m.measured("tps_gpu", 1, m.out().no_seconds); speed && m.integer("gpus", 1) > 0)
      m.out().seconds = static_cast<double>(shards) * static_cast<double>(local) * static_cast<double>(seq) /
                        (*speed * static_cast<double>(m.integer("gpus", 1)));
    if (m.preset(preset_named(m.text("model")))) {
      m.set("dp", shards);
      for (const char* axis : {"tp", "pp", "cp"}) m.set_from(axis, axis);
      if (cp > 1)
        m.set("context", "zigzag");  // torchtitan's context_parallel balances the load and rotates K and V
      if (m.integer("tp", 1) > 1) m.set("sequence_parallel", "true");
      m.set("seq", seq);
      // Schedules with several virtual stages have two per rank. A pipeline splits the local batch into as
      // many microbatches as it has virtual stages (build_pipeline_schedule, pipeline_parallel_microbatches
      // unset).
      const int64_t chunks = pp > 1 && mode.find("nterleaved") != std::string::npos ? 2 : 1,
                    stages = std::max<int64_t>(1, pp) * chunks;
      m.set("microbatch", local % stages == 0 ? local / stages : 1);
      m.set_product("batch", {local, shards});
      m.set("sync", "fsdp2");
      if (pp > 1) {
        m.set("reshard_after_forward", "false");  // microbatches share a gather
        m.set("virtual_stages", chunks);
        if (!m.refused()) m.set("stage_layers", torchtitan_split(m.out().design.model.layers, stages));
      }
      m.set("clip_grad_norm", "true");
      m.set("vocab_multiple", 1);
      const std::string checkpoints = m.text("ac");
      m.set("recompute", checkpoints.starts_with("full") ? "full" : "none");
      // The tables of 2025-06 are the one on H200 and the one that compares asynchronous TP.
      const bool of_2025 = m.text("gpu").starts_with("h200") || m.has("tps_gpu_asyncTP");
      m.set("profile", std::string("torchtitan") + (of_2025 ? "-2025" : "") +
                           (checkpoints.starts_with("selective") ? "-selective" : ""));
      if (mode.find("float8") != std::string::npos) m.set("compute", "fp8");
      if (mode.find("rowwise") != std::string::npos)
        m.refuse("matrix products in float8 with a scale per row are not supported");
      if (mode.find("syncTP") != std::string::npos) m.set("tp_comm_overlap", "true");
      m.set("accelerator", m.text("gpu", "h100-96gb"));
    }
    out.rows.push_back(m.finish());
  }
}

void map_composer_fsdp(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    m.out().name = joined({m.text("model"), m.text("gpu"), std::to_string(m.integer("gpus", 1)) + " GPUs",
                           "seq" + std::to_string(m.integer("seq", 0)),
                           "mbs" + std::to_string(m.integer("mbs", 1)), m.text("precision"),
                           m.text("sharding")});
    m.out().design.name = m.out().name;
    m.seconds_from("derived_iteration_s");
    if (m.preset(preset_named(m.text("model")))) {
      m.set_from("positions", "seq");  // the table of positions has the length of the sequence
      m.set_from("seq", "seq");
      m.set_from("dp", "gpus");
      m.set_from("microbatch", "mbs");
      m.set_from("batch", "gbs");
      m.set("sync", "fsdp1");
      const std::string sharding = m.text("sharding");
      if (sharding == "SHARD_GRAD_OP")
        m.set("reshard_after_forward", "false");
      else if (sharding != "FULL_SHARD")
        m.refuse("sharding " + sharding + " is not one of FULL_SHARD and SHARD_GRAD_OP");
      // Composer accumulates gradients without no_sync.
      if (m.integer("grad_accum", 1) > 1) m.set("reduce_every_microbatch", "true");
      if (m.text("mp_mode") == "PURE") m.set("grad_dtype", "bf16");
      if (m.text("precision") == "amp_fp8") m.set("compute", "fp8");
      if (m.text("act_ckpt") == "True") m.set("recompute", "full");
      m.set("profile", "llm-foundry");
      m.set("clip_grad_norm", "true");
      m.set("vocab_multiple", 1);
      std::string gpu = m.text("gpu");
      std::replace(gpu.begin(), gpu.end(), '_', '-');
      m.set("accelerator", gpu);
    }
    out.rows.push_back(m.finish());
  }
}

void map_llama3(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    m.out().name = "Llama 3.1 405B, " + std::to_string(m.integer("gpus", 0)) + " GPUs, seq " +
                   std::to_string(m.integer("seq", 0));
    m.out().design.name = m.out().name;
    // Both FLOP conventions give a time; the paper does not state the convention of its figure.
    std::string& why_not = m.out().no_seconds;
    if (const auto causal = m.measured("derived_iter_s_causal", 1, why_not))
      if (const auto whole = m.measured("derived_iter_s_noncausal", 1, why_not))
        m.out().seconds = (*causal + *whole) / 2;
    if (m.preset("llama3.1-405b")) {
      for (const char* axis : {"tp", "cp", "pp", "dp", "seq"}) m.set_from(axis, axis);
      m.set_product("batch", {m.integer("batch_per_dp", 1), m.integer("dp", 1)});
      m.set("sequence_parallel", "true");
      if (m.integer("cp", 1) > 1) m.set("context", "all-gather");
      // Interleaved, one layer per chunk. The first and the last stage have one layer less: the first chunk
      // has only the embedding and the last chunk only the head (section 3.3.2).
      if (const int64_t pp = m.integer("pp", 1), chunks = m.out().design.model.layers + 2;
          pp > 2 && chunks % pp == 0) {
        std::string list = "0";
        for (int64_t chunk = 2; chunk < chunks; ++chunk) list += ",1";
        m.set("virtual_stages", chunks / pp);
        m.set("stage_layers", list + ",0");
      }
      // Llama 3's FSDP shards gradients and states, while parameters stay whole during the step
      // (section 3.3.2).
      m.set("sync", "fsdp2");
      m.set("reshard_after_forward", "false");
      m.set("reshard_after_backward", "false");
      m.set("reduce_every_microbatch", "true");
      m.set("rank_order", "tp-cp-pp-dp");
      m.set("profile", "megatron-core-te");
      m.set("accelerator", "h100-80gb");
      m.set("network", "grand-teton-roce");
    }
    out.rows.push_back(m.finish());
  }
}

void map_deepseek_v3(const MeasuredJson& set, MeasuredSet& out) {
  const MeasuredJson training = set.value("training", MeasuredJson::object());
  for (const MeasuredJson& row : set["measured_step"]) {
    RowMapper step(row, "step"), m(training, "");
    m.out().name = m.out().design.name = "DeepSeek-V3, " + step.text("topology", "step");
    step.seconds_from("time_per_step_s");
    m.out().seconds = step.out().seconds;
    m.out().no_seconds = step.out().no_seconds;
    if (step.refused()) m.refuse(step.out().unmapped);
    if (m.preset("deepseek-v3")) {
      for (const char* axis : {"tp", "pp", "dp", "ep", "seq"}) m.set_from(axis, axis);
      m.set_from("batch", "gbs_sequences");
      m.set("microbatch", 1);
      m.set("sync", "distributed-optimizer");
      m.set("overlap_grad_reduce", "true");
      m.set("compute", "fp8-blockwise");
      m.set("dispatch_dtype", "fp8");
      m.set("activation_cache", "fp8");
      m.set("moment_dtype", "bf16");
      m.set("profile", "hai-llm");
      m.set("accelerator", "h800");
      m.set("schedule", "dualpipe");
      // The backward recomputes RMS norms, the up-projections of latent attention and the output of SwiGLU
      // (section 3.2.3).
      m.set("recompute", "selective");
      m.set("recompute_modules", "layernorm,mlp_act,moe_act,mla_up_proj");
      m.set("mtp_layers", 1);
      // The split is not published. Four layers per stage and one layer on the stage with the two heads come
      // nearest to the measured bubble.
      m.set("stage_layers", "4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,1");
      m.set("dispatcher", "flex");  // a token is sent once to each of at most four nodes (section 3.2.2)
    }
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
