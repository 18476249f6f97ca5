// The commands presets, report, graph and help: output and exit code.
#include <QFile>
#include <QJsonArray>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include "base/version.h"
#include "cli/cli_run.h"
#include "design/document.h"
#include "design/knobs/knobs.h"
#include "report/report_json.h"
#include "support/designs.h"
#include "support/longest_run.h"

using namespace shardscape;
using namespace shardscape::test;

class CommandsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void help_data();
  void help();
  void help_lists_every_knob();
  void version();
  void nothing();
  void presets();
  void published_layout();
  void batch_in_tokens();
  void presets_json();
  void report_json_data();
  void report_json();
  void report_numbers();
  void report_text();
  void examples();
  void defaults_data();
  void defaults();
  void every_knob_is_a_flag();
  void design_file();
  void graph_text();
  void graph_windows();
  void graph_filters();
  void graph_json();
  void graph_dot();
  void graph_graphml();
  void tables_of_a_report();
  void own_preset();
  void timeline();
  void full_output();
};

namespace {

constexpr const char*
    kLine = "report --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1 --json";

double number(const QJsonValue& quantity) { return quantity["value"].toDouble(-1); }

}  // namespace

void CommandsTest::examples() {
  const CliRun list = run_line("examples --json");
  QCOMPARE(list.exit_code, 0);
  const QJsonArray all = list.json()["examples"].toArray();
  QVERIFY(all.size() >= 4);
  const CliRun words = run_line("examples");
  for (const QJsonValue& example : all) {
    const QString id = example["id"].toString();
    QVERIFY2(QFile::exists(example["file"].toString()), qPrintable(id));
    QVERIFY(words.out.contains(id) && words.out.contains("Source: "));
  }
  const CliRun one = run_line("report --json --example llama3-70b-64");
  QCOMPARE(one.exit_code, 0);
  QCOMPARE(one.json()["fits"].toBool(), true);
  const QJsonObject larger = run_line("report --json --example llama3-70b-64 --dp 4").json();
  QCOMPARE(larger["ranks"].toInt(), 128);
  QCOMPARE(larger["design"]["name"].toString(), "Llama 3 70B on 128 H100");
  QTemporaryDir folder;
  const CliRun page = run_line("report --example llama3-70b-64 --html a.html --markdown b.md", folder.path());
  QCOMPARE(page.exit_code, 0);
  QCOMPARE(page.out, QString("a.html\nb.md\n"));
  QVERIFY(QFile::exists(folder.filePath("a.html")) && QFile::exists(folder.filePath("b.md")));
  QCOMPARE(run_line("report --example llama3-70b-64 --html /nowhere/a.html").exit_code, 3);
  const CliRun saved = run_line("report --example llama3-70b-64 --dp 4 --save-design d.json", folder.path());
  QCOMPARE(saved.out, QString("d.json\n"));
  QCOMPARE(run_line("report --json --design d.json", folder.path()).json()["ranks"].toInt(), 128);
  QCOMPARE(run_line("report --example llama3-70b-46").exit_code, 2);
  QVERIFY(run_line("report --example llama3-70b-46").err.contains("did you mean llama3-70b-64?"));
  QCOMPARE(run_line("report --example llama3-70b-64 --design x.json").exit_code, 2);
}

void CommandsTest::help_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<QStringList>("words");
  const QStringList flags{"Usage:", "Examples:", "--json"};
  const QStringList design{
      "--model PRESET", "--hf-config FILE", "--design FILE", "--tp N", "Accepts a whole number from 1 to",
      "default: "};
  QTest::newRow("--help") << "--help"
                          << QStringList{"presets", "report", "graph", "export", "check", "Exit codes:"};
  QTest::newRow("-h") << "-h" << QStringList{"Commands:"};
  QTest::newRow("help") << "help" << QStringList{"Commands:"};
  QTest::newRow("help report") << "help report" << flags;
  QTest::newRow("presets") << "presets --help" << flags;
  QTest::newRow("import") << "import --help" << flags + QStringList{"-o, --output DESIGN", "gemma2"};
  QTest::newRow("report") << "report --help" << flags + design;
  QTest::newRow("graph") << "graph --help" << flags + design + QStringList{"--dot", "--segment", "--phase"};
  QTest::newRow("export") << "export --help"
                          << flags + design +
                                 QStringList{"-o, --output TARGET", "--name", "--tensors", "--replace"};
  QTest::newRow("check") << "check --help" << flags + QStringList{"BUNDLE"};
  QTest::newRow("calibrate") << "calibrate --help"
                             << flags + QStringList{"FILE.csv", "--accelerator ID", "--source TEXT"};
  QTest::newRow("before what is wrong") << "report --nonsense 3 --help" << flags;
}

