#include "serving/engine/engine_clock.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "model/model_sizes.h"
#include "performance/op_time.h"
#include "plan/report.h"
#include "serving/engine/step_design.h"
#include "timing/machine_of.h"

namespace shardscape {
namespace {

// Steps of the ladders: powers of two, and from `kHalfSteps` on also the numbers half-way between.
constexpr int64_t kHalfSteps = 16;
constexpr int64_t kLeastPrompt = 16;    // tokens of the shortest prompt that is computed
constexpr int64_t kLeastContext = 128;  // tokens of the shortest context that is computed
// The context of the designs whose attention is not used.
constexpr int64_t kAnyContext = 1024;

// The neighbouring numbers of a ladder below and above `of`, and how far `of` is from the lower one, 0 to 1.
struct Rung {
  int64_t low = 0, high = 0;
  double share = 0;
};
Rung rung(double of, int64_t least, bool halves) {
  if (of <= static_cast<double>(least)) return {least, least, 0};
  int64_t low = least;
  while (static_cast<double>(2 * low) <= of) low *= 2;
  int64_t high = 2 * low;
  if (halves && low >= kHalfSteps) {
    const int64_t middle = low + low / 2;
    (of < static_cast<double>(middle) ? high : low) = middle;
  }
  return {low, high, (of - static_cast<double>(low)) / static_cast<double>(high - low)};
}

double between(double low, double high, double share) { return low + (high - low) * share; }

}  // namespace

EngineClock::EngineClock(Design design, EngineProfile profile, std::shared_ptr<PlanCache> cache)
    : design_(std::move(design)),
      profile_(std::move(profile)),
      cache_(cache ? std::move(cache) : std::make_shared<PlanCache>()) {}

Result<std::unique_ptr<EngineClock>> EngineClock::make(const Design& design, const EngineProfile& profile,
                                                       std::shared_ptr<PlanCache> cache) {
  std::unique_ptr<EngineClock> out(new EngineClock(design, profile, std::move(cache)));
  if (std::optional<Problem> problem = out->check()) return *std::move(problem);
  if (profile.draft.design) {
    EngineProfile passes;
    passes.draft_tokens = profile.draft_tokens;
    passes.captured = profile.captured;
    auto draft = make(*profile.draft.design, passes, out->cache_);
    if (auto* problem = std::get_if<Problem>(&draft)) {
      problem->what = "of the draft: " + problem->what;
      return *std::move(problem);
    }
    out->draft_ = std::get<0>(std::move(draft));
  }
  return out;
}

// So many queries of a sequence read its cache once: as many times the heads share it.
Design EngineClock::decode_step(int64_t sequences, int64_t context, int64_t queries) const {
  Design out = decode_design(design_, sequences, context);
  // Latent attention has as many KV heads as heads, and one latent for all of them.
  const bool latent = out.model.kv_rank > 0;
  out.model.heads *= queries;
  if (latent) out.model.kv_heads *= queries;
  for (LayerVariant& variant : out.model.variants)
    for (auto& [row, size] : variant.sizes)
      if (row == size_row(&ModelSpec::heads) || (latent && row == size_row(&ModelSpec::kv_heads)))
        size *= queries;
  return out;
}

std::optional<Problem> EngineClock::check() {
  const auto problem_of = [&](const Design& step) -> std::optional<Problem> {
    const auto report = make_report(step, cache_);
    for (const Problem& problem : report->problems)
      if (problem.severity == Severity::Error) return problem;
    if (!report->accelerator)
      return Problem{ProblemCode::UnknownAccelerator, "accelerator",
                     "the accelerator is not in the catalogue, so times are unknown",
                     "the id of an accelerator"};
    return std::nullopt;
  };
  const Design one = decode_step(1, kAnyContext), prompt = prompt_design(design_, 1, kAnyContext);
  for (const Design& step : {one, prompt})
    if (auto problem = problem_of(step)) return problem;
  machine_ = machine_of(one);
  reads_cached_tokens_ = no_cached_tokens(prompt).empty();
  return profile_.draft_tokens > 0 ? problem_of(decode_step(1, kAnyContext, 1 + profile_.draft_tokens))
                                   : std::nullopt;
}

// A number that the layout does not accept, such as a prompt that cp does not divide, costs nothing: its
// neighbours on the ladder are accepted, or check() has failed.
ForwardSeconds EngineClock::decode_forward(int64_t sequences, int64_t context, int64_t queries) const {
  const auto report = make_report(decode_step(sequences, context, queries), cache_);
  return report->valid() ? forward_seconds(*report) : ForwardSeconds{};
}

ForwardSeconds EngineClock::prompt_forward(int64_t tokens, int64_t cached) const {
  const auto report = make_report(prompt_design(design_, 1, tokens, cached), cache_);
  return report->valid() ? forward_seconds(*report) : ForwardSeconds{};
}

EngineClock::Parts EngineClock::parts(const ForwardSeconds& forward,
                                      double ForwardSeconds::Stage::*of) const {
  Parts out(static_cast<size_t>(design_.parallel.pp) + 1);
  for (size_t stage = 0; stage < forward.stages.size(); ++stage) {
    out[stage + 1] = forward.stages[stage].*of;
    out[kAllStages] += out[stage + 1];
  }
  return out;
}

const EngineClock::TokenCost& EngineClock::token_cost(Mode mode, int64_t tokens) {
  const auto [it, fresh] = tokens_[mode == Mode::Decode].try_emplace(tokens);
  if (fresh) {
    const ForwardSeconds of = mode == Mode::Decode ? decode_forward(tokens, kAnyContext)
                                                   : prompt_forward(tokens);
    it->second = {parts(of, &ForwardSeconds::Stage::tokens), parts(of, &ForwardSeconds::Stage::head),
                  static_cast<double>(of.kernels)};
    it->second.tokens[kAllStages] += of.messages;
  }
  return it->second;
}

double EngineClock::token_seconds(Mode mode, int64_t tokens, size_t part) {
  const Rung at = rung(static_cast<double>(tokens), mode == Mode::Decode ? 1 : kLeastPrompt, true);
  const double low = token_cost(mode, at.low).tokens[part];
  return at.share == 0 ? low : between(low, token_cost(mode, at.high).tokens[part], at.share);
}

double EngineClock::head_seconds(int64_t sequences, size_t part) {
  const Rung at = rung(static_cast<double>(sequences), 1, true);
  const double low = token_cost(Mode::Decode, at.low).head[part];
  return at.share == 0 ? low : between(low, token_cost(Mode::Decode, at.high).head[part], at.share);
}

double EngineClock::decode_attention(int64_t sequences, int64_t context, int64_t queries, size_t part) {
  const auto [it, fresh] = decode_attention_.try_emplace({sequences, context, queries});
  if (fresh)
    it->second = parts(decode_forward(sequences, context, queries), &ForwardSeconds::Stage::attention);
  return it->second[part];
}

double EngineClock::decode_attention_seconds(int64_t sequences, int64_t contexts, int64_t queries,
                                             size_t part) {
  if (sequences == 0) return 0;
  const Rung of = rung(static_cast<double>(sequences), 1, false),
             at = rung(static_cast<double>(contexts) / static_cast<double>(sequences), kLeastContext, false);
  const auto along = [&](int64_t n) {
    const double low = decode_attention(n, at.low, queries, part);
    return at.share == 0 ? low : between(low, decode_attention(n, at.high, queries, part), at.share);
  };
  const double low = along(of.low);
  return of.share == 0 ? low : between(low, along(of.high), of.share);
}

// Sequences whose draft is cut by the budget lie between one query and all.
double EngineClock::verification_attention_seconds(const StepBatch& batch, size_t part) {
  const int64_t sequences = batch.decode_sequences, most = profile_.draft_tokens * sequences;
  const double one = decode_attention_seconds(sequences, batch.decode_context, 1, part);
  if (batch.draft_tokens == 0 || most == 0) return one;
  const double all = decode_attention_seconds(sequences, batch.decode_context, 1 + profile_.draft_tokens,
                                              part);
  return between(one, all, static_cast<double>(batch.draft_tokens) / static_cast<double>(most));
}

double EngineClock::pass_seconds(const StepBatch& batch) {
  const ForwardSeconds::Stage of = kernel_seconds(batch, kAllStages);
  return of.tokens + of.attention;
}

double EngineClock::draft_seconds(const StepBatch& batch, int64_t tokens, double verified) {
  const int64_t sequences = batch.sampled;
  if (profile_.draft.kind == DraftKind::None || sequences == 0) return 0;
  const auto passes = static_cast<double>(profile_.draft_tokens);
  int64_t contexts = batch.decode_context;
  for (const PrefillChunk& chunk : batch.chunks) contexts += chunk.context + chunk.tokens;
  const int64_t all = batch.decode_sequences + static_cast<int64_t>(batch.chunks.size());
  const StepBatch one{sequences, contexts * sequences / all, {}, sequences};
  double first = 0, further = 0, head = 0;
  if (draft_) {
    first = draft_->pass_seconds(batch);
    further = draft_->pass_seconds(one);
    head = draft_->head_seconds(sequences, kAllStages);
  } else {
    const auto layers = static_cast<double>(design_.model.layers);
    first = verified / layers;
    further = (token_seconds(Mode::Decode, profile_.padded(sequences), kAllStages) +
               decode_attention_seconds(sequences, one.decode_context, 1, kAllStages)) /
              layers;
    head = head_seconds(sequences, kAllStages);
  }
  if (profile_.draft.kind == DraftKind::Eagle) {
    const DType type = design_.workload.dtype;
    const int64_t hidden = draft_ ? draft_->design_.model.hidden : design_.model.hidden;
    const auto joined = [&](int64_t rows) {
      return matmul_seconds(machine_, {1, rows, hidden, 2 * design_.model.hidden, type, type});
    };
    first += joined(tokens);
    further += joined(sequences);
  }
  return first + (passes - 1) * further + passes * head;
}

double EngineClock::chunk_cost(int64_t tokens, int64_t context, size_t part) {
  const auto log2 = [](int64_t n) { return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(n))); };
  constexpr size_t kBits = 64;
  chunks_.resize(kBits * kBits);
  Parts& out = chunks_[log2(tokens) * kBits + log2(context)];
  if (!out.empty()) return out[part];
  const ForwardSeconds of = prompt_forward(tokens, context);
  out = parts(of, &ForwardSeconds::Stage::attention);
  if (context == 0) return out[part];
  const Parts& plain = token_cost(Mode::Prefill, tokens).tokens;
  const Parts all = parts(of, &ForwardSeconds::Stage::tokens);
  for (size_t stage = 1; stage < out.size(); ++stage) {
    const double more = std::max(0.0, all[stage] - plain[stage]);
    out[stage] += more;
    out[kAllStages] += more;
  }
  return out[part];
}

