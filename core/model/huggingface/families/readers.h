// The readers of the families: each fills the model from the keys of one file.
#pragma once

#include "model/huggingface/families/common.h"

namespace shardscape::hf {

void bailing_moe_linear(Family& f);
void bailing_moe_v2(Family& f);
void cohere2(Family& f);
void deepseek(Family& f);  // DeepSeek MoE, DeepSeek-V2, DeepSeek-V3 and Kimi K2
void deepseek_v4(Family& f);
void ernie4_5_moe(Family& f);
void gemma(Family& f);
void gemma2(Family& f);
void gemma3(Family& f);
void gemma4(Family& f);
void glm4_moe(Family& f);
void gpt2(Family& f);
void gpt_oss(Family& f);
void granitemoehybrid(Family& f);
void jamba(Family& f);
void kimi_k3(Family& f);
void kimi_linear(Family& f);
void llama(Family& f);
void llama4(Family& f);
void longcat_flash(Family& f);
void mamba(Family& f);
void mamba2(Family& f);
void mamba_ssm(Family& f);  // files of the Mamba authors' own code
void mimo(Family& f);
void mimo_v2_flash(Family& f);
void minimax_m2(Family& f);
void minimax_m3(Family& f);
void minimax_text(Family& f);
void mistral(Family& f);
void mixtral(Family& f);
void mpt(Family& f);
void nemotron_h(Family& f);
void nemotron_nas(Family& f);
void olmo2(Family& f);
void olmo3(Family& f);
void qwen2(Family& f);
void qwen2_moe(Family& f);
void qwen3(Family& f);
void qwen3_5(Family& f);
void qwen3_5_moe(Family& f);
void qwen3_moe(Family& f);
void qwen3_next(Family& f);
void step3p5(Family& f);

}  // namespace shardscape::hf
