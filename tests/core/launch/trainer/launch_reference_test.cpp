// Public launch files, read into designs. The expected settings were written down from the files. The files
// themselves are where SHARDSCAPE_REFERENCE points; rows without their file are skipped.
#include <QtTest>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

using namespace shardscape;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kTables[] = {"deepspeed-json", "megatron-deepspeed", "accelerate", "llama-factory",
                                   "axolotl"};

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

LaunchImport read_row(const Json& row, const fs::path& file) {
  LaunchRequest request;
  request.text = text_of(file).value_or("");
  request.where = file.filename().string();
  request.model = row.value("model", "");
  if (row["gpus"].is_number()) request.gpus = row["gpus"].get<int64_t>();
  request.shell.source = [folder = file.parent_path()](const std::string& name) {
    return text_of(folder / name);
  };
  return import_launch(request);
}

}  // namespace

class LaunchReferenceTest : public QObject {
  Q_OBJECT
 private slots:
  void files_data() {
    QTest::addColumn<QString>("table");
    QTest::addColumn<int>("index");
    for (const char* table : kTables) {
      const auto text = text_of(fs::path(SHARDSCAPE_TEST_DATA) / "launch" / (std::string(table) + ".json"));
      QVERIFY2(text, table);
      int index = 0;
      for (const Json& row : Json::parse(*text))
        QTest::newRow(row["file"].get<std::string>().c_str()) << QString(table) << index++;
    }
  }
  void files() {
    QFETCH(QString, table);
    QFETCH(int, index);
    const char* reference = std::getenv("SHARDSCAPE_REFERENCE");
    if (!reference) QSKIP("SHARDSCAPE_REFERENCE names no folder");
    const auto text = text_of(fs::path(SHARDSCAPE_TEST_DATA) / "launch" / (table.toStdString() + ".json"));
    const Json row = Json::parse(*text)[static_cast<size_t>(index)];
    const fs::path file = fs::path(reference) / "launch" / "files" / row["file"].get<std::string>();
    if (!fs::exists(file)) QSKIP("the file is not there");
    const LaunchImport read = read_row(row, file);
    QCOMPARE(QString::fromStdString(read.framework),
             QString::fromStdString(row["framework"].get<std::string>()));
    if (row.contains("problem")) {
      QVERIFY(!read.ok());
      QCOMPARE(QString::fromStdString(std::string(code_text(read.problems[0].code))),
               QString::fromStdString(row["problem"].get<std::string>()));
      return;
    }
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    if (row.contains("architecture"))
      QCOMPARE(QString::fromStdString(read.design.model.architecture),
               QString::fromStdString(row["architecture"].get<std::string>()));
    if (row.contains("preset"))
      QCOMPARE(QString::fromStdString(read.design.model.preset),
               QString::fromStdString(row["preset"].get<std::string>()));
    std::string wrong;
    for (const auto& [id, value] : row["knobs"].items()) {
      const Knob* const knob = find_knob(id);
      QVERIFY2(knob, id.c_str());
      if (const std::string is = knob_text(read.design, *knob); is != value.get<std::string>())
        wrong += id + ": " + is + ", expected " + value.get<std::string>() + "; ";
    }
    QVERIFY2(wrong.empty(), wrong.c_str());
  }
};

QTEST_APPLESS_MAIN(LaunchReferenceTest)
#include "launch_reference_test.moc"