void CommandsTest::help() {
  QFETCH(QString, line);
  QFETCH(QStringList, words);
  const CliRun run = run_line(line);
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.err, QString());
  for (const QString& word : words) QVERIFY2(run.out.contains(word), qPrintable(word));
  for (const QString& row : run.out.split('\n')) {
    const bool example = row.startsWith("  shardscape-cli ");  // to be copied in one piece
    QVERIFY2(example || row.size() <= 100, qPrintable(row));
  }
}

void CommandsTest::help_lists_every_knob() {
  const QString out = run_line("report --help").out;
  for (const Knob& knob : knobs())
    QVERIFY2(out.contains("  " + QString::fromStdString(knob.flag()) + " "), knob.id.c_str());
}

void CommandsTest::version() {
  const CliRun run = run_line("--version");
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.out, QString("shardscape-cli %1\n").arg(program_version()));
}

void CommandsTest::nothing() {
  const CliRun run = run_cli({});
  QCOMPARE(run.exit_code, 2);
  QCOMPARE(run.out, QString());
  QVERIFY(run.err.contains("Usage:"));
}

void CommandsTest::presets() {
  const CliRun run = run_line("presets");
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.err, QString());
  for (const char* id : {"gpt3-175b", "llama3-8b", "llama3-70b", "llama3.1-405b"}) {
    QVERIFY2(run.out.contains(QString("\n%1 ").arg(id)), id);
  }
  QCOMPARE(run.out.count("8,030,261,248"), 2);  // counted and published
  QVERIFY(run.out.contains("  256 H100, tp 2, pp 8, ep 32\n"));
}

void CommandsTest::published_layout() {
  const QJsonObject report = run_line("report --model llama3-70b --published-layout --dp 16 --json").json();
  const QJsonObject design = report["design"].toObject();
  QCOMPARE(design["parallelism"]["tp"].toInt(), 4);
  QCOMPARE(design["parallelism"]["dp"].toInt(), 16);  // a flag wins
  QCOMPARE(design["workload"]["batch"].toInt(), 2048);
}

void CommandsTest::batch_in_tokens() {
  const QStringList words{"report", "--model", "llama3-8b", "--json", "--batch"};
  const CliRun whole = run_cli(words + QStringList{"4M tokens"});
  QCOMPARE(whole.json()["design"].toObject()["workload"].toObject()["batch"].toInt(), 512);
  QVERIFY2(!whole.err.contains("rounded"), qPrintable(whole.err));
  const CliRun rounded = run_cli(words + QStringList{"4000000 tokens"});
  QCOMPARE(rounded.json()["design"].toObject()["workload"].toObject()["batch"].toInt(), 488);
  QVERIFY2(rounded.err.contains("rounded to 488 sequences"), qPrintable(rounded.err));
}

void CommandsTest::presets_json() {
  const QJsonArray list = run_line("presets --json").json()["presets"].toArray();
  QVERIFY(list.size() >= 4);
  for (const QJsonValue& preset : list) {
    for (const char* key : {"layers", "hidden", "vocab"}) QVERIFY2(preset[key].toInt() > 0, key);
    if (preset["ssm_state"].toInt() == 0)
      for (const char* key :
           {"heads", "kv_heads", "head_dim", preset["experts"].toInt() > 0 ? "expert_ffn" : "ffn"})
        QVERIFY2(preset[key].toInt() > 0, key);
    QVERIFY(!preset["parameters"]["formula"].toString().isEmpty());
    if (preset["published_exact"].toBool())
      QCOMPARE(number(preset["parameters"]), preset["published_parameters"].toDouble());
    else
      QVERIFY(qAbs(number(preset["parameters"]) / preset["published_parameters"].toDouble() - 1) < 0.02);
  }
}

