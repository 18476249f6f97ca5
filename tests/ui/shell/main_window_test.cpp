#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <memory>

#include "design/document.h"
#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_row.h"
#include "ui/inspector/design_summary.h"
#include "ui/inspector/inspection_text.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/session/memory_advisor.h"
#include "ui/shell/about_dialog.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/document.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/problems_model.h"
#include "ui/shell/problems_panel.h"
#include "ui/shell/render_views.h"
#include "ui/shell/settings.h"
#include "ui/shell/verdict_cell.h"
#include "ui/shell/verdict_strip.h"
#include "ui/shell/view_picture.h"
#include "ui/toolkit/search_field.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class MainWindowTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  QTemporaryDir folder_;

  bool figuresArePale() const {
    const auto cells = window_->verdictStrip()->findChildren<VerdictCell*>();
    return std::all_of(cells.begin(), cells.end(), [](VerdictCell* cell) { return cell->pale(); });
  }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
  }
  void cleanup() { closeWindow(); }

  void activeParametersAreShownWhereTheyDiffer() {
    QVERIFY(!inspectionText(designSummary(*session_)).contains("Active parameters per token"));
    session_->applyPreset("mixtral-8x7b");
    session_->waitForReport();
    const QString summary = inspectionText(designSummary(*session_));
    QVERIFY(summary.contains("12,879,925,248"));
    QVERIFY(summary.contains("KV cache of one token"));
    session_->undoStack()->undo();
    session_->waitForReport();
  }

  // If a design does not fit in memory, the text of its fix is long: it changes several knobs.
  void longFixesLeaveRoomForTheProblem() {
    session_->applyPreset("llama3-70b");
    session_->waitForReport();
    session_->waitForEstimate();
    auto* panel = window_->findChild<ProblemsPanel*>();
    panel->show();
    QTRY_VERIFY(panel->table()->isVisible());
    const QAbstractItemModel& model = *panel->table()->model();
    const auto fix = [&] {
      return model.index(model.rowCount() - 1, ProblemsModel::FixColumn).data().toString();
    };  // the memory problem is the last row
    QTRY_VERIFY2_WITH_TIMEOUT(fix().size() > 60, qPrintable(fix()), test::kLongestRun);
    for (const int column : {ProblemsModel::What, ProblemsModel::Accepted, ProblemsModel::FixColumn})
      QVERIFY(panel->table()->columnWidth(column) >= 150);
    QVERIFY(panel->table()->columnViewportPosition(ProblemsModel::FixColumn) + 150 <
            panel->table()->viewport()->width());
  }

  void opensComputedWithAVerdict() {
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Fits"));
    session_->waitForEstimate();
    const QString text = window_->verdictStrip()->text();
    const Simulation& simulation = *session_->estimate()->simulation;
    for (const std::string& part :
         {std::string("GiB, stage 0"), "Step: " + format_seconds(simulation.step_seconds),
          "MFU: " + significant(100 * simulation.mfu) + " %", std::string("Tokens per second"),
          "Bubble: " + significant(100 * simulation.bubble), std::string("Exposed communication")})
      QVERIFY2(text.contains(QString::fromStdString(part)), qPrintable(text));
    QCOMPARE(window_->tabs()->count(), 7);
    QVERIFY(window_->windowTitle().contains("Llama 3 8B"));
    QVERIFY(!window_->inspector()->shown().isEmpty());
  }

  void typeUndoRedo() {
    QTest::keyClicks(focused("seq"), "4096");
    QTRY_COMPARE(session_->report()->design.workload.seq, 4096);
    press(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(session_->design().workload.seq, 8192);
    QCOMPARE(focused("seq")->text(), QString("8,192"));
    press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(session_->design().workload.seq, 4096);
    QVERIFY(window_->isWindowModified());
    press(Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!window_->isWindowModified());
  }

  void anInvalidDesignIsReportedAndFixed() {
    enter("tp", "5");
    session_->waitForReport();
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Cannot be built"));
    auto* button = window_->findChild<QPushButton*>("problems_button");
    QVERIFY2(button->text().contains("problem"), qPrintable(button->text()));
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(window_->problemsPanel()->isVisible());
    QTableView* table = window_->problemsPanel()->table();
    QVERIFY(table->model()->rowCount() > 0);
    const QAbstractItemModelTester tester(table->model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(QApplication::focusWidget(), table);
    QTest::keyClick(table, Qt::Key_Return);  // the first fix
    QTRY_VERIFY(session_->current());
    QTRY_COMPARE(table->model()->rowCount(), static_cast<int>(session_->problems().size()));
    QVERIFY(session_->design().parallel.tp != 5);
    QTest::keyClick(table, Qt::Key_Escape);
    QVERIFY(!window_->problemsPanel()->isVisible());
  }

  void allPartsDimTogether() {
    session_->waitForEstimate();
    const auto dimmed = [&](const char* name) {
      const auto* of = window_->findChild<QWidget*>(name);
      if (qstrcmp(name, "verdict_figures") == 0) return figuresArePale();
      return of && (QByteArray(name).endsWith("veil") ? of->isVisible() : of->graphicsEffect() != nullptr);
    };
    for (const char* part : {"inspector_veil", "total_model", "total_parallelism", "verdict_figures"})
      QVERIFY2(!dimmed(part), part);
    session_->setKnob("tp", "5");
    session_->waitForReport();
    for (const char* part : {"inspector_veil", "total_model", "total_parallelism", "verdict_figures"})
      QVERIFY2(dimmed(part), part);
    session_->setKnob("tp", "2");
    session_->waitForEstimate();
    for (const char* part : {"inspector_veil", "total_model", "total_parallelism", "verdict_figures"})
      QVERIFY2(!dimmed(part), part);
  }

  void changesForANewModelAreReported() {
    session_->applyPreset("mixtral-8x7b");
    session_->setKnob("dp", "8");
    session_->setKnob("ep", "8");
    session_->applyPreset("llama3-8b");
    const MessageBar* bar = window_->messageBar();
    QVERIFY2(bar->text().contains("Expert parallel (ep) 8 → 1"), qPrintable(bar->text()));
    QVERIFY(bar->button()->isVisible());
    QTest::mouseClick(bar->button(), Qt::LeftButton);
    QTRY_COMPARE(session_->design().parallel.ep, 8);
    QVERIFY(bar->text().isEmpty());
    session_->applyPreset("llama3-8b");
    QVERIFY(!bar->text().isEmpty());
    session_->setKnob("seq", "4096");  // the next edit ends the note
    QVERIFY(bar->text().isEmpty());
  }

  void memoryProblemsAreListed() {
    auto* button = window_->findChild<QPushButton*>("problems_button");
    session_->waitForEstimate();
    QVERIFY2(button->text().contains("No problems"), qPrintable(button->text()));
    session_->setKnob("microbatch", "4");
    session_->setKnob("seq", "16384");
    session_->waitForEstimate();
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Does not fit"));
    QCOMPARE(button->text().trimmed(), QString("Does not fit"));
    QTest::mouseClick(window_->verdictStrip(), Qt::LeftButton, {}, QPoint(60, 30));
    QVERIFY(window_->problemsPanel()->isVisible());
    QTableView* table = window_->problemsPanel()->table();
    QCOMPARE(table->model()->rowCount(), 1);
    QCOMPARE(table->model()->index(0, ProblemsModel::Where).data().toString(), QString("Memory"));
    QTRY_VERIFY_WITH_TIMEOUT(!table->model()->index(0, ProblemsModel::FixColumn).data().toString().isEmpty(),
                             test::kLongestRun);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    QTRY_COMPARE(window_->verdictStrip()->verdict(), QString("Fits"));
    QTRY_VERIFY(button->text().contains("No problems"));
  }

  void aDoubleClickOnTheMemoryProblemShowsTheView() {
    session_->setKnob("microbatch", "4");
    session_->setKnob("seq", "16384");
    session_->waitForEstimate();
    window_->actions().problems->setChecked(true);
    QTableView* table = window_->problemsPanel()->table();
    QTRY_VERIFY_WITH_TIMEOUT(session_->advice()->isFor(session_->estimate().get()),
                             test::kLongestRun);  // the list is rebuilt when the advice arrives
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(table->model()->index(0, ProblemsModel::What)).center());
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {},
                       table->visualRect(table->model()->index(0, ProblemsModel::What)).center());
    QCOMPARE(window_->tabs()->currentIndex(), 1);
  }

  void rejectedTextCountsAsAProblem() {
    auto* button = window_->findChild<QPushButton*>("problems_button");
    QLineEdit* seq = focused("seq");
    QTest::keyClicks(seq, "4a");
    QTRY_VERIFY2(button->text().contains("1 problem"), qPrintable(button->text()));
    QTest::mouseClick(button, Qt::LeftButton);
    QTableView* table = window_->problemsPanel()->table();
    QCOMPARE(table->model()->rowCount(), 1);
    QTest::keyClick(table, Qt::Key_Return);
    QTRY_COMPARE(seq->text(), QString("8,192"));
    session_->waitForReport();
    QVERIFY2(button->text().contains("No problems"), qPrintable(button->text()));
  }

  // While a knob has an invalid text, the window does not show the verdict of the previous design.
  void anInvalidTextHasNoVerdict() {
    session_->waitForEstimate();
    const QString before = window_->verdictStrip()->verdict();
    QVERIFY(before == "Fits" || before == "Does not fit");
    QLineEdit* batch = focused("batch");
    QTest::keyClicks(batch, "0");
    QTRY_COMPARE(window_->verdictStrip()->verdict(), QString("Cannot be built"));
    QVERIFY(figuresArePale());
    QTest::keyClick(batch, Qt::Key_Escape);
    QTRY_COMPARE(window_->verdictStrip()->verdict(), before);
    QTRY_VERIFY(!figuresArePale());
  }

  // A number of GPUs without a layout is refused. The verdict says so, and leads to the field.
  void aRefusedNumberOfGpusHasNoVerdict() {
    session_->waitForEstimate();
    const QString before = window_->verdictStrip()->verdict();
    QVERIFY(before == "Fits" || before == "Does not fit");
    QPushButton* link = window_->verdictStrip()->fieldButton();
    QVERIFY(!link->isVisible());
    window_->form()->focusGpus();
    QLineEdit* gpus = window_->form()->gpus()->field();
    QTest::keyClicks(gpus, "6");  // tp 2 and pp 2 need a multiple of 4
    press(Qt::Key_Return);
    QTRY_COMPARE(window_->verdictStrip()->verdict(), QString("Cannot be built"));
    QVERIFY(figuresArePale());
    QVERIFY(link->isVisible());
    QCOMPARE(link->text(), QString("Go to GPUs"));
    QVERIFY2(link->toolTip().contains("6 GPUs are not a multiple"), qPrintable(link->toolTip()));
    // The list of problems has the problem with its fix.
    const std::vector<Problem> problems = session_->allProblems();
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().code, ProblemCode::NoLayoutForRanks);
    QCOMPARE(problems.front().fixes.size(), size_t{1});
    QCOMPARE(problemPlace(problems.front()), QString("GPUs"));
    focused("batch");
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Cannot be built"));  // the text stays in the field
    session_->setKnob("accelerator", "h200-sxm-141gb");  // a change of something else keeps it, too
    QTRY_COMPARE(window_->verdictStrip()->verdict(), QString("Cannot be built"));
    session_->undoStack()->undo();
    QCOMPARE(gpus->text(), QString("6"));
    QTest::mouseClick(link, Qt::LeftButton);
    QCOMPARE(window_->focusWidget(), static_cast<QWidget*>(gpus));
    QTest::keyClick(gpus, Qt::Key_Escape);
    QTRY_COMPARE(window_->verdictStrip()->verdict(), before);
    QTRY_VERIFY(!figuresArePale());
    QVERIFY(!link->isVisible());
    // The fix of the list of problems changes the design and the field.
    gpus->selectAll();
    QTest::keyClicks(gpus, "6");
    press(Qt::Key_Return);
    QVERIFY(session_->hasRejectedText());
    session_->applyFix(session_->allProblems().front().fixes.front());
    QCOMPARE(session_->design().world(), 6);
    QVERIFY(!session_->hasRejectedText());
    QCOMPARE(gpus->text(), QString("6"));
  }

  // For another thing the inspector scrolls to the top. For the same thing with other numbers it keeps its
  // scroll position.
  void theInspectorBeginsAtTheTop() {
    Inspection of;
    of.title = "Memory of stage 1";
    for (int i = 0; i < 80; ++i) of.rows.append({QString("fact %1").arg(i), "1"});
    window_->selection()->inspect(of);
    QCoreApplication::processEvents();
    QScrollBar* bar = window_->inspector()->findChild<QScrollArea*>()->verticalScrollBar();
    QVERIFY(bar->maximum() > 300);
    bar->setValue(300);
    of.title = "Memory of stage 2";
    window_->selection()->inspect(of);
    QCoreApplication::processEvents();
    QCOMPARE(bar->value(), 300);
    of.title = "Gradients, stage 2";
    window_->selection()->inspect(of);
    QCoreApplication::processEvents();
    QCOMPARE(bar->value(), 0);
  }

  void theNoticeOverAViewIsNotCut() {
    for (int view = 0; view < 5; ++view) {
      window_->showView(view);
      enter("tp", "3");
      session_->waitForReport();
      const auto* card = window_->tabs()->currentWidget()->findChild<QFrame*>("chart_notice");
      QVERIFY(card && card->isVisible());
      QTest::qWait(20);
      for (const QLabel* label : card->findChildren<QLabel*>())
        QVERIFY(label->height() >= label->heightForWidth(label->width()));
      for (const QWidget* part : card->findChildren<QWidget*>())
        QVERIFY(card->rect().contains(part->geometry()));
      session_->undoStack()->undo();
      session_->waitForReport();
      QVERIFY(!card->isVisible());
    }
  }

  // Each row is high enough for the text of its cells.
  void rowsOfTheProblemsAreNotClipped() {
    window_->actions().problems->setChecked(true);
    enter("tp", "3");
    session_->waitForReport();
    QTableView* table = window_->problemsPanel()->table();
    for (const int width : {1000, 1600, 1280}) {
      window_->resize(width, 800);
      QTest::qWait(30);
      for (int row = 0; row < table->model()->rowCount(); ++row) {
        for (const int column : {ProblemsModel::What, ProblemsModel::Accepted}) {
          const QString text = table->model()->index(row, column).data().toString();
          const QRect needed = table->fontMetrics().boundingRect(
              QRect(0, 0, table->columnWidth(column) - 22, 9999), Qt::TextWordWrap, text);
          QVERIFY2(table->rowHeight(row) >= needed.height(), qPrintable(text));
        }
      }
    }
  }

  // The shortcuts of the window work while a field has the focus.
  void keysWorkInsideAField() {
    focused("seq");
    press(Qt::Key_B, Qt::ControlModifier);
    QVERIFY(window_->exportDialog()->isVisible());
    window_->exportDialog()->close();
    focused("seq");
    press(Qt::Key_L, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget(), window_->form()->findChild<QLineEdit*>("form_filter"));
    press(Qt::Key_2, Qt::ControlModifier);
    QCOMPARE(window_->tabs()->currentIndex(), 1);
    press(Qt::Key_F, Qt::ControlModifier);  // searches the table of the view
    QCOMPARE(window_->tabs()->currentIndex(), 1);
    QVERIFY(qobject_cast<SearchField*>(QApplication::focusWidget()));
    press(Qt::Key_K, Qt::ControlModifier);
    QVERIFY(window_->palette()->isVisible());
  }

  void tabsByKeyboard() {
    for (int i = 4; i >= 0; --i) {
      press(Qt::Key_1 + i, Qt::ControlModifier);
      QCOMPARE(window_->tabs()->currentIndex(), i);
      QVERIFY(window_->actions().views[i]->isChecked());
    }
  }

  void unitsToggle() {
    QTest::mouseClick(window_->findChild<QPushButton*>("units_button"), Qt::LeftButton);
    QCOMPARE(session_->units(), UnitSystem::Decimal);
    QVERIFY(window_->verdictStrip()->text().contains("GB"));
    QVERIFY(!window_->verdictStrip()->text().contains("GiB"));
    QTest::mouseClick(window_->findChild<QPushButton*>("units_button"), Qt::LeftButton);
  }

  void paletteFindsKnobsPresetsAndActions() {
    const QAbstractItemModelTester tester(window_->palette()->model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    press(Qt::Key_K, Qt::ControlModifier);
    QVERIFY(window_->palette()->isVisible());
    QLineEdit* line = window_->palette()->line();
    QTRY_VERIFY(line->hasFocus());
    QTest::keyClicks(line, "tensor par");
    QCOMPARE(window_->palette()->model()->command(0).title, QString("Tensor parallel"));
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(!window_->palette()->isVisible());
    QCOMPARE(QApplication::focusWidget(), window_->form()->row("tp")->fieldWidget());

    // The exact name comes before names that contain it.
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(line, "microbatch");
    QCOMPARE(window_->palette()->model()->command(0).title, QString("Microbatch"));
    // A value sets the field.
    for (const char* words : {"dp 4", "dp=2", "data parallel 8"}) {
      line->clear();
      QTest::keyClicks(line, words);
      QVERIFY2(window_->palette()->model()->command(0).title.startsWith("Data parallel = "), words);
    }
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(session_->design().parallel.dp, 8);
    session_->undoStack()->undo();

    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(line, "70b");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(session_->design().model.layers, 80);

    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(line, "communication");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(window_->tabs()->currentIndex(), 3);

    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(line, "zzzz");
    QCOMPARE(window_->palette()->model()->rowCount(), 0);
    QTest::keyClick(line, Qt::Key_Return);
    QTest::keyClick(line, Qt::Key_Escape);
    QVERIFY(!window_->palette()->isVisible());
  }

  void longFormulasShowTheirFirstTerms() {
    session_->applyPreset("deepseek-v3");
    session_->waitForReport();
    auto* more = window_->inspector()->findChild<QPushButton*>("all_terms");
    QVERIFY(more && more->text().startsWith("All "));
    const QString all = window_->selection()->inspection().isEmpty()
                            ? designSummary(*session_).values[0].formula
                            : window_->selection()->inspection().values[0].formula;
    const auto shows_all = [&] {
      for (const QLabel* label : window_->inspector()->findChildren<QLabel*>())
        if (label->text().remove(QChar(0x200B)) == all) return true;
      return false;
    };
    QVERIFY(!shows_all());
    QVERIFY(window_->inspector()->copyText().contains(all));  // the copied text is complete
    QTest::mouseClick(more, Qt::LeftButton);
    QTRY_VERIFY(shows_all());
  }

  void inspectorCopiesEverything() {
    Inspection inspection;
    inspection.title = "Attention";
    inspection.values.push_back({"FLOPs", "4·b·S²", "4·1·8,192²", "268 M"});
    inspection.rows.push_back({"q", "[b, S, H/tp, E]"});
    inspection.why_title = "Why?";
    inspection.why = "Because.";
    window_->selection()->inspect(inspection);
    QCOMPARE(window_->inspector()->shown().title, QString("Attention"));
    window_->centralWidget()->setFocus();
    press(Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), inspectionText(inspection));
    window_->selection()->inspect({});
    QCOMPARE(inspectionText(window_->inspector()->shown()), inspectionText(designSummary(*session_)));
  }

  void saveAndOpen() {
    const QString path = folder_.filePath("mine.json");
    session_->setKnob("seq", "2048");
    QVERIFY(window_->document()->savePath(path));
    QVERIFY(!window_->isWindowModified());
    QCOMPARE(window_->document()->title(), QString("mine"));
    session_->setKnob("seq", "1024");
    QVERIFY(window_->isWindowModified());
    session_->undoStack()->setClean();
    QVERIFY(window_->document()->openPath(path));
    QCOMPARE(session_->design().workload.seq, 2048);
    QVERIFY(!session_->undoStack()->canUndo());
  }

  void brokenFileLosesNothing() {
    const QString path = folder_.filePath("broken.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"version\": 1, \"model\": {\"lay");
    file.close();
    session_->setKnob("seq", "2048");
    const Design before = session_->design();
    QVERIFY(!window_->document()->openPath(path));
    QVERIFY(session_->design() == before);
    QVERIFY2(window_->messageBar()->text().contains("broken.json"),
             qPrintable(window_->messageBar()->text()));
    QVERIFY(!window_->document()->openPath(folder_.filePath("absent.json")));
    // JSON of another program: the message says in words which file is needed.
    QFile other(folder_.filePath("other.json"));
    QVERIFY(other.open(QIODevice::WriteOnly));
    other.write("{\"layers\": 3}");
    other.close();
    QVERIFY(!window_->document()->openPath(other.fileName()));
    const QString message = window_->messageBar()->text();
    QVERIFY2(message.contains("this is not a saved design") && message.contains("File > Save design") &&
                 !message.contains("\"shardscape\""),
             qPrintable(message));
    QVERIFY(session_->design() == before);
    QVERIFY(!window_->document()->savePath("/proc/no/such/place.json"));
    QVERIFY(window_->messageBar()->text().contains("not saved"));
  }

  void dropOpensADesign() {
    Design design = default_design();
    design.workload.batch = 128;
    const QString path = folder_.filePath("dropped.json");
    QVERIFY(!save_design(design, path.toStdString()));
    dropFile(path);
    QCOMPARE(session_->design().workload.batch, 128);
  }

  void closingAsksAboutChanges() {
    session_->setKnob("seq", "2048");
    const auto answer = [](QMessageBox::StandardButton button) {
      QTimer::singleShot(100, qApp, [button] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        QVERIFY(box);
        QTest::mouseClick(box->button(button), Qt::LeftButton);
      });
    };
    answer(QMessageBox::Cancel);
    QVERIFY(!window_->close());
    QVERIFY(window_->isVisible());
    answer(QMessageBox::Discard);
    QVERIFY(window_->close());
  }

  void panelsAndThemes() {
    press(Qt::Key_F7);
    QVERIFY(!window_->inspector()->isVisible());
    press(Qt::Key_F7, Qt::ShiftModifier);
    QVERIFY(!window_->form()->isVisible());
    press(Qt::Key_L, Qt::ControlModifier);
    QVERIFY(window_->form()->isVisible());
    window_->actions().reset_layout->trigger();
    QVERIFY(window_->inspector()->isVisible());
    window_->actions().dark->trigger();
    QCOMPARE(Theme::instance().mode(), Theme::Mode::Dark);
    QVERIFY(window_->actions().dark->isChecked());
    window_->actions().system->trigger();  // the palette of this platform is light
    QCOMPARE(Theme::instance().mode(), Theme::Mode::Light);
    QVERIFY(window_->actions().system->isChecked() && !window_->actions().dark->isChecked());
    QCOMPARE(settings::themeChoice(), ThemeChoice::System);
    window_->actions().light->trigger();
  }

  void aboutNamesInference() {
    showAbout(window_.get());
    QDialog* about = nullptr;
    for (auto* dialog : window_->findChildren<QDialog*>())
      if (dialog->windowTitle().startsWith("About")) about = dialog;
    QVERIFY(about);
    QVERIFY(labelSays(about, "training and inference of large language models"));
    about->close();
  }

  void problemsModelFollowsTheModelRules() {
    ProblemsModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setProblems(
        {{ProblemCode::HeadsIndivisibleByTp, "tp", "wrong", "right", {{"set tp to 4", {{"tp", "4"}}}}},
         Problem::note(ProblemCode::LayersUneven, "models/blocks/x.json:3", "odd")});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.index(0, ProblemsModel::Where).data().toString(), QString("Tensor parallel (tp)"));
    QCOMPARE(model.index(0, ProblemsModel::FixColumn).data().toString(), QString("Set tp to 4"));
    QCOMPARE(model.index(1, ProblemsModel::Where).data().toString(), QString("models/blocks/x.json:3"));
    QCOMPARE(model.index(0, ProblemsModel::What).data(Qt::ToolTipRole).toString(),
             QString("tp: wrong; accepted: right [heads-indivisible-by-tp]"));
    model.setProblems({});
    QCOMPARE(model.rowCount(), 0);
  }

  void everyViewSavesAsAPicture() {
    for (int view = 0; view < 4; ++view) {
      window_->showView(view);
      const Picture picture = viewPicture(window_->tabs()->currentWidget(), "My design", viewNames()[view]);
      const auto bytes = encoded(picture, SaveFormat::Png);
      QVERIFY(std::holds_alternative<QByteArray>(bytes));
      QVERIFY(std::get<QByteArray>(bytes).size() > 1000);
    }
  }

  void rendersEveryView() {
    const auto files = renderViews(*window_, folder_.filePath("pictures"));
    QVERIFY(std::holds_alternative<QStringList>(files));
    QCOMPARE(std::get<QStringList>(files).size(), 28);
    const QImage image(std::get<QStringList>(files).front());
    QCOMPARE(image.size(), QSize(1280, 800));
  }
};

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
