// The Serving page: the present design over batches and contexts, in linked chart, map and table. By mouse
// and keys.
#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>
#include <algorithm>

#include "explore_window.h"
#include "memory/estimate.h"
#include "offscreen.h"
#include "report/inference_report.h"
#include "serving/within_limits.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/save_menu.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/shell/document.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/verdict_strip.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/serving/serving_chart.h"
#include "ui/views/serving/serving_model.h"
#include "ui/views/serving/serving_page.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kWait = 300'000;  // ms, on a busy machine

// The Serving page with Llama 3 8B on 8 GPUs. Decode: 16 sequences of 4,096 tokens.
struct ServingWindow : ExploreWindow {
  explicit ServingWindow(Mode mode = Mode::Decode) {
    if (mode != Mode::Train) session.setDesign(serving_design(session.design(), mode, 16, 4096), "serve");
    session.waitForEstimate();
    QTest::mouseClick(view().pages()->button(ExploreView::Serving), Qt::LeftButton);
    if (mode != Mode::Train) wait();
  }
  ServingPage& serving() { return static_cast<ServingPage&>(*view().serving()); }
  ServingChart& chart() { return *serving().chart(); }
  ServingMap& map() { return *serving().map(); }
  template <typename Widget>
  Widget& part(const char* name) {
    return *serving().findChild<Widget*>(QString::fromLatin1(name));
  }
  void wait() { QTRY_VERIFY_WITH_TIMEOUT(serving().ready(), kWait); }
  void ranges(const char* batches, const char* contexts) {
    for (const auto& [name, text] : {std::pair{"serving_batches", batches}, {"serving_contexts", contexts}}) {
      auto& field = part<QLineEdit>(name);
      field.setFocus();
      field.selectAll();
      QTest::keyClicks(&field, QString::fromLatin1(text));
      QTest::keyClick(&field, Qt::Key_Return);
    }
    wait();
  }
  void limit(const char* name, const char* text) {
    auto& field = part<QLineEdit>(name);
    field.setFocus();
    field.selectAll();
    QTest::keyClick(&field, Qt::Key_Delete);
    QTest::keyClicks(&field, QString::fromLatin1(text));
    QTest::keyClick(&field, Qt::Key_Return);
    wait();
  }
  SelectionState& state() { return *main.findChild<SelectionState*>(); }
  void showMap() { QTest::mouseClick(part<ui::SegmentedControl>("serving_which").button(1), Qt::LeftButton); }
};

}  // namespace

class ServingTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // For a training design, the page has a button for each phase of inference. Each is one undo step.
  void leadsFromTraining_data() {
    QTest::addColumn<QByteArray>("button");
    QTest::addColumn<int>("mode");
    QTest::newRow("decode") << QByteArray("serve_decode") << static_cast<int>(Mode::Decode);
    QTest::newRow("prefill") << QByteArray("serve_prefill") << static_cast<int>(Mode::Prefill);
  }
  void leadsFromTraining() {
    QFETCH(QByteArray, button);
    QFETCH(int, mode);
    ServingWindow w(Mode::Train);
    const Design trained = w.session.design();
    QVERIFY(w.part<QPushButton>("serve_decode").isVisible());
    QVERIFY(!w.chart().isVisible());
    QTest::mouseClick(&w.part<QPushButton>(button.constData()), Qt::LeftButton);
    QCOMPARE(static_cast<int>(w.session.design().workload.mode), mode);
    const WorkloadSpec& now = w.session.design().workload;
    QCOMPARE(mode == static_cast<int>(Mode::Decode) ? now.context_length : now.seq, trained.workload.seq);
    w.wait();
    QVERIFY(w.chart().isVisible());
    QVERIFY(w.chart().hasFocus());
    w.session.undoStack()->undo();
    QCOMPARE(w.session.design(), trained);
    QVERIFY(w.part<QPushButton>("serve_decode").isVisible());
  }

  // The page shows the core's sweep over the default ranges, and marks the present design with its own
  // values.
  void showsTheSweep() {
    ServingWindow w;
    const Design design = w.session.design();
    const std::vector<int64_t> contexts = usual_contexts(design), batches = usual_batches(design, contexts);
    const ServingSweep expected = sweep(design, batches, contexts);
    QCOMPARE(w.chart().points(), static_cast<int>(expected.points.size()));
    QCOMPARE(csv_text(*w.serving().model()).toStdString(), sweep_csv(expected));
    const QAbstractItemModelTester tester(w.serving().model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QTRY_VERIFY(w.chart().present());
    const InferenceFigures figures = inference_figures(*w.session.estimate()->report,
                                                       *w.session.estimate()->simulation);
    QCOMPARE(w.chart().present()->figures.seconds, figures.seconds);
    QCOMPARE(w.map().present()->batch, int64_t{16});
    // The present design uses as many microbatches as the sweep does, so its mark lies on its point.
    const int now = w.chart().find(16, 4096);
    QVERIFY(now >= 0);
    QVERIFY((w.chart().presentPlace() - w.chart().place(now)).manhattanLength() < 1);
    QVERIFY(w.chart().tip(now).contains("(current)"));
    // Points that do not fit in memory are shown too: in tip, table, chart and map.
    int too_large = -1;
    for (int i = 0; i < w.chart().points(); ++i)
      if (w.chart().shows(i) && !w.chart().phase(i).fits) too_large = i;
    QVERIFY(too_large >= 0);
    QVERIFY(w.chart().tip(too_large).contains("Does not fit in memory"));
    QVERIFY(w.serving().model()->index(too_large, 14).data(TableModel::AlarmRole).toBool());
    QCOMPARE(w.chart().pointAt(w.chart().place(too_large)), too_large);
    QVERIFY(!w.map().text(too_large).isEmpty() && !w.map().fits(too_large));
    // The line below the chart says how many sequences fit.
    const auto& [context, most] = expected.largest.front();
    QVERIFY(w.part<ElidedLabel>("serving_limits")
                .text()
                .contains(QString("At most %1 sequences of 1,024 tokens fit")
                              .arg(QString::fromStdString(grouped(most)))));
    QCOMPARE(context, int64_t{1024});
    // A larger batch takes longer, so points of a context go from left to right.
    for (int i = 1; i < w.chart().points(); ++i)
      if (w.chart().point(i).context == w.chart().point(i - 1).context)
        QVERIFY(w.chart().place(i).x() > w.chart().place(i - 1).x() - 2);
  }

  // A click in one part selects the point in all. A double click and Enter make the point the present design,
  // with undo.
  void selectsAndAppliesPoints() {
    ServingWindow w;
    const Design before = w.session.design();
    const int at = w.chart().find(64, 4096), other = w.chart().find(128, 4096);
    QVERIFY(at >= 0 && other >= 0);
    QTest::mouseClick(&w.chart(), Qt::LeftButton, {}, w.chart().place(at).toPoint());
    QCOMPARE(w.chart().selected(), at);
    QCOMPARE(w.map().selected(), at);
    QCOMPARE(w.serving().table()->sorted()->mapToSource(w.serving().table()->currentIndex()).row(), at);
    QVERIFY(w.part<ElidedLabel>("serving_selected").text().startsWith("64 × 4,096 tokens · TPOT "));
    QTest::keyClick(&w.chart(), Qt::Key_Right);
    QCOMPARE(w.chart().selected(), other);
    QTest::keyClick(&w.chart(), Qt::Key_Left);
    QCOMPARE(w.chart().selected(), at);
    QTest::keyClick(&w.chart(), Qt::Key_Up);
    QCOMPARE(w.chart().point(w.chart().selected()).context, int64_t{1024});
    QCOMPARE(w.chart().point(w.chart().selected()).batch, int64_t{64});
    QTest::keyClick(&w.chart(), Qt::Key_Down);
    QCOMPARE(w.chart().selected(), at);
    QTest::keyClick(&w.chart(), Qt::Key_End);
    QCOMPARE(
        w.chart().selected(), w.chart().points() - 1 - [&] {
          int after = 0;
          for (int i = 0; i < w.chart().points(); ++i) after += w.chart().point(i).context > 4096;
          return after;
        }());
    QTest::keyClick(&w.chart(), Qt::Key_Escape);
    QVERIFY(!w.serving().table()->currentIndex().isValid());
    QCOMPARE(w.map().selected(), -1);
    QVERIFY(!w.part<QPushButton>("take_point").isEnabled());
    QTest::mouseDClick(&w.chart(), Qt::LeftButton, {}, w.chart().place(at).toPoint());
    QCOMPARE(w.session.design(), serving_design(before, Mode::Decode, 64, 4096));
    // The chart stays, and the mark moves to the point.
    QVERIFY(w.serving().ready());
    w.session.waitForEstimate();
    QTRY_VERIFY(w.chart().present() && w.chart().present()->batch == 64);
    QVERIFY((w.chart().presentPlace() - w.chart().place(at)).manhattanLength() < 1);
    w.session.undoStack()->undo();
    QCOMPARE(w.session.design(), before);
    // The same by keys in the table, and by the button.
    w.serving().table()->setFocus();
    w.serving().table()->setCurrentIndex(
        w.serving().table()->sorted()->mapFromSource(w.serving().model()->index(other, 0)));
    QCOMPARE(w.chart().selected(), other);
    QTest::keyClick(w.serving().table(), Qt::Key_Return);
    QCOMPARE(w.session.design().workload.batch, int64_t{128});
    w.session.undoStack()->undo();
    QTest::mouseClick(&w.part<QPushButton>("take_point"), Qt::LeftButton);
    QCOMPARE(w.session.design().workload.batch, int64_t{128});
  }

  void mapIsLinked() {
    ServingWindow w;
    w.showMap();
    QVERIFY(w.map().isVisible() && !w.chart().isVisible());
    const int at = w.map().find(32, 16384);
    QTest::mouseClick(&w.map(), Qt::LeftButton, {}, w.map().place(at).toPoint());
    QCOMPARE(w.map().selected(), at);
    QCOMPARE(w.chart().selected(), at);
    // The largest batch that fits is the last cell of its row.
    QTest::keyClick(&w.map(), Qt::Key_End);
    const ServedPoint most = w.map().point(w.map().selected());
    QVERIFY(most.largest && most.context == 16384);
    QVERIFY(w.map().cell(w.map().selected()).left() > w.map().cell(at).right());
    QTest::keyClick(&w.map(), Qt::Key_Up);
    QVERIFY(w.map().point(w.map().selected()).largest);
    QTest::keyClick(&w.map(), Qt::Key_Return);
    QCOMPARE(w.session.design().workload.batch,
             largest_batch(w.session.design(), w.session.design().workload.context_length));
    QVERIFY(w.session.design().workload.batch > most.batch);
    w.session.waitForReport();
    QVERIFY(w.session.report()->memory->fits);
    w.session.undoStack()->undo();
    // The map can show other values, each in its own unit.
    auto& figure = w.part<QComboBox>("serving_figure");
    QVERIFY(figure.isVisible());
    figure.setFocus();
    QTest::keyClick(&figure, Qt::Key_Down);
    QCOMPARE(w.map().figure(), ServingFigure::TimePerToken);
    QCOMPARE(*w.map().value(at), w.map().point(at).decode.figures.seconds);
    QTest::keyClick(&figure, Qt::Key_End);
    QCOMPARE(w.map().figure(), ServingFigure::Memory);
    QCOMPARE(*w.map().value(at), static_cast<double>(w.map().point(at).decode.memory));
    // Each value belongs to one phase. Its validity, and whether it fits, come from this phase.
    w.ranges("296,298,304", "16384");
    bool apart = false;
    for (int i = 0; i < w.map().points(); ++i) {
      const ServedPoint& p = w.map().point(i);
      apart = apart || (p.decode.valid() && p.prefill.valid() && p.decode.fits != p.prefill.fits);
      for (const auto& [of, phase] : {std::pair{ServingFigure::TokensPerGpu, &p.decode},
                                      {ServingFigure::TimePerToken, &p.decode},
                                      {ServingFigure::FirstToken, &p.prefill},
                                      {ServingFigure::FirstTokenEarly, &p.prefill},
                                      {ServingFigure::Memory, &p.decode}}) {
        w.map().setFigure(of);
        QCOMPARE(w.map().value(i).has_value(), phase->valid());
        QCOMPARE(w.map().fits(i), phase->valid() && phase->fits);
      }
    }
    QVERIFY(apart);
  }

  void rangesAreEdited() {
    ServingWindow w;
    w.ranges("4..64*4", "2048,8192");
    QCOMPARE(w.serving().shown()->largest.size(), size_t{2});
    std::vector<int64_t> batches;
    for (const ServedPoint& p : w.serving().shown()->points)
      if (p.requested && p.context == 2048) batches.push_back(p.batch);
    QCOMPARE(batches, (std::vector<int64_t>{4, 16, 64}));
    // An invalid list shows the accepted values. The last sweep stays visible.
    auto& field = w.part<QLineEdit>("serving_batches");
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, "4,x");
    QTRY_VERIFY(w.part<QWidget>("issue_line").isVisible());
    QVERIFY(!w.serving().ready());
    QCOMPARE(w.serving().shown()->largest.size(), size_t{2});
    QTest::mouseClick(w.part<QWidget>("issue_line").findChild<QPushButton*>("fix_button"), Qt::LeftButton);
    QTRY_VERIFY(!w.part<QWidget>("issue_line").isVisible());
    w.wait();
    QVERIFY(field.text().isEmpty());
    QVERIFY(w.serving().shown()->points.size() > 12);
    // A batch that is invalid for the layout has a row with the reason.
    w.ranges("3,4", "2048");
    QCOMPARE(w.chart().points(), 3);
    QVERIFY(!w.chart().phase(0).valid());
    QVERIFY(w.chart().tip(0).contains("a batch of 3"));
    w.showMap();
    QTest::mouseClick(&w.map(), Qt::LeftButton, {}, w.map().place(0).toPoint());
    QCOMPARE(w.map().selected(), 0);
    const Design before = w.session.design();
    QVERIFY(!w.part<QPushButton>("take_point").isEnabled());
    QTest::keyClick(&w.map(), Qt::Key_Return);
    QCOMPARE(w.session.design(), before);
  }

  // The page shows the previous sweep until the new one is ready.
  void followsTheDesign() {
    ServingWindow w;
    const auto before = w.serving().shown();
    QVERIFY(!w.session.setKnob("kv_cache_dtype", "fp8"));
    QVERIFY(!w.serving().ready() && w.serving().shown() == before);
    w.wait();
    QVERIFY(w.serving().shown() != before);
    QVERIFY(w.serving().shown()->largest.front().second > before->largest.front().second);
    // A batch that is invalid for the layout leaves the other batches valid.
    QVERIFY(!w.session.setKnob("batch", "7"));
    w.wait();
    QVERIFY(w.chart().find(7, 4096) >= 0 && !w.chart().phase(w.chart().find(7, 4096)).valid());
    QVERIFY(w.chart().phase(w.chart().find(64, 4096)).valid());
    QTRY_VERIFY(!w.chart().present());
    QTRY_VERIFY(w.part<ElidedLabel>("serving_limits").text().contains("cannot be built"));
    w.session.undoStack()->undo();
    w.wait();
  }

  void isCancelled() {
    ServingWindow w;
    const auto before = w.serving().shown();
    auto& stop = w.part<QPushButton>("serving_stop");
    QVERIFY(!stop.isVisible());
    QVERIFY(!w.session.setKnob("pp", "4"));
    w.part<QLineEdit>("serving_contexts").setFocus();
    QTest::keyClicks(&w.part<QLineEdit>("serving_contexts"), "1024..20480+1024");
    w.part<QLineEdit>("serving_batches").setFocus();
    QTest::keyClicks(&w.part<QLineEdit>("serving_batches"), "64..1280+64");
    QTest::keyClick(&w.part<QLineEdit>("serving_batches"), Qt::Key_Return);
    QVERIFY(w.serving().working());
    QTRY_VERIFY(stop.isVisible());
    QCOMPARE(stop.text(), QString("Cancel"));
    QTest::mouseClick(&stop, Qt::LeftButton);
    QVERIFY(!w.serving().working() && !w.serving().ready());
    QVERIFY(stop.isVisible() && stop.text() == "Compute");
    QCOMPARE(w.serving().shown(), before);
    QTest::qWait(2500);  // longer than the sweep would have taken
    QCOMPARE(w.serving().shown(), before);
    w.part<QLineEdit>("serving_contexts").setFocus();
    w.part<QLineEdit>("serving_contexts").selectAll();
    QTest::keyClicks(&w.part<QLineEdit>("serving_contexts"), "2048");
    QTest::keyClick(&w.part<QLineEdit>("serving_contexts"), Qt::Key_Return);
    w.wait();
    QCOMPARE(w.serving().shown()->largest.size(), size_t{1});
    QVERIFY(!stop.isVisible());
  }

  void prefillHasItsOwnFigures() {
    ServingWindow w(Mode::Prefill);
    QVERIFY(w.chart().points() > 0);
    for (int i = 0; i < w.chart().points(); ++i) QVERIFY(w.chart().point(i).requested);
    const int at = w.chart().find(16, 4096);
    QCOMPARE(w.chart().phase(at).figures.seconds, w.chart().point(at).prefill.figures.seconds);
    QTRY_VERIFY(w.chart().present());
    QVERIFY((w.chart().presentPlace() - w.chart().place(at)).manhattanLength() < 1);
    QVERIFY(w.chart().tip(at).contains("of the first prompts"));
    QVERIFY(w.chart().tip(at).contains(bytes_text(w.chart().point(at).prefill.memory, UnitSystem::Binary)));
    QVERIFY(w.chart().point(at).prefill.memory != w.chart().point(at).decode.memory);
    QTest::mouseDClick(&w.chart(), Qt::LeftButton, {}, w.chart().place(w.chart().find(64, 4096)).toPoint());
    QCOMPARE(w.session.design().workload.batch, int64_t{64});
    QCOMPARE(w.session.design().workload.seq, int64_t{4096});
    QCOMPARE(w.session.design().workload.mode, Mode::Prefill);
    // The verdict gives the times of the first and of the last prompt.
    w.session.waitForEstimate();
    const QString verdict = w.main.verdictStrip()->text();
    QVERIFY2(verdict.contains("TTFT, last prompt: ") && verdict.contains(", first "), qPrintable(verdict));
  }

  // Without a selection, the inspector shows the largest batches. With one, it shows all values of the point.
  void theInspectorShowsThePoint() {
    ServingWindow w;
    QVERIFY(w.main.inspector()->isVisible() && !w.setup().isVisible());
    QCOMPARE(w.main.selection()->inspection().title, QString("Largest decode batch"));
    QCOMPARE(size_t(w.main.selection()->inspection().rows.size()), w.serving().shown()->largest.size());
    const int at = w.chart().find(16, 4096);
    QTest::mouseClick(&w.chart(), Qt::LeftButton, {}, w.chart().place(at).toPoint());
    QCOMPARE(w.main.selection()->inspection().title, QString("16 sequences of 4,096 tokens"));
    const auto value = [&](const auto& rows, const char* name) {
      for (const auto& [key, text] : rows)
        if (key == QLatin1String(name)) return text;
      return QString();
    };
    QCOMPARE(value(w.main.selection()->inspection().rows, "Time per output token"),
             QString::fromStdString(format_seconds(w.chart().phase(at).figures.seconds)));
    QCOMPARE(value(w.main.selection()->inspection().more, "Prompt tokens/s per GPU"),
             QString::fromStdString(significant(w.chart().point(at).prefill.figures.tokens_per_gpu)));
    // The header of the column says that prompt tokens are counted, not prompts.
    QStringList words;
    for (int c = 0; c < w.serving().model()->columnCount(); ++c)
      words << w.serving().model()->headerData(c, Qt::Horizontal).toString().replace('\n', ' ');
    QVERIFY2(words.contains("Prompt tokens/s per GPU") && !words.contains("Prompts per GPU"),
             qPrintable(words.join(", ")));
    // The Designs page has the panel of the search instead of the inspector. Other pages have no search
    // button.
    w.view().showPage(ExploreView::Designs);
    QVERIFY(w.setup().isVisible() && !w.main.inspector()->isVisible());
    w.view().showPage(ExploreView::Compare);
    QVERIFY(w.main.inspector()->isVisible());
    QVERIFY(!w.view().findChild<QPushButton*>("run_search_here")->isVisible());
    w.main.showView(0);
    QVERIFY(w.main.inspector()->isVisible());
  }

  void pinnedDesignsAreCompared() {
    ServingWindow w;
    Design narrow = w.session.design();
    narrow.workload.kv_cache_dtype = DType::FP8;
    w.session.comparisons()->add(narrow, "fp8");
    QTRY_VERIFY_WITH_TIMEOUT(
        w.session.comparisons()->ready() && w.serving().comparisonReady() && !w.chart().others().empty(),
        kWait);
    const int at = w.chart().find(64, 4096);
    const ServingSweep expected = sweep(narrow, {64}, {4096});
    QCOMPARE(w.chart().others().front().member, 1);
    QVERIFY(w.chart().others().front().itself);
    QVERIFY(w.chart().tip(at).contains("\nA: TPOT "));
    const int columns = w.serving().model()->columnCount();
    QCOMPARE(w.serving().model()->headerData(columns - 3, Qt::Horizontal).toString(), QString("A tokens/s"));
    QCOMPARE(w.serving().model()->index(at, columns - 3).data(TableModel::SortRole).toDouble(),
             expected.points.front().decode.figures.tokens_per_gpu);
    w.session.comparisons()->clear();
    QTRY_VERIFY(w.chart().others().empty());
  }

  // Two limits answer which batch to serve: a line in the chart, marks on the cells, a sentence, a document.
  void limitsOfLatency() {
    ServingWindow w;
    const auto before = w.serving().shown();
    QVERIFY(w.chart().limitPlace() == std::nullopt);
    w.limit("tpot_limit", "20 ms");
    w.limit("ttft_limit", "3s");
    const ServiceLimits limits{3, 0.02};
    QVERIFY(w.serving().shown()->limits == limits);
    QVERIFY(w.main.document()->pages()->pages().limits == limits);
    QVERIFY(w.main.isWindowModified());
    ServingSweep expected = *before;
    find_within_limits(expected, limits);
    QCOMPARE(csv_text(*w.serving().model()).toStdString(), sweep_csv(expected));
    QCOMPARE(w.serving().shown()->within, expected.within);
    // The sentence is about the context of the design.
    const auto answer = std::find_if(expected.points.begin(), expected.points.end(),
                                     [](const ServedPoint& p) { return p.within && p.context == 4096; });
    QVERIFY(answer != expected.points.end());
    const QString sentence = w.part<ElidedLabel>("serving_limits").text();
    QVERIFY2(sentence.startsWith(QString("TTFT ≤ 3 s and TPOT ≤ 20 ms, 4,096 tokens: %1 sequences, ")
                                     .arg(QString::fromStdString(grouped(answer->batch)))),
             qPrintable(sentence));
    QVERIFY(sentence.contains("per million output tokens"));
    // The line lies between the points that keep the limit and those that exceed it.
    QVERIFY(w.chart().limitPlace());
    for (int i = 0; i < w.chart().points(); ++i)
      if (w.chart().phase(i).valid() && w.chart().shows(i))
        QCOMPARE(w.chart().place(i).x() > *w.chart().limitPlace(), w.chart().phase(i).figures.seconds > 0.02);
    int within = -1, over = -1;
    for (int i = 0; i < w.chart().points(); ++i) {
      if (w.chart().point(i).within && w.chart().point(i).context == 4096) within = i;
      if (w.map().fits(i) && w.chart().point(i).requested && w.map().overWord(i) == "> TTFT") over = i;
    }
    QVERIFY(within >= 0 && over >= 0);
    QVERIFY(w.chart().tip(within).contains("the largest batch within the limits"));
    QVERIFY(w.chart().tip(over).contains("Over the TTFT limit"));
    QTest::mouseClick(&w.chart(), Qt::LeftButton, {}, w.chart().place(within).toPoint());
    QCOMPARE(w.state().inspection().subtitle, QString("the largest batch of this context within the limits"));
    QTest::keyClick(&w.chart(), Qt::Key_Escape);
    QCOMPARE(w.state().inspection().more_title, QString("Largest batch with TTFT ≤ 3 s and TPOT ≤ 20 ms"));
    // A cell over a limit has a corner and a word; a cell within the limits has none.
    w.showMap();
    const QImage map = w.map().grab().toImage();
    const auto corner = [&](int at) {
      return map.pixelColor(w.map().cell(at).topRight().toPoint() + QPoint(-3, 2));
    };
    QCOMPARE(corner(over), Theme::instance().colors().bad);
    QVERIFY(corner(within) != Theme::instance().colors().bad);
    QVERIFY(w.map().overWord(within).isEmpty());
    QCOMPARE(w.map().pointAt(w.map().cell(within).center()), within);
    // Without limits, all of this is gone.
    w.limit("tpot_limit", "");
    w.limit("ttft_limit", "");
    QCOMPARE(w.chart().points(), static_cast<int>(before->points.size()));
    QVERIFY(w.part<ElidedLabel>("serving_limits").text().startsWith("At most "));
  }

  void aLimitNeedsAUnit() {
    ServingWindow w;
    w.limit("tpot_limit", "20");
    auto& issue = *w.part<QWidget>("limit_fields").findChild<IssueLine*>();
    QVERIFY(issue.isVisible());
    QVERIFY(!w.main.document()->pages()->pages().limits.any());
    QTest::mouseClick(issue.fixButton(), Qt::LeftButton);
    QTRY_VERIFY(!issue.isVisible());
    QCOMPARE(w.part<QLineEdit>("tpot_limit").text(), QString("20 ms"));
    QCOMPARE(*w.main.document()->pages()->pages().limits.tpot, 0.02);
    // The fields show the limits of an opened document.
    w.main.document()->pages()->set({{1.5, std::nullopt}, {}});
    QCOMPARE(w.part<QLineEdit>("ttft_limit").text(), QString("1.5 s"));
    QVERIFY(w.part<QLineEdit>("tpot_limit").text().isEmpty());
  }

  // In prefill, the axis is the time to first token: its limit is the line.
  void prefillShowsTheLimitOfTheFirstToken() {
    ServingWindow w(Mode::Prefill);
    w.limit("ttft_limit", "3 s");
    QVERIFY(w.chart().limitPlace());
    QVERIFY(std::any_of(w.serving().shown()->points.begin(), w.serving().shown()->points.end(),
                        [](const ServedPoint& p) { return p.within; }));
    w.limit("ttft_limit", "");
    w.limit("tpot_limit", "20 ms");
    QVERIFY(!w.chart().limitPlace());
    QVERIFY(w.part<QWidget>("ttft_note").isVisible());
  }

  void isSaved() {
    ServingWindow w;
    for (const bool map : {false, true}) {
      if (map) w.showMap();
      const Picture picture = w.view().picture();
      QCOMPARE(picture.json().toStdString(), sweep_json(*w.serving().shown()));
      QCOMPARE(picture.csv().toStdString(), sweep_csv(*w.serving().shown()));
      for (const SaveFormat format : {SaveFormat::Png, SaveFormat::Svg, SaveFormat::Pdf}) {
        const auto bytes = encoded(picture, format);
        QVERIFY(std::holds_alternative<QByteArray>(bytes) && std::get<QByteArray>(bytes).size() > 3000);
      }
    }
    Q_EMIT w.view().saveMenu()->aboutToShow();
    QVERIFY(w.view().saveMenu()->findChild<QAction*>("save_result")->isVisible());
  }

  // Decode has its own knob for the length. A note says so if its value differs from the length before.
  void aDifferentContextLengthIsReported() {
    ServingWindow w(Mode::Train);
    const int64_t context = w.session.design().workload.context_length;
    QVERIFY(!w.session.setKnob("seq", "2048"));
    QVERIFY(context != 2048);
    QVERIFY(!w.session.setKnob("mode", "decode"));
    MessageBar& bar = *w.main.messageBar();
    QVERIFY(bar.isVisible());
    QVERIFY(bar.text().contains("context length, 4,096 tokens"));
    QCOMPARE(w.session.design().workload.context_length, context);
    QCOMPARE(bar.button()->text(), QString("Use 2,048"));
    QTest::mouseClick(bar.button(), Qt::LeftButton);
    QTRY_COMPARE(w.session.design().workload.context_length, int64_t{2048});
    QVERIFY(!bar.isVisible());
    QVERIFY(!w.session.setKnob("mode", "prefill"));
    QVERIFY(!w.session.setKnob("mode", "decode"));
    QVERIFY(!bar.isVisible());  // both lengths are equal
  }

  // Graphs of inference have forwards only.
  void graphOffersNoBackward() {
    ServingWindow w(Mode::Train);
    w.main.showView(0);
    auto& passes = *w.main.findChild<ui::SegmentedControl*>("passes");
    QTest::mouseClick(passes.button(1), Qt::LeftButton);
    QCOMPARE(passes.current(), 1);
    w.session.setDesign(serving_design(w.session.design(), Mode::Decode, 16, 4096), "serve");
    w.session.waitForReport();
    QTRY_VERIFY(!passes.button(1)->isEnabled());
    QVERIFY(!passes.button(2)->isEnabled() && passes.button(0)->isEnabled());
    QCOMPARE(passes.current(), 0);
    QVERIFY(passes.button(1)->toolTip().contains("no backward"));
    w.session.undoStack()->undo();
    w.session.waitForReport();
    QTRY_VERIFY(passes.button(1)->isEnabled());
  }

  // A search in decode includes the present design, with the values of the verdict. If the present design is
  // invalid, a note says so.
  void searchMarksThePresentDesign() {
    ServingWindow w;
    w.view().showPage(ExploreView::Designs);
    w.vary({{"tp", "1,2,4"}, {"pp", "1,2"}, {"microbatch", "1,2,4"}});
    w.search();
    QTRY_COMPARE(w.scatter().marked().size(), size_t{1});
    const InferenceFigures figures = inference_figures(*w.session.estimate()->report,
                                                       *w.session.estimate()->simulation);
    const int step = w.page().rows()->column("step_time");
    QCOMPARE(w.page().rows()->column(step).label, QString("Time per output token"));
    bool found = false;
    for (int row = 0; row < w.page().rows()->rows(); ++row)
      found = found || (w.page().rows()->design(row).parallel == w.session.design().parallel &&
                        std::abs(w.page().rows()->value(row, step) / figures.seconds - 1) < 1e-9);
    QVERIFY(found);
    QVERIFY(w.scatter().plot().adjusted(-2, -2, 2, 2).contains(w.scatter().markedPlace(0)));
    QVERIFY(!w.session.setKnob("microbatch", "3"));
    w.session.waitForReport();
    auto* note = w.view().findChild<QLabel*>("explore_note");
    QTRY_VERIFY(note->isVisible() && note->text().contains("cannot be built"));
  }
};

QTEST_MAIN(ServingTest)
#include "serving_test.moc"
