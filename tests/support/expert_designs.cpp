#include "support/expert_designs.h"

namespace shardscape::test {

Design experts_design(const char* architecture) {
  Design d = tiny_design(architecture);
  d.model.layers = 3;
  d.model.experts = 4;
  d.model.experts_per_token = 2;
  d.model.expert_ffn = 8;
  if (d.model.architecture.starts_with("deepseek") || d.model.architecture == "qwen2-moe")
    d.model.shared_experts = 2;
  if (d.model.architecture.starts_with("deepseek")) d.model.dense_layers = 1;
  if (d.model.architecture == "jamba") {
    d.model.layers = 8;  // one of every kind
    d.model.ssm_state = d.model.ssm_conv = 3;
    d.model.ssm_expand = d.model.ssm_dt_rank = 2;
  }
  if (d.model.architecture.starts_with("deepseek3")) {
    d.model.kv_heads = d.model.heads;
    d.model.q_rank = 6;
    d.model.kv_rank = 5;
    d.model.rope_head_dim = 2;
    d.model.nope_head_dim = 4;
    d.model.value_head_dim = 3;
    d.model.mtp_layers = 1;
  }
  d.workload.seq = 16;
  d.workload.batch = 8;
  return d;
}

}  // namespace shardscape::test
