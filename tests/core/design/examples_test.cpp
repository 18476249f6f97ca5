// The examples that come with the program: each is a document that is valid, fits, and has a source.
#include <QTest>

#include "design/design_name.h"
#include "design/document.h"
#include "design/examples.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "memory/memory_timeline.h"
#include "report/memory_report.h"
#include "timing/simulation.h"

using namespace shardscape;

class ExamplesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyExampleFits_data() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<qint64>("gpus");
    QTest::addColumn<double>("least_mfu");
    QTest::newRow("405B") << "llama3.1-405b-16k" << qint64(16384) << 0.40;
    QTest::newRow("DeepSeek-V3, training") << "deepseek-v3-training" << qint64(1024) << 0.20;
    QTest::newRow("70B") << "llama3-70b-64" << qint64(64) << 0.45;
    QTest::newRow("DeepSeek-V3, serving") << "deepseek-v3-serving" << qint64(128) << 0.20;
  }
  void everyExampleFits() {
    QFETCH(QString, id);
    QFETCH(qint64, gpus);
    QFETCH(double, least_mfu);
    const auto example = find_example(id.toStdString());
    QVERIFY2(std::holds_alternative<Example>(example), qPrintable(id));
    const auto& [name, title, summary, source, path] = std::get<Example>(example);
    QVERIFY(!title.empty() && !summary.empty() && !source.empty());
    const auto loaded = load_design(path);
    const auto* problem = std::get_if<Problem>(&loaded);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
    const Design& design = std::get<Design>(loaded);
    QCOMPARE(qint64(design.world()), gpus);
    const auto report = estimate(design);
    QVERIFY(report->valid());
    QVERIFY2(report->problems.empty(),
             report->problems.empty() ? "" : to_string(report->problems.front()).c_str());
    QVERIFY(report->memory->fits);
    const auto segments = fragmentation(*report);
    QVERIFY(segments && !segments_warning(*report->memory, *segments));
    QVERIFY(simulate(*report)->mfu > least_mfu);
  }

  // The names of the examples state their machines, and follow another one.
  void namesStateTheMachine() {
    const auto all = examples();
    for (const Example& example : std::get<0>(all)) {
      Design design = std::get<Design>(load_design(example.path));
      const std::string name = design.name;
      correct_machine_name(design);
      QCOMPARE(design.name, name);
      design.cluster.accelerator = "b200-hgx-180gb";
      design.parallel = {};
      design.parallel.dp = 2048;
      correct_machine_name(design);
      QCOMPARE(design.name, name.substr(0, name.find(" on ")) + " on 2,048 B200");
    }
  }

  void otherNamesStay_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("after");  // on 8 H100
    for (const char* name :
         {"Llama 3 8B", "Ours on 64 H100", "Llama 3 8B on 64 boxes", "Llama 3 8B on fire",
          "Llama 3 8B on  H100", "Llama 3 8B on 64", "Llama 3 8B on 8 GPUs", " on 64 H100"})
      QTest::newRow(name) << name << name;
    QTest::newRow("GPUs") << "Llama 3 8B on 64 GPUs"
                          << "Llama 3 8B on 8 GPUs";
    QTest::newRow("one GPU") << "Llama 3 8B on 1 GPU"
                             << "Llama 3 8B on 8 GPUs";
    QTest::newRow("another accelerator") << "Llama 3 8B on 8 MI300X"
                                         << "Llama 3 8B on 8 H100";
  }
  void otherNamesStay() {
    QFETCH(QString, name);
    QFETCH(QString, after);
    Design design = default_design();  // Llama 3 8B on 8 H100
    design.name = name.toStdString();
    correct_machine_name(design);
    QCOMPARE(QString::fromStdString(design.name), after);
  }

  void everyExampleIsTested() {
    const auto list = examples();
    QVERIFY(std::holds_alternative<std::vector<Example>>(list));
    QCOMPARE(std::get<0>(list).size(), size_t{4});
  }

  void anUnknownNameSuggestsTheNearest() {
    const auto example = find_example("llama3-70b-46");
    QVERIFY(std::holds_alternative<Problem>(example));
    const std::string text = to_string(std::get<Problem>(example));
    QVERIFY2(text.find("did you mean llama3-70b-64?") != std::string::npos, text.c_str());
    QVERIFY(text.find("deepseek-v3-serving") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(ExamplesTest)
#include "examples_test.moc"
