#include "ui/shell/export_job.h"

#include <algorithm>
#include <exception>

#include "base/units.h"
#include "model/library.h"
#include "ui/toolkit/background_threads.h"

namespace shardscape::ui {
namespace {

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

ExportJob::Outcome run(const Report& report, const ExportOptions& options, const ExportProgressFn& progress,
                       std::stop_token stop) {
  try {
    return export_bundle(report, options, progress, stop);
  } catch (const std::exception& error) {
    return Problem{ProblemCode::ExportFailed, options.target.string(),
                   std::string("the export failed: ") + error.what()};
  }
}

}  // namespace

ExportJob::ExportJob(QObject* parent) : QObject(parent) {}

ExportJob::~ExportJob() = default;

void ExportJob::start(std::shared_ptr<const Report> report, const ExportOptions& options) {
  if (running_) return;
  if (thread_.joinable()) thread_.join();
  running_ = true;
  cancelled_ = false;
  progress_ = {};
  progress_.ranks = report->ranks;
  Q_EMIT started();
  thread_ = std::jthread([this, report = std::move(report), options](std::stop_token stop) {
    lowerThisThread();
    const ModelLibrary::Scope library(ModelLibrary::instance());
    Outcome outcome = run(
        *report, options, [this](const ExportProgress& p) { report_progress(p); }, stop);
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
      tr("rank %1 of %2").arg(text(grouped(progress_.ranks_done)), text(grouped(progress_.ranks)))};
  if (progress_.seconds > 0.2 && progress_.ranks_done > 0) {
    const double rate = static_cast<double>(progress_.bytes) / progress_.seconds;
    parts << text(format_bytes(static_cast<Wide>(rate), UnitSystem::Decimal)) + "/s";
    const double left = progress_.seconds * static_cast<double>(progress_.ranks - progress_.ranks_done) /
                        static_cast<double>(progress_.ranks_done);
    parts << (left < 1 ? tr("less than 1 s left")
                       : tr("%1 s left").arg(text(grouped(static_cast<Wide>(left + 0.5)))));
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace shardscape::ui
