#include "serving/requests/vllm_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shardscape {

VllmScheduler::VllmScheduler(const EngineSettings& settings, const Workload& workload,
                             const BlockContents& contents, std::span<RequestRecord> records)
    : settings_(settings),
      workload_(&workload),
      contents_(&contents),
      records_(records),
      speculation_(settings),
      lookahead_(lookahead_tokens(settings.speculation)),
      blocks_(settings.num_gpu_blocks, contents, settings.layout, settings.block_size, settings.tiers),
      waiting_(settings.policy, workload, records),
      watermark_blocks_(static_cast<int64_t>(
          std::floor(settings.watermark * static_cast<double>(settings.num_gpu_blocks)))),
      sequence_of_(workload.requests.size(), -1),
      sampled_(workload.requests.size(), 0),
      cohorts_(settings.pipeline_stages > 1 ? static_cast<size_t>(settings.pipeline_stages) + 1 : 1) {
  for (Cohort& cohort : cohorts_) cohort.buckets.resize(static_cast<size_t>(settings.block_size));
}

void VllmScheduler::add(int32_t request) { waiting_.add(request); }

bool VllmScheduler::schedule(double now, ScheduledStep& step) {
  step.clear();
  if (pipeline()) select_cohort();
  int64_t budget = settings_.max_num_batched_tokens;
  bool preempted = false;
  if (speculation_.on() || !schedule_fast(step, budget)) preempted = schedule_exact(step, budget);
  if (!preempted) start_waiting(now, step, budget);
  if (step.empty()) return false;
  // Requests that end together free their blocks in the order of their start.
  const auto order = [&](int32_t request) { return at(sequence_of_[static_cast<size_t>(request)]).order; };
  std::sort(step.ending.begin(), step.ending.end(),
            [&](int32_t a, int32_t b) { return order(a) < order(b); });
  in_flight_.push_back(here_);
  here().in_flight = true;
  return true;
}

void VllmScheduler::arrive(std::span<const int32_t> ending) {
  const size_t cohort = in_flight_.front();
  in_flight_.erase(in_flight_.begin());
  cohorts_[cohort].in_flight = std::find(in_flight_.begin(), in_flight_.end(), cohort) != in_flight_.end();
  for (const int32_t request : ending) finish(request);
}

int64_t VllmScheduler::cached_tokens(int32_t request) const {
  const int32_t prompt = workload_->requests[static_cast<size_t>(request)].prompt;
  return int64_t{hits(request, prompt).rows} * settings_.block_size;
}

// Cached blocks of a request that computes `tokens` tokens before its next new one.
KvBlocks::Hits VllmScheduler::hits(int32_t request, int64_t tokens) const {
  const KvBlocks::Hits out = blocks_.hits(request, static_cast<int32_t>((tokens - 1) / settings_.block_size));
  return lookahead_ > 0 && out.rows > 0 ? blocks_.hits(request, out.rows - 1) : out;
}

int64_t VllmScheduler::slots(const Sequence& s, int64_t tokens) const {
  return std::min(computed(s) + tokens + lookahead_, settings_.max_model_len);
}

// The next step belongs to the largest cohort that is not in flight. The others join it.
void VllmScheduler::select_cohort() {
  size_t largest = cohorts_.size();
  for (size_t i = 0; i < cohorts_.size(); ++i)
    if (!cohorts_[i].in_flight &&
        (largest == cohorts_.size() || cohorts_[i].decoding > cohorts_[largest].decoding))
      largest = i;
  here_ = largest;
  for (size_t i = 0; i < cohorts_.size(); ++i) {
    if (i == here_ || cohorts_[i].in_flight || cohorts_[i].decoding == 0) continue;
    for (std::vector<int32_t>& members : cohorts_[i].buckets)
      while (!members.empty()) postpone(members.back(), here_, 0);
    cohorts_[i].late.clear();
  }
}

// Moves a decode sequence that gets no token in this step to a cohort. ticks: of the cohort before its next
// step.
void VllmScheduler::postpone(int32_t sequence, size_t to, int64_t ticks) {
  Sequence& s = at(sequence);
  const int64_t done = computed(s);
  if (!s.late) records_[static_cast<size_t>(s.request)].last_token = cohort(s).last_end;
  leave_decode(sequence);
  s.late = true;
  s.cohort = static_cast<int32_t>(to);
  s.base = done - cohorts_[to].ticks - ticks;
  enter_decode(sequence);
  cohorts_[to].late.push_back(sequence);
}

