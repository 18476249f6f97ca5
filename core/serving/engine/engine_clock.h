// The seconds of an engine step of any mix of prompts and generated tokens, from the graph and the kernels of
// a design.
//
// A step is one forward over all of its tokens (vLLM V1, gpu_model_runner.py). Kernels other than attention
// run once on all tokens; attention runs on the generated tokens with their contexts, and on the chunks of
// prompts; the head runs on the sequences that sample. The parts come from designs of pure decode and pure
// prefill (forward_seconds.h), computed where a step first needs them and interpolated between.
//
// - Tokens: a ladder of token counts, linear in between. A generated token costs as in a step of generated
//   tokens of the same size, a token of a prompt as in a prompt of that size.
// - Attention of generated tokens: a grid of sequences and mean contexts. The bytes that it reads are their
//   product, for which the bilinear interpolation is exact.
// - Chunk of q tokens after c others: a prompt of q tokens after c cached ones (WorkloadSpec::cached_tokens),
//   which reads the cached keys and values. What its layers take longer than those of a prompt of q tokens
//   counts with its attention: up projections of cached latents, gathers of cached keys over cp. A grid of
//   chunks and contexts; seconds per token are interpolated, which is exact for products of both. One kernel
//   computes all chunks of a step, so its constant part counts once. Where a step cannot begin after cached
//   tokens (no_cached_tokens), a chunk has the attention of a prompt of c + q tokens less that of c tokens.
//
// Speculative decoding: a step verifies all draft tokens in one forward. Kernels other than attention run on
// all tokens, and the head on each of them. Attention reads the cache of a sequence once for all its queries:
// 1 + k queries of H heads cost as much as one query of (1 + k) H heads with the same KV heads. The draft
// runs k passes (vLLM, v1/spec_decode/eagle.py, propose): the first on all tokens of the step, the others on
// one token of each sequence that samples; each computes the head for these sequences. A pass is a forward of
// the design of the draft (draft.h), put together as a step is. An EAGLE layer also has the product that
// joins the embedding with the hidden state (2 D x D, on every rank; Li et al., ICML 2024, section 3.1);
// without a design it costs the mean of the layers of the model, and the head of the model. The draft belongs
// to the last stage of a pipeline.
//
// Pipeline: the seconds of a step are those of all stages and of the messages between them. The slowest stage
// is put together from the same designs; messages overlap with the work of a stage.
//
// A step with prompts takes at least the host's time to launch its kernels (EngineProfile::launch_seconds).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "performance/machine.h"
#include "serving/engine/engine_profile.h"
#include "serving/engine/forward_seconds.h"
#include "serving/requests/step_clock.h"

namespace shardscape {

class EngineClock final : public StepClock {
 public:
  // design: the layout of one engine; its mode, batch and lengths have no effect. A Problem if no step of the
  // layout can be computed.
  static Result<std::unique_ptr<EngineClock>> make(const Design& design, const EngineProfile& profile,
                                                   std::shared_ptr<PlanCache> cache = {});
  double seconds(const StepBatch& batch) override { return part_seconds(batch, kAllStages); }
  double bottleneck_seconds(const StepBatch& batch) override;
  // The kernels of a step alone: without the host, and without waits for launches. `kernels` is not set.
  ForwardSeconds kernel_seconds(const StepBatch& batch);
  // Tokens that the kernels of a step compute: those of prompts, and all with the padding of a recorded
  // graph.
  struct Tokens {
    int64_t prompt = 0, computed = 0;
    double share = 0;  // of prompts, without padding
  };
  Tokens tokens_of(const StepBatch& batch) const;

 private:
  // The part of a step that a function is about: all stages, or one stage from 1 on.
  static constexpr size_t kAllStages = 0;
  using Parts = std::vector<double>;  // of all stages, and of each stage
  EngineClock(Design design, EngineProfile profile, std::shared_ptr<PlanCache> cache);
  std::optional<Problem> check();
  // One microbatch on every replica: sequences of `context` tokens whose attention has the heads of so many
  // queries of a sequence, or one prompt after cached tokens.
  Design decode_step(int64_t sequences, int64_t context, int64_t queries = 1) const;
  ForwardSeconds decode_forward(int64_t sequences, int64_t context, int64_t queries = 1) const;
  ForwardSeconds prompt_forward(int64_t tokens, int64_t cached = 0) const;

  // At a point of a ladder; computed once.
  struct TokenCost {
    Parts tokens, head;  // seconds; tokens of all stages: with the messages between stages
    double kernels = 0;  // number of launches, over all stages
  };
  const TokenCost& token_cost(Mode mode, int64_t tokens);
  double decode_attention(int64_t sequences, int64_t context, int64_t queries, size_t part);
  // context: of cached tokens before a chunk, a power of two like its tokens; 0: none.
  double chunk_cost(int64_t tokens, int64_t context, size_t part);
  double prompt_attention(int64_t tokens, size_t part) { return chunk_cost(tokens, 0, part); }
  // Between the points.
  double token_seconds(Mode mode, int64_t tokens, size_t part);
  double head_seconds(int64_t sequences, size_t part);
  double decode_attention_seconds(int64_t sequences, int64_t contexts, int64_t queries, size_t part);
  double verification_attention_seconds(const StepBatch& batch, size_t part);
  double prompt_attention_seconds(int64_t tokens, size_t part);
  double chunk_seconds(const PrefillChunk& chunk, size_t part);
  // Of a pass of this clock's design as a draft, without its head.
  double pass_seconds(const StepBatch& batch);
  // Of all passes of the draft. verified: seconds of the step in all stages without the head; tokens: of the
  // step.
  double draft_seconds(const StepBatch& batch, int64_t tokens, double verified);
  ForwardSeconds::Stage kernel_seconds(const StepBatch& batch, size_t part);
  double part_seconds(const StepBatch& batch, size_t part);
  Parts parts(const ForwardSeconds& forward, double ForwardSeconds::Stage::*of) const;

  Design design_;
  EngineProfile profile_;
  std::shared_ptr<PlanCache> cache_;
  Machine machine_;
  std::unique_ptr<EngineClock> draft_;      // of a pass of the draft; null without a design of the draft
  std::map<int64_t, TokenCost> tokens_[2];  // of prefill and of decode
  std::map<std::tuple<int64_t, int64_t, int64_t>, Parts> decode_attention_;  // sequences, context, queries
  bool reads_cached_tokens_ = false;  // a step may begin after cached tokens
  // Of chunks, by the binary logarithms of tokens and of cached tokens (0: none); empty: not computed yet.
  std::vector<Parts> chunks_;
};

}  // namespace shardscape