void CommandsTest::report_json_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<int>("stages");
  QTest::newRow("as in the documentation") << kLine << 2;
  QTest::newRow("default design") << "report --json" << 2;
  QTest::newRow("one rank") << "report --model gpt3-175b --json" << 1;
  QTest::newRow("sequence parallel") << "report --model llama3-70b --tp 8 --pp 4 --sequence-parallel --json"
                                     << 4;
  QTest::newRow("uneven stages") << "report --pp 3 --stage-layers 10,12,10 --json" << 3;
  QTest::newRow("KV heads fewer than tp") << "report --tp 16 --json" << 1;
  QTest::newRow("large") << "report --model llama3.1-405b --tp 8 --pp 16 --dp 64 --json" << 16;
}

void CommandsTest::report_json() {
  QFETCH(QString, line);
  QFETCH(int, stages);
  const CliRun run = run_line(line);
  QCOMPARE(run.exit_code, 0);
  const QJsonObject report = run.json();
  QVERIFY(report["valid"].toBool());
  const QJsonArray list = report["stages"].toArray();
  QCOMPARE(list.size(), stages);
  for (const char* mode : {"native", "expandable"}) {
    const QJsonValue use = report["peak"]["segments"][mode];
    QCOMPARE(use["reserved"].toDouble() - use["allocated"].toDouble(), use["unused"].toDouble());
    QVERIFY2(
        use["unused"].toDouble() > 0 && use["allocated"].toDouble() >= report["peak"]["allocated"].toDouble(),
        mode);
  }
  const double step = report["time"]["step_seconds"].toDouble(), peak = report["peak"]["seconds"].toDouble();
  QVERIFY2(peak > 0 && peak < step, qPrintable(QString::number(peak)));
  QCOMPARE(peak, list[report["peak"]["stage"].toInt()]["peak"]["seconds"].toDouble());
  QVERIFY(!report.contains("memory_warning"));
  const QSet<QString> ops{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send", "recv"};
  for (const QJsonValue& stage : list) {
    QVERIFY(number(stage["parameters"]) > 0 && !stage["parameters"]["formula"].toString().isEmpty());
    const QJsonObject memory = stage["memory"].toObject();
    for (const char* category : {"parameters", "gradients", "optimizer", "activations"}) {
      QVERIFY2(number(memory[category]) > 0 && !memory[category]["formula"].toString().isEmpty(), category);
    }
    double total = 0;
    for (const QJsonValue& category : memory) total += number(category);
    QCOMPARE(stage["memory_total"].toDouble(), total);
    const QJsonObject flops = stage["flops"].toObject();
    for (const char* phase : {"forward", "backward"}) {
      QVERIFY2(number(flops["matmul"][phase]) > 0 && !flops["matmul"][phase]["formula"].toString().isEmpty(),
               phase);
    }
    QVERIFY(number(flops["optimizer"]["step"]) > 0);
    for (const QJsonValue& c : stage["collectives"].toArray()) {
      QVERIFY(ops.contains(c["op"].toString()));
      for (const char* key : {"phase", "group", "dtype"}) QVERIFY2(!c[key].toString().isEmpty(), key);
      QVERIFY(c["group_size"].toInt() > 1);
      for (const char* key : {"count", "elements", "bytes"}) {
        QVERIFY2(c[key].toDouble() > 0 && !c["formula"][key].toString().isEmpty(), key);
      }
      const int width = c["dtype"] == "float32" ? 4 : 2;
      QCOMPARE(c["bytes"].toDouble(), width * c["elements"].toDouble());
    }
  }
}

// From the shapes of Llama 3 8B, by hand: heads, FFN and vocabulary halved by tp, norms whole, 16 of 32
// layers.
void CommandsTest::report_numbers() {
  const QJsonObject report = run_line(kLine).json();
  QCOMPARE(report["ranks"].toInt(), 8);
  QCOMPARE(report["microbatches"].toInt(), 8);
  QCOMPARE(report["tokens_per_step"].toInt(), 16 * 4096);
  QCOMPARE(number(report["model"]["parameters"]), 8030261248.0);
  const double layer = (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336) / 2 + 2 * 4096;
  const double table = 128256.0 * 4096 / 2;
  const QJsonArray stages = report["stages"].toArray();
  QCOMPARE(number(stages[0]["parameters"]), 16 * layer + table);
  QCOMPARE(number(stages[1]["parameters"]), 16 * layer + table + 4096);
  QCOMPARE(number(stages[0]["memory"]["optimizer"]), 12 * (16 * layer + table));
  int forward = 0, backward = 0;
  for (const QJsonValue& c : stages[0]["collectives"].toArray()) {
    if (c["op"] != "all_reduce" || c["group"] != "tp") continue;
    if (c["phase"] == "forward") forward = c["count"].toInt();
    if (c["phase"] == "backward") backward = c["count"].toInt();
  }
  QCOMPARE(forward, 8 * (2 * 16 + 1));  // two per layer and the embedding's, for 8 microbatches
  QCOMPARE(backward, 8 * 2 * 16);
}

void CommandsTest::report_text() {
  const CliRun run = run_line("report");
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.err, QString());
  QVERIFY(run.out.contains("stage 0:") && run.out.contains("stage 1:") && run.out.contains("fits:"));
}

