// Every recording of real training code against this program: those that match, and those known not to, each
// with the mechanism that is missing. A listed one that starts to match has to leave the list.
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "validation/audit.h"

using namespace shardscape;

namespace {

const char* const kFolder = SHARDSCAPE_SOURCE_DIR "/tests/fidelity/";

Recording recording(const QString& name) {
  auto result = read_recording((kFolder + ("recordings/" + name + ".json")).toStdString());
  if (const auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<Recording>(std::move(result));
}

QStringList all_names() {
  QStringList names;
  for (const QString& file :
       QDir(kFolder + QString("recordings")).entryList({"*.json"}, QDir::Files, QDir::Name))
    names << file.chopped(5);
  return names;
}

QMap<QString, QString> not_matched() {
  QFile file(kFolder + QString("not_matched.json"));
  if (!file.open(QIODevice::ReadOnly)) qFatal("not_matched.json cannot be read");
  QMap<QString, QString> out;
  const QJsonObject list = QJsonDocument::fromJson(file.readAll()).object();
  for (auto it = list.begin(); it != list.end(); ++it) out.insert(it.key(), it.value().toString());
  return out;
}

// What is wrong, for the log: unmapped fields, problems and failing lines.
QString failures(const Audit& audit) {
  QStringList out;
  for (const UnmappedField& u : audit.mapping.unmapped)
    out << QString::fromStdString("not mapped: " + u.field + " = " + u.value + ": " + u.reason);
  for (const Problem& p : audit.problems) out << QString::fromStdString("invalid: " + to_string(p));
  for (const AuditLine& line : audit.lines) {
    if (line.verdict != AuditVerdict::Fail) continue;
    QString text = QString::fromStdString(line.section + ", " + line.what + ":");
    for (const AuditNumber& n : line.numbers)
      text += QString::fromStdString(" " + n.name + " recorded " + to_string(n.expected) + ", here " +
                                     to_string(n.got));
    if (line.numbers.empty())
      text += QString::fromStdString(" recorded " + line.expected + ", here " + line.got);
    out << text;
  }
  return out.join("\n  ");
}

const AuditLine* line_of(const Audit& audit, const char* section, const char* what) {
  for (const AuditLine& line : audit.lines)
    if (line.section == section && line.what == what) return &line;
  return nullptr;
}

}  // namespace

class RecordingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void all_recordings_are_here();
  void listed_ones_exist_and_say_what_is_missing();
  void recording_matches_data();
  void recording_matches();
  void a_changed_number_is_found_data();
  void a_changed_number_is_found();
  void an_unknown_field_is_told();
  void mistakes_in_a_file_are_located();
  void groups_of_one_and_bookkeeping_do_not_count();
};

void RecordingsTest::all_recordings_are_here() { QCOMPARE(all_names().size(), 148); }

void RecordingsTest::listed_ones_exist_and_say_what_is_missing() {
  const QStringList names = all_names();
  const auto list = not_matched();
  for (auto it = list.begin(); it != list.end(); ++it) {
    QVERIFY2(names.contains(it.key()), qPrintable(it.key()));
    QVERIFY2(it.value().size() > 10, qPrintable(it.key()));
  }
}

void RecordingsTest::recording_matches_data() {
  QTest::addColumn<QString>("missing");
  const auto list = not_matched();
  for (const QString& name : all_names()) QTest::newRow(qPrintable(name)) << list.value(name);
}

void RecordingsTest::recording_matches() {
  QFETCH(QString, missing);
  const QString name = QTest::currentDataTag();
  const Audit audit = audit_recording(recording(name));
  if (missing.isEmpty()) {
    QVERIFY2(audit.matches(), qPrintable("\n  " + failures(audit)));
  } else {
    QVERIFY2(!audit.matches(), "it matches now: take it off tests/fidelity/not_matched.json");
    qInfo("not matched: %s", qPrintable(missing));
  }
}

void RecordingsTest::a_changed_number_is_found_data() {
  QTest::addColumn<QByteArray>("section");
  QTest::addColumn<QByteArray>("what");
  QTest::newRow("parameters") << QByteArray("parameters") << QByteArray("of this rank");
  QTest::newRow("layer") << QByteArray("parameters") << QByteArray("last layer");
  QTest::newRow("forward") << QByteArray("FLOPs") << QByteArray("forward");
  QTest::newRow("backward of a layer") << QByteArray("FLOPs") << QByteArray("backward, last layer");
  QTest::newRow("missing collective")
      << QByteArray("collectives") << QByteArray("forward all_gather tp bfloat16");
  QTest::newRow("order") << QByteArray("order") << QByteArray("collectives of the step");
  QTest::newRow("kept bytes") << QByteArray("saved bytes") << QByteArray("last layer");
}

