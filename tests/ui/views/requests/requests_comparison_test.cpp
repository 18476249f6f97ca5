// Pinned designs and settings on the page Requests, and runs that are kept.
#include <QLabel>
#include <QUndoStack>

#include "explore/study.h"
#include "offscreen.h"
#include "requests_window.h"
#include "ui/plot/table_model.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/theme.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/pinned_runs.h"
#include "ui/views/requests/rate_chart.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

struct ComparedWindow : RequestsWindow {
  void pin() {
    QTest::mouseClick(&part<QPushButton>("pin_service"), Qt::LeftButton);
    waitForPinned();
  }
  void waitForPinned() { QTRY_VERIFY_WITH_TIMEOUT(requests().pinned()->ready(), kWait); }
  // The row of a figure in the table of differences, by its raw name.
  int rowOf(const char* figure) {
    for (int row = 0; row < table().rowCount(); ++row)
      if (table().index(row, 0).data(TableModel::RawRole).toString() == QLatin1String(figure)) return row;
    return -1;
  }
  double value(const char* figure, int column) {
    return table().index(rowOf(figure), column).data(TableModel::SortRole).toDouble();
  }
};

}  // namespace

class RequestsComparisonTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // The table has the core's figures of both designs and their differences; the distributions are overlaid.
  void aPinnedDesignIsCompared() {
    ComparedWindow w;
    const Design before = w.session.design();
    w.pin();
    QCOMPARE(w.session.comparisons()->size(), 1);
    QVERIFY(!w.session.setKnob("accelerator", "a100-sxm-80gb"));
    w.wait();
    w.waitForPinned();
    const auto pinned = run_service(before, w.editor().spec());
    const auto present = run_service(w.session.design(), w.editor().spec());
    const ServiceResults &a = std::get<0>(pinned)->results, &b = std::get<0>(present)->results;
    QCOMPARE(w.value("ttft p99 (s)", 1), b.ttft.p99);
    QCOMPARE(w.value("ttft p99 (s)", 2), a.ttft.p99);
    QVERIFY(std::abs(w.value("tpot p50 (s)", 3) - (b.tpot.p50 - a.tpot.p50)) < 1e-12);
    QVERIFY(w.value("tpot p50 (s)", 3) > 0);  // the A100 is slower
    QCOMPARE(w.value("output_per_second", 2), a.output_per_second);
    QVERIFY(w.rowOf("dollars_per_million_output_tokens") >= 0);
    QCOMPARE(w.rowOf("goodput"), -1);  // without limits
    const auto cell = [&](const char* figure) { return w.table().index(w.rowOf(figure), 3); };
    QVERIFY(!cell("tpot p50 (s)").data(TableModel::GoodRole).toBool());
    w.show(RequestsPage::Latencies);
    const LatencyChart& chart = *w.requests().latencies();
    QCOMPARE(chart.others().size(), size_t{1});
    QCOMPARE(chart.others().front().run->run->results.ttft.p99, a.ttft.p99);
    QVERIFY(chart.tipAt(chart.panel(LatencyChart::Ttft).plot.center()).contains("\nA: "));
    w.session.comparisons()->clear();
    QTRY_VERIFY(chart.others().empty());
    QCOMPARE(w.table().rowCount(), 5);
  }

  // A design is pinned with its settings: the same design with other settings is another member.
  void pinnedSettingsStay() {
    ComparedWindow w;
    w.type("requests", "200");
    w.type("rate", "100");
    w.enter("max_num_seqs", "4");
    w.pin();
    w.enter("max_num_seqs", "64");
    w.waitForPinned();
    QCOMPARE(w.requests().pinned()->all().front().run->run->spec.engine.max_num_seqs, 4);
    QCOMPARE(w.run().spec.engine.max_num_seqs, 64);
    QVERIFY(w.requests().pinned()->all().front().settings.contains("4"));
    QVERIFY(w.value("queueing p99 (s)", 3) < 0);
    const int row = w.rowOf("queueing p99 (s)");
    QVERIFY(w.table().index(row, 3).data(TableModel::GoodRole).toBool());
    w.pin();
    QCOMPARE(w.session.comparisons()->size(), 2);
    QTest::mouseClick(&w.part<QPushButton>("pin_service"), Qt::LeftButton);  // is pinned already
    QCOMPARE(w.session.comparisons()->size(), 2);
    // The document keeps the settings.
    Study study;
    study.design = w.session.design();
    study.compared = w.session.comparisons()->named();
    const auto read = study_from_json(to_json(study), "test");
    QVERIFY(std::holds_alternative<Study>(read));
    QVERIFY(!std::get<Study>(read).lost);
    QVERIFY(std::get<Study>(read).compared == study.compared);
    QCOMPARE(std::get<Study>(read).compared.front().service->engine.max_num_seqs, 4);
  }

  // Undo, and edits without effect on a service, start no run.
  void runsAreKept() {
    ComparedWindow w;
    const auto before = w.requests().run();
    w.enter("rate", "5");
    const auto other = w.requests().run();
    QVERIFY(other != before);
    w.type("rate", "1");
    QVERIFY(w.requests().ready());
    QCOMPARE(w.requests().run(), before);
    QVERIFY(!w.session.setKnob("accelerator", "a100-sxm-80gb"));
    w.wait();
    w.session.undoStack()->undo();
    QVERIFY(w.requests().ready());
    QCOMPARE(w.requests().run(), before);
    QVERIFY(!w.session.setKnob("batch", "32"));
    QVERIFY(w.requests().ready());
    QCOMPARE(w.requests().run(), before);
    // The run of a pinned design is the one that the page has.
    w.pin();
    QCOMPARE(w.requests().pinned()->all().front().run->run, before);
  }

  // Other files of models: every run is made again.
  void runsOfOtherFilesAreForgotten() {
    ComparedWindow w;
    const auto before = w.requests().run();
    w.session.reloadLibrary();
    w.wait();
    w.waitForPinned();
    QVERIFY(w.requests().run() != before);
    QCOMPARE(w.run().results.ttft.p99, before->results.ttft.p99);
  }

  // The sweep covers the pinned designs, each with its own rates.
  void sweepsAreOverlaid() {
    ComparedWindow w;
    w.type("requests", "100");
    w.enter("tpot_limit", "12 ms");
    const Design before = w.session.design();
    w.session.comparisons()->add(before, "as it was");
    QVERIFY(!w.session.setKnob("accelerator", "a100-sxm-80gb"));
    w.wait();
    QTest::mouseClick(&w.part<QPushButton>("sweep_rates"), Qt::LeftButton);
    RateChart& chart = *w.requests().rates();
    QTRY_VERIFY_WITH_TIMEOUT(!w.requests().sweeping() && chart.others().size() == 1, kWait);
    const auto expected = sweep_rates(before, w.editor().spec(), {});
    QCOMPARE(chart.others().front().sweep->points.size(), std::get<0>(expected)->points.size());
    QCOMPARE(chart.others().front().sweep->points.back().results.ttft.p99,
             std::get<0>(expected)->points.back().results.ttft.p99);
    QVERIFY(w.part<ElidedLabel>("requests_caption").text().contains("Pinned: A"));
  }
};

QTEST_MAIN(RequestsComparisonTest)
#include "requests_comparison_test.moc"
