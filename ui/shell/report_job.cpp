#include "ui/shell/report_job.h"

#include <QEventLoop>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/sensitivity.h"
#include "report/comparison_page.h"
#include "report/page_report.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/shell/report_file.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// What the page is about, of the moment when the person asked for it.
struct PageContent {
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Simulation> simulation;
  bool comparison = false;
  std::vector<std::string> names;  // of the pinned designs that can run
  std::vector<ComparedDesign> pinned;
};

PageContent content_of(const Session& session, bool comparison) {
  PageContent out{session.report(), session.estimate()->simulation, comparison, {}, {}};
  if (!comparison) return out;
  for (const PinnedDesign& pinned : session.comparisons()->all()) {
    if (!pinned.result.simulation) continue;
    out.names.push_back(pinned.name.toStdString());
    out.pinned.push_back(pinned.result);
  }
  return out;
}

// Nothing if stopped.
std::optional<PageReport> page_of(PageContent content, const std::stop_token& stop) {
  const Design& design = content.report->design;
  if (!content.comparison) {
    const auto effects = sensitivity(design, stop);
    if (stop.stop_requested()) return std::nullopt;
    return page_report(*content.report, *content.simulation, effects ? &*effects : nullptr);
  }
  content.names.push_back(design.name + " (present)");
  content.pinned.push_back(compared(design, {}, stop));
  if (stop.stop_requested()) return std::nullopt;
  return comparison_page(content.names, content.pinned);
}

}  // namespace

ReportJob::ReportJob(const Session* session, QObject* owner) : QObject(owner), session_(session) {
  connect(&job_, &NewestJob::failed, this, [this] {
    running_ = false;
    Q_EMIT failed({});
  });
}

bool ReportJob::finish() {
  if (!running_) return true;
  bool done = false;
  QEventLoop loop;
  connect(this, &ReportJob::written, &loop, [&] {
    done = true;
    loop.quit();
  });
  connect(this, &ReportJob::failed, &loop, &QEventLoop::quit);
  loop.exec(QEventLoop::ExcludeUserInputEvents);
  return done;
}

void ReportJob::write(const QString& path, bool comparison) {
  running_ = true;
  job_.start([this, path, content = content_of(*session_, comparison)](const NewestJob::Post& post,
                                                                       const std::stop_token& stop) {
    const auto page = page_of(content, stop);
    if (!page) return;
    if (path.endsWith(QStringLiteral(".pdf"),
                      Qt::CaseInsensitive))  // Qt lays text out in the window's thread
      post([this, path, html = text_of(page_html(*page))] { end(path, writePdf(html, path)); });
    else
      post([this, path, problem = write_page(*page, path.toStdString())] { end(path, problem); });
  });
}

void ReportJob::end(const QString& path, const std::optional<Problem>& problem) {
  running_ = false;
  if (problem)
    Q_EMIT failed(QString::fromStdString(to_string(*problem)));
  else
    Q_EMIT written(path);
}

}  // namespace shardscape::ui