void CommandsTest::defaults_data() {
  QTest::addColumn<QString>("flags");
  QTest::addColumn<int>("seq");
  QTest::addColumn<int>("batch");
  QTest::addColumn<int>("ranks");
  QTest::newRow("model only") << "--model gpt3-175b" << 2048 << 4 << 1;
  QTest::newRow("model in any case") << "--model LLaMA3-8B" << 8192 << 4 << 1;
  QTest::newRow("batch follows the degrees")
      << "--tp 2 --pp 4 --dp 3 --microbatch 2" << 8192 << 4 * 4 * 3 * 2 << 24;
  QTest::newRow("batch given") << "--dp 2 --batch 6" << 8192 << 6 << 2;
  QTest::newRow("suffix") << "--seq 4k" << 4096 << 4 << 1;
  QTest::newRow("separators") << "--seq 4,096 --batch 1_024" << 4096 << 1024 << 1;
}

void CommandsTest::defaults() {
  QFETCH(QString, flags);
  QFETCH(int, seq);
  QFETCH(int, batch);
  QFETCH(int, ranks);
  const QJsonObject report = run_line("report --json " + flags).json();
  QCOMPARE(report["design"]["workload"]["seq"].toInt(), seq);
  QCOMPARE(report["design"]["workload"]["batch"].toInt(), batch);
  QCOMPARE(report["ranks"].toInt(), ranks);
}

// Every knob given with the value that it has must change nothing.
void CommandsTest::every_knob_is_a_flag() {
  const Design design = preset_design("llama3-8b", 2, 2, 2, true);
  QTemporaryDir folder;
  QVERIFY(!save_design(design, folder.filePath("a.json").toStdString()));
  QStringList words{"report", "--json", "--design", folder.filePath("a.json")};
  const CliRun plain = run_cli(words);
  for (const Knob& knob : knobs())
    words << QString::fromStdString(knob.flag() + "=" + knob_text(design, knob));
  const CliRun given = run_cli(words);
  QCOMPARE(plain.exit_code, 0);
  QCOMPARE(given.exit_code, 0);
  QCOMPARE(given.out, plain.out);
}

void CommandsTest::design_file() {
  QTemporaryDir folder;
  Design design = tiny_design();
  design.name = "tiny";
  QVERIFY(!save_design(design, folder.filePath("tiny.shardscape.json").toStdString()));
  const QJsonObject plain = run_line("report --json --design tiny.shardscape.json", folder.path()).json();
  QCOMPARE(plain["design"]["name"].toString(), "tiny");
  QCOMPARE(plain["design"]["model"]["hidden"].toInt(), 16);
  const QJsonObject changed = run_line("report --json --design tiny.shardscape.json --tp 2", folder.path())
                                  .json();
  QCOMPARE(changed["design"]["model"]["hidden"].toInt(), 16);
  QCOMPARE(changed["design"]["workload"]["batch"].toInt(), 4);
  QCOMPARE(changed["ranks"].toInt(), 2);
}

