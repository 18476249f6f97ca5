#include "ui/views/graph/layout_worker.h"

#include <QMetaObject>
#include <utility>

#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

LayoutWorker::LayoutWorker(QObject* owner) : QObject(owner) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LayoutWorker::~LayoutWorker() {
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    current_.request_stop();
  }
  thread_.join();
}

void LayoutWorker::request(LayoutRequest request) {
  const std::lock_guard lock(mutex_);
  current_.request_stop();
  next_ = std::move(request);
  wake_.notify_one();
}

void LayoutWorker::run(const std::stop_token& stop) {
  SheetCache cache;
  quint64 generation = 0;
  while (true) {
    LayoutRequest job;
    std::stop_token job_stop;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return next_.has_value(); })) return;
      job = *std::exchange(next_, std::nullopt);
      current_ = std::stop_source();
      if (stop.stop_requested()) return;
      job_stop = current_.get_token();
    }
    if (std::exchange(generation, job.generation) != job.generation) cache.clear();
    std::shared_ptr<const Sheet> sheet;
    try {
      sheet = SheetBuilder(*job.tree, job.options, job.fonts, job.expanded, cache, job_stop).root();
    } catch (const std::exception& error) {
      cache.clear();
      inbox_.post(JobFailures::telling(this, error));
    }
    if (!sheet || job_stop.stop_requested()) continue;
    inbox_.post([this, number = job.job, sheet = std::move(sheet)] { Q_EMIT finished(number, sheet); });
  }
}

}  // namespace shardscape::ui
