#include "serving/requests/sequence_table.h"

#include <utility>

namespace shardscape {

SequenceTable::SequenceTable(const EngineSettings& settings, const Workload& workload,
                             std::span<RequestRecord> records)
    : slots_(workload, records), speculation_(settings) {}

int32_t SequenceTable::add(int32_t request) {
  const int32_t sequence = slots_.add(request);
  Sequence& s = slots_.at(sequence);
  s.last = slots_.record(request).last_token;
  s.life = ++lives_;
  return sequence;
}

void SequenceTable::start(int32_t sequence, int32_t cached, double now) {
  Sequence& s = slots_.at(sequence);
  s.started = true;
  s.computed = cached;
  RequestRecord* record = slots_.first_record(s.request);
  if (!record) return;
  record->scheduled = now;
  record->cached = cached;
}

void SequenceTable::start_received(int32_t sequence, double now) {
  Sequence& s = slots_.at(sequence);
  s.started = true;
  s.computed = s.tokens;
  s.last = now;
}

AnswerProgress SequenceTable::progress(int32_t request) const {
  if (const int32_t sequence = of_request(request); sequence >= 0)
    return {at(sequence).sampled(), at(sequence).last};
  return {slots_.sampled(request), slots_.record(request).last_token};
}

void SequenceTable::loaded(int32_t sequence, int32_t host, int32_t disk, double seconds) {
  RequestRecord* record = slots_.first_record(at(sequence).request);
  if (!record) return;
  record->from_host = host;
  record->from_disk = disk;
  record->load_seconds = seconds;
}

void SequenceTable::compute(int32_t sequence, int64_t tokens, ScheduledStep& step) {
  Sequence& s = slots_.at(sequence);
  const bool prompt = s.prefilling();
  const int32_t before = s.computed, sampled = s.sampled();
  if (prompt) {
    step.chunks.push_back({tokens, s.computed, s.request});
    step.prefill_tokens += tokens;
    if (s.tokens == s.prompt) ++slots_.record(s.request).chunks;
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
  Sequence& s = slots_.at(sequence);
  RequestRecord& record = slots_.record(s.request);
  ++record.preemptions;
  record.last_token = s.last;
  slots_.set_sampled(s.request, s.sampled());
  s.tokens = slots_.tokens_to_compute(s.request);
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
    Sequence& s = slots_.at(part.sequence);
    if (!s.prefilling()) s.last = end;
  }
}

std::span<const SequenceTable::Part> SequenceTable::arrive() {
  arrived_ = std::move(flights_.front());
  flights_.pop_front();
  std::erase_if(arrived_, [&](const Part& part) { return at(part.sequence).life != part.life; });
  for (const Part& part : arrived_) {
    Sequence& s = slots_.at(part.sequence);
    --s.in_flight;
    s.arriving -= part.yield;
  }
  return arrived_;
}

}  // namespace shardscape
