// One thread that makes a report and then its estimate. A new request stops the request in progress.
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
  // Returns the job number, from 1 up. shown: the shown report, if it has no estimate yet. If the new design
  // has problems, the worker makes the estimate of `shown`, so that report and estimate on screen agree.
  uint64_t submit(const Design& design, std::shared_ptr<const Report> shown = nullptr);
  // The newest result and the newest estimate that were not taken yet, both of one moment.
  struct Delivery {
    std::optional<Result> result;
    std::shared_ptr<const Estimate> estimate;  // null also if the report has problems
  };
  Delivery take();
  Result wait(uint64_t job);  // blocks until this job or a newer one is done; takes the result
  std::shared_ptr<const Estimate> waitForEstimate(
      uint64_t job);  // blocks until the estimate of the job is made; null if the job has none

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
  std::jthread thread_;    // last member: starts after all others are initialized
};

}  // namespace shardscape::ui
