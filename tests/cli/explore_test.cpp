// shardscape-cli explore, merge, sensitivity, scaling, compare.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>

#include "cli/cli_run.h"
#include "design/document.h"
#include "explore/result.h"
#include "explore/study.h"
#include "support/longest_run.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ExploreTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void report();
  void usual_dimensions_by_default();
  void flags_and_file_are_the_same_space();
  void single_values_are_no_dimensions();
  void count();
  void text();
  void shards_and_merge();
  void files();
  void guided();
  void interrupted();
  void nothing_fits();
  void bad_input_data();
  void bad_input();
  void bad_merge();
  void sensitivity();
  void scaling();
  void scaling_on_several_clusters();
  void layout();
  void layout_that_does_not_fit();
  void layout_has_a_sequence_for_each_gpu();
  void compare();
  void compare_says_what_is_wrong();
};

namespace {

// Small enough to be quick: GPT-2 small with few layers.
const QString kSmall =
    "--model gpt2 --layers 4 --hidden 256 --heads 4 --kv-heads 4 --ffn 1024 --vocab 1000 --seq 128 --batch "
    "16 ";
const QString kSpace = kSmall + "--gpus 8 --tp 1,2 --pp all --recompute none,full --microbatch 1..2*2 ";

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

void ExploreTest::report() {
  const CliRun run = run_line("explore --json " + kSpace);
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.err, QString());
  const QJsonObject json = run.json();
  // tp 1, 2 times pp 1, 2, 4, with dp from the ranks; two values of each other knob.
  QCOMPARE(json["enumerated"].toInt(), 6 * 2 * 2);
  QCOMPARE(json["size"].toInt(), 24);
  for (const char* key : {"valid", "timed", "fits", "seconds", "threads"})
    QVERIFY2(json[key].toDouble() > 0, key);
  QVERIFY(json["rates"]["enumerated_per_second"].toDouble() > 0 &&
          json["rates"]["timed_per_second"].toDouble() > 0);
  QCOMPARE(json["timed"].toInt() + json["repeated"].toInt() + json["too_large"].toInt(),
           json["valid"].toInt());
  const QJsonArray best = json["best"].toArray();
  QCOMPARE(best.size(), 10);
  for (const QJsonValue& point : best) {
    QVERIFY(point["step_seconds"].toDouble() > 0 && point["memory"].toDouble() > 0 &&
            point["objectives"]["tokens_per_gpu"].toDouble() > 0);
    QCOMPARE(point["knobs"]["tp"].toInt() * point["knobs"]["pp"].toInt() * point["knobs"]["dp"].toInt(), 8);
    // Bands around the figures. A point is a tie if fewer than 90 % of measured pairs agree with the order.
    const QJsonArray band = point["bands"]["step_seconds"].toArray();
    QVERIFY(band.size() == 2 && band[0].toDouble() < band[1].toDouble());
    QCOMPARE(point["bands"]["memory"].toArray().size(), 2);
    if (point["index"] != best[0]["index"]) {
      const double sure = point["best_is_better"].toDouble();
      QVERIFY(sure >= 0.5 && sure < 1);
      QVERIFY(point["tie_with_best"].toBool() ? sure < 0.95 : sure >= 0.9);
    }
  }
  QVERIFY(!json["front"].toArray().isEmpty());
  // The best design gives the same numbers in report.
  const QJsonObject knobs = best[0].toObject()["knobs"].toObject();
  QString line = "report --json " + kSmall;
  for (const QString& id : knobs.keys())
    line += "--" + QString(id).replace('_', '-') + " " + knobs[id].toVariant().toString() + " ";
  const QJsonObject full = run_line(line).json();
  QVERIFY(qAbs(full["time"]["step_seconds"].toDouble() / best[0].toObject()["step_seconds"].toDouble() - 1) <
          0.01);
}

void ExploreTest::usual_dimensions_by_default() {
  const CliRun run = run_line(
      "explore --count --json --model llama3-8b --gpus 64 --accelerator h100 --batch 256 --microbatch 1");
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.json()["size"].toDouble() > 1000);
  QVERIFY(run.json()["valid"].toDouble() > 10 &&
          run.json()["valid"].toDouble() < run.json()["size"].toDouble());
}

