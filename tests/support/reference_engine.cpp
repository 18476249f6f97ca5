#include "support/reference_engine.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace shardscape::test {
namespace {

struct Sequence {
  int64_t prompt = 0, most = 0;                        // most: output tokens
  int64_t tokens = 0;                                  // prompt and visible output
  int64_t computed = 0, placeholders = 0, cached = 0;  // cached: full blocks that others find
  bool running = false, done = false;
  std::vector<int> blocks;
  std::vector<double> times;  // of output tokens
};

struct Block {
  int users = 0;
  std::optional<uint64_t> key;
};

class Reference {
 public:
  Reference(const Workload& workload, const EngineSettings& settings, StepClock& clock)
      : workload_(workload), settings_(settings), clock_(clock), sequences_(workload.requests.size()) {
    run_.requests.resize(workload.requests.size());
    blocks_.resize(static_cast<size_t>(settings.num_gpu_blocks));
    for (int b = 1; b < settings.num_gpu_blocks; ++b) free_.push_back(b);
    for (size_t i = 0; i < sequences_.size(); ++i) {
      const Request& r = workload.requests[i];
      sequences_[i].prompt = sequences_[i].tokens = r.prompt;
      sequences_[i].most = r.output;
      if (r.parent < 0) arrivals_.insert({r.arrival, static_cast<int>(i)});
    }
  }

  ReferenceRun run() {
    double now = 0;
    while (!arrivals_.empty() || !flights_.empty() || !waiting_.empty() || !running_.empty()) {
      if (flights_.empty() && waiting_.empty() && running_.empty())
        now = std::max(now, arrivals_.begin()->first);
      take_arrivals(now);
      const size_t most = settings_.async_scheduling ? 2 : 1;
      while (flights_.size() < most && schedule(now)) {}
      if (flights_.empty()) continue;
      now = flights_.front().end;
      deliver(now);
    }
    for (const Sequence& s : sequences_)
      for (size_t i = 1; i < s.times.size(); ++i) run_.gaps.push_back(s.times[i] - s.times[i - 1]);
    std::sort(run_.gaps.begin(), run_.gaps.end());
    return std::move(run_);
  }

 private:
  struct Flight {
    double end = 0;
    std::vector<int> sampling;
  };
  Sequence& at(int i) { return sequences_[static_cast<size_t>(i)]; }
  const Request& request(int i) const { return workload_.requests[static_cast<size_t>(i)]; }
  RequestRecord& record(int i) { return run_.requests[static_cast<size_t>(i)]; }

  void take_arrivals(double now) {
    while (!arrivals_.empty() && arrivals_.begin()->first <= now) {
      const int i = arrivals_.begin()->second;
      record(i).arrival = arrivals_.begin()->first;
      arrivals_.erase(arrivals_.begin());
      waiting_.push_back(i);
    }
    sort_waiting();
  }
  std::tuple<int, double, int> urgency(int i) { return {request(i).priority, record(i).arrival, i}; }
  void sort_waiting() {
    if (settings_.policy == SchedulingPolicy::Priority)
      std::sort(waiting_.begin(), waiting_.end(), [&](int a, int b) { return urgency(a) < urgency(b); });
  }

