#include "ui/shell/export_job.h"

#include <algorithm>
#include <exception>

#include "base/units.h"
#include "model/library.h"
#include "ui/toolkit/background_threads.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
ExportJob::ExportJob(QObject* parent) : QObject(parent) {}

ExportJob::~ExportJob() = default;

void ExportJob::start(std::shared_ptr<const Report> report, const ExportOptions& options) {
  start(report->ranks, options.target.string(),
        [report, options](const ExportProgressFn& progress, std::stop_token stop) {
          return export_bundle(*report, options, progress, std::move(stop));
        });
}

void ExportJob::start(std::shared_ptr<const StepWindow> window, const ExportOptions& options) {
  start(window->reference().report().ranks, options.target.string(),
        [window, options](const ExportProgressFn& progress, std::stop_token stop) {
          return export_bundle(*window, options, progress, std::move(stop));
        });
}

void ExportJob::start(int64_t ranks, const std::string& target, Export write) {
  if (running_) return;
  if (thread_.joinable()) thread_.join();
  running_ = true;
  cancelled_ = false;
  progress_ = {};
  progress_.ranks = ranks;
  Q_EMIT started();
  thread_ = std::jthread([this, target, write = std::move(write)](std::stop_token stop) {
    lowerThisThread();
    const ModelLibrary::Scope library(ModelLibrary::instance());
    Outcome outcome = [&]() -> Outcome {
      try {
        return write([this](const ExportProgress& p) { report_progress(p); }, stop);
      } catch (const std::exception& error) {
        return Problem{ProblemCode::ExportFailed, target, std::string("the export failed: ") + error.what()};
      }
    }();
    inbox_.post([this, outcome = std::move(outcome)] {
      running_ = false;
      Q_EMIT finished(outcome);
    });
  });
}

void ExportJob::cancel() {
  if (!running_) return;
  cancelled_ = true;
  thread_.request_stop();
  Q_EMIT progressed();
}

void ExportJob::report_progress(const ExportProgress& progress) {
  {
    const std::lock_guard lock(mutex_);
    latest_ = progress;
  }
  if (posted_.exchange(true)) return;
  inbox_.post([this] {
    posted_ = false;
    {
      const std::lock_guard lock(mutex_);
      progress_ = latest_;
    }
    Q_EMIT progressed();
  });
}

QString ExportJob::progressText() const {
  if (cancelled_) return tr("cancelling");
  QStringList parts{
      tr("rank %1 of %2").arg(text_of(grouped(progress_.ranks_done)), text_of(grouped(progress_.ranks)))};
  if (progress_.seconds > 0.2 && progress_.ranks_done > 0) {
    const double rate = static_cast<double>(progress_.bytes) / progress_.seconds;
    parts << text_of(format_bytes(static_cast<Wide>(rate), UnitSystem::Decimal)) + "/s";
    const double left = progress_.seconds * static_cast<double>(progress_.ranks - progress_.ranks_done) /
                        static_cast<double>(progress_.ranks_done);
    parts << (left < 1 ? tr("less than 1 s left")
                       : tr("%1 s left").arg(text_of(grouped(static_cast<Wide>(left + 0.5)))));
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace shardscape::ui
