#include <QApplication>
#include <QFile>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include "offscreen.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/style_sheet.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

class ThemeTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void textIsReadable_data() {
    QTest::addColumn<int>("mode");
    QTest::newRow("light") << int(Theme::Mode::Light);
    QTest::newRow("dark") << int(Theme::Mode::Dark);
  }
  void textIsReadable() {
    QFETCH(int, mode);
    const Colors& c = Theme::colors(static_cast<Theme::Mode>(mode));
    for (const QColor& ground : {c.panel, c.ground, c.field, c.accent_soft}) {
      QVERIFY2(contrast(c.text, ground) >= 4.5, qPrintable(ground.name()));
      QVERIFY2(contrast(c.secondary, ground) >= 4.5, qPrintable(ground.name()));
      for (const QColor& ink : {c.accent, c.good, c.note, c.bad})
        QVERIFY(contrast(readable(ink, ground), ground) >= 4.5);
    }
  }

  void exactColours() {
    QCOMPARE(Theme::colors(Theme::Mode::Light).accent, QColor("#2F6FDE"));
    QCOMPARE(Theme::colors(Theme::Mode::Dark).ground, QColor("#16181C"));
    QCOMPARE(Theme::colors(Theme::Mode::Dark).activations, QColor("#E08B2C"));
    QCOMPARE(contrast(Qt::black, Qt::white), 21.0);
    QCOMPARE(readable(Qt::black, Qt::white), QColor(Qt::black));
  }

  void modeReachesTheApplication() {
    QSignalSpy changed(&Theme::instance(), &Theme::changed);
    Theme::instance().setMode(Theme::Mode::Dark);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(QApplication::palette().color(QPalette::Window), Theme::colors(Theme::Mode::Dark).panel);
    QVERIFY(qApp->styleSheet().contains("#6aa5ff"));
    Theme::instance().setMode(Theme::Mode::Light);
    QCOMPARE(QApplication::palette().color(QPalette::Window), QColor("#FFFFFF"));
  }

  void styleSheetIsWhole() {
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      const QString sheet = styleSheet(mode);
      QVERIFY(sheet.size() > 1000);
      QVERIFY(!sheet.contains('@'));
      static const QRegularExpression url("url\\(([^)]+)\\)");
      for (auto it = url.globalMatch(sheet); it.hasNext();) {
        const QString file = it.next().captured(1);
        QVERIFY2(QFile::exists(file), qPrintable(file));
      }
    }
  }

  void iconsTakeColour() {
    const QImage image = iconPixmap("check", QColor("#ff0000"), 32).toImage();
    bool red = false;
    for (int x = 0; x < image.width(); ++x) {
      for (int y = 0; y < image.height(); ++y) red |= image.pixelColor(x, y) == QColor("#ff0000");
    }
    QVERIFY(red);
  }

  void figuresAreTabular() {
    const QFontMetricsF metrics(Theme::instance().uiFont());
    for (int digit = 1; digit < 10; ++digit) {
      QCOMPARE(metrics.horizontalAdvance(QString::number(digit)), metrics.horizontalAdvance("0"));
    }
  }
};

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
