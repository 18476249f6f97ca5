// A window on the page Requests, at 1280x800, and what a person does there.
#pragma once

#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>
#include <algorithm>

#include "explore_window.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/selection_state.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/setting_row.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/spec_editor.h"

namespace shardscape::ui {

inline constexpr int kWait = 300'000;  // ms, on a busy machine

// The page with Llama 3 8B on 8 GPUs: two engines of tp 2, pp 2.
struct RequestsWindow : ExploreWindow {
  RequestsWindow() {
    main.resize(1280, 800);
    session.waitForEstimate();
    QTest::mouseClick(view().pages()->button(ExploreView::Requests), Qt::LeftButton);
    wait();
  }
  RequestsPage& requests() { return static_cast<RequestsPage&>(*view().requests()); }
  SpecEditor& editor() { return *requests().editor(); }
  RequestTimeline& timeline() { return *requests().timeline(); }
  const ServiceRun& run() { return *requests().run(); }
  SelectionState& state() { return *main.findChild<SelectionState*>(); }
  QAbstractItemModel& table() { return *requests().table()->sorted()->sourceModel(); }
  void wait() { QTRY_VERIFY_WITH_TIMEOUT(requests().ready(), kWait); }
  template <typename Widget>
  Widget& part(const char* name) {
    return *requests().findChild<Widget*>(QString::fromLatin1(name));
  }
  template <typename Widget = QLineEdit>
  Widget& field(const char* id) {
    return *qobject_cast<Widget*>(editor().row(id)->field());
  }
  // Types into a field; a folded section opens first.
  void type(const char* id, const char* text) {
    editor().setFolded(editor().row(id)->setting().group, false);
    QLineEdit& line = field(id);
    line.setFocus();
    line.selectAll();
    QTest::keyClick(&line, Qt::Key_Delete);
    QTest::keyClicks(&line, QString::fromLatin1(text));
    QTest::keyClick(&line, Qt::Key_Return);
  }
  void enter(const char* id, const char* text) {
    type(id, text);
    wait();
  }
  void show(RequestsPage::Shown picture) {
    QTest::mouseClick(requests().pictures()->button(picture), Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  // 200 requests that wait for sequences.
  void crowd() {
    type("requests", "200");
    type("rate", "200");
    enter("max_num_seqs", "4");
    show(RequestsPage::Timeline);
  }
  int longestWait() {
    const auto& all = run().simulation.requests;
    const auto waited = [](const RequestRecord& r) { return r.scheduled - r.arrival; };
    return static_cast<int>(std::max_element(all.begin(), all.end(),
                                             [&](const RequestRecord& a, const RequestRecord& b) {
                                               return waited(a) < waited(b);
                                             }) -
                            all.begin());
  }
};

}  // namespace shardscape::ui
