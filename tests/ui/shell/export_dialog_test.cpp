#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "base/units.h"
#include "bundle/checker.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/session/session.h"
#include "ui/shell/bundle_steps.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/export_target.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

class ExportDialogTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ExportJob> job_;
  std::unique_ptr<ExportDialog> dialog_;

  template <class Widget>
  Widget* part(const char* name) {
    return dialog_->findChild<Widget*>(name);
  }
  QString message() {
    for (const char* name : {"dialog_error", "dialog_message"}) {
      if (auto* label = dialog_->findChild<QLabel*>(name); label && label->isVisible()) return label->text();
    }
    return {};
  }
  QString target(const char* name) { return folder_->filePath(name); }
  QStringList leftovers() {
    return QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
  }
  void click(const char* button) { QTest::mouseClick(part<QPushButton>(button), Qt::LeftButton); }
  // Replaces the folder by typing.
  void enter(const QString& path) {
    auto* line = part<QLineEdit>("export_folder");
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, path);
  }

 private Q_SLOTS:
  void init() {
    Theme::instance().setMode(Theme::Mode::Light);
    folder_ = std::make_unique<QTemporaryDir>();
    session_ = std::make_unique<Session>();
    session_->waitForReport();
    job_ = std::make_unique<ExportJob>();
    dialog_ = std::make_unique<ExportDialog>(session_.get(), job_.get(), nullptr);
    dialog_->show();
    QVERIFY(QTest::qWaitForWindowExposed(dialog_.get()));
  }
  void cleanup() {
    dialog_.reset();
    job_.reset();
    session_.reset();
  }

  void writesABundleThatChecks() {
    enter(target("bundle"));
    QVERIFY(part<QLabel>("export_size")->text().contains("8 traces"));
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QVERIFY2(message().startsWith("Wrote 8 traces"), qPrintable(message()));
    QVERIFY(part<QPushButton>("export_open")->isVisible());
    QVERIFY(QFile::exists(target("bundle") + "/trace.0.et"));
    QVERIFY(check_bundle(target("bundle").toStdString()).ok());
    QCOMPARE(leftovers(), QStringList{"bundle"});
  }

  // Opened again, the dialog begins at the folder, wherever the keyboard was before.
  void reopenedItBeginsAtTheFolder() {
    for (const char* last : {"export_close", "export_name"}) {
      part<QWidget>(last)->setFocus();
      QCOMPARE(dialog_->focusWidget(), part<QWidget>(last));
      dialog_->close();
      dialog_->show();
      QVERIFY(QTest::qWaitForWindowExposed(dialog_.get()));
      QCOMPARE(dialog_->focusWidget(), part<QWidget>("export_folder"));
    }
  }

  // The steps after an export: check, simulate, ASTRA-sim, the folder.
  void nextStepsAfterAnExport() {
    session_->waitForEstimate();
    enter(target("bundle of mine"));
    part<QCheckBox>("export_durations")->setChecked(true);
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    QVERIFY(!part<QPushButton>("bundle_check")->isVisible());
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    auto* result = part<QLabel>("bundle_result");
    QCOMPARE(QApplication::focusWidget(), part<QPushButton>("bundle_check"));
    const QString expected = QString::fromStdString(
        format_seconds(session_->estimate()->simulation->step_seconds));
    QCOMPARE(part<QPushButton>("bundle_simulate")->text(), "Simulate (expected: " + expected + ")");
    click("bundle_check");
    QTRY_VERIFY_WITH_TIMEOUT(result->text().startsWith("Checked: every rank finishes"), test::kLongestRun);
    click("bundle_simulate");
    QTRY_VERIFY_WITH_TIMEOUT(result->text().startsWith("Simulated step: "), test::kLongestRun);
    QVERIFY2(result->text().contains("% "), qPrintable(result->text()));
    click("bundle_command");
    const QString command = QApplication::clipboard()->text();
    QVERIFY2(command.startsWith("AstraSim_Analytical_Congestion_Unaware"), qPrintable(command));
    QVERIFY(command.contains("--workload-configuration='" + target("bundle of mine") + "/trace'"));
    for (const char* file : {"comm_groups.json", "system.json", "network.yml", "memory.json"}) {
      QVERIFY(command.contains("bundle of mine/" + QString(file) + "'"));
      QVERIFY(QFile::exists(target("bundle of mine") + u'/' + file));
    }
    enter(target("other"));
    QVERIFY(!part<QPushButton>("bundle_check")->isVisible());
  }

  // The dialog says what it makes, and shows the next steps without scrolling, also after a long path.
  void nothingScrollsAfterAnExport() {
    QVERIFY(dialog_->windowTitle().contains("Chakra"));
    QVERIFY(part<QLabel>("export_what")->text().contains("MLCommons Chakra"));
    QVERIFY(part<QLabel>("export_what")->text().contains("ASTRA-sim"));
    session_->waitForEstimate();
    auto* scroll = dialog_->findChild<QScrollArea*>();
    const auto whole = [&] {
      return !scroll->verticalScrollBar()->isVisible() && !scroll->horizontalScrollBar()->isVisible();
    };
    QTRY_VERIFY(whole());
    enter(target(qPrintable(QString("bundle_").repeated(13))));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QTRY_VERIFY(part<QPushButton>("bundle_check")->isVisible() && whole());
    const QRect room = dialog_->screen()->availableGeometry();
    QVERIFY(room.contains(dialog_->geometry()));
    for (const char* button : {"bundle_check", "bundle_simulate", "bundle_command", "export_open"}) {
      const auto* shown = part<QPushButton>(button);
      QVERIFY(QRect(QPoint(), dialog_->size())
                  .contains(QRect(shown->mapTo(dialog_.get(), QPoint()), shown->size())));
    }
    click("bundle_check");
    QTRY_VERIFY_WITH_TIMEOUT(part<QLabel>("bundle_result")->text().startsWith("Checked: "),
                             test::kLongestRun);
    QTRY_VERIFY(whole());
  }

  void aBrokenBundleFailsItsCheck() {
    enter(target("bundle"));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QVERIFY(QFile::remove(target("bundle") + "/trace.3.et"));
    click("bundle_check");
    QTRY_VERIFY_WITH_TIMEOUT(part<QLabel>("bundle_result")->text().startsWith("The check failed"),
                             test::kLongestRun);
  }

  void folderThatCannotBeOpened() {
    enter(target("bundle"));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QUrl asked;
    bool opens = true;
    dialog_->steps()->setOpener([&](const QUrl& url) {
      asked = url;
      return opens;
    });
    click("export_open");
    QCOMPARE(asked.toLocalFile(), target("bundle"));
    QVERIFY(part<QPushButton>("export_open")->isVisible());
    opens = false;
    click("export_open");
    QVERIFY(part<QLabel>("bundle_result")->text().contains(target("bundle")));
    click("bundle_copy_path");
    QCOMPARE(QApplication::clipboard()->text(), target("bundle"));
  }

  void aDesignThatDoesNotFitIsExportedWithANote() {
    QVERIFY(!part<QLabel>("export_fits")->isVisible());
    session_->setKnob("microbatch", "4");
    session_->setKnob("seq", "16384");
    session_->waitForReport();
    auto* note = part<QLabel>("export_fits");
    QVERIFY(note->isVisible());
    QVERIFY2(note->text().startsWith("This design does not fit: stage 0 needs"), qPrintable(note->text()));
    enter(target("bundle"));
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
  }

  // A thread computes the size, once for all folders and names.
  void estimateFollowsTheOptions() {
    const auto size = [this] { return part<QLabel>("export_size")->text(); };
    QTRY_VERIFY(size().startsWith("8 traces, about "));
    const QString before = size();
    enter(target("bundle"));
    QTest::keyClicks(part<QLineEdit>("export_name"), "s");
    QCOMPARE(size().section(';', 0, 0), before.section(';', 0, 0));
    part<QCheckBox>("export_tensors")->setFocus();
    QTest::keyClick(part<QCheckBox>("export_tensors"), Qt::Key_Space);
    QVERIFY2(size().startsWith("8 traces, the size is being computed"), qPrintable(size()));
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
    QTRY_VERIFY(size().startsWith("8 traces, about "));
    QVERIFY(size().section(';', 0, 0) != before.section(';', 0, 0));
  }

  // Coarser nodes, a part of the ranks, several steps: as --granularity, --ranks and --steps.
  void aPartWithCoarserNodes() {
    enter(target("bundle"));
    auto* granularity = part<QComboBox>("export_granularity");
    granularity->setFocus();
    while (granularity->currentText() != "a layer" && granularity->currentIndex() + 1 < granularity->count())
      QTest::keyClick(granularity, Qt::Key_Down);
    QCOMPARE(granularity->currentText(), QString("a layer"));
    QTest::keyClicks(part<QLineEdit>("export_ranks"), "0-1,99");
    QVERIFY2(message().contains("Ranks"), qPrintable(message()));
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    for (int i = 0; i < 3; ++i) QTest::keyClick(part<QLineEdit>("export_ranks"), Qt::Key_Backspace);
    QVERIFY2(part<QLabel>("export_size")->text().startsWith("a part"),
             qPrintable(part<QLabel>("export_size")->text()));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QVERIFY(QFile::exists(target("bundle") + "/trace.1.et"));
    QVERIFY(!QFile::exists(target("bundle") + "/trace.2.et"));
    QFile manifest(target("bundle") + "/manifest.json");
    QVERIFY(manifest.open(QIODevice::ReadOnly));
    QVERIFY(manifest.readAll().contains("layer"));
    QVERIFY(check_bundle(target("bundle").toStdString()).ok());
  }

  void aCompactBundleSaysHowItExpands() {
    enter(target("bundle"));
    part<QCheckBox>("export_compact")->setFocus();
    QTest::keyClick(part<QCheckBox>("export_compact"), Qt::Key_Space);
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QVERIFY2(message().contains("shardscape-cli expand"), qPrintable(message()));
    QVERIFY(QFile::exists(target("bundle") + "/compact.json"));
  }

  // The check boxes are --networks.
  void networksOfPacketBackendsAreWritten_data() {
    QTest::addColumn<QString>("box");
    QTest::addColumn<QString>("file");
    QTest::newRow("ns-3") << "export_network_ns3"
                          << "ns3-config.txt";
    QTest::newRow("htsim") << "export_network_htsim"
                           << "htsim.topo";
  }
  void networksOfPacketBackendsAreWritten() {
    QFETCH(QString, box);
    QFETCH(QString, file);
    enter(target("bundle"));
    part<QCheckBox>(box.toUtf8().constData())->setFocus();
    QTest::keyClick(part<QCheckBox>(box.toUtf8().constData()), Qt::Key_Space);
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    for (const char* known : {"ns3-config.txt", "htsim.topo"})
      QCOMPARE(QFile::exists(target("bundle") + "/" + known), file == known);
  }

  // The check box is --flat-network.
  void aFlatNetworkHasOneDimension() {
    session_->setKnob("dp", "12");
    session_->setKnob("batch", "96");
    session_->waitForReport();
    auto* flat = part<QCheckBox>("export_flat_network");
    QCOMPARE(flat->toolTip(), QString(kFlatNetworkHelp));
    const auto network = [&](const char* folder) {
      enter(target(folder));
      QSignalSpy finished(job_.get(), &ExportJob::finished);
      click("export_start");
      if (!finished.count() && !finished.wait(test::kLongestRun)) return QString();
      QFile file(target(folder) + "/network.yml");
      return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    };
    flat->setChecked(false);
    const QString usual = network("usual");
    QVERIFY2(usual.contains("npus_count: [ ") && usual.count(',') > 0, qPrintable(usual));
    flat->setChecked(true);
    const QString one = network("flat");
    const QString ranks = QString::number(session_->report()->ranks);
    QVERIFY2(one.contains("npus_count: [ " + ranks + " ]"), qPrintable(one));
    flat->setChecked(false);
  }

  void estimateIsNearTheTruth() {
    ExportOptions options;
    options.target = target("bundle").toStdString();
    const int64_t estimate = estimate_bundle_bytes(*session_->report(), options);
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    job_->start(session_->report(), options);
    QVERIFY(finished.wait(test::kLongestRun));
    const auto outcome = finished.front().front().value<ExportJob::Outcome>();
    const auto bytes = std::get<ExportSummary>(outcome).bytes;
    QVERIFY(estimate > bytes / 2 && estimate < bytes * 2);
  }

  void cancelLeavesNothing() {
    session_->setKnob("dp", "256");
    session_->setKnob("batch", "4096");
    session_->waitForReport();
    enter(target("big"));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(job_->running());
    QVERIFY(dialog_->findChild<QProgressBar*>()->isVisible());
    click("export_cancel");
    QVERIFY(finished.count() || finished.wait(5000));
    QVERIFY2(message().contains("cancelled"), qPrintable(message()));
    QCOMPARE(leftovers(), QStringList{});
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
  }

  void invalidTargets() {
    QDir(folder_->path()).mkdir("full");
    QFile file(target("full") + "/letter.txt");
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("hello");
    file.close();
    enter(target("full"));
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    QVERIFY(message().contains("not empty"));
    enter(target("full") + "/letter.txt");
    QVERIFY(message().contains("is a file"));
    enter(target("full") + "/letter.txt/below");
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    part<QLineEdit>("export_folder")->clear();
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    enter(target("fresh"));
    QVERIFY(message().isEmpty());
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
    part<QLineEdit>("export_name")->setText("");
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
  }

  void replacingNeedsConsent() {
    enter(target("bundle"));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    enter(target("other"));
    enter(target("bundle"));
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    auto* replace = part<QCheckBox>("export_replace");
    QVERIFY(replace->isEnabled());
    replace->setFocus();
    QTest::keyClick(replace, Qt::Key_Space);
    QVERIFY(part<QPushButton>("export_start")->isEnabled());
    click("export_start");
    QVERIFY(finished.wait(test::kLongestRun));
    QVERIFY2(message().startsWith("Wrote"), qPrintable(message()));
    QCOMPARE(leftovers(), QStringList{"bundle"});
  }

  void wrongDesignCannotBeExported() {
    enter(target("bundle"));
    session_->setKnob("tp", "5");
    session_->waitForReport();
    QVERIFY(!part<QPushButton>("export_start")->isEnabled());
    QVERIFY(message().contains("Fix the design first"));
    QVERIFY2(message().contains("Tensor parallel (tp)"), qPrintable(message()));
    QVERIFY2(!part<QLabel>("export_size")->text().contains("traces"),
             qPrintable(part<QLabel>("export_size")->text()));
    session_->undoStack()->undo();
    QVERIFY(!part<QLabel>("export_size")
                 ->text()
                 .contains("traces"));  // and no old number while the new size is computed
    session_->waitForReport();
    QVERIFY(part<QLabel>("export_size")->text().contains("8 traces"));
  }

  void theFolderFollowsTheDesignUntilItIsChosen() {
    auto* line = part<QLineEdit>("export_folder");
    QVERIFY2(line->text().endsWith("/" + slug(QString::fromStdString(session_->design().name))),
             qPrintable(line->text()));
    session_->applyPreset("llama3-70b");
    const QString suggested = "/" + slug(QString::fromStdString(session_->design().name));
    QVERIFY(suggested.contains("70b"));
    QVERIFY2(line->text().endsWith(suggested), qPrintable(line->text()));
    enter(target("mine"));
    session_->applyPreset("llama3-8b");
    QCOMPARE(line->text(), target("mine"));
  }

  // A click on Cancel just after the export has ended must not hit another button.
  void closeIsNeverWhereCancelWas() {
    enter(target("bundle"));
    auto *cancel = part<QPushButton>("export_cancel"), *close = part<QPushButton>("export_close");
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QTest::qWait(1);
    const QRect was(cancel->mapTo(dialog_.get(), QPoint()), cancel->size());
    QVERIFY(finished.count() || finished.wait(test::kLongestRun));
    QVERIFY(!cancel->isVisible());
    QTest::qWait(100);  // the dialog grows
    for (const QPushButton* button :
         {close, part<QPushButton>("export_open"), part<QPushButton>("export_start")}) {
      const QRect now(button->mapTo(dialog_.get(), QPoint()), button->size());
      QVERIFY2(!now.intersects(was), qPrintable(button->text()));
    }
    QTest::mouseClick(close, Qt::LeftButton);
    QVERIFY(!dialog_->isVisible());
  }

  void closingKeepsAnExportRunning() {
    enter(target("bundle"));
    QSignalSpy finished(job_.get(), &ExportJob::finished);
    click("export_start");
    QTest::keyClick(dialog_.get(), Qt::Key_Escape);
    QVERIFY(!dialog_->isVisible());
    QVERIFY(finished.count() || finished.wait(test::kLongestRun));
    QVERIFY(QFile::exists(target("bundle") + "/manifest.json"));
  }

  void slugs() {
    QCOMPARE(slug("Llama 3 8B on 8 GPUs"), QString("llama-3-8b-on-8-gpus"));
    QCOMPARE(slug("../.."), QString("bundle"));
    QCOMPARE(slug(""), QString("bundle"));
    const QString one = slug("Моя модель"), other = slug("Другая модель");
    QVERIFY(one != other && one.startsWith("bundle-") && one == slug("Моя модель"));
  }
};

QTEST_MAIN(ExportDialogTest)
#include "export_dialog_test.moc"
