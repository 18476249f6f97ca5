// shardscape-cli architecture, and own files with mistakes.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

class ArchitectureTest : public QObject {
  Q_OBJECT

  QTemporaryDir home_;
  CliRun run(const QStringList& words) const {
    return run_cli(QStringList{"architecture"} + words, home_.path(), {"XDG_DATA_HOME=" + home_.path()});
  }
  QString write(const QString& name, const QByteArray& text) const {
    const QString path = home_.filePath(name);
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) file.write(text);
    return path;
  }

 private Q_SLOTS:
  void init() { QDir(home_.filePath("shardscape")).removeRecursively(); }

  void list() {
    const QJsonObject out = run({"list", "--json"}).json();
    QVERIFY(out["architectures"].toArray().size() > 40);
    QVERIFY(out["mixers"].toArray().size() > 10);
    QVERIFY(out["feed_forward"].toArray().size() > 8);
    const CliRun text = run({});
    QCOMPARE(text.exit_code, 0);
    QVERIFY(text.out.contains("gated_delta_net") && text.out.contains("sigmoid_moe + shared_mlp"));
  }

  void layers() {
    const QJsonObject out = run({"layers", "--model", "qwen3-next-80b-a3b", "--json"}).json();
    QCOMPARE(out["pattern"].toString(), "(linear*3, full)*");
    QCOMPARE(out["kinds"][0]["mixer"].toString(), "gated_delta_net");
    QCOMPARE(out["kinds"][1]["layers"].toInt(), 12);
    QVERIFY(run({"layers", "--model", "deepseek-v3"}).out.contains("dense*3, moe*"));
  }

  void show_check_and_save() {
    CliRun shown = run({"show", "llama"});
    QCOMPARE(shown.exit_code, 0);
    const QString path = write("mine.json", shown.out.replace("\"llama\"", "\"mine\"").toUtf8());
    const QJsonObject checked = run({"check", path, "--json"}).json();
    QVERIFY(checked["valid"].toBool());
    QCOMPARE(checked["id"].toString(), "mine");
    QCOMPARE(checked["parameters"]["value"].toInteger(), qint64(8030261248));
    const CliRun saved = run({"save", path});
    QVERIFY2(saved.exit_code == 0 && saved.out.contains("shardscape/models/architectures/mine.json"),
             qPrintable(saved.err));
    QVERIFY(run({"layers", "--architecture", "mine"}).out.contains("architecture: mine"));
    const CliRun taken = run({"save", write("taken.json", run({"show", "llama"}).out.toUtf8())});
    QCOMPARE(taken.exit_code, 1);
    QVERIFY(taken.err.contains("comes with the program"));
  }

  void mistakes_have_line_and_column() {
    const QString text = run({"show", "llama"}).out.replace("gated_mlp", "gated_mpl");
    const CliRun checked = run({"check", write("bad.json", text.toUtf8())});
    QCOMPARE(checked.exit_code, 1);
    QVERIFY2(checked.err.contains("bad.json:10:14") && checked.err.contains("did you mean \"gated_mlp\"?"),
             qPrintable(checked.err));
    const QJsonObject out = run({"check", home_.filePath("bad.json"), "--json"}).json();
    QVERIFY(!out["valid"].toBool());
    QCOMPARE(out["problems"][0]["line"].toInt(), 10);
    QCOMPARE(out["problems"][0]["column"].toInt(), 14);
    QCOMPARE(run({"check", "absent.json"}).exit_code, 3);
    QCOMPARE(run({"chek", "absent.json"}).exit_code, 2);
  }

  void save_model() {
    const CliRun saved = run({"save-model", "hybrid", "--architecture",
                              "llama; wide = layer(feed_forward = relu2_mlp)", "--layer-pattern",
                              "(layer*3, wide)*"});
    QVERIFY2(saved.exit_code == 0, qPrintable(saved.err));
    const QJsonObject out = run({"layers", "--model", "hybrid", "--json"}).json();
    QCOMPARE(out["pattern"].toString(), "(layer*3, wide)*");
    QCOMPARE(out["kinds"][1]["feed_forward"].toString(), "relu2_mlp");
  }

  // The program starts, says which file is broken, and leaves the file out.
  void broken_own_file() {
    const QString path = write("shardscape/models/architectures/broken.json",
                               "{\"architecture\": \"b\",\n \"x\" 1}");
    const CliRun out = run_cli({"presets"}, {}, {"XDG_DATA_HOME=" + home_.path()});
    QCOMPARE(out.exit_code, 0);
    QVERIFY2(out.err.contains(path + ":2:"), qPrintable(out.err));
    QVERIFY(out.out.contains("llama3-8b"));
  }
};

QTEST_GUILESS_MAIN(ArchitectureTest)
#include "architecture_test.moc"
