// The search over designs in the window: its setup, points, filters and table, driven by mouse and keys.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTest>
#include <cmath>

#include "design/document.h"
#include "design/knobs/command_flags.h"
#include "design/validate/validate.h"
#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/roles.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/condition_row.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/exclusion_examples.h"
#include "ui/views/explore/exclusion_list.h"
#include "ui/views/explore/filter_strips.h"
#include "ui/views/explore/point_style.h"

using namespace shardscape;
using namespace shardscape::ui;

class ExploreTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void offersUsualDimensions() {
    ExploreWindow w;
    const auto usual = usual_dimensions(w.session.design(), 8, {});
    QVERIFY(usual.size() > 5);
    for (const auto& [id, values] : usual) {
      DimensionRow* row = w.setup().row(QString::fromStdString(id));
      QVERIFY2(row, id.c_str());
      QVERIFY(row->used());
      QCOMPARE(row->values().toStdString(), values);
    }
    QCOMPARE(w.setup().row("gpus")->values(), QString("8"));
    QCOMPARE(w.setup().spec().dimensions, usual);
    // The dimensions follow the design until the person changes one.
    w.session.setKnob("dp", "4");
    QCOMPARE(w.setup().row("gpus")->values(), QString("16"));
    QTest::mouseClick(w.setup().row("tp")->tick(), Qt::LeftButton, {},
                      QPoint(10, w.setup().row("tp")->tick()->height() / 2));
    QVERIFY(!w.setup().row("tp")->used());
    QVERIFY(!w.setup().usual());
    w.session.setKnob("dp", "2");
    QCOMPARE(w.setup().row("gpus")->values(), QString("16"));
  }

  void countsAsItIsEdited() {
    ExploreWindow w;
    w.vary({{"microbatch", "1,2"}, {"recompute", "none,full"}});
    QLineEdit* field = w.setup().row("microbatch")->field();
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, "1,2,4,16");
    QTRY_VERIFY_WITH_TIMEOUT(
        w.view().job()->counted() && w.view().job()->counted()->exact && w.view().job()->counted()->size == 8,
        test::kLongestRun);
    // A microbatch of 16 is invalid with two replicas and a batch of 16. Compare the count with a full
    // enumeration.
    auto space = Space::make(w.setup().spec());
    const auto& made = std::get<std::shared_ptr<const Space>>(space);
    int valid = 0;
    for (Wide i = 0; i < made->size(); ++i) valid += !has_errors(validate(made->design_at(i)));
    QCOMPARE(static_cast<int>(w.view().job()->counted()->valid), valid);
    QVERIFY(valid < 8);
    QCOMPARE(w.setup().findChild<QLabel*>("space_size")->text(), QString("8 designs"));
    QCOMPARE(w.setup().findChild<QLabel*>("space_valid")->text(), QString("of which %1 valid").arg(valid));
  }

  void badValuesSayWhatIsAccepted() {
    ExploreWindow w;
    DimensionRow* row = w.setup().row("microbatch");
    row->field()->setFocus();
    row->field()->selectAll();
    QTest::keyClicks(row->field(), "1,two");
    QVERIFY(row->refused());
    QVERIFY2(row->issue()->text().contains("accepted"), qPrintable(row->issue()->text()));
    QVERIFY(!w.setup().ready());
    QVERIFY(!w.setup().runButton()->isEnabled());
    QTest::mouseClick(row->issue()->fixButton(), Qt::LeftButton);
    QTRY_VERIFY(!row->refused());
    QVERIFY(w.setup().runButton()->isEnabled());
    // The same for conditions and percentages.
    QTest::mouseClick(w.setup().findChild<QPushButton*>("add_condition"), Qt::LeftButton);
    QCOMPARE(w.setup().conditions().size(), 1);
    ConditionRow* condition = w.setup().conditions().front();
    QTest::keyClicks(condition->field(), "tp*cp <= nodde");
    QVERIFY(condition->refused());
    QVERIFY(!w.setup().runButton()->isEnabled());
    QTest::keyClick(condition->field(), Qt::Key_Backspace);
    for (int i = 0; i < 2; ++i) QTest::keyClick(condition->field(), Qt::Key_Backspace);
    QTest::keyClicks(condition->field(), "de");
    QVERIFY2(!condition->refused(), qPrintable(condition->issue()->text()));
    QTest::keyClicks(w.setup().marginField(), "120");
    QVERIFY(!w.setup().runButton()->isEnabled());
    QVERIFY(w.setup().findChild<QLabel*>("space_refusal")->isVisible());
    w.setup().marginField()->clear();
    QTest::keyClicks(w.setup().marginField(), "10 %");
    QVERIFY(w.setup().runButton()->isEnabled());
    QCOMPARE(w.setup().spec().memory_margin, 0.1);
    QCOMPARE(w.setup().spec().constraints, std::vector<std::string>{"tp*cp <= node"});
    // A problem of the whole space appears at the field that it names.
    w.vary({{"tp", "3"}, {"pp", "5"}});
    QTest::keyClicks(w.setup().row("tp")->field(), " ");
    QTRY_VERIFY(w.setup().row("gpus")->refused() ||
                w.setup().findChild<QLabel*>("space_refusal")->isVisible());
  }

  void searches() {
    ExploreWindow w;
    w.searchSmall();
    const auto rows = w.view().job()->rows();
    QVERIFY(rows);
    auto space = Space::make(w.setup().spec());
    auto expected = search(std::get<0>(space), w.setup().options());
    const SearchResult& result = std::get<SearchResult>(expected);
    QVERIFY(result.counts.timed > 5);
    QCOMPARE(rows->result().counts, result.counts);
    QCOMPARE(rows->rows(), static_cast<int>(result.counts.timed));  // all results of a small space are kept
    QCOMPARE(rows->index(0), result.best.front().index);
    // Points have the values of their designs.
    const int step = rows->column("step_time"), memory = rows->column("memory");
    for (int row = 0; row < rows->rows(); ++row) {
      QCOMPARE(rows->value(row, step), rows->point(row).evaluation.step_seconds);
      QCOMPARE(rows->value(row, memory), static_cast<double>(rows->point(row).evaluation.memory));
    }
    // The line connects the Pareto front.
    std::vector<int> front;
    for (int a = 0; a < rows->rows(); ++a) {
      bool beaten = false;
      for (int b = 0; b < rows->rows(); ++b)
        beaten = beaten || (rows->value(b, step) <= rows->value(a, step) &&
                            rows->value(b, memory) <= rows->value(a, memory) &&
                            (rows->value(b, step) < rows->value(a, step) ||
                             rows->value(b, memory) < rows->value(a, memory)));
      if (!beaten) front.push_back(a);
    }
    QCOMPARE(w.scatter().front().size(), front.size());
    for (int row : w.scatter().front()) QVERIFY(std::find(front.begin(), front.end(), row) != front.end());
    // The counts of all reasons add up to the excluded designs.
    int64_t out = 0;
    for (const auto& reason : w.setup().reasons()->reasons()) out += reason.count;
    QCOMPARE(out, result.counts.enumerated - result.counts.timed);
  }

  void cancelsAtOnce() {
    ExploreWindow w;
    w.vary({{"tp", "1..64"},
            {"pp", "all"},
            {"virtual_stages", "1..16"},
            {"microbatch", "1..512"},
            {"seq", "1024..65536+64"},
            {"batch", "16..16384+16"},
            {"recompute", "all"}});
    w.setup().row("gpus")->setValues("8..65536*2");
    QSignalSpy finished(w.view().job(), &ExploreJob::finished),
        progressed(w.view().job(), &ExploreJob::progressed), rows(w.view().job(), &ExploreJob::rowsChanged);
    QTest::mouseClick(w.setup().runButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(progressed.count() > 2 && rows.count() > 0, test::kLongestRun);
    QVERIFY(w.view().job()->running());
    QVERIFY(!w.view().job()->progressText().isEmpty());
    QCOMPARE(w.setup().runButton()->text(), QString("Cancel"));
    QElapsedTimer clock;
    clock.start();
    QTest::mouseClick(w.setup().runButton(), Qt::LeftButton);
    QVERIFY(clock.elapsed() < 100);  // milliseconds; the window stays responsive
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 5'000);
    qInfo("cancelled in %lld ms", static_cast<long long>(clock.elapsed()));
    QVERIFY(w.view().job()->cancelled());
    QVERIFY(w.view().job()->rows());
    QVERIFY(w.view().findChild<QLabel*>("explore_note")->isVisible());
    QCOMPARE(w.setup().runButton()->text(), QString("Search"));
  }

  // The result of a search is of the document in which it began.
  void aSearchEndsWithItsDocument() {
    ExploreWindow w;
    w.vary({{"tp", "1..64"}, {"pp", "all"}, {"microbatch", "1..512"}, {"seq", "1024..65536+64"}});
    w.setup().row("gpus")->setValues("8..65536*2");
    QSignalSpy finished(w.view().job(), &ExploreJob::finished);
    QTest::mouseClick(w.setup().runButton(), Qt::LeftButton);
    QVERIFY(w.view().job()->running());
    w.session.reset(default_design());
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::kLongestRun);
    QVERIFY(!w.session.search() && !w.view().job()->rows());
  }

  // Each reason has an example: the message of one excluded design.
  void saysWhyDesignsAreLeftOut() {
    ExploreWindow w;
    w.vary({{"tp", "1,2,4"}, {"microbatch", "1,2,16"}, {"virtual_stages", "1,3"}});
    w.search();
    const SearchResult& result = w.view().job()->rows()->result();
    QVERIFY(result.counts.invalid.size() > 1);
    const auto examples = exclusionExamples(*result.space, result.counts);
    int told = 0;
    for (const auto& reason : w.setup().reasons()->reasons()) {
      if (reason.knob.empty()) continue;
      ++told;
      QVERIFY2(examples.count(reason.knob) && !examples.at(reason.knob).empty(), reason.knob.c_str());
      QTRY_COMPARE(reason.example, QString::fromStdString(examples.at(reason.knob)));
    }
    QCOMPARE(told, static_cast<int>(result.counts.invalid.size()));
    // The example is an error at that knob of a design of the space.
    const auto& [knob, text] = *examples.begin();
    bool found = false;
    for (Wide i = 0; i < result.space->size() && !found; ++i)
      for (const Problem& problem : validate(result.space->design_at(i)))
        found = found ||
                (problem.where == knob && problem.what == text && problem.severity == Severity::Error);
    QVERIFY(found);
    QVERIFY(w.setup().reasons()->heightForWidth(200) >
            w.setup().reasons()->heightForWidth(2000));  // the list wraps and grows
  }

  // Without the panel (F7), a button and keys still start the search.
  void searchesWithoutThePanel() {
    ExploreWindow w;
    w.vary({{"tp", "1,2,4"}, {"microbatch", "1,2"}});
    auto* here = w.view().findChild<QPushButton*>("run_search_here");
    QVERIFY(here && !here->isVisible());
    w.main.actions().inspector->trigger();
    QVERIFY(!w.setup().isVisible());
    QVERIFY(here->isVisible() && here->isEnabled());
    QCOMPARE(here->text(), w.setup().runButton()->text());
    QSignalSpy finished(w.view().job(), &ExploreJob::finished);
    QTest::mouseClick(here, Qt::LeftButton);
    QVERIFY(w.view().job()->running());
    QCOMPARE(here->text(), QString("Cancel"));
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::kLongestRun);
    QCOMPARE(here->text(), QString("Search"));
    QTest::keyClick(&w.main, Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 2, test::kLongestRun);
    w.main.actions().inspector->trigger();
    QVERIFY(!here->isVisible());
  }

  // Each row gives its design as a command line and as the text of a saved design.
  void rowsCopyTheirDesign() {
    ExploreWindow w;
    w.searchSmall();
    auto* copy = w.page().findChild<QAction*>("copy_command");
    auto* json = w.page().findChild<QAction*>("copy_json");
    w.page().selectDesign(-1);
    for (QAction* action : {copy, json}) {
      QVERIFY(!action->isEnabled());
      QVERIFY(w.page().table()->actions().contains(action));
      QVERIFY(w.scatter().actions().contains(action));
    }
    for (int row = 0; row < w.page().rows()->rows(); ++row) {
      w.page().selectDesign(row);
      copy->trigger();
      QCOMPARE(QApplication::clipboard()->text(),
               QString::fromStdString(command_line(w.page().rows()->design(row))));
      json->trigger();
      QCOMPARE(QApplication::clipboard()->text(),
               QString::fromStdString(to_json(w.page().rows()->design(row))));
    }
  }

  void selectsByMouse() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    w.scatter().grab();
    const int row = w.scatter().front().front();
    const QPoint at = w.scatter().place(row).toPoint();
    QTest::mouseMove(&w.scatter(), at);
    const int hovered = w.scatter().rowAt(at);
    QVERIFY(hovered >= 0);
    QTest::mouseClick(&w.scatter(), Qt::LeftButton, {}, at);
    QCOMPARE(w.scatter().selected(), hovered);
    QCOMPARE(w.page().selectedRow(), hovered);
    QCOMPARE(w.page().model()->designAt(
                 w.page().table()->sorted()->mapToSource(w.page().table()->currentIndex()).row()),
             hovered);
    // A double click makes the point the present design. Undo restores the previous design.
    const Design before = w.session.design();
    const Design wanted = w.page().rows()->design(hovered);
    QVERIFY(wanted != before);
    QTest::mouseDClick(&w.scatter(), Qt::LeftButton, {}, at);
    QCOMPARE(w.session.design(), wanted);
    QVERIFY(!w.view().stale());
    w.session.undoStack()->undo();
    QCOMPARE(w.session.design(), before);
    // A click far from all points clears the selection.
    QTest::mouseClick(&w.scatter(), Qt::LeftButton, {},
                      w.scatter().plot().topRight().toPoint() + QPoint(-3, 3));
    QCOMPARE(w.page().selectedRow(), -1);
  }

  void selectsByKeys() {
    ExploreWindow w;
    w.searchSmall();
    w.scatter().setFocus(Qt::TabFocusReason);
    w.scatter().grab();
    QTest::keyClick(&w.scatter(), Qt::Key_Home);
    QCOMPARE(w.page().selectedRow(), 0);
    const double x = w.scatter().place(0).x();
    QTest::keyClick(&w.scatter(), Qt::Key_Left);
    const int left = w.page().selectedRow();
    QVERIFY(left != 0 && w.scatter().place(left).x() < x);
    QTest::keyClick(&w.scatter(), Qt::Key_Up);
    const int up = w.page().selectedRow();
    QVERIFY(up != left && w.scatter().place(up).y() < w.scatter().place(left).y());
    QTest::keyClick(&w.scatter(), Qt::Key_Return);
    QCOMPARE(w.session.design(), w.page().rows()->design(up));
    QVERIFY(w.scatter().atHome());
    QTest::keyClick(&w.scatter(), Qt::Key_Plus);
    QVERIFY(!w.scatter().atHome());
    QVERIFY(w.scatter().plot().contains(w.scatter().place(up)));
    QTest::keyClick(&w.scatter(), Qt::Key_Minus);
    QTest::keyClick(&w.scatter(), Qt::Key_0);
    QVERIFY(w.scatter().atHome());
    QTest::keyClick(&w.scatter(), Qt::Key_Escape);
    QCOMPARE(w.page().selectedRow(), -1);
  }

  void otherDesignsAreStale() {
    ExploreWindow w;
    w.searchSmall();
    QVERIFY(!w.view().stale());
    QVERIFY(!w.view().findChild<QLabel*>("explore_note")->isVisible());
    w.session.setKnob("seq", "8192");
    QVERIFY(w.view().stale());
    QVERIFY(w.view().findChild<QLabel*>("explore_note")->isVisible());
    w.session.undoStack()->undo();
    QVERIFY(!w.view().stale());
    w.session.setKnob("microbatch", "2");  // a dimension of the search
    QVERIFY(!w.view().stale());
    // The panel asks for the GPUs of the current design, unless the person says another number.
    const auto note = [&] { return w.view().findChild<QLabel*>("explore_note")->text(); };
    w.session.setKnob("dp", "4");
    QVERIFY(w.view().stale());
    QVERIFY2(note().contains("are for 8 GPUs") && note().contains("asks for 16"), qPrintable(note()));
    DimensionRow* gpus = w.setup().row("gpus");
    gpus->setValues("8");
    Q_EMIT gpus->edited();
    QVERIFY(!w.view().stale());
    QVERIFY2(note().contains("uses 16 GPUs") && note().contains("are for 8"), qPrintable(note()));
    w.session.undoStack()->undo();
    QVERIFY(!w.view().stale());
    gpus->setValues("64");
    Q_EMIT gpus->edited();
    QVERIFY(w.view().stale());
  }

  // Filters, scatter and table show the same designs.
  void filtersByBrushing() {
    ExploreWindow w;
    w.searchSmall();
    FilterStrips& filters = *w.page().filters();
    const auto rows = w.page().rows();
    const int tp = filters.strip("tp"), recompute = filters.strip("recompute");
    QVERIFY(tp >= 0 && recompute >= 0 && filters.strip("step_time") >= 0);
    QCOMPARE(filters.bins(tp), 3);
    QVERIFY(!filters.filtering());
    QCOMPARE(filters.passed(), rows->rows());
    const auto count = [&](auto passes) {
      int n = 0;
      for (int row = 0; row < rows->rows(); ++row) n += passes(rows->design(row));
      return n;
    };
    // A click filters by one value, a drag by a range, Ctrl+click adds a value.
    QTest::mouseClick(&filters, Qt::LeftButton, {}, filters.barRect(tp, 1).center().toPoint());
    QVERIFY(filters.filtering());
    QCOMPARE(filters.passed(), count([](const Design& d) { return d.parallel.tp == 2; }));
    for (int row = 0; row < rows->rows(); ++row)
      QCOMPARE(w.scatter().passes(row), rows->design(row).parallel.tp == 2);
    for (int row : w.scatter().front()) QCOMPARE(rows->design(row).parallel.tp, 2);
    QCOMPARE(w.page().model()->rowCount(), filters.passed());
    QTest::mousePress(&filters, Qt::LeftButton, {}, filters.barRect(tp, 1).center().toPoint());
    QTest::mouseMove(&filters, filters.barRect(tp, 2).center().toPoint());
    QTest::mouseRelease(&filters, Qt::LeftButton, {}, filters.barRect(tp, 2).center().toPoint());
    QCOMPARE(filters.passed(), count([](const Design& d) { return d.parallel.tp >= 2; }));
    QTest::mouseClick(&filters, Qt::LeftButton, {}, filters.barRect(recompute, 0).center().toPoint());
    const int both = count(
        [](const Design& d) { return d.parallel.tp >= 2 && d.workload.recompute == Recompute::None; });
    QCOMPARE(filters.passed(), both);
    // Each histogram counts the designs that pass the filters of all other histograms.
    QCOMPARE(filters.open(recompute, 1), count([](const Design& d) {
               return d.parallel.tp >= 2 && d.workload.recompute != Recompute::None;
             }));
    QCOMPARE(filters.open(tp, 0), count([](const Design& d) {
               return d.parallel.tp == 1 && d.workload.recompute == Recompute::None;
             }));
    QTest::mouseClick(&filters, Qt::LeftButton, Qt::ControlModifier,
                      filters.barRect(recompute, 1).center().toPoint());
    QCOMPARE(filters.passed(), count([](const Design& d) { return d.parallel.tp >= 2; }));
    auto* clear = w.page().findChild<QPushButton*>("clear_filters");
    QVERIFY(clear->isVisible());
    QTest::mouseClick(clear, Qt::LeftButton);
    QVERIFY(!filters.filtering());
    QVERIFY(!clear->isVisible());
    // The same by keys.
    filters.setFocus(Qt::TabFocusReason);
    for (int i = 0; i < filters.strips(); ++i) QTest::keyClick(&filters, Qt::Key_Up);
    for (int i = 0; i < tp; ++i) QTest::keyClick(&filters, Qt::Key_Down);
    QTest::keyClick(&filters, Qt::Key_Home);
    QTest::keyClick(&filters, Qt::Key_Space);
    QCOMPARE(filters.passed(), count([](const Design& d) { return d.parallel.tp == 1; }));
    QTest::keyClick(&filters, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(filters.passed(), count([](const Design& d) { return d.parallel.tp <= 2; }));
    QTest::keyClick(&filters, Qt::Key_Escape);
    QVERIFY(!filters.filtering());
  }

  void tableIsLinked() {
    ExploreWindow w;
    w.searchSmall();
    const QAbstractItemModelTester tester(w.page().model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    ChartTable& table = *w.page().table();
    const int step = w.page().rows()->column("step_time"), shown = w.page().model()->tableColumnOf(step);
    QCOMPARE(shown, 0);  // objectives come first
    QCOMPARE(w.page().model()->rowCount(), w.page().rows()->rows());
    // The step time has its band, and a sign if the design is a tie with the best one.
    for (int row = 0; row < w.page().rows()->rows(); ++row) {
      const QString text = w.page().model()->index(row, shown).data().toString();
      QVERIFY2(text.contains(" to "), qPrintable(text));
      QCOMPARE(text.startsWith("≈ "), w.page().rows()->judgedByBest(row).tie);
    }
    QVERIFY(!w.page().rows()->judgedByBest(0).tie && w.page().rows()->judgedByBest(1).tie);
    table.setFocus();
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualRect(table.sorted()->index(1, 0)).center());
    QCOMPARE(w.scatter().selected(), 1);
    QTest::keyClick(&table, Qt::Key_Down);
    QCOMPARE(w.scatter().selected(), 2);
    QTest::mouseMove(table.viewport(), table.visualRect(table.sorted()->index(0, 0)).center());
    QCOMPARE(w.scatter().hovered(), 0);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(table.viewport(), &leave);
    QCOMPARE(w.scatter().hovered(), -1);
    // Sorting by a column keeps the selected design.
    table.sortByColumn(shown, Qt::DescendingOrder);
    double before = 1e300;
    for (int row = 0; row < table.sorted()->rowCount(); ++row) {
      const double now = table.sorted()->index(row, shown).data(TableModel::SortRole).toDouble();
      QVERIFY(now <= before);
      before = now;
    }
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualRect(table.sorted()->index(0, 0)).center());
    const int slowest = w.scatter().selected();
    for (int row = 0; row < w.page().rows()->rows(); ++row)
      QVERIFY(w.page().rows()->value(row, step) <= w.page().rows()->value(slowest, step));
    const Design wanted = w.page().rows()->design(slowest);
    QTest::keyClick(&table, Qt::Key_Return);
    QCOMPARE(w.session.design(), wanted);
    // Columns can be chosen.
    const int cost = w.page().model()->tableColumnOf(w.page().rows()->column("headroom"));
    QVERIFY(table.isColumnHidden(cost));
    Q_EMIT w.page().columnsMenu()->aboutToShow();
    auto* action = w.page().columnsMenu()->findChild<QAction*>("column_headroom");
    QVERIFY(action && !action->isChecked());
    action->trigger();
    QVERIFY(!table.isColumnHidden(cost));
    w.page().columnsMenu()->findChild<QAction*>("column_tp")->trigger();
    QVERIFY(table.isColumnHidden(w.page().model()->tableColumnOf(w.page().rows()->column("tp"))));
  }

  // A range of more than a factor of ten has a logarithmic axis. Strips name their values.
  void widerRangesAreLogarithmic() {
    ExploreWindow w;
    w.vary({{"tp", "1,2,4,8"}, {"microbatch", "1,2"}, {"seq", "256,1024,8192"}, {"recompute", "none,full"}});
    w.search();
    const ValueColumn& step = w.page().rows()->column(w.page().rows()->column("step_time"));
    QVERIFY2(step.high > 10 * step.low, qPrintable(QString("%1 %2").arg(step.low).arg(step.high)));
    QVERIFY(w.scatter().yScale().logarithmic);
    const FilterStrips& filters = *w.page().filters();
    for (int strip = 0; strip < filters.strips(); ++strip) {
      const auto labels = filters.labels(strip);
      QVERIFY(!labels.empty());
      double end = -1;
      for (const FilterStrips::Label& label : labels) {
        QVERIFY(!label.text.isEmpty());
        QVERIFY2(label.place.left() > end, qPrintable(label.text));
        QVERIFY(QRectF(filters.rect()).adjusted(-1, 0, 1, 1).contains(label.place));
        end = label.place.right();
      }
    }
    const auto tp = filters.labels(filters.strip("tp"));
    const ValueColumn& degrees = w.page().rows()->column(w.page().rows()->column("tp"));
    QCOMPARE(tp.front().text, degrees.choices.front());
    QCOMPARE(tp.back().text, degrees.choices.back());
  }

  // Values of a knob are steps of a ramp. None looks like a kind of memory, work or communication.
  void valuesHaveNoColourOfARole() {
    ExploreWindow w;
    w.vary({{"tp", "1,2,4,8"}, {"pp", "1,2,4"}, {"recompute", "none,full"}});
    w.search();
    const auto rows = w.page().rows();
    PointStyle style;
    style.set(*rows, rows->column("tp"), -1, UnitSystem::Binary);
    QCOMPARE(style.colourWords(), QStringList({"1", "2", "4", "8"}));
    QVERIFY(!style.ramp());
    const auto apart = [](const QColor& a, const QColor& b) {  // largest difference of a channel
      return std::max(
          {std::abs(a.red() - b.red()), std::abs(a.green() - b.green()), std::abs(a.blue() - b.blue())});
    };
    for (const Theme::Mode mode : {Theme::Mode::Dark, Theme::Mode::Light}) {
      Theme::instance().setMode(mode);
      for (int value = 0; value < style.colours(); ++value) {
        const QColor ink = style.color(value);
        for (int before = 0; before < value; ++before) QVERIFY(apart(ink, style.color(before)) >= 30);
        for (int role = 0; role < kRoleCount; ++role)
          QVERIFY2(
              apart(ink, color_of(static_cast<Role>(role))) >= 12,
              qPrintable(
                  QString("tp %1: %2").arg(style.colourWords()[value], label_of(static_cast<Role>(role)))));
      }
    }
  }

  void otherAxes() {
    ExploreWindow w;
    w.searchSmall();
    QComboBox* x = w.page().axisBox(0);
    x->setFocus();
    const int pp = x->findData("pp");
    QVERIFY(pp >= 0);
    x->setCurrentIndex(pp);
    Q_EMIT x->activated(pp);
    w.scatter().grab();
    QVERIFY(w.scatter().xScale().ordinal);
    QVERIFY(w.scatter().front().empty());  // such an axis has no better direction, so there is no front
    const auto rows = w.page().rows();
    const int column = rows->column("pp");
    for (int a = 0; a < rows->rows(); ++a)
      for (int b = 0; b < rows->rows(); ++b)
        if (rows->value(a, column) < rows->value(b, column))
          QVERIFY(w.scatter().place(a).x() < w.scatter().place(b).x());
    for (int box : {2, 3}) {
      const int at = w.page().axisBox(box)->findData("step_time");
      w.page().axisBox(box)->setCurrentIndex(at);
      Q_EMIT w.page().axisBox(box)->activated(at);
    }
    QVERIFY(!w.scatter().grab().isNull());
  }
};

QTEST_MAIN(ExploreTest)
#include "explore_test.moc"
