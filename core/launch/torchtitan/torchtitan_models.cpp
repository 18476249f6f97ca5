#include "launch/torchtitan/torchtitan_models.h"

#include <string_view>

namespace shardscape {
namespace {

constexpr const char* kUnnormed = "queries and keys have no norms in torchtitan's Llama 4";
constexpr const char* kDocuments = "attention sees one document at a time (block_causal)";
constexpr std::string_view kEndings[] = {"_flex_attn", "_varlen_attn", "_flex", "_varlen"};

// Widths of SwiGLU: 8/3 of the hidden size, times ffn_dim_multiplier, rounded up to multiple_of. Experts of
// Llama 4 divide this by top_k plus the shared expert.
std::vector<TorchtitanModel> llamas() {
  return {
      {"llama3",
       "debugmodel",
       "llama3-8b",
       {{"layers", "6"},
        {"hidden", "256"},
        {"heads", "16"},
        {"kv_heads", "16"},
        {"head_dim", "16"},
        {"ffn", "768"},
        {"vocab", "2048"}}},
      {"llama3", "8B", "llama3-8b", {}},
      {"llama3", "70B", "llama3-70b", {}},
      {"llama3", "405B", "llama3.1-405b", {}},
      {"llama4",
       "debugmodel",
       "llama4-scout",
       {{"layers", "6"},
        {"hidden", "256"},
        {"heads", "16"},
        {"kv_heads", "16"},
        {"head_dim", "16"},
        {"ffn", "768"},
        {"vocab", "2048"},
        {"experts", "8"},
        {"expert_ffn", "512"},
        {"attention_chunk", "1048576"},
        {"layer_pattern", "(chunked_dense, chunked)*"}},
       kUnnormed},
      {"llama4",
       "17bx16e",
       "llama4-scout",
       {{"attention_chunk", "1048576"}, {"layer_pattern", "chunked*"}},
       kUnnormed},
      {"llama4",
       "17bx128e",
       "llama4-scout",
       {{"experts", "128"}, {"attention_chunk", "1048576"}, {"layer_pattern", "(chunked_dense, chunked)*"}},
       kUnnormed},
      {"llama4", "17bx16e_irope", "llama4-scout", {{"layer_pattern", "(full, chunked*3)*"}}, kUnnormed},
      {"llama4",
       "17bx128e_irope",
       "llama4-scout",
       {{"experts", "128"}, {"layer_pattern", "(full_dense, chunked, chunked_dense, chunked)*"}},
       kUnnormed}};
}

std::vector<TorchtitanModel> other_models() {
  return {{"deepseek_v3",
           "debugmodel",
           "deepseek-v2-lite",
           {{"layers", "6"},
            {"hidden", "256"},
            {"ffn", "1024"},
            {"vocab", "2048"},
            {"experts", "8"},
            {"experts_per_token", "3"},
            {"expert_ffn", "256"}}},
          {"deepseek_v3", "16B", "deepseek-v2-lite", {}, kDocuments},
          {"deepseek_v3", "236B", "deepseek-v2", {}, kDocuments},
          {"deepseek_v3", "671B", "deepseek-v3", {{"mtp_layers", "0"}}, kDocuments},
          {"qwen3", "debugmodel", "qwen3-0.6b", {{"layers", "8"}, {"hidden", "256"}, {"vocab", "2048"}}},
          {"qwen3", "0.6B", "qwen3-0.6b", {}},
          {"qwen3", "1.7B", "qwen3-1.7b", {}},
          {"qwen3", "4B", "qwen3-4b", {}},
          {"qwen3", "8B", "qwen3-8b", {}},
          {"qwen3", "14B", "qwen3-14b", {}},
          {"qwen3", "32B", "qwen3-32b", {}},
          {"qwen3",
           "debugmodel_moe",
           "qwen3-30b-a3b",
           {{"layers", "8"},
            {"hidden", "256"},
            {"heads", "16"},
            {"kv_heads", "8"},
            {"vocab", "2048"},
            {"experts", "64"}}},
          {"qwen3", "30B-A3B", "qwen3-30b-a3b", {}},
          {"qwen3", "235B-A22B", "qwen3-235b-a22b", {}},
          {"gpt_oss", "debugmodel", "gpt-oss-20b", {{"layers", "4"}, {"hidden", "256"}, {"experts", "8"}}},
          {"gpt_oss", "20b", "gpt-oss-20b", {}},
          {"gpt_oss", "120b", "gpt-oss-120b", {}}};
}

}  // namespace

const std::vector<TorchtitanModel>& torchtitan_models() {
  static const std::vector<TorchtitanModel> kModels = [] {
    std::vector<TorchtitanModel> out = llamas();
    for (const TorchtitanModel& one : other_models()) out.push_back(one);
    return out;
  }();
  return kModels;
}

const TorchtitanModel* torchtitan_model(const std::string& name, const std::string& flavor) {
  std::string plain = flavor;
  for (const std::string_view ending : kEndings)
    if (plain.ends_with(ending)) plain.resize(plain.size() - ending.size());
  for (const TorchtitanModel& model : torchtitan_models())
    if (name == model.name && plain == model.flavor) return &model;
  return nullptr;
}

bool sees_documents(const TorchtitanModel& model, const std::string& flavor) {
  return flavor != model.flavor;
}

}  // namespace shardscape
