// A person who works with mouse or keyboard, for tests of tasks. An action is a click, a shortcut, or an
// entry that is typed and ended with Enter.
#pragma once

#include <QApplication>
#include <QDialog>
#include <QTest>

#include "memory/memory_timeline.h"
#include "ui/session/layout_finder.h"
#include "ui/shell/layout_popup.h"
#include "ui/shell/verdict_strip.h"
#include "window_test.h"

namespace shardscape::ui {

// Acts on whatever has the focus or lies under the mouse, and counts.
class Person {
 public:
  // window: the main window.
  Person(bool keyboard, QWidget* window) : keyboard_(keyboard), window_(window) {}
  bool keyboard() const { return keyboard_; }
  int actions() const { return actions_; }

  void click(QWidget* widget) { click(widget, widget->rect().center()); }
  void click(QWidget* widget, const QPoint& at) {
    ++actions_;
    activate(widget->window());
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
    QTest::qWait(20);  // a field selects its text after the click
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    ++actions_;
    QTest::keyClick(focused(), key, modifiers);
  }
  void enter(const QString& text) {
    ++actions_;
    for (const QChar letter : text) QTest::keyClick(focused(), letter.toLatin1());
    QTest::keyClick(focused(), Qt::Key_Return);
  }
  QWidget* focused() const {
    QWidget* popup = QApplication::activePopupWidget();
    if (popup && popup->focusWidget()) return popup->focusWidget();
    if (popup) return popup;
    activate(front());
    if (QApplication::focusWidget()) return QApplication::focusWidget();
    return front()->focusWidget() ? front()->focusWidget() : front();
  }

 private:
  // The open dialog, or the main window.
  QWidget* front() const {
    for (QWidget* window : QApplication::topLevelWidgets())
      if (window->isVisible() && qobject_cast<QDialog*>(window)) return window;
    return window_;
  }
  // What a window manager does after a click, and after a popup.
  static void activate(QWidget* window) {
    if (QApplication::activeWindow() == window || QApplication::activePopupWidget()) return;
    QApplication::setActiveWindow(window);
    QTest::qWait(20);
  }

  const bool keyboard_;
  QWidget* window_;
  int actions_ = 0;
};

// Base of tests of tasks.
class TaskTest : public WindowTest {
 protected:
  static constexpr int kSearchMs = 300'000;  // on a busy machine

  void open() {
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void close() {
    layouts()->hide();
    closeWindow();
  }
  LayoutPopup* layouts() const { return window_->verdictStrip()->layouts(); }
  void waitForLayouts() {
    QTRY_VERIFY(layouts()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!window_->verdictStrip()->finder()->searching(), kSearchMs);
    QVERIFY(!layouts()->applyButtons().isEmpty());
  }
  void applyTheFirstLayout(Person& person) {
    QTRY_VERIFY(layouts()->applyButtons().front()->hasFocus());
    if (person.keyboard())
      person.press(Qt::Key_Return);
    else
      person.click(layouts()->applyButtons().front());
  }
  bool fits() {
    session_->waitForReport();
    return session_->report() && session_->report()->memory->fits;
  }
  static void byMouseAndKeyboard() {
    QTest::addColumn<bool>("keyboard");
    QTest::newRow("mouse") << false;
    QTest::newRow("keyboard") << true;
  }
};

}  // namespace shardscape::ui
