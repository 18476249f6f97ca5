// Pages of the Explore view: many results, comparison, scaling, saving and export.
#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "campaign/running_cost.h"
#include "design/document.h"
#include "explore_window.h"
#include "offscreen.h"
#include "serving/inference.h"
#include "support/longest_run.h"
#include "ui/form/config_form.h"
#include "ui/form/differences_box.h"
#include "ui/form/knob_row.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/plot/save_menu.h"
#include "ui/session/comparisons.h"
#include "ui/shell/document.h"
#include "ui/shell/message_bar.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/condition_row.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/filter_strips.h"
#include "ui/views/explore/grouped_bars.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Checks values in table and bars for four designs: the present one, two results of the search, and the
// present one before an edit.
void showsTheFiguresOfAll(ExploreWindow& w, const Design& before) {
  ComparePage& page = *w.view().compare();
  const auto& figures = page.figures();
  const auto step = std::find_if(figures.begin(), figures.end(),
                                 [](const ComparedFigure& f) { return f.id == "step_seconds"; });
  QVERIFY(step != figures.end());
  QCOMPARE(step->values.size(), size_t{4});
  QCOMPARE(step->values[0], w.session.estimate()->simulation->step_seconds);
  QVERIFY(std::abs(step->values[1] / w.page().rows()->point(0).evaluation.step_seconds - 1) < 0.01);
  QCOMPARE(step->values[3], compared(before).simulation->step_seconds);
  // For each pinned design, the table has the present design minus the pinned one, and the same in percent.
  const QAbstractItemModelTester tester(page.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
  QCOMPARE(page.model()->rowCount(), static_cast<int>(figures.size()));
  QCOMPARE(page.model()->columnCount(), 3 + 3 * 3);
  const auto heading = [&](int column) {
    return page.model()->headerData(column, Qt::Horizontal).toString();
  };
  QCOMPARE(heading(ComparisonModel::Present), QString("B\ncurrent"));
  QCOMPARE(heading(ComparisonModel::difference(1)), QString("B − A\ncurrent − pinned"));
  QCOMPARE(heading(ComparisonModel::difference(2)), QString("B − C\ncurrent − pinned"));
  const auto row = static_cast<int>(step - figures.begin());
  for (int member = 1; member <= 3; ++member) {
    const double base = step->values[static_cast<size_t>(member)], by = step->values[0] - base;
    QVERIFY(std::abs(page.model()
                         ->index(row, ComparisonModel::difference(member))
                         .data(TableModel::SortRole)
                         .toDouble() -
                     by) < 1e-9);
    QVERIFY(
        std::abs(
            page.model()->index(row, ComparisonModel::percent(member)).data(TableModel::RawRole).toDouble() -
            100 * by / base) < 1e-6);
    // Better and worse differ by colour and by sign.
    const Verdict verdict = step->verdict(0, static_cast<size_t>(member));
    const QModelIndex cell = page.model()->index(row, ComparisonModel::difference(member));
    QCOMPARE(cell.data(TableModel::GoodRole).toBool(), verdict == Verdict::Better);
    QCOMPARE(cell.data(TableModel::AlarmRole).toBool(), verdict == Verdict::Worse);
    QCOMPARE(cell.data().toString().startsWith("✓ "), verdict == Verdict::Better);
    QCOMPARE(cell.data().toString().startsWith("✗ "), verdict == Verdict::Worse);
    QCOMPARE(cell.data().toString().startsWith("tie, "), verdict == Verdict::Tie);
    const QModelIndex value = page.model()->index(row, ComparisonModel::value(member));
    QVERIFY2(value.data().toString().contains(" to "), qPrintable(value.data().toString()));
    QVERIFY(value.data(Qt::ToolTipRole).toString().contains("80 % band"));
    QCOMPARE(heading(ComparisonModel::value(member)), Comparisons::letter(member) + "\npinned");
    QCOMPARE(page.model()->index(row, ComparisonModel::value(member)).data(TableModel::SortRole).toDouble(),
             base);
  }
  // All bars have one scale. Bars and their values do not overlap.
  for (const GroupedBars::Row& of : page.bars()->rows()) {
    const ComparedFigure& f = figures[static_cast<size_t>(of.figure)];
    QCOMPARE(of.bars.size(), size_t{4});
    for (int place = 1; place < 4; ++place) {  // the bars stand in the order of letters
      const auto above = static_cast<size_t>(Comparisons::place(place - 1)),
                 below = static_cast<size_t>(Comparisons::place(place));
      QVERIFY(of.bars[below].top() - of.bars[above].top() >=
              QFontMetrics(Theme::instance().uiFont(11)).ascent());
    }
    for (size_t d = 1; d < of.bars.size(); ++d) {
      if (of.bars[0].width() > 20 && f.values[d] > 0)
        QVERIFY(std::abs(of.bars[d].width() / of.bars[0].width() - f.values[d] / f.values[0]) <
                0.1 * f.values[d] / f.values[0] + 0.05);
    }
    QVERIFY(of.area.contains(of.bars.back()) || of.bars.back().isEmpty());
    QCOMPARE(page.bars()->tipAt(of.area.center()).count(u'\n'), 4);
  }
  const Picture picture = page.picture();
  QCOMPARE(picture.csv().count(u'\n'), page.model()->rowCount() + 1);
}

// The form marks knobs that differ. A list above it leads to each knob.
void marksWhatDiffersInTheForm(ExploreWindow& w, const std::vector<Design>& designs) {
  ComparePage& page = *w.view().compare();
  const auto differing = compare_knobs(designs);
  QCOMPARE(page.knobs()->model()->rowCount(), static_cast<int>(differing.size()));
  QCOMPARE(w.main.form()->differences()->texts().size(), static_cast<int>(differing.size()));
  QVERIFY(w.main.form()->differences()->isVisible());
  for (const Knob& knob : knobs()) {
    const KnobRow* field = w.main.form()->row(QString::fromStdString(knob.id));
    const auto found = std::find_if(differing.begin(), differing.end(),
                                    [&](const ComparedKnob& of) { return of.knob->id == knob.id; });
    QVERIFY2(field->others().isEmpty() == (found == differing.end()), knob.id.c_str());
    for (const KnobRow::Other& other : field->others())
      QCOMPARE(other.value,
               displayText(knob, QString::fromStdString(found->values[static_cast<size_t>(other.member)])));
  }
  auto* mark = w.main.form()->row("microbatch")->findChild<QLabel*>("others_mark");
  QVERIFY(mark && mark->isVisibleTo(w.main.form()));
  QVERIFY2(mark->toolTip().contains("D: 1"), qPrintable(mark->toolTip()));
  auto* line = w.main.form()->differences()->findChildren<QAbstractButton*>().back();
  for (QAbstractButton* of : w.main.form()->differences()->findChildren<QAbstractButton*>())
    if (of->text().startsWith("Microbatch")) line = of;
  line->setFocus();
  QTest::keyClick(line, Qt::Key_Return);
  QCOMPARE(w.main.focusWidget(), w.main.form()->row("microbatch")->fieldWidget());
  w.main.form()->focusFilter();
  QTest::keyClicks(w.main.focusWidget(), "layers");
  QVERIFY(!w.main.form()->differences()->isVisible());
  QTest::keyClick(w.main.focusWidget(), Qt::Key_Escape);
}

}  // namespace

class ExplorePagesTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void manyPointsAreFast() {
    // 100,000 points, made from copies of a search result with other indices.
    Session session;
    small(session);
    SpaceSpec spec;
    spec.base = session.design();
    spec.gpus = "8..1024*2";
    spec.dimensions = {{"tp", "1,2,4,8"}, {"pp", "all"}, {"batch", "16..40000+16"}};
    auto space = Space::make(spec);
    QVERIFY(std::holds_alternative<std::shared_ptr<const Space>>(space));
    auto result = std::make_shared<SearchResult>();
    result->space = std::get<0>(space);
    QVERIFY(result->space->size() >= 100'000);
    for (int i = 0; i < 100'000; ++i) {
      Point p;
      p.index = i;
      p.evaluation.capacity = 80'000'000'000;
      p.evaluation.memory = 20'000'000'000 + (static_cast<int64_t>(i) * 7919 % 60'000) * 1'000'000;
      p.evaluation.step_seconds = 1 + (static_cast<int64_t>(i) * 104729 % 50'000) * 1e-4;
      p.values = {p.evaluation.step_seconds,
                  1 / p.evaluation.step_seconds,
                  1,
                  1,
                  static_cast<double>(p.evaluation.memory),
                  1,
                  0.4,
                  8};
      result->sample.push_back(p);
    }
    result->counts.timed = 100'000;
    QElapsedTimer clock;
    clock.start();
    const auto rows = ExploreRows::of(result);
    qInfo("rows of 100,000 designs: %lld ms", static_cast<long long>(clock.elapsed()));
    DesignsPage page;
    page.resize(1000, 800);
    page.setRows(rows, false);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    page.grab();
    qint64 draw = 1'000'000, frame = 1'000'000, brush = 1'000'000;
    for (int i = 0; i < 3; ++i) {
      clock.restart();
      page.scatter()->zoomBy(i == 1 ? 1.2 : 1 / 1.2);
      page.scatter()->grab();
      draw = std::min(draw, clock.elapsed());
      clock.restart();
      page.scatter()->setSelected(i);
      page.scatter()->grab();
      frame = std::min(frame, clock.elapsed());
      clock.restart();
      page.filters()->brush(0, i, i);
      brush = std::min(brush, clock.elapsed());
    }
    page.filters()->openAll();
    clock.restart();
    for (int i = 0; i < 1000; ++i) page.scatter()->rowAt(QPointF(100 + i % 700, 60 + i % 200));
    qInfo(
        "100,000 points: drawn in %lld ms, the same again in %lld ms, filtered in %lld ms, 1,000 hits in "
        "%lld ms",
        static_cast<long long>(draw), static_cast<long long>(frame), static_cast<long long>(brush),
        static_cast<long long>(clock.elapsed()));
    QVERIFY(draw < 400);  // milliseconds; far above the time on a busy machine
    QVERIFY(frame < 100);
  }