void ExploreTest::flags_and_file_are_the_same_space() {
  QTemporaryDir folder;
  SpaceSpec spec = small_space("8");
  spec.dimensions = {{"tp", "1,2"}, {"pp", "all"}, {"recompute", "none,full"}, {"microbatch", "1,2"}};
  QFile file(folder.filePath("space.json"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(to_json(spec).c_str());
  file.close();
  const QJsonObject a = run_line("explore --json " + kSpace).json(),
                    b = run_line("explore --json --space " + file.fileName()).json();
  for (const char* key : {"enumerated", "valid", "timed", "size"}) QCOMPARE(a[key], b[key]);
  QCOMPARE(a["best"][0]["step_seconds"], b["best"][0]["step_seconds"]);
  // Flags take the place of what the file says.
  QCOMPARE(
      run_line("explore --json --tp 1 --gpus 4,8 --space " + file.fileName()).json()["enumerated"].toInt(),
      (3 + 3) * 2 * 2);
  const QJsonObject some = run_line("explore --json --where tp==1 --space " + file.fileName()).json();
  QCOMPARE(some["excluded"]["tp==1"].toInt(), 12);
}

void ExploreTest::single_values_are_no_dimensions() {
  const QJsonObject json = run_line("explore --json " + kSmall +
                                    "--gpus 8 --pp 2 --tp 1,2,4 --sequence-parallel --recompute full")
                               .json();
  QCOMPARE(json["enumerated"].toInt(), 3);
  for (const QJsonValue& point : json["best"].toArray())
    QVERIFY(!point["knobs"].toObject().contains("recompute"));
  QCOMPARE(json["space"]["design"]["workload"]["recompute"].toString(), QString("full"));
  QCOMPARE(json["space"]["design"]["parallelism"]["sequence_parallel"].toBool(), true);
  QCOMPARE(run_line("explore --json " + kSmall + "--gpus 8 --tp 1,2 --sequence-parallel all")
               .json()["enumerated"]
               .toInt(),
           4);
}

void ExploreTest::count() {
  const CliRun run = run_line("explore --count " + kSpace);
  QCOMPARE(run.exit_code, 0);
  QVERIFY2(run.out.startsWith("24, of which "), qPrintable(run.out));
}

void ExploreTest::text() {
  const CliRun run = run_line("explore --top 3 " + kSpace);
  QCOMPARE(run.exit_code, 0);
  for (const char* word :
       {"24 designs", "valid", "best by", "tokens/s/GPU", "Pareto front", "tp", "timed per second"})
    QVERIFY2(run.out.contains(word), word);
  QVERIFY(run.out.contains("\n   1 ") || run.out.contains("\n 1 "));
}

void ExploreTest::shards_and_merge() {
  QTemporaryDir folder;
  const auto path = [&](const char* name) { return folder.filePath(name); };
  QCOMPARE(run_line("explore --sample 5 -o " + path("all.json") + " " + kSpace).exit_code, 0);
  for (const char* i : {"0", "1", "2"})
    QCOMPARE(run_line(QString("explore --sample 5 --shard %1/3 --threads 1 -o %2 ").arg(QString(i), path(i)) +
                      kSpace)
                 .exit_code,
             0);
  const CliRun merged = run_cli(
      {"merge", path("2"), path("0"), path("1"), "-o", path("merged.json"), "--json"});
  QCOMPARE(merged.exit_code, 0);
  QCOMPARE(merged.err, QString());
  QVERIFY(!content(path("all.json")).isEmpty());
  QCOMPARE(content(path("merged.json")), content(path("all.json")));
  QCOMPARE(merged.out.toUtf8(), content(path("all.json")));
  const CliRun missing = run_cli({"merge", path("0"), path("1"), "--json"});
  QCOMPARE(missing.exit_code, 0);
  QVERIFY(missing.err.contains("not visited") && !missing.json()["complete"].toBool());
}

void ExploreTest::files() {
  QTemporaryDir folder;
  const QString csv = folder.filePath("a.csv"), out = folder.filePath("a.json");
  QCOMPARE(run_line("explore --csv " + csv + " -o " + out + " " + kSpace).exit_code, 0);
  const QByteArray table = content(csv);
  QVERIFY(table.startsWith("index,lists,tp,pp,dp,"));
  const QList<QByteArray> heads = table.left(table.indexOf('\n')).split(','),
                          cells = table.split('\n').at(1).split(',');
  const auto cell = [&](const char* head) { return cells.at(heads.indexOf(head)).toDouble(); };
  QVERIFY(cell("step_seconds_low") < cell("step_seconds_high") && cell("memory_low") < cell("memory_high"));
  // A complete result goes on to itself.
  QCOMPARE(run_line("explore --resume " + out + " -o " + folder.filePath("b.json") + " " + kSpace).exit_code,
           0);
  QCOMPARE(content(folder.filePath("b.json")), content(out));
  const CliRun other = run_line("explore --resume " + out + " --top 3 " + kSpace);
  QCOMPARE(other.exit_code, 2);
  QVERIFY2(other.err.startsWith("error: " + out + ": the result belongs to another search: the objective"),
           qPrintable(other.err));
  QCOMPARE(run_line("explore -o /nowhere/at/all.json " + kSpace).exit_code, 3);
}

void ExploreTest::guided() {
  const QJsonObject whole = run_line("explore --json " + kSpace).json(),
                    guided = run_line("explore --json --guided --budget 12 --seed 3 " + kSpace).json();
  QCOMPARE(guided["best"][0]["step_seconds"], whole["best"][0]["step_seconds"]);
  QCOMPARE(guided["guided"]["budget"].toInt(), 12);
}

// Ctrl+C prints the known results and exits with 130.
void ExploreTest::interrupted() {
  QTemporaryDir folder;
  const QString checkpoint = folder.filePath("part.json");
  QProcess process;
  const QString
      line = "explore --json " + kSmall +
             "--gpus 64 --tp all --pp all --recompute all --vocab-multiple 1..1000 --nic-bandwidth 100..1000 "
             "--checkpoint 1 -o " +
             checkpoint;
  process.start(SHARDSCAPE_CLI, line.split(' ', Qt::SkipEmptyParts));
  QVERIFY(process.waitForStarted(kLongestRun));
  QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(checkpoint), kLongestRun);  // the search runs
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  QVERIFY(process.waitForFinished(kLongestRun));
  QCOMPARE(process.exitCode(), 130);
  const QJsonObject json = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
  QVERIFY(json["size"].toDouble() > 1e7 && !json["complete"].toBool());
  QVERIFY(json["enumerated"].toDouble() < json["size"].toDouble());
}

void ExploreTest::nothing_fits() {
  const CliRun run = run_line("explore --model gpt3-175b --gpus 8 --tp 1,2 --batch 64");
  QCOMPARE(run.exit_code, 1);
  QVERIFY(run.out.contains("no design fits") && run.out.contains("memory"));
}

void ExploreTest::bad_input_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<int>("exit_code");
  QTest::addColumn<QString>("words");
  QTest::newRow("value") << "explore --gpus 8 --tp 1,x" << 2 << "tp: \"x\"";
  QTest::newRow("range") << "explore --gpus 8 --tp 8..1" << 2 << "is descending";
  QTest::newRow("ranks") << "explore --gpus 7 --tp 2,4" << 2 << "give a product of 7";
  QTest::newRow("ranks twice") << "explore --gpus 8 --nodes 1 --tp 2,4" << 2 << "given twice";
  QTest::newRow("constraint") << "explore --gpus 8 --tp 2,4 --where tq<=2" << 2 << "\"tq\"";
  QTest::newRow("objective") << "explore --gpus 8 --objective speed" << 2 << "\"speed\"";
  QTest::newRow("front") << "explore --gpus 8 --pareto mfu" << 2 << "two objectives separated by a comma";
  QTest::newRow("shard") << "explore --gpus 8 --shard 9/4" << 2 << "9/4";
  QTest::newRow("margin") << "explore --gpus 8 --tp 1,2 --margin 2" << 2 << "--margin";
  QTest::newRow("price") << "explore --gpus 8 --tp 1,2 --price much" << 2 << "--price";
  QTest::newRow("no price") << "explore --gpus 8 --tp 1,2 --accelerator tpu-v5p --objective cost" << 2
                            << "price";
  QTest::newRow("no price of any")
      << "explore --gpus 8 --tp 1,2 --accelerator tpu-v5p,tpu-v4 --objective cost" << 2 << "--price";
  QTest::newRow("top") << "explore --gpus 8 --top none" << 2 << "--top";
  QTest::newRow("model") << "explore --gpus 8 --model gpt2,gpt9" << 2 << "gpt9";
  QTest::newRow("no file") << "explore --space nowhere.json" << 3 << "nowhere.json";
  QTest::newRow("bad file") << "explore --space " SHARDSCAPE_TEST_DATA "/models.json" << 1 << "models.json:";
  QTest::newRow("nothing to merge") << "merge" << 2 << "parts";
  QTest::newRow("no part") << "merge nowhere.json" << 3 << "nowhere.json";
  QTest::newRow("one design") << "compare" << 2 << "two designs";
  QTest::newRow("no design") << "compare a.json b.json" << 3 << "a.json";
  QTest::newRow("invalid") << "sensitivity --model llama3-8b --tp 3" << 1 << "tp = 3";
  QTest::newRow("layout") << "layout --model llama3-8b --gpus none" << 2 << "--gpus";
  QTest::newRow("layout of impossible degrees")
      << "layout --model llama3-8b --gpus 16 --tp 2 --pp 1 --dp 4" << 1 << "give a product of 16";
  QTest::newRow("invalid too") << "scaling --model llama3-8b --tp 3" << 1 << "tp = 3";
}

