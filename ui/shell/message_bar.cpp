#include "ui/shell/message_bar.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <algorithm>

#include "ui/toolkit/icons.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {
namespace {

constexpr int kMost = 760, kSide = 16, kBelow = 44;  // pixels: width, and distance from the parent's ends

}  // namespace

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel(this)), button_(new QPushButton(tr("Undo"), this)) {
  setObjectName("message_bar");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  button_->setProperty("link", true);
  button_->setObjectName("message_undo");
  connect(
      button_, &QPushButton::clicked, this,
      [this] {
        if (action_) action_->trigger();
      },
      Qt::QueuedConnection);  // hides this bar
  auto* close = new QToolButton(this);
  setThemedIcon(close, "close");
  close->setAccessibleName(tr("Dismiss"));
  close->setToolTip(close->accessibleName());
  close->setProperty("flat", true);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(20, 6, 12, 6);
  layout->setSpacing(12);
  layout->addWidget(text_, 1);
  layout->addWidget(button_);
  layout->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  parent->installEventFilter(this);
  hide();
}

void MessageBar::show(const QString& text) {
  action_ = nullptr;
  button_->hide();
  text_->setText(text);
  text_->setAccessibleName(text);
  setVisible(!text.isEmpty());
  place();
}

void MessageBar::note(const QString& text, QAction* action, const QString& words) {
  show(text);
  action_ = action;
  button_->setText(words);
  button_->show();
  place();
}

// In the middle, above the status bar, in front of everything else.
void MessageBar::place() {
  if (isHidden()) return;
  layout()->activate();
  const int room = std::max(1, parentWidget()->width() - 2 * kSide), width = std::min(kMost, room);
  const int height = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width)
                                                   : layout()->totalSizeHint().height();
  setGeometry((parentWidget()->width() - width) / 2, parentWidget()->height() - kBelow - height, width,
              height);
  raise();
}

bool MessageBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize) place();
  return QFrame::eventFilter(watched, event);
}

void MessageBar::endNote() {
  if (action_) hide();
}

void MessageBar::followJobs(const QList<const QObject*>& owners) {
  connect(&JobFailures::instance(), &JobFailures::failed, this,
          [this, owners](const QObject* job, const QString& reason) {
            if (std::any_of(owners.begin(), owners.end(),
                            [job](const QObject* owner) { return JobFailures::isPartOf(job, owner); }))
              show(tr("A calculation for this window ended without a result: %1").arg(reason));
          });
}

QString MessageBar::text() const { return isHidden() ? QString() : text_->text(); }

}  // namespace shardscape::ui
