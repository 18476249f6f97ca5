// Canvas, the base of painted charts, tested with a chart of three squares. Ticks of axes.
#include <QApplication>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "offscreen.h"
#include "ui/plot/axis_scale.h"
#include "ui/plot/canvas.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Squares of 40 pixels next to each other. Tests may change their number.
class Squares : public Canvas {
 public:
  explicit Squares(bool moves = false) : Canvas("squares", "Three squares", nullptr), moves_(moves) {
    resize(200, 60);
  }
  int count = 3, selected = -1, hovered = -1, activated = 0;
  QStringList log;
  QPointF moved;
  double zoomed = 1;

  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override {
    painter.fillRect(rect, ground);
    painter.fillRect(QRectF(rect.topLeft(), QSizeF(40, 40)), Qt::red);
  }
  QString tipAt(const QPointF& at) const override {
    return squareAt(at) < 0 ? QString() : QStringLiteral("square %1").arg(squareAt(at));
  }
  void zoomBy(double factor) override { zoomed *= factor; }
  void fit() override { zoomed = 1; }
  bool shownFocus() const { return focusShown(); }

 protected:
  bool ready() const override { return count > 0; }
  bool viewMoves() const override { return moves_; }
  bool hover(const QPointF& at, bool) override {
    hovered = squareAt(at);
    return hovered >= 0;
  }
  void leave() override { hovered = -1; }
  void click(const QPointF& at, Qt::KeyboardModifiers) override {
    selected = squareAt(at);
    log << QStringLiteral("click");
  }
  void pan(const QPointF& pixels) override { moved += pixels; }
  void zoomAt(double factor, const QPointF&) override { zoomed *= factor; }
  bool go(Way way, Qt::KeyboardModifiers) override {
    switch (way) {
      case Way::Left: selected = std::max(0, selected - 1); return true;
      case Way::Right: selected = std::min(count - 1, selected + 1); return true;
      case Way::First: selected = 0; return true;
      case Way::Last: selected = count - 1; return true;
      case Way::Up:
      case Way::Down:
      case Way::PageUp:
      case Way::PageDown: break;
    }
    return false;
  }
  bool activate() override { return ++activated > 0; }
  bool clear() override {
    selected = -1;
    return true;
  }

 private:
  int squareAt(const QPointF& at) const {
    const int square = static_cast<int>(std::floor(at.x() / 40));
    return at.y() < 40 && square < count ? square : -1;
  }
  bool moves_;
};

void send_wheel(QWidget& widget, int notches) {
  const QPointF at(20, 20);
  QWheelEvent wheel(at, widget.mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&widget, &wheel);
}

QStringList texts(const AxisScale& scale, double pixels, double apart) {
  QStringList out;
  for (const AxisTick& tick : ticks_of(scale, pixels, apart)) out << tick.text;
  return out;
}

}  // namespace

class CanvasTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void mouseHoversAndClicks() {
    Squares chart;
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QTest::mouseMove(&chart, {60, 20});
    QCOMPARE(chart.hovered, 1);
    QCOMPARE(chart.cursor().shape(), Qt::PointingHandCursor);
    QTest::mouseMove(&chart, {190, 50});
    QCOMPARE(chart.cursor().shape(), Qt::ArrowCursor);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, {100, 20});
    QCOMPARE(chart.selected, 2);
    QTest::mouseClick(&chart, Qt::RightButton, {}, {20, 20});
    QCOMPARE(chart.log.size(), 1);
    chart.hovered = 0;
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&chart, &leave);
    QCOMPARE(chart.hovered, -1);
    QVERIFY(!chart.shownFocus());
  }

  void keysGoFromElementToElement() {
    Squares chart;
    chart.show();
    QVERIFY(QTest::qWaitForWindowActive(&chart));
    chart.setFocus(Qt::OtherFocusReason);
    QVERIFY(!chart.shownFocus());
    for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right}) QTest::keyClick(&chart, key);
    QCOMPARE(chart.selected, 1);
    QVERIFY(chart.shownFocus());
    QTest::keyClick(&chart, Qt::Key_End);
    QCOMPARE(chart.selected, 2);
    QTest::keyClick(&chart, Qt::Key_Home);
    QCOMPARE(chart.selected, 0);
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}) QTest::keyClick(&chart, key);
    QCOMPARE(chart.activated, 3);
    QTest::keyClick(&chart, Qt::Key_Escape);
    QCOMPARE(chart.selected, -1);
    QKeyEvent up(QEvent::KeyPress, Qt::Key_Up,
                 Qt::NoModifier);  // the chart does not use this key, so its parents get it
    QApplication::sendEvent(&chart, &up);
    QVERIFY(!up.isAccepted());
    QTest::mouseClick(&chart, Qt::LeftButton, {}, {20, 20});
    QVERIFY(!chart.shownFocus());
  }

  // The chart gets plain arrows, even if an ancestor has them as shortcuts. Arrows with Ctrl or Alt go to the
  // window.
  void arrowsBelongToTheChart() {
    Squares chart;
    const auto kept = [&](int key, Qt::KeyboardModifiers held) {
      QKeyEvent event(QEvent::ShortcutOverride, key, held);
      event.ignore();
      QApplication::sendEvent(&chart, &event);
      return event.isAccepted();
    };
    for (const int key : {Qt::Key_Left, Qt::Key_Down, Qt::Key_Home, Qt::Key_PageDown})
      QVERIFY(kept(key, Qt::NoModifier));
    QVERIFY(kept(Qt::Key_Left, Qt::ShiftModifier));
    QVERIFY(!kept(Qt::Key_Left, Qt::AltModifier));
    QVERIFY(!kept(Qt::Key_Home, Qt::ControlModifier));
    QVERIFY(!kept(Qt::Key_S, Qt::NoModifier));
  }

  void aViewIsDraggedAndZoomed() {
    Squares chart(true);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QTest::mousePress(&chart, Qt::LeftButton, {}, {20, 20});
    QTest::mouseMove(&chart, {50, 25});
    QTest::mouseMove(&chart, {60, 30});
    QTest::mouseRelease(&chart, Qt::LeftButton, {}, {60, 30});
    QCOMPARE(chart.moved, QPointF(-40, -10));
    QVERIFY(chart.log.isEmpty());  // a drag does not count as a click
    QTest::mouseClick(&chart, Qt::LeftButton, {}, {20, 20});
    QCOMPARE(chart.selected, 0);
    send_wheel(chart, 2);
    QVERIFY(std::fabs(chart.zoomed - 1.25 * 1.25) < 1e-9);
    QTest::keyClick(&chart, Qt::Key_0);
    QCOMPARE(chart.zoomed, 1.0);
    QTest::keyClick(&chart, Qt::Key_Plus);
    QVERIFY(chart.zoomed > 1);
    Squares still;
    send_wheel(still, 2);
    QTest::keyClick(&still, Qt::Key_Plus);
    QCOMPARE(still.zoomed, 1.0);
  }

  void nothingToShowSaysWhy() {
    Squares chart;
    chart.count = 0;
    const QImage before = chart.grab().toImage();
    chart.setMessage("Nothing is here.");
    QVERIFY(chart.grab().toImage() != before);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, {20, 20});
    QTest::keyClick(&chart, Qt::Key_Right);
    QVERIFY(chart.log.isEmpty());
    QCOMPARE(chart.selected, -1);
  }

  void picturesShowTheChart() {
    Squares chart;
    const Picture picture = chart.picture("Squares", "squares");
    QCOMPARE(picture.file_name, QString("squares"));
    for (const SaveFormat format : {SaveFormat::Png, SaveFormat::Svg, SaveFormat::Pdf}) {
      const auto bytes = encoded(picture, format);
      QVERIFY(std::holds_alternative<QByteArray>(bytes));
      if (format != SaveFormat::Png) continue;
      const QImage image = QImage::fromData(std::get<QByteArray>(bytes), "PNG");
      QCOMPARE(image.size(), picture.size * 2);
      bool red = false;
      for (int y = 0; y < image.height() && !red; ++y)
        for (int x = 0; x < image.width() && !red; ++x) red = image.pixelColor(x, y) == QColor(Qt::red);
      QVERIFY(red);
    }
    QVERIFY(std::holds_alternative<Problem>(encoded(picture, SaveFormat::Csv)));
  }

  void ticksOfLinearAxes() {
    QCOMPARE(texts(linear_scale(0, 10), 300, 50), QStringList({"0", "2", "4", "6", "8", "10"}));
    QCOMPARE(texts(linear_scale(0, 1), 300, 50), QStringList({"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
    QCOMPARE(texts(linear_scale(0, 12000), 120, 40), QStringList({"0", "5,000", "10,000"}));
    // A short range far from zero: neighbouring ticks have different texts.
    QStringList near = texts(linear_scale(10.2, 10.3), 600, 50);
    QVERIFY(near.size() > 4);
    QCOMPARE(near.removeDuplicates(), 0);
    // Ticks are round in the displayed unit: GiB, ms.
    const double gib = 1024.0 * 1024 * 1024;
    QCOMPARE(texts(linear_scale(0, 80 * gib, gib), 170, 34), QStringList({"0", "20", "40", "60", "80"}));
    QCOMPARE(texts(linear_scale(0, 0.03, 1e-3), 300, 90), QStringList({"0", "10", "20", "30"}));
  }

  void stepsAreOneTwoOrFive() {
    for (double span = 1e-9; span < 1e12; span *= 1.37)
      for (const double most : {2.0, 3.7, 10.0, 40.0}) {
        const double step = tick_step(span, most), power = std::pow(10, std::floor(std::log10(step) + 1e-9));
        const double digit = step / power;
        QVERIFY(std::fabs(digit - 1) < 1e-6 || std::fabs(digit - 2) < 1e-6 || std::fabs(digit - 5) < 1e-6);
        QVERIFY(span / step <= most * (1 + 1e-6));
        QVERIFY(span / step > most / 2.5 * (1 - 1e-6));
      }
  }

  void ticksOfLogarithmicAxes() {
    QCOMPARE(texts(log_scale(0.1, 1e4), 300, 40), QStringList({"0.1", "1", "10", "100", "1,000", "10,000"}));
    QCOMPARE(texts(log_scale(1, 100), 800, 40), QStringList({"1", "2", "5", "10", "20", "50", "100"}));
    QCOMPARE(texts(log_scale(1e5, 1e8), 200, 40), QStringList({"100,000", "10⁶", "10⁷", "10⁸"}));
    QCOMPARE(texts(log_scale(1e13, 1e15, 10, 1e12), 200, 40), QStringList({"10", "100", "1,000"}));
    QCOMPARE(texts(log_scale(1, 1e8), 200, 60), QStringList({"1", "1,000", "10⁶"}));
    QCOMPARE(texts(log_scale(8, 4096, 2), 700, 58).size(), 10);
    QCOMPARE(texts(log_scale(8, 64, 2), 400, 58), QStringList({"8", "16", "32", "64"}));
    // Less than a decade: the ticks of a linear axis.
    QCOMPARE(texts(log_scale(10, 30), 300, 60), QStringList({"10", "15", "20", "25", "30"}));
  }

  // Ticks that are equal numbers never end.
  void almostEqualEnds() {
    for (const double low : {1.0, 1e-9, 3.7e8, -2.0}) {
      double high = low;
      for (int ulps = 1; ulps <= 4096; ulps *= 2) {
        for (int i = 0; i < ulps; ++i) high = std::nextafter(high, 1e300);
        QVERIFY(ticks_of(linear_scale(low, high), 700, 40).size() < 50);
      }
      QVERIFY(ticks_of(linear_scale(low, low + std::fabs(low) * 1e-9), 700, 40).size() > 3);
    }
  }

  void placesAndTicksAgree() {
    for (const AxisScale& scale : {linear_scale(3, 17), log_scale(3, 17000), log_scale(8, 1024, 2)})
      for (const AxisTick& tick : ticks_of(scale, 500, 50)) {
        QString digits = tick.text;
        QVERIFY(std::fabs(scale.share(digits.remove(',').toDouble()) - scale.shareOf(tick.place)) < 1e-9);
        QVERIFY(scale.shareOf(tick.place) > -1e-9 && scale.shareOf(tick.place) < 1 + 1e-9);
      }
  }
};

QTEST_MAIN(CanvasTest)
#include "canvas_test.moc"
