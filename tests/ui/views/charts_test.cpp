// The Memory, Compute and Communication views: selecting by mouse and keys, inspector, stale results, themes.
#include <QApplication>
#include <QFrame>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <limits>

#include "memory/estimate.h"
#include "offscreen.h"
#include "plan/collective_rows.h"
#include "plan/rank_mesh.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/chart_notice.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/rank_spin_box.h"
#include "ui/plot/stage_chart.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/memory/stage_memory_model.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Sets knobs and waits for the report.
void set(Session& session, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  for (const auto& [id, text] : knobs) {
    const std::optional<Problem> problem = session.setKnob(QString::fromLatin1(id),
                                                           QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.waitForReport();
}

void set_pipeline(Session& session) { set(session, {{"tp", "2"}, {"pp", "4"}, {"dp", "1"}}); }

void open(QWidget& view, QSize size = {760, 640}) {
  view.resize(size);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QTest::qWait(20);  // QCustomPlot places the axes in a queued replot
}

// A view of two stages and their simulated step.
template <class View>
struct Simulated {
  Simulated() : state(&simulated(session)), view(&state) { open(view); }
  static Session& simulated(Session& session) {
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    session.waitForEstimate();
    return session;
  }
  Session session;
  SelectionState state;
  View view;
};

void click_segment(StageChart& chart, int stage, int series) {
  QTest::mouseClick(&chart, Qt::LeftButton, Qt::NoModifier,
                    chart.segmentRect(stage, series).center().toPoint());
}

int index_of(MemoryCategory category) { return static_cast<int>(category); }

}  // namespace

class ChartsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:

  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void aClickOnABarSelectsStageAndSegment() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    click_segment(*view.chart(), 2, index_of(MemoryCategory::Activations));
    QCOMPARE(state.stage(), 2);
    const Inspection& inspection = state.inspection();
    QCOMPARE(inspection.title, QStringLiteral("Activations, stage 2"));
    QCOMPARE(inspection.values.size(), 1);
    const Quantity& quantity = session.report()->stages[2].memory[index_of(MemoryCategory::Activations)];
    QCOMPARE(inspection.values[0].formula, QString::fromStdString(quantity.formula->text()));
    QCOMPARE(inspection.values[0].value, QString::fromStdString(format_bytes(quantity.value)));
    QVERIFY(!inspection.values[0].substituted.isEmpty());
    QVERIFY(inspection.why.contains(QStringLiteral("min(4 - 2,")));
    QCOMPARE(view.chart()->selectedStage(), 2);
  }

  void aClickOnARowSelectsTheStage() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    const QRect cell = view.table()->visualRect(view.table()->model()->index(3, 0));
    QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
    QCOMPARE(state.stage(), 3);
    QCOMPARE(view.chart()->selectedStage(), 3);
    QTest::keyClick(view.table(), Qt::Key_Up);
    QCOMPARE(state.stage(), 2);
  }

  void theStageIsSharedByAllViews() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView memory(&state);
    ComputeView compute(&state);
    CommunicationView communication(&state);
    state.setStage(3);
    QCOMPARE(memory.chart()->selectedStage(), 3);
    QCOMPARE(compute.chart()->selectedStage(), 3);
    QCOMPARE(communication.model()->rowCount(),
             static_cast<int>(session.report()->stages[3].collectives.size()));
  }

  void arrowKeysMoveTheSelection() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    StageChart* chart = view.chart();
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_Right);
    QTest::keyClick(chart, Qt::Key_Right);
    QCOMPARE(state.stage(), 2);
    QTest::keyClick(chart, Qt::Key_Home);
    QCOMPARE(state.stage(), 0);
    QTest::keyClick(chart, Qt::Key_Left);  // the first stage stays selected
    QCOMPARE(state.stage(), 0);
    QTest::keyClick(chart, Qt::Key_Up);
    QCOMPARE(chart->selectedSeries(), 0);
    QVERIFY(state.inspection().title.startsWith(QStringLiteral("Parameters")));
    // Stage 0 has no logits. Above activations, buffers and runtime, Up selects the whole stage.
    for (int i = 0; i < 6; ++i) QTest::keyClick(chart, Qt::Key_Up);
    QCOMPARE(chart->selectedSeries(), int(StageChart::kWholeStage));
    QTest::keyClick(chart, Qt::Key_End);
    QTest::keyClick(chart, Qt::Key_Down);
    QCOMPARE(state.stage(), 3);
    QCOMPARE(chart->selectedSeries(), index_of(MemoryCategory::Runtime));
  }

  void theRankSpinBoxSelectsTheStage() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    auto* spin_box = view.findChild<RankSpinBox*>();
    QVERIFY(spin_box);
    QCOMPARE(spin_box->maximum(), 7);
    spin_box->setValue(5);
    QCOMPARE(state.rank(), qint64(5));
    QCOMPARE(state.stage(), 2);
    QCOMPARE(spin_box->text(),
             QStringLiteral("rank 5: ") + QString::fromStdString(rank_text(*session.report(), 5)));
    state.setStage(0);
    QCOMPARE(spin_box->value(), 0);
  }

  void barsAddUpToTheReport() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    MemoryView memory(&state);
    ComputeView compute(&state);
    CommunicationView communication(&state);
    for (int stage = 0; stage < 2; ++stage) {
      const StageReport& of = session.report()->stages[static_cast<size_t>(stage)];
      const auto near = [](double a, Wide b) { return std::fabs(a - to_double(b)) <= 1e-9 * to_double(b); };
      QVERIFY(near(memory.chart()->data().total(stage), memory_in_use(*session.report(), stage)));
      compute.setQuantity(ComputeView::Quantity::Flops);
      QVERIFY(near(compute.chart()->data().total(stage), of.flops_total));
      QVERIFY(near(communication.chart()->data().total(stage), of.bytes_sent_total));
    }
    compute.setConvention(FlopsConvention::Useful);
    QVERIFY(compute.chart()->data().total(0) < to_double(session.report()->stages[0].flops_total));
  }

  void forwardAndBackwardDifferInPattern() {
    Session session;
    SelectionState state(&session);
    session.waitForReport();
    ComputeView view(&state);
    bool solid = false, hatched = false;
    for (const BarSeries& series : view.chart()->data().series) {
      const bool backward = series.label.endsWith(QStringLiteral("backward"));
      QCOMPARE(series.fill == BarFill::Hatched, backward);
      (backward ? hatched : solid) = true;
    }
    QVERIFY(solid && hatched);
  }

  void recomputeHasItsOwnPattern() {
    Session session;
    SelectionState state(&session);
    set(session, {{"recompute", "full"}});
    ComputeView view(&state);
    const BarData& data = view.chart()->data();
    const auto fill_of = [&](const char* end, const std::vector<BarSeries>& list) {
      for (const BarSeries& series : list)
        if (series.label.endsWith(QLatin1String(end))) return static_cast<int>(series.fill);
      return -1;
    };
    for (const auto* list : {&data.series, &data.legend}) {
      QCOMPARE(fill_of("forward", *list), static_cast<int>(BarFill::Solid));
      QCOMPARE(fill_of("recompute", *list), static_cast<int>(BarFill::Dotted));
      QCOMPARE(fill_of("backward", *list), static_cast<int>(BarFill::Hatched));
    }
    // The three fills differ without colour.
    std::vector<QImage> images;
    for (const BarFill fill : {BarFill::Solid, BarFill::Hatched, BarFill::Dotted}) {
      QImage image(40, 40, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      fill_bar(painter, QRectF(0, 0, 40, 40), {{}, Qt::blue, fill}, Qt::white);
      painter.end();
      images.push_back(image);
    }
    QVERIFY(images[0] != images[1] && images[1] != images[2] && images[0] != images[2]);
  }

  // The view has the width that a window of 1280 x 800 leaves between form and inspector.
  void noColumnIsHiddenInASmallWindow() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    session.waitForEstimate();
    MemoryView memory(&state);
    ComputeView compute(&state);
    CommunicationView communication(&state);
    for (ChartPage* view : std::initializer_list<ChartPage*>{&memory, &compute, &communication}) {
      open(*view, {680, 600});
      QVERIFY2(view->table()->horizontalHeader()->length() <= view->table()->viewport()->width(),
               qPrintable(view->accessibleName()));
    }
    compute.setAlternativeShown(true);
    QCoreApplication::processEvents();
    const auto* table = compute.findChildren<ChartTable*>().back();
    QVERIFY(table->isVisible() && table->horizontalHeader()->length() <= table->viewport()->width());
  }

  void aCollectiveExplainsItself() {
    Simulated<CommunicationView> shown;
    const Session& session = shown.session;
    const SelectionState& state = shown.state;
    const CommunicationView& view = shown.view;
    QVERIFY(view.model()->rowCount() > 0);
    for (int row = 0; row < view.model()->rowCount(); ++row) {
      Q_EMIT view.table()->rowSelected(row);
      const Inspection& inspection = state.inspection();
      QVERIFY2(!inspection.why.isEmpty(), qPrintable(inspection.title));
      QCOMPARE(inspection.values[0].value,
               QString::fromStdString(format_bytes(
                   session.report()->stages[0].collectives[static_cast<size_t>(row)].bytes.value)));
    }
    for (int series = 0; series < static_cast<int>(view.chart()->data().series.size()); ++series) {
      Q_EMIT view.chart()->barSelected(0, series);
      QVERIFY2(!state.inspection().why.isEmpty(), qPrintable(state.inspection().title));
    }
  }

  // The bars of time are the communication and the exposed communication of the simulated step.
  void communicationTimeIsThatOfTheStep() {
    Simulated<CommunicationView> shown;
    Session& session = shown.session;
    const SelectionState& state = shown.state;
    CommunicationView& view = shown.view;
    const double bytes = view.chart()->data().total(0);
    QTest::mouseClick(view.quantityControl()->button(1), Qt::LeftButton);
    QCOMPARE(view.quantity(), CommunicationView::Quantity::Time);
    const Simulation& simulation = *session.estimate()->simulation;
    const BarData& data = view.chart()->data();
    bool hidden_anywhere = false;
    for (int stage = 0; stage < 2; ++stage) {
      const StageTimes& times = simulation.stages[static_cast<size_t>(stage)];
      double exposed = 0;
      for (size_t series = 0; series < data.series.size(); ++series) {
        const bool hidden = data.series[series].fill == BarFill::Hatched;
        QCOMPARE(hidden, data.series[series].label.endsWith(QStringLiteral(", hidden")));
        const double value = data.values[static_cast<size_t>(stage)][series];
        QVERIFY(value >= 0);
        if (!hidden) exposed += value;
        hidden_anywhere = hidden_anywhere || (hidden && value > 0);
      }
      QVERIFY(std::fabs(data.total(stage) - times.communication) <= 1e-9 * times.communication);
      QVERIFY(std::fabs(exposed - times.exposed) <= 1e-9 * times.communication);
    }
    QVERIFY(hidden_anywhere);
    // A segment explains its group; the keyboard switches back.
    Q_EMIT view.chart()->barSelected(0, 0);
    QVERIFY(!state.inspection().figures.isEmpty());
    QVERIFY(state.inspection().figures[0].second.contains(QStringLiteral("exposed")));
    view.quantityControl()->button(0)->setFocus();
    QTest::keyClick(view.quantityControl()->button(0), Qt::Key_Space);
    QCOMPARE(view.quantity(), CommunicationView::Quantity::Bytes);
    QCOMPARE(view.chart()->data().total(0), bytes);
    view.setAlternativeShown(true);
    QVERIFY(!view.quantityControl()->isVisible());
  }

  // The table and the inspector show the times of the simulation, for every row.
  void collectivesHaveTimes() {
    Simulated<CommunicationView> shown;
    Session& session = shown.session;
    const SelectionState& state = shown.state;
    CommunicationView& view = shown.view;
    const StageReport& stage = session.report()->stages[0];
    const Simulation& simulation = *session.estimate()->simulation;
    QCOMPARE(view.model()->rowCount(), static_cast<int>(stage.collectives.size()));
    for (int row = 0; row < view.model()->rowCount(); ++row) {
      const auto cell = [&](int column) {
        return view.model()->index(row, column).data(TableModel::SortRole).toDouble();
      };
      const CollectiveTime& time = *time_of(&simulation, stage, stage.collectives[static_cast<size_t>(row)]);
      QVERIFY(time.seconds > 0);
      QCOMPARE(cell(CollectivesModel::Time), time.seconds);
      QCOMPARE(cell(CollectivesModel::Exposed), time.exposed);
      QCOMPARE(cell(CollectivesModel::PerCall), time.per_call);
      QCOMPARE(cell(CollectivesModel::BusBandwidth), time.bus_rate);
      QCOMPARE(view.model()->index(row, CollectivesModel::Level).data(TableModel::RawRole).toString(),
               QStringLiteral("scaleup"));  // eight ranks of one node
      Q_EMIT view.table()->rowSelected(row);
      QStringList names;
      for (const auto& [name, text] : state.inspection().figures) names << name;
      QCOMPARE(names, QStringList({"Time per step", "Per call", "Bus bandwidth", "Level", "Exposed"}));
    }
    const QString note = view.model()
                             ->headerData(CollectivesModel::BusBandwidth, Qt::Horizontal, Qt::ToolTipRole)
                             .toString();
    QVERIFY(note.contains(QStringLiteral("nccl-tests")));
  }

  // Time is the default; the parts of a stage are its kernels in the simulated step.
  void computeTimeIsThatOfTheStep() {
    Simulated<ComputeView> shown;
    Session& session = shown.session;
    const SelectionState& state = shown.state;
    ComputeView& view = shown.view;
    QCOMPARE(view.quantity(), ComputeView::Quantity::Time);
    const Simulation& simulation = *session.estimate()->simulation;
    for (int stage = 0; stage < 2; ++stage) {
      const auto seconds = [&](TimeCategory category) {
        return simulation.stages[static_cast<size_t>(stage)].seconds[static_cast<size_t>(category)];
      };
      const double expected = seconds(TimeCategory::MatrixProducts) + seconds(TimeCategory::Attention) +
                              seconds(TimeCategory::MemoryBound) + seconds(TimeCategory::Optimizer);
      QVERIFY(std::fabs(view.chart()->data().total(stage) - expected) <= 1e-9 * expected);
    }
    // The table is sortable by time, and each row has a figure in the inspector.
    view.table()->sortByColumn(FlopsModel::Time, Qt::DescendingOrder);
    double before = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (int row = 0; row < view.table()->sorted()->rowCount(); ++row) {
      const double
          time = view.table()->sorted()->index(row, FlopsModel::Time).data(TableModel::SortRole).toDouble();
      QVERIFY(time <= before);
      before = time;
      sum += time;
      Q_EMIT view.table()->rowSelected(row);
      QVERIFY2(!state.inspection().figures.isEmpty(), qPrintable(state.inspection().title));
    }
    QVERIFY(std::fabs(sum - view.chart()->data().total(0)) <= 1e-9 * sum);
    QTest::mouseClick(view.quantityControl()->button(1), Qt::LeftButton);
    QCOMPARE(view.quantity(), ComputeView::Quantity::Flops);
    QCOMPARE(view.chart()->data().total(0), to_double(session.report()->stages[0].flops_total));
    view.setAlternativeShown(true);
    QVERIFY(!view.quantityControl()->isVisible());
    view.setAlternativeShown(false);
    QVERIFY(view.quantityControl()->isVisible());
  }

  // The picture of the design before stays until the step of the new one is simulated.
  void timesWaitForTheEstimate() {
    Simulated<ComputeView> shown;
    Session& session = shown.session;
    const ComputeView& view = shown.view;
    QVERIFY(view.chart()->updatesEnabled());
    set(session, {{"tp", "4"}});
    if (!session.estimated()) QVERIFY(!view.chart()->updatesEnabled());
    session.waitForEstimate();
    QVERIFY(view.chart()->updatesEnabled());
    QVERIFY(view.chart()->data().total(0) > 0);
  }

  void everyFlopsRowAndSegmentExplainsItself() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    ComputeView view(&state);
    open(view);
    state.setStage(3);
    for (int row = 0; row < view.model()->rowCount(); ++row) {
      Q_EMIT view.table()->rowSelected(row);
      QVERIFY2(!state.inspection().why.isEmpty(), qPrintable(state.inspection().title));
      QVERIFY(!state.inspection().values.isEmpty());
    }
    for (int series = 0; series < static_cast<int>(view.chart()->data().series.size()); ++series) {
      Q_EMIT view.chart()->barSelected(3, series);
      QVERIFY2(!state.inspection().why.isEmpty(), qPrintable(state.inspection().title));
    }
  }

  void theInspectorFollowsEdits() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    Q_EMIT view.chart()->barSelected(0, index_of(MemoryCategory::Parameters));
    const QString before = state.inspection().values[0].value;
    set(session, {{"tp", "4"}});
    QCOMPARE(state.inspection().title, QStringLiteral("Parameters, stage 0"));
    QVERIFY(state.inspection().values[0].value != before);
    // After another view has set the inspector, this view does not change it.
    Inspection other;
    other.title = QStringLiteral("other");
    state.inspect(other);
    set(session, {{"tp", "2"}});
    QCOMPARE(state.inspection().title, QStringLiteral("other"));
  }

  void theInspectorGoesWithTheView() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView memory(&state);
    ComputeView compute(&state);
    open(memory);
    QCOMPARE(state.inspection().title, QStringLiteral("Memory of stage 0"));
    Q_EMIT memory.chart()->barSelected(1, index_of(MemoryCategory::Parameters));
    memory.hide();
    open(compute);
    QCOMPARE(state.inspection().title,
             QStringLiteral("Compute of stage 1"));  // many ops read parameters, so no single row is selected
    compute.hide();
    memory.show();
    QCOMPARE(state.inspection().title, QStringLiteral("Parameters, stage 1"));
    Q_EMIT memory.chart()->barSelected(1, index_of(MemoryCategory::Optimizer));
    memory.hide();
    compute.show();
    QCOMPARE(
        state.inspection().title,
        QStringLiteral("Optimizer, step, stage 1"));  // exactly one row corresponds to the optimizer states
  }

  void fewerStagesKeepAValidSelection() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView memory(&state);
    ComputeView compute(&state);
    CommunicationView communication(&state);
    open(memory);
    Q_EMIT memory.chart()->barSelected(3, index_of(MemoryCategory::Logits));
    set(session, {{"pp", "1"}});
    QCOMPARE(state.stage(), 0);
    QCOMPARE(memory.chart()->data().stages(), 1);
    QCOMPARE(compute.chart()->selectedStage(), 0);
    QCOMPARE(communication.chart()->selectedStage(), 0);
  }

  void anInvalidDesignDimsAndOffersAWayOut() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    QVERIFY(!view.notice()->dimmed());
    QVERIFY(!session.setKnob(QStringLiteral("tp"), QStringLiteral("5")));
    session.waitForReport();
    QVERIFY(!session.current());
    QVERIFY(view.notice()->dimmed());
    QVERIFY(view.notice()->card()->isVisible());
    const QList<QPushButton*> ways = view.notice()->card()->findChildren<QPushButton*>();
    QVERIFY(!ways.isEmpty());
    // The chart still shows the last valid design.
    QCOMPARE(view.chart()->data().stages(), 4);
    QTest::mouseClick(ways.first(), Qt::LeftButton);
    session.waitForReport();
    QVERIFY(session.current());
    QVERIFY(!view.notice()->dimmed());
    QVERIFY(!view.notice()->card()->isVisible());
  }

  // Every line of the card has its full height, and no part is outside the card: when the card appears, and
  // when its text changes.
  void theCardShowsAllOfItsText() {
    Session session;
    SelectionState state(&session);
    set_pipeline(session);
    MemoryView view(&state);
    open(view);
    const auto whole = [&] {
      const QWidget* card = view.notice()->card();
      for (const QWidget* part : card->findChildren<QWidget*>()) {
        if (!part->isVisible() || !card->rect().contains(part->geometry())) return false;
        if (const auto* label = qobject_cast<const QLabel*>(part);
            label && label->height() < label->heightForWidth(label->width()))
          return false;
      }
      return view.rect().contains(card->geometry());
    };
    for (const char* wrong : {"5", "3", "7"}) {  // the first one opens the card, the others change its text
      QVERIFY(!session.setKnob(QStringLiteral("tp"), QString::fromLatin1(wrong)));
      session.waitForReport();
      QVERIFY(view.notice()->card()->isVisible());
      QVERIFY2(whole(), wrong);
    }
    for (const int width : {900, 340, 620}) {
      view.resize(width, 640);
      QTRY_VERIFY2(whole(), qPrintable(QString::number(width)));
    }
    Theme::instance().setMode(Theme::Mode::Dark);
    QTRY_VERIFY(whole());
  }

  void aViewOpenedOnAnInvalidDesignSaysSo() {
    Session session;
    SelectionState state(&session);
    QVERIFY(!session.setKnob(QStringLiteral("tp"), QStringLiteral("5")));
    session.waitForReport();
    MemoryView view(&state);
    open(view);
    QVERIFY(view.notice()->dimmed());
    QVERIFY(view.notice()->card()->isVisible());
  }

  void unitsChangeTheAxis() {
    Session session;
    SelectionState state(&session);
    session.waitForReport();
    MemoryView view(&state);
    QCOMPARE(view.chart()->data().unit, QStringLiteral("GiB"));
    session.setUnits(UnitSystem::Decimal);
    QCOMPARE(view.chart()->data().unit, QStringLiteral("GB"));
    QVERIFY(view.model()
                ->headerData(StageMemoryModel::kTotal, Qt::Horizontal, Qt::ToolTipRole)
                .toString()
                .endsWith(QStringLiteral("GB")));
  }

  void themesChangeLive() {
    Session session;
    SelectionState state(&session);
    session.waitForReport();
    MemoryView view(&state);
    open(view);
    const auto ground = [&] { return view.grab().toImage().pixelColor(3, 3); };
    QCOMPARE(ground(), Theme::colors(Theme::Mode::Light).ground);
    Theme::instance().setMode(Theme::Mode::Dark);
    QTest::qWait(20);
    QCOMPARE(ground(), Theme::colors(Theme::Mode::Dark).ground);
    const QImage chart = view.chart()->grab().toImage();
    QCOMPARE(chart.pixelColor(chart.width() - 2, chart.height() - 2),
             Theme::colors(Theme::Mode::Dark).ground);
  }

  void sixtyFourStagesAndOneStageFit() {
    Session session;
    SelectionState state(&session);
    session.applyPreset(QStringLiteral("llama3.1-405b"));
    set(session, {{"tp", "8"}, {"pp", "63"}, {"dp", "1"}, {"batch", "128"}});
    QVERIFY2(session.current(), session.problems().empty() ? "" : to_string(session.problems()[0]).c_str());
    MemoryView view(&state);
    open(view, {676, 520});
    double right = 0;
    for (int stage = 0; stage < 63; ++stage) {
      const QRectF bar = view.chart()->segmentRect(stage, 0);
      QVERIFY(bar.width() >= 4);
      QVERIFY(bar.left() > right);  // bars do not touch
      right = bar.right();
    }
    set(session, {{"pp", "1"}});
    QTest::qWait(20);
    QVERIFY(view.chart()->segmentRect(0, 0).width() < 120);
  }
};

QTEST_MAIN(ChartsTest)
#include "charts_test.moc"
