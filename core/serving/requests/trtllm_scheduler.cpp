#include "serving/requests/trtllm_scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardscape {

TrtllmScheduler::TrtllmScheduler(const EngineSettings& settings, const Workload& workload,
                                 const BlockContents& contents, std::span<RequestRecord> records)
    : settings_(settings.trtllm),
      role_(settings.role),
      pipeline_(settings.pipeline_stages > 1),
      most_active_(static_cast<size_t>(settings_.max_batch_size * settings.pipeline_stages)),
      contents_(&contents),
      table_(settings, workload, records),
      // KvBlocks counts a block that is never used.
      blocks_(cache_blocks(settings) > 0 ? cache_blocks(settings) + 1 : 0, contents, settings.layout,
              settings.trtllm.tokens_per_block, settings.tiers),
      waiting_(SchedulingPolicy::Fcfs, workload, records) {}

int64_t TrtllmScheduler::free_blocks() const {
  return blocks_.endless() ? std::numeric_limits<int64_t>::max() / 2 : blocks_.usable() - blocks_.in_use();
}

int64_t TrtllmScheduler::missing_blocks(int32_t sequence, int64_t tokens) {
  return blocks_.missing(blocks(sequence), blocks_of(tokens));
}

int64_t TrtllmScheduler::step_tokens(const Sequence& s) const {
  return table_.speculation().step_tokens(s.computed, settings_.max_num_tokens);
}

int64_t TrtllmScheduler::cached_tokens(int32_t request) const {
  const int32_t tokens = table_.tokens_to_compute(request), block = settings_.tokens_per_block;
  return int64_t{blocks_.hits(request, (tokens - 1) / block).rows} * block;
}

std::optional<int64_t> TrtllmScheduler::reserve(int32_t request) {
  const Request& r = table_.request(request);
  const int64_t total = int64_t{r.prompt} + r.output + table_.speculation().draft_tokens();
  const bool whole = settings_.capacity_scheduler_policy != CapacityPolicy::MaxUtilization;
  int64_t left = free_blocks();
  for (const int32_t sequence : active_) {
    const Sequence& s = table_.at(sequence);
    if (s.prefilling()) return std::nullopt;
    if (whole) left -= missing_blocks(sequence, s.total + table_.speculation().draft_tokens());
  }
  for (const auto& [other, blocks] : kept_) {
    const Request& o = table_.request(other);
    if (whole)
      left -= blocks_of(int64_t{o.prompt} + o.output + table_.speculation().draft_tokens()) -
              static_cast<int64_t>(blocks.size());
  }
  if (!waiting_.empty() || active_.size() + kept_.size() >= most_active_ ||
      blocks_of(whole ? total : r.prompt) > left)
    return std::nullopt;
  blocks_.take(blocks_of(r.prompt), kept_[request]);
  return r.prompt;
}

void TrtllmScheduler::release_kept(int32_t request) {
  const auto kept = kept_.find(request);
  if (kept == kept_.end()) return;
  blocks_.release(kept->second, contents_->contents() > 0 ? contents_->private_from(request) : 0);
  kept_.erase(kept);
}

// Transferred requests generate from the next step on.
void TrtllmScheduler::activate_received() {
  for (const auto& [request, end] : received_) {
    const int32_t sequence = table_.add(request);
    if (tables_.size() < table_.size()) tables_.resize(table_.size());
    const auto kept = kept_.find(request);
    blocks(sequence) = std::move(kept->second);
    kept_.erase(kept);
    blocks_.publish(request, blocks(sequence), 0, table_.at(sequence).prompt / settings_.tokens_per_block);
    table_.start_received(sequence, end);
    active_.push_back(sequence);
    ++running_;
  }
  received_.clear();
}

void TrtllmScheduler::activate() {
  activate_received();
  while (!waiting_.empty() && active_.size() < most_active_) {
    active_.push_back(table_.add(waiting_.front()));
    waiting_.pop();
  }
  if (tables_.size() < table_.size()) tables_.resize(table_.size());
}

SelectedStep TrtllmScheduler::select() {
  activate();
  chosen_.clear();
  if (settings_.capacity_scheduler_policy == CapacityPolicy::MaxUtilization)
    choose_with_pauses();
  else
    choose_without_eviction();
  choose_step();
  selected_ = true;
  SelectedStep out{static_cast<int64_t>(contexts_.size()), static_cast<int64_t>(generating_.size()), 0};
  for (const Chunk& chunk : contexts_) out.tokens += table_.at(chunk.sequence).tokens;
  for (const int32_t sequence : generating_) out.tokens += step_tokens(table_.at(sequence));
  return out;
}

