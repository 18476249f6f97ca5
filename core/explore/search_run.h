// State that exhaustive and guided searches share. Private to core/explore.
#pragma once

#include <chrono>

#include "explore/search.h"
#include "explore/visit.h"

namespace shardscape {

class SearchRun {
 public:
  SearchRun(std::shared_ptr<const Space> space, const SearchOptions& options,
            const SearchCallbacks& callbacks, std::stop_token stop)
      : space(std::move(space)),
        options(options),
        callbacks(callbacks),
        stop(std::move(stop)),
        collector(this->space, options.result),
        visitor(*this->space, options.result) {}

  // Adds a batch of timed designs and the counts of the batch, and reports the points.
  void commit(const std::vector<Point>& points, const std::vector<std::vector<int>>& values,
              const SearchCounts& counts) {
    for (size_t i = 0; i < points.size(); ++i) collector.add(points[i], values[i]);
    collector.counts().add(counts);
    enumerated_ += counts.enumerated;
    timed_ += counts.timed;
    if (callbacks.points && !points.empty()) callbacks.points(points);
  }
  // Reports progress at most ten times a second; the last report is never skipped.
  void report_progress(Wide done, Wide total, bool last = false) {
    const auto now = std::chrono::steady_clock::now();
    if (!callbacks.progress || (!last && now - last_report_ < std::chrono::milliseconds(100))) return;
    last_report_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    if (first_done_ < 0) first_done_ = done;
    const auto fresh = static_cast<double>(done - first_done_), left = static_cast<double>(total - done);
    const double since = seconds - first_seconds_;
    if (fresh == 0) first_seconds_ = seconds;
    callbacks.progress({collector.counts(), done, total, seconds, static_cast<double>(enumerated_) / seconds,
                        static_cast<double>(timed_) / seconds, fresh > 0 ? left * since / fresh : 0,
                        collector});
  }

  // Reports the result so far if the last checkpoint is older than checkpoint_seconds.
  void report_checkpoint(const SearchPart& part) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> since = now - last_checkpoint_;
    if (!callbacks.checkpoint || since.count() < callbacks.checkpoint_seconds) return;
    last_checkpoint_ = now;
    SearchResult result = collector.result();
    result.parts = {part};
    callbacks.checkpoint(result);
  }

  std::shared_ptr<const Space> space;
  const SearchOptions& options;
  const SearchCallbacks& callbacks;
  std::stop_token stop;
  ResultCollector collector;
  Visitor visitor;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_report_{},
                                        last_checkpoint_ = begin_;
  int64_t enumerated_ = 0, timed_ = 0;
  Wide first_done_ = -1;
  double first_seconds_ = 0;
};

}  // namespace shardscape
