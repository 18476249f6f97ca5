// The numbers of a model that a person edits. Which blocks it is made of is its architecture.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

struct ModelSpec {
  std::string preset = "llama3-8b";    // the preset it started from
  std::string architecture = "llama";  // id in the model library
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, positions = 0;
  int64_t experts = 0;             // X; 0 in models without mixture of experts, as the four below
  int64_t experts_per_token = 0;   // K
  int64_t expert_ffn = 0;          // inner width of one expert
  int64_t shared_experts = 0;      // each as wide as a routed one; every token goes through them
  int64_t dense_layers = 0;        // layers with a dense MLP before the first one with experts
  int64_t window = 0;  // tokens that sliding attention looks back on; 0: the whole sequence
  bool tied_embeddings = false;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace shardscape
