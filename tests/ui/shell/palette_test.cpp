// The command palette: the order of matches, and rows with a long hint.
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTabWidget>
#include <QTest>

#include "offscreen.h"
#include "ui/shell/command_palette.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/setting_row.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/spec_editor.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class PaletteTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static Command command(const QString& title, const QString& keywords, bool without_effect = false) {
    return {"Set", title, {}, keywords, [] {}, {}, without_effect};
  }

 private Q_SLOTS:
  void cleanup() {
    if (session_) closeWindow();
  }

  // A field without effect is last, also if the typed word is its symbol.
  void fieldsWithoutEffectAreLast() {
    CommandModel model;
    model.setCommands({command("Expert parallel", "ep", true), command("Keep this design", ""),
                       command("Expert parallel groups", "", true)});
    model.setFilter("ep");
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.command(0).title, QString("Keep this design"));
    model.setFilter("expert parallel");  // the order among fields without effect stays: the exact name first
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.command(0).title, QString("Expert parallel"));
  }

  // "recompute full" sets a choice, "sequence parallel off" a switch.
  void choicesAreSet_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("value");
    QTest::newRow("by value") << QString("recompute full") << QString("recompute") << QString("full");
    QTest::newRow("by label") << QString("sequence parallel off") << QString("sequence_parallel")
                              << QString("false");
    QTest::newRow("with =") << QString("schedule=gp") << QString("schedule") << QString("gpipe");
  }
  void choicesAreSet() {
    QFETCH(QString, words);
    QFETCH(QString, id);
    QFETCH(QString, value);
    openWindow();
    window_->activateWindow();
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(window_->palette()->line(), words);
    QVERIFY(window_->palette()->model()->rowCount() > 0);
    QTest::keyClick(window_->palette()->line(), Qt::Key_Return);
    QCOMPARE(QString::fromStdString(knob_text(session_->design(), *find_knob(id.toStdString()))), value);
  }

  // The same of the fields of a dense model: "parallel" names degrees with and without effect.
  void fieldsOfTheDesignAreOrdered_data() {
    QTest::addColumn<QString>("words");
    for (const char* words : {"ep", "parallel", "microbatch"}) QTest::newRow(words) << QString(words);
  }
  void fieldsOfTheDesignAreOrdered() {
    QFETCH(QString, words);
    openWindow();
    window_->activateWindow();
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(window_->palette()->line(), words);
    const CommandModel& model = *window_->palette()->model();
    int with = 0, without = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const Command& one = model.command(row);
      (one.without_effect ? without : with) += 1;
      QVERIFY2(one.without_effect || without == 0, qPrintable(one.title));
    }
    QVERIFY2(with > 0 && without > 0, qPrintable(QString("%1 %2").arg(with).arg(without)));
  }

  // Pages of Explore, pictures of requests, and settings of a service.
  void pagesAreFound_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<int>("page");
    QTest::newRow("requests") << QString("requests") << int(ExploreView::Requests);
    QTest::newRow("serving") << QString("serving") << int(ExploreView::Serving);
    QTest::newRow("scaling") << QString("scaling") << int(ExploreView::Scaling);
    QTest::newRow("sensitivity") << QString("sensitivity") << int(ExploreView::SensitivityTab);
    QTest::newRow("a picture") << QString("requests timeline") << int(ExploreView::Requests);
    QTest::newRow("a setting") << QString("max_num_seqs 12") << int(ExploreView::Requests);
  }
  void pagesAreFound() {
    QFETCH(QString, words);
    QFETCH(int, page);
    openWindow();
    window_->activateWindow();
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(window_->palette()->line(), words);
    QVERIFY(window_->palette()->model()->rowCount() > 0);
    QTest::keyClick(window_->palette()->line(), Qt::Key_Return);
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->explore()));
    QCOMPARE(window_->explore()->pages()->current(), page);
    const auto& requests = static_cast<RequestsPage&>(*window_->explore()->requests());
    if (words.startsWith("requests t")) QCOMPARE(requests.pictures()->current(), int(RequestsPage::Timeline));
    if (!words.startsWith("max")) return;
    QCOMPARE(requests.editor()->spec().engine.max_num_seqs, 12);
    QTRY_VERIFY(requests.editor()->row("max_num_seqs")->field()->hasFocus());
  }

  // A long hint is elided: group and title look as in a row with a short hint.
  void aLongHintLeavesTheTitle() {
    QWidget window;
    window.resize(800, 600);
    CommandPalette palette(&window);
    const QString title = "Set tp to 4";
    palette.open({{"Fix", title, "short", {}, [] {}},
                  {"Fix", title, QString("32 heads do not split over tp = 5. ").repeated(20), {}, [] {}}});
    auto* list = palette.findChild<QListView*>();
    QVERIFY(list);
    const auto painted = [&](int row) {
      QImage image(560, 32, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      QStyleOptionViewItem option;
      option.rect = image.rect();
      list->itemDelegate()->paint(&painter, option, palette.model()->index(row, 0));
      return image;
    };
    const QImage brief = painted(0), lengthy = painted(1);
    const auto inked = [](const QImage& image, const QRect& area) {
      int pixels = 0;
      for (int x = area.left(); x <= area.right(); ++x)
        for (int y = area.top(); y <= area.bottom(); ++y) pixels += image.pixel(x, y) != qRgb(255, 255, 255);
      return pixels;
    };
    // Group and title begin at the left edge.
    const int width = QFontMetrics(Theme::instance().uiFont()).horizontalAdvance(title);
    const QRect left(0, 0, 16 + 64 + width, 32), hint(280, 0, 280, 32);
    QVERIFY(inked(brief, left) > 50);
    QCOMPARE(lengthy.copy(left), brief.copy(left));
    QVERIFY(inked(lengthy, hint) > 4 * inked(brief, hint));  // the hint has the rest of the row
  }
};

QTEST_MAIN(PaletteTest)
#include "palette_test.moc"