int64_t VllmScheduler::chunk(int64_t tokens) const {
  const int64_t most = settings_.long_prefill_token_threshold;
  return most > 0 ? std::min(tokens, most) : tokens;
}

size_t VllmScheduler::bucket(const Sequence& s) const {
  const int64_t block = settings_.block_size, rest = -s.base % block;
  return static_cast<size_t>(rest < 0 ? rest + block : rest);
}

// Schedules all running sequences without a walk over them. False, and nothing changed, if the budget or the
// blocks could run out.
bool VllmScheduler::schedule_fast(ScheduledStep& step, int64_t& budget) {
  Cohort& c = here();
  int64_t wanted = c.decoding;
  for (const int32_t sequence : prefilling_) wanted += chunk(at(sequence).tokens - at(sequence).computed);
  const bool decode_first = prefilling_.empty() || c.newest < at(prefilling_.front()).order;
  if (wanted > budget && (!decode_first || c.decoding > budget)) return false;
  const std::vector<int32_t>& crossing = c.buckets[static_cast<size_t>(c.ticks % settings_.block_size)];
  int64_t blocks = 0, left = budget - c.decoding;
  for (const int32_t sequence : crossing) blocks += missing(sequence, computed(at(sequence)) + 1);
  for (const int32_t sequence : prefilling_) {
    const Sequence& s = at(sequence);
    const int64_t tokens = std::min(chunk(s.tokens - s.computed), left);
    blocks += missing(sequence, s.computed + tokens);
    left -= tokens;
  }
  if (!blocks_.has_free(blocks)) return false;
  for (const int32_t sequence : crossing) take_blocks(sequence, 1, computed(at(sequence)) + 1);
  step.decode_sequences = c.decoding;
  step.decode_context = c.decode_computed + c.decoding;
  step.continue_since(c.last_end, c.decoding - static_cast<int64_t>(c.late.size()));
  for (const int32_t sequence : c.late) {
    step.continue_since(records_[static_cast<size_t>(at(sequence).request)].last_token, 1);
    at(sequence).late = false;
  }
  c.late.clear();
  budget -= c.decoding;
  parts_.clear();
  for (const int32_t sequence : prefilling_) {
    const int64_t tokens = std::min(chunk(at(sequence).tokens - at(sequence).computed), budget);
    if (tokens == 0) break;
    take_blocks(sequence, tokens, at(sequence).computed + tokens);
    parts_.push_back({sequence, tokens});
    budget -= tokens;
  }
  tick(step);
  for (const Part& part : parts_) prefill(part.sequence, part.tokens, step);
  return true;
}

// Frees blocks for a running sequence. False if the sequence itself was preempted.
bool VllmScheduler::make_room(int32_t sequence, int64_t blocks, int64_t& budget) {
  while (!blocks_.has_free(blocks)) {
    const int32_t loser = victim();
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& p) { return p.sequence == loser; });
    if (part != parts_.end()) {
      budget += part->tokens;
      parts_.erase(part);
    }
    preempt(loser);
    if (loser == sequence) return false;
  }
  return true;
}

bool VllmScheduler::schedule_exact(ScheduledStep& step, int64_t& budget) {
  bool preempted = false;
  ++walks_;
  parts_.clear();
  for (int32_t sequence = first_; sequence >= 0 && budget > 0; sequence = at(sequence).after) {
    const Sequence& s = at(sequence);
    if (s.state == State::Drained || (s.state == State::Decode && cohort(s).in_flight && pipeline()))
      continue;
    const int64_t tokens = s.state == State::Decode ? speculation_.step_tokens(computed(s), budget)
                                                    : std::min(chunk(s.tokens - s.computed), budget);
    const int64_t needed = slots(s, tokens), blocks = missing(sequence, needed);
    if (!blocks_.has_free(blocks)) {
      preempted = true;
      if (!make_room(sequence, blocks, budget)) break;
    }
    take_blocks(sequence, tokens, needed);
    parts_.push_back({sequence, tokens});
    budget -= tokens;
  }
  for (const Part& part : parts_) {
    Sequence& s = at(part.sequence);
    s.scheduled_in = walks_;
    if (s.state != State::Decode) continue;
    const int64_t done = computed(s);
    skip_ahead(part.sequence,
               step.decode(speculation_, s.request, done, part.tokens, s.total - 1 - done) - 1);
    const double since = s.late ? records_[static_cast<size_t>(s.request)].last_token : cohort(s).last_end;
    step.continue_since(since, 1);
    s.late = false;
  }
  skip_unscheduled();
  tick(step);
  for (const Part& part : parts_)
    if (at(part.sequence).state == State::Prefill) prefill(part.sequence, part.tokens, step);
  return preempted;
}

