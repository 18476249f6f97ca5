// A chart of more stages than it has pixels.
#include "ui/plot/stage_chart.h"

#include <qcustomplot.h>

#include <QTest>

#include "offscreen.h"

using namespace shardscape::ui;

class StageChartTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { shardscape::go_offscreen(); }

 private Q_SLOTS:
  void theTallestStageOfAPixelIsDrawn_data() {
    QTest::addColumn<int>("tall");
    for (const int stage : {0, 2345, 2346, 2347, 2348, 4999}) QTest::addRow("stage %d", stage) << stage;
  }
  void theTallestStageOfAPixelIsDrawn() {
    QFETCH(int, tall);
    StageChart chart;
    show(chart, 5000, tall);
    const QRectF bar = chart.segmentRect(tall, 0);
    const QImage image = chart.grab().toImage();
    const QPoint above(static_cast<int>(std::floor(bar.center().x())),
                       static_cast<int>((bar.top() + bar.center().y()) / 2));
    QCOMPARE(image.pixelColor(above), QColor(Qt::red));
    // Its neighbours in other pixels are lower.
    QVERIFY(image.pixelColor(above + QPoint(tall < 2500 ? 4 : -4, 0)) != QColor(Qt::red));
  }

  void numbersBelowTheAxisDoNotOverlap_data() {
    QTest::addColumn<int>("stages");
    for (const int stages : {2, 64, 1000, 16384}) QTest::addRow("%d", stages) << stages;
  }
  void numbersBelowTheAxisDoNotOverlap() {
    QFETCH(int, stages);
    StageChart chart;
    show(chart, stages, 0);
    const auto* plot = chart.findChild<QCustomPlot*>();
    const QFontMetricsF metrics(plot->xAxis->tickLabelFont());
    const QVector<double> ticks = plot->xAxis->tickVector();
    const QVector<QString> labels = plot->xAxis->tickVectorLabels();
    QVERIFY(labels.size() > 1);
    for (qsizetype i = 1; i < labels.size(); ++i) {
      const double apart = plot->xAxis->coordToPixel(ticks[i]) - plot->xAxis->coordToPixel(ticks[i - 1]);
      const double room = (metrics.horizontalAdvance(labels[i - 1]) + metrics.horizontalAdvance(labels[i])) /
                          2;
      QVERIFY2(apart > room + 2, qPrintable(labels[i]));
    }
  }

 private:
  // Bars of equal height, one of them ten times as tall.
  static void show(StageChart& chart, int stages, int tall) {
    BarData data;
    data.series = {{"Weights", Qt::red}};
    data.values.assign(static_cast<size_t>(stages), {1});
    data.values[static_cast<size_t>(tall)] = {10};
    data.text = [](double value) { return QString::number(value); };
    chart.setData(data);
    chart.resize(640, 320);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QTest::qWait(20);  // QCustomPlot places the axes in a queued replot
  }
};

QTEST_MAIN(StageChartTest)
#include "stage_chart_test.moc"