void ExploreTest::bad_input() {
  QFETCH(QString, line);
  QFETCH(int, exit_code);
  QFETCH(QString, words);
  const CliRun run = run_line(line);
  QVERIFY2(run.exit_code == exit_code, qPrintable(run.err));
  QVERIFY2(run.err.contains(words), qPrintable(run.err));
  QCOMPARE(run.out, QString());
}

void ExploreTest::bad_merge() {
  QTemporaryDir folder;
  const QString a = folder.filePath("a.json"), b = folder.filePath("b.json");
  QCOMPARE(run_line("explore --shard 0/2 -o " + a + " " + kSpace).exit_code, 0);
  QCOMPARE(run_line("explore --shard 1/2 --top 3 -o " + b + " " + kSpace).exit_code, 0);
  QVERIFY(run_cli({"merge", a, a}).err.contains("twice"));
  const CliRun run = run_cli({"merge", a, b});
  QCOMPARE(run.exit_code, 2);
  QVERIFY(run.err.contains("different objectives"));
}

void ExploreTest::sensitivity() {
  const QString design = kSmall + "--tp 2 --pp 2 --dp 2";
  const CliRun run = run_line("sensitivity --json " + design);
  QCOMPARE(run.exit_code, 0);
  const QJsonObject json = run.json();
  QVERIFY(json["now"]["step_seconds"].toDouble() > 0);
  const QJsonArray knobs = json["knobs"].toArray();
  QVERIFY(knobs.size() > 8);
  for (const QJsonValue& knob : knobs) QVERIFY(!knob["neighbours"].toArray().isEmpty());
  const QString text = run_line("sensitivity " + design).out;
  for (const char* word : {"now: ", "recompute", "tokens/s", " %"}) QVERIFY2(text.contains(word), word);
}

