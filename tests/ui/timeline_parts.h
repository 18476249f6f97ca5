// Shared by tests of the timeline: a design with four stages, and helpers.
#pragma once

#include <QTest>

#include "ui/inspector/inspection_text.h"
#include "ui/session/session.h"
#include "ui/views/timeline/gantt_canvas.h"

namespace shardscape::ui {

inline void set(Session& session, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  for (const auto& [id, text] : knobs) {
    const std::optional<Problem> problem = session.setKnob(QString::fromLatin1(id),
                                                           QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.waitForEstimate();
  QVERIFY2(session.estimated(), session.problems().empty() ? "" : to_string(session.problems()[0]).c_str());
  QVERIFY2(session.estimate()->simulation, session.estimate()->no_time_reason.c_str());
}

// Llama 3 8B with four stages, two replicas and 8 microbatches.
inline void pipelined(Session& session) {
  set(session, {{"tp", "2"}, {"pp", "4"}, {"dp", "2"}, {"batch", "16"}, {"microbatch", "1"}});
}

inline void open(QWidget& view, QSize size = {1000, 760}) {
  view.resize(size);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QCoreApplication::processEvents();
}

inline QPoint middle(GanttCanvas& canvas, const ItemRef& ref) {
  return canvas.ganttLayout().rect(ref).center().toPoint();
}

inline QString row_of(const Inspection& inspection, const QString& name) {
  for (const auto& [label, text] : inspection.rows)
    if (label == name) return text;
  return {};
}

}  // namespace shardscape::ui
