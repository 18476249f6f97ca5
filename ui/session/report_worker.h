// One thread that makes reports, and behind each what its step costs: always of the newest design asked for,
// the one in progress is stopped.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "plan/report.h"
#include "ui/session/estimate.h"

namespace shardscape::ui {

class ReportWorker {
 public:
  struct Result {
    uint64_t job = 0;
    std::shared_ptr<const Report> report;
  };
  // ready is called on the worker's thread when a result or an estimate can be taken.
  explicit ReportWorker(std::shared_ptr<PlanCache> plans, std::function<void()> ready);
  ~ReportWorker();
  // Job numbers rise from 1. shown: what the window shows and has no estimate of; made where the design turns
  // out to have problems, so that nothing older stays.
  uint64_t submit(const Design& design, std::shared_ptr<const Report> shown = nullptr);
  std::optional<Result> take();  // the newest result not taken yet
  Result wait(uint64_t job);     // blocks until that job or a newer one is done, and takes it
  // The newest estimate not taken yet; nothing where its report has problems.
  std::shared_ptr<const Estimate> takeEstimate();
  std::shared_ptr<const Estimate> waitForEstimate(
      uint64_t job);  // blocks until that of the job is there; null where it has none

 private:
  void run(std::stop_token stop);
  const std::shared_ptr<PlanCache> plans_;
  std::function<void()> ready_;
  std::mutex mutex_;
  std::condition_variable_any wake_, done_;
  uint64_t submitted_ = 0;
  std::optional<Design> pending_;
  std::shared_ptr<const Report> shown_;
  std::stop_source running_;
  std::optional<Result> result_;
  std::shared_ptr<const Estimate> estimate_;
  uint64_t finished_ = 0;  // the newest job with nothing left to do
  std::jthread thread_;    // last: starts when all else is there
};

}  // namespace shardscape::ui