void CommandsTest::graph_text() {
  const CliRun run = run_line("graph --model llama3-8b --tp 2");
  QCOMPARE(run.exit_code, 0);
  for (const char* text :
       {"embedding", "layer: 32 of them", "head", "[b, S, H/tp, E]", "Partial(sum) on tp",
        "why: ", "FLOPs 2·b·S·D·F/tp = ", "all_reduce[tp](attention.y)", "saved for the backward"}) {
    QVERIFY2(run.out.contains(text), text);
  }
}

void CommandsTest::graph_windows() {
  const QStringList words = QString("graph --model gemma2-9b --segment local --variants").split(' ') +
                            QStringList{"local: local window=1024"};
  QVERIFY(run_cli(words).out.contains("window W_local = 1,024 tokens"));
  QVERIFY(!run_line("graph --model gemma2-9b --segment global").out.contains("window W"));
  int named = 0;
  const QJsonObject graph = run_cli(words + QStringList{"--json"}).json();
  for (const QJsonValue& node : graph["segments"][0]["nodes"].toArray())
    if (node["kind"].toString() == "attention") named += node["window"]["value"].toInt() == 1024;
  QCOMPARE(named, 2);  // forward and backward
}

void CommandsTest::graph_filters() {
  const QString all = run_line("graph --tp 2").out;
  const QString layer = run_line("graph --tp 2 --segment layer").out;
  const QString forward = run_line("graph --tp 2 --segment layer --phase forward").out;
  QVERIFY(all.contains("logits") && !layer.contains("logits") && layer.contains("\n  backward\n"));
  QVERIFY(forward.contains("\n  forward\n") && !forward.contains("\n  backward\n"));
}

void CommandsTest::graph_json() {
  const QJsonObject graph = run_line("graph --tp 2 --dp 2 --sequence-parallel --json").json();
  const QJsonArray segments = graph["segments"].toArray();
  QCOMPARE(segments.size(), 3);
  for (const QJsonValue& segment : segments) {
    QSet<QString> ids;
    for (const QJsonValue& node : segment["nodes"].toArray()) {
      QVERIFY2(!ids.contains(node["id"].toString()), qPrintable(node["id"].toString()));
      ids.insert(node["id"].toString());
      QVERIFY(!node["outputs"].toArray().isEmpty());
      for (const QJsonValue& tensor : node["outputs"].toArray()) {
        QVERIFY(!tensor["placement"].toString().isEmpty());
        QCOMPARE(tensor["shape"].toArray().size(), tensor["axes"].toArray().size());
      }
      const QString kind = node["kind"].toString();
      if (kind == "matmul") QVERIFY(number(node["flops"]) > 0);
      if (kind == "all_gather" || kind == "reduce_scatter") {
        QVERIFY(number(node["bytes"]) > 0 && !node["why"].toString().isEmpty());
        QCOMPARE(node["group"].toString(), "tp");
        QCOMPARE(number(node["group_size"]), 2.0);
      }
    }
    const QJsonArray edges = segment["edges"].toArray();
    QVERIFY(edges.size() >= 3);
    for (const QJsonValue& edge : edges)
      QVERIFY(ids.contains(edge["from"].toString()) && ids.contains(edge["to"].toString()));
  }
  QCOMPARE(segments[1]["count"].toInt(), 32);
}

void CommandsTest::graph_dot() {
  const CliRun run = run_line("graph --tp 2 --segment layer --dot");
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.startsWith("digraph "));
  QVERIFY(run.out.endsWith("}\n"));
  QCOMPARE(run.out.count('{'), run.out.count('}'));
  QVERIFY(run.out.contains("\"layer/attention.q\" -> \"layer/attention.qr\""));
}

