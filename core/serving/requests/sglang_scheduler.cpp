#include "serving/requests/sglang_scheduler.h"

#include <algorithm>
#include <limits>
#include <tuple>
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
// FLA_CHUNK_SIZE, of which mamba_cache_chunk_size is a multiple, and mamba_track_interval
constexpr int64_t kStateChunk = 64, kStateInterval = 256;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

}  // namespace

SglangScheduler::SglangScheduler(const EngineSettings& settings, const Workload& workload,
                                 const BlockContents& contents, std::span<RequestRecord> records)
    : settings_(settings.sglang),
      role_(settings.role),
      workload_(&workload),
      table_(settings, workload, records),
      radix_(contents, settings.tiers, settings.sglang.max_mamba_cache_size),
      queued_(contents),
      tiers_(settings.tiers),
      page_(settings.sglang.page_size),
      capacity_(settings.sglang.max_total_tokens / page_),
      has_states_(settings.sglang.max_mamba_cache_size > 0),
      buffered_(settings.sglang.mamba_radix_cache_strategy == StateStrategy::ExtraBuffer),
      first_ratio_(std::min(1.0, kFirstRatio * settings.sglang.schedule_conservativeness *
                                     (settings.attention_dp > 1 ? kAttentionDpFactor : 1))),
      ratio_(first_ratio_),
      most_in_batch_(std::max<int64_t>(1, settings_.max_running_requests / settings.pipeline_stages)),
      chunk_size_(settings_.chunked_prefill_size > 0
                      ? std::max<int64_t>(page_, settings_.chunked_prefill_size / settings.attention_dp)
                      : kNoLimit),
      sequence_room_(1 + draft_tokens(settings.speculation) + lookahead_tokens(settings.speculation)),
      batches_(static_cast<size_t>(settings.pipeline_stages)) {}

int64_t SglangScheduler::free_pages() const { return capacity_ == 0 ? kNoLimit : capacity_ - in_use(); }

bool SglangScheduler::decode_fits(const Batch& batch) const {
  if (capacity_ == 0) return true;
  if (page_ == 1) return static_cast<int64_t>(batch.decoding.size()) * sequence_room_ <= free_pages();
  int64_t needed = 0;
  for (const int32_t sequence : batch.decoding) needed += more_pages(table_.at(sequence), sequence_room_);
  return needed <= free_pages();
}

int64_t SglangScheduler::cached_tokens(int32_t request) const {
  const int32_t prompt = workload_->requests[static_cast<size_t>(request)].prompt;
  return radix_.cached(request, static_cast<int32_t>((prompt - 1) / page_)) * page_;
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
  const int64_t needed = page_tokens(r.prompt) + std::min<int64_t>(r.output, kReservedDecode);
  const bool room = others < most_in_batch_ * static_cast<int64_t>(batches_.size());
  if (!waiting_.empty() || !room || needed > free_tokens() - kReservedDecode * others) return std::nullopt;
  own_ += pages(r.prompt);
  peak_ = std::max(peak_, in_use());
  kept_[request] = {RadixCache::kRoot, pages(r.prompt)};
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
    held_[static_cast<size_t>(sequence)] = {0, RadixCache::kRoot, number, 0, 0};
    radix_.take_states();
    table_.start_received(sequence, end);
    ++batch.sequences;
    ++running_;
    batch.decoding.push_back(sequence);
  }
}

bool SglangScheduler::schedule_batch(size_t number, double now, ScheduledStep& step) {
  Batch& batch = batches_[number];
  start_received(number);
  // Prefill replicas have no decode steps (disaggregation/prefill.py, event_loop_overlap_disagg_prefill).
  if (role_ != EngineRole::Prefill) {
    batch.decoding.insert(batch.decoding.end(), batch.joining.begin(), batch.joining.end());
    batch.joining.clear();
  }
  if (prefill(number, now, step)) {
    if (settings_.enable_mixed_chunk) decode(batch, step);
    return true;
  }
  const bool was_full = batch.full;
  if (decode(batch, step)) return true;
  // An empty batch takes requests again.
  return was_full && !batch.full && prefill(number, now, step);
}

// Gives a sequence pages of the cache that are its own, and adds its tokens to the step.
void SglangScheduler::take(int32_t sequence, int64_t tokens, ScheduledStep& step) {
  const Sequence& s = table_.at(sequence);
  const int64_t more = more_pages(s, tokens), before = pages(s.computed);
  if (capacity_ > 0) radix_.evict(more - (capacity_ - radix_.pages() - own_));
  if (s.drained()) {
    step.decode_in_vain(s.computed, tokens);
    held_[static_cast<size_t>(sequence)].vain = more;
    own_ += more;
    return;
  }
  table_.compute(sequence, tokens, step);
  own_ += pages(s.computed) - before;
}

// Takes a sequence out of the running ones. Its request computes its tokens again.
void SglangScheduler::drop(int32_t sequence) {
  const int64_t own = own_pages(sequence);
  preempted_.push_back(table_.at(sequence).request);
  table_.preempt(sequence);
  release(sequence, own);
}

