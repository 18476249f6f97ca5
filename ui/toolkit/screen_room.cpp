#include "ui/toolkit/screen_room.h"

#include <QDialog>
#include <QEvent>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr QSize kFrame(16, 40);  // title bar and borders; their size is unknown before the window is shown

}  // namespace

QSize roomOnScreen(const QWidget* window) { return window->screen()->availableSize() - kFrame; }

void resizeOnScreen(QWidget* window, QSize wanted) {
  window->resize(wanted.boundedTo(roomOnScreen(window)));
  if (!window->isVisible()) return;
  const QRect room = window->screen()->availableGeometry(), now = window->frameGeometry();
  const QPoint last(room.right() - now.width() + 1, room.bottom() - now.height() + 1);
  const QPoint place(std::max(room.left(), std::min(now.left(), last.x())),
                     std::max(room.top(), std::min(now.top(), last.y())));
  if (place != now.topLeft()) window->move(place);
}

ScrolledContent::ScrolledContent(QDialog* dialog) : QScrollArea(dialog) {
  setWidgetResizable(true);
  setFocusPolicy(Qt::NoFocus);
  viewport()->setAutoFillBackground(false);
  auto* content = new QWidget;
  setWidget(content);
  content->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(dialog);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this);
  dialog->installEventFilter(this);
}

QSize ScrolledContent::sizeHint() const { return widget()->sizeHint(); }

bool ScrolledContent::eventFilter(QObject* watched, QEvent* event) {
  auto* dialog = qobject_cast<QDialog*>(watched);
  if (dialog && event->type() == QEvent::Show && !dialog->testAttribute(Qt::WA_Resized))
    resizeOnScreen(dialog, sizeHint());
  return QScrollArea::eventFilter(watched, event);
}

}  // namespace shardscape::ui