  // Pins two results of a search, by button and by key, and the present design before an edit. Table, bars
  // and form show all of them.
  void comparesSeveralDesigns() {
    ExploreWindow w;
    w.searchSmall();
    Comparisons& pinned = *w.session.comparisons();
    ComparePage& page = *w.view().compare();
    w.view().showPage(ExploreView::Compare);
    QVERIFY(page.findChild<QPushButton*>("pin_present")->isVisible());  // shown while no design is pinned
    w.view().showPage(ExploreView::Designs);
    w.scatter().setFocus();
    QTest::keyClick(&w.scatter(), Qt::Key_Home);
    const Design best = w.page().rows()->design(0);
    QTest::mouseClick(w.page().findChild<QPushButton*>("compare_design"), Qt::LeftButton);
    QVERIFY(w.page().isVisible());  // the page stays
    QCOMPARE(pinned.size(), 1);
    w.page().table()->setFocus();
    QTest::keyClick(w.page().table(), Qt::Key_Down);
    const Design second = w.page().rows()->design(w.page().selectedRow());
    QVERIFY(second != best);
    QTest::keyClick(w.page().table(), Qt::Key_C);
    QTest::mouseClick(w.page().findChild<QPushButton*>("show_pinned"), Qt::LeftButton);
    QVERIFY(page.isVisible());
    const Design before = w.session.design();
    QTest::keyClick(&w.main, Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(pinned.size(), 3);
    QVERIFY(!w.main.actions().pin->isEnabled());  // the present design is pinned already
    w.session.setKnob("microbatch", "2");
    QVERIFY(w.main.actions().pin->isEnabled());
    w.session.waitForEstimate();
    QTRY_VERIFY_WITH_TIMEOUT(pinned.ready(), test::kLongestRun);

    // Each design is marked in the scatter chart, at its values.
    w.view().showPage(ExploreView::Designs);
    QCOMPARE(w.scatter().marked().size(), size_t{4});
    for (size_t member = 0; member < 4; ++member)
      QCOMPARE(w.scatter().marked()[member].member, static_cast<int>(member));
    QVERIFY((w.scatter().markedPlace(1) - w.scatter().place(0)).manhattanLength() < 3);  // the best result
    w.view().showPage(ExploreView::Compare);

    showsTheFiguresOfAll(w, before);
    marksWhatDiffersInTheForm(w, {w.session.design(), best, second, before});

    // A pinned design can become the present one, by mouse and with undo, and can be removed. One design more
    // than the limit is refused.
    QTest::mouseClick(page.findChild<QWidget*>("member_A")->findChild<QPushButton*>("take_compared"),
                      Qt::LeftButton);
    QTRY_COMPARE(w.session.design(), best);
    w.session.undoStack()->undo();
    w.session.setKnob("seq", "2048");
    QTest::keyClick(&w.main, Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(pinned.size(), Comparisons::kMaxPinned);
    w.session.setKnob("seq", "1024");
    QVERIFY(!w.main.actions().pin->isEnabled());
    QVERIFY(!pinned.add(w.session.design(), "one more"));
    QTRY_VERIFY(page.findChild<QWidget*>("member_E"));
    QTest::mouseClick(page.findChild<QWidget*>("member_C")->findChild<QPushButton*>("drop_compared"),
                      Qt::LeftButton);
    QTRY_COMPARE(pinned.size(), 3);
    QCOMPARE(pinned.find(second), -1);
    w.main.actions().unpin->trigger();
    QCOMPARE(pinned.size(), 0);
    QVERIFY(!w.main.form()->differences()->isVisible());
    QVERIFY(page.findChild<QPushButton*>("pin_present")->isVisible());
  }

  // An invalid pinned design shows its problem. The others have numbers.
  void comparesWithOneThatCannotRun() {
    ExploreWindow w;
    Design wrong = w.session.design();
    wrong.parallel.tp = 3;
    w.session.comparisons()->add(wrong, "three");
    w.main.actions().side_by_side->trigger();
    ComparePage& page = *w.view().compare();
    QTRY_VERIFY(w.session.comparisons()->ready());
    QVERIFY(!page.figures().empty());
    for (const ComparedFigure& f : page.figures()) QVERIFY(std::isnan(f.values[1]));
    const auto labels = page.findChild<QWidget*>("member_A")->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(),
                        [](const QLabel* label) { return label->text().contains("cannot run"); }));
  }

