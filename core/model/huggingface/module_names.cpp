// Names of the matrices of layers in checkpoints, by model type (module names of the transformers library and
// of the makers' own code).
#include <array>
#include <span>

#include "model/huggingface/quantization.h"

namespace shardscape::hf {
namespace {

using enum WeightRole;

struct RoleModule {
  WeightRole role;
  const char* module;
};

constexpr RoleModule kUsual[] = {{Q, "self_attn.q_proj"},
                                 {K, "self_attn.k_proj"},
                                 {V, "self_attn.v_proj"},
                                 {O, "self_attn.o_proj"},
                                 {QA, "self_attn.q_a_proj"},
                                 {QB, "self_attn.q_b_proj"},
                                 {KvA, "self_attn.kv_a_proj_with_mqa"},
                                 {KvB, "self_attn.kv_b_proj"},
                                 {AttentionGate, "self_attn.g_proj"},
                                 {IndexQ, "self_attn.indexer.wq_b"},
                                 {IndexK, "self_attn.indexer.wk"},
                                 {IndexWeights, "self_attn.indexer.weights_proj"},
                                 {Gate, "mlp.gate_proj"},
                                 {Up, "mlp.up_proj"},
                                 {Down, "mlp.down_proj"},
                                 {ExpertGate, "mlp.experts.0.gate_proj"},
                                 {ExpertUp, "mlp.experts.0.up_proj"},
                                 {ExpertDown, "mlp.experts.0.down_proj"},
                                 {SharedGate, "mlp.shared_experts.gate_proj"},
                                 {SharedUp, "mlp.shared_experts.up_proj"},
                                 {SharedDown, "mlp.shared_experts.down_proj"},
                                 {Router, "mlp.gate"},
                                 {SharedRouter, "mlp.shared_expert_gate"},
                                 {MixerIn, "mamba.in_proj"},
                                 {MixerX, "mamba.x_proj"},
                                 {MixerDt, "mamba.dt_proj"},
                                 {MixerOut, "mamba.out_proj"},
                                 {Embed, "embed_tokens"},
                                 {Head, "lm_head"}};
constexpr RoleModule kFusedExperts[] = {{ExpertGate, "mlp.experts.gate_up_proj"},
                                        {ExpertUp, "mlp.experts.gate_up_proj"},
                                        {ExpertDown, "mlp.experts.down_proj"},
                                        {Router, "mlp.router"}};
constexpr RoleModule kBlockSparse[] = {{ExpertGate, "block_sparse_moe.experts.0.w1"},
                                       {ExpertUp, "block_sparse_moe.experts.0.w3"},
                                       {ExpertDown, "block_sparse_moe.experts.0.w2"},
                                       {SharedGate, "block_sparse_moe.shared_experts.gate_proj"},
                                       {SharedUp, "block_sparse_moe.shared_experts.up_proj"},
                                       {SharedDown, "block_sparse_moe.shared_experts.down_proj"},
                                       {Router, "block_sparse_moe.gate"},
                                       {IndexQ, "self_attn.index_q_proj"},
                                       {IndexK, "self_attn.index_k_proj"}};
// Modules of the latent width are absent: released weights of Kimi K3 keep them in bfloat16.
constexpr RoleModule kKimi[] = {{ExpertGate, "block_sparse_moe.experts.0.w1"},
                                {ExpertUp, "block_sparse_moe.experts.0.w3"},
                                {ExpertDown, "block_sparse_moe.experts.0.w2"},
                                {SharedGate, "block_sparse_moe.shared_experts.gate_proj"},
                                {SharedUp, "block_sparse_moe.shared_experts.up_proj"},
                                {SharedDown, "block_sparse_moe.shared_experts.down_proj"},
                                {Router, "block_sparse_moe.gate"},
                                {MixerDt, "self_attn.f_b_proj"},
                                {MixerGate, "self_attn.f_a_proj"}};
constexpr RoleModule kOneShared[] = {
    {SharedGate, "mlp.shared_expert.gate_proj"}, {SharedUp, "mlp.shared_expert.up_proj"},
    {SharedDown, "mlp.shared_expert.down_proj"}, {MixerIn, "linear_attn.in_proj_qkv"},
    {MixerGate, "linear_attn.in_proj_b"},        {MixerOut, "linear_attn.out_proj"}};
constexpr RoleModule kOneMixer[] = {{Q, "mixer.q_proj"},
                                    {K, "mixer.k_proj"},
                                    {V, "mixer.v_proj"},
                                    {O, "mixer.o_proj"},
                                    {Up, "mixer.up_proj"},
                                    {Down, "mixer.down_proj"},
                                    {ExpertUp, "mixer.experts.0.up_proj"},
                                    {ExpertDown, "mixer.experts.0.down_proj"},
                                    {SharedUp, "mixer.shared_experts.up_proj"},
                                    {SharedDown, "mixer.shared_experts.down_proj"},
                                    {LatentDown, "mixer.fc1_latent_proj"},
                                    {LatentUp, "mixer.fc2_latent_proj"},
                                    {Router, "mixer.gate"},
                                    {MixerIn, "mixer.in_proj"},
                                    {MixerOut, "mixer.out_proj"}};
constexpr RoleModule kOwnCode[] = {{QA, "attn.wq_a"},
                                   {QB, "attn.wq_b"},
                                   {KvA, "attn.wkv"},
                                   {O, "attn.wo_b"},
                                   {IndexQ, "attn.indexer.wq_b"},
                                   {IndexWeights, "attn.indexer.weights_proj"},
                                   {Compressor, "attn.compressor.wkv"},
                                   {ExpertGate, "ffn.experts.0.w1"},
                                   {ExpertUp, "ffn.experts.0.w3"},
                                   {ExpertDown, "ffn.experts.0.w2"},
                                   {SharedGate, "ffn.shared_experts.w1"},
                                   {SharedUp, "ffn.shared_experts.w3"},
                                   {SharedDown, "ffn.shared_experts.w2"},
                                   {Router, "ffn.gate"},
                                   {Embed, "embed"},
                                   {Head, "head"}};
constexpr RoleModule kGemma4[] = {{ExpertGate, "experts.gate_up_proj"},
                                  {ExpertUp, "experts.gate_up_proj"},
                                  {ExpertDown, "experts.down_proj"},
                                  {Router, "router.proj"}};

struct TypeRow {
  const char* type;
  std::span<const RoleModule> modules;  // those that differ from kUsual
};
constexpr TypeRow kTypes[] = {{"gpt_oss", kFusedExperts},
                              {"mixtral", kBlockSparse},
                              {"minimax_m2", kBlockSparse},
                              {"minimax_m3", kBlockSparse},
                              {"minimax_m3_vl", kBlockSparse},
                              {"kimi_linear", kKimi},
                              {"kimi_k3", kKimi},
                              {"qwen2_moe", kOneShared},
                              {"qwen3_next", kOneShared},
                              {"qwen3_5", kOneShared},
                              {"qwen3_5_text", kOneShared},
                              {"qwen3_5_moe", kOneShared},
                              {"qwen3_5_moe_text", kOneShared},
                              {"nemotron_h", kOneMixer},
                              {"deepseek_v4", kOwnCode},
                              {"deepseek_ref", kOwnCode},
                              {"gemma4", kGemma4}};

}  // namespace

std::string module_name(const std::string& model_type, WeightRole role) {
  for (const TypeRow& row : kTypes)
    if (model_type == row.type)
      for (const RoleModule& own : row.modules)
        if (own.role == role) return own.module;
  for (const RoleModule& usual : kUsual)
    if (usual.role == role) return usual.module;
  return {};
}

}  // namespace shardscape::hf