void ExploreTest::scaling() {
  const QString design = kSmall + "--tp 2 --dp 4";
  const QJsonArray weak = run_line("scaling --weak --json " + design).json()["points"].toArray();
  QCOMPARE(weak.size(), 15);  // 8 to 131,072
  for (const QJsonValue& p : weak)
    QVERIFY(p["efficiency"].toDouble() > 0 && p["step_seconds"].toDouble() > 0);
  const QJsonArray strong = run_line("scaling --json " + design).json()["points"].toArray();
  QVERIFY(strong.last()["wrong"].isString());
  QVERIFY(run_line("scaling " + design).out.contains("efficiency"));
  // The fastest layout of a size is at least as fast as the design on that size.
  const QJsonArray best = run_line("scaling --best --json " + design).json()["points"].toArray();
  QCOMPARE(best.size(), strong.size());
  int better = 0;
  for (const QJsonValue& p : best) {
    if (!p["step_seconds"].isDouble() || !p["fits"].toBool()) continue;
    QVERIFY(p["best"]["tokens_per_second"].toDouble() >= p["tokens_per_second"].toDouble() * 0.9999);
    ++better;
  }
  QVERIFY(better > 0);
}

// Several clusters as lines of one command. Each equals the command with that cluster.
void ExploreTest::scaling_on_several_clusters() {
  const QString design = kSmall + "--tp 2 --dp 4 --accelerator h100-sxm-80gb ";
  const QString first = run_line("scaling --json " + design).out;
  const CliRun run = run_line("scaling --json --compare scaleup_domain=8,64 " + design);
  QVERIFY2(run.exit_code == 0, qPrintable(run.err));
  const QJsonArray lines = run.json()["lines"].toArray();
  QCOMPARE(lines.size(), 2);
  QCOMPARE(lines[1]["knob"].toString(), QString("scaleup_domain"));
  QCOMPARE(lines[1]["value"].toString(), QString("64"));
  const CliRun wide = run_line("scaling --json --scaleup-domain 64 " + design);
  QVERIFY2(wide.exit_code == 0, qPrintable(wide.err));
  QCOMPARE(lines[1]["points"].toArray(), wide.json()["points"].toArray());
  QVERIFY(lines[0]["points"].toArray() != lines[1]["points"].toArray());
  QVERIFY(run_line("scaling --compare accelerator=h100-sxm-80gb,a100-sxm-80gb " + design)
              .out.contains("Accelerator: NVIDIA A100"));
  for (const auto& [flag, word] : {std::pair{"--compare tp=1,2", "scaleup_domain"},
                                   {"--compare network=none", "none"},
                                   {"--compare network", "SETTING=VALUE"}}) {
    const CliRun bad = run_line(QString("scaling %1 ").arg(flag) + design);
    QVERIFY2(bad.exit_code == 2 && bad.err.contains(word), qPrintable(bad.err));
  }
}

