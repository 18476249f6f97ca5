// The message of the window lies over the window: nothing moves when it appears or ends.
#include <QPushButton>
#include <QTabWidget>
#include <QTest>
#include <QToolButton>

#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/verdict_strip.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class MessageBarTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void nothingMoves_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("usual") << QSize(1440, 900);
    QTest::newRow("small") << QSize(1100, 700);
  }
  void nothingMoves() {
    QFETCH(QSize, size);
    window_->resize(size);
    QCoreApplication::processEvents();
    const QWidget* parts[] = {window_->verdictStrip(), window_->form(), window_->tabs()};
    QList<QRect> before;
    for (const QWidget* part : parts) before << QRect(part->mapTo(window_.get(), QPoint()), part->size());
    MessageBar& bar = *window_->messageBar();
    const QString words = QStringLiteral("The file was not read. ") + QString(400, u'x').replace(40, 1, u' ');
    for (const QString& text : {QStringLiteral("One line."), words}) {
      bar.show(text);
      QCoreApplication::processEvents();
      QVERIFY(bar.isVisible());
      for (qsizetype i = 0; i < before.size(); ++i)
        QCOMPARE(QRect(parts[i]->mapTo(window_.get(), QPoint()), parts[i]->size()), before[i]);
      QVERIFY(bar.parentWidget()->rect().contains(bar.geometry()));
    }
    // It follows the size of the window, and its button ends it.
    window_->resize(size + QSize(80, 60));
    QCoreApplication::processEvents();
    QVERIFY(bar.parentWidget()->rect().contains(bar.geometry()));
    QVERIFY(std::abs(bar.geometry().center().x() - bar.parentWidget()->rect().center().x()) <= 1);
    auto* close = bar.findChild<QToolButton*>();
    QVERIFY(close);
    QTest::mouseClick(close, Qt::LeftButton);
    QVERIFY(!bar.isVisible());
  }
};

QTEST_MAIN(MessageBarTest)
#include "message_bar_test.moc"
