// Result files of searches: as documents, as parts of a search, as tables; files that cannot be right are
// refused.
#include <QtTest>
#include <set>

#include "explore/search.h"
#include "explore/study.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ResultFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void results_open_as_documents();
  void spaces_open_as_documents();
  void foreign_parts();
  void bad_results_data();
  void bad_results();
  void csv();
};

void ResultFileTest::results_open_as_documents() {
  const auto space = made(small_space("8"));
  const SearchResult result = found(space);
  const auto read = study_from_json(result_json(result), "all.json");
  const Study* study = std::get_if<Study>(&read);
  QVERIFY(study && study->of_search && study->search && !study->lost);
  QVERIFY(study->design == space->design_at(result.best.front().index));
  QCOMPARE(study->search->best.size(), result.best.size());
  const auto broken = study_from_json("{\"shardscape_result\": 99}", "all.json");
  QVERIFY(std::get_if<Problem>(&broken));
}

void ResultFileTest::spaces_open_as_documents() {
  SpaceSpec spec = made(small_space("8"))->spec();
  spec.gpus.clear();
  spec.nodes = "1,2";
  const auto read = study_from_json(to_json(spec), "space.json");
  const Study* study = std::get_if<Study>(&read);
  QVERIFY(study && study->of_search && study->search && !study->lost);
  QVERIFY(study->search->space->spec() == made(spec)->spec());
  QVERIFY(study->design == study->search->space->design_at(0));
  QVERIFY(!study->search->complete() && study->search->counts.enumerated == 0 && study->search->best.empty());
  QCOMPARE(study->search->space->spec().ranks(), std::string("8,16"));
  const auto broken = study_from_json(
      "{\"shardscape_space\": 1, \"design\": {\"shardscape\": 1}, \"dimensions\": {\"tp\": \"no\"}}",
      "space.json");
  QVERIFY(std::get_if<Problem>(&broken));
}

void ResultFileTest::foreign_parts() {
  SearchOptions first, second;
  first.shards = second.shards = 2;
  second.shard = 1;
  const auto space = constrained_space();
  const SearchResult a = found(space, first), b = found(space, second);
  const auto refused = [](const std::vector<SearchResult>& parts, ProblemCode code) {
    const auto merged = merge_results(parts);
    const auto* problem = std::get_if<Problem>(&merged);
    return problem && problem->code == code;
  };
  QVERIFY(std::holds_alternative<SearchResult>(merge_results({a, b})));
  QVERIFY(refused({}, ProblemCode::ShardsMissing));
  QVERIFY(refused({a, b, a}, ProblemCode::ShardRepeated));
  QVERIFY(refused({a, found(made(small_space("8")), second)}, ProblemCode::ResultOfOtherSearch));
  second.result.top = 3;
  QVERIFY(refused({a, found(space, second)}, ProblemCode::ResultOfOtherSearch));
  SearchOptions guided;
  guided.shards = 2;
  guided.guided = Guided{};
  QVERIFY(std::get<Problem>(search(space, guided)).code == ProblemCode::GuidedSearchSharded);
  SearchOptions third;
  third.shards = 3;
  third.shard = 1;
  QVERIFY(refused({a, found(space, third)}, ProblemCode::ResultOfOtherSearch));
}

