// The sequences of a scheduler by number, and what is known of their requests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/requests/request.h"
#include "serving/requests/request_record.h"

namespace shardscape {

// What every scheduler knows of a sequence.
struct SequenceTokens {
  int32_t request = -1;
  int32_t prompt = 0, total = 0;  // tokens; total: with the whole answer
  int32_t tokens = 0;             // to compute before the next new token
};

// T: derived from SequenceTokens. Numbers of removed sequences are used again.
template <class T>
class SequenceSlots {
 public:
  // All references outlive the object.
  SequenceSlots(const Workload& workload, std::span<RequestRecord> records)
      : workload_(&workload),
        records_(records),
        sequence_of_(workload.requests.size(), -1),
        sampled_(workload.requests.size(), 0) {}

  T& at(int32_t sequence) { return sequences_[static_cast<size_t>(sequence)]; }
  const T& at(int32_t sequence) const { return sequences_[static_cast<size_t>(sequence)]; }
  size_t size() const { return sequences_.size(); }  // numbers are below
  // -1: none
  int32_t of_request(int32_t request) const { return sequence_of_[static_cast<size_t>(request)]; }
  const Request& request(int32_t number) const { return workload_->requests[static_cast<size_t>(number)]; }
  RequestRecord& record(int32_t request) const { return records_[static_cast<size_t>(request)]; }
  // The record for values of the first start; nothing if the request was preempted.
  RequestRecord* first_record(int32_t request) const {
    return record(request).preemptions == 0 ? &record(request) : nullptr;
  }

  // Tokens of the answer before the last preemption.
  int32_t sampled(int32_t request) const { return sampled_[static_cast<size_t>(request)]; }
  void set_sampled(int32_t request, int32_t tokens) { sampled_[static_cast<size_t>(request)] = tokens; }
  // Tokens of a waiting request that its next token needs: the prompt, and the answer before a preemption.
  int32_t tokens_to_compute(int32_t number) const { return request(number).prompt + sampled(number); }

  int32_t add(int32_t number) {
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(sequences_.size()));
      sequences_.emplace_back();
    }
    const int32_t sequence = free_.back();
    free_.pop_back();
    const Request& r = request(number);
    T& s = at(sequence);
    s = {};
    s.request = number;
    s.prompt = r.prompt;
    s.total = r.prompt + r.output;
    s.tokens = tokens_to_compute(number);
    sequence_of_[static_cast<size_t>(number)] = sequence;
    return sequence;
  }
  void remove(int32_t sequence) {
    sequence_of_[static_cast<size_t>(at(sequence).request)] = -1;
    at(sequence) = {};
    free_.push_back(sequence);
  }

 private:
  const Workload* workload_;
  std::span<RequestRecord> records_;
  std::vector<T> sequences_;
  std::vector<int32_t> free_;
  std::vector<int32_t> sequence_of_;  // of each request
  std::vector<int32_t> sampled_;      // of each request
};

}  // namespace shardscape
