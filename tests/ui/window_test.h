// Base of tests that open a main window with the default design.
#pragma once

#include <QApplication>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QTest>
#include <QUndoStack>
#include <algorithm>
#include <memory>

#include "support/longest_run.h"
#include "ui/form/config_form.h"
#include "ui/form/knob_row.h"
#include "ui/session/session.h"
#include "ui/shell/importer.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

class WindowTest : public QObject {
 protected:
  void openWindow() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    window_ = std::make_unique<MainWindow>(session_.get());
    session_->waitForReport();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
  }
  void closeWindow() {
    session_->undoStack()->setClean();  // so that closing does not ask whether to save
    window_.reset();
    session_.reset();
  }

  static bool labelSays(const QWidget* where, const QString& text) {
    const auto labels = where->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->text().contains(text); });
  }

  // The field of a knob, with the keyboard.
  QLineEdit* focused(const char* id) {
    window_->form()->focusKnob(id);
    return qobject_cast<QLineEdit*>(window_->form()->row(id)->fieldWidget());
  }
  void enter(const char* id, const char* value) {
    QTest::keyClicks(focused(id), value);
    press(Qt::Key_Return);
  }
  void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWidget* target = window_->focusWidget() ? window_->focusWidget() : window_.get();
    QTest::keyClick(target, static_cast<Qt::Key>(key), modifiers);
  }

  void dropFile(const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent dropped(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &dropped);
    waitForFile();
  }
  // A thread reads what is dropped or opened.
  void waitForFile() {
    QTRY_VERIFY_WITH_TIMEOUT(!window_->findChild<Importer*>()->opening(), test::kLongestRun);
  }

  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace shardscape::ui
