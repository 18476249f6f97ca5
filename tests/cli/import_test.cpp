// shardscape-cli import, and --hf-config of the other commands.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"
#include "design/document.h"

using namespace shardscape;
using namespace shardscape::test;

class ImportTest : public QObject {
  Q_OBJECT

 private:
  static QString file(const char* name) { return QString(SHARDSCAPE_TEST_DATA "/hf/") + name + ".json"; }

 private Q_SLOTS:
  void preview() {
    const CliRun run = run_cli({"import", file("llama3-8b")});
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(run.err, QString());
    for (const char* text : {"Llama 3 8B: llama, 8,030,261,248 parameters, the same as preset llama3-8b",
                             "Recognised:", "Assumed:", "num_hidden_layers", "hidden size / heads",
                             "fields do not change the architecture (--all-fields lists them)"}) {
      QVERIFY2(run.out.contains(text), text);
    }
    QVERIFY2(!run.out.contains("rope_theta") && !run.out.contains("Unknown"), qPrintable(run.out));
    const CliRun all = run_cli({"import", file("llama3-8b"), "--all-fields"});
    QVERIFY2(all.out.contains("Ignored (these do not change the architecture):") &&
                 all.out.contains("rope_theta") && !all.out.contains("--all-fields"),
             qPrintable(all.out));
    const CliRun unknown = run_cli({"import", file("jamba-v0.1")});
    QVERIFY2(unknown.out.contains("Unknown (check whether these change the model):") &&
                 unknown.out.contains("sliding_window"),
             qPrintable(unknown.out));
  }

  void preview_json() {
    const QJsonObject out = run_cli({"import", file("gemma2-9b"), "--json"}).json();
    QVERIFY(out["valid"].toBool());
    QCOMPARE(out["parameters"]["value"].toInteger(), qint64(9241705984));
    QCOMPARE(out["model"]["architecture"].toString(), "gemma2");
    QCOMPARE(out["model"]["window"].toInt(), 4096);
    for (const char* list : {"recognised", "assumed", "ignored"}) {
      QVERIFY(!out[list].toArray().isEmpty());
      for (const QJsonValue& field : out[list].toArray())
        QVERIFY(!field["key"].toString().isEmpty() && !field["note"].toString().isEmpty());
    }
    QVERIFY(out["problems"].toArray().isEmpty());
  }

  // Counts are those of the released model; multi-token prediction is a part of its own.
  void parts() {
    const QStringList words{"import", file("deepseek-v3")};
    const QJsonObject out = run_cli(words + QStringList{"--json"}).json();
    QCOMPARE(out["parameters"]["value"].toInteger(), qint64(671026419200));
    QCOMPARE(out["active_parameters"]["value"].toInteger(), qint64(37552297472));
    QCOMPARE(out["parameters_with_mtp"]["value"].toInteger(), qint64(682636487424));
    QCOMPARE(out["parts"].toObject(), (QJsonObject{{"language", qint64(671026419200)},
                                                   {"vision", 0},
                                                   {"projector", 0},
                                                   {"mtp", qint64(11610068224)}}));
    QVERIFY(run_cli(words).out.contains("11,610,068,224 more for multi-token prediction"));
  }

  void design_file() {
    QTemporaryDir folder;
    const QString path = folder.filePath("mine.json");
    QCOMPARE(run_cli({"import", file("mpt-7b"), "-o", path}).exit_code, 0);
    const auto design = load_design(path.toStdString());
    QVERIFY(std::holds_alternative<Design>(design));
    QCOMPARE(std::get<Design>(design).model.architecture, std::string("mpt"));
    QCOMPARE(std::get<Design>(design).workload.seq, int64_t{2048});
    QCOMPARE(run_cli({"report", "--design", path, "--tp", "2"}).exit_code, 0);
    QCOMPARE(run_cli({"import", file("mpt-7b"), "-o", folder.filePath("no/such/folder.json")}).exit_code, 3);
  }