// Decode sequences without a token in this step fall back by one tick. In a pipeline they leave the cohort
// for one that is not in flight: the next step can schedule them.
void VllmScheduler::skip_unscheduled() {
  here().late.clear();
  size_t other = 0;
  while (pipeline() && (other == here_ || cohorts_[other].in_flight)) ++other;
  for (int32_t sequence = first_; sequence >= 0; sequence = at(sequence).after) {
    const Sequence& s = at(sequence);
    if (s.state != State::Decode || static_cast<size_t>(s.cohort) != here_ || s.scheduled_in == walks_)
      continue;
    // Without a pipeline computed() is one token less until the tick.
    if (pipeline())
      postpone(sequence, other, 0);
    else
      postpone(sequence, here_, 1);
  }
}

// A decode sequence gets so many tokens more than the others of its cohort.
void VllmScheduler::skip_ahead(int32_t sequence, int64_t tokens) {
  if (tokens == 0) return;
  leave_decode(sequence);
  at(sequence).base += tokens;
  enter_decode(sequence);
}

// All decode sequences get one more computed token.
void VllmScheduler::tick(ScheduledStep& step) {
  Cohort& c = here();
  ++c.ticks;
  c.decode_computed += c.decoding;
  while (!c.ends.empty() && c.ends.front().tick <= c.ticks) {
    const End end = c.ends.front();
    std::pop_heap(c.ends.begin(), c.ends.end());
    c.ends.pop_back();
    Sequence& s = at(end.sequence);
    if (s.order != end.order || static_cast<size_t>(s.cohort) != here_ || s.state != State::Decode ||
        s.total - 1 - s.base != end.tick)
      continue;
    leave_decode(end.sequence);
    s.state = State::Drained;
    s.computed = s.total - 1;
    step.ending.push_back(s.request);
  }
}

// Blocks that a sequence takes to have so many token slots. Frees those that its windows no longer read.
int64_t VllmScheduler::missing(int32_t sequence, int64_t slots) {
  blocks_.skip(computed(at(sequence)), table(sequence));
  return blocks_.missing(table(sequence), blocks_of(slots));
}

void VllmScheduler::take_blocks(int32_t sequence, int64_t tokens, int64_t slots) {
  Sequence& s = at(sequence);
  KvBlocks::Table& blocks = table(sequence);
  const int64_t before = computed(s), size = settings_.block_size;
  blocks_.skip(before, blocks);
  blocks_.take(blocks_of(slots) - blocks.size(), blocks);
  if (s.state == State::Prefill) {
    ++changes_;
    blocks_.publish(s.request, blocks, static_cast<int32_t>(before / size),
                    static_cast<int32_t>((before + tokens) / size));
  } else {
    publish_answer(sequence, before);
  }
}

// Publishes the blocks that the last tokens of an answer have filled. done: computed tokens.
void VllmScheduler::publish_answer(int32_t sequence, int64_t done) {
  const Sequence& s = at(sequence);
  const int64_t size = settings_.block_size, most = 1 + speculation_.draft_tokens();
  if (done <= s.tokens) return;
  blocks_.publish(s.request, table(sequence), static_cast<int32_t>(std::max<int64_t>(0, done - most) / size),
                  static_cast<int32_t>(done / size));
}