// Well-formed, and every edge joins two nodes.
void CommandsTest::graph_graphml() {
  const CliRun run = run_line("graph --tp 2 --segment layer --graphml");
  QCOMPARE(run.exit_code, 0);
  QXmlStreamReader xml(run.out);
  QSet<QString> nodes;
  int edges = 0;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == u"node") nodes.insert(xml.attributes().value("id").toString());
    if (xml.name() != u"edge") continue;
    ++edges;
    for (const char* end : {"source", "target"})
      QVERIFY(nodes.contains(xml.attributes().value(QLatin1String(end)).toString()));
  }
  QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
  QVERIFY(nodes.contains("layer/attention.q") && edges > 20);
  QCOMPARE(run_line("graph --dot --graphml").exit_code, 2);
}

// Every table of the page is a file of CSV.
void CommandsTest::tables_of_a_report() {
  QTemporaryDir folder;
  const CliRun run = run_cli({"report", "--tp", "2", "--dp", "4", "--tables", folder.filePath("t")});
  QCOMPARE(run.exit_code, 0);
  QFile file(folder.filePath("t/step.csv"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY(file.readLine().startsWith("\"stage\",\"Matrix products"));
  QVERIFY(QDir(folder.filePath("t")).entryList(QDir::Files).size() >= 6);
}

// A preset in the person's own folder appears; a broken file is named and left out.
void CommandsTest::own_preset() {
  QTemporaryDir home;
  QVERIFY(QDir(home.path()).mkpath("shardscape/models/presets"));
  const auto write = [&](const QString& name, const QByteArray& text) {
    QFile file(home.filePath("shardscape/models/presets/" + name));
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
  };
  QVERIFY(
      write("mine.json",
            R"({"preset": "mine", "name": "Mine", "family": "Mine", "source": "me", "architecture": "llama",
    "published_parameters": 0, "published_exact": false, "default_seq": 64, "layers": 2, "hidden": 16,
    "heads": 4, "kv_heads": 2, "head_dim": 4, "ffn": 24, "vocab": 40, "positions": 0,
    "tied_embeddings": false})"));
  QVERIFY(write("broken.json", "{\"preset\": \"broken\","));
  const CliRun run = run_cli({"presets"}, {}, {"XDG_DATA_HOME=" + home.path()});
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.contains("\nmine "));
  QVERIFY(run.err.contains("broken.json"));
}

// What a large step leaves out is said on standard error and in the file.
void CommandsTest::timeline() {
  const QTemporaryDir folder;
  const QString file = folder.filePath("step.json"),
                small = "timeline --model llama3-8b --layers 2 --tp 2 --seq 4096 --batch 2 -o " + file,
                large = "timeline --model llama3-8b --tp 2 --pp 2 --seq 4096 --batch 128 -o " + file;
  const auto left_out = [&] {
    QFile written(file);
    return written.open(QIODevice::ReadOnly)
               ? QJsonDocument::fromJson(written.readAll())["otherData"]["left_out"].toString()
               : QString("no file");
  };
  CliRun run = run_line(small);
  QCOMPARE(run.exit_code, 0);
  QVERIFY2(run.out.contains(QRegularExpression("wrote \\d+ spans, 16 layers and \\d+ ops of 1 stage ")),
           qPrintable(run.out));
  QCOMPARE(run.err, QString());
  QCOMPARE(left_out(), QString());
  QCOMPARE(run_line(small + " --ops few").exit_code, 2);
  QVERIFY(run_line(small + " --ops few").err.contains("some, all or none"));
  run = run_line(small + " --ops none");
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.contains(" layers and 0 ops") && left_out().startsWith("all "));
  run = run_line(large);
  QCOMPARE(run.exit_code, 0);
  QVERIFY2(left_out().endsWith("those of all microbatches except 0 and 127") && run.err.contains(left_out()),
           qPrintable(run.err));
  run = run_line(large + " --ops all");
  QVERIFY(run.err.isEmpty() && left_out().isEmpty());
}

void CommandsTest::full_output() {
  QProcess process;
  process.setStandardOutputFile("/dev/full");
  process.start(SHARDSCAPE_CLI, {"report", "--json"});
  QVERIFY(process.waitForFinished(kLongestRun));
  QCOMPARE(process.exitCode(), 3);
  QVERIFY(process.readAllStandardError().contains("standard output cannot be written"));
}

QTEST_GUILESS_MAIN(CommandsTest)
#include "commands_test.moc"
