// Every view and dialog, with the font sizes of a person who needs large text: each control has a name, the
// text of each button is whole, and no control lies outside the window. Fonts of 150 % on a screen of
// 1280x800 leave the room of 853x533 at 100 %, fonts of 200 % that of 640x400.
#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStyleOptionButton>
#include <QTabWidget>
#include <QTest>
#include <map>

#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/session/layout_finder.h"
#include "ui/shell/actions.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/verdict_strip.h"
#include "ui/views/architecture/part_box.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class AccessibilityTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static QString nameOf(QWidget* widget) {
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(widget);
    return interface ? interface->text(QAccessible::Name) : QString();
  }
  static QString described(const QWidget* widget) {
    QString out;
    for (const QWidget* w = widget; w && out.size() < 200; w = w->parentWidget())
      out += QString(out.isEmpty() ? "" : " in ") + w->metaObject()->className() +
             (w->objectName().isEmpty() ? QString() : "#" + w->objectName());
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) out = button->text() + ": " + out;
    return out;
  }
  // Parts of other controls: the control has the name.
  static bool isPart(const QWidget* widget) {
    const QString name = widget->objectName();
    return name.startsWith("qt_") || qobject_cast<const QAbstractScrollArea*>(widget->parentWidget()) ||
           qobject_cast<const QComboBox*>(widget->parentWidget());
  }
  static bool scrolls(const QWidget* widget) {
    for (const QWidget* w = widget->parentWidget(); w; w = w->parentWidget())
      if (qobject_cast<const QAbstractScrollArea*>(w)) return true;
    return false;
  }
  static bool cutsItsText(QPushButton* button) {
    QStyleOptionButton option;
    option.initFrom(button);
    option.text = button->text();
    const int room = button->style()->subElementRect(QStyle::SE_PushButtonContents, &option, button).width();
    return QFontMetrics(button->font()).horizontalAdvance(button->text().remove('&')) > room + 1;
  }

  // Boxes of the form and of the layers put "…" into the middle of a long text.
  static bool elides(const QComboBox* combo) {
    return combo->objectName().startsWith("knob_") || qobject_cast<const PartBox*>(combo);
  }
  // A line of text that is wider than its label or combo box, and has no "…".
  static bool cutsItsLine(const QWidget* widget) {
    QString text;
    int room = widget->contentsRect().width();
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      if (label->wordWrap() || label->textFormat() == Qt::RichText || Qt::mightBeRichText(label->text()))
        return false;
      text = label->buddy() ? QString(label->text()).remove('&') : label->text();
    } else if (const auto* combo = qobject_cast<const QComboBox*>(widget);
               combo && !combo->isEditable() && !elides(combo)) {
      QStyleOptionComboBox option;
      option.initFrom(combo);
      room = combo->style()
                 ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, combo)
                 .width();
      text = combo->currentText();
    }
    const QStringList lines = text.split('\n');
    return std::any_of(lines.begin(), lines.end(), [&](const QString& line) {
      return QFontMetrics(widget->font()).horizontalAdvance(line) > room + 1;
    });
  }

  static QStringList faults(QWidget* window) {
    QStringList out;
    for (QWidget* widget : window->findChildren<QWidget*>()) {
      if (!widget->isVisible() || isPart(widget) || widget->window() != window) continue;
      if (widget->focusPolicy() & Qt::TabFocus && nameOf(widget).isEmpty())
        out.append("no name: " + described(widget));
      auto* button = qobject_cast<QPushButton*>(widget);
      if (button && cutsItsText(button))
        out.append(QString("cut text (%1 of %2): ").arg(widget->width()).arg(widget->sizeHint().width()) +
                   described(widget));
      if (cutsItsLine(widget))
        out.append(QString("cut line (%1 wide): ").arg(widget->width()) + described(widget));
      const QRect place(widget->mapTo(window, QPoint()), widget->size());
      if (button && !scrolls(widget) && !window->rect().contains(place))
        out.append("outside the window: " + described(widget));
    }
    out.removeDuplicates();
    return out;
  }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() { closeWindow(); }

  void everyControl_data() {
    QTest::addColumn<QSize>("room");
    QTest::newRow("100 %") << QSize(1280, 800);
    QTest::newRow("150 %") << QSize(853, 533);
    QTest::newRow("200 %") << QSize(640, 400);
  }
  void everyControl() {
    QFETCH(QSize, room);
    window_->resize(room);
    session_->waitForEstimate();
    QStringList all;
    for (int view = 0; view < window_->tabs()->count(); ++view) {
      window_->showView(view);
      QTest::qWait(50);
      for (const QString& fault : faults(window_.get())) {
        all.append(window_->tabs()->tabText(view) + ": " + fault);
        qWarning("%s", qPrintable(all.back()));  // one message of a test has no room for all
      }
    }
    QCOMPARE(all.size(), 0);
    QCOMPARE(window_->size(), room);
    // The least size of a view leaves the pane without a horizontal scroll bar.
    QCOMPARE(window_->tabs()->width(), window_->tabs()->parentWidget()->width());
  }

  // The walk finds what it looks for.
  void theWalkFindsFaults() {
    auto* button = new QPushButton("A text that needs more room than this", window_.get());
    button->setFixedWidth(60);
    button->move(1260, 10);
    button->show();
    auto* nameless = new QLineEdit(window_.get());
    nameless->show();
    auto* label = new QLabel("A line of text that is wider than it", window_.get());
    label->setFixedWidth(40);
    label->show();
    const QString found = faults(window_.get()).join('\n');
    QVERIFY2(found.contains("cut text (60 of "), qPrintable(found));
    QVERIFY2(found.contains("outside the window: A text"), qPrintable(found));
    QVERIFY2(found.contains("no name: QLineEdit"), qPrintable(found));
    QVERIFY2(found.contains("cut line (40 wide): QLabel"), qPrintable(found));
    delete button;
    delete nameless;
    delete label;
  }

  // Every dialog and list. With fonts of 200 %, a screen of 1280x800 has room for 640x400.
  void everyDialog_data() {
    QTest::addColumn<QByteArray>("opened");
    for (const char* opened : {"examples", "export", "machine", "layouts", "shortcuts", "about",
                               "documentation", "import", "models"})
      QTest::newRow(opened) << QByteArray(opened);
  }
  void everyDialog() {
    QFETCH(QByteArray, opened);
    session_->waitForEstimate();
    const Actions& actions = window_->actions();
    const std::map<QByteArray, QAction*> by_name{{"examples", actions.examples},
                                                 {"export", actions.export_bundle},
                                                 {"machine", actions.machine},
                                                 {"layouts", actions.find_layout},
                                                 {"shortcuts", actions.shortcuts},
                                                 {"about", actions.about},
                                                 {"documentation", actions.documentation}};
    if (opened == "import")
      dropFile(SHARDSCAPE_TEST_DATA "/hf/gemma-2b.json");
    else if (opened == "models")
      window_->findChild<PresetBox*>()->showPopup();
    else
      by_name.at(opened)->trigger();
    QTest::qWait(100);
    QTRY_VERIFY_WITH_TIMEOUT(!window_->verdictStrip()->finder()->searching(), test::kLongestRun);
    int walked = 0;
    for (QWidget* top : QApplication::topLevelWidgets()) {
      if (top == window_.get() || !top->isVisible() || top->windowType() == Qt::ToolTip) continue;
      ++walked;
      const QStringList found = faults(top);
      for (const QString& fault : found) qWarning("%s", qPrintable(fault));
      QCOMPARE(found.size(), 0);
      const QSize least = top->minimumSizeHint().expandedTo(top->minimumSize());
      // Lists take the height that the screen has.
      QVERIFY2(least.width() <= 640 && (least.height() <= 400 || top->windowType() == Qt::Popup),
               qPrintable(QString("%1: %2 x %3").arg(described(top)).arg(least.width()).arg(least.height())));
      top->close();
    }
    QCOMPARE(walked, 1);
  }
};

QTEST_MAIN(AccessibilityTest)
#include "accessibility_test.moc"