// Without the constant part. Seconds over tokens are interpolated, which is exact for squares.
double EngineClock::prompt_attention_seconds(int64_t tokens, size_t part) {
  if (tokens <= kLeastPrompt) return 0;
  const double constant = prompt_attention(kLeastPrompt, part);
  const auto each = [&](int64_t n) {
    return (prompt_attention(n, part) - constant) / static_cast<double>(n);
  };
  const Rung at = rung(static_cast<double>(tokens), kLeastPrompt, false);
  const double low = each(at.low);
  return static_cast<double>(tokens) * (at.share == 0 ? low : between(low, each(at.high), at.share));
}

// Without the constant part.
double EngineClock::chunk_seconds(const PrefillChunk& chunk, size_t part) {
  if (chunk.context == 0) return prompt_attention_seconds(chunk.tokens, part);
  if (!reads_cached_tokens_)
    return prompt_attention_seconds(chunk.context + chunk.tokens, part) -
           prompt_attention_seconds(chunk.context, part);
  // Kernels compute at least a tile of queries.
  const int64_t tokens = std::max(chunk.tokens, kLeastPrompt);
  const Rung of = rung(static_cast<double>(tokens), kLeastPrompt, false),
             at = rung(static_cast<double>(chunk.context), kLeastContext, false);
  const double constant = prompt_attention(kLeastPrompt, part);
  const double beyond = std::min(1.0,
                                 static_cast<double>(chunk.context) / static_cast<double>(kLeastContext));
  const auto each = [&](int64_t n) {
    double seconds = chunk_cost(n, at.low, part);
    if (at.share > 0) seconds = between(seconds, chunk_cost(n, at.high, part), at.share);
    if (beyond < 1) seconds = between(prompt_attention(n, part), seconds, beyond);
    return (seconds - constant) / static_cast<double>(n);
  };
  const double low = each(of.low);
  return static_cast<double>(tokens) * (of.share == 0 ? low : between(low, each(of.high), of.share));
}

