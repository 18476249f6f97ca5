// The page Requests: settings, figures, four pictures, the explanation of a request, latency against load. By
// mouse and keys, at 1280x800.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <numeric>

#include "bundle/checker.h"
#include "explore_window.h"
#include "offscreen.h"
#include "report/service_report.h"
#include "requests_window.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/save_menu.h"
#include "ui/plot/table_model.h"
#include "ui/selection/selection_state.h"
#include "ui/session/page_settings.h"
#include "ui/shell/document.h"
#include "ui/shell/export_job.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/theme.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/rate_chart.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/service_figures.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/workload_chart.h"

using namespace shardscape;
using namespace shardscape::ui;

class RequestsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // The page shows the core's run of the current design: figures, table, files.
  void showsTheRun() {
    RequestsWindow w;
    const auto made = run_service(w.session.design(), {});
    const ServiceRun& expected = *std::get<0>(made);
    QCOMPARE(service_json(w.run()), service_json(expected));
    QCOMPARE(w.run().spec.replicas, int64_t{2});
    const QString text = w.requests().figures()->figure("throughput")->text();
    QVERIFY2(text.contains(QString::fromStdString(significant(expected.results.requests_per_second))),
             qPrintable(text));
    QVERIFY(w.requests().figures()->figure("goodput")->isHidden());  // without limits
    QCOMPARE(w.table().rowCount(), 5);
    QCOMPARE(w.table().index(0, 5).data(TableModel::SortRole).toDouble(), expected.results.ttft.p99);
    const QAbstractItemModelTester tester(&w.table(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    const Picture picture = w.view().saveMenu()->picture();
    QCOMPARE(picture.csv().toStdString(), requests_csv(expected));
    QCOMPARE(picture.json().toStdString(), service_json(expected));
    QCOMPARE(picture.trace().toStdString(), service_timeline(expected));
    QVERIFY(picture.trace().contains("\"name\":\"chunk\""));
    QVERIFY(w.state().inspection().title.contains("service"));
  }

  // Every setting of the table has a field with a name and its help.
  void everySettingHasAField() {
    RequestsWindow w;
    for (const ServiceSetting& setting : service_settings()) {
      const SettingRow* row = w.editor().row(setting.id);
      QVERIFY2(row, setting.id);
      QCOMPARE(row->field()->accessibleName(), QString::fromLatin1(setting.label));
      QVERIFY2(row->toolTip().contains(QString::fromLatin1(setting.help).toHtmlEscaped()), setting.id);
    }
    QVERIFY(!w.editor().row("rate")->visibleRegion().isEmpty());
    QVERIFY(!w.editor().row("watermark")->isVisible());
    QTest::mouseClick(w.editor().header(SettingGroup::Engine), Qt::LeftButton);
    QVERIFY(w.editor().row("watermark")->isVisible());
    QTest::keyClick(w.editor().header(SettingGroup::Engine), Qt::Key_Space);
    QVERIFY(!w.editor().row("watermark")->isVisible());
    QVERIFY(!w.editor().horizontalScrollBar()->isVisible());
  }

  // Labels and fields keep a distance from the edges of the panel.
  void fieldsHaveAMargin() {
    RequestsWindow w;
    for (const ServiceSetting& setting : service_settings())
      QVERIFY2(w.editor().row(setting.id)->minimumSizeHint().width() <= w.editor().viewport()->width() - 20,
               setting.id);
    for (const char* id : {"rate", "trace", "arrivals", "tpot_limit"})
      for (const QWidget* part : w.editor().row(id)->findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
        const int left = part->mapTo(&w.editor(), QPoint()).x();
        QVERIFY2(!part->isVisible() || (left >= 8 && left + part->width() <= w.editor().width() - 8), id);
      }
  }

  // A run follows text, choice and switch.
  void settingsChangeTheRun() {
    RequestsWindow w;
    const auto before = w.requests().run();
    w.enter("requests", "300");
    QCOMPARE(w.run().simulation.requests.size(), size_t{300});
    w.enter("rate", "5");
    QCOMPARE(w.run().spec.source.rate, 5.0);
    auto& arrivals = w.field<QComboBox>("arrivals");
    arrivals.setFocus();
    QTest::keyClick(&arrivals, Qt::Key_Up);
    QTest::keyClick(&arrivals, Qt::Key_Return);
    w.wait();
    QCOMPARE(w.run().spec.source.arrivals, ArrivalKind::Constant);
    QVERIFY(w.run().simulation.requests[1].arrival - w.run().simulation.requests[0].arrival > 0.19);
    w.editor().setFolded(SettingGroup::Engine, false);
    auto& chunks = w.field<QCheckBox>("enable_chunked_prefill");
    w.editor().ensureWidgetVisible(&chunks);
    QTest::keyClick(&chunks, Qt::Key_Space);
    w.wait();
    QVERIFY(!w.run().spec.engine.enable_chunked_prefill);
    QVERIFY(before != w.requests().run());
    // Limits: goodput appears, and the table marks percentiles over a limit.
    w.enter("tpot_limit", "1 us");
    QVERIFY(w.requests().figures()->figure("goodput")->isVisible());
    QVERIFY(w.table().index(1, 5).data(TableModel::AlarmRole).toBool());
    QVERIFY(!w.table().index(0, 5).data(TableModel::AlarmRole).toBool());
  }

  // Speculative decoding has its figure. A list with a mistake is refused at its field.
  void draftsHaveTheirFigure() {
    RequestsWindow w;
    QVERIFY(w.requests().figures()->figure("acceptance")->isHidden());
    w.editor().setFolded(SettingGroup::Engine, false);
    auto& method = w.field<QComboBox>("speculative_method");
    w.editor().ensureWidgetVisible(&method);
    method.setFocus();
    QTest::keyClick(&method, Qt::Key_Down);
    QTest::keyClick(&method, Qt::Key_Return);
    w.wait();
    QCOMPARE(w.run().spec.engine.speculation.method, SpeculativeMethod::Mtp);
    w.enter("num_speculative_tokens", "2");
    w.enter("acceptance_per_position", "0.9,0.5");
    const QString text = w.requests().figures()->figure("acceptance")->text();
    QVERIFY(w.requests().figures()->figure("acceptance")->isVisible());
    QVERIFY2(text.contains(QString::fromStdString(significant(w.run().results.acceptance_length))),
             qPrintable(text));
    w.type("acceptance_per_position", "0.9;0.5");
    QVERIFY(w.editor().refused());
  }

  // Only the settings of the selected engine have a field, and the run is that engine's.
  void theEngineSelectsItsSettings() {
    RequestsWindow w;
    w.editor().setFolded(SettingGroup::Engine, false);
    QVERIFY(w.editor().row("max_num_seqs")->isVisible());
    QVERIFY(!w.editor().row("chunked_prefill_size")->isVisible());
    w.type("max_num_seqs", "many");
    QVERIFY(w.editor().refused());
    auto& engine = w.field<QComboBox>("engine");
    w.editor().ensureWidgetVisible(&engine);
    engine.setCurrentIndex(static_cast<int>(EngineKind::Sglang));
    Q_EMIT engine.activated(engine.currentIndex());
    // The refused text of vLLM has no effect any more.
    QVERIFY(!w.editor().refused());
    w.wait();
    QCOMPARE(w.run().spec.engine.engine, EngineKind::Sglang);
    QVERIFY(!w.editor().row("max_num_seqs")->isVisible());
    QVERIFY(w.editor().row("chunked_prefill_size")->isVisible());
    QVERIFY(!w.editor().row("tokens_per_block")->isVisible());
    w.enter("chunked_prefill_size", "256");
    for (const StepRecord& step : w.run().simulation.steps) QVERIFY(step.prefill_tokens <= 256);
  }

  void aRunFollowsTheDesign() {
    RequestsWindow w;
    const double before = w.run().results.tpot.mean;
    QVERIFY(!w.session.setKnob("accelerator", "a100-sxm-80gb"));
    w.wait();
    QVERIFY(w.run().results.tpot.mean > before);
    w.session.undoStack()->undo();
    w.wait();
    QCOMPARE(w.run().results.tpot.mean, before);
  }

  // A refused text shows its problem at the field. The run of the last accepted text stays.
  void refusedTexts() {
    RequestsWindow w;
    const auto before = w.requests().run();
    for (const char* text : {"many", "", "-3"}) {
      w.type("rate", text);
      QVERIFY2(w.editor().row("rate")->issue()->isVisible(), text);
      QVERIFY(w.editor().refused());
      QVERIFY(!w.requests().ready());
      QCOMPARE(w.requests().run(), before);
    }
    QVERIFY(w.editor().row("rate")->issue()->text().contains("a number above 0"));
    QTest::keyClick(&w.field("rate"), Qt::Key_Escape);
    QCOMPARE(w.field("rate").text(), QString("1"));
    QVERIFY(!w.editor().row("rate")->issue()->isVisible());
    w.wait();
    QCOMPARE(w.requests().run(), before);
  }

  // A problem of a run is at its setting, in a section that opens; of the file in the text of the file.
  void problemsOfARunAreAtTheirField() {
    RequestsWindow w;
    w.type("gpu_memory_utilization", "0.01");
    w.editor().setFolded(SettingGroup::Engine, true);
    QTRY_VERIFY_WITH_TIMEOUT(w.editor().row("gpu_memory_utilization")->issue()->isVisible(), kWait);
    QVERIFY(w.editor().row("gpu_memory_utilization")->issue()->text().contains("no room for a KV cache"));
    QVERIFY(w.timeline().run());  // the last picture stays
    w.enter("gpu_memory_utilization", "0.9");
    QVERIFY(!w.editor().row("gpu_memory_utilization")->issue()->isVisible());
    w.type("trace", "/nowhere/requests.csv");
    QTRY_VERIFY_WITH_TIMEOUT(w.editor().row("trace")->issue()->isVisible(), kWait);
    QTemporaryDir folder;
    QFile trace(folder.filePath("bad.csv"));
    QVERIFY(trace.open(QIODevice::WriteOnly));
    trace.write("arrival_s,input_tokens,output_tokens\n0,100,10\n1,many,10\n");
    trace.close();
    w.type("trace", trace.fileName().toLocal8Bit().constData());
    QTRY_VERIFY_WITH_TIMEOUT(w.editor().row("trace")->issue()->text().contains("many"), kWait);
  }

  // A problem of the design leads to its field in the form.
  void problemsOfTheDesignLeadToTheForm() {
    RequestsWindow w;
    QSignalSpy requested(&w.session, &Session::fieldRequested);
    Design design = w.session.design();
    design.parallel.tp = 3;
    w.session.setDesign(design, "tp 3");
    IssueLine* issue = nullptr;
    for (IssueLine* line : w.requests().findChildren<IssueLine*>(Qt::FindDirectChildrenOnly)) issue = line;
    QVERIFY(issue);
    QTRY_VERIFY_WITH_TIMEOUT(issue->isVisible(), kWait);
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(requested.size(), 1);
    w.session.undoStack()->undo();
    w.wait();
    QVERIFY(!issue->isVisible());
  }

  // Arrivals and lengths count every request once.
  void workload() {
    RequestsWindow w;
    w.enter("range_ratio", "0.5");
    const WorkloadChart& chart = *w.requests().workload();
    QVERIFY(chart.isVisible());
    for (const auto part : {WorkloadChart::Arrivals, WorkloadChart::Prompts, WorkloadChart::Outputs}) {
      const std::vector<int>& counts = chart.counts(part).counts;
      QCOMPARE(std::accumulate(counts.begin(), counts.end(), 0), 1000);
      QVERIFY(counts.size() > 10);
      QVERIFY(!chart.tipAt(chart.panel(part).plot.center()).isEmpty());
    }
    QVERIFY(chart.counts(WorkloadChart::Prompts).low >= 512);
    w.enter("range_ratio", "1");
    QCOMPARE(chart.counts(WorkloadChart::Prompts).counts, std::vector<int>{1000});
  }

  // Half of the requests are below the median; the limit says which share it keeps.
  void latencies() {
    RequestsWindow w;
    w.enter("ttft_limit", "30 ms");
    w.show(RequestsPage::Latencies);
    const LatencyChart& chart = *w.requests().latencies();
    QVERIFY(chart.isVisible());
    const ServiceResults& r = w.run().results;
    QVERIFY(chart.shareWithin(LatencyChart::Ttft, r.ttft.p50) >= 0.5);
    QVERIFY(chart.shareWithin(LatencyChart::Ttft, 0.999 * r.ttft.p50) < 0.5);
    QVERIFY(chart.shareWithin(LatencyChart::Tpot, r.tpot.p99) >= 0.99);
    QVERIFY(chart.shareWithin(LatencyChart::Tpot, 0.999 * r.tpot.p99) < 0.99);
    QVERIFY(chart.shareWithin(LatencyChart::Itl, r.itl.p50) >= 0.5);
    QVERIFY(chart.shareWithin(LatencyChart::Itl, 0.999 * r.itl.p50) <= 0.5);
    QVERIFY(chart.shareWithin(LatencyChart::E2e, r.e2e.p90) >= 0.9);
    QVERIFY(chart.shareWithin(LatencyChart::E2e, 0.999 * r.e2e.p90) < 0.9);
    QVERIFY(!chart.limit(LatencyChart::E2e));
    QVERIFY(chart.tipAt(chart.panel(LatencyChart::Itl).plot.center()).contains("of the tokens"));
    QCOMPARE(*chart.limit(LatencyChart::Ttft), 0.03);
    const double share = chart.shareWithin(LatencyChart::Ttft, 0.03);
    QVERIFY(std::abs(share - r.goodput / r.requests_per_second) < 1e-9);
    QVERIFY(chart.tipAt(chart.panel(LatencyChart::Tpot).plot.center()).contains("TPOT"));
  }

  // Pictures differ from an empty page and from one another, in both themes.
  void picturesAreDrawn() {
    RequestsWindow w;
    w.crowd();
    QTest::mouseClick(&w.part<QPushButton>("sweep_rates"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(w.requests().sweep() && !w.requests().sweeping(), kWait);
    for (const auto mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      Theme::instance().setMode(mode);
      std::vector<QByteArray> drawn;
      for (const auto shown :
           {RequestsPage::Workload, RequestsPage::Latencies, RequestsPage::Timeline, RequestsPage::Load}) {
        w.show(shown);
        const auto png = encoded(w.requests().picture(), SaveFormat::Png);
        QVERIFY(std::holds_alternative<QByteArray>(png));
        drawn.push_back(std::get<QByteArray>(png));
        QVERIFY(drawn.back().size() > 8000);
      }
      std::sort(drawn.begin(), drawn.end());
      QVERIFY(std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
    }
  }

  // A click on a request says what happened to it, and why it waited.
  void aClickExplainsARequest() {
    RequestsWindow w;
    w.crowd();
    const int request = w.longestWait();
    for (int i = 0; i < 400 && w.timeline().selected() != request; ++i)
      QTest::keyClick(&w.timeline(), Qt::Key_Down);
    QCOMPARE(w.timeline().selected(), request);
    QTest::keyClick(&w.timeline(), Qt::Key_Escape);
    QCOMPARE(w.timeline().selected(), -1);
    const QRectF row = w.timeline().rowOf(request);
    QTest::mouseClick(&w.timeline(), Qt::LeftButton, {}, row.center().toPoint());
    QCOMPARE(w.timeline().selected(), request);
    const Inspection shown = w.state().inspection();
    QCOMPARE(shown.title, QString("Request %1").arg(request + 1));
    QStringList facts;
    for (const auto& [label, value] : shown.rows) facts << label;
    for (const char* fact : {"Arrival", "Queueing", "Chunks of the prompt", "First token", "Last token",
                             "Cached prompt tokens", "Preemptions"})
      QVERIFY2(facts.contains(fact), fact);
    QVERIFY2(shown.why.contains("All 4 sequences ran"), qPrintable(shown.why));
    const QString line = w.part<ElidedLabel>("requests_caption").text();
    QVERIFY2(line.contains("all 4 sequences ran"), qPrintable(line));
    QCOMPARE(w.timeline().replica(), w.run().simulation.requests[static_cast<size_t>(request)].replica);
  }

  // The wheel scrolls the rows, with Ctrl it zooms; Enter zooms to a request, F shows all.
  void theTimelineZoomsAndScrolls() {
    RequestsWindow w;
    w.crowd();
    w.timeline().setFocus();
    const auto span = [&] { return w.timeline().view().to - w.timeline().view().from; };
    const double whole = span();
    QCOMPARE(whole, w.run().simulation.seconds);
    QTest::keyClick(&w.timeline(), Qt::Key_W);
    QVERIFY(span() < whole);
    QTest::keyClick(&w.timeline(), Qt::Key_F);
    QCOMPARE(span(), whole);
    QTest::keyClick(&w.timeline(), Qt::Key_End);
    QVERIFY(w.timeline().view().top > 0);
    const QRectF last = w.timeline().rowOf(w.timeline().selected());
    QVERIFY(QRectF(w.timeline().rect()).contains(last.center()));
    // The last request waits for nearly the whole run, the first one for nothing.
    QTest::keyClick(&w.timeline(), Qt::Key_Home);
    QTest::keyClick(&w.timeline(), Qt::Key_Return);
    QVERIFY(span() < whole);
    const auto wheel = [&](Qt::KeyboardModifiers held, int delta) {
      const QPointF at = w.timeline().rect().center();
      QWheelEvent event(at, w.timeline().mapToGlobal(at), {}, {0, delta}, Qt::NoButton, held,
                        Qt::NoScrollPhase, false);
      QCoreApplication::sendEvent(&w.timeline(), &event);
    };
    const double zoomed = span();
    wheel(Qt::ControlModifier, 120);
    QVERIFY(span() < zoomed);
    QTest::keyClick(&w.timeline(), Qt::Key_End);
    const double top = w.timeline().view().top;
    wheel({}, 120);
    QVERIFY(w.timeline().view().top < top);
    // Rows that are scrolled into view bring their time along.
    QTest::keyClick(&w.timeline(), Qt::Key_Home);
    QTest::keyClick(&w.timeline(), Qt::Key_Return);
    for (int i = 0; i < 60; ++i) wheel({}, -120);
    QVERIFY(w.timeline().view().from > 0 && w.timeline().view().top > 0);
    // A step of the shown engine has a tip.
    QTest::keyClick(&w.timeline(), Qt::Key_F);
    const QPointF below(w.timeline().width() / 2.0, w.timeline().height() - 60);
    QVERIFY(w.timeline().tipAt(below).contains("sequences run"));
  }

  // A narrow page shows the settings on demand: by its button, and where a field is asked for.
  void aNarrowPageHasRoomForThePictures() {
    RequestsWindow w;
    w.show(RequestsPage::Latencies);
    auto& button = w.part<QPushButton>("requests_settings");
    QVERIFY(!button.isVisible() && w.editor().isVisible());
    w.main.resize(1100, 700);
    QTRY_VERIFY(button.isVisible());
    QVERIFY(!w.editor().isVisible());
    QTRY_VERIFY2(w.requests().latencies()->width() > 320 && w.requests().latencies()->height() > 120,
                 qPrintable(QString("%1 x %2")
                                .arg(w.requests().latencies()->width())
                                .arg(w.requests().latencies()->height())));
    QTest::mouseClick(&button, Qt::LeftButton);
    QVERIFY(w.editor().isVisible());
    QTest::mouseClick(&button, Qt::LeftButton);
    QVERIFY(!w.editor().isVisible());
    w.editor().focusField("rate");
    QVERIFY(w.editor().isVisible() && button.isChecked() && w.main.focusWidget() == &w.field("rate"));
    w.main.resize(1440, 900);
    QTRY_VERIFY(!button.isVisible());
    QVERIFY(w.editor().isVisible());
  }

  // One length: its bar lies around its number, and ticks are whole numbers.
  void oneLengthIsANumber() {
    RequestsWindow w;
    w.show(RequestsPage::Workload);
    WorkloadChart& chart = *w.requests().workload();
    const Histogram& prompts = chart.counts(WorkloadChart::Prompts);
    QVERIFY(prompts.counts.size() == 1 && prompts.width == 1);
    const PlotPanel panel = chart.panel(WorkloadChart::Prompts);
    QStringList ticks;
    for (const AxisTick& tick : ticks_of(panel.x, panel.plot.width(), 40)) ticks << tick.text;
    QVERIFY2(ticks.contains("1,024") && !ticks.join(u' ').contains(u'.'), qPrintable(ticks.join(u' ')));
    const QPointF at(panel.at(1024, 0).x(), panel.plot.center().y());
    QVERIFY(std::abs(at.x() - panel.plot.center().x()) < 1);
    QVERIFY2(chart.tipAt(at).contains("1,024 tokens"), qPrintable(chart.tipAt(at)));
    QVERIFY(chart.tipAt(QPointF(panel.at(1026, 0).x(), at.y())).isEmpty());
  }

  // Rows that have no room are in the overview: a click and a drag there move the view over all requests.
  void theOverviewMovesTheView() {
    RequestsWindow w;
    RequestTimeline& timeline = w.timeline();
    w.enter("requests", "4");
    w.show(RequestsPage::Timeline);
    QVERIFY(timeline.overview().isEmpty());  // every row has room
    w.crowd();
    const QRectF all = timeline.overview();
    QVERIFY(!all.isEmpty());
    const auto last_row = [&] {
      return timeline.rowOf(static_cast<int>(w.run().simulation.requests.size()) - 1);
    };
    const QRectF widget(timeline.rect());
    QVERIFY(!widget.contains(last_row().center()));
    QVERIFY(timeline.tipAt(all.center()).contains("All requests"));
    QTest::mouseClick(&timeline, Qt::LeftButton, {}, (all.bottomRight() - QPointF(4, 3)).toPoint());
    QVERIFY(widget.contains(last_row().center()));
    QCOMPARE(timeline.selected(), -1);  // no request was clicked
    const double bottom = timeline.view().top;
    // A drag to the middle, zoomed in: both axes move.
    for (int i = 0; i < 3; ++i) QTest::keyClick(&timeline, Qt::Key_W);
    const double from = timeline.view().from;
    QTest::mousePress(&timeline, Qt::LeftButton, {}, (all.bottomRight() - QPointF(4, 3)).toPoint());
    QTest::mouseMove(&timeline, all.center().toPoint());
    QTest::mouseMove(&timeline, QPointF(all.left() + 2, all.center().y()).toPoint());
    QTest::mouseRelease(&timeline, Qt::LeftButton, {}, QPointF(all.left() + 2, all.center().y()).toPoint());
    QVERIFY(timeline.view().top < bottom && timeline.view().top > 0);
    QVERIFY(timeline.view().from == 0 && from > 0);
  }

  // The steps of the shown range, of the engine below the requests, become a bundle.
  void stepsOfTheShownRangeAreExported() {
    RequestsWindow w;
    auto& button = w.part<QPushButton>("export_steps");
    QVERIFY(!button.isVisible());
    w.crowd();
    QVERIFY(button.isVisible());
    w.timeline().setFocus();
    QTest::keyClick(&w.timeline(), Qt::Key_Home);
    QTest::keyClick(&w.timeline(), Qt::Key_Return);
    const RequestTimeline::View view = w.timeline().view();
    const auto range = steps_between(w.run(), w.timeline().replica(), view.from, view.to);
    const StepRange steps = std::get<StepRange>(range);
    QVERIFY(steps_in(w.run(), steps).size() < w.run().simulation.steps.size() / 4);
    QTest::mouseClick(&button, Qt::LeftButton);
    auto* dialog = w.main.findChild<QDialog*>("step_export");
    QVERIFY(dialog && dialog->isVisible());
    const QString what = dialog->findChild<QLabel*>("export_what")->text();
    QVERIFY2(what.contains(QString("Steps %1 to %2").arg(steps.first).arg(steps.last)), qPrintable(what));
    QVERIFY(!dialog->findChild<QCheckBox*>("export_durations")->isVisible());
    QTemporaryDir folder;
    dialog->findChild<QLineEdit*>("export_folder")->setText(folder.filePath("steps"));
    auto* start = dialog->findChild<QPushButton*>("export_start");
    QTRY_VERIFY_WITH_TIMEOUT(start->isEnabled(), kWait);
    QVERIFY(dialog->findChild<QLabel*>("export_size")->text().startsWith("4 traces"));
    QTest::mouseClick(start, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!w.main.exportJob()->running(), kWait);
    const CheckReport check = check_bundle(folder.filePath("steps").toStdString());
    QVERIFY2(check.ok(), check_text(check).c_str());
    QCOMPARE(check.ranks, int64_t{4});
  }

  // The sweep over rates: points of the core, the knee, a rate that the requests take over.
  void sweepsTheRate() {
    RequestsWindow w;
    w.type("requests", "200");
    w.type("e2e_limit", "100 s");
    w.enter("tpot_limit", "12 ms");
    w.show(RequestsPage::Load);
    QVERIFY(!w.requests().rates()->isVisible());
    QTest::mouseClick(&w.part<QPushButton>("sweep_rates"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(w.requests().sweep() && !w.requests().sweeping(), kWait);
    RateChart& chart = *w.requests().rates();
    QVERIFY(chart.isVisible());
    const auto made = sweep_rates(w.session.design(), w.editor().spec(), {});
    QCOMPARE(rates_json(*w.requests().sweep()), rates_json(*std::get<0>(made)));
    QVERIFY(w.requests().sweep()->knee);
    QVERIFY(w.part<ElidedLabel>("requests_caption").text().contains("largest rate"));
    QCOMPARE(w.table().rowCount(), chart.points());
    // The table has room for its columns.
    QTRY_VERIFY(w.requests().table()->horizontalHeader()->length() <=
                w.requests().table()->viewport()->width());
    QCOMPARE(w.view().saveMenu()->picture().csv().toStdString(), rates_csv(*w.requests().sweep()));
    // A limit of the end-to-end latency has a plot of its own.
    QVERIFY(chart.panel(RateChart::E2e).plot.top() > chart.panel(RateChart::Tpot).plot.bottom());
    const QPoint third = chart.place(RateChart::Tpot, 2).toPoint();
    QTest::mouseClick(&chart, Qt::LeftButton, {}, third);
    QCOMPARE(chart.selected(), 2);
    QCOMPARE(w.requests().table()->selectedSourceRows(), std::vector<int>{2});
    QVERIFY(w.part<ElidedLabel>("requests_caption").text().contains("p99 TTFT"));
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(chart.selected(), 3);
    QTest::keyClick(&chart, Qt::Key_Return);
    w.wait();
    QCOMPARE(w.run().spec.source.rate, chart.point(3).rate);
    QCOMPARE(w.part<QPushButton>("sweep_rates").text(),
             QString("Sweep the rate"));  // another rate: the same sweep
    // An other design makes the sweep old.
    QVERIFY(!w.session.setKnob("accelerator", "a100-sxm-80gb"));
    w.wait();
    QCOMPARE(w.part<QPushButton>("sweep_rates").text(), QString("Sweep again"));
    QVERIFY(w.part<ElidedLabel>("requests_caption").text().contains("earlier design"));
  }

  void aClosedLoopHasNoRates() {
    RequestsWindow w;
    w.enter("users", "4");
    QTest::mouseClick(&w.part<QPushButton>("sweep_rates"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!w.requests().sweeping(), kWait);
    const auto lines = w.requests().findChildren<IssueLine*>(Qt::FindDirectChildrenOnly);
    QVERIFY(lines.front()->isVisible() && lines.front()->text().contains("closed loop"));
    QVERIFY(!w.requests().sweep());
  }

  // A long run can be cancelled and started again.
  void aRunCanBeCancelled() {
    RequestsWindow w;
    const auto before = w.requests().run();
    w.type("requests", "100000");
    auto& stop = w.part<QPushButton>("requests_stop");
    QTRY_VERIFY_WITH_TIMEOUT(stop.isVisible(), kWait);
    QTest::mouseClick(&stop, Qt::LeftButton);
    QVERIFY(!w.requests().ready());
    QCOMPARE(w.requests().run(), before);
    QCOMPARE(stop.text(), QString("Compute"));
    w.enter("requests", "100");
    QVERIFY(!stop.isVisible());
    QCOMPARE(w.run().simulation.requests.size(), size_t{100});
  }

  // The settings are a part of the document.
  void theDocumentKeepsTheSettings() {
    RequestsWindow w;
    w.enter("rate", "7");
    PageSettings& pages = *w.main.document()->pages();
    QCOMPARE(pages.pages().service.source.rate, 7.0);
    StudyPages other = pages.pages();
    other.service.source.rate = 3;
    pages.set(other);
    w.wait();
    QCOMPARE(w.field("rate").text(), QString("3"));
    QCOMPARE(w.run().spec.source.rate, 3.0);
  }
};

QTEST_MAIN(RequestsTest)
#include "requests_test.moc"
