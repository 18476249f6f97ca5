// Architectures and kernel profiles that the proofs by execution go through.
#pragma once

namespace shardscape::test {

// All architectures except llama and gpt.
inline constexpr const char* kFamilies[] = {"mistral", "qwen2", "qwen3", "gemma", "gemma2", "mpt"};

// All kernel profiles except flash and megatron-2022.
inline constexpr const char* kProfiles[] = {"megatron-2022-unfused",
                                            "megatron-core-unfused",
                                            "transformers-eager",
                                            "transformers-flash",
                                            "fairscale",
                                            "litgpt",
                                            "litgpt-math",
                                            "litgpt-capped",
                                            "megatron-core-te",
                                            "megatron-core-te-fused-loss",
                                            "torchtitan",
                                            "torchtitan-selective"};

}  // namespace shardscape::test
