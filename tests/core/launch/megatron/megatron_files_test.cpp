// Real launch files: knobs that a person read from each file, in tests/data/launch. The files are not part of
// the repository: SHARDSCAPE_REFERENCE names a folder with launch/files; rows whose file is missing are
// skipped.
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

using namespace shardscape;
namespace fs = std::filesystem;

namespace {

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

fs::path reference() {
  return fs::path(qEnvironmentVariable("SHARDSCAPE_REFERENCE").toStdString()) / "launch" / "files";
}

}  // namespace

class MegatronFilesTest : public QObject {
  Q_OBJECT
 private slots:
  void files_say_what_a_reader_found_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QJsonObject>("row");
    for (const char* table :
         {"nemo1-yaml", "megatron-lm-model_config", "primus-yaml", "mlperf", "slime", "megatron-recipe"}) {
      QFile in(QString(SHARDSCAPE_TEST_DATA "/launch/%1.json").arg(table));
      QVERIFY2(in.open(QIODevice::ReadOnly), table);
      const QJsonArray rows = QJsonDocument::fromJson(in.readAll()).array();
      QVERIFY2(!rows.isEmpty(), table);
      for (const QJsonValue& row : rows) {
        const QString file = row.toObject()["file"].toString();
        QTest::newRow(qPrintable(file.section('/', 1).right(90) + " " + table)) << file << row.toObject();
      }
    }
  }
  void files_say_what_a_reader_found() {
    QFETCH(QString, file);
    QFETCH(QJsonObject, row);
    const fs::path path = reference() / file.toStdString();
    const auto text = text_of(path);
    if (!text) QSKIP("the file is not there (SHARDSCAPE_REFERENCE)");
    LaunchRequest request;
    request.text = *text;
    request.where = path.string();
    request.model = row["model"].toString().toStdString();
    if (row.contains("gpus")) request.gpus = row["gpus"].toInteger();
    request.shell.source = [&](const std::string& name) { return text_of(path.parent_path() / name); };
    const LaunchImport read = import_launch(request);
    if (row.contains("problem")) {
      QVERIFY(!read.ok());
      return;
    }
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QStringList wrong;
    const QJsonObject expected = row["knobs"].toObject();
    for (const QString& id : expected.keys()) {
      const Knob* knob = find_knob(id.toStdString());
      QVERIFY2(knob, qPrintable(id));
      const QString found = QString::fromStdString(knob_text(read.design, *knob));
      if (found != expected[id].toString()) wrong << id + " is " + found + ", not " + expected[id].toString();
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("; ")));
  }
};

QTEST_APPLESS_MAIN(MegatronFilesTest)
#include "megatron_files_test.moc"