EngineClock::Tokens EngineClock::tokens_of(const StepBatch& batch) const {
  int64_t prompt = 0;
  for (const PrefillChunk& chunk : batch.chunks) prompt += chunk.tokens;
  const int64_t all = batch.decode_sequences + batch.draft_tokens + prompt;
  return {prompt, prompt == 0 ? profile_.padded(all) : all,
          static_cast<double>(prompt) / static_cast<double>(all)};
}

ForwardSeconds::Stage EngineClock::kernel_seconds(const StepBatch& batch, size_t part) {
  const Tokens of = tokens_of(batch);
  double attention = verification_attention_seconds(batch, part);
  for (const PrefillChunk& chunk : batch.chunks) attention += chunk_seconds(chunk, part);
  if (of.prompt > 0) attention += prompt_attention(kLeastPrompt, part);
  double tokens = 0;
  if (of.share < 1) tokens += (1 - of.share) * token_seconds(Mode::Decode, of.computed, part);
  if (of.share > 0) tokens += of.share * token_seconds(Mode::Prefill, of.computed, part);
  return {tokens, attention, head_seconds(batch.sampled + batch.draft_tokens, part)};
}

ForwardSeconds EngineClock::kernel_seconds(const StepBatch& batch) {
  ForwardSeconds out;
  for (size_t stage = 1; stage <= static_cast<size_t>(design_.parallel.pp); ++stage)
    out.stages.push_back(kernel_seconds(batch, stage));
  out.messages = std::max(0.0, kernel_seconds(batch, kAllStages).tokens - out.tokens());
  return out;
}

