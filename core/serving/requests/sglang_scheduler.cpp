#include "serving/requests/sglang_scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardscape {
namespace {

constexpr int64_t kMostReservedAnswer = 4096;  // CLIP_MAX_NEW_TOKENS
// SGLANG_INIT_NEW_TOKEN_RATIO, SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR, SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS
constexpr double kFirstRatio = 0.7, kLeastRatioFactor = 0.14, kDecaySteps = 600;
constexpr double kAttentionDpFactor = 0.3;
constexpr int64_t kRetractSteps = 20;  // SGLANG_RETRACT_DECODE_STEPS
constexpr size_t kMostSorted = 128;    // longer queues are served in the order of arrival
// IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD, IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD
constexpr int32_t kCheckedPrefix = 32, kDeferredPrefix = 32;
constexpr int64_t kReservedDecode = 512;  // num_reserved_decode_tokens
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

}  // namespace

SglangScheduler::SglangScheduler(const EngineSettings& settings, const Workload& workload,
                                 const BlockContents& contents, std::span<RequestRecord> records)
    : settings_(settings.sglang),
      role_(settings.role),
      workload_(&workload),
      table_(settings, workload, records),
      radix_(contents, settings.tiers),
      queued_(contents),
      tiers_(settings.tiers),
      capacity_(settings.sglang.max_total_tokens),
      first_ratio_(std::min(1.0, kFirstRatio * settings.sglang.schedule_conservativeness *
                                     (settings.attention_dp > 1 ? kAttentionDpFactor : 1))),
      ratio_(first_ratio_),
      most_in_batch_(std::max<int64_t>(1, settings_.max_running_requests / settings.pipeline_stages)),
      chunk_size_(settings_.chunked_prefill_size > 0
                      ? std::max<int64_t>(1, settings_.chunked_prefill_size / settings.attention_dp)
                      : kNoLimit),
      sequence_room_(1 + draft_tokens(settings.speculation) + lookahead_tokens(settings.speculation)),
      batches_(static_cast<size_t>(settings.pipeline_stages)) {}

int64_t SglangScheduler::free_tokens() const { return capacity_ == 0 ? kNoLimit : capacity_ - in_use(); }

int64_t SglangScheduler::decode_tokens(const Batch& batch) const {
  return static_cast<int64_t>(batch.decoding.size()) * sequence_room_;
}

int64_t SglangScheduler::cached_tokens(int32_t request) const {
  return radix_.cached(request, workload_->requests[static_cast<size_t>(request)].prompt - 1);
}

bool SglangScheduler::schedule(double now, ScheduledStep& step) {
  if (passed_ == 0 || passed_ >= settings_.scheduler_recv_interval) take_arrived();
  bool any = schedule_step(now, step);
  if (!any && !arrived_.empty()) {
    take_arrived();
    any = schedule_step(now, step);
  }
  passed_ = any && step.chunks.empty() ? passed_ + 1 : 0;
  if (any) return true;
  if (running_ == 0) ratio_ = first_ratio_;
  if (table_.in_flight() == 0 && running_ > 1) make_progress();
  return false;
}

