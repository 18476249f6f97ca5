// Own model files that another program changes while the window is open.
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "model/library.h"
#include "model/own_files.h"
#include "offscreen.h"
#include "ui/shell/message_bar.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class ModelFilesTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  QTemporaryDir home_;

  void write(const char* name, const QByteArray& text) {
    const QString folder = home_.filePath("shardscape/models/presets");
    QVERIFY(QDir().mkpath(folder));
    QFile file(folder + "/" + name);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }
  QByteArray preset(const char* name) const {
    return QByteArray::fromStdString(preset_text("mine", name, session_->design().model, 4096));
  }
  static QString nameOfMine() {
    const Preset* mine = ModelLibrary::instance().preset("mine");
    return mine ? QString::fromStdString(mine->name) : QString();
  }

 private Q_SLOTS:
  void init() {
    qputenv("XDG_DATA_HOME", home_.path().toUtf8());
    openWindow();
  }
  void cleanup() { closeWindow(); }

  // The folder of own models does not exist at the start.
  void changesAreReadAgain() {
    auto* box = window_->findChild<QComboBox*>("preset_box");
    write("mine.json", preset("First name"));
    QTRY_COMPARE(nameOfMine(), QString("First name"));
    QTRY_VERIFY(box->findText("First name") >= 0);
    write("mine.json", preset("A second name"));
    QTRY_COMPARE(nameOfMine(), QString("A second name"));
    QTRY_VERIFY(box->findText("A second name") >= 0 && box->findText("First name") < 0);
    QVERIFY(QFile::remove(home_.filePath("shardscape/models/presets/mine.json")));
    QTRY_VERIFY(nameOfMine().isEmpty());
  }

  // A file that changes after the library was read, and before the window watches it.
  void changesBeforeTheWindowAreRead() {
    ModelLibrary::replace(std::make_shared<const ModelLibrary>(ModelLibrary::load(ModelLibrary::folders())));
    const QByteArray early = preset("An early name");
    closeWindow();
    write("mine.json", early);
    QVERIFY(nameOfMine().isEmpty());
    openWindow();
    QTRY_COMPARE(nameOfMine(), QString("An early name"));
    QVERIFY(QFile::remove(home_.filePath("shardscape/models/presets/mine.json")));
    QTRY_VERIFY(nameOfMine().isEmpty());
  }

  void brokenFilesAreReported() {
    QVERIFY(window_->messageBar()->text().isEmpty());
    write("mine.json", "{\n \"preset\": 7\n}\n");
    QTRY_VERIFY2(window_->messageBar()->text().contains("A model file was left out") &&
                     window_->messageBar()->text().contains("mine.json:2"),
                 qPrintable(window_->messageBar()->text()));
    write("mine.json", preset("Mended"));
    QTRY_COMPARE(nameOfMine(), QString("Mended"));
    QTRY_VERIFY(window_->messageBar()->text().isEmpty());
  }

  // The program reads its own saves at once, and only once.
  void ownSavesAreReadOnce() {
    QSignalSpy read(session_.get(), &Session::libraryChanged);
    QVERIFY(std::holds_alternative<std::filesystem::path>(
        save_own("presets", "saved", preset("Saved").replace("mine", "saved").toStdString())));
    session_->reloadLibrary();
    QTest::qWait(1000);
    QCOMPARE(read.count(), 1);
  }
};

QTEST_MAIN(ModelFilesTest)
#include "model_files_test.moc"