  // The same model by either way is the same design.
  void hf_config_is_a_model() {
    const QStringList knobs{"--tp", "4", "--pp", "2", "--dp", "2", "--seq", "4096", "--json"};
    const CliRun preset = run_cli(QStringList{"report", "--model", "qwen2.5-7b"} + knobs);
    const CliRun config = run_cli(QStringList{"report", "--hf-config", file("qwen2.5-7b")} + knobs);
    QCOMPARE(preset.exit_code, 0);
    QCOMPARE(config.exit_code, 0);
    QCOMPARE(config.out, preset.out);
  }

  void replaces_the_model_of_a_design() {
    QTemporaryDir folder;
    const QString path = folder.filePath("d.json");
    Design design = default_design();
    design.workload.batch = 96;
    QVERIFY(!save_design(design, path.toStdString()));
    const QJsonObject report = run_cli({"report", "--design", path, "--hf-config", file("gpt2-xl"), "--tp",
                                        "1", "--json"})
                                   .json();
    QCOMPARE(report["design"]["model"]["preset"].toString(), "gpt2-xl");
    QCOMPARE(report["design"]["workload"]["batch"].toInt(), 96);
    QCOMPARE(report["design"]["workload"]["seq"].toInt(), 1024);  // no longer than the table of positions
  }

