// Runs the search over designs in its own threads: counts spaces while they are edited, and runs one search
// at a time. No call blocks.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "explore/goodput_search.h"
#include "explore/search.h"
#include "ui/toolkit/inbox.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/explore/explore_rows.h"

namespace shardscape::ui {

class ExploreJob : public QObject {
  Q_OBJECT
 public:
  explicit ExploreJob(QObject* parent = nullptr);

  // Counts the designs of the space. A newer spec replaces the older; countChanged() follows.
  void count(const SpaceSpec& spec);
  const std::optional<ValidCount>& counted() const { return counted_; }  // empty while unknown
  const std::optional<Problem>& problem() const { return problem_; }     // of the last counted spec
  bool counting() const { return counting_; }

  struct Progress {
    int64_t timed = 0, enumerated = 0;
    double share = 0;         // of the search, 0 to 1
    bool simulating = false;  // all designs are timed, and requests are simulated
    double seconds = 0, enumerated_per_second = 0, timed_per_second = 0, seconds_left = 0;
  };
  // goodput: also simulates requests to the best engines.
  void run(const SpaceSpec& spec, const SearchOptions& options,
           const std::optional<GoodputOptions>& goodput = {});
  void cancel();  // returns at once; finished() follows
  bool running() const { return running_; }
  bool cancelled() const { return cancelled_; }                       // the last search was cancelled
  const std::optional<Problem>& failure() const { return failure_; }  // of the last search
  const Progress& progress() const { return progress_; }
  // "412,000 designs · 51,000 per second · 12 s left"
  QString progressText() const;
  // The kept designs so far, or of the last search; null: none.
  std::shared_ptr<const ExploreRows> rows() const { return rows_; }
  // The result of a document, or null. A thread makes the rows, which takes seconds for a file of 100 MB;
  // rowsChanged() follows, first without rows.
  void setResult(std::shared_ptr<const SearchResult> result);
  bool loading() const { return loading_ != nullptr; }  // rows() of setResult() are being made
  std::shared_ptr<const SearchResult> result() const;   // of rows(), also while they are being made

 Q_SIGNALS:
  void countChanged();  // counted(), counting() or problem()
  void started();
  void progressed();
  void rowsChanged();
  void finished();  // see failure() and rows()

 private:
  void post(const SearchProgress& progress);
  NewestJob counter_{this}, loader_{this};
  std::optional<ValidCount> counted_;
  std::optional<Problem> problem_;
  bool counting_ = false;
  std::shared_ptr<const SearchResult> loading_;
  // Searching.
  std::mutex mutex_;
  bool by_goodput_ = false;  // the running search
  bool running_ = false, cancelled_ = false,
       dropped_ = false;  // dropped: setResult() replaced the running search
  std::optional<Problem> failure_;
  Progress progress_, latest_;  // latest_ and latest_rows_ under the mutex
  std::shared_ptr<const ExploreRows> rows_, latest_rows_;
  std::atomic<bool> posted_ = false;  // at most one event in the queue
  double rows_seconds_ = 0;           // seconds of the search when rows were last updated
  Inbox inbox_;
  std::jthread search_thread_;  // last member: starts after all others are initialized
};

}  // namespace shardscape::ui