bool TrtllmScheduler::schedule(double now, ScheduledStep& step) {
  step.clear();
  if (!selected_) select();
  selected_ = false;
  for (const Chunk& chunk : contexts_) start_context(chunk, now, step);
  for (const int32_t sequence : generating_) {
    const Sequence& s = table_.at(sequence);
    const int64_t tokens = step_tokens(s);
    blocks_.take(missing_blocks(sequence, s.computed + tokens), blocks(sequence));
    table_.compute(sequence, tokens, step);
  }
  if (step.empty()) return false;
  table_.launch();
  return true;
}

// The first block of a context that is not cached; -1: none.
int32_t TrtllmScheduler::first_new_content(int32_t sequence) const {
  const Sequence& s = table_.at(sequence);
  const int32_t whole = (s.tokens - 1) / settings_.tokens_per_block;
  const int32_t hits = blocks_.hits(s.request, whole).rows;
  return hits == whole ? -1 : ContentWalk(contents_->segments(s.request), hits).next();
}

// The blocks that started contexts compute.
void TrtllmScheduler::collect_contexts() {
  new_contents_.clear();
  if (contents_->contents() == 0) return;
  for (const int32_t sequence : active_) {
    const Sequence& s = table_.at(sequence);
    if (!s.started || !s.prefilling()) continue;
    if (const int32_t content = first_new_content(sequence); content >= 0) new_contents_.insert(content);
  }
}

// Whether a context that has not started can soon use the block of another context.
bool TrtllmScheduler::waits_for_context(int32_t sequence) {
  const Sequence& s = table_.at(sequence);
  if (contents_->contents() == 0 || s.started || !s.prefilling()) return false;
  const int32_t content = first_new_content(sequence);
  return content >= 0 && !new_contents_.insert(content).second;
}

void TrtllmScheduler::choose_without_eviction() {
  const bool fixed = settings_.capacity_scheduler_policy == CapacityPolicy::StaticBatch;
  const int64_t drafted = table_.speculation().draft_tokens();
  int64_t left = free_blocks(), budget = settings_.max_num_tokens;
  size_t contexts = 0;
  for (const int32_t sequence : active_) {
    const Sequence& s = table_.at(sequence);
    contexts += s.prefilling();
    // Drained sequences still hold a static batch.
    if (s.prefilling() || (s.drained() && !fixed)) continue;
    chosen_.push_back(sequence);
    left -= missing_blocks(sequence, s.total + drafted);
    budget -= s.drained() ? 1 : step_tokens(s);
  }
  if (contexts == 0 || (fixed && !chosen_.empty())) return;
  if (!fixed) collect_contexts();
  const bool equal = settings_.context_chunking_policy == ChunkingPolicy::EqualProgress;
  // A context that was skipped can be older than one that has started. It must not hold up the blocks that
  // the other one has.
  for (const bool started : {true, false})
    for (const int32_t sequence : active_) {
      const Sequence& s = table_.at(sequence);
      if (!s.prefilling() || s.started != started) continue;
      // Later contexts get no part of this step.
      if (budget <= 0 && !equal) return;
      if (!fixed && waits_for_context(sequence)) continue;
      const int64_t blocks = missing_blocks(sequence, s.total + drafted);
      if (chosen_.size() >= most_active_ || blocks > left) return;
      chosen_.push_back(sequence);
      left -= blocks;
      budget -= s.tokens - s.computed;
    }
}

void TrtllmScheduler::choose_with_pauses() {
  collect_contexts();
  int64_t promised = 0;
  size_t end = active_.size();
  for (size_t i = 0; i < end;) {
    const int32_t sequence = active_[i];
    const Sequence& s = table_.at(sequence);
    if (s.drained() || waits_for_context(sequence)) {
      ++i;
      continue;
    }
    const int64_t blocks = missing_blocks(sequence, s.prefilling() ? s.tokens : s.computed + step_tokens(s));
    if (promised + blocks <= free_blocks()) {
      chosen_.push_back(sequence);
      promised += blocks;
      ++i;
    } else if (!pause_last(i, end)) {
      return;
    }
  }
}

// Pauses the last started request from `first` on. The requests from there on are not considered any more.
bool TrtllmScheduler::pause_last(size_t first, size_t& end) {
  for (size_t i = end; i-- > first;) {
    const int32_t sequence = active_[i];
    if (!table_.at(sequence).started || table_.at(sequence).drained()) continue;
    preempted_.push_back(table_.at(sequence).request);
    table_.preempt(sequence);
    release(sequence, std::numeric_limits<int32_t>::max());
    end = i;
    return true;
  }
  return false;
}

