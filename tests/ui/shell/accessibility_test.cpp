// Every view, with the font sizes of a person who needs large text: each control has a name, the text of each
// button is whole, and no control lies outside the window. Fonts of 150 % on a screen of 1280x800 leave the
// room of 853x533 at 100 %, fonts of 200 % that of 640x400.
#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStyleOptionButton>
#include <QTabWidget>
#include <QTest>

#include "offscreen.h"
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

  QStringList faults() {
    QStringList out;
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
      if (!widget->isVisible() || isPart(widget) || widget->window() != window_.get()) continue;
      if (widget->focusPolicy() & Qt::TabFocus && nameOf(widget).isEmpty())
        out.append("no name: " + described(widget));
      auto* button = qobject_cast<QPushButton*>(widget);
      if (button && cutsItsText(button))
        out.append(QString("cut text (%1 of %2): ").arg(widget->width()).arg(widget->sizeHint().width()) +
                   described(widget));
      const QRect place(widget->mapTo(window_.get(), QPoint()), widget->size());
      if (button && !scrolls(widget) && !window_->rect().contains(place))
        out.append("outside the window: " + described(widget));
    }
    out.removeDuplicates();
    return out;
  }

 private Q_SLOTS:
  void init() { openWindow(); }
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
      for (const QString& fault : faults()) {
        all.append(window_->tabs()->tabText(view) + ": " + fault);
        qWarning("%s", qPrintable(all.back()));  // one message of a test has no room for all
      }
    }
    QCOMPARE(all.size(), 0);
    QCOMPARE(window_->size(), room);
  }

  // The walk finds what it looks for.
  void theWalkFindsFaults() {
    auto* button = new QPushButton("A text that needs more room than this", window_.get());
    button->setFixedWidth(60);
    button->move(1260, 10);
    button->show();
    auto* nameless = new QLineEdit(window_.get());
    nameless->show();
    const QString found = faults().join('\n');
    QVERIFY2(found.contains("cut text (60 of "), qPrintable(found));
    QVERIFY2(found.contains("outside the window: A text"), qPrintable(found));
    QVERIFY2(found.contains("no name: QLineEdit"), qPrintable(found));
    delete button;
    delete nameless;
  }
};

QTEST_MAIN(AccessibilityTest)
#include "accessibility_test.moc"
