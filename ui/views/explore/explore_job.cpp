#include "ui/views/explore/explore_job.h"

#include <exception>

#include "model/library.h"
#include "ui/toolkit/background_threads.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kBetweenRows = 0.4;  // seconds between updates of rows; counts are updated more often

// The designs that a search keeps, with their goodput if it was asked for.
Result<std::shared_ptr<const ExploreRows>> searched(const std::shared_ptr<const Space>& space,
                                                    const SearchOptions& options,
                                                    const std::optional<GoodputOptions>& goodput,
                                                    const SearchCallbacks& callbacks, std::stop_token stop) {
  if (!goodput) {
    auto result = search(space, options, callbacks, stop);
    if (auto* problem = std::get_if<Problem>(&result)) return *std::move(problem);
    return ExploreRows::of(std::make_shared<const SearchResult>(std::get<SearchResult>(std::move(result))));
  }
  auto result = search_goodput(space, options, *goodput, callbacks, stop);
  if (auto* problem = std::get_if<Problem>(&result)) return *std::move(problem);
  return ExploreRows::of(std::make_shared<const GoodputResult>(std::get<GoodputResult>(std::move(result))),
                         *goodput);
}

Problem failed(const std::exception& error) {
  return {ProblemCode::SearchFailed, "search", std::string("the search failed: ") + error.what()};
}

}  // namespace

ExploreJob::ExploreJob(QObject* parent) : QObject(parent) {
  connect(&loader_, &NewestJob::failed, this, [this] {
    loading_.reset();
    Q_EMIT rowsChanged();
  });
}

void ExploreJob::count(const SpaceSpec& spec) {
  counting_ = true;
  Q_EMIT countChanged();
  counter_.start([this, spec](const NewestJob::Post& post, std::stop_token stop) {
    const auto tell = [this, &post](std::optional<ValidCount> count, std::optional<Problem> problem,
                                    bool more) {
      post([this, count, problem, more] {
        counted_ = count;
        problem_ = problem;
        counting_ = more;
        Q_EMIT countChanged();
      });
    };
    try {
      const auto space = Space::make(spec);
      if (const auto* problem = std::get_if<Problem>(&space)) return tell(std::nullopt, *problem, false);
      const auto count = count_valid(
          *std::get<0>(space), [&](const ValidCount& c) { tell(c, std::nullopt, true); }, stop);
      if (count) tell(count, std::nullopt, false);
    } catch (const std::exception& error) {
      tell(std::nullopt, failed(error), false);
    }
  });
}

void ExploreJob::run(const SpaceSpec& spec, const SearchOptions& options,
                     const std::optional<GoodputOptions>& goodput) {
  if (running_) return;
  if (search_thread_.joinable()) search_thread_.join();  // the thread has ended: it clears running_ last
  loader_.stop();
  loading_.reset();
  running_ = true;
  by_goodput_ = goodput.has_value();
  cancelled_ = dropped_ = false;
  progress_ = latest_ = {};
  rows_seconds_ = 0;
  failure_.reset();
  Q_EMIT started();
  search_thread_ = std::jthread([this, spec, options, goodput](std::stop_token stop) {
    lowerThisThread();
    const ModelLibrary::Scope library(ModelLibrary::instance());
    std::shared_ptr<const ExploreRows> rows;
    std::optional<Problem> problem;
    try {
      auto space = Space::make(spec);
      if (const auto* wrong = std::get_if<Problem>(&space)) {
        problem = *wrong;
      } else {
        auto found = searched(std::get<0>(space), options, goodput,
                              {[this](const SearchProgress& p) { post(p); }, {}}, stop);
        if (const auto* wrong_options = std::get_if<Problem>(&found))
          problem = *wrong_options;
        else
          rows = std::get<0>(std::move(found));
      }
    } catch (const std::exception& error) {
      problem = failed(error);
    }
    inbox_.post([this, rows, problem] {
      running_ = false;
      failure_ = problem;
      if (rows && !dropped_) {
        rows_ = rows;
        Q_EMIT rowsChanged();
      }
      Q_EMIT finished();
    });
  });
}

void ExploreJob::post(const SearchProgress& p) {
  Progress now;
  now.timed = p.counts.timed;
  now.enumerated = p.counts.enumerated;
  now.share = p.total > 0 ? to_double(p.done) / to_double(p.total) : 0;
  now.simulating = by_goodput_ && p.done == p.total;
  now.seconds = p.seconds;
  now.enumerated_per_second = p.enumerated_per_second;
  now.timed_per_second = p.timed_per_second;
  now.seconds_left = p.seconds_left;
  std::shared_ptr<const ExploreRows> rows;
  if (!posted_ && (rows_seconds_ == 0 || p.seconds - rows_seconds_ > kBetweenRows)) {
    rows = ExploreRows::of(std::make_shared<const SearchResult>(p.collector.result()));
    rows_seconds_ = p.seconds;
  }
  {
    const std::lock_guard lock(mutex_);
    latest_ = now;
    if (rows) latest_rows_ = std::move(rows);
  }
  if (posted_.exchange(true)) return;
  inbox_.post([this] {
    posted_ = false;
    std::shared_ptr<const ExploreRows> fresh;
    {
      const std::lock_guard lock(mutex_);
      progress_ = latest_;
      fresh.swap(latest_rows_);
    }
    if (!running_ || dropped_) return;  // the final result has arrived
    if (fresh) {
      rows_ = std::move(fresh);
      Q_EMIT rowsChanged();
    }
    Q_EMIT progressed();
  });
}

void ExploreJob::cancel() {
  if (!running_) return;
  cancelled_ = true;
  search_thread_.request_stop();
  Q_EMIT progressed();
}

void ExploreJob::setResult(std::shared_ptr<const SearchResult> result) {
  cancel();
  dropped_ = running_;
  rows_.reset();
  loading_ = std::move(result);
  if (loading_)
    loader_.start([this, result = loading_](const NewestJob::Post& post, const std::stop_token& stop) {
      auto rows = ExploreRows::of(result);
      if (stop.stop_requested()) return;
      post([this, rows = std::move(rows)] {
        loading_.reset();
        rows_ = rows;
        Q_EMIT rowsChanged();
      });
    });
  else
    loader_.stop();
  Q_EMIT rowsChanged();
}

std::shared_ptr<const SearchResult> ExploreJob::result() const {
  return loading_ || !rows_ ? loading_ : rows_->shared();
}

QString ExploreJob::progressText() const {
  if (cancelled_ && running_) return tr("cancelling");
  QStringList parts{tr("%1 designs").arg(grouped_text(progress_.enumerated))};
  if (progress_.simulating) return (parts << tr("simulating requests")).join(QStringLiteral(" · "));
  if (progress_.seconds > 0.2)
    parts << tr("%1 per second")
                 .arg(QString::fromStdString(
                     format_count(static_cast<Wide>(progress_.enumerated_per_second))));
  if (progress_.seconds_left >= 1) {
    const double left = progress_.seconds_left;
    parts << (left < 120    ? tr("%1 s left").arg(qRound(left))
              : left < 7200 ? tr("%1 min left").arg(qRound(left / 60))
              : left < 2e5  ? tr("%1 h left").arg(qRound(left / 3600))
                            : tr("%1 days left").arg(grouped_text(static_cast<Wide>(left / 86400))));
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace shardscape::ui
