// The pictures Fleet and Effects of the page Requests: progress, cancel, bars, table, Apply as one undo step.
#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>
#include <set>

#include "explore_window.h"
#include "offscreen.h"
#include "report/fleet_report.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/save_menu.h"
#include "ui/plot/table_model.h"
#include "ui/session/page_settings.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/theme.h"
#include "ui/views/requests/bar_list.h"
#include "ui/views/requests/effects_panel.h"
#include "ui/views/requests/fleet_panel.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/varied_settings.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kWait = 300'000;  // ms, on a busy machine

// The page with Llama 3 8B and a service level.
struct FleetWindow : ExploreWindow {
  explicit FleetWindow(const char* level = "p99 ttft<1s, p99 tpot<30ms") {
    main.resize(1280, 800);
    session.waitForEstimate();
    QTest::mouseClick(view().pages()->button(ExploreView::Requests), Qt::LeftButton);
    ServiceSpec spec;
    spec.source.requests = 100;
    spec.source.rate = 40;
    spec.level = std::get<ServiceLevel>(parse_service_level(level, "slo"));
    settings().setService(spec);
    QTRY_VERIFY_WITH_TIMEOUT(requests().ready(), kWait);
  }
  RequestsPage& requests() { return static_cast<RequestsPage&>(*view().requests()); }
  PageSettings& settings() { return *main.findChild<PageSettings*>(); }
  void show(RequestsPage::Shown picture) {
    QTest::mouseClick(requests().pictures()->button(picture), Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  void ask(AnswerPanel& panel) {
    QTest::mouseClick(panel.startButton(), Qt::LeftButton);
    QVERIFY(panel.working() && panel.stopButton()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!panel.working(), kWait);
  }
};

}  // namespace

class FleetPanelTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // One bar per fleet, one row per candidate, the files of the core, and the winner as one undo step.
  void sizesAndApplies() {
    FleetWindow w;
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    QVERIFY(panel.isVisible() && panel.bars()->count() == 0);
    QTest::keyClicks(panel.accelerators(), QStringLiteral("h100-sxm-80gb, a100-sxm-80gb"));
    QTest::keyClicks(panel.engineGpus(), QStringLiteral("1,2"));
    w.ask(panel);
    QVERIFY(panel.fleet() && panel.current());
    const FleetSearch& fleet = *panel.fleet();
    QVERIFY(fleet.sized > 1);
    QCOMPARE(panel.bars()->count(), static_cast<int>(fleet.sized));
    QCOMPARE(panel.bars()->row(0).value, *fleet.entries[0].dollars_per_hour);
    QAbstractItemModel& table = *panel.table()->sorted()->sourceModel();
    QCOMPARE(table.rowCount(), static_cast<int>(fleet.entries.size()));
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QVERIFY(panel.caption()->text().contains(QStringLiteral("cheapest")));
    QCOMPARE(w.view().saveMenu()->picture().csv().toStdString(), fleet_csv(fleet));

    const Design before = w.session.design();
    const ServiceSpec spec = w.settings().pages().service;
    const int steps = w.session.undoStack()->count();
    QVERIFY(!panel.applyButton()->isEnabled());
    QTest::mouseClick(panel.bars(), Qt::LeftButton, {}, panel.bars()->rowRect(0).center().toPoint());
    QCOMPARE(panel.bars()->selected(), 0);
    QTest::mouseClick(panel.applyButton(), Qt::LeftButton);
    QCOMPARE(w.session.undoStack()->count(), steps + 1);
    QCOMPARE(w.settings().pages().service.replicas, fleet.entries[0].replicas);
    QVERIFY(w.session.design().parallel == fleet.entries[0].candidate.design.parallel);
    QVERIFY(!panel.current());  // the answer is for the design before
    w.session.undoStack()->undo();
    QVERIFY(w.session.design() == before && w.settings().pages().service == spec);
    QVERIFY(panel.current());
    // A double click applies as well.
    QTest::mouseDClick(panel.bars(), Qt::LeftButton, {}, panel.bars()->rowRect(1).center().toPoint());
    QCOMPARE(w.settings().pages().service.replicas, fleet.entries[1].replicas);
  }
  // Keys select a bar, Enter applies it.
  void keys() {
    FleetWindow w;
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    panel.engineGpus()->setText(QStringLiteral("1,2"));
    w.ask(panel);
    panel.bars()->setFocus();
    QTest::keyClick(panel.bars(), Qt::Key_Home);
    QCOMPARE(panel.bars()->selected(), 0);
    QTest::keyClick(panel.bars(), Qt::Key_Down);
    QCOMPARE(panel.bars()->selected(), 1);
    const int steps = w.session.undoStack()->count();
    QTest::keyClick(panel.bars(), Qt::Key_Return);
    QCOMPARE(w.session.undoStack()->count(), steps + 1);
  }
  // The menu adds a field per setting; every combination is a candidate of its own, and Apply sets its
  // values.
  void variesSettings() {
    FleetWindow w;
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    panel.engineGpus()->setText(QStringLiteral("1"));
    VariedSettings& varied = *panel.varied();
    QTest::mouseClick(varied.addButton(), Qt::LeftButton);
    QTRY_VERIFY(varied.menu()->isVisible());
    QStringList offered;
    QAction* sequences = nullptr;
    for (QAction* action : varied.menu()->actions()) {
      offered << action->text();
      if (action->text() == text_of(find_setting("max_num_seqs")->label)) sequences = action;
    }
    QVERIFY(sequences);
    QVERIFY(!offered.contains(text_of(find_setting("rate")->label)));                  // of the requests
    QVERIFY(!offered.contains(text_of(find_setting("max_running_requests")->label)));  // of SGLang
    QTest::mouseClick(varied.menu(), Qt::LeftButton, {}, varied.menu()->actionGeometry(sequences).center());
    QLineEdit* field = varied.field("max_num_seqs");
    QVERIFY(field && w.main.focusWidget() == field);
    QCOMPARE(varied.values().front().second.size(), size_t{3});  // half, the value, double
    QTest::keyClicks(field, QStringLiteral("2, 64"));            // the text was selected
    w.ask(panel);
    QVERIFY(panel.fleet() && panel.fleet()->sized > 0);
    std::set<std::string> tried;
    for (const FleetEntry& entry : panel.fleet()->entries) tried.insert(entry.candidate.settings);
    QCOMPARE(tried, (std::set<std::string>{"max_num_seqs 2", "max_num_seqs 64"}));
    QCOMPARE(panel.table()->model()->headerData(2, Qt::Horizontal).toString(), QStringLiteral("Settings"));
    QVERIFY(panel.bars()->row(0).label.contains(QStringLiteral("max_num_seqs 64")));
    panel.applyRow(0);
    QCOMPARE(find_setting("max_num_seqs")->text(w.settings().pages().service), std::string("64"));
    // A wrong value leads to its field.
    field->setText(QStringLiteral("many"));
    w.ask(panel);
    QVERIFY(panel.issue()->isVisible() && panel.issue()->text().contains(field->accessibleName()));
    panel.startButton()->setFocus();
    QTest::mouseClick(panel.issue()->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(w.main.focusWidget(), field);
    QTest::mouseClick(field->parentWidget()->findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY(!varied.field("max_num_seqs"));
  }
  // Without a limit the message names the field, marks it, and leads there.
  void aMissingLevelNamesItsField() {
    FleetWindow w;
    ServiceSpec spec = w.settings().pages().service;
    spec.level = {};
    w.settings().setService(spec);
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    w.ask(panel);
    const SettingRow& row = *w.requests().editor()->row("slo");
    QVERIFY2(panel.issue()->text().startsWith(text_of(row.setting().label)),
             qPrintable(panel.issue()->text()));
    QVERIFY(row.issue()->isVisible());
    QTest::mouseClick(panel.issue()->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(w.main.focusWidget(), row.field());
    // A live run that ends later leaves the mark.
    w.session.setKnob("layers", "16");
    QTRY_VERIFY_WITH_TIMEOUT(!w.requests().ready(), kWait);
    QTRY_VERIFY_WITH_TIMEOUT(w.requests().ready(), kWait);
    QVERIFY(row.issue()->isVisible());
  }
  // Rows without a fleet say why: in the cell, its tip, and below the question. Accelerators have their
  // names.
  void rowsHaveReasons() {
    FleetWindow w("p99 tpot<1us");
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    panel.engineGpus()->setText(QStringLiteral("1,2"));
    w.ask(panel);
    const FleetSearch& fleet = *panel.fleet();
    const auto row = static_cast<int>(fleet.entries.size()) - 1;
    const FleetEntry& entry = fleet.entries.back();
    QVERIFY(entry.end != FleetEnd::Sized && !entry.reason.empty());
    QAbstractItemModel& table = *panel.table()->sorted()->sourceModel();
    QCOMPARE(table.index(row, 0).data().toString(), QStringLiteral("H100"));
    QCOMPARE(table.index(row, 0).data(TableModel::RawRole).toString(),
             text_of(entry.candidate.design.cluster.accelerator));
    const QModelIndex result = table.index(row, table.columnCount() - 1);
    QVERIFY(result.data().toString().contains(text_of(entry.reason)));
    QCOMPARE(result.data(Qt::ToolTipRole).toString(), result.data().toString());
    panel.table()->setFocus();
    QTest::keyClick(panel.table(), Qt::Key_End, Qt::ControlModifier);
    QVERIFY2(panel.caption()->text().contains(text_of(entry.reason)), qPrintable(panel.caption()->text()));
  }
  void mistakesAndNoFleet() {
    FleetWindow w("p99 tpot<1us");
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    panel.accelerators()->setText(QStringLiteral("h1000"));
    w.ask(panel);
    QVERIFY(!panel.fleet());
    panel.accelerators()->clear();
    panel.engineGpus()->setText(QStringLiteral("1"));
    w.ask(panel);
    QVERIFY(panel.fleet() && panel.fleet()->sized == 0);
    QCOMPARE(panel.bars()->count(), 0);
    QVERIFY(panel.caption()->text().contains(QStringLiteral("No kind of engine")));
  }
  void cancels() {
    FleetWindow w;
    w.show(RequestsPage::Fleet);
    FleetPanel& panel = *w.requests().fleet();
    QTest::mouseClick(panel.startButton(), Qt::LeftButton);
    QTest::mouseClick(panel.stopButton(), Qt::LeftButton);
    QVERIFY(!panel.working() && panel.startButton()->isEnabled());
  }
  // Effects: the step with the largest change becomes the setting.
  void effects() {
    FleetWindow w;
    w.show(RequestsPage::Effects);
    EffectsPanel& panel = *w.requests().effects();
    QVERIFY(panel.isVisible() && !w.requests().fleet()->isVisible());
    w.ask(panel);
    QVERIFY(panel.effects());
    const SettingEffect& first = panel.effects()->effects.front();
    QCOMPARE(panel.bars()->row(0).value, first.change);
    QCOMPARE(panel.table()->sorted()->sourceModel()->rowCount(),
             static_cast<int>(panel.effects()->effects.size()));
    QCOMPARE(w.view().saveMenu()->picture().csv().toStdString(), effects_csv(*panel.effects()));
    panel.applyRow(0);
    QCOMPARE(first.setting->text(w.settings().pages().service), first.value);
    QCOMPARE(first.setting->text(w.requests().editor()->spec()), first.value);
    w.session.undoStack()->undo();
    QCOMPARE(first.setting->text(w.settings().pages().service), first.setting->text(panel.effects()->spec));
  }
};

QTEST_MAIN(FleetPanelTest)
#include "fleet_panel_test.moc"
