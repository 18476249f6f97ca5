#include "ui/toolkit/newest_job.h"
#include "base/fatal.h"
#include "model/library.h"
#include "ui/toolkit/background_threads.h"

namespace shardscape::ui {

JobFailures& JobFailures::instance() {
  static JobFailures failures;
  return failures;
}

std::function<void()> JobFailures::telling(const QObject* job, const std::exception& error) {
  return [job, reason = QString::fromStdString(fatal_text(error))] { Q_EMIT instance().failed(job, reason); };
}

bool JobFailures::isPartOf(const QObject* job, const QObject* object) {
  while (job && job != object) job = job->parent();
  return job != nullptr;
}

NewestJob::NewestJob(QObject* owner) : QObject(owner), thread_([this](std::stop_token stop) { run(stop); }) {}

NewestJob::~NewestJob() {
  thread_.request_stop();
  stop();
}

void NewestJob::start(Work work) {
  {
    const std::lock_guard lock(mutex_);
    pending_ = std::move(work);
    ++newest_;
    running_.request_stop();
  }
  wake_.notify_all();
}

void NewestJob::stop() {
  const std::lock_guard lock(mutex_);
  pending_ = {};
  ++newest_;
  running_.request_stop();
}

void NewestJob::run(std::stop_token stop) {
  lowerThisThread();
  while (true) {
    Work work;
    uint64_t job = 0;
    std::stop_token stop_this;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return static_cast<bool>(pending_); }) || stop.stop_requested())
        return;
      work.swap(pending_);
      job = newest_;
      running_ = std::stop_source();
      stop_this = running_.get_token();
    }
    const ModelLibrary::Scope library(ModelLibrary::instance());
    const Post post = post_of(job);
    try {
      work(post, stop_this);
    } catch (const std::exception& error) {
      post([this, tell = JobFailures::telling(this, error)] {
        tell();
        Q_EMIT failed();
      });
    }
  }
}

NewestJob::Post NewestJob::post_of(uint64_t job) {
  return [this, job](std::function<void()> deliver) {
    inbox_.post([this, job, deliver = std::move(deliver)] {
      if (job == newest_) deliver();
    });
  };
}

}  // namespace shardscape::ui
