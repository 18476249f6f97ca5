#include "ui/form/gpus_row.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QVBoxLayout>
#include <utility>

#include "base/units.h"
#include "design/knobs/knobs.h"
#include "design/limits.h"
#include "design/validate/gpus_of_design.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/select_on_click.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kPauseMs = 400;

QString number(int64_t value) { return QString::fromStdString(grouped(value)); }

// "tp 8 · pp 16 = 128": the ranks of one replica.
QString replica_text(const ParallelSpec& p) {
  QStringList parts;
  for (const auto& [name, degree] : {std::pair{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}})
    if (degree > 1) parts << QStringLiteral("%1 %2").arg(QLatin1String(name), number(degree));
  return QStringLiteral("%1 = %2").arg(parts.join(QStringLiteral(" · ")), number(p.tp * p.cp * p.pp));
}

// "a multiple of 32, such as 480 or 512"
QString nearest_multiples(int64_t gpus, int64_t replica) {
  const int64_t below = gpus / replica * replica, above = below + replica;
  const QString near = below == 0          ? number(above)
                       : above > kMaxWorld ? number(below)
                                           : GpusRow::tr("%1 or %2").arg(number(below), number(above));
  return GpusRow::tr("a multiple of %1, such as %2").arg(number(replica), near);
}

// The degrees that divide the number, and what has to follow them.
Fix layout_fix(const Design& design, int64_t gpus) {
  const Design fixed = fitted_to_replicas(design_on_gpus(design, gpus));
  const ParallelSpec& p = fixed.parallel;
  return {GpusRow::tr("set tp %1, cp %2, pp %3, dp %4")
              .arg(number(p.tp), number(p.cp), number(p.pp), number(p.dp))
              .toStdString(),
          changed_knobs(design, fixed)};
}

}  // namespace

GpusRow::GpusRow(Session* session, QWidget* parent)
    : QWidget(parent), session_(session), line_(new QLineEdit(this)), issue_(new IssueLine(this)) {
  auto* label = new QLabel(tr("GPUs"), this);
  label->setBuddy(line_);
  line_->setObjectName("gpus");
  line_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  line_->setFixedWidth(92);
  line_->setAcceptDrops(false);
  line_->setAccessibleName(tr("GPUs"));
  const QString help = tr(
      "Number of GPUs of the job. dp follows: GPUs / (tp cp pp). Expert parallelism, the "
      "microbatch and, in inference, the batch change only where the design would be invalid.");
  line_->setAccessibleDescription(help);
  setToolTip("<p><b>" + tr("GPUs") + "</b></p><p>" + help + "</p><p>" +
             tr("Accepts a whole number from 1 to %1.").arg(number(kMaxWorld)) + " " +
             tr("Ctrl+Up and Ctrl+Down double and halve.") + "</p>");
  line_->installEventFilter(this);
  issue_->setVisible(false);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(label, 1);
  row->addWidget(line_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(row);
  layout->addWidget(issue_);
  selectOnClick(line_);
  pause_.setSingleShot(true);
  pause_.setInterval(kPauseMs);
  connect(&pause_, &QTimer::timeout, this, &GpusRow::apply);
  connect(line_, &QLineEdit::textEdited, this, [this] {
    typing_ = true;
    pause_.start();
  });
  connect(line_, &QLineEdit::editingFinished, this, [this] {
    if (pause_.isActive()) apply();
    if (issue_->isHidden()) {
      typing_ = false;
      refresh();
    }
    session_->endEdit();
  });
  connect(session, &Session::designChanged, this, [this] {
    if (applying_) return;
    pause_.stop();
    // A refused number waits in the field: a change of something else may be what it needs.
    if (refused_ && session_->design().world() == refused_world_) return pause_.start();
    typing_ = false;
    refresh();
  });
  refresh();
}

void GpusRow::refresh() {
  if (typing_) return;
  accept();
  const QString text = number(session_->design().world());
  if (line_->text() != text) line_->setText(text);
}

void GpusRow::enter(const QString& text) {
  line_->setFocus(Qt::ShortcutFocusReason);
  line_->setText(text);
  line_->selectAll();
  typing_ = true;
  apply();
}

bool GpusRow::matches(const QString& filter) const {
  return QStringLiteral("gpus ranks world").contains(filter.trimmed(), Qt::CaseInsensitive);
}

void GpusRow::apply() {
  pause_.stop();
  bool is_number = false;
  const qlonglong gpus = QString(line_->text()).remove(',').remove(' ').toLongLong(&is_number);
  const Design& design = session_->design();
  if (!is_number || gpus < 1 || gpus > kMaxWorld)
    return refuse({ProblemCode::NotANumber, kGpusField,
                   tr("\"%1\" is not a number of GPUs").arg(line_->text()).toStdString(),
                   tr("a whole number from 1 to %1").arg(number(kMaxWorld)).toStdString()});
  const ParallelSpec& p = design.parallel;
  const int64_t replica = p.tp * p.cp * p.pp;
  if (gpus % replica != 0 && !changes_layout_)
    return refuse({ProblemCode::NoLayoutForRanks,
                   kGpusField,
                   tr("%1 GPUs are not a multiple of %2").arg(number(gpus), replica_text(p)).toStdString(),
                   nearest_multiples(gpus, replica).toStdString(),
                   {layout_fix(design, gpus)}});
  accept();
  const QScopedValueRollback applying(applying_, true);  // the text stays as it is typed
  session_->setGpus(gpus);
}

void GpusRow::accept() {
  issue_->setVisible(false);
  if (std::exchange(refused_, false)) session_->dropRejected(kGpusField);
}

void GpusRow::refuse(const Problem& problem) {
  const QString what = QString::fromStdString(problem.what),
                accepted = QString::fromStdString(problem.accepted);
  if (problem.fixes.empty())
    issue_->show(what, accepted, {}, {});
  else
    issue_->show(what, accepted, capitalized(QString::fromStdString(problem.fixes.front().label)),
                 [this, fix = problem.fixes.front()] { session_->applyFix(fix); });
  // The field of the first design stands in a dialog that shows no verdict.
  if (changes_layout_) return;
  refused_ = true;
  refused_world_ = session_->design().world();
  session_->reject(kGpusField, problem);
}

bool GpusRow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
    event->ignore();  // undo acts on the design
    return true;
  }
  const bool doubles = key->key() == Qt::Key_Up, halves = key->key() == Qt::Key_Down;
  if ((doubles || halves) && key->modifiers() == Qt::ControlModifier) {
    const int64_t now = session_->design().world();
    enter(number(doubles ? 2 * now : std::max<int64_t>(1, now / 2)));
    return true;
  }
  if (key->key() == Qt::Key_Escape) {
    pause_.stop();
    typing_ = false;
    refresh();
    line_->selectAll();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