// The micro-batch of the chosen requests.
void TrtllmScheduler::choose_step() {
  contexts_.clear();
  generating_.clear();
  int64_t tokens = 0, context_tokens = 0, sequences = 0;
  for (const int32_t sequence : chosen_) {
    const Sequence& s = table_.at(sequence);
    // A pipeline does not schedule a sequence whose token is in flight.
    if (s.drained() || (pipeline_ && !s.prefilling() && s.in_flight > 0)) continue;
    if (!s.prefilling()) {
      if (tokens + step_tokens(s) > settings_.max_num_tokens) break;
      generating_.push_back(sequence);
      tokens += step_tokens(s);
    } else {
      const int64_t whole = s.tokens - s.computed;
      if (!settings_.enable_chunked_context) {
        if (tokens + whole > settings_.max_num_tokens) break;
        tokens += whole;
      }
      contexts_.push_back({sequence, whole});
      context_tokens += whole;
    }
    if (++sequences >= settings_.max_batch_size) break;
  }
  if (settings_.enable_chunked_context && context_tokens > settings_.max_num_tokens - tokens)
    cut_contexts(settings_.max_num_tokens - tokens);
}

void TrtllmScheduler::cut_contexts(int64_t budget) {
  const int64_t unit = settings_.tokens_per_block;
  switch (settings_.context_chunking_policy) {
    case ChunkingPolicy::FirstComeFirstServed:
      for (Chunk& chunk : contexts_) {
        if (chunk.tokens > budget) chunk.tokens = budget / unit * unit;
        budget -= chunk.tokens;
      }
      break;
    case ChunkingPolicy::EqualProgress: {
      for (Chunk& chunk : contexts_) chunk.tokens = 0;
      bool progress = true;
      while (budget > 0 && progress) {
        progress = false;
        for (Chunk& chunk : contexts_) {
          const Sequence& s = table_.at(chunk.sequence);
          const int64_t part = std::min(unit, int64_t{s.tokens} - s.computed - chunk.tokens);
          if (part == 0 || part > budget) continue;
          chunk.tokens += part;
          budget -= part;
          progress = true;
        }
      }
      break;
    }
  }
  std::erase_if(contexts_, [](const Chunk& chunk) { return chunk.tokens == 0; });
}

void TrtllmScheduler::start_context(const Chunk& chunk, double now, ScheduledStep& step) {
  const int32_t sequence = chunk.sequence;
  const Sequence& s = table_.at(sequence);
  int64_t tokens = chunk.tokens;
  if (!s.started) {
    const int32_t block = settings_.tokens_per_block;
    const KvBlocks::Hits cached = blocks_.hits(s.request, (s.tokens - 1) / block);
    const int32_t hits = cached.rows;
    blocks_.take_hits(s.request, hits, blocks(sequence));
    const double load = blocks_.load_seconds(cached);
    step.load_seconds += load;
    blocks_.take(missing_blocks(sequence, s.tokens), blocks(sequence));
    table_.start(sequence, hits * block, now);
    table_.loaded(sequence, cached.tier_rows[0] * block, cached.tier_rows[1] * block, load);
    ++running_;
    // The chunk follows the cached blocks, and ends with a block if it does not end the prompt.
    const int64_t end = s.computed + tokens;
    tokens = (end < s.tokens ? end / block * block : s.tokens) - s.computed;
  }
  table_.compute(sequence, tokens, step);
}

void TrtllmScheduler::arrive(std::span<const int32_t> ending) {
  const int32_t block = settings_.tokens_per_block;
  for (const SequenceTable::Part& part : table_.arrive()) {
    const Sequence& s = table_.at(part.sequence);
    if (part.prompt && part.computed == s.tokens)
      blocks_.publish(s.request, blocks(part.sequence), 0, s.tokens / block);
  }
  for (const int32_t request : ending) {
    const int32_t sequence = table_.of_request(request);
    const Sequence& s = table_.at(sequence);
    blocks_.publish(request, blocks(sequence), s.tokens / block, s.computed / block);
    if (role_ == EngineRole::Prefill) kept_[request] = std::exchange(blocks(sequence), {});
    release(sequence, contents_->contents() > 0 ? contents_->private_from(request) : 0);
    active_.erase(std::find(active_.begin(), active_.end(), sequence));
    table_.remove(sequence);
  }
}

void TrtllmScheduler::release(int32_t sequence, int32_t private_from) {
  blocks_.release(blocks(sequence), private_from);
  --running_;
}

}  // namespace shardscape