// One number of a recording that matches is changed: exactly the line about it fails.
void RecordingsTest::a_changed_number_is_found() {
  QFETCH(QByteArray, section);
  QFETCH(QByteArray, what);
  const QString row = QTest::currentDataTag();
  Recording changed = recording("M_llama3-8B_flash_tp2_sp1");
  if (row == "parameters") ++*changed.parameters;
  if (row == "layer") ++changed.part_parameters["layer1"];
  if (row == "forward") ++*changed.forward_flops;
  if (row == "backward of a layer") ++changed.part_backward_flops["layer1"];
  if (row == "missing collective")
    changed.collectives.erase(std::find_if(changed.collectives.begin(), changed.collectives.end(),
                                           [](const auto& c) { return c.type == "all_gather"; }));
  if (row == "order") std::swap(changed.collectives[1], changed.collectives[2]);
  if (row == "kept bytes") changed.part_saved["layer1"] += changed.part_saved["layer1"] / 50;
  const Audit audit = audit_recording(changed);
  const AuditLine* line = line_of(audit, section.constData(), what.constData());
  QVERIFY(line);
  QCOMPARE(static_cast<int>(line->verdict), static_cast<int>(AuditVerdict::Fail));
  QVERIFY(!audit.matches());
  QCOMPARE(audit.count(AuditVerdict::Fail),
           row == "missing collective" ? size_t(2) : size_t(1));  // its place in the order as well
}

void RecordingsTest::an_unknown_field_is_told() {
  Recording changed = recording("M_llama3-8B_flash_tp1");
  changed.fields.push_back({"config.quantum_entanglement", true});
  const Audit audit = audit_recording(changed);
  QCOMPARE(audit.mapping.unmapped.size(), size_t(1));
  QCOMPARE(audit.mapping.unmapped[0].field, std::string("config.quantum_entanglement"));
  QCOMPARE(audit.count(AuditVerdict::Fail), size_t(0));
  QVERIFY(!audit.matches());
}

void RecordingsTest::mistakes_in_a_file_are_located() {
  for (const char* text :
       {"", "[]", "{\n\"source\": 3}", "{\"source\": \"x\"}",
        "{\"source\": \"x\", \"config\": {}, \"collectives\": [\n{\"phase\": 1}]}",
        "{\"source\": \"x\", \"config\": {}, \"collectives\": {\"kinds\": [], \"order\": [0]}}",
        "{\"source\": \"x\", \"config\": {}, \"params_per_rank\": {\"tensors\": {\"a\": [\"b\"]}}}"}) {
    const auto result = recording_from_json(text, "broken.json");
    QVERIFY2(std::holds_alternative<Problem>(result), text);
    QVERIFY2(std::get<Problem>(result).where.starts_with("broken.json:"), text);
  }
  QVERIFY(std::holds_alternative<Problem>(read_recording("no/such/file.json")));
  // Readable, but of nothing that is known.
  const Audit audit = audit_recording(
      std::get<Recording>(recording_from_json("{\"source\": \"x\", \"config\": {}}", "empty.json")));
  QVERIFY(!audit.matches());
  QCOMPARE(audit.mapping.unmapped[0].field, std::string("source"));
}

void RecordingsTest::groups_of_one_and_bookkeeping_do_not_count() {
  Recording more = recording("M_llama3-8B_flash_tp2_sp1");
  more.collectives.push_back({"forward", "all_reduce", "dp_cp", 1, "float32", 1000, 4000});
  more.collectives.push_back({"forward", "all_gather", "tp", 2, "int64", 1000, 8000});
  more.collectives.push_back({"forward", "all_reduce", "tp", 2, "float32", 1, 4});
  more.collectives.push_back({"init", "all_reduce", "tp", 2, "float32", 1000, 4000});
  QVERIFY(audit_recording(more).matches());
}

QTEST_APPLESS_MAIN(RecordingsTest)
#include "recordings_test.moc"