  void showsHowItScales() {
    ExploreWindow w;
    QTest::mouseClick(w.view().pages()->findChildren<QPushButton*>()[ExploreView::Scaling], Qt::LeftButton);
    SensitivityPage& page = *w.view().scaling();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    const auto strong = scaling(w.session.design(), {});
    QCOMPARE(page.chart()->points(ScalingChart::Strong).size(), strong->size());
    page.chart()->setFocus();
    QTest::keyClick(page.chart(), Qt::Key_Right);
    QVERIFY(page.chart()->selected() >= 0);
    const int first = page.chart()->selected();
    QTest::keyClick(page.chart(), Qt::Key_Right);
    QVERIFY(page.chart()->selected() > first);
    QVERIFY(page.chart()->tipAt(page.chart()->place(ScalingChart::Strong, first)).contains("efficiency"));
    QTest::mouseClick(page.chart(), Qt::LeftButton, {},
                      page.chart()->place(ScalingChart::Strong, first).toPoint());
    QCOMPARE(page.chart()->selected(), first);
  }

  // Dollars and energy of every size, and the days of the training run if its tokens are known.
  void scalingHasCosts() {
    ExploreWindow w;
    w.view().showPage(ExploreView::Scaling);
    SensitivityPage& page = *w.view().scaling();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    const QAbstractItemModel& table = *page.table()->sorted()->sourceModel();
    const auto column = [&](const char* raw) {
      for (int c = 0; c < table.columnCount(); ++c)
        if (table.headerData(c, Qt::Horizontal, TableModel::RawRole) == QLatin1String(raw)) return c;
      return -1;
    };
    const auto cell = [&](size_t row, const char* raw) {
      return table.index(static_cast<int>(row), column(raw)).data(TableModel::SortRole).toDouble();
    };
    QVERIFY(column("million tokens ($)") >= 0 && column("million tokens (kWh)") >= 0);
    QCOMPARE(column("days"), -1);
    const auto strong = scaling(w.session.design(), {});
    int timed = 0;
    for (size_t i = 0; i < strong->size(); ++i) {
      const ScalePoint& p = (*strong)[i];
      if (!p.evaluation.timed()) continue;
      ++timed;
      const RunningCost cost = running_cost(w.session.design().cluster, p.gpus,
                                            p.evaluation.tokens_per_second);
      QVERIFY(cost.dollars && cost.kwh);
      QVERIFY(std::abs(cell(i, "million tokens ($)") / *cost.dollars - 1) < 1e-9);
      QVERIFY(std::abs(cell(i, "million tokens (kWh)") / *cost.kwh - 1) < 1e-9);
    }
    QVERIFY(timed > 1);
    w.session.setKnob("tokens", "15000000000000");
    w.session.waitForReport();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && column("days") >= 0, test::kLongestRun);
    QCOMPARE(table.headerData(column("days"), Qt::Horizontal).toString(), QString("Days"));
    const double tokens_per_day = 86'400 * strong->front().evaluation.tokens_per_second;
    QVERIFY(strong->front().evaluation.timed());
    QVERIFY2(cell(0, "days") >= 15e12 / tokens_per_day, qPrintable(QString::number(cell(0, "days"))));
  }

  // Scaling, Compare and the designs of a search say which price is unknown, in a line and in the tip of "-".
  void missingPricesAreNamed() {
    ExploreWindow w;
    QVERIFY(!w.session.setKnob("accelerator", "b300-hgx-270gb"));
    w.session.waitForEstimate();
    const QString wanted = "No price for NVIDIA B300 HGX 270 GB: set \"Price per hour\" in Cluster";
    auto* line = w.view().findChild<MissingCostLine*>("missing_cost");
    w.view().showPage(ExploreView::Scaling);
    SensitivityPage& page = *w.view().scaling();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    QVERIFY(line && line->isVisible());
    QCOMPARE(line->text(), QString("No price for NVIDIA B300 HGX 270 GB"));
    const auto tips = [](const QAbstractItemModel& table) {
      QStringList out;
      for (int row = 0; row < table.rowCount(); ++row)
        for (int column = 0; column < table.columnCount(); ++column)
          out << table.index(row, column).data(Qt::ToolTipRole).toString();
      return out;
    };
    QVERIFY(tips(*page.table()->sorted()->sourceModel()).contains(wanted));
    w.view().showPage(ExploreView::SensitivityTab);
    QVERIFY(!line->isVisible());
    // A pinned design without a price has a sentence, but the field sets the current design.
    w.view().pinPresent();
    QVERIFY(!w.session.setKnob("accelerator", "h100-sxm-80gb"));
    w.session.waitForEstimate();
    w.view().showPage(ExploreView::Compare);
    QTRY_VERIFY(w.session.comparisons()->ready() && line->isVisible());
    QTRY_VERIFY(tips(*w.view().compare()->model()).contains(wanted));
    auto* set = line->findChild<QPushButton*>("set_price_per_hour");
    QVERIFY(set && !set->isVisible());
    w.session.comparisons()->clear();
    QVERIFY(!line->isVisible());
    // A search over two accelerators ranks dollars of the one with a price.
    w.view().showPage(ExploreView::Designs);
    w.vary({{"accelerator", "h100-sxm-80gb,b300-hgx-270gb"}, {"microbatch", "1,2"}});
    w.search();
    QVERIFY(w.page().rows()->column("cost") >= 0);
    QTRY_VERIFY(line->isVisible() && set->isVisible());
    QVERIFY(tips(*w.page().model()).contains(wanted));
    QTest::mouseClick(set, Qt::LeftButton);
    QTRY_VERIFY(w.main.form()->row("price_per_hour")->fieldWidget()->hasFocus());
  }

  // Inference has no step. Its seconds are the time to the first token (prefill) or per token (decode).
  void labelsFollowTheMode_data() {
    QTest::addColumn<int>("mode");
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("raw");
    QTest::newRow("train") << int(Mode::Train) << "Step"
                           << "step time (s)";
    QTest::newRow("prefill") << int(Mode::Prefill) << "TTFT"
                             << "time to first token (s)";
    QTest::newRow("decode") << int(Mode::Decode) << "TPOT"
                            << "time per output token (s)";
  }
  void labelsFollowTheMode() {
    QFETCH(int, mode);
    QFETCH(QString, word);
    QFETCH(QString, raw);
    ExploreWindow w;
    if (static_cast<Mode>(mode) != Mode::Train)
      w.session.setDesign(serving_design(w.session.design(), static_cast<Mode>(mode), 16, 4096), "serve");
    for (const auto& [page, shown] : {std::pair{w.view().sensitivity(), ExploreView::SensitivityTab},
                                      {w.view().scaling(), ExploreView::Scaling}}) {
      w.view().showPage(shown);
      QTRY_VERIFY_WITH_TIMEOUT(page->ready(), test::kLongestRun);
      QStringList words, raws;
      for (int c = 0; c < page->table()->model()->columnCount(); ++c) {
        words << page->table()->model()->headerData(c, Qt::Horizontal).toString();
        raws << page->table()->model()->headerData(c, Qt::Horizontal, TableModel::RawRole).toString();
      }
      QVERIFY2(words.contains(word) && (word == "Step" || !words.contains("Step")),
               qPrintable(words.join(' ')));
      QVERIFY2(raws.contains(raw), qPrintable(raws.join(' ')));
    }
    ScalingChart* chart = w.view().scaling()->chart();
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_Right);
    QVERIFY(chart->selected() >= 0);
    const QString tip = chart->tipAt(chart->place(ScalingChart::Strong, chart->selected()));
    QVERIFY2(tip.contains((word == "Step" ? QString("\nstep ") : '\n' + word + ' ')), qPrintable(tip));
  }

  // A document contains its search.
  void isSavedAndReopened() {
    QTemporaryDir folder;
    const QString path = folder.filePath("study.json");
    QStringList names;
    {
      ExploreWindow w;
      w.setup().addCondition("tp <= 4");
      w.searchSmall();
      QVERIFY(w.main.isWindowModified());
      QVERIFY(w.main.document()->savePath(path));
      QVERIFY(!w.main.isWindowModified());
      QTest::keyClick(&w.main, Qt::Key_D, Qt::ControlModifier);  // pinned designs belong to the document too
      QVERIFY(w.main.isWindowModified());
      w.session.comparisons()->add(w.page().rows()->design(0), "the best");
      QVERIFY(w.main.document()->savePath(path));
      QVERIFY(!w.main.isWindowModified());
      for (int row = 0; row < w.page().rows()->rows(); ++row)
        names << w.page().rows()->name(row) + w.page().rows()->figures(row, UnitSystem::Binary);
    }
    ExploreWindow w;
    w.session.undoStack()->setClean();
    QSignalSpy changed(w.view().job(), &ExploreJob::rowsChanged);
    QVERIFY(w.main.document()->openPath(path));
    // A thread makes the rows; those of a document that was replaced do not come.
    QVERIFY(w.view().job()->loading() && !w.page().rows());
    w.main.document()->newDesign();
    QVERIFY(!w.view().job()->loading() && !w.view().job()->result());
    QVERIFY(w.main.document()->openPath(path));
    QTRY_VERIFY(w.page().rows());
    QCOMPARE(changed.size(), 4);  // none, none, none, rows
    QVERIFY(!w.view().job()->loading());
    QCOMPARE(w.page().rows()->rows(), names.size());
    for (int row = 0; row < names.size(); ++row)
      QCOMPARE(w.page().rows()->name(row) + w.page().rows()->figures(row, UnitSystem::Binary), names[row]);
    QCOMPARE(w.setup().row("microbatch")->values(), QString("1,2"));
    QCOMPARE(w.setup().conditions().size(), 1);
    QVERIFY(!w.main.isWindowModified());
    QVERIFY(!w.view().stale());
    QCOMPARE(w.session.comparisons()->size(), 2);
    QCOMPARE(w.session.comparisons()->all()[0].design, w.session.design());
    QCOMPARE(w.session.comparisons()->all()[1].design, w.page().rows()->design(0));
    QCOMPARE(w.session.comparisons()->all()[1].name, QString("the best"));
    // The command line reads the design of the document.
    QVERIFY(std::holds_alternative<Design>(load_design(path.toStdString())));
    // A document with an unreadable search opens without the search.
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray text = file.readAll();
    file.close();
    text.replace("\"shardscape_result\": 1", "\"shardscape_result\": 99");
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    QVERIFY(w.main.document()->openPath(path));
    QVERIFY(!w.page().rows());
    QVERIFY(w.main.messageBar()->isVisible());
  }

  // A space file of the command line opens as an edited space, and nothing is searched yet.
  void opensSpaces() {
    QTemporaryDir folder;
    const QString path = folder.filePath("space.json");
    SpaceSpec written;
    {
      ExploreWindow w;
      w.searchSmall();
      written = w.page().rows()->result().space->spec();
    }
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(to_json(written)));
    file.close();
    ExploreWindow w;
    w.session.undoStack()->setClean();
    QVERIFY(w.main.document()->openPath(path));
    QTRY_VERIFY(w.page().rows());
    QCOMPARE(w.page().rows()->rows(), 0);
    QCOMPARE(w.setup().row("microbatch")->values(), QString("1,2"));
    QVERIFY(!w.view().stale() && !w.main.isWindowModified());
    w.search();
    QVERIFY(w.page().rows()->rows() > 0);
  }

  void isExported() {
    ExploreWindow w;
    w.searchSmall();
    const Picture picture = w.view().picture();
    const auto rows = w.page().rows();
    QCOMPARE(picture.csv().count(u'\n'), rows->rows() + 1);
    const auto read = result_from_json(picture.json().toStdString(), "here");
    QVERIFY(std::holds_alternative<SearchResult>(read));
    QCOMPARE(std::get<SearchResult>(read).counts, rows->result().counts);
    for (const SaveFormat format : {SaveFormat::Png, SaveFormat::Svg, SaveFormat::Pdf}) {
      const auto bytes = encoded(picture, format);
      QVERIFY(std::holds_alternative<QByteArray>(bytes) && std::get<QByteArray>(bytes).size() > 3000);
    }
    Q_EMIT w.view().saveMenu()->aboutToShow();
    QVERIFY(w.view().saveMenu()->findChild<QAction*>("save_result")->isVisible());
    QVERIFY(!w.view().saveMenu()->findChild<QAction*>("save_json")->isVisible());
  }
};

QTEST_MAIN(ExplorePagesTest)
#include "explore_pages_test.moc"
