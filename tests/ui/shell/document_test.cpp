// Saving and opening lose nothing: files that changed meanwhile, parts that cannot be read, names without
// suffix.
#include <QFile>
#include <QFileDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>

#include "design/document.h"
#include "offscreen.h"
#include "ui/shell/document.h"
#include "ui/shell/importer.h"
#include "ui/shell/message_bar.h"
#include "ui/toolkit/save_file_dialog.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class DocumentTest : public WindowTest {
  Q_OBJECT
  QTemporaryDir folder_;

  QString path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)); }
  static QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  Document& document() const { return *window_->document(); }
  // Answers the next question; counts it.
  static void answer(QMessageBox::StandardButton which, int* asked) {
    auto* timer = new QTimer(qApp);
    connect(timer, &QTimer::timeout, timer, [timer, which, asked] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (!box) return;
      timer->stop();
      timer->deleteLater();
      ++*asked;
      box->button(which)->click();
    });
    timer->start(50);
  }

 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  // The text that "Save" has just written is opened, not that of before.
  void openingTheOpenFileAfterSavingKeepsTheEdits() {
    QVERIFY(document().savePath(path("a.json")));
    session_->setKnob("batch", "512");
    int asked = 0;
    answer(QMessageBox::Save, &asked);
    QVERIFY(document().openPath(path("a.json")));
    QCOMPARE(asked, 1);
    QCOMPARE(session_->design().workload.batch, 512);
    QVERIFY(!document().modified());
  }

  // The window goes on while a thread reads a file, which another document makes stale.
  void aFileIsReadOnAThread() {
    QVERIFY(document().savePath(path("default.json")));
    session_->setKnob("batch", "512");
    QVERIFY(document().savePath(path("512.json")));
    session_->setKnob("batch", "1024");
    session_->undoStack()->setClean();
    QSignalSpy replaced(session_.get(), &Session::documentReplaced);
    window_->openFile(path("512.json"));
    QVERIFY(window_->findChild<Importer*>()->opening());
    QCOMPARE(session_->design().workload.batch, 1024);
    document().newDesign();
    QVERIFY(!window_->findChild<Importer*>()->opening());
    window_->openFile(path("512.json"));
    window_->openFile(path("default.json"));  // the newest only
    waitForFile();
    QCOMPARE(document().path(), path("default.json"));
    QCOMPARE(replaced.size(), 2);
  }

  void editsWhileAFileIsReadAreKept() {
    QVERIFY(document().savePath(path("read.json")));
    int asked = 0;
    answer(QMessageBox::Cancel, &asked);
    window_->openFile(path("read.json"));
    session_->setKnob("batch", "512");
    waitForFile();
    QTRY_COMPARE(asked, 1);
    QCOMPARE(session_->design().workload.batch, 512);
    QVERIFY(document().modified());
  }

  void whatAnotherProgramWroteIsNotReplacedUnasked() {
    const QString file = path("b.json");
    QVERIFY(document().savePath(file));
    const QByteArray foreign = content(file) + "\n\n";
    write(file, foreign);
    session_->setKnob("batch", "512");
    int asked = 0;
    answer(QMessageBox::Cancel, &asked);
    QVERIFY(!document().save());
    QCOMPARE(asked, 1);
    QCOMPARE(content(file), foreign);
    QVERIFY(document().modified());
    answer(QMessageBox::Save, &asked);
    QVERIFY(document().save());
    QCOMPARE(asked, 2);
    QVERIFY(content(file) != foreign);
    session_->setKnob("batch", "256");
    QVERIFY(document().save());  // no question: this window wrote the file last
    QVERIFY(QFile::remove(file));
    session_->setKnob("batch", "512");
    QVERIFY(document().save() && QFile::exists(file));
    QCOMPARE(asked, 2);
  }

  void partsThatCannotBeReadStay_data() {
    QTest::addColumn<QByteArray>("member");
    QTest::newRow("compare") << QByteArray("\"compare\": 5");
    QTest::newRow("explore") << QByteArray("\"explore\": {}");
    QTest::newRow("bookmarks") << QByteArray("\"timeline\": {\"bookmarks\": [") +
                                      QByteArray("1,").repeated(1000) + QByteArray("1]}");
    QByteArray pins;
    for (int i = 0; i < 5; ++i) {
      Design design = default_design();
      design.workload.batch = 16 << i;
      pins += (i > 0 ? ", " : "") + QByteArray("{\"name\": \"pin\", \"design\": ") +
              QByteArray::fromStdString(to_json(design)) + "}";
    }
    QTest::newRow("five pinned designs") << "\"compare\": [" + pins + "]";
  }
  void partsThatCannotBeReadStay() {
    QFETCH(QByteArray, member);
    const QString file = path("c.json");
    QByteArray text = QByteArray::fromStdString(to_json(default_design()));
    text.replace(text.indexOf('{'), 1, "{" + member + ",");
    write(file, text);
    QVERIFY(document().openPath(file));
    QVERIFY2(window_->messageBar()->text().contains("not everything"),
             qPrintable(window_->messageBar()->text()));
    QVERIFY(document().path().isEmpty());  // "Save" asks for another file
  }

  // The question of the dialog is about the name with the suffix.
  void aSuffixDoesNotHideAFile() {
    const QString file = path("taken.json");
    write(file, "{}");
    int asked = 0;
    QTimer::singleShot(200, qApp, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      QVERIFY(dialog);
      dialog->findChild<QLineEdit*>("fileNameEdit")->setText("taken");
      answer(QMessageBox::No, &asked);
      QMetaObject::invokeMethod(dialog, "accept");
      QTimer::singleShot(0, dialog, &QDialog::reject);
    });
    const QString chosen = askWhereToSave(window_.get(), "Save design", path("new.json"), "Designs (*.json)",
                                          "json");
    QVERIFY2(chosen.isEmpty(), qPrintable(chosen));
    QCOMPARE(asked, 1);
  }
};

QTEST_MAIN(DocumentTest)
#include "document_test.moc"
