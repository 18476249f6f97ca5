#include "ui/shell/tour.h"

#include <QBoxLayout>
#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kWidth = 340, kGap = 10, kEdge = 8;

QLabel* makeLabel(const char* role, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setProperty("role", role);
  label->setWordWrap(true);
  return label;
}

}  // namespace

Tour::Tour(const QVector<TourStep>& steps, QWidget* window)
    : QFrame(window),
      steps_(steps),
      window_(window),
      frame_(new QFrame(window)),
      title_(makeLabel("heading", this)),
      text_(makeLabel("", this)),
      count_(makeLabel("caption", this)),
      back_(new QPushButton(tr("Back"), this)),
      next_(new QPushButton(this)) {
  setObjectName(QStringLiteral("tour"));
  setFixedWidth(kWidth);
  setFocusPolicy(Qt::StrongFocus);
  frame_->setObjectName(QStringLiteral("tour_frame"));
  frame_->setAttribute(Qt::WA_TransparentForMouseEvents);
  count_->setWordWrap(false);
  next_->setProperty("primary", true);
  auto* end = new QPushButton(tr("End the tour"), this);
  end->setProperty("link", true);
  auto* row = new QHBoxLayout;
  row->addWidget(count_);
  row->addStretch(1);
  row->addWidget(end);
  row->addWidget(back_);
  row->addWidget(next_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 14, 16, 12);
  layout->setSpacing(8);
  layout->addWidget(title_);
  layout->addWidget(text_);
  layout->addLayout(row);
  connect(end, &QPushButton::clicked, this, &Tour::finish);
  connect(back_, &QPushButton::clicked, this, [this] { go(at_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] { go(at_ + 1); });
  for (QWidget* widget :
       {window_, static_cast<QWidget*>(next_), static_cast<QWidget*>(back_), static_cast<QWidget*>(end)})
    widget->installEventFilter(this);
  go(0);
}

void Tour::go(int step) {
  if (step >= steps()) return finish();
  at_ = std::max(0, step);
  const TourStep& now = steps_[at_];
  title_->setText(now.title);
  text_->setText(now.text);
  count_->setText(tr("%1 of %2").arg(at_ + 1).arg(steps()));
  setAccessibleName(now.title + QStringLiteral(". ") + now.text);
  back_->setEnabled(at_ > 0);
  next_->setText(at_ + 1 == steps() ? tr("Done") : tr("Next"));
  frame_->show();
  frame_->raise();
  show();
  raise();
  place();
  next_->setFocus();
}

// Below the part, else above it, else next to it.
void Tour::place() {
  const TourStep& now = steps_[at_];
  if (!now.part) return;
  const QRect area = now.area.isEmpty() ? now.part->rect() : now.area;
  const QRect room = window_->rect();
  const QRect mark = QRect(now.part->mapTo(window_, area.topLeft()), area.size())
                         .adjusted(-2, -2, 2, 2)
                         .intersected(room);
  frame_->setGeometry(mark);
  layout()->invalidate();
  const int height = std::max(layout()->totalHeightForWidth(kWidth), layout()->totalMinimumSize().height());
  QPoint at(mark.left(), mark.bottom() + kGap);
  if (at.y() + height > room.bottom()) at.setY(mark.top() - kGap - height);
  if (at.y() < 0) at = QPoint(mark.right() + kGap, mark.top());
  at.setX(std::clamp(at.x(), kEdge, std::max(kEdge, room.width() - kWidth - kEdge)));
  at.setY(std::clamp(at.y(), kEdge, std::max(kEdge, room.height() - height - kEdge)));
  setGeometry(QRect(at, QSize(kWidth, height)));
}

void Tour::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Escape: return finish();
    case Qt::Key_Left: return go(at_ - 1);
    case Qt::Key_Right:
    case Qt::Key_Return:
    case Qt::Key_Enter: return go(at_ + 1);
    default: QFrame::keyPressEvent(event);
  }
}

// The buttons leave the keys of the tour to it; a resized window moves it.
bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (watched == window_) {
    if (event->type() == QEvent::Resize) place();
    return false;
  }
  if (event->type() != QEvent::KeyPress) return false;
  auto* key = static_cast<QKeyEvent*>(event);
  const bool presses = (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && watched != next_;
  if (presses) {
    qobject_cast<QPushButton*>(watched)->click();
    return true;
  }
  if (key->key() != Qt::Key_Escape && key->key() != Qt::Key_Left && key->key() != Qt::Key_Right &&
      key->key() != Qt::Key_Return && key->key() != Qt::Key_Enter)
    return false;
  keyPressEvent(key);
  return true;
}

void Tour::finish() {
  window_->removeEventFilter(this);
  hide();
  frame_->deleteLater();
  deleteLater();
}

}  // namespace shardscape::ui