// Accounts for prompt tokens whose blocks are taken. The sequence may get its next token in this step.
void VllmScheduler::prefill(int32_t sequence, int64_t tokens, ScheduledStep& step) {
  Sequence& s = at(sequence);
  step.chunks.push_back({tokens, s.computed, s.request});
  step.prefill_tokens += tokens;
  s.computed += static_cast<int32_t>(tokens);
  if (s.tokens == s.prompt) ++records_[static_cast<size_t>(s.request)].chunks;
  if (s.computed < s.tokens) return;
  prefilling_.erase(std::find(prefilling_.begin(), prefilling_.end(), sequence));
  begin_answer(sequence, step);
}

// The step yields the first token after the computed ones.
void VllmScheduler::begin_answer(int32_t sequence, ScheduledStep& step) {
  Sequence& s = at(sequence);
  s.cohort = static_cast<int32_t>(here_);
  if (s.tokens == s.prompt)
    step.first.push_back(s.request);
  else
    step.continue_since(records_[static_cast<size_t>(s.request)].last_token, 1);
  if (s.tokens + 1 == s.total) {
    s.state = State::Drained;
    step.ending.push_back(s.request);
    return;
  }
  s.base = s.computed - here().ticks;
  s.state = State::Decode;
  enter_decode(sequence);
}

void VllmScheduler::enter_decode(int32_t sequence) {
  Sequence& s = at(sequence);
  Cohort& c = cohort(s);
  std::vector<int32_t>& members = c.buckets[bucket(s)];
  s.place = static_cast<int32_t>(members.size());
  members.push_back(sequence);
  ++c.decoding;
  c.decode_computed += s.base + c.ticks;
  c.newest = std::max(c.newest, s.order);
  c.ends.push_back({s.total - 1 - s.base, s.order, sequence});
  std::push_heap(c.ends.begin(), c.ends.end());
}

void VllmScheduler::leave_decode(int32_t sequence) {
  Sequence& s = at(sequence);
  Cohort& c = cohort(s);
  std::vector<int32_t>& members = c.buckets[bucket(s)];
  members[static_cast<size_t>(s.place)] = members.back();
  at(members.back()).place = s.place;
  members.pop_back();
  --c.decoding;
  c.decode_computed -= s.base + c.ticks;
}

void VllmScheduler::start_waiting(double now, ScheduledStep& step, int64_t budget) {
  start_received(step, budget);
  budget = start_loaded(now, step, budget);
  while (budget > 0 && !waiting_.empty() && running_ < settings_.max_num_seqs) {
    const int32_t request = waiting_.front();
    const bool unchanged = request == refused_ && changes_ == refused_version_;
    if (unchanged && (settings_.scheduler_reserve_full_isl || budget >= refused_budget_)) return;
    const auto i = static_cast<size_t>(request);
    const int64_t tokens = int64_t{workload_->requests[i].prompt} + sampled_[i];
    const KvBlocks::Hits cached = hits(request, tokens);
    const int64_t found = int64_t{cached.rows} * settings_.block_size;
    int64_t part = chunk(tokens - found);
    if (!settings_.enable_chunked_prefill && part > budget) return;
    part = std::min(part, budget);
    const bool whole = settings_.scheduler_reserve_full_isl;
    const int64_t reserved = blocks_.needed(cached, blocks_of(whole ? tokens : found + part), whole,
                                            settings_.max_num_batched_tokens + lookahead_);
    if (!blocks_.has_free(reserved + (running_ > 0 ? watermark_blocks_ : 0))) {
      refused_ = request;
      refused_version_ = changes_;
      refused_budget_ = budget;
      return;
    }
    waiting_.pop();
    const int32_t sequence = create(request, cached);
    if (blocks_.load_seconds(cached) > 0) {
      load(sequence, now, cached);
      continue;
    }
    start(sequence, now, part, step);
    budget -= part;
  }
}

std::optional<int64_t> VllmScheduler::reserve(int32_t request) {
  if (!waiting_.empty() || running_ >= settings_.max_num_seqs) return std::nullopt;
  const int64_t tokens = workload_->requests[static_cast<size_t>(request)].prompt;
  const KvBlocks::Hits cached = hits(request, tokens);
  const int64_t rows = blocks_of(tokens), needed = blocks_.needed(cached, rows, true, tokens);
  const bool alone = running_ == 0 && kept_.empty();
  if (!blocks_.has_free(needed + (alone ? 0 : watermark_blocks_))) return std::nullopt;
  KvBlocks::Table& blocks = kept_[request];
  blocks_.take_hits(request, cached.rows, blocks);
  blocks_.take(rows - cached.rows, blocks);
  return tokens - int64_t{cached.rows} * settings_.block_size;
}