void ExploreTest::layout() {
  const QString design = "layout --model llama3-8b --gpus 8 --batch 64 ";
  const CliRun run = run_line(design + "--json");
  QCOMPARE(run.exit_code, 0);
  const QJsonArray designs = run.json()["designs"].toArray();
  QCOMPARE(designs.size(), 3);
  for (const QJsonValue& found : designs) {
    QVERIFY(found["fits"].toBool() && found["step_seconds"].toDouble() > 0);
    const QJsonArray band = found["bands"]["step_seconds"].toArray();
    const double step = found["step_seconds"].toDouble();
    QVERIFY(band.size() == 2 && band[0].toDouble() < step && step < band[1].toDouble());
    QCOMPARE(found["bands"]["memory"].toArray().size(), 2);
    // The flags make the same design.
    const CliRun again = run_line("report --json --model llama3-8b --batch 64 " + found["flags"].toString());
    QVERIFY2(again.exit_code == 0, qPrintable(again.err));
  }
  QCOMPARE(run_line(design + "--json --threads 1").out, run.out);
  const QString text = run_line(design).out;
  for (const char* word :
       {"Fastest", "Least memory", "Simplest", "$/Mtok", "--dp", "80 % band", "The fastest design found"})
    QVERIFY2(text.contains(word), word);
  const QJsonArray fixed = run_line(design + "--tp 4 --json").json()["designs"].toArray();
  for (const QJsonValue& found : fixed) QVERIFY(!found["settings"].toObject().contains("tp"));
}

void ExploreTest::layout_that_does_not_fit() {
  const CliRun run = run_line("layout --model gpt3-175b --gpus 8 --batch 64");
  QCOMPARE(run.exit_code, 1);
  for (const char* word : {"No design fits on 8 GPUs", "The fewest GPUs that fit: "})
    QVERIFY2(run.out.contains(word), qPrintable(run.out));
  const CliRun help = run_line("layout --model llama3-8b --dp 8 --batch 64");
  for (const char* word : {"does not fit: a GPU needs", "what would help", "fits", "full recompute"})
    QVERIFY2(help.out.contains(word), qPrintable(help.out));
}

void ExploreTest::layout_has_a_sequence_for_each_gpu() {
  const QString text = run_line("layout --model llama3-8b --gpus 64").out;
  QVERIFY2(text.contains(" on 64 ") && text.contains(", 64 sequences"), qPrintable(text));
}

