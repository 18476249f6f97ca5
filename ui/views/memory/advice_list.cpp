#include "ui/views/memory/advice_list.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/session/memory_problem.h"
#include "ui/toolkit/change_row.h"
#include "ui/toolkit/display_text.h"

namespace shardscape::ui {

AdviceList::AdviceList(QWidget* parent) : QScrollArea(parent) {
  setObjectName(QStringLiteral("memory_advice"));
  setAccessibleName(tr("Changes that save memory"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);  // the buttons have the focus
  viewport()->setAutoFillBackground(false);
  setAdvice(nullptr, UnitSystem::Binary);
}

void AdviceList::setAdvice(const std::vector<MemoryAdvice>* advice, UnitSystem units) {
  buttons_.clear();
  auto* content = new QWidget;
  content->setAutoFillBackground(false);
  auto* rows = new QVBoxLayout(content);
  rows->setContentsMargins(0, 0, 10, 0);
  rows->setSpacing(8);
  if (!advice || advice->empty()) {
    auto* message = new QLabel(advice ? tr("No change of one setting saves memory.")
                                      : tr("The changes are computed after the step is simulated."),
                               content);
    message->setProperty("role", "secondary");
    message->setWordWrap(true);
    rows->addWidget(message);
  } else {
    for (const MemoryAdvice& one : *advice) {
      const QString effect = adviceEffect(one, units);
      const QString badge = one.fits ? tr("fits") : tr("does not fit");
      auto* row = new ChangeRow({capitalized(QString::fromStdString(one.what)),
                                 badge,
                                 one.fits,
                                 effect,
                                 {},
                                 tr("%1, %2").arg(effect, badge)},
                                content);
      row->button()->installEventFilter(this);
      // The click replaces the rows. Therefore the change is applied after the button's handler has returned.
      connect(
          row->button(), &QPushButton::clicked, this,
          [this, fix = Fix{one.what, one.settings}] { Q_EMIT applied(fix); }, Qt::QueuedConnection);
      rows->addWidget(row);
      buttons_ << row->button();
    }
  }
  rows->addStretch(1);
  setWidget(content);
  content->show();
}

QSize AdviceList::sizeHint() const {
  const QLayout* rows = widget()->layout();
  const int inner = viewport()->width();
  return {QScrollArea::sizeHint().width(),
          rows->hasHeightForWidth() ? rows->totalHeightForWidth(inner) : rows->totalSizeHint().height()};
}

bool AdviceList::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QScrollArea::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Up && key != Qt::Key_Down) return false;
  const qsizetype at = buttons_.indexOf(qobject_cast<QPushButton*>(watched)) + (key == Qt::Key_Down ? 1 : -1);
  if (at < 0 || at >= buttons_.size()) return true;
  buttons_[at]->setFocus(Qt::TabFocusReason);
  ensureWidgetVisible(buttons_[at]->parentWidget(), 0, 8);
  return true;
}

}  // namespace shardscape::ui
