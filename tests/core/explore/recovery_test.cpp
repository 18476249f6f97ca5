// Unsaved studies: a written study reads back equal, and a damaged file is a located problem.
#include <QtTest>

#include "explore/recovery.h"

using namespace shardscape;

namespace {

Recovery example() {
  Recovery recovery;
  recovery.study.design = default_design();
  recovery.history.first = default_design();
  Design step = default_design();
  for (const int64_t tp : {1, 2, 4}) {
    step.parallel.tp = tp;
    recovery.history.steps.push_back({"set \"tp\" \u00fc", step});
  }
  recovery.history.done = 2;
  recovery.study.design = recovery.history.steps[1].after;
  SpaceSpec spec;
  spec.base = default_design();
  spec.dimensions = {{"tp", "1,2"}};
  const auto space = Space::make(spec);
  recovery.study.search = std::make_shared<const SearchResult>(
      ResultCollector(std::get<0>(space), {}).result());
  recovery.study.compared = {{"B", step}};
  recovery.study.pages = {{2, 0.05}, {0.25, 1.0 / 3}};
  recovery.study.pages.service.source.rate = 2.5;
  recovery.study.pages.service.limits.tpot = 0.04;
  recovery.document = "/home/x/my design.json";
  recovery.view = "Timeline";
  recovery.saved_at = 1'800'000'000;
  return recovery;
}

}  // namespace

class RecoveryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void round_trip() {
    const Recovery before = example();
    const std::string text = to_json(before);
    const auto read = recovery_from_json(text, "x.json");
    QVERIFY2(std::holds_alternative<Recovery>(read), text.c_str());
    const Recovery& after = std::get<Recovery>(read);
    QVERIFY(after.history == before.history);
    QVERIFY(after.study.design == before.study.design);
    QVERIFY(after.study.compared == before.study.compared);
    QVERIFY(after.study.pages == before.study.pages);
    QVERIFY(!after.study.lost);
    QVERIFY(after.study.search);
    QCOMPARE(result_json(*after.study.search), result_json(*before.study.search));
    QCOMPARE(after.document, before.document);
    QCOMPARE(after.view, before.view);
    QCOMPARE(after.saved_at, before.saved_at);
    QCOMPARE(to_json(after), text);
  }

  // A setting of a page that cannot be read is named, and the rest of the study is there.
  void unreadable_pages_data() {
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<bool>("lost");
    QTest::newRow("readable") << QByteArray() << QByteArray() << false;
    QTest::newRow("a text") << QByteArray("\"ttft_limit\": 2.0") << QByteArray("\"ttft_limit\": \"2 s\"")
                            << true;
    QTest::newRow("below 0") << QByteArray("\"tpot_limit\": 0.05") << QByteArray("\"tpot_limit\": -0.05")
                             << true;
    QTest::newRow("a rate of 0") << QByteArray("\"rate\": \"2.5\"") << QByteArray("\"rate\": \"0\"") << true;
    QTest::newRow("a number") << QByteArray("\"rate\": \"2.5\"") << QByteArray("\"rate\": 2.5") << true;
    QTest::newRow("an unknown setting")
        << QByteArray("\"rate\": \"2.5\"") << QByteArray("\"speed\": \"2.5\"") << true;
    QTest::newRow("a bookmark") << QByteArray("0.25,") << QByteArray("\"first\",") << true;
  }
  void unreadable_pages() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(bool, lost);
    Study study = example().study;
    study.search.reset();
    QByteArray text = QByteArray::fromStdString(to_json(study));
    QVERIFY2(text.contains(before), text.constData());
    if (lost) text.replace(before, after);
    const auto read = study_from_json(text.toStdString(), "x.json");
    QVERIFY(std::holds_alternative<Study>(read));
    const Study& got = std::get<Study>(read);
    QCOMPARE(got.lost.has_value(), lost);
    QVERIFY(got.design == study.design && got.compared == study.compared);
    QCOMPARE(got.pages == study.pages, !lost);
  }

  void truncated_anywhere() {
    const std::string text = to_json(example());
    for (size_t length = 0; length + 2 < text.size(); length += text.size() / 80) {
      const auto read = recovery_from_json(text.substr(0, length), "x.json");
      QVERIFY(std::holds_alternative<Problem>(read));
      QVERIFY(!std::get<Problem>(read).what.empty());
    }
  }

  void wrong_content_data() {
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::newRow("format") << QByteArray("\"shardscape_recovery\": 1")
                            << QByteArray("\"shardscape_recovery\": 9");
    QTest::newRow("steps") << QByteArray("\"done\": 2") << QByteArray("\"done\": 7");
    QTest::newRow("a design") << QByteArray("\"parallelism\"") << QByteArray("\"parallel\"");
  }
  void wrong_content() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QByteArray text = QByteArray::fromStdString(to_json(example()));
    QVERIFY(text.contains(before));
    text.replace(before, after);
    const auto read = recovery_from_json(text.toStdString(), "x.json");
    QVERIFY(std::holds_alternative<Problem>(read));
    QVERIFY(to_string(std::get<Problem>(read)).find("x.json") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(RecoveryTest)
#include "recovery_test.moc"
