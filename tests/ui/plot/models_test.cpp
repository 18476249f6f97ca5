// Table models of the charts: the rules of QAbstractItemModel, raw values, sorting, copying.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QImage>
#include <QSet>
#include <QSortFilterProxyModel>
#include <QTest>
#include <algorithm>

#include "memory/estimate.h"
#include "offscreen.h"
#include "plan/report.h"
#include "support/designs.h"
#include "ui/inspector/memory_inspection.h"
#include "ui/plot/chart_table.h"
#include "ui/toolkit/theme.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/compute/flops_model.h"
#include "ui/views/memory/stage_memory_model.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

using Reports = QAbstractItemModelTester::FailureReportingMode;

std::shared_ptr<const Report> report_of(int64_t tp, int64_t pp, int64_t dp) {
  auto report = estimate(test::preset_design("llama3-8b", tp, pp, dp));
  for (const Problem& problem : report->problems) qInfo("%s", to_string(problem).c_str());
  return report;
}

QString raw(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data(TableModel::RawRole).toString();
}

QString raw_header(const QAbstractItemModel& model, int column) {
  return model.headerData(column, Qt::Horizontal, TableModel::RawRole).toString();
}

QStringList column_of(const QAbstractItemModel& model, int column) {
  QStringList values;
  for (int row = 0; row < model.rowCount(); ++row)
    values.append(model.index(row, column).data(TableModel::RawRole).toString());
  return values;
}

}  // namespace

class ModelsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:

  void followsTheModelRules() {
    StageMemoryModel memory;
    FlopsModel flops;
    CollectivesModel collectives;
    const QAbstractItemModelTester a(&memory, Reports::QtTest), b(&flops, Reports::QtTest),
        c(&collectives, Reports::QtTest);
    // The table grows, shrinks, and keeps its size.
    for (const int64_t pp : {1, 4, 4, 2}) {
      const auto report = report_of(2, pp, 2);
      QVERIFY(report->valid());
      memory.setReport(*report, UnitSystem::Binary);
      flops.setReport(*report, 0, FlopsConvention::Counted);
      collectives.setReport(*report, nullptr, 0, UnitSystem::Decimal);
      QCOMPARE(memory.rowCount(), static_cast<int>(pp));
      QCOMPARE(flops.rowCount(), static_cast<int>(report->stages[0].flops.size()));
      QCOMPARE(collectives.rowCount(), static_cast<int>(report->stages[0].collectives.size()));
    }
  }

  void changesInPlaceWhenTheShapeStays() {
    StageMemoryModel model;
    model.setReport(*report_of(1, 2, 2), UnitSystem::Binary);
    int resets = 0, changes = 0;
    connect(&model, &QAbstractItemModel::modelReset, this, [&] { ++resets; });
    connect(&model, &QAbstractItemModel::dataChanged, this, [&] { ++changes; });
    model.setReport(*report_of(2, 2, 2), UnitSystem::Binary);
    QCOMPARE(resets, 0);
    QCOMPARE(changes, 1);
    model.setReport(*report_of(2, 4, 2), UnitSystem::Binary);
    QCOMPARE(resets, 1);
  }

  void memoryRowsAreTheReport() {
    const auto report = report_of(2, 4, 1);
    StageMemoryModel model;
    model.setReport(*report, UnitSystem::Binary);
    for (int stage = 0; stage < 4; ++stage) {
      const StageMemory& of = report->memory->stages[static_cast<size_t>(stage)];
      for (int i = 0; i < kAllMemoryCategories; ++i)
        QCOMPARE(raw(model, stage, StageMemoryModel::kFirstCategory + i),
                 QString::number(of.at_peak[static_cast<size_t>(i)]));
      QCOMPARE(raw(model, stage, StageMemoryModel::kTotal), QString::number(of.in_use));
      QVERIFY(report->accelerator);
      const Wide free = Wide(report->accelerator->memory_bytes) - of.in_use;
      QCOMPARE(raw(model, stage, StageMemoryModel::kFree), QString::fromStdString(to_string(free)));
    }
    QCOMPARE(raw_header(model, StageMemoryModel::kTotal), QStringLiteral("total (bytes)"));
  }

  void bytesOnTheHostHaveTheirOwnColumn() {
    Design design = test::preset_design("llama3-8b", 1, 2, 2);
    StageMemoryModel model;
    model.setReport(*estimate(design), UnitSystem::Binary);
    QCOMPARE(model.columnCount(), StageMemoryModel::kFree + 1);
    design.workload.offload_optimizer = true;
    const auto report = estimate(design);
    model.setReport(*report, UnitSystem::Binary);
    QCOMPARE(model.columnCount(), StageMemoryModel::kFree + 2);
    QCOMPARE(raw_header(model, StageMemoryModel::kFree + 1), QStringLiteral("host (bytes)"));
    for (int stage = 0; stage < 2; ++stage) {
      Wide host = 0;
      for (const PartValue& part : report->stages[static_cast<size_t>(stage)].host_memory)
        host += part.bytes.value;
      QVERIFY(host > 0);
      QCOMPARE(raw(model, stage, StageMemoryModel::kFree + 1), QString::fromStdString(to_string(host)));
    }
    const Inspection inspection = inspect_stage_memory(*report, report->stages[0], UnitSystem::Binary);
    const auto says = [&](const char* start) {
      return std::any_of(inspection.rows.begin(), inspection.rows.end(),
                         [&](const auto& row) { return row.first.startsWith(QLatin1String(start)); });
    };
    QVERIFY(says("On the host: "));
    QVERIFY(says("Host: store gradients"));
    QVERIFY(says("Host: load parameters"));
  }

  void memoryThatDoesNotFitIsMarked() {
    Design design = test::preset_design("llama3-70b", 1, 1, 1);
    const auto report = estimate(design);
    QVERIFY(report->valid());
    QVERIFY(!report->memory->fits);
    StageMemoryModel model;
    model.setReport(*report, UnitSystem::Binary);
    QVERIFY(model.index(0, StageMemoryModel::kFree).data(TableModel::AlarmRole).toBool());
    QVERIFY(raw(model, 0, StageMemoryModel::kFree).startsWith(u'-'));
  }

  void allStagesAreListedForExport() {
    const auto report = report_of(2, 4, 2);
    FlopsModel flops;
    flops.setReport(*report, FlopsModel::kAllStages, FlopsConvention::Useful);
    CollectivesModel collectives;
    collectives.setReport(*report, nullptr, CollectivesModel::kAllStages, UnitSystem::Binary);
    int flops_rows = 0, collective_rows = 0;
    for (const StageReport& stage : report->stages) {
      flops_rows += static_cast<int>(stage.flops.size());
      collective_rows += static_cast<int>(stage.collectives.size());
    }
    QCOMPARE(flops.rowCount(), flops_rows);
    QCOMPARE(collectives.rowCount(), collective_rows);
    QCOMPARE(raw(flops, flops.rowCount() - 1, FlopsModel::Stage), QStringLiteral("3"));
    QVERIFY(raw_header(flops, FlopsModel::Formula).contains(QStringLiteral("useful")));
  }

  void sortsByValueNotByText() {
    const auto report = report_of(2, 1, 2);
    FlopsModel model;
    ChartTable table;
    table.setTable(&model, {FlopsModel::Stage});
    model.setReport(*report, 0, FlopsConvention::Counted);
    QVERIFY(table.isColumnHidden(FlopsModel::Stage));
    const QStringList as_reported = column_of(*table.sorted(), FlopsModel::Counted);
    QCOMPARE(as_reported, column_of(model, FlopsModel::Counted));
    table.sortByColumn(FlopsModel::Counted, Qt::DescendingOrder);
    double before = std::numeric_limits<double>::infinity();
    for (const QString& value : column_of(*table.sorted(), FlopsModel::Counted)) {
      QVERIFY(value.toDouble() <= before);
      before = value.toDouble();
    }
    table.sortByColumn(-1, Qt::AscendingOrder);
    QCOMPARE(column_of(*table.sorted(), FlopsModel::Counted), as_reported);
  }

  void aHeaderClickSorts() {
    StageMemoryModel model;
    ChartTable table;
    table.setTable(&model);
    model.setReport(*report_of(2, 4, 1), UnitSystem::Binary);
    table.resize(900, 300);
    table.show();
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    QHeaderView* header = table.horizontalHeader();
    const QPoint place(header->sectionViewportPosition(StageMemoryModel::kTotal) + 8, header->height() / 2);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, Qt::NoModifier, place);
    QCOMPARE(header->sortIndicatorSection(), int(StageMemoryModel::kTotal));
    double before = -1;
    for (const QString& value : column_of(*table.sorted(), StageMemoryModel::kTotal)) {
      QVERIFY(value.toDouble() >= before);
      before = value.toDouble();
    }
  }

  // Rows that follow each other are one range: each painted cell is compared with all ranges.
  void markedRowsAreFewRanges() {
    StageMemoryModel model;
    ChartTable table;
    table.setTable(&model);
    model.setReport(*report_of(2, 4, 1), UnitSystem::Binary);
    QSet<int> marked;
    const auto mark = [&](const std::vector<int>& rows) {
      table.showRow(-1, rows);
      marked.clear();
      for (const QModelIndex& row : table.selectionModel()->selectedRows())
        marked.insert(table.sorted()->mapToSource(row).row());
      return static_cast<int>(table.selectionModel()->selection().size());
    };
    QCOMPARE(mark({0, 1, 3}), 2);
    QCOMPARE(marked, (QSet<int>{0, 1, 3}));
    QCOMPARE(mark({3, 2, 1}), 1);
    QCOMPARE(marked, (QSet<int>{1, 2, 3}));
    table.sortByColumn(StageMemoryModel::kTotal, Qt::DescendingOrder);
    QVERIFY(mark({0, 3}) <= 2);
    QCOMPARE(marked, (QSet<int>{0, 3}));
    QCOMPARE(mark({}), 0);
  }

  // The frame of the focus leaves out the empty area below the rows.
  void theFocusFrameEndsAtTheRows() {
    StageMemoryModel model;
    ChartTable table;
    table.setTable(&model);
    model.setReport(*report_of(2, 4, 1), UnitSystem::Binary);
    table.resize(900, 500);
    table.show();
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    table.setFocus();
    QTRY_VERIFY(table.hasFocus());
    const QImage image = table.viewport()->grab().toImage();
    const int rows = table.rowViewportPosition(3) + table.rowHeight(3), x = image.width() - 1;
    const QColor accent = Theme::instance().colors().accent;
    QCOMPARE(image.pixelColor(x, rows / 2), accent);
    QCOMPARE(image.pixelColor(4, rows - 1), accent);
    QVERIFY(image.pixelColor(x, rows + 20) != accent);
    QVERIFY(table.grab().toImage().pixelColor(0, table.height() - 4) != accent);
  }

  void copiesRowsWithHeaders() {
    CollectivesModel model;
    ChartTable table;
    table.setTable(&model, {CollectivesModel::Stage});
    const auto report = report_of(2, 2, 2);
    model.setReport(*report, nullptr, 0, UnitSystem::Binary);
    table.show();
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().trimmed().split(u'\n');
    QCOMPARE(lines.size(), model.rowCount() + 1);
    QCOMPARE(lines[0].split(u'\t').first(),
             QStringLiteral("Phase"));  // the hidden column of stages is not copied
    QCOMPARE(lines[0].split(u'\t').size(), model.columnCount() - 1);
    QCOMPARE(lines[1].split(u'\t')[1], model.index(0, CollectivesModel::Op).data().toString());

    table.selectRow(1);
    const QStringList one = table.copyText(ChartTable::CopyAs::Raw).trimmed().split(u'\n');
    QCOMPARE(one.size(), 2);
    QCOMPARE(one[1].split(u'\t')[CollectivesModel::Bytes - 1],
             QString::fromStdString(to_string(report->stages[0].collectives[1].bytes.value)));
  }

  void headersWithLineBreaksCopyAsOneLine() {
    StageMemoryModel model;
    ChartTable table;
    table.setTable(&model);
    model.setReport(*report_of(1, 1, 1), UnitSystem::Binary);
    const QStringList lines = table.copyText(ChartTable::CopyAs::Shown).trimmed().split(u'\n');
    QCOMPARE(lines.size(), 2);
    QVERIFY(lines[0].contains(QStringLiteral("Logits and loss")));
  }

  void csvQuotesWhatItHasTo() {
    const auto report = report_of(2, 2, 2);
    FlopsModel model;
    model.setReport(*report, 0, FlopsConvention::Counted);
    const QStringList lines = csv_text(model).split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), model.rowCount() + 1);
    QVERIFY(lines[0].contains(QStringLiteral("counted (FLOP)")));
    QVERIFY(!lines[1].contains(QStringLiteral("PFLOP")));  // raw numbers without display units
  }

  void numbersReadWell_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const double gib = 1024.0 * 1024 * 1024;
    QTest::newRow("large") << 61.3 * gib << QStringLiteral("61.3");
    QTest::newRow("separators") << 2048.0 * gib << QStringLiteral("2,048");
    QTest::newRow("tiny") << 12.0 << QStringLiteral("< 0.001");
    QTest::newRow("zero") << 0.0 << QStringLiteral("0");
    QTest::newRow("missing") << -4.5 * gib << QStringLiteral("\u22124.50");
  }
  void numbersReadWell() {
    QFETCH(double, value);
    QFETCH(QString, text);
    QCOMPARE(scaled_text(static_cast<Wide>(value), ValueScale{1024.0 * 1024 * 1024, QStringLiteral("GiB")}),
             text);
  }

  void scalesFollowTheUnits() {
    QCOMPARE(byte_scale(80e9, UnitSystem::Decimal).unit, QStringLiteral("GB"));
    QCOMPARE(byte_scale(80e9, UnitSystem::Binary).unit, QStringLiteral("GiB"));
    QCOMPARE(byte_scale(0, UnitSystem::Binary).unit, QStringLiteral("B"));
    QCOMPARE(rank_memory_scale(5e12, UnitSystem::Binary).unit, QStringLiteral("GiB"));  // not TiB
    QCOMPARE(rank_memory_scale(5e12, UnitSystem::Decimal).unit, QStringLiteral("GB"));
    QCOMPARE(rank_memory_scale(5e6, UnitSystem::Binary).unit, QStringLiteral("MiB"));
    QCOMPARE(rank_bytes_text(Wide(1340) << 30, UnitSystem::Binary), QStringLiteral("1,340 GiB"));
    QCOMPARE(rank_bytes_text(Wide(3) << 20, UnitSystem::Binary),
             bytes_text(Wide(3) << 20, UnitSystem::Binary));
    QCOMPARE(flop_scale(5.5e15).unit, QStringLiteral("PFLOP"));
    QCOMPARE(capacity_text(Wide(80) << 30, UnitSystem::Binary), QStringLiteral("80 GiB"));
    QCOMPARE(capacity_text(Wide(80) << 30, UnitSystem::Decimal), QStringLiteral("85.9 GB"));
  }
};

QTEST_MAIN(ModelsTest)
#include "models_test.moc"
