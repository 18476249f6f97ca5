// Keys that a chart keeps for itself, even where an ancestor has them as shortcuts.
#pragma once

#include <QKeyEvent>
#include <algorithm>
#include <array>
#include <initializer_list>

namespace shardscape::ui {

// Accepts the shortcut override of an arrow key, Home, End or one of the extra keys; false for every other
// event.
inline bool keep_arrow_keys(QEvent* event, std::initializer_list<int> extra = {}) {
  if (event->type() != QEvent::ShortcutOverride) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  static constexpr std::array kArrows{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
                                      Qt::Key_Down, Qt::Key_Home,  Qt::Key_End};
  const bool kept = std::find(kArrows.begin(), kArrows.end(), key) != kArrows.end() ||
                    std::find(extra.begin(), extra.end(), key) != extra.end();
  if (kept) event->accept();
  return kept;
}

}  // namespace shardscape::ui
