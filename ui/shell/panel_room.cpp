#include "ui/shell/panel_room.h"

#include <QAction>
#include <QEvent>
#include <QWidget>

namespace shardscape::ui {

PanelRoom::PanelRoom(QWidget* window, QObject* parent) : QObject(parent), window_(window) {
  window->installEventFilter(this);
}

void PanelRoom::add(QAction* action, int least) { panels_.push_back({action, least}); }

void PanelRoom::fit() {
  for (Panel& panel : panels_) {
    const bool narrow = window_->width() < panel.least;
    if (narrow && !panel.narrow) {
      panel.hidden = panel.action->isChecked();
      panel.action->setChecked(false);
    } else if (!narrow && panel.hidden) {
      panel.hidden = false;
      panel.action->setChecked(true);
    }
    panel.narrow = narrow;
  }
}

void PanelRoom::reset() {
  for (Panel& panel : panels_) panel.narrow = panel.hidden = false;
  fit();
}

bool PanelRoom::wanted(const QAction* action) const {
  for (const Panel& panel : panels_)
    if (panel.action == action && panel.hidden) return true;
  return action->isChecked();
}

bool PanelRoom::eventFilter(QObject* watched, QEvent* event) {
  if (watched == window_ && event->type() == QEvent::Resize) fit();
  return QObject::eventFilter(watched, event);
}

}  // namespace shardscape::ui
