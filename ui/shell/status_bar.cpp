#include "ui/shell/status_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <algorithm>

#include "ui/session/memory_problem.h"
#include "ui/session/session.h"
#include "ui/shell/export_job.h"
#include "ui/shell/frame_clock.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

QPushButton* quiet_button(const char* style, QWidget* parent) {
  auto* button = new QPushButton(parent);
  button->setProperty(style, true);
  return button;
}

}  // namespace

StatusBar::StatusBar(Session* session, ExportJob* job, const FrameClock* clock, QWidget* parent)
    : QWidget(parent),
      session_(session),
      job_(job),
      clock_(clock),
      problems_(quiet_button("flat_status", this)),
      cancel_(quiet_button("link", this)),
      units_(quiet_button("flat_status", this)),
      message_(new QLabel(this)),
      elapsed_(new QLabel(this)),
      bar_(new QProgressBar(this)) {
  setObjectName("status_bar");
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(28);
  problems_->setObjectName("problems_button");
  problems_->setIconSize({14, 14});
  units_->setObjectName("units_button");
  units_->setToolTip(tr("Binary (GiB) or decimal (GB) units"));
  cancel_->setObjectName("cancel_job");
  cancel_->setText(tr("Cancel"));
  message_->setTextFormat(Qt::PlainText);
  message_->setMinimumWidth(40);
  bar_->setFixedWidth(120);
  bar_->setTextVisible(false);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 0, 12, 0);
  layout->setSpacing(10);
  layout->addWidget(problems_);
  layout->addWidget(message_);
  layout->addWidget(bar_);
  layout->addWidget(cancel_);
  layout->addStretch(1);
  layout->addWidget(units_);
  layout->addWidget(elapsed_);

  connect(problems_, &QPushButton::clicked, this, &StatusBar::problemsRequested);
  connect(cancel_, &QPushButton::clicked, job, &ExportJob::cancel);
  connect(units_, &QPushButton::clicked, this, [this] {
    session_->setUnits(session_->units() == UnitSystem::Binary ? UnitSystem::Decimal : UnitSystem::Binary);
  });
  connect(session, &Session::reportChanged, this, &StatusBar::refreshElapsed);
  connect(clock, &FrameClock::waited, this, &StatusBar::refreshElapsed);
  connect(session, &Session::problemsChanged, this, &StatusBar::refreshProblems);
  connect(session, &Session::computingChanged, this, &StatusBar::refreshElapsed);
  connect(session, &Session::unitsChanged, this, &StatusBar::refreshUnits);
  connect(session, &Session::designChanged, this, [this] {
    if (!job_->running()) message_->clear();
  });
  connect(job, &ExportJob::started, this, &StatusBar::refreshJob);
  connect(job, &ExportJob::progressed, this, &StatusBar::refreshJob);
  connect(job, &ExportJob::finished, this, [this](const ExportJob::Outcome& outcome) {
    refreshJob();
    if (job_->cancelled()) return showMessage(tr("Export cancelled, no files left"));
    if (const auto* done = std::get_if<ExportSummary>(&outcome)) {
      return showMessage(tr("Exported %1 ranks, %2 in %3")
                             .arg(QString::fromStdString(grouped(done->ranks)),
                                  QString::fromStdString(format_bytes(done->bytes, session_->units())),
                                  QString::fromStdString(format_seconds(done->seconds))));
    }
    showMessage(tr("Export failed: %1").arg(QString::fromStdString(std::get<Problem>(outcome).what)));
  });
  connect(&Theme::instance(), &Theme::changed, this, &StatusBar::refreshProblems);
  refreshProblems();
  refreshJob();
  refreshUnits();
  refreshElapsed();
}

void StatusBar::showMessage(const QString& text) { message_->setText(text); }

void StatusBar::refreshProblems() {
  if (session_->computing()) return;
  const std::vector<Problem> problems = session_->allProblems();
  const bool fits = std::none_of(problems.begin(), problems.end(), isMemoryProblem);
  const auto errors = std::count_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return p.severity == Severity::Error; }) -
                      !fits;
  const auto notes = static_cast<std::ptrdiff_t>(problems.size()) - errors - !fits;
  QStringList parts;
  if (!fits) parts << tr("Does not fit");
  if (errors) parts << (errors == 1 ? tr("1 problem") : tr("%1 problems").arg(errors));
  if (notes) parts << (notes == 1 ? tr("1 note") : tr("%1 notes").arg(notes));
  problems_->setText(
      " " + (parts.isEmpty() ? tr("No problems") : parts.join(", ")));  // space between icon and text
  problems_->setToolTip(tr("Show or hide the list of problems"));
  const Colors& colors = Theme::instance().colors();
  problems_->setIcon(errors  ? iconPixmap("error", colors.bad, 14)
                     : !fits ? iconPixmap("cross", colors.bad, 14)
                     : notes ? iconPixmap("note", colors.note, 14)
                             : iconPixmap("check", colors.good, 14));
}

void StatusBar::refreshJob() {
  const bool running = job_->running();
  bar_->setVisible(running);
  cancel_->setVisible(running);
  if (!running) return;
  const ExportProgress& progress = job_->progress();
  bar_->setRange(0, 1000);
  bar_->setValue(progress.ranks > 0 ? static_cast<int>(progress.ranks_done * 1000 / progress.ranks) : 0);
  cancel_->setEnabled(!job_->cancelled());
  message_->setText(tr("Export: %1").arg(job_->progressText()));
}

void StatusBar::refreshUnits() {
  const bool binary = session_->units() == UnitSystem::Binary;
  units_->setText(binary ? "GiB" : "GB");
  units_->setAccessibleName(binary ? tr("Units: binary") : tr("Units: decimal"));
}

void StatusBar::refreshElapsed() {
  if (session_->computing()) return;
  const std::shared_ptr<const Report> report = session_->report();
  if (!report) return elapsed_->clear();
  elapsed_->setToolTip({});
  if (!session_->current()) return elapsed_->setText(tr("showing the last design that could be computed"));
  const auto seconds = [](double ms) { return QString::fromStdString(format_seconds(ms / 1000)); };
  if (clock_->last() && clock_->last()->answer) answer_ = clock_->last()->answer;
  if (!answer_) return elapsed_->clear();
  elapsed_->setText(tr("shown in %1").arg(seconds(*answer_)));
  elapsed_->setToolTip(tr("From the last edit to the picture with its figures. The report took %1 of it.")
                           .arg(seconds(report->elapsed_ms)));
}

}  // namespace shardscape::ui
