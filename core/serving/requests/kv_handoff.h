// Disaggregated serving: the way of a request from a prefill replica over the network to a decode replica.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "serving/requests/engine_pool.h"
#include "serving/requests/kv_transfers.h"

namespace shardscape {

// The requests that wait for blocks of a decode replica get them in the order in which they ask.
class KvHandoff {
 public:
  // All references outlive the object. prefill_records: of the prefill pool; records: of the decode pool.
  KvHandoff(const Disaggregation& setup, int32_t decode_replicas, EnginePool& prefill, EnginePool& decode,
            std::span<RequestRecord> prefill_records, std::span<RequestRecord> records);

  void begin(int32_t request, double now);      // it arrives, or is sent again after a failure
  void prefilled(int32_t request, double now);  // a prefill replica has computed its prompt
  double time() const { return transfers_.time(); }
  // The next event of the transfers. The request whose answer of one token ends with its transfer, or
  // nothing.
  std::optional<int32_t> run();
  void blocks_freed(int32_t engine, double now);  // of a decode engine
  void replica_ready(double now);                 // of any kind

  // The engine has failed and stopped. Returns the requests whose answers had begun; they are not assigned
  // any more and begin again with their new prompts. All other requests of the engine go on elsewhere.
  void prefill_failed(int32_t engine, double now);
  std::vector<int32_t> decode_failed(int32_t engine, double now);

  int64_t waited() const { return waited_; }  // transfers that waited for blocks
  // Requests whose prompts are computed, or wait for a prefill replica.
  int64_t prompts() const { return prompts_; }

 private:
  struct Progress {
    bool prompt = false;  // counts in prompts()
    bool prefilled = false;
    bool submitted = false;  // to the prefill replica
    bool transferring = false;
    bool decoding = false;
    bool waits = false;             // for blocks
    std::optional<int64_t> tokens;  // to transfer; set: the decode replica has taken blocks
  };
  Progress& of(int32_t request) { return progress_[static_cast<size_t>(request)]; }
  std::deque<int32_t>& queue(int32_t replica) {
    return waiting_[static_cast<size_t>(replica - first_decode_)];
  }
  void find_receiver(int32_t request, double now);
  void choose_receiver(int32_t request, double now);
  void take_blocks(int32_t replica, double now);
  void proceed(int32_t request, double now);
  void leave_receiver(int32_t request, double now);
  void submit(int32_t request, double now);
  void set_prompt(int32_t request, bool prompt);

  Disaggregation setup_;
  int32_t first_decode_;
  EnginePool* prefill_;
  EnginePool* decode_;
  std::span<RequestRecord> prefill_records_;
  std::span<RequestRecord> records_;
  KvTransfers transfers_;
  std::vector<Progress> progress_;
  std::vector<std::deque<int32_t>> waiting_;  // for blocks of each decode replica
  std::vector<int32_t> unsent_, unplaced_;    // that wait for a prefill replica, for a decode replica
  int64_t waited_ = 0, prompts_ = 0;
};

}  // namespace shardscape
