// The saved form of a space of designs.
#include <QtTest>
#include <random>

#include "explore/search.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class SpaceJsonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void json_round_trip();
  void json_values();
  void bad_json_data();
  void bad_json();
};

void SpaceJsonTest::json_round_trip() {
  std::mt19937 random(13);
  for (int round = 0; round < 50; ++round) {
    SpaceSpec spec = random_space(random);
    spec.name = "round " + std::to_string(round);
    spec.memory_margin = 0.01 * round;
    const auto read = space_from_json(to_json(spec), "space.json");
    QVERIFY2(std::holds_alternative<SpaceSpec>(read),
             std::holds_alternative<Problem>(read) ? to_string(std::get<Problem>(read)).c_str() : "");
    QVERIFY(std::get<SpaceSpec>(read) == spec);
    QVERIFY(made(std::get<SpaceSpec>(read))->size() == made(spec)->size());
  }
}

void SpaceJsonTest::json_values() {
  const auto read = space_from_json(R"({"shardscape_space": 1,
    "design": {"shardscape": 1, "model": {"preset": "gpt2"}}, "gpus": [8, 16],
    "dimensions": {"tp": [1, "2..8*2"], "sequence_parallel": [true, false], "schedule": ["1f1b", "gpipe"],
      "microbatch": 2, "stage_layers": ["", "3,3,3,3"]}})",
                                    "space.json");
  QVERIFY2(std::holds_alternative<SpaceSpec>(read),
           std::holds_alternative<Problem>(read) ? to_string(std::get<Problem>(read)).c_str() : "");
  const SpaceSpec& spec = std::get<SpaceSpec>(read);
  QCOMPARE(*spec.find("tp"), std::string("1,2..8*2"));
  QCOMPARE(*spec.find("stage_layers"), std::string("|3,3,3,3"));
  QCOMPARE(static_cast<int64_t>(made(spec)->size()), int64_t{8 * 2 * 2 * 2});  // tp 1, 2, 4, 8 of both
}

void SpaceJsonTest::bad_json_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("where");
  QTest::addColumn<ProblemCode>("code");
  const auto with = [](const char* rest) {
    return QByteArray(
               "{\n\"shardscape_space\": 1,\n\"design\": {\"shardscape\": 1, \"model\": {\"preset\": "
               "\"gpt2\"}},\n") +
           rest + "\n}";
  };
  QTest::newRow("no JSON") << QByteArray("{\n\"a\": ") << "space.json:2:5" << ProblemCode::JsonSyntax;
  QTest::newRow("no space") << QByteArray("{\n\"a\": 1}") << "space.json:2:1" << ProblemCode::JsonUnknownKey;
  QTest::newRow("no format") << QByteArray("{}") << "space.json:1" << ProblemCode::WrongKindOfFile;
  QTest::newRow("newer") << QByteArray("{\n\n\"shardscape_space\": 9}") << "space.json:3"
                         << ProblemCode::UnknownFormat;
  QTest::newRow("no design") << QByteArray("{\"shardscape_space\": 1}") << "space.json:1:1"
                             << ProblemCode::JsonMember;
  QTest::newRow("bad design") << QByteArray(
                                     "{\"shardscape_space\": 1,\n\"design\": {\"shardscape\": 1,\n "
                                     "\"model\": {\"preset\": \"gpt2\"},\n \"parallelism\": {\"tq\": 2}}}")
                              << "space.json:4" << ProblemCode::JsonUnknownKey;
  QTest::newRow("unknown key") << with("\"dimension\": {}") << "space.json:4:1"
                               << ProblemCode::JsonUnknownKey;
  QTest::newRow("unknown knob") << with("\"dimensions\": {\n\"tp\": 1,\n\"tq\": 2}") << "space.json:6"
                                << ProblemCode::UnknownKnob;
  QTest::newRow("bad value") << with("\"dimensions\": {\n\"tp\": \"1,x\"}") << "space.json:5"
                             << ProblemCode::NotANumber;
  QTest::newRow("bad type") << with("\"dimensions\": {\n\"tp\": [1, {}]}") << "space.json:5"
                            << ProblemCode::DataValue;
  QTest::newRow("no values") << with("\"dimensions\": {\n\"tp\": []}") << "space.json:5"
                             << ProblemCode::DataValue;
  QTest::newRow("bad range") << with("\"dimensions\": {\n\"recompute\": \"all\",\n\"pp\": \"8..1\"}")
                             << "space.json:6" << ProblemCode::RangeInvalid;
  QTest::newRow("constraint") << with("\"constraints\": [\"tp<=8\",\n\"tp<=<8\"]") << "space.json:5"
                              << ProblemCode::ConstraintSyntax;
  QTest::newRow("no text") << with("\"constraints\": [1]") << "space.json:4" << ProblemCode::DataValue;
  QTest::newRow("ranks") << with("\"gpus\": \"7\", \"dimensions\": {\"tp\": \"2,4\"}") << "space.json:4"
                         << ProblemCode::NoLayoutForRanks;
  QTest::newRow("margin") << with("\"memory_margin\": 1.5") << "space.json:4"
                          << ProblemCode::MemoryMarginInvalid;
}

void SpaceJsonTest::bad_json() {
  QFETCH(QByteArray, text);
  QFETCH(QString, where);
  QFETCH(ProblemCode, code);
  const auto read = space_from_json(text.toStdString(), "space.json");
  QVERIFY(std::holds_alternative<Problem>(read));
  const Problem& problem = std::get<Problem>(read);
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(problem.code == code, to_string(problem).c_str());
  QVERIFY(!problem.accepted.empty());
}

QTEST_GUILESS_MAIN(SpaceJsonTest)
#include "space_json_test.moc"
