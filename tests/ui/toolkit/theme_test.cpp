#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFrame>
#include <QGlyphRun>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QRawFont>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTextLayout>
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusVariant>
#include <map>

#include "offscreen.h"
#include "ui/session/session.h"
#include "ui/shell/actions.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/desktop_theme.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/style_sheet.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/theme_choice.h"

using namespace shardscape;
using namespace shardscape::ui;

// What the portal of a desktop says of its colours.
class Portal : public QObject {
  Q_OBJECT
  Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")
 public:
  void prefer(uint scheme) {
    scheme_ = scheme;
    Q_EMIT SettingChanged(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("color-scheme"),
                          QDBusVariant(scheme));
  }
 public Q_SLOTS:
  QDBusVariant Read(const QString&, const QString&) {
    return QDBusVariant(QVariant::fromValue(QDBusVariant(scheme_)));
  }
 Q_SIGNALS:
  void SettingChanged(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  uint scheme_ = 1;  // dark
};

// Counts what widgets hear of changed styles and fonts.
class RestyleCounter : public QObject {
 public:
  std::map<const QObject*, int> heard;
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange) ++heard[watched];
    return false;
  }
};

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

  // Every widget has the colours of the other mode, also one with a sheet of its own and one below it.
  void allWidgetsChangeTheirColours() {
    Theme::instance().setMode(Theme::Mode::Light);
    QWidget window;
    auto* own = new QFrame(&window);
    own->setStyleSheet("QFrame { border: 1px solid red; }");
    auto* button = new QPushButton("Apply", own);
    auto* line = new QLineEdit(&window);
    auto* hidden = new QLineEdit(&window);  // while the theme changes
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    for (const Theme::Mode mode : {Theme::Mode::Dark, Theme::Mode::Light, Theme::Mode::Dark}) {
      hidden->hide();
      Theme::instance().setMode(mode);
      hidden->show();
      for (QWidget* widget :
           {static_cast<QWidget*>(button), static_cast<QWidget*>(line), static_cast<QWidget*>(hidden)})
        QCOMPARE(widget->grab().toImage().pixelColor(widget->width() / 2, 4), Theme::colors(mode).field);
    }
    Theme::instance().setMode(Theme::Mode::Light);
  }

  // Fonts stay, of widgets that were there and of widgets that are made for the new colours.
  void fontsStayWhenColoursChange() {
    Theme::instance().setMode(Theme::Mode::Light);
    QWidget window;
    auto* title = new QLabel("Memory", &window);
    title->setProperty("role", "title");
    const auto formula = [&] {
      auto* label = new QLabel("<b>2 D</b> F", &window);
      label->setFont(Theme::instance().monoFont(12));
      label->show();
      return label;
    };
    QLabel *old = formula(), *made = nullptr;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    const QFont font = title->font();
    const QSize size = title->sizeHint(), of_formula = old->sizeHint();
    const auto remake = connect(&Theme::instance(), &Theme::changed, this, [&] { made = formula(); });
    Theme::instance().setMode(Theme::Mode::Dark);
    disconnect(remake);
    QCOMPARE(title->font(), font);
    QCOMPARE(title->sizeHint(), size);
    QCOMPARE(old->sizeHint(), of_formula);
    QVERIFY(made);
    QCOMPARE(made->sizeHint(), of_formula);
    Theme::instance().setMode(Theme::Mode::Light);
  }

  // A menu or a list over a panel has an edge that is visible without a shadow.
  void popupsStandOut() {
    for (const Theme::Mode mode : {Theme::Mode::Dark, Theme::Mode::Light}) {
      Theme::instance().setMode(mode);
      QMenu menu;
      menu.addAction("Copy");
      QComboBox box;
      box.addItems({"one", "two"});
      box.show();
      box.showPopup();
      menu.popup({});
      QTest::qWait(20);
      for (QWidget* popup : {static_cast<QWidget*>(&menu), static_cast<QWidget*>(box.view())}) {
        const QColor edge = popup->grab().toImage().pixelColor(0, popup->height() / 2);
        for (const QColor& below : {Theme::colors(mode).panel, Theme::colors(mode).ground})
          QVERIFY2(contrast(edge, below) >= 1.5, qPrintable(edge.name()));
      }
      menu.close();
      box.hidePopup();
    }
  }

  void aPaletteIsLightOrDark() {
    QCOMPARE(modeOf(QPalette(Qt::white, Qt::white)), Theme::Mode::Light);
    QCOMPARE(modeOf(QPalette(QColor("#202020"), QColor("#202020"))), Theme::Mode::Dark);
  }

  void systemFollowsThePortal() {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    QSKIP("the thread sanitizer of Clang ends programs that start others");
#endif
#endif
    QProcess bus;
    bus.start(QStandardPaths::findExecutable("dbus-daemon"), {"--session", "--nofork", "--print-address"});
    if (!bus.waitForStarted() || !bus.waitForReadyRead()) QSKIP("there is no dbus-daemon");
    qputenv("DBUS_SESSION_BUS_ADDRESS", bus.readLine().trimmed());
    Portal portal;
    QDBusConnection connection = QDBusConnection::sessionBus();
    QVERIFY(connection.registerObject("/org/freedesktop/portal/desktop", &portal,
                                      QDBusConnection::ExportAllContents));
    QVERIFY(connection.registerService("org.freedesktop.portal.Desktop"));
    ThemeChooser& chooser = ThemeChooser::instance();
    QSignalSpy changed(&chooser, &ThemeChooser::changed);
    chooser.choose(ThemeChoice::System);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(Theme::instance().mode(), Theme::Mode::Dark);
    chooser.choose(ThemeChoice::Light);
    portal.prefer(1);
    QTest::qWait(50);
    QCOMPARE(Theme::instance().mode(), Theme::Mode::Light);
    QDBusConnection::disconnectFromBus(connection.name());
    bus.kill();
    bus.waitForFinished();
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

  // A switch of the theme restyles no widget of the window for its layout: far less than one event each.
  // A PDF finds the character of a glyph through the font's character map.
  void charactersHaveTheirOwnGlyphs() {
    const QString text = QStringLiteral("(0123456789) 4,096.5 -> 2x8");
    QTextLayout layout(text, Theme::instance().uiFont());
    layout.beginLayout();
    layout.createLine();
    layout.endLayout();
    QVector<quint32> shaped, mapped;
    for (const QGlyphRun& run : layout.glyphRuns()) {
      shaped << run.glyphIndexes();
      mapped = run.rawFont().glyphIndexesForString(text);
    }
    QCOMPARE(shaped, mapped);
  }

  void aSwitchOfTheThemeIsCheap() {
    Theme::instance().setMode(Theme::Mode::Light);
    Session session;
    MainWindow window(&session);
    session.waitForReport();
    window.resize(1280, 800);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    for (int view = 0; view < viewNames().size(); ++view) window.showView(view);
    QCoreApplication::processEvents();
    RestyleCounter counter;
    const auto widgets = window.findChildren<QWidget*>();
    QVERIFY(widgets.size() > 300);
    for (QWidget* widget : widgets) widget->installEventFilter(&counter);
    Theme::instance().setMode(Theme::Mode::Dark);
    QCOMPARE(Theme::instance().mode(), Theme::Mode::Dark);
    qsizetype all = 0, often = 0;
    for (const auto& [widget, events] : counter.heard) {
      all += events;
      often += events > 1;
    }
    QVERIFY2(
        all < widgets.size() && often < widgets.size() / 10,
        qPrintable(
            QString("%1 events, %2 widgets with several, of %3").arg(all).arg(often).arg(widgets.size())));
    for (QWidget* widget : window.findChildren<QWidget*>()) widget->removeEventFilter(&counter);
    Theme::instance().setMode(Theme::Mode::Light);
  }
};

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
