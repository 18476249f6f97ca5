// Two designs for tests of comparison: the present one with four stages, and a pinned one with two stages and
// other groups.
#pragma once

#include <QTest>
#include <QWidget>

#include "support/longest_run.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"

namespace shardscape::ui {

inline void open(QWidget& view) {
  view.resize(900, 700);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QTest::qWait(20);  // QCustomPlot places the axes in a queued replot
}

// Sets the degrees of the present design and waits for its simulated step.
inline void set(Session& session, int tp, int pp, int dp) {
  Design design = session.design();
  design.parallel.tp = tp;
  design.parallel.pp = pp;
  design.parallel.dp = dp;
  session.setDesign(design, "test");
  session.waitForEstimate();
}

inline Design other_of(const Session& session) {
  Design design = session.design();
  design.parallel.tp = 1;
  design.parallel.pp = 2;
  design.parallel.dp = 4;
  return design;
}

inline void pin(Session& session, const Design& design) {
  QVERIFY(session.comparisons()->add(design, "other"));
  QTRY_VERIFY_WITH_TIMEOUT(session.comparisons()->ready(), test::kLongestRun);
}

}  // namespace shardscape::ui