double EngineClock::part_seconds(const StepBatch& batch, size_t part) {
  const ForwardSeconds::Stage seconds = kernel_seconds(batch, part);
  double kernels = seconds.tokens + seconds.attention + seconds.head;
  const Tokens of = tokens_of(batch);
  const auto stages = static_cast<double>(part == kAllStages ? 1 : design_.parallel.pp);
  // Mixed steps up to the largest recorded size replay graphs, too, in pieces around attention.
  if (of.prompt > 0 && (profile_.captured.empty() || of.computed > profile_.captured.back())) {
    const int64_t at = rung(static_cast<double>(of.computed), kLeastPrompt, true).low;
    kernels = std::max(kernels, profile_.launch_seconds * token_cost(Mode::Prefill, at).kernels / stages);
  }
  const bool last = part == kAllStages || part == static_cast<size_t>(design_.parallel.pp);
  if (last) kernels += draft_seconds(batch, of.computed, stages * (seconds.tokens + seconds.attention));
  const auto sequences = batch.decode_sequences + static_cast<int64_t>(batch.chunks.size());
  return kernels + profile_.step_seconds + profile_.sequence_seconds * static_cast<double>(sequences);
}

double EngineClock::bottleneck_seconds(const StepBatch& batch) {
  double out = 0;
  for (size_t stage = 1; stage <= static_cast<size_t>(design_.parallel.pp); ++stage)
    out = std::max(out, part_seconds(batch, stage));
  return out;
}

}  // namespace shardscape