void ExploreTest::compare() {
  QTemporaryDir folder;
  Design a = small_gpt(), b = a;
  a.name = "ours";
  b.name = "theirs";
  b.parallel.dp = 4;
  const QString first = folder.filePath("a.json"), second = folder.filePath("b.json");
  QVERIFY(!save_design(a, first.toStdString()) && !save_design(b, second.toStdString()));
  const CliRun text = run_cli({"compare", first, second});
  QCOMPARE(text.exit_code, 0);
  for (const char* word :
       {"ours", "theirs", "Data parallel", "difference", "percent", "Step time", "Memory of the worst rank"})
    QVERIFY2(text.out.contains(word), word);
  const QJsonObject json = run_cli({"compare", first, second, "--json"}).json();
  QCOMPARE(json["knobs"]["dp"][1].toString(), QString("4"));
  // Any number of them, each with its difference to the first.
  Design c = a;
  c.name = "third";
  c.workload.batch = 2 * a.workload.batch;
  const QString third = folder.filePath("c.json");
  QVERIFY(!save_design(c, third.toStdString()));
  const CliRun three = run_cli({"compare", first, second, third});
  QCOMPARE(three.out.count("percent"), 2);
  for (const char* word : {"ours", "theirs", "third", "Global batch"})
    QVERIFY2(three.out.contains(word), word);
  // Designs with equal names are named by their files, equal file names by their folders, and one file given
  // twice by a number.
  a.name = b.name = c.name = "untitled";
  QVERIFY(QDir(folder.path()).mkdir("other"));
  const QString d = folder.filePath("d.shardscape.json"), e = folder.filePath("e.json"),
                twin = folder.filePath("other/e.json");
  QVERIFY(!save_design(a, d.toStdString()) && !save_design(b, e.toStdString()) &&
          !save_design(c, twin.toStdString()));
  QCOMPARE(run_cli({"compare", d, e, "--json"}).json()["designs"].toArray(), (QJsonArray{"d", "e"}));
  QCOMPARE(run_cli({"compare", d, e, twin, "--json"}).json()["designs"].toArray(),
           (QJsonArray{"d", e, twin}));
  QCOMPARE(run_cli({"compare", e, e, "--json"}).json()["designs"].toArray(),
           (QJsonArray{e + " #1", e + " #2"}));
  a.name = "ours", b.name = "theirs", c.name = "third";
  // A document gives the same comparison: its pinned designs are the older ones, so the first is the
  // baseline.
  const QString study = folder.filePath("study.json");
  QVERIFY(!save_study({c, nullptr, {{"ours", a}, {"theirs", b}}, {}, false}, study.toStdString()));
  QCOMPARE(run_cli({"compare", study}).out, three.out);
  QCOMPARE(run_cli({"compare", first}).exit_code, 2);
  const QJsonArray rows = run_cli({"compare", first, second, third, "--json"}).json()["figures"].toArray();
  const auto tokens = std::find_if(rows.begin(), rows.end(), [](const QJsonValue& row) {
    return row["id"].toString() == "tokens_per_step";
  });
  QVERIFY(tokens != rows.end());
  const QJsonArray percents = tokens->toObject()["percents"].toArray();
  QCOMPARE(percents.size(), 3);
  QCOMPARE(percents[2].toDouble(), 100.0);
  QVERIFY(three.out.contains("80 % band") && rows[2]["bands"].toArray().size() == 3);
  QCOMPARE(tokens->toObject()["verdicts"].toArray(), (QJsonArray{QJsonValue(), QJsonValue(), QJsonValue()}));
  QVERIFY(std::all_of(rows.begin(), rows.end(), [](const QJsonValue& row) {
    const QJsonValue change = row["differences"][1], verdict = row["verdicts"][1];
    return row["group"].toString() == "Size" || change.toDouble() == 0 || change.isNull() == verdict.isNull();
  }));
  QVERIFY(three.out.contains(" % better") || three.out.contains(" % worse"));
  for (const QJsonValue& row : json["figures"].toArray()) {
    QCOMPARE(row["values"].toArray().size(), 2);
    QVERIFY(qAbs(row["values"][1].toDouble() - row["values"][0].toDouble() -
                 row["differences"][1].toDouble()) <= 1e-9 * qAbs(row["values"][0].toDouble()));
  }
}

void ExploreTest::compare_says_what_is_wrong() {
  QTemporaryDir folder;
  Design a = small_gpt(), b = a;
  b.parallel.tp = 3;
  const QString first = folder.filePath("a.json"), second = folder.filePath("b.json");
  QVERIFY(!save_design(a, first.toStdString()) && !save_design(b, second.toStdString()));
  const CliRun run = run_cli({"compare", first, second});
  QCOMPARE(run.exit_code, 1);
  QVERIFY(run.err.contains("b.json") && run.err.contains("tp = 3"));
}

QTEST_GUILESS_MAIN(ExploreTest)
#include "explore_test.moc"