  void mistakes_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("exit_code");
    QTest::addColumn<QString>("said");
    QTest::newRow("no file") << QStringList{"import"} << 2 << "the file to import is missing";
    QTest::newRow("absent") << QStringList{"import", "/nonexistent/config.json"} << 3
                            << "/nonexistent/config.json";
    QTest::newRow("experts") << QStringList{"import", file("olmoe-1b-7b")} << 1
                             << "no block implements norms of queries and keys over all heads";
    QTest::newRow("flag, experts") << QStringList{"report", "--hf-config", file("olmoe-1b-7b")} << 1
                                   << "norms of queries and keys over all heads";
    QTest::newRow("flag, absent") << QStringList{"report", "--hf-config", "/nonexistent/c.json"} << 3
                                  << "/nonexistent/c.json";
    QTest::newRow("given twice") << QStringList{"report", "--hf-config", file("llama3-8b"), "--model",
                                                "llama3-8b"}
                                 << 2 << "the model is given twice";
  }
  void mistakes() {
    QFETCH(QStringList, words);
    QFETCH(int, exit_code);
    QFETCH(QString, said);
    const CliRun run = run_cli(words);
    QCOMPARE(run.exit_code, exit_code);
    QCOMPARE(run.out, QString());
    QVERIFY2(run.err.contains(said) && run.err.contains("accepted: "), qPrintable(run.err));
  }

  // The message of an unknown type names the flag that imports the file as its nearest type.
  void unknown_type_as_a_known_one() {
    QFile from(file("llama3-8b"));
    QVERIFY(from.open(QIODevice::ReadOnly));
    QByteArray text = from.readAll();
    text.replace("\"llama\"", "\"mine\"").replace("LlamaForCausalLM", "MineForCausalLM");
    text.replace("\"silu\"", "\"relu\"");
    QTemporaryDir folder;
    QFile to(folder.filePath("mine.json"));
    QVERIFY(to.open(QIODevice::WriteOnly) && to.write(text) == text.size());
    to.close();
    const CliRun refused = run_cli({"import", to.fileName()});
    QCOMPARE(refused.exit_code, 1);
    QVERIFY2(refused.err.contains("fix: --as llama"), qPrintable(refused.err));
    const CliRun run = run_cli({"import", to.fileName(), "--as", "llama"});
    QCOMPARE(run.exit_code, 0);
    for (const char* said :
         {"mine: mine, 8,030,261,248 parameters", "Imported as llama", "Different", "relu"})
      QVERIFY2(run.out.contains(said), said);
    const QJsonObject out = run_cli({"import", to.fileName(), "--as", "llama", "--json"}).json();
    QCOMPARE(out["imported_as"].toString(), "llama");
    QCOMPARE(out["differences"][0]["key"].toString(), "hidden_act");
    const CliRun wrong = run_cli({"import", to.fileName(), "--as", "absent"});
    QCOMPARE(wrong.exit_code, 1);
    QVERIFY2(wrong.err.contains("accepted: one of"), qPrintable(wrong.err));
  }

  // A launch script: fields, the design, and what only a person knows.
  void launch_script() {
    QTemporaryDir folder;
    QFile common(folder.filePath("common.sh"));
    QVERIFY(common.open(QIODevice::WriteOnly));
    common.write("HIDDEN=1024\n");
    common.close();
    QFile script(folder.filePath("run.sh"));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write(
        "source $(dirname $0)/common.sh\nTP=$1\n"
        "srun python pretrain_gpt.py --num-layers 24 --hidden-size $HIDDEN --num-attention-heads 16 "
        "--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2 --hidden-dropout 0 "
        "--attention-dropout 0 --tensor-model-parallel-size $TP --bf16 --lr 1e-4 --frobnicate $COUNT\n");
    script.close();
    const CliRun asked = run_cli({"import", script.fileName()});
    QCOMPARE(asked.exit_code, 1);
    QVERIFY2(asked.err.contains("how many GPUs") && asked.err.contains("(--gpus N)"), qPrintable(asked.err));
    const QString design = folder.filePath("out.shardscape.json");
    const QStringList words{"import", script.fileName(), "--gpus",  "16", "--script-arguments",
                            "2",      "--variable",      "COUNT=3", "-o", design};
    const CliRun run = run_cli(words);
    QCOMPARE(run.exit_code, 0);
    for (const char* said : {"Megatron-LM on 16 GPUs (given)", "Not understood", "--frobnicate", "Assumed",
                             "(--all-fields lists them)"})
      QVERIFY2(run.out.contains(said), said);
    const CliRun report = run_cli({"report", "--design", design, "--json"});
    QCOMPARE(report.json()["design"].toObject()["parallelism"].toObject()["dp"].toInt(), 8);
    QCOMPARE(report.json()["design"].toObject()["model"].toObject()["hidden"].toInt(), 1024);
    const QJsonObject out = run_cli(words + QStringList{"--json"}).json();
    QCOMPARE(out["framework"].toString(), "megatron-lm");
    QCOMPARE(out["gpus"]["value"].toInt(), 16);
    QCOMPARE(out["not_understood"][0]["line"].toInt(), 3);
    const CliRun wrong = run_cli({"import", script.fileName(), "--gpus", "many"});
    QCOMPARE(wrong.exit_code, 2);
    QVERIFY2(wrong.err.contains("--gpus"), qPrintable(wrong.err));
  }

  // A problem with a setting of the file names the file, and the line if the reader finds it. No flag mends
  // it.
  void wrong_values_name_the_file_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("message");
    QTest::newRow("out of range") << QByteArray("\"num_hidden_layers\": 32")
                                  << QByteArray("\"num_hidden_layers\": 32000")
                                  << ":16: \"num_hidden_layers\", the layers (L), is 32000";
    QTest::newRow("no divisor") << QByteArray("\"num_key_value_heads\": 8")
                                << QByteArray("\"num_key_value_heads\": 7")
                                << ": kv_heads: 32 query heads cannot share 7 KV heads evenly";
  }
  void wrong_values_name_the_file() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, message);
    QFile source(file("llama3-8b"));
    QVERIFY(source.open(QIODevice::ReadOnly));
    QByteArray text = source.readAll();
    QVERIFY(text.contains(from));
    text.replace(from, to);
    QTemporaryDir folder;
    QFile changed(folder.filePath("config.json"));
    QVERIFY(changed.open(QIODevice::WriteOnly));
    changed.write(text);
    changed.close();
    const CliRun run = run_cli({"import", changed.fileName()});
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.startsWith("error: " + changed.fileName() + message), qPrintable(run.err));
    QVERIFY2(!run.err.contains("fix: "), qPrintable(run.err));
  }

  void json_holds_the_problems() {
    const CliRun run = run_cli({"import", file("olmoe-1b-7b"), "--json"});
    QCOMPARE(run.exit_code, 1);
    QVERIFY(!run.json()["valid"].toBool(true));
    QVERIFY(run.json()["problems"][0]["what"].toString().contains("norms of queries and keys"));
  }
};

QTEST_GUILESS_MAIN(ImportTest)
#include "import_test.moc"
