// What a person does with the mouse, for tests of several views.
#pragma once

#include <QTest>

namespace shardscape::ui {

// Drags the divider of a splitter up or down. The handle follows the mouse, so that one move is the whole
// way.
inline void drag_divider(QWidget* handle, int pixels) {
  const QPoint from = handle->rect().center(), to = from + QPoint(0, pixels);
  QTest::mousePress(handle, Qt::LeftButton, {}, from);
  QTest::mouseMove(handle, to);
  QTest::mouseRelease(handle, Qt::LeftButton, {}, to);
}

}  // namespace shardscape::ui
