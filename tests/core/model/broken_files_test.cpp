// Files of models, machines and engines with a value of a wrong type: the file is left out with a message
// that names it. No value of any type makes a reader fail.
#include <QDirIterator>
#include <QFile>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "accuracy/error_samples.h"
#include "model/library.h"
#include "performance/calibration.h"
#include "serving/engine/engine_profile.h"

using namespace shardscape;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kName = "mine.json";

// Paths of the values of a file. Of a list or an object with many entries of one kind: the first and the
// last.
void collect(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& out) {
  out.push_back(at);
  constexpr size_t kAll = 6;
  size_t index = 0;
  for (const auto& [key, entry] : value.items()) {
    const bool wanted = value.size() <= kAll || index == 0 || index + 1 == value.size();
    if (wanted && value.is_structured()) collect(entry, value.is_array() ? at / index : at / key, out);
    ++index;
  }
}

const std::vector<Json>& wrong_values() {
  static const std::vector<Json> values{nullptr,
                                        true,
                                        -1,
                                        1.5,
                                        uint64_t{1} << 63,
                                        "x",
                                        Json::array(),
                                        Json::object(),
                                        Json::array({Json::array(), 7}),
                                        {{"x", Json::object()}}};
  return values;
}

std::vector<Problem> read(const std::string& kind, const std::string& text) {
  if (kind == "calibration") {
    auto out = read_calibration(text, kName);
    return std::holds_alternative<Problem>(out) ? std::vector{std::get<Problem>(out)}
                                                : std::vector<Problem>();
  }
  if (kind == "accuracy") {
    auto out = read_measured_errors(text, kName);
    return std::holds_alternative<Problem>(out) ? std::vector{std::get<Problem>(out)}
                                                : std::vector<Problem>();
  }
  if (kind == "engines") {
    std::vector<Problem> problems;
    read_engine_entries(text, kName, problems);
    return problems;
  }
  return ModelLibrary::load({}, {{kind, kName, text}}).problems();
}

}  // namespace

class BrokenFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void wrong_types_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("path");
    for (const auto& [kind, folder] :
         {std::pair("blocks", "/models/blocks"), std::pair("architectures", "/models/architectures"),
          std::pair("towers", "/models/towers"), std::pair("profiles", "/models/profiles"),
          std::pair("presets", "/models/presets"), std::pair("engines", "/resources/engines"),
          std::pair("accuracy", "/resources/accuracy"), std::pair("calibration", "/resources/calibration")}) {
      QDirIterator files(SHARDSCAPE_SOURCE_DIR + QString(folder), {"*.json"}, QDir::Files);
      QVERIFY2(files.hasNext(), folder);
      while (files.hasNext()) {
        const QString path = files.next();
        QTest::addRow("%s/%s", kind, qPrintable(files.fileName())) << kind << path;
      }
    }
  }
  void wrong_types() {
    QFETCH(QString, kind);
    QFETCH(QString, path);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    Json whole = Json::parse(file.readAll().toStdString());
    if (kind == "accuracy")  // thousands of lines of the same kind
      for (const char* key : {"samples", "pairs"})
        while (whole[key].size() > 2) whole[key].erase(whole[key].size() - 1);
    std::vector<Json::json_pointer> places;
    collect(whole, Json::json_pointer(), places);
    size_t refused = 0;
    for (const Json::json_pointer& place : places)
      for (const Json& value : wrong_values()) {
        Json changed = whole;
        changed[place] = value;
        const std::string what = place.to_string() + " = " + value.dump();
        try {
          for (const Problem& problem : read(kind.toStdString(), changed.dump(1))) {
            const std::string text = to_string(problem);
            QVERIFY2(problem.where.starts_with(kName), (what + ": " + text).c_str());
            QVERIFY2(problem.code != ProblemCode::JsonValueUnreadable, (what + ": " + text).c_str());
            ++refused;
          }
        } catch (const std::exception& error) {
          QFAIL((what + ": " + error.what()).c_str());
        }
      }
    QVERIFY(refused > places.size());
  }
};

QTEST_APPLESS_MAIN(BrokenFilesTest)
#include "broken_files_test.moc"
