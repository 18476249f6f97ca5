#include "ui/session/report_worker.h"

#include <exception>

#include "memory/estimate.h"
#include "model/library.h"

namespace shardscape::ui {
namespace {

// A failure of the program itself is shown as a problem, so that the window stays usable.
std::shared_ptr<const Report> made(const Design& design, const std::shared_ptr<PlanCache>& plans,
                                   std::stop_token stop) {
  try {
    return estimate(design, plans, stop);
  } catch (const std::exception& error) {
    auto report = std::make_shared<Report>();
    report->design = design;
    report->cache = plans;
    report->problems.push_back({ProblemCode::InternalError, "program",
                                std::string("internal error: ") + error.what(),
                                "please report this design as a bug; undo returns to the previous one"});
    return report;
  }
}

}  // namespace

ReportWorker::ReportWorker(std::shared_ptr<PlanCache> plans, std::function<void()> ready)
    : plans_(std::move(plans)),
      ready_(std::move(ready)),
      thread_([this](std::stop_token stop) { run(stop); }) {}

ReportWorker::~ReportWorker() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  running_.request_stop();
}

uint64_t ReportWorker::submit(const Design& design, std::shared_ptr<const Report> shown) {
  const std::lock_guard lock(mutex_);
  pending_ = design;
  shown_ = std::move(shown);
  running_.request_stop();
  wake_.notify_one();
  return ++submitted_;
}

ReportWorker::Delivery ReportWorker::take() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(result_, std::nullopt), std::exchange(estimate_, nullptr)};
}

ReportWorker::Result ReportWorker::wait(uint64_t job) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return result_ && result_->job >= job; });
  return *std::exchange(result_, std::nullopt);
}

std::shared_ptr<const Estimate> ReportWorker::waitForEstimate(uint64_t job) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return finished_ >= job; });
  return std::exchange(estimate_, nullptr);
}

void ReportWorker::run(std::stop_token stop) {
  while (true) {
    Design design;
    std::shared_ptr<const Report> shown;
    uint64_t job = 0;
    std::stop_token job_stop;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return pending_.has_value(); })) return;
      design = *std::exchange(pending_, std::nullopt);
      shown = std::exchange(shown_, nullptr);
      job = submitted_;
      running_ = std::stop_source();
      job_stop = running_.get_token();
      if (stop.stop_requested()) return;
    }
    const ModelLibrary::Scope library(ModelLibrary::instance());
    std::shared_ptr<const Report> report = made(design, plans_, job_stop);
    if (!report) continue;  // stopped: a newer job is pending
    {
      const std::lock_guard lock(mutex_);
      if (pending_) continue;
      result_ = Result{job, report};
    }
    done_.notify_all();
    ready_();
    std::shared_ptr<const Estimate> estimate;
    if (const auto& of = report->valid() ? report : shown) {
      estimate = make_estimate(of, job_stop);
      if (!estimate) continue;
    }
    {
      const std::lock_guard lock(mutex_);
      if (pending_) continue;
      estimate_ = estimate;
      finished_ = job;
    }
    done_.notify_all();
    if (estimate) ready_();
  }
}

}  // namespace shardscape::ui
