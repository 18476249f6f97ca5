// The window of traces: overview, search, neighbours, timeline, findings; broken files have a message.
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <memory>

#include "offscreen.h"
#include "support/trace_bundle.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/table_model.h"
#include "ui/session/session.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/trace/neighbour_canvas.h"
#include "ui/views/trace/rank_timeline_canvas.h"
#include "ui/views/trace/trace_loader.h"
#include "ui/views/trace/trace_window.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

QString cell(ChartTable* table, int row, int column) {
  return table->model()->index(row, column).data().toString();
}

QStringList column(ChartTable* table, int at) {
  QStringList out;
  for (int row = 0; row < table->model()->rowCount(); ++row) out << cell(table, row, at);
  return out;
}

}  // namespace

class TraceWindowTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<TraceWindow> window_;

  void openBundle(const test::BundleSpec& bundle) {
    bundle.save(folder_.path().toStdString());
    open(folder_.path());
    QTRY_VERIFY(window_->loader()->overview());
  }
  void open(const QString& path) {
    if (!session_) session_ = std::make_unique<Session>();
    session_->waitForReport();
    window_ = std::make_unique<TraceWindow>(session_.get(), nullptr);
    window_->setAttribute(Qt::WA_DeleteOnClose, false);
    window_->show();
    window_->open(path);
  }
  void press(TraceWindow::Page page) {
    auto* pages = window_->findChild<SegmentedControl*>("trace_pages");
    QTest::mouseClick(pages->button(page), Qt::LeftButton);
  }
  void clickRow(ChartTable* table, int row) {
    const QRect place = table->visualRect(table->model()->index(row, 0));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, place.center());
  }

 private Q_SLOTS:
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void overview() {
    openBundle(test::good_bundle());
    QVERIFY(window_->facts()->text().startsWith("4 ranks"));
    const QStringList kinds = column(window_->kindTable(), 0);
    for (const char* kind : {"COMP_NODE", "COMM_COLL_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE"})
      QVERIFY2(kinds.contains(kind), qPrintable(kinds.join(", ")));
    QVERIFY(column(window_->commTable(), 0).contains("ALL_REDUCE"));
    QVERIFY(window_->classTable()->model()->rowCount() > 0);
  }

  // A trace of a folder stands for all; the rank is that of the file.
  void a_file_opens_its_folder() {
    test::good_bundle().save(folder_.path().toStdString());
    open(folder_.filePath("trace.2.et"));
    QTRY_VERIFY(window_->loader()->overview());
    QCOMPARE(window_->loader()->ranks().size(), 4);
    QCOMPARE(window_->rank(), 2);
  }

  // Typing finds nodes by name; Enter shows the first; a number shows the node.
  void search_and_neighbours() {
    openBundle(test::good_bundle());
    QTest::keyClick(window_.get(), Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(window_->page(), TraceWindow::Nodes);
    QTRY_VERIFY(window_->nodeTable()->model()->rowCount() > 3);
    const QString name = cell(window_->nodeTable(), 1, 1);
    QTest::keyClicks(window_->search(), name);
    QTRY_VERIFY(window_->search()->matchesText().startsWith(QStringLiteral("1 match")) ||
                window_->search()->matchesText().endsWith(QStringLiteral(" matches")));
    QTest::keyClick(window_->search(), Qt::Key_Return);
    QTRY_VERIFY(window_->neighbours()->count() > 0);
    QCOMPARE(QString::fromStdString(window_->neighbours()->node(0).name), name);
    QVERIFY(window_->attributeTable()->model()->rowCount() > 0);
    // A neighbour becomes the centre, by mouse and by keys.
    NeighbourCanvas* canvas = window_->neighbours();
    QVERIFY(canvas->count() > 1);
    const quint64 other = canvas->node(1).id;
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, canvas->boxRect(1).center().toPoint());
    QTRY_COMPARE(canvas->node(0).id, other);
    const int steps = canvas->count();
    QVERIFY(steps > 1);
    canvas->setFocus();
    for (const Qt::Key way : {Qt::Key_Right, Qt::Key_Left, Qt::Key_Left}) {
      QTest::keyClick(canvas, way);
      if (canvas->selected() > 0) break;
    }
    QVERIFY(canvas->selected() > 0);
    const quint64 next = canvas->node(canvas->selected()).id;
    QTest::keyClick(canvas, Qt::Key_Return);
    QTRY_COMPARE(canvas->node(0).id, next);
    // A number.
    window_->search()->clear();
    QTest::keyClicks(window_->search(), QString::number(other));
    QTRY_COMPARE(canvas->node(0).id, other);
    // No such node: a message.
    QTest::keyClicks(window_->search(), "99999");
    QTRY_VERIFY(window_->message()->isVisible());
    QVERIFY(!window_->message()->text().isEmpty());
  }

  // The timeline has the nodes of the rank; a double click shows one on the page of nodes.
  void timeline() {
    openBundle(test::good_bundle());
    press(TraceWindow::Timeline);
    RankTimelineCanvas* canvas = window_->timeline();
    QTRY_VERIFY(canvas->timeline());
    QVERIFY(canvas->timeline()->simulation.finished);
    const size_t spans = canvas->timeline()->spans.size();
    QVERIFY(spans > 2);
    int widest = 0;
    for (int i = 0; i < static_cast<int>(spans); ++i)
      if (canvas->spanRect(i).width() > canvas->spanRect(widest).width()) widest = i;
    QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->spanRect(widest).center().toPoint());
    QCOMPARE(canvas->selected(), widest);
    const double length = canvas->to() - canvas->from();
    canvas->setFocus();
    QTest::keyClick(canvas, Qt::Key_Plus);
    QVERIFY(canvas->to() - canvas->from() < length);
    QTest::keyClick(canvas, Qt::Key_F);
    QCOMPARE(canvas->to() - canvas->from(), length);
    const quint64 node = canvas->timeline()->spans[static_cast<size_t>(widest)].span.node;
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, canvas->spanRect(widest).center().toPoint());
    QCOMPARE(window_->page(), TraceWindow::Nodes);
    QTRY_VERIFY(window_->neighbours()->count() > 0);
    QCOMPARE(window_->neighbours()->node(0).id, node);
    // Another rank has another timeline.
    window_->findChild<QComboBox*>("trace_rank")->setCurrentIndex(3);
    press(TraceWindow::Timeline);
    QTRY_VERIFY(canvas->timeline() && canvas->timeline()->rank == 3);
  }

  // A point has the last node whose bar lies there, also among bars below a pixel and nodes at one time.
  void every_point_of_a_timeline_has_its_node() {
    constexpr int64_t kEnd = 100'000, kApart = 37;
    const auto made = std::make_shared<RankTimeline>();
    made->tracks = 3;
    made->simulation.ranks.emplace_back().end = kEnd;
    for (int64_t begin = 0; begin < kEnd; begin += kApart) {
      const auto i = static_cast<int>(made->spans.size());
      TimelineSpan& span = made->spans.emplace_back();
      span.span.node = static_cast<uint64_t>(i);
      span.span.begin = begin;
      span.span.end = std::min<int64_t>(kEnd, begin + (i % 97 == 0 ? 9000 : i % 7 + 1));
      span.track = i % made->tracks;
    }
    RankTimelineCanvas canvas(nullptr);
    canvas.resize(700, 160);
    canvas.setTimeline(made);
    for (const double zoom : {1.0, 20.0}) {
      canvas.zoomBy(zoom);
      for (double x = 0.3; x < canvas.width(); x += 11)
        for (double y = 0.3; y < canvas.height(); y += 7) {
          const QPointF at(x, y);
          int expected = -1;
          for (int i = 0; i < static_cast<int>(made->spans.size()); ++i)
            if (canvas.spanRect(i).adjusted(-1, -2, 1, 2).contains(at)) expected = i;
          const QString tip = canvas.tipAt(at);
          QCOMPARE(tip.isEmpty(), expected < 0);
          if (expected >= 0) QVERIFY2(tip.contains(QString("node %1,").arg(expected)), qPrintable(tip));
        }
      QVERIFY(!canvas.grab().isNull());
    }
  }

  // Traces without a machine run on the cluster of the design; a faster one takes less time.
  void the_machine_of_the_design() {
    test::BundleSpec bundle = test::good_bundle();
    for (const char* file : {"network.yml", "system.json"}) bundle.files.erase(file);
    QTemporaryDir folder;
    bundle.save(folder.path().toStdString());
    open(folder.path());
    QTRY_VERIFY(window_->loader()->overview());
    press(TraceWindow::Timeline);
    QTRY_VERIFY(window_->timeline()->timeline());
    const int64_t before = window_->timeline()->timeline()->simulation.cycles();
    QVERIFY(before > 0);
    QVERIFY(!session_->setKnob("accelerator", "b200-hgx-180gb"));
    session_->waitForReport();
    auto* machine = window_->findChild<QComboBox*>("trace_machine");
    QCOMPARE(machine->currentText(), QString("Machine of the design"));
    Q_EMIT machine->activated(machine->currentIndex());
    QTRY_VERIFY(window_->timeline()->timeline() &&
                window_->timeline()->timeline()->simulation.cycles() < before);
  }

  // A click on a finding goes to its rank and node.
  void findings() {
    test::BundleSpec bundle = test::good_bundle();
    auto& nodes = bundle.ranks[1].nodes;
    const uint64_t broken = nodes.back().id;
    nodes.back().deps.push_back(987654);
    openBundle(bundle);
    press(TraceWindow::Findings);
    ChartTable* table = window_->findingTable();
    int row = -1;
    for (int i = 0; i < table->model()->rowCount(); ++i)
      if (cell(table, i, 2) == "1" && cell(table, i, 3) == QString::number(broken)) row = i;
    QVERIFY2(row >= 0, qPrintable(column(table, 4).join("\n")));
    clickRow(table, row);
    QCOMPARE(window_->page(), TraceWindow::Nodes);
    QCOMPARE(window_->rank(), 1);
    QTRY_VERIFY(window_->neighbours()->count() > 0);
    QCOMPARE(window_->neighbours()->node(0).id, broken);
  }

  void broken_files_have_a_message() {
    QFile file(folder_.filePath("broken.et"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("\x05garbage that is no trace");
    file.close();
    open(file.fileName());
    QTRY_VERIFY(window_->message()->isVisible());
    QVERIFY2(window_->message()->text().contains("broken.et"), qPrintable(window_->message()->text()));
    QVERIFY(!window_->loader()->overview());
  }
};

QTEST_MAIN(TraceWindowTest)
#include "trace_window_test.moc"
