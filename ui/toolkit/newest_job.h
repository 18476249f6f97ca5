// A thread that runs only the newest job. Starting a job stops the previous job, whose results are dropped.
#pragma once

#include <QObject>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "ui/toolkit/inbox.h"

namespace shardscape::ui {

// Tells the windows of jobs that ended with an exception, such as one of a system without memory.
class JobFailures : public QObject {
  Q_OBJECT
 public:
  static JobFailures& instance();
  // What tells it, for the thread of the windows. job: the object that ran it.
  static std::function<void()> telling(const QObject* job, const std::exception& error);
  // Whether the job is the object, or a part of it: several windows hear of every failure.
  static bool isPartOf(const QObject* job, const QObject* object);
 Q_SIGNALS:
  void failed(const QObject* job, const QString& reason);  // in the thread of the windows
};

class NewestJob : public QObject {
  Q_OBJECT
 public:
  // Runs its argument in the window's thread, unless a newer job was started in the meantime.
  using Post = std::function<void(std::function<void()>)>;
  using Work = std::function<void(const Post& post, std::stop_token stop)>;

  // owner: the parent. Failures are shown in the window that it is a part of.
  explicit NewestJob(QObject* owner);
  ~NewestJob() override;
  void start(Work work);  // never waits
  void stop();

 Q_SIGNALS:
  void failed();  // the newest job ended with an exception, which JobFailures tells

 private:
  void run(std::stop_token stop);
  Post post_of(uint64_t job);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Work pending_;
  uint64_t newest_ = 0;  // written by the window's thread only
  std::stop_source running_;
  Inbox inbox_;
  std::jthread thread_;  // last member: starts after all others are initialized
};

}  // namespace shardscape::ui
