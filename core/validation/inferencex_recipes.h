// How InferenceX starts its servers: settings that its results omit.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

// From SemiAnalysisAI/InferenceX (Apache-2.0), benchmarks/single_node at 39b46a0c (2026-04-27), and
// benchmarks at 2582bce4^ for Llama 3 70B; DeepSeek-R1 with multi-token prediction in SGLang on Blackwell:
// fixed_seq_len/dsr1_fp8_b200_mtp.sh and dsr1_fp8_b300_mtp.sh at 843c6254. Scripts of other dates may differ.
struct InferencexRecipe {
  const char *preset, *engine;
  const char* precision;  // start of its name; empty: any
  const char* gpu;        // start of the accelerator's id; empty: any
  bool fp8_cache;
  // Of a step. vLLM: max_num_batched_tokens. SGLang: chunked_prefill_size and max_prefill_tokens.
  // TensorRT-LLM: max_num_tokens.
  int64_t tokens;
  int64_t sequences;  // the most that run; kUsers: as many as there are users
  double share;       // of the memory, by the rule of the engine (cache_capacity.h)
  int64_t receive;    // SGLang: scheduler_recv_interval; kByUsers
  // Draft tokens of the servers with multi-token prediction, and of those whose attention runs data-parallel.
  int64_t drafts, dp_drafts;
  bool with_drafts = false;  // the script of a server with multi-token prediction, and of no other

  static constexpr int64_t kUsers = 0;
  static constexpr int64_t kTwoPrompts = 0;  // tokens of two prompts of the longest length
  // Tokens of a prompt and a token for each user, in multiples of 64; at least 8,192.
  static constexpr int64_t kPromptAndUsers = -1;
  static constexpr int64_t kByUsers = 0;  // 30 steps from 16 users on, otherwise 10

  int64_t step_tokens(int64_t users, int64_t input) const;
  int64_t receive_interval(int64_t users) const;
};

// drafts: the server has multi-token prediction. Null: not known. Then the engine has its defaults.
const InferencexRecipe* inferencex_recipe(const std::string& preset, const std::string& engine,
                                          const std::string& precision, const std::string& gpu, bool drafts);

// Share of the draft tokens that DeepSeek-V3's module for multi-token prediction gets accepted, where a row
// does not tell its own: 85 to 90 % for the second token (DeepSeek-V3 Technical Report, arXiv 2412.19437,
// section 5.4.3). Tokens per step follow: 1.85 with one draft token, 2.57 with two, 3.19 with three.
inline constexpr double kReportedDraftRate = 0.85;
// Ends the precision of cells whose rows have that rate.
inline constexpr char kAssumedAcceptance[] = ", acceptance of the DeepSeek-V3 report";

// TensorRT-LLM does not cut prompts by default, so its steps hold the longest prompt: InferenceX's rule
// kPromptAndUsers.
int64_t prompt_and_users(int64_t users, int64_t input);

}  // namespace shardscape