// Pages of the sequence that are not in the radix cache.
int64_t SglangScheduler::own_pages(int32_t sequence) const {
  const Held& held = held_[static_cast<size_t>(sequence)];
  return pages(table_.at(sequence).computed) - held.shared / page_ + held.vain;
}

void SglangScheduler::release(int32_t sequence, int64_t own) {
  const Held& held = held_[static_cast<size_t>(sequence)];
  own_ -= own;
  radix_.unlock(held.node);
  radix_.give_states();
  --batches_[held.batch].sequences;
  --running_;
  table_.remove(sequence);
}

// The rest of the answer, as far as the scheduler has seen it.
int64_t SglangScheduler::reserved_answer(const Sequence& s) const {
  return std::min<int64_t>(table_.output(s) - s.arrived(), kMostReservedAnswer);
}

SglangScheduler::Budget SglangScheduler::prefill_budget(const Batch& batch) const {
  Budget out{0, settings_.max_prefill_tokens, chunk_size_, most_in_batch_ - batch.sequences};
  int64_t mixed = 0;
  for (const int32_t sequence : batch.decoding) {
    out.reserved += static_cast<double>(reserved_answer(table_.at(sequence))) * ratio_;
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
  // One prompt is cut at a time. Where its part ends with a stored state, some budget may be left.
  while (chunked_ < 0 && !waiting_.empty() && !exhausted(batch, budget) &&
         start_first(number, now, budget, step)) {}
  return !step.chunks.empty();
}

void SglangScheduler::spend(int64_t tokens, Budget& budget) const {
  budget.input -= page_tokens(tokens);
  budget.chunk -= page_tokens(tokens);
  budget.reserved += static_cast<double>(page_);
}

// The next part of the cut prompt.
void SglangScheduler::continue_chunk(size_t number, Budget& budget, ScheduledStep& step) {
  const int32_t sequence = chunked_;
  const Sequence& s = table_.at(sequence);
  const int64_t left = int64_t{s.tokens} - s.computed;
  // What is not promised to others, unless that is nothing (PrefillBudget, available_chunk_tokens).
  const auto unpromised = static_cast<int64_t>(static_cast<double>(free_tokens()) - budget.reserved);
  int64_t tokens = std::min({left, budget.chunk, unpromised > 0 ? unpromised : free_tokens()});
  if (tokens < left && has_states_ && buffered_ && tokens >= kStateChunk) tokens -= tokens % kStateChunk;
  Held& held = held_[static_cast<size_t>(sequence)];
  if (tokens <= 0 || (held.batch != number && budget.requests <= 0)) return;
  budget.requests -= held.batch != number;
  --batches_[held.batch].sequences;
  ++batches_[number].sequences;
  held.batch = number;
  take(sequence, tokens, step);
  spend(tokens, budget);
  if (s.prefilling()) return;
  chunked_ = -1;
  budget.reserved += static_cast<double>(std::min<int64_t>(table_.output(s), kMostReservedAnswer));
  batches_[number].joining.push_back(sequence);
}

// Tokens of a prompt that its first batch computes, after those of the cached prefix.
int64_t SglangScheduler::first_part(int64_t prefix, int64_t prompt, const Budget& budget) const {
  if (page_tokens(prompt) <= budget.chunk) return prompt;
  return (prefix + budget.chunk / page_ * page_) / page_ * page_ - prefix;
}

// Starts the first waiting request. False: it does not fit.
bool SglangScheduler::start_first(size_t number, double now, Budget& budget, ScheduledStep& step) {
  Batch& batch = batches_[number];
  const int32_t request = waiting_.front();
  const int32_t tokens = table_.tokens_to_compute(request);
  const Request& r = workload_->requests[static_cast<size_t>(request)];
  const RadixCache::Match match = radix_.match(request, static_cast<int32_t>((tokens - 1) / page_));
  radix_.lock(match.device_node);
  const auto prefix = static_cast<int32_t>(match.pages * page_);
  const int64_t prompt = tokens - prefix, answer = r.output - (tokens - r.prompt);
  const int64_t needed = match.loaded() * page_ + prompt + std::min<int64_t>(answer, kMostReservedAnswer) +
                         page_;
  const bool fits = static_cast<double>(needed) < static_cast<double>(free_tokens()) - budget.reserved;
  const bool too_long = chunk_size_ == kNoLimit && !step.chunks.empty() &&
                        page_tokens(prompt) >= budget.input;
  const int64_t part = first_part(prefix, prompt, budget);
  if (!fits || too_long || part <= 0) {
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
  const int64_t branch = match.stored > match.pages ? match.stored * page_ / kStateChunk * kStateChunk : 0;
  held_[static_cast<size_t>(sequence)] = {prefix, match.node, number, static_cast<int32_t>(branch), 0};
  radix_.take_states();
  table_.start(sequence, prefix, now);
  double load = 0;
  for (size_t tier = 0; tier < kCacheTiers; ++tier)
    load += match.tier_pages[tier] * tiers_.block_seconds[tier];
  const auto tier_tokens = [&](size_t tier) { return static_cast<int32_t>(match.tier_pages[tier] * page_); };
  table_.loaded(sequence, tier_tokens(0), tier_tokens(1), load);
  step.load_seconds += load;
  step.loads_overlap = true;
  ++batch.sequences;
  ++running_;
  take(sequence, part, step);
  spend(part, budget);
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
  if (std::exchange(batch.ended, false) || batch.sequences == 0) batch.full = false;
  if (batch.decoding.empty()) return false;
  if (!decode_fits(batch)) {
    retract(batch);
    if (!decode_fits(batch)) return false;
  } else {
    const double decay = first_ratio_ * (1 - kLeastRatioFactor) / kDecaySteps;
    ratio_ = std::max(ratio_ - decay, first_ratio_ * kLeastRatioFactor);
  }
  for (const int32_t sequence : batch.decoding)
    take(sequence, table_.speculation().step_tokens(table_.at(sequence).computed, kNoLimit), step);
  return true;
}

// Frees the cache of at least one sequence, until the next tokens of the others fit. One sequence stays, and
// those whose last token is in flight.
void SglangScheduler::retract(Batch& batch) {
  std::vector<int32_t>& all = batch.decoding;
  const auto drained = std::count_if(all.begin(), all.end(),
                                     [&](int32_t sequence) { return table_.at(sequence).drained(); });
  for (auto left = static_cast<int64_t>(all.size()) - drained; left > 1; --left) {
    const auto key = [&](int32_t sequence) {
      const Sequence& s = table_.at(sequence);
      return std::tuple(s.drained(), s.arrived(), -s.prompt);
    };
    auto victim = all.begin();
    for (auto i = all.begin(); i != all.end(); ++i)
      if (key(*i) <= key(*victim)) victim = i;
    const int32_t sequence = *victim;
    all.erase(victim);
    waiting_.push_back(table_.at(sequence).request);
    drop(sequence);
    batch.full = false;
    if (decode_fits(batch)) break;
  }
  int64_t computed = 0, answers = 1;
  for (const int32_t sequence : all) {
    computed += table_.at(sequence).arrived() + kRetractSteps;
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
    const auto whole = static_cast<int32_t>(tokens / page_);
    int32_t key = -radix_.match(request, static_cast<int32_t>((tokens - 1) / page_)).pages;
    if (-key * page_ <= kCheckedPrefix) {
      if (queued_.match(request, whole).pages * page_ >= kDeferredPrefix)
        key = 1;
      else
        queued_.insert(request, whole);
    }
    order.emplace_back(key, request);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < order.size(); ++i) waiting_[i] = order[i].second;
}

// Adds the first tokens of a sequence to the radix cache, in whole pages.
void SglangScheduler::cache(int32_t sequence, int64_t tokens) {
  Held& held = held_[static_cast<size_t>(sequence)];
  const auto whole = static_cast<int32_t>(tokens / page_);
  if (whole < held.shared / page_) return;
  const RadixCache::Match known = radix_.insert(table_.at(sequence).request, whole);
  radix_.lock(known.node);
  radix_.unlock(held.node);
  held.node = known.node;
  own_ -= whole - held.shared / page_;
  held.shared = static_cast<int32_t>(whole * page_);
}

// Tokens up to which the cache stores a chunk that has ended.
int64_t SglangScheduler::stored_prompt(const SequenceTable::Part& part) const {
  if (!has_states_ || !buffered_) return part.computed;
  const int64_t last = part.before + (part.computed - part.before) / kStateChunk * kStateChunk;
  const int64_t branch = held_[static_cast<size_t>(part.sequence)].branch;
  const bool branches = branch > part.before && branch < last && (branch - part.before) % kStateChunk == 0;
  return branches ? branch : last;
}

// Tokens up to which the cache stores a sequence that has ended.
int64_t SglangScheduler::stored_answer(const Sequence& s) const {
  if (!has_states_ || !buffered_) return s.computed;
  const int64_t last = s.computed / kStateInterval * kStateInterval;
  return last > s.tokens ? last : 0;
}

void SglangScheduler::arrive(std::span<const int32_t> ending) {
  const size_t number = launched_.front();
  launched_.pop_front();
  Batch& batch = batches_[number];
  batch.in_flight = std::find(launched_.begin(), launched_.end(), number) != launched_.end();
  for (const SequenceTable::Part& part : table_.arrive())
    if (part.prompt && radix_.enabled()) cache(part.sequence, stored_prompt(part));
  for (const int32_t request : ending) {
    const int32_t sequence = table_.of_request(request);
    if (radix_.enabled()) cache(sequence, stored_answer(table_.at(sequence)));
    std::erase(batch.decoding, sequence);
    std::erase(batch.joining, sequence);
    Held& held = held_[static_cast<size_t>(sequence)];
    int64_t own = own_pages(sequence);
    if (role_ == EngineRole::Prefill) {
      kept_[request] = {std::exchange(held.node, RadixCache::kRoot), own - held.vain};
      own = held.vain;
    }
    release(sequence, own);
    batch.ended = true;
  }
}

}  // namespace shardscape
