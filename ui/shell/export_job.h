// Runs an export in its own thread, with progress and cancel. One export at a time.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "bundle/bundle.h"
#include "ui/toolkit/inbox.h"

namespace shardscape::ui {

class ExportJob : public QObject {
  Q_OBJECT
 public:
  using Outcome = Result<ExportSummary>;
  explicit ExportJob(QObject* parent = nullptr);
  ~ExportJob() override;
  bool running() const { return running_; }
  bool cancelled() const { return cancelled_; }
  const ExportProgress& progress() const { return progress_; }
  void start(std::shared_ptr<const Report> report, const ExportOptions& options);
  void start(std::shared_ptr<const StepWindow> window, const ExportOptions& options);
  void cancel();  // returns at once; finished() follows
  // "rank 3,412 of 8,192 · 1.3 GB/s · 4 s left"
  QString progressText() const;

 Q_SIGNALS:
  void started();
  void progressed();
  void finished(const shardscape::ui::ExportJob::Outcome& outcome);

 private:
  using Export = std::function<Outcome(const ExportProgressFn& progress, std::stop_token stop)>;
  void start(int64_t ranks, const std::string& target, Export write);
  void report_progress(const ExportProgress& progress);
  bool running_ = false, cancelled_ = false;
  ExportProgress progress_;
  std::mutex mutex_;
  ExportProgress latest_;             // written by the worker, guarded by mutex_
  std::atomic<bool> posted_ = false;  // one progress event in the queue at most
  Inbox inbox_;
  std::jthread thread_;
};

}  // namespace shardscape::ui
