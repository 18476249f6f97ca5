// Base of tests that open the form alone, with the default design.
#pragma once

#include <QTest>
#include <memory>

#include "ui/form/config_form.h"
#include "ui/session/session.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

class FormWindowTest : public QObject {
 protected:
  void openForm(int width) {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    form_ = std::make_unique<ConfigForm>(session_.get());
    form_->resize(width, 900);
    form_->show();
    QVERIFY(QTest::qWaitForWindowExposed(form_.get()));
    form_->activateWindow();
    session_->waitForReport();
  }
  void closeForm() {
    form_.reset();
    session_.reset();
  }

  std::unique_ptr<Session> session_;
  std::unique_ptr<ConfigForm> form_;
};

}  // namespace shardscape::ui