void SglangScheduler::take_arrived() {
  waiting_.insert(waiting_.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
  passed_ = 0;
}

// Tries the batches of all stages in turns.
bool SglangScheduler::schedule_step(double now, ScheduledStep& step) {
  step.clear();
  for (size_t i = 0; i < batches_.size(); ++i) {
    const size_t number = (next_batch_ + i) % batches_.size();
    // Without a pipeline a step is scheduled while the previous one runs.
    if (batches_.size() > 1 && batches_[number].in_flight) continue;
    if (!schedule_batch(number, now, step)) continue;
    next_batch_ = (number + 1) % batches_.size();
    batches_[number].in_flight = true;
    launched_.push_back(number);
    table_.launch();
    peak_ = std::max(peak_, in_use());
    return true;
  }
  return false;
}

// A cut prompt, or the batches of several stages, can hold the whole cache while nothing can run. Then one
// sequence starts again later.
void SglangScheduler::make_progress() {
  int32_t loser = std::exchange(chunked_, -1);
  for (Batch& batch : batches_) {
    if (loser < 0 && !batch.decoding.empty()) {
      loser = batch.decoding.back();
      batch.decoding.pop_back();
    }
    batch.full = true;
  }
  if (loser < 0) return;
  waiting_.push_front(table_.at(loser).request);
  drop(loser);
}

std::optional<int64_t> SglangScheduler::reserve(int32_t request) {
  const Request& r = workload_->requests[static_cast<size_t>(request)];
  const auto others = running_ + static_cast<int64_t>(kept_.size());
  const int64_t needed = r.prompt + std::min<int64_t>(r.output, kReservedDecode);
  const bool room = others < most_in_batch_ * static_cast<int64_t>(batches_.size());
  if (!waiting_.empty() || !room || needed > free_tokens() - kReservedDecode * others) return std::nullopt;
  own_ += r.prompt;
  peak_ = std::max(peak_, in_use());
  kept_[request] = {RadixCache::kRoot, r.prompt};
  return r.prompt;
}

void SglangScheduler::release_kept(int32_t request) {
  const auto kept = kept_.find(request);
  if (kept == kept_.end()) return;
  own_ -= kept->second.own;
  radix_.unlock(kept->second.node);
  kept_.erase(kept);
  for (Batch& batch : batches_) batch.ended = true;
}

// Transferred requests join the running sequences of a batch.
void SglangScheduler::start_received(size_t number) {
  Batch& batch = batches_[number];
  while (!received_.empty() && batch.sequences < most_in_batch_) {
    const auto [request, end] = received_.front();
    received_.pop_front();
    kept_.erase(request);
    const int32_t sequence = table_.add(request);
    if (held_.size() < table_.size()) held_.resize(table_.size());
    held_[static_cast<size_t>(sequence)] = {0, RadixCache::kRoot, number};
    table_.start_received(sequence, end);
    ++batch.sequences;
    ++running_;
    batch.decoding.push_back(sequence);
  }
}

bool SglangScheduler::schedule_batch(size_t number, double now, ScheduledStep& step) {
  Batch& batch = batches_[number];
  start_received(number);
  batch.decoding.insert(batch.decoding.end(), batch.joining.begin(), batch.joining.end());
  batch.joining.clear();
  if (prefill(number, now, step)) {
    if (settings_.enable_mixed_chunk) decode(batch, step);
    return true;
  }
  const bool was_full = batch.full;
  if (decode(batch, step)) return true;
  // An empty batch takes requests again.
  return was_full && !batch.full && prefill(number, now, step);
}

// Gives a sequence tokens of the cache that are its own, and adds them to the step.
void SglangScheduler::take(int32_t sequence, int64_t tokens, ScheduledStep& step) {
  if (capacity_ > 0) radix_.evict(tokens - (capacity_ - radix_.tokens() - own_));
  const int32_t before = table_.at(sequence).computed;
  table_.compute(sequence, tokens, step);
  own_ += table_.at(sequence).computed - before;
}

// Takes a sequence out of the running ones. Its request computes its tokens again.
void SglangScheduler::drop(int32_t sequence) {
  const int64_t own = table_.at(sequence).computed - held_[static_cast<size_t>(sequence)].shared;
  preempted_.push_back(table_.at(sequence).request);
  table_.preempt(sequence);
  release(sequence, own);
}

// own: tokens of the sequence that are not in the radix cache.
void SglangScheduler::release(int32_t sequence, int64_t own) {
  const Held& held = held_[static_cast<size_t>(sequence)];
  own_ -= own;
  radix_.unlock(held.node);
  --batches_[held.batch].sequences;
  --running_;
  table_.remove(sequence);
}

int64_t SglangScheduler::reserved_answer(const Sequence& s) const {
  return std::min<int64_t>(table_.output(s) - s.sampled(), kMostReservedAnswer);
}

SglangScheduler::Budget SglangScheduler::prefill_budget(const Batch& batch) const {
  Budget out{0, settings_.max_prefill_tokens, chunk_size_, most_in_batch_ - batch.sequences};
  int64_t mixed = 0;
  for (const int32_t sequence : batch.decoding) {
    const Sequence& s = table_.at(sequence);
    if (s.drained()) continue;
    out.reserved += static_cast<double>(reserved_answer(s)) * ratio_;
    mixed += settings_.enable_mixed_chunk;
  }
  out.reserved += static_cast<double>(mixed);
  out.input -= mixed;
  out.chunk -= mixed;
  return out;
}

// Whether the batch has no room for a further request.
bool SglangScheduler::exhausted(Batch& batch, const Budget& budget) const {
  if (static_cast<double>(free_tokens()) - budget.reserved <= 0 || budget.requests <= 0) batch.full = true;
  return batch.full || budget.input <= 0 || budget.chunk <= 0;
}

bool SglangScheduler::prefill(size_t number, double now, ScheduledStep& step) {
  Batch& batch = batches_[number];
  if (chunked_ < 0 && (batch.full || waiting_.empty())) return false;
  Budget budget = prefill_budget(batch);
  if (chunked_ < 0 && budget.requests <= 0) {
    batch.full = true;
    return false;
  }
  if (chunked_ >= 0) continue_chunk(number, budget, step);
  sort_waiting();
  while (!waiting_.empty() && !exhausted(batch, budget) && start_first(number, now, budget, step)) {}
  return !step.chunks.empty();
}

// The next part of the cut prompt.
void SglangScheduler::continue_chunk(size_t number, Budget& budget, ScheduledStep& step) {
  const int32_t sequence = chunked_;
  const Sequence& s = table_.at(sequence);
  const int64_t tokens = std::min({int64_t{s.tokens} - s.computed, budget.chunk, free_tokens()});
  Held& held = held_[static_cast<size_t>(sequence)];
  if (tokens <= 0 || (held.batch != number && budget.requests <= 0)) return;
  budget.requests -= held.batch != number;
  --batches_[held.batch].sequences;
  ++batches_[number].sequences;
  held.batch = number;
  take(sequence, tokens, step);
  budget.input -= tokens;
  budget.chunk -= tokens;
  budget.reserved += 1;
  if (s.prefilling()) return;
  chunked_ = -1;
  budget.reserved += static_cast<double>(std::min<int64_t>(table_.output(s), kMostReservedAnswer));
  batches_[number].joining.push_back(sequence);
}

// Starts the first waiting request. False: it does not fit.
bool SglangScheduler::start_first(size_t number, double now, Budget& budget, ScheduledStep& step) {
  Batch& batch = batches_[number];
  const int32_t request = waiting_.front();
  const int32_t tokens = table_.tokens_to_compute(request);
  const Request& r = workload_->requests[static_cast<size_t>(request)];
  const RadixCache::Match match = radix_.match(request, tokens - 1);
  radix_.lock(match.device_node);
  const int64_t prompt = tokens - match.tokens, answer = r.output - (tokens - r.prompt);
  const int64_t needed = match.loaded() + prompt + std::min<int64_t>(answer, kMostReservedAnswer) + 1;
  const bool fits = static_cast<double>(needed) < static_cast<double>(free_tokens()) - budget.reserved;
  const bool too_long = chunk_size_ == kNoLimit && !step.chunks.empty() && prompt >= budget.input;
  if (!fits || too_long) {
    radix_.unlock(match.device_node);
    batch.full |= !fits;
    return false;
  }
  if (match.loaded() > 0) {
    radix_.load(match.node);
    radix_.lock(match.node);
    radix_.unlock(match.device_node);
  }
  waiting_.pop_front();
  const int32_t sequence = table_.add(request);
  if (held_.size() < table_.size()) held_.resize(table_.size());
  held_[static_cast<size_t>(sequence)] = {match.tokens, match.node, number};
  table_.start(sequence, match.tokens, now);
  double load = 0;
  for (size_t tier = 0; tier < kCacheTiers; ++tier)
    load += match.tier_tokens[tier] * tiers_.block_seconds[tier];
  table_.loaded(sequence, match.tier_tokens[0], match.tier_tokens[1], load);
  step.load_seconds += load;
  step.loads_overlap = true;
  ++batch.sequences;
  ++running_;
  const int64_t part = std::min(prompt, budget.chunk);
  take(sequence, part, step);
  budget.input -= part;
  budget.chunk -= part;
  budget.reserved += 1;
  --budget.requests;
  if (part < prompt) {
    chunked_ = sequence;
  } else {
    budget.reserved += static_cast<double>(std::min<int64_t>(r.output, kMostReservedAnswer));
    batch.joining.push_back(sequence);
  }
  return true;
}

bool SglangScheduler::decode(Batch& batch, ScheduledStep& step) {
  std::erase_if(batch.decoding, [&](int32_t sequence) { return table_.at(sequence).drained(); });
  if (std::exchange(batch.ended, false) || batch.sequences == 0) batch.full = false;
  if (batch.decoding.empty()) return false;
  if (decode_tokens(batch) > free_tokens()) {
    retract(batch);
    if (decode_tokens(batch) > free_tokens()) return false;
  } else {
    const double decay = first_ratio_ * (1 - kLeastRatioFactor) / kDecaySteps;
    ratio_ = std::max(ratio_ - decay, first_ratio_ * kLeastRatioFactor);
  }
  for (const int32_t sequence : batch.decoding)
    take(sequence, table_.speculation().step_tokens(table_.at(sequence).computed, kNoLimit), step);
  return true;
}

// Frees the cache of at least one sequence, until the next tokens of the others fit. One sequence stays.
void SglangScheduler::retract(Batch& batch) {
  std::vector<int32_t>& all = batch.decoding;
  while (all.size() > 1) {
    const auto key = [&](int32_t sequence) {
      const Sequence& s = table_.at(sequence);
      return std::pair(s.sampled(), -s.prompt);
    };
    auto victim = all.begin();
    for (auto i = all.begin(); i != all.end(); ++i)
      if (key(*i) <= key(*victim)) victim = i;
    const int32_t sequence = *victim;
    all.erase(victim);
    waiting_.push_back(table_.at(sequence).request);
    drop(sequence);
    batch.full = false;
    if (decode_tokens(batch) <= free_tokens()) break;
  }
  int64_t computed = 0, answers = 1;
  for (const int32_t sequence : all) {
    computed += table_.at(sequence).sampled() + kRetractSteps;
    answers += table_.output(table_.at(sequence));
  }
  ratio_ = std::min(1.0, static_cast<double>(computed) / static_cast<double>(answers));
}

void SglangScheduler::sort_waiting() {
  if (settings_.schedule_policy == SglangPolicy::Fcfs || !radix_.enabled() || waiting_.size() > kMostSorted)
    return;
  std::vector<std::pair<int32_t, int32_t>> order;  // sort key and request
  queued_.clear();
  for (const int32_t request : waiting_) {
    const int32_t tokens = table_.tokens_to_compute(request);
    int32_t key = -radix_.match(request, tokens - 1).tokens;
    if (-key <= kCheckedPrefix) {
      if (queued_.match(request, tokens).tokens >= kDeferredPrefix)
        key = 1;
      else
        queued_.insert(request, tokens);
    }
    order.emplace_back(key, request);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < order.size(); ++i) waiting_[i] = order[i].second;
}

void SglangScheduler::arrive(std::span<const int32_t> ending) {
  const size_t number = launched_.front();
  launched_.pop_front();
  Batch& batch = batches_[number];
  batch.in_flight = std::find(launched_.begin(), launched_.end(), number) != launched_.end();
  const auto cache = [&](int32_t sequence, int32_t tokens) {
    Held& held = held_[static_cast<size_t>(sequence)];
    const RadixCache::Match known = radix_.insert(table_.at(sequence).request, tokens);
    radix_.lock(known.node);
    radix_.unlock(held.node);
    held.node = known.node;
    own_ -= tokens - held.shared;
    held.shared = tokens;
  };
  for (const SequenceTable::Part& part : table_.arrive())
    if (part.prompt && radix_.enabled()) cache(part.sequence, part.computed);
  for (const int32_t request : ending) {
    const int32_t sequence = table_.of_request(request);
    const Sequence& s = table_.at(sequence);
    if (radix_.enabled()) cache(sequence, s.computed);
    std::erase(batch.decoding, sequence);
    std::erase(batch.joining, sequence);
    Held& held = held_[static_cast<size_t>(sequence)];
    int64_t own = s.computed - held.shared;
    if (role_ == EngineRole::Prefill)
      kept_[request] = {std::exchange(held.node, RadixCache::kRoot), std::exchange(own, 0)};
    release(sequence, own);
    batch.ended = true;
  }
}

}  // namespace shardscape
