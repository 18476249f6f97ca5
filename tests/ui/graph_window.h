// Base of tests of the graph view: Llama 3 8B on tp 2, pp 2 and dp 2.
#pragma once

#include <QTest>
#include <memory>

#include "ui/session/session.h"
#include "ui/toolkit/theme.h"
#include "ui/views/graph/graph_view.h"

namespace shardscape::ui {

class GraphTest : public QObject {
 protected:
  void openView() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    for (const auto& [knob, text] : {std::pair{"tp", "2"}, {"pp", "2"}, {"dp", "2"}})
      QVERIFY(!session_->setKnob(knob, text));
    QVERIFY(!session_->setKnob("sequence_parallel", "true"));
    session_->waitForEstimate();
    QVERIFY(session_->report() && session_->report()->valid());
    state_ = std::make_unique<SelectionState>(session_.get());
    view_ = std::make_unique<GraphView>(state_.get());
    view_->resize(1100, 800);
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    view_->waitForGraph();
  }
  void closeView() {
    view_.reset();
    state_.reset();
    session_.reset();
  }

  std::unique_ptr<Session> session_;
  std::unique_ptr<SelectionState> state_;
  std::unique_ptr<GraphView> view_;
};

}  // namespace shardscape::ui