void VllmScheduler::release_kept(int32_t request) {
  const auto kept = kept_.find(request);
  if (kept == kept_.end()) return;  // preempted while its last token was in flight
  blocks_.release(kept->second, contents_->contents() > 0 ? contents_->private_from(request) : 0);
  kept_.erase(kept);
  ++changes_;
}

AnswerProgress VllmScheduler::progress(int32_t request) const {
  const auto i = static_cast<size_t>(request);
  const int32_t number = sequence_of_[i];
  if (number < 0) return {sampled_[i], records_[i].last_token};
  const Sequence& s = sequences_[static_cast<size_t>(number)];
  if (s.state == State::Prefill) return {s.tokens - s.prompt, records_[i].last_token};
  return {static_cast<int32_t>(computed(s)) - s.prompt + 1,
          s.late ? records_[i].last_token : cohort(s).last_end};
}

void VllmScheduler::start_received(ScheduledStep& step, int64_t& budget) {
  while (budget > 0 && !received_.empty() && running_ < settings_.max_num_seqs) {
    const int32_t request = received_.front(), sequence = new_sequence(request);
    received_.pop_front();
    Sequence& s = at(sequence);
    const auto kept = kept_.find(request);
    table(sequence) = std::move(kept->second);
    kept_.erase(kept);
    blocks_.publish(request, table(sequence), 0, s.prompt / settings_.block_size);
    ++changes_;
    join(sequence);
    step.decode(speculation_, request, s.prompt - 1, 1, 1);
    s.computed = s.prompt;
    begin_answer(sequence, step);
    --budget;
  }
}

// A sequence of the request, which does not run yet.
int32_t VllmScheduler::new_sequence(int32_t request) {
  if (free_sequences_.empty()) {
    free_sequences_.push_back(static_cast<int32_t>(sequences_.size()));
    sequences_.emplace_back();
    tables_.emplace_back();
  }
  const int32_t sequence = free_sequences_.back();
  free_sequences_.pop_back();
  const auto i = static_cast<size_t>(request);
  const Request& r = workload_->requests[i];
  Sequence& s = at(sequence);
  s = {};
  s.request = request;
  s.prompt = r.prompt;
  s.total = r.prompt + r.output;
  s.tokens = r.prompt + sampled_[i];
  return sequence;
}

int32_t VllmScheduler::create(int32_t request, const KvBlocks::Hits& hits) {
  const int32_t sequence = new_sequence(request);
  blocks_.take_hits(request, hits.rows, table(sequence));
  Sequence& s = at(sequence);
  s.computed = hits.rows * settings_.block_size;
  RequestRecord& record = records_[static_cast<size_t>(request)];
  if (record.preemptions == 0) {
    record.cached = s.computed;
    record.from_host = hits.tier_rows[0] * settings_.block_size;
    record.from_disk = hits.tier_rows[1] * settings_.block_size;
  }
  return sequence;
}

void VllmScheduler::load(int32_t sequence, double now, const KvBlocks::Hits& hits) {
  link_free_ = std::max(now, link_free_) + blocks_.load_seconds(hits);
  loads_.push_back({sequence, link_free_});
  RequestRecord& record = records_[static_cast<size_t>(at(sequence).request)];
  if (record.preemptions > 0) return;
  record.load_seconds = link_free_ - now;
  record.load_begin = now;
}

double VllmScheduler::load_end() const {
  return loads_.empty() ? std::numeric_limits<double>::infinity() : loads_.front().end;
}

int64_t VllmScheduler::start_loaded(double now, ScheduledStep& step, int64_t budget) {
  while (!loads_.empty() && loads_.front().end <= now && budget > 0 && running_ < settings_.max_num_seqs) {
    const int32_t sequence = loads_.front().sequence;
    const Sequence& s = at(sequence);
    int64_t part = chunk(s.tokens - s.computed);
    if (!settings_.enable_chunked_prefill && part > budget) return 0;
    part = std::min(part, budget);
    if (!blocks_.has_free(missing(sequence, s.computed + part))) {
      // Requests that wait for their loads can hold the blocks of each other. The last one loads again.
      if (running_ > 0 || loads_.size() == 1) return 0;
      const int32_t last = loads_.back().sequence;
      loads_.pop_back();
      waiting_.put_back(at(last).request);
      discard(last, std::numeric_limits<int32_t>::max());
      continue;
    }
    loads_.pop_front();
    start(sequence, now, part, step);
    budget -= part;
  }
  return budget;
}

