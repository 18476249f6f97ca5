// The timeline in a person's hands: wheel and W A S D, marked ranges and their totals, arrows of waits, rows
// that fold and move, bookmarks.
#include <QTest>
#include <QWheelEvent>
#include <cmath>
#include <numeric>

#include "offscreen.h"
#include "timeline_parts.h"
#include "ui/session/page_settings.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/time_axis.h"
#include "ui/views/timeline/timeline_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

struct Opened {
  explicit Opened(QSize size = {1000, 760}) : state(&session), view(&state, nullptr, &pages) {
    pipelined(session);
    open(view, size);
    canvas().setFocus();
  }
  GanttCanvas& canvas() { return *view.canvas(); }
  GanttLayout layout() { return canvas().ganttLayout(); }
  const Simulation& simulation() { return *session.estimate()->simulation; }
  void wheel(int delta, Qt::KeyboardModifiers held, const QPointF& at) {
    QWheelEvent event(at, canvas().mapToGlobal(at), {}, QPoint(0, delta), Qt::NoButton, held,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas(), &event);
  }
  void drag(const QPoint& from, const QPoint& to) {
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, from);
    QTest::mouseMove(&canvas(), (from + to) / 2);
    QTest::mouseMove(&canvas(), to);
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, to);
  }
  QPoint label(int row) { return {30, static_cast<int>(layout().rowRect(row).top()) + 8}; }

  Session session;
  SelectionState state;
  PageSettings pages;
  TimelineView view;
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

}  // namespace

class TimelineNavigationTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void theWheelScrollsRowsAndZoomsWithCtrl() {
    Opened o({1000, 420});
    set(o.session, {{"pp", "16"}});  // the rows are higher than the view
    QTRY_COMPARE(o.view.lanes()->stages(), 16);
    const QPointF at(600, 150);
    QVERIFY(o.layout().height() > o.layout().plot().height());
    const GanttView before = o.canvas().view();
    o.wheel(-120, Qt::NoModifier, at);
    QVERIFY(o.canvas().view().top > before.top);
    QCOMPARE(o.canvas().view().seconds, before.seconds);
    const double under = o.layout().seconds(at.x());
    o.wheel(240, Qt::ControlModifier, at);
    QVERIFY(o.canvas().view().seconds < 0.7 * before.seconds);
    QVERIFY(std::abs(o.layout().seconds(at.x()) - under) < 1e-6);
    const double from = o.canvas().view().from;
    o.wheel(-120, Qt::ShiftModifier, at);
    QVERIFY(o.canvas().view().from > from);
  }

  void lettersMoveTheView() {
    Opened o;
    const QPoint mouse(700, 200);
    QTest::mouseMove(&o.canvas(), mouse);
    const double under = o.layout().seconds(mouse.x()), seconds = o.canvas().view().seconds;
    QTest::keyClick(&o.canvas(), Qt::Key_W);
    QTest::keyClick(&o.canvas(), Qt::Key_W);
    QVERIFY(o.canvas().view().seconds < 0.6 * seconds);
    QVERIFY(std::abs(o.layout().seconds(mouse.x()) - under) < 1e-6);
    const double from = o.canvas().view().from;
    QTest::keyClick(&o.canvas(), Qt::Key_D);
    QVERIFY(o.canvas().view().from > from);
    QTest::keyClick(&o.canvas(), Qt::Key_A);
    QVERIFY(std::abs(o.canvas().view().from - from) < 1e-9);
    QTest::keyClick(&o.canvas(), Qt::Key_S);
    QTest::keyClick(&o.canvas(), Qt::Key_S);
    QVERIFY(std::abs(o.canvas().view().seconds - seconds) < 1e-9);
  }

  // The compute rows of the totals, with idle time, fill the range; the time of each kind is that of the
  // spans inside the range.
  void aDragMarksARangeWithTotals() {
    Opened o;
    const GanttLayout layout = o.layout();
    const QPoint from(300, static_cast<int>(layout.lane(1, 0).center().y())),
        to(520, static_cast<int>(layout.lane(2, 0).center().y()));
    o.drag(from, to);
    QVERIFY(o.canvas().range());
    const TimeRange range = *o.canvas().range();
    QCOMPARE(range.rows, (std::vector<TimeRange::Row>{{0, 1}, {0, 2}}));
    QVERIFY(near(range.from, layout.seconds(300)) && near(range.to, layout.seconds(520)));
    double compute = 0, forward = 0, expected = 0;
    int count = 0, expected_count = 0;
    for (const RangeTotal& total : totals_of(o.canvas().steps(), range)) {
      if (total.stream == StreamKind::Compute) compute += total.seconds;
      if (total.kind == text_of(span_kind_label(SpanKind::Forward)))
        forward = total.seconds, count = total.count;
    }
    for (const int stage : {1, 2})
      for (const Span& span : o.simulation().stages[static_cast<size_t>(stage)].spans)
        if (const double inside = std::min(span.end, range.to) - std::max(span.begin, range.from);
            span.kind == SpanKind::Forward && inside > 0)
          expected += inside, ++expected_count;
    QVERIFY(expected_count > 0);
    QCOMPARE(count, expected_count);
    QVERIFY(near(forward, expected));
    QVERIFY2(near(compute, 2 * range.seconds()), qPrintable(QString::number(compute)));
    QCOMPARE(o.state.inspection().title, QString("Range of %1").arg(seconds_text(range.seconds())));
    QVERIFY(row_of(o.state.inspection(), text_of(span_kind_label(SpanKind::Forward)))
                .startsWith(seconds_text(expected).replace(' ', QChar(0xA0))));
    QVERIFY(!row_of(o.state.inspection(), "idle").isEmpty());
    // From the axis, the range has all rows.
    o.drag({300, 40}, {520, 40});
    QCOMPARE(o.canvas().range()->rows.size(), size_t{4});
    // A click on a box ends the range. Escape does so too.
    const ItemRef box = o.view.lanes()->of_action(2, Pass::Backward, 3, 0);
    QTest::mouseClick(&o.canvas(), Qt::LeftButton, {}, middle(o.canvas(), box));
    QVERIFY(!o.canvas().range());
    QTest::keyClick(&o.canvas(), Qt::Key_R);  // the range of the selected box
    QVERIFY(near(o.canvas().range()->from, o.view.lanes()->item(box).begin));
    QVERIFY(near(o.canvas().range()->to, o.view.lanes()->item(box).end));
    QTest::keyClick(&o.canvas(), Qt::Key_Escape);
    QVERIFY(!o.canvas().range());
    QVERIFY(o.state.inspection().title.startsWith("One step"));
  }

  void arrowsShowWaits() {
    Opened o;
    const ItemRef box = o.view.lanes()->of_action(2, Pass::Forward, 3, 0);
    QTest::mouseClick(&o.canvas(), Qt::LeftButton, {}, middle(o.canvas(), box));
    const Span& span = o.view.lanes()->span(2, o.view.lanes()->span_index(box));
    QVERIFY(span.waits_span >= 0);
    const std::vector<Flow>& flows = o.canvas().flows();
    const auto leads = [&](const Flow& flow) {
      return flow.to == box && flow.from == o.view.lanes()->of_span(span.waits_stage, span.waits_span);
    };
    QCOMPARE(std::count_if(flows.begin(), flows.end(), leads), 1);
    for (const Flow& flow : flows) {
      QVERIFY(flow.from == box || flow.to == box);
      QVERIFY(flow.left <= flow.arrived + 1e-9);
    }
    // Someone waits for the message that the forward sends, or for the forward itself.
    QVERIFY(std::any_of(flows.begin(), flows.end(), [&](const Flow& flow) { return flow.from == box; }));
    QTest::keyClick(&o.canvas(), Qt::Key_Escape);
    QVERIFY(o.canvas().flows().empty());
  }

  void rowsFold() {
    Opened o;
    const double high = o.layout().rowRect(1).height();
    QTest::mouseClick(&o.canvas(), Qt::LeftButton, {}, o.label(1));
    QVERIFY(o.layout().rows()[1].folded);
    QVERIFY(o.layout().rowRect(1).height() < high);
    QVERIFY(o.layout().lane(1, 1).isNull() && !o.layout().lane(1, 0).isNull());
    QVERIFY(!o.layout().rows()[0].folded);
    QTest::mouseClick(&o.canvas(), Qt::LeftButton, Qt::ControlModifier, o.label(0));
    QVERIFY(o.layout().rows()[0].folded && o.layout().rows()[3].folded);
    // A box of a folded stream unfolds its row when something leads there.
    const ItemRef sync{2, 1, 0};
    o.canvas().select(sync);
    o.canvas().reveal(sync);
    QVERIFY(!o.layout().rows()[2].folded);
    QTest::keyClick(&o.canvas(), Qt::Key_C);
    QVERIFY(o.layout().rows()[2].folded);
    QTest::keyClick(&o.canvas(), Qt::Key_C, Qt::ShiftModifier);
    const GanttLayout shown = o.layout();
    for (const GanttRow& row : shown.rows()) QVERIFY(!row.folded);
  }

  void rowsMove() {
    Opened o;
    const auto stages = [&] {
      std::vector<int> out;
      const GanttLayout shown = o.layout();
      for (const GanttRow& row : shown.rows()) out.push_back(row.stage);
      return out;
    };
    o.drag(o.label(0), o.label(2));
    QCOMPARE(stages(), (std::vector<int>{1, 2, 0, 3}));
    // Clicks and keys follow the shown order.
    const ItemRef box = o.view.lanes()->of_action(0, Pass::Forward, 3, 0);
    QTest::mouseClick(&o.canvas(), Qt::LeftButton, {}, middle(o.canvas(), box));
    QCOMPARE(o.canvas().selected(), box);
    QTest::keyClick(&o.canvas(), Qt::Key_Up);
    QCOMPARE(o.canvas().selected().stage, 2);
    QTest::keyClick(&o.canvas(), Qt::Key_Down, Qt::AltModifier);
    QCOMPARE(stages(), (std::vector<int>{1, 0, 2, 3}));
    // Another number of stages starts in order again.
    set(o.session, {{"pp", "2"}});
    QTRY_COMPARE(stages(), (std::vector<int>{0, 1}));
  }

  // Zoomed in, boxes become ops with colours of their own; the legend names those.
  void theLegendFollowsTheZoom() {
    Opened o;
    const auto shows = [&](Role role) { return o.canvas().shownRoles().test(static_cast<size_t>(role)); };
    o.canvas().grab();
    QVERIFY(shows(Role::Forward) && shows(Role::Backward) && shows(Role::DataParallel));
    QVERIFY(!shows(Role::MatrixProducts));
    o.canvas().foldAll(true);
    const ItemRef box = o.view.lanes()->of_action(1, Pass::Forward, 2, 0);
    o.canvas().foldRow(0, 1, false);
    o.canvas().zoomTo(box);
    for (int i = 0; i < 4; ++i) o.canvas().zoomBy(2);
    QTRY_VERIFY((o.canvas().grab(), shows(Role::MatrixProducts)));
    QVERIFY(shows(Role::TensorParallel) && !shows(Role::Optimizer));
  }

  void rowsUseTheHeight() {
    Opened low({1000, 600}), high({1000, 1300});
    QVERIFY(high.layout().lane(0, 0).height() > low.layout().lane(0, 0).height());
    QVERIFY(high.layout().height() <= high.layout().plot().height() + 1);
    QVERIFY2(high.layout().height() > 0.55 * high.layout().plot().height(),
             qPrintable(QString::number(high.layout().height() / high.layout().plot().height())));
  }

  // "5.0 s" next to a step of 5.19 s, not "5,000 ms".
  void theAxisHasTheUnitOfTheStep() {
    QCOMPARE(time_axis_unit(5.19, 0.5).unit, QString("s"));
    QCOMPARE(time_axis_unit(5.19, 0.001).unit, QString("s"));
    QCOMPARE(time_axis_unit(5.19, 0.0005).unit, QString("ms"));
    QCOMPARE(time_axis_unit(0.2, 0.05).unit, QString("ms"));
    QCOMPARE(time_axis_unit(0.2, 5e-8).unit, QString("µs"));
  }

  void bookmarksAreSetAndFound() {
    Opened o;
    const ItemRef early = o.view.lanes()->of_action(0, Pass::Forward, 1, 0),
                  late = o.view.lanes()->of_action(0, Pass::Backward, 6, 0);
    for (const ItemRef& box : {late, early}) {
      o.canvas().select(box);
      QTest::keyClick(&o.canvas(), Qt::Key_B);
    }
    const double first = o.view.lanes()->item(early).begin, last = o.view.lanes()->item(late).begin;
    QCOMPARE(o.canvas().bookmarks(), (std::vector<double>{first, last}));
    QTest::keyClick(&o.canvas(), Qt::Key_Escape);
    for (int i = 0; i < 8; ++i) QTest::keyClick(&o.canvas(), Qt::Key_Plus);
    const auto shows = [&](double seconds) {
      return std::abs(o.canvas().view().from + o.canvas().view().seconds / 2 - seconds) <
             0.02 * o.canvas().view().seconds;
    };
    QTest::keyClick(&o.canvas(), Qt::Key_N);
    QVERIFY(shows(last));
    QTest::keyClick(&o.canvas(), Qt::Key_N);
    QVERIFY(shows(first));
    QTest::keyClick(&o.canvas(), Qt::Key_N, Qt::ShiftModifier);
    QVERIFY(shows(last));
    QVERIFY(o.canvas().tipAt(bookmark_flag(o.layout(), last).center()).startsWith("Bookmark 2"));
    // B on a bookmark removes it.
    o.canvas().select(late);
    QTest::keyClick(&o.canvas(), Qt::Key_B);
    QCOMPARE(o.canvas().bookmarks(), std::vector<double>{first});
    // In a longer step, the bookmark keeps its relative place.
    const double step = o.simulation().step_seconds;
    set(o.session, {{"seq", "16384"}});
    QTRY_VERIFY(o.view.lanes() && o.view.lanes()->simulation().step_seconds > step);
    QVERIFY(near(o.canvas().bookmarks()[0] / o.simulation().step_seconds, first / step));
    // The settings of the pages hold the bookmarks, for the document. Others can set them.
    QCOMPARE(o.pages.pages().bookmarks.size(), size_t{1});
    QVERIFY(near(o.pages.pages().bookmarks[0], first / step));
    o.pages.setBookmarks({0.5, 0.75});
    QVERIFY(near(o.canvas().bookmarks()[1], 0.75 * o.simulation().step_seconds));
    QCOMPARE(o.pages.pages().bookmarks, (std::vector<double>{0.5, 0.75}));
  }

  // Bookmarks of an opened document wait for the step.
  void bookmarksWaitForTheStep() {
    PageSettings pages;
    Session session;
    SelectionState state(&session);
    TimelineView view(&state, nullptr, &pages);
    pages.setBookmarks({0.25});
    QVERIFY(view.canvas()->bookmarks().empty());
    pipelined(session);
    open(view, {1000, 760});
    QCOMPARE(view.canvas()->bookmarks().size(), size_t{1});
    QVERIFY(near(view.canvas()->bookmarks()[0], 0.25 * session.estimate()->simulation->step_seconds));
    QCOMPARE(pages.pages().bookmarks, std::vector<double>{0.25});
  }
};

QTEST_MAIN(TimelineNavigationTest)
#include "timeline_navigation_test.moc"
