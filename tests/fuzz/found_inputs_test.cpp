// Inputs that once broke a reader: every file below tests/data/fuzz/READER is refused with a message. Inputs
// below accepted/ are valid.
#include <QDirIterator>
#include <QFile>
#include <QTest>

#include "fuzz/reader.h"

class FoundInputsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_folder_names_a_reader();
  void input_is_answered_data();
  void input_is_answered();
};

namespace {

const QString kFolder = SHARDSCAPE_TEST_DATA "/fuzz";

const shardscape::fuzz::Reader* reader_named(const std::string& name) {
  for (const auto& reader : shardscape::fuzz::readers())
    if (reader.name == name) return &reader;
  return nullptr;
}

}  // namespace

void FoundInputsTest::every_folder_names_a_reader() {
  const QStringList folders = QDir(kFolder).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  QVERIFY(!folders.isEmpty());
  for (const QString& folder : folders) QVERIFY2(reader_named(folder.toStdString()), qPrintable(folder));
}

void FoundInputsTest::input_is_answered_data() {
  QTest::addColumn<QString>("file");
  QStringList files;
  QDirIterator it(kFolder, QDir::Files, QDirIterator::Subdirectories);
  while (it.hasNext()) files << QDir(kFolder).relativeFilePath(it.next());
  files.sort();
  QVERIFY(!files.isEmpty());
  for (const QString& file : files) QTest::newRow(qPrintable(file)) << file;
}

void FoundInputsTest::input_is_answered() {
  QFETCH(QString, file);
  QFile input(kFolder + "/" + file);
  QVERIFY(input.open(QIODevice::ReadOnly));
  const QByteArray bytes = input.readAll();
  const auto* reader = reader_named(file.section('/', 0, 0).toStdString());
  QVERIFY(reader);
  const std::string refused = reader->read({bytes.constData(), static_cast<size_t>(bytes.size())});
  QCOMPARE(refused.empty(), file.section('/', 1, 1) == "accepted");
}

QTEST_GUILESS_MAIN(FoundInputsTest)
#include "found_inputs_test.moc"