void VllmScheduler::join(int32_t sequence) {
  Sequence& s = at(sequence);
  s.order = started_++;
  s.before = last_;
  (last_ < 0 ? first_ : at(last_).after) = sequence;
  last_ = sequence;
  ++running_;
  sequence_of_[static_cast<size_t>(s.request)] = sequence;
}

// The first chunk of a request.
void VllmScheduler::start(int32_t sequence, double now, int64_t tokens, ScheduledStep& step) {
  join(sequence);
  Sequence& s = at(sequence);
  RequestRecord& record = records_[static_cast<size_t>(s.request)];
  if (record.preemptions == 0) record.scheduled = now;
  prefilling_.push_back(sequence);
  take_blocks(sequence, tokens, s.computed + tokens);
  prefill(sequence, tokens, step);
}

int32_t VllmScheduler::victim() const {
  const auto sequence = [&](int32_t number) -> const Sequence& {
    return sequences_[static_cast<size_t>(number)];
  };
  // In a pipeline a sequence could start again before its last token arrives. It keeps its blocks.
  const auto stays = [&](int32_t number) { return pipeline() && sequence(number).state == State::Drained; };
  int32_t worst = last_;
  while (stays(worst)) worst = sequence(worst).before;
  if (settings_.policy == SchedulingPolicy::Fcfs) return worst;
  for (int32_t i = last_; i >= 0; i = sequence(i).before)
    if (!stays(i) && waiting_.later(sequence(i).request, sequence(worst).request)) worst = i;
  return worst;
}

void VllmScheduler::preempt(int32_t sequence) {
  Sequence& s = at(sequence);
  const int32_t request = s.request;
  const auto i = static_cast<size_t>(request);
  RequestRecord& record = records_[i];
  ++record.preemptions;
  preempted_.push_back(request);
  const int64_t done = computed(s);
  switch (s.state) {
    case State::Prefill:
      sampled_[i] = s.tokens - s.prompt;
      prefilling_.erase(std::find(prefilling_.begin(), prefilling_.end(), sequence));
      break;
    case State::Decode:
      if (!s.late) record.last_token = cohort(s).last_end;
      sampled_[i] = static_cast<int32_t>(done) - s.prompt + 1;
      leave_decode(sequence);
      break;
    case State::Drained: sampled_[i] = s.total - s.prompt; break;
  }
  // Blocks whose last token is in flight are not final.
  if (s.state != State::Prefill && !cohort(s).in_flight) publish_answer(sequence, done);
  leave(sequence, std::numeric_limits<int32_t>::max());
  waiting_.put_back(request);
}

void VllmScheduler::finish(int32_t request) {
  const int32_t sequence = sequence_of_[static_cast<size_t>(request)];
  // Preempted while its last token was in flight.
  if (sequence < 0) return waiting_.remove(request);
  publish_answer(sequence, at(sequence).total - 1);
  if (settings_.role == EngineRole::Prefill) kept_[request] = std::exchange(table(sequence), {});
  leave(sequence, contents_->contents() > 0 ? contents_->private_from(request) : 0);
}

void VllmScheduler::leave(int32_t sequence, int32_t private_from) {
  const Sequence& s = at(sequence);
  (s.before < 0 ? first_ : at(s.before).after) = s.after;
  (s.after < 0 ? last_ : at(s.after).before) = s.before;
  --running_;
  discard(sequence, private_from);
}

// Frees a sequence that is not among the running ones.
void VllmScheduler::discard(int32_t sequence, int32_t private_from) {
  Sequence& s = at(sequence);
  blocks_.release(table(sequence), private_from);
  ++changes_;
  sequence_of_[static_cast<size_t>(s.request)] = -1;
  s.request = -1;
  s.order = -1;
  free_sequences_.push_back(sequence);
}

}  // namespace shardscape
