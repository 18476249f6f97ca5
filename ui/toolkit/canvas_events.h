// What all canvases do with events that are no drawing.
#pragma once

#include <QFocusEvent>
#include <QHelpEvent>
#include <QToolTip>
#include <QWidget>

namespace shardscape::ui {

// Shows or hides the tip that tip(position) gives; false for every event but the one that asks for it.
template <typename Tip>
bool show_tip(QWidget* canvas, QEvent* event, const Tip& tip) {
  if (event->type() != QEvent::ToolTip) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = tip(help->pos());
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, canvas);
  return true;
}

// Repaints where focus comes or goes; keyboard: whether it came by keys, so that it is drawn.
inline void follow_focus(QWidget* canvas, QEvent* event, bool& keyboard) {
  if (event->type() == QEvent::FocusIn) {
    const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
    keyboard = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
               reason == Qt::ShortcutFocusReason;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) canvas->update();
}

}  // namespace shardscape::ui