  // An identity of the token at a place of a sequence.
  uint64_t token(int i, int64_t place) const {
    const Request& r = request(i);
    const int64_t part = place / workload_.tokens_per_hash;
    if (part < r.hashes && place < r.prompt)
      return (workload_.hashes_of(r)[static_cast<size_t>(part)] << 20) + uint64_t(place);
    if (r.hashes == 0 && r.parent >= 0 && place < r.prompt &&
        place < int64_t{request(r.parent).prompt} + request(r.parent).output)
      return token(r.parent, place);
    return (uint64_t{1} << 63) + (uint64_t(i) << 32) + uint64_t(place);
  }
  // The key of a block, chained over all tokens before its end.
  uint64_t key(int i, int64_t block) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t p = 0; p < (block + 1) * settings_.block_size; ++p)
      hash = (hash ^ token(i, p)) * 0x100000001b3u + (hash >> 29);
    return hash;
  }

  std::vector<int> cached_blocks(int i) {
    std::vector<int> out;
    if (!settings_.enable_prefix_caching) return out;
    for (int64_t k = 0; k < (at(i).tokens - 1) / settings_.block_size; ++k) {
      const auto found = cache_.find(key(i, k));
      if (found == cache_.end()) break;
      out.push_back(found->second.front());
    }
    return out;
  }

  // allocate_slots(): false if the free blocks do not suffice.
  bool allocate(int i, int64_t tokens, const std::vector<int>& hits, bool whole, int64_t spare) {
    Sequence& s = at(i);
    const int64_t computed = s.computed + int64_t(hits.size()) * settings_.block_size;
    const auto count = [&](int64_t n) { return (n + settings_.block_size - 1) / settings_.block_size; };
    const auto lying = std::count_if(hits.begin(), hits.end(),
                                     [&](int b) { return blocks_[static_cast<size_t>(b)].users == 0; });
    const int64_t have = int64_t(s.blocks.size() + hits.size());
    const auto missing = [&](int64_t n) { return std::max<int64_t>(0, count(n) - have) + lying; };
    if (whole && missing(s.tokens) + spare > int64_t(free_.size())) return false;
    if (missing(computed + tokens) + spare > int64_t(free_.size())) return false;
    for (const int b : hits) {
      if (blocks_[static_cast<size_t>(b)].users++ == 0) free_.remove(b);
      s.blocks.push_back(b);
    }
    s.computed = computed;
    s.cached = std::max(s.cached, int64_t(hits.size()));
    while (int64_t(s.blocks.size()) < count(computed + tokens)) {
      const int b = free_.front();
      free_.pop_front();
      Block& block = blocks_[static_cast<size_t>(b)];
      if (block.key) {
        auto& same = cache_[*block.key];
        same.remove(b);
        if (same.empty()) cache_.erase(*block.key);
      }
      block = {1, std::nullopt};
      s.blocks.push_back(b);
    }
    cache(i, std::min(computed + tokens, s.tokens));
    return true;
  }
  void cache(int i, int64_t tokens) {
    if (!settings_.enable_prefix_caching) return;
    Sequence& s = at(i);
    for (; s.cached < tokens / settings_.block_size; ++s.cached) {
      const int b = s.blocks[static_cast<size_t>(s.cached)];
      const uint64_t name = key(i, s.cached);
      blocks_[static_cast<size_t>(b)].key = name;
      cache_[name].push_back(b);
    }
  }
  void release(int i) {
    for (auto b = at(i).blocks.rbegin(); b != at(i).blocks.rend(); ++b)
      if (--blocks_[static_cast<size_t>(*b)].users == 0) free_.push_back(*b);
    at(i).blocks.clear();
    at(i).cached = 0;
    running_.erase(std::find(running_.begin(), running_.end(), i));
    at(i).running = false;
  }
  void preempt(int i) {
    release(i);
    at(i).computed = 0;
    ++record(i).preemptions;
    waiting_.push_front(i);
    sort_waiting();
  }

  bool schedule(double now) {
    int64_t budget = settings_.max_num_batched_tokens;
    std::vector<std::pair<int, int64_t>> parts;
    bool preempted = false;
    for (size_t k = 0; k < running_.size() && budget > 0; ++k) {
      const int i = running_[k];
      const Sequence& s = at(i);
      if (s.placeholders > 0 && s.computed + 2 - s.placeholders >= s.prompt + s.most) continue;
      const int64_t tokens = limited(s.tokens + s.placeholders - s.computed, budget);
      if (tokens == 0) continue;
      bool self = false;
      while (!allocate(i, tokens, {}, false, 0)) {
        const int loser = settings_.policy == SchedulingPolicy::Fcfs
                              ? running_.back()
                              : *std::max_element(running_.begin(), running_.end(),
                                                  [&](int a, int b) { return urgency(a) < urgency(b); });
        const auto at_part = std::find_if(parts.begin(), parts.end(),
                                          [&](auto& p) { return p.first == loser; });
        if (at_part != parts.end()) {
          budget += at_part->second;
          parts.erase(at_part);
        }
        k -= std::find(running_.begin(), running_.end(), loser) - running_.begin() < int64_t(k);
        preempt(loser);
        preempted = true;
        self = loser == i;
        if (self) break;
      }
      if (self) break;
      parts.push_back({i, tokens});
      budget -= tokens;
    }
    while (!preempted && !waiting_.empty() && budget > 0 &&
           int64_t(running_.size()) < settings_.max_num_seqs) {
      const int i = waiting_.front();
      Sequence& s = at(i);
      const std::vector<int> hits = cached_blocks(i);
      const int64_t found = int64_t(hits.size()) * settings_.block_size;
      int64_t tokens = s.tokens - found;
      if (settings_.long_prefill_token_threshold > 0)
        tokens = std::min(tokens, settings_.long_prefill_token_threshold);
      if (!settings_.enable_chunked_prefill && tokens > budget) break;
      tokens = std::min(tokens, budget);
      const auto spare = running_.empty() ? 0
                                          : int64_t(settings_.watermark * double(settings_.num_gpu_blocks));
      if (!allocate(i, tokens, hits, settings_.scheduler_reserve_full_isl, spare)) break;
      waiting_.pop_front();
      running_.push_back(i);
      s.running = true;
      if (record(i).preemptions == 0) {
        record(i).scheduled = now;
        record(i).cached = int32_t(found);
      }
      parts.push_back({i, tokens});
      budget -= tokens;
    }
    return !parts.empty() && (start(now, parts), true);
  }
  int64_t limited(int64_t tokens, int64_t budget) const {
    if (settings_.long_prefill_token_threshold > 0)
      tokens = std::min(tokens, settings_.long_prefill_token_threshold);
    return std::min(tokens, budget);
  }

  void start(double now, const std::vector<std::pair<int, int64_t>>& parts) {
    Flight flight;
    std::vector<PrefillChunk> chunks;
    StepBatch batch;
    StepRecord step;
    for (const auto& [i, tokens] : parts) {
      Sequence& s = at(i);
      // A decode sequence computes the one token that it sampled last in this life.
      const bool decode = s.computed >= s.prompt && tokens == 1 && decoding_.contains(i);
      if (decode) {
        ++batch.decode_sequences;
        batch.decode_context += s.computed + 1;
      } else {
        chunks.push_back({tokens, s.computed});
        step.prefill_tokens += int32_t(tokens);
      }
      s.computed += tokens;
      if (s.computed != s.tokens + s.placeholders) continue;
      ++s.placeholders;
      decoding_.insert(i);
      flight.sampling.push_back(i);
    }
    batch.chunks = chunks;
    batch.sampled = int64_t(flight.sampling.size());
    step.begin = std::max(now, last_end_);
    step.seconds = clock_.seconds(batch);
    step.decode_sequences = int32_t(batch.decode_sequences);
    step.blocks = int32_t(settings_.num_gpu_blocks - 1 - int64_t(free_.size()));
    last_end_ = flight.end = step.begin + step.seconds;
    run_.steps.push_back(step);
    flights_.push_back(std::move(flight));
  }

  void deliver(double now) {
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    for (const int i : flight.sampling) {
      Sequence& s = at(i);
      ++s.tokens;
      --s.placeholders;
      s.times.push_back(now);
      if (s.running) cache(i, s.computed - s.placeholders);
      if (int64_t(s.times.size()) < s.most) continue;
      record(i).first_token = s.times.front();
      record(i).last_token = now;
      record(i).end = RequestEnd::Finished;
      if (s.running)
        release(i);
      else
        waiting_.erase(std::find(waiting_.begin(), waiting_.end(), i));
      for (size_t k = 0; k < workload_.requests.size(); ++k)
        if (workload_.requests[k].parent == i)
          arrivals_.insert({now + workload_.requests[k].arrival, int(k)});
    }
    for (auto i = decoding_.begin(); i != decoding_.end();)
      i = at(*i).running ? std::next(i) : decoding_.erase(i);
  }

  const Workload& workload_;
  const EngineSettings& settings_;
  StepClock& clock_;
  std::vector<Sequence> sequences_;
  std::vector<Block> blocks_;
  std::list<int> free_;
  std::map<uint64_t, std::list<int>> cache_;
  std::deque<int> waiting_;
  std::vector<int> running_;
  std::set<int> decoding_;  // sequences that sampled since their last start
  std::multiset<std::pair<double, int>> arrivals_;
  std::deque<Flight> flights_;
  double last_end_ = 0;
  ReferenceRun run_;
};

}  // namespace

ReferenceRun reference_run(const Workload& workload, const EngineSettings& settings, StepClock& clock) {
  return Reference(workload, settings, clock).run();
}

}  // namespace shardscape::test
