#include "serving/requests/sequence_table.h"

#include <utility>

namespace shardscape {

SequenceTable::SequenceTable(const EngineSettings& settings, const Workload& workload,
                             std::span<RequestRecord> records)
    : workload_(&workload),
      records_(records),
      speculation_(settings),
      sequence_of_(workload.requests.size(), -1),
      sampled_(workload.requests.size(), 0) {}

int32_t SequenceTable::tokens_to_compute(int32_t request) const {
  const auto i = static_cast<size_t>(request);
  return workload_->requests[i].prompt + sampled_[i];
}

int32_t SequenceTable::add(int32_t request) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(sequences_.size()));
    sequences_.emplace_back();
  }
  const int32_t sequence = free_.back();
  free_.pop_back();
  const auto i = static_cast<size_t>(request);
  const Request& r = workload_->requests[i];
  Sequence& s = at(sequence);
  s = {};
  s.request = request;
  s.prompt = r.prompt;
  s.total = r.prompt + r.output;
  s.tokens = tokens_to_compute(request);
  s.last = records_[i].last_token;
  s.life = ++lives_;
  sequence_of_[i] = sequence;
  return sequence;
}

void SequenceTable::remove(int32_t sequence) {
  Sequence& s = at(sequence);
  sequence_of_[static_cast<size_t>(s.request)] = -1;
  s.request = -1;
  s.life = -1;
  free_.push_back(sequence);
}

void SequenceTable::start(int32_t sequence, int32_t cached, double now) {
  Sequence& s = at(sequence);
  s.started = true;
  s.computed = cached;
  RequestRecord& record = records_[static_cast<size_t>(s.request)];
  if (record.preemptions > 0) return;
  record.scheduled = now;
  record.cached = cached;
}

void SequenceTable::start_received(int32_t sequence, double now) {
  Sequence& s = at(sequence);
  s.started = true;
  s.computed = s.tokens;
  s.last = now;
}

AnswerProgress SequenceTable::progress(int32_t request) const {
  const auto i = static_cast<size_t>(request);
  if (const int32_t sequence = sequence_of_[i]; sequence >= 0)
    return {at(sequence).sampled(), at(sequence).last};
  return {sampled_[i], records_[i].last_token};
}

void SequenceTable::loaded(int32_t sequence, int32_t host, int32_t disk, double seconds) {
  RequestRecord& record = records_[static_cast<size_t>(at(sequence).request)];
  if (record.preemptions > 0) return;
  record.from_host = host;
  record.from_disk = disk;
  record.load_seconds = seconds;
}

void SequenceTable::compute(int32_t sequence, int64_t tokens, ScheduledStep& step) {
  Sequence& s = at(sequence);
  const bool prompt = s.prefilling();
  const int32_t before = s.computed, sampled = s.sampled();
  if (prompt) {
    step.chunks.push_back({tokens, s.computed, s.request});
    step.prefill_tokens += tokens;
    if (s.tokens == s.prompt) ++records_[static_cast<size_t>(s.request)].chunks;
  } else {
    tokens = step.decode(speculation_, s.request, s.computed, tokens, s.total - 1 - s.computed);
  }
  s.computed += static_cast<int32_t>(tokens);
  ++s.in_flight;
  const int32_t yield = s.sampled() - sampled;
  s.arriving += yield;
  parts_.push_back({sequence, s.computed, s.life, before, yield, prompt});
  if (s.prefilling()) return;
  if (s.sampled() == 1)
    step.first.push_back(s.request);
  else
    step.continue_since(s.last, 1);
  if (s.drained()) step.ending.push_back(s.request);
}

void SequenceTable::preempt(int32_t sequence) {
  Sequence& s = at(sequence);
  const auto i = static_cast<size_t>(s.request);
  ++records_[i].preemptions;
  records_[i].last_token = s.last;
  sampled_[i] = s.sampled();
  s.tokens = s.prompt + sampled_[i];
  s.computed = s.in_flight = s.arriving = 0;
  s.started = false;
  s.life = ++lives_;
}

void SequenceTable::launch() {
  flights_.push_back(std::move(arrived_));
  flights_.back().clear();
  std::swap(flights_.back(), parts_);
}

void SequenceTable::set_end(double end) {
  for (const Part& part : flights_.back()) {
    Sequence& s = at(part.sequence);
    if (!s.prefilling()) s.last = end;
  }
}

std::span<const SequenceTable::Part> SequenceTable::arrive() {
  arrived_ = std::move(flights_.front());
  flights_.pop_front();
  std::erase_if(arrived_, [&](const Part& part) { return at(part.sequence).life != part.life; });
  for (const Part& part : arrived_) {
    --at(part.sequence).in_flight;
    at(part.sequence).arriving -= part.yield;
  }
  return arrived_;
}

}  // namespace shardscape