void ResultFileTest::bad_results_data() {
  QTest::addColumn<QByteArray>("from");
  QTest::addColumn<QByteArray>("to");
  QTest::addColumn<ProblemCode>("code");
  QTest::newRow("no result") << QByteArray("\"shardscape_result\": 1") << QByteArray("\"shardscape\": 1")
                             << ProblemCode::WrongKindOfFile;
  QTest::newRow("newer") << QByteArray("\"shardscape_result\": 1") << QByteArray("\"shardscape_result\": 2")
                         << ProblemCode::UnknownFormat;
  QTest::newRow("objective") << QByteArray("\"objective\": \"tokens_per_gpu\"")
                             << QByteArray("\"objective\": \"speed\"") << ProblemCode::UnknownObjective;
  QTest::newRow("count") << QByteArray("\"enumerated\": ") << QByteArray("\"enumerated\": 0.5,\"x\":")
                         << ProblemCode::JsonMember;
  QTest::newRow("index") << QByteArray("\"index\": ") << QByteArray("\"index\": 99999")
                         << ProblemCode::DataValue;
  QTest::newRow("text for a number") << QByteArray("\"mfu\": ") << QByteArray("\"mfu\": \"x\",\"y\":")
                                     << ProblemCode::JsonMember;
  QTest::newRow("dimension") << QByteArray("\"microbatch\": \"1,2\"") << QByteArray("\"microbatch\": \"1,y\"")
                             << ProblemCode::NotANumber;
  QTest::newRow("negative chunks") << QByteArray("\"done\": ") << QByteArray("\"done\": -")
                                   << ProblemCode::DataValue;
  QTest::newRow("too many chunks") << QByteArray("\"done\": ") << QByteArray("\"done\": 9")
                                   << ProblemCode::DataValue;
  QTest::newRow("huge chunks") << QByteArray("\"done\": ")
                               << QByteArray("\"done\": \"999999999999999999999\",\"x\":")
                               << ProblemCode::DataValue;
  QTest::newRow("chunks whose sum overflows")
      << QByteArray("\"chunks\": ")
      << QByteArray("\"chunks\": \"13292279957849158729038070602803445760\",\"x\":")
      << ProblemCode::DataValue;
  QTest::newRow("shard") << QByteArray("\"shard\": 0") << QByteArray("\"shard\": 3")
                         << ProblemCode::DataValue;
  QTest::newRow("negative shard") << QByteArray("\"shard\": 0") << QByteArray("\"shard\": -3")
                                  << ProblemCode::DataValue;
  QTest::newRow("no shards") << QByteArray("\"shards\": 1") << QByteArray("\"shards\": 0")
                             << ProblemCode::DataValue;
  QTest::newRow("negative count") << QByteArray("\"too_large\": 0") << QByteArray("\"too_large\": -7")
                                  << ProblemCode::DataValue;
  QTest::newRow("one design more") << QByteArray("\"too_large\": 0") << QByteArray("\"too_large\": 1")
                                   << ProblemCode::DataValue;
  QTest::newRow("stored designs") << QByteArray("\"top\": 10") << QByteArray("\"top\": -10")
                                  << ProblemCode::DataValue;
  QTest::newRow("cut off") << QByteArray("\"space\": {") << QByteArray("") << ProblemCode::JsonSyntax;
}

void ResultFileTest::bad_results() {
  QFETCH(QByteArray, from);
  QFETCH(QByteArray, to);
  QFETCH(ProblemCode, code);
  SpaceSpec spec = small_space("2");
  QByteArray text = QByteArray::fromStdString(result_json(found(made(spec))));
  const qsizetype at = text.indexOf(from);
  QVERIFY(at >= 0);
  text.replace(at, from.size(), to);
  const auto read = result_from_json(text.toStdString(), "result.json");
  QVERIFY(std::holds_alternative<Problem>(read));
  QVERIFY2(std::get<Problem>(read).code == code, to_string(std::get<Problem>(read)).c_str());
  QVERIFY(QString::fromStdString(std::get<Problem>(read).where).startsWith("result.json"));
}

void ResultFileTest::csv() {
  SearchOptions options;
  options.result.sample = 16;
  options.result.top = 7;
  const SearchResult result = found(constrained_space(), options);
  const QStringList lines = QString::fromStdString(result_csv(result)).split('\n', Qt::SkipEmptyParts);
  const QStringList columns = lines.front().split(',');
  for (const char* column :
       {"index", "lists", "tp", "pp", "recompute", "step_seconds", "tokens_per_gpu", "memory", "cost"})
    QVERIFY2(columns.contains(column), column);
  std::set<QString> indices;
  for (const QString& line : lines.mid(1)) {
    QCOMPARE(line.split(',').size(), columns.size());
    indices.insert(line.split(',').front());
  }
  QCOMPARE(qsizetype(indices.size()), lines.size() - 1);
  QCOMPARE(lines[1].split(',').front(), QString::number(static_cast<qlonglong>(result.best.front().index)));
}

QTEST_GUILESS_MAIN(ResultFileTest)
#include "result_file_test.moc"
