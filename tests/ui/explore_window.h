// A window on the Explore view, with spaces that are searched within a second.
#pragma once

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "support/longest_run.h"
#include "ui/session/session.h"
#include "ui/shell/main_window.h"
#include "ui/views/explore/designs_page.h"
#include "ui/views/explore/dimension_row.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/explore/setup_panel.h"

namespace shardscape::ui {

// The main window with Llama 3 8B on 8 GPUs.
inline void small(Session& session) {
  for (const auto& [id, text] : {std::pair{"tp", "2"},
                                 {"pp", "2"},
                                 {"dp", "2"},
                                 {"batch", "16"},
                                 {"seq", "4096"},
                                 {"microbatch", "1"}}) {
    const auto problem = session.setKnob(QString::fromLatin1(id), QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.endEdit();  // the next edit is an undo step of its own
  session.waitForEstimate();
}

struct ExploreWindow {
  ExploreWindow() : main(&session) {
    small(session);
    main.resize(1440, 900);
    main.show();
    main.showView(static_cast<int>(viewNames().indexOf(QStringLiteral("Explore"))));
    QCoreApplication::processEvents();
  }
  ExploreView& view() { return *main.explore(); }
  SetupPanel& setup() { return *view().setup(); }
  DesignsPage& page() { return *view().designs(); }
  ScatterCanvas& scatter() { return *page().scatter(); }
  // Searches over these dimensions only.
  void vary(std::initializer_list<std::pair<const char*, const char*>> dimensions) {
    for (const auto& [id, values] : usual_dimensions(session.design(), 8, {}))
      if (DimensionRow* row = setup().row(QString::fromStdString(id))) row->setUsed(false);
    for (const auto& [id, values] : dimensions)
      setup().addDimension(QString::fromLatin1(id), QString::fromLatin1(values), true);
  }
  void search() {
    QSignalSpy finished(view().job(), &ExploreJob::finished);
    QTest::mouseClick(setup().runButton(), Qt::LeftButton);
    QVERIFY(view().job()->running());
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::kLongestRun);
    QVERIFY2(!view().job()->failure(),
             view().job()->failure() ? to_string(*view().job()->failure()).c_str() : "");
  }
  void searchSmall() {
    vary({{"tp", "1,2,4"}, {"pp", "1,2,4"}, {"microbatch", "1,2"}, {"recompute", "none,full"}});
    search();
  }
  Session session;
  MainWindow main;
};

}  // namespace shardscape::ui
