// How InferenceX starts its servers: settings that its results omit.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

// From SemiAnalysisAI/InferenceX (Apache-2.0) at 843c6254, benchmarks/single_node/fixed_seq_len. Scripts of
// earlier dates may differ.
struct InferencexRecipe {
  const char *preset, *engine;
  const char* precision;  // empty: any
  const char* gpu;        // start of the accelerator's id; empty: any
  bool fp8_cache;
  int64_t tokens;        // of a step; 0: as many as two prompts
  bool one_slot_a_user;  // the most sequences are the users
  double share;          // of the memory
  // Draft tokens of the servers with multi-token prediction, and of those whose attention runs data-parallel.
  int64_t drafts = 0, dp_drafts = 0;
};

// Null: not known. Then the engine has its defaults.
const InferencexRecipe* inferencex_recipe(const std::string& preset, const std::string& engine,
                                          const std::string& precision, const std::string& gpu);

}  // namespace shardscape
