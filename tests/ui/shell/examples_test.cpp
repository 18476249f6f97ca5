// The first start: examples as cards, then the tour; both again from the Help menu.
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocument>

#include "design/document.h"
#include "design/examples.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "report/page_report.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_row.h"
#include "ui/plot/picture_caption.h"
#include "ui/shell/document.h"
#include "ui/shell/examples_dialog.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/report_file.h"
#include "ui/shell/report_job.h"
#include "ui/shell/settings.h"
#include "ui/shell/start_row.h"
#include "ui/shell/tour.h"
#include "ui/shell/verdict_strip.h"
#include "ui/shell/window_help.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class ExamplesTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  ExamplesDialog* cards() const { return window_->helper()->examples(); }
  Tour* tour() const { return window_->helper()->tour(); }
  // The rectangle of a widget in the window.
  QRect placeOf(QWidget* widget) const { return {widget->mapTo(window_.get(), QPoint()), widget->size()}; }

 private Q_SLOTS:
  void init() {
    settings::setWelcomed(false);
    settings::clearRecentFiles();
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() { closeWindow(); }

  void theFirstStartShowsCardsThenTheTour() {
    window_->helper()->welcome();
    QVERIFY(cards() && cards()->isVisible());
    QCOMPARE(cards()->windowTitle(), QString("Welcome to Shardscape"));
    QCOMPARE(cards()->cards().size(), 4);
    for (QPushButton* card : cards()->cards()) {
      QVERIFY(!card->accessibleName().isEmpty());
      for (QLabel* label : card->findChildren<QLabel*>())
        QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
    }
    QVERIFY(!tour());
    QTest::mouseClick(cards()->cards()[2], Qt::LeftButton);
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().world(), 64);
    session_->waitForReport();
    QVERIFY(session_->report()->memory->fits);
    QCOMPARE(window_->windowTitle(), QString("Llama 3 70B on 64 H100[*] - Shardscape"));
    QVERIFY(!window_->isWindowModified());
    QVERIFY(window_->document()->path().isEmpty());  // "Save" must not write to the example
    QVERIFY(settings::recentFiles().isEmpty());
    QVERIFY(tour() && tour()->isVisible());
    QTest::keyClick(tour()->focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!tour());
    window_->helper()->welcome();
    QVERIFY(!cards());  // never again by itself
  }

  // The title of an example follows the machine; a name that a person gave stays.
  void theTitleFollowsTheMachine() {
    const auto example = find_example("llama3-70b-64");
    QVERIFY(
        window_->document()->openExample(QString::fromStdString(std::get<Example>(example).path.string())));
    QVERIFY(!session_->setKnob("accelerator", "h200-sxm-141gb"));
    QCOMPARE(window_->windowTitle(), QString("Llama 3 70B on 64 H200[*] - Shardscape"));
    QVERIFY(!session_->setKnob("dp", "4"));
    QCOMPARE(window_->windowTitle(), QString("Llama 3 70B on 128 H200[*] - Shardscape"));
    session_->waitForReport();
    const QString caption = pictureCaption(*session_, QDate(2026, 1, 1));
    QVERIFY2(caption.contains("Llama 3 70B on 128 H200") && !caption.contains("H100"), qPrintable(caption));
    session_->undoStack()->undo();
    session_->undoStack()->undo();
    QCOMPARE(window_->windowTitle(), QString("Llama 3 70B on 64 H100[*] - Shardscape"));
    Design own = session_->design();
    own.name = "Our run on 64 H100";
    session_->setDesign(own, "own name");
    QVERIFY(!session_->setKnob("dp", "8"));
    QCOMPARE(session_->design().name, std::string("Our run on 64 H100"));
  }

  // The batch is typed before the search, which keeps it.
  void theStartHasABatch() {
    window_->actions().examples->trigger();
    QVERIFY(QTest::qWaitForWindowActive(cards()));
    KnobRow& batch = *cards()->startRow()->batch();
    QVERIFY(batch.isVisible());
    auto* field = batch.fieldWidget()->findChild<QLineEdit*>();
    if (!field) field = qobject_cast<QLineEdit*>(batch.fieldWidget());
    QVERIFY(field);
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, "96");
    QTest::keyClick(field, Qt::Key_Tab);
    QTRY_COMPARE(session_->design().workload.batch, 96);
    QTest::mouseClick(cards()->startRow()->findButton(), Qt::LeftButton);
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().workload.batch, 96);
  }

  void cardsByKeyboard() {
    window_->actions().examples->trigger();
    QVERIFY(QTest::qWaitForWindowActive(cards()));
    QCOMPARE(cards()->windowTitle(), QString("Examples"));
    QTRY_COMPARE(cards()->focusWidget(), cards()->startRow()->model());
    for (int tabs = 0; cards()->focusWidget() != cards()->cards()[1]; ++tabs) {
      QVERIFY(tabs < 8);
      QTest::keyClick(cards()->focusWidget(), Qt::Key_Tab);
    }
    QTest::keyClick(cards()->focusWidget(), Qt::Key_Space);
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().world(), 1024);
    QVERIFY(!tour());  // the tour belongs to the first start
    window_->actions().examples->trigger();
    QTest::keyClick(cards(), Qt::Key_Escape);
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().world(), 1024);
  }

  void theTourPointsAtEveryPart() {
    window_->actions().tour->trigger();
    QVERIFY(tour());
    QVERIFY(tour()->steps() >= 4 && tour()->steps() <= 6);
    QWidget* parts[] = {window_->form()->gpus(), window_->verdictStrip(), window_->tabs()->tabBar(),
                        window_->tabs()->tabBar(), window_->findChild<QWidget*>("export_button")};
    for (int step = 0; step < tour()->steps(); ++step) {
      QCOMPARE(tour()->step(), step);
      QVERIFY2(tour()->frame()->geometry().intersects(placeOf(parts[step])),
               qPrintable(QString::number(step)));
      QVERIFY(window_->rect().contains(tour()->geometry()));
      QVERIFY2(!tour()->geometry().intersects(tour()->frame()->geometry()),
               qPrintable(QString::number(step)));
      for (QLabel* label : tour()->findChildren<QLabel*>())
        QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
      if (step + 1 < tour()->steps()) QTest::mouseClick(tour()->nextButton(), Qt::LeftButton);
    }
    QTest::mouseClick(tour()->backButton(), Qt::LeftButton);
    QTest::mouseClick(tour()->nextButton(), Qt::LeftButton);
    QTest::mouseClick(tour()->nextButton(), Qt::LeftButton);
    QTRY_VERIFY(!tour());
  }

  // File > Report writes a page about the design.
  void aReportIsWritten() {
    QTemporaryDir folder;
    const QString path = folder.filePath("r.md");
    window_->writeReport(path);
    QTRY_VERIFY(!window_->reportJob()->running());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("# Llama 3 8B"));
    window_->writeReport("/nowhere/r.html");
    QTRY_VERIFY(labelSays(window_.get(), "The report was not written."));
  }

  // The window goes on while a thread makes the page, which is about the design of that moment.
  void aReportIsWrittenOnAThread() {
    QTemporaryDir folder;
    const QString path = folder.filePath("r.md"), other = folder.filePath("other.md");
    window_->writeReport(path);
    QVERIFY(window_->reportJob()->running());
    window_->writeReport(other);
    QVERIFY(labelSays(window_.get(), "another one is being written"));
    Design renamed = session_->design();
    renamed.name = "Another";
    session_->reset(renamed);
    QTRY_VERIFY(!window_->reportJob()->running());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("# Llama 3 8B"));
    QVERIFY(!QFile::exists(other));
    QVERIFY(labelSays(window_.get(), "another one is being written"));  // the report does not hide it
  }

  void aWindowThatClosesFinishesItsReport_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"r.html", "r.pdf"}) QTest::newRow(name) << name;
  }
  void aWindowThatClosesFinishesItsReport() {
    QFETCH(QString, name);
    QTemporaryDir folder;
    window_->writeReport(folder.filePath(name));
    QVERIFY(window_->close());
    QVERIFY(QFile::exists(folder.filePath(name)));
  }

  void aWindowStaysIfItsReportFails() {
    window_->writeReport("/nowhere/r.html");
    QVERIFY(!window_->close());
    QVERIFY(window_->isVisible());
    QVERIFY(labelSays(window_.get(), "The report was not written."));
  }

  // As PDF: sheets of A4 with the same words and the picture of memory as an image.
  void aReportIsWrittenAsPdf() {
    QTemporaryDir folder;
    const QString path = folder.filePath("r.PDF");
    window_->writeReport(path);
    QTRY_VERIFY(!window_->reportJob()->running());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    QVERIFY2(bytes.startsWith("%PDF-1.") && bytes.trimmed().endsWith("%%EOF"), bytes.left(20).constData());
    QVERIFY(bytes.contains("/MediaBox [0 0 595"));
    const auto design = load_design(path.toStdString());  // the file that is attached
    QVERIFY2(std::holds_alternative<Design>(design), qPrintable(path));
    QVERIFY(std::get<Design>(design) == session_->report()->design);
    window_->writeReport("/nowhere/r.pdf");
    QTRY_VERIFY(labelSays(window_.get(), "The report was not written."));
    QVERIFY(reportFilter().contains("*.pdf"));

    const auto report = session_->report();
    const PageReport page = page_report(*report, *simulate(*report));
    const auto document = reportDocument(QString::fromStdString(page_html(page)));
    const QString words = document->toPlainText();
    QVERIFY(document->pageCount() > 1);
    QVERIFY2(words.contains(QString::fromStdString(page.verdict)), qPrintable(words.left(300)));
    for (const PageSection& section : page.sections)
      QVERIFY2(words.contains(QString::fromStdString(section.title)), section.title.c_str());
    QCOMPARE(words.count(QChar::ObjectReplacementCharacter), 2);  // step and memory
    QVERIFY(!words.contains("\"parallelism\""));                  // the design is attached, not printed
    QVERIFY(!words.contains("capacity "));                        // a word of the picture
    QVERIFY2(document->size().width() <= document->pageSize().width(),
             qPrintable(QString::number(document->size().width())));
  }

  // The card over a view says how many problems there are, and can be put away.
  void theProblemCardCountsAndHides() {
    window_->showView(QStringLiteral("Memory"));
    session_->setKnob("tp", "5");
    session_->setKnob("pp", "64");
    auto* card = window_->tabs()->currentWidget()->findChild<QFrame*>("chart_notice");
    QTRY_VERIFY(card && card->isVisible());
    QVERIFY(labelSays(card, "Problem 1 of "));
    QTest::mouseClick(card->findChild<QPushButton*>("hide_notice"), Qt::LeftButton);
    QVERIFY(!card->isVisible());
    QTest::qWait(300);
    QVERIFY(!card->isVisible());
    session_->undoStack()->setIndex(0);
    session_->waitForReport();
    session_->setKnob("tp", "5");
    QTRY_VERIFY(card->isVisible());  // a new mistake is said again
  }

  void theTourByKeyboard() {
    window_->actions().tour->trigger();
    for (const int key : {Qt::Key_Return, Qt::Key_Right, Qt::Key_Left})
      QTest::keyClick(tour()->focusWidget(), Qt::Key(key));
    QCOMPARE(tour()->step(), 1);
    window_->resize(1100, 700);
    QTRY_VERIFY(window_->rect().contains(tour()->geometry()));
    for (int step = 1; step < 5; ++step) QTest::keyClick(tour()->focusWidget(), Qt::Key_Return);
    QTRY_VERIFY(!tour());
  }
};

QTEST_MAIN(ExamplesTest)
#include "examples_test.moc"
