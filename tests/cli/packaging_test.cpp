// What packages carry: one version everywhere, manual pages, completions of shells, files of the desktop.
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include "app/cli/command.h"
#include "app/cli/completion.h"
#include "app/cli/flag_values.h"
#include "app/cli/man_page.h"
#include "app/window_flags.h"
#include "base/version.h"
#include "cli/cli_run.h"
#include "design/knobs/knobs.h"
#include "support/longest_run.h"

using namespace shardscape;
using namespace shardscape::test;

class PackagingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void versions_agree_data();
  void versions_agree();
  void texts_are_printed_data();
  void texts_are_printed();
  void man_pages_have_every_flag();
  void man_pages_have_no_stray_requests();
  void bash_completes_data();
  void bash_completes();
  void shells_read_the_completions_data();
  void shells_read_the_completions();
  void completions_have_every_flag();
};

namespace {

QString content(const QString& path) {
  QFile file(QStringLiteral(SHARDSCAPE_SOURCE_DIR "/") + path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

// The suggestions for the words of a line, of which the last is not complete.
QStringList suggested(const QStringList& words) {
  const QTemporaryDir folder;
  QFile script(folder.filePath("completion"));
  if (!script.open(QIODevice::WriteOnly)) return {};
  script.write(QByteArray::fromStdString(bash_completion()));
  script.close();
  QFile(folder.filePath("space.json")).open(QIODevice::WriteOnly);
  QProcess process;
  process.setWorkingDirectory(folder.path());
  process.start("bash", QStringList{"--norc", "-c",
                                    "source ./completion; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                                    "_shardscape \"$1\"; printf '%s\\n' \"${COMPREPLY[@]}\"",
                                    "bash"} +
                            words);
  if (!process.waitForFinished(kLongestRun) || process.exitCode() != 0) return {};
  return QString::fromUtf8(process.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
}

}  // namespace

// The About page shows program_version(), as the window's application version.
void PackagingTest::versions_agree_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<QString>("pattern");
  QTest::newRow("project") << "CMakeLists.txt"
                           << "^project\\(shardscape VERSION ([^ ]+)";
  QTest::newRow("changelog") << "CHANGELOG.md"
                             << "^## ([^ ]+)";
  QTest::newRow("AppStream") << "packaging/org.shardscape.Shardscape.metainfo.xml"
                             << "<release version=\"([^\"]+)\"";
  QTest::newRow("About page") << "app/shardscape.cpp"
                              << "setApplicationVersion\\((program_version)\\(\\)\\)";
}

void PackagingTest::versions_agree() {
  QFETCH(QString, file);
  QFETCH(QString, pattern);
  const auto match = QRegularExpression(pattern, QRegularExpression::MultilineOption).match(content(file));
  QVERIFY2(match.hasMatch(), qPrintable(file));
  QCOMPARE(match.captured(1), file == "app/shardscape.cpp" ? QString("program_version") : program_version());
}

void PackagingTest::texts_are_printed_data() {
  QTest::addColumn<QString>("page");
  QTest::addColumn<QByteArray>("text");
  QTest::newRow("man") << "man" << QByteArray::fromStdString(command_line_man_page());
  QTest::newRow("man of the window") << "man-window" << QByteArray::fromStdString(window_man_page());
  QTest::newRow("bash") << "completion-bash" << QByteArray::fromStdString(bash_completion());
  QTest::newRow("zsh") << "completion-zsh" << QByteArray::fromStdString(zsh_completion());
  QTest::newRow("fish") << "completion-fish" << QByteArray::fromStdString(fish_completion());
}

void PackagingTest::texts_are_printed() {
  QFETCH(QString, page);
  QFETCH(QByteArray, text);
  const CliRun run = run_cli({"reference", page});
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.toUtf8() == text);
}

void PackagingTest::man_pages_have_every_flag() {
  const QString page = QString::fromStdString(command_line_man_page()).remove('\\');
  for (const Command& command : commands()) {
    QVERIFY2(page.contains("\n.SS " + QString::fromStdString(command.name) + "\n"), command.name.c_str());
    for (const Flag& flag : command.flags)
      QVERIFY2(page.contains("fB" + QString::fromStdString(flag.name) + "fR"), flag.name.c_str());
  }
  // Settings are there once, not once per command.
  QCOMPARE(page.count("fB--hiddenfR"), 1);
  const QString window = QString::fromStdString(window_man_page()).remove('\\');
  for (const WindowFlag& flag : kWindowFlags) QVERIFY2(window.contains(flag.name), flag.name);
}

void PackagingTest::man_pages_have_no_stray_requests() {
  static const QRegularExpression known("^\\.(TH|SH|SS|PP|TP|EX|EE)( |$)");
  for (const std::string& text : {command_line_man_page(), window_man_page()})
    for (const QString& line : QString::fromStdString(text).split('\n'))
      QVERIFY2(!line.startsWith('\'') && (!line.startsWith('.') || line.contains(known)), qPrintable(line));
}

void PackagingTest::bash_completes_data() {
  QTest::addColumn<QStringList>("words");
  QTest::addColumn<QStringList>("suggestions");
  QTest::newRow("commands") << QStringList{"shardscape-cli", "expl"} << QStringList{"explore"};
  QTest::newRow("flags") << QStringList{"shardscape-cli", "explore", "--slurm-t"}
                         << QStringList{"--slurm-time"};
  QTest::newRow("settings") << QStringList{"shardscape-cli", "report", "--kv-h"} << QStringList{"--kv-heads"};
  QTest::newRow("no settings") << QStringList{"shardscape-cli", "merge", "--kv-h"} << QStringList{};
  QTest::newRow("presets") << QStringList{"shardscape-cli", "report", "--model", "llama3-70"}
                           << QStringList{"llama3-70b"};
  QTest::newRow("equals sign") << QStringList{"shardscape-cli", "report", "--model", "=", "llama3-70"}
                               << QStringList{"llama3-70b"};
  QTest::newRow("choices") << QStringList{"shardscape-cli", "report", "--schedule", "gp"}
                           << QStringList{"gpipe"};
  QTest::newRow("booleans") << QStringList{"shardscape-cli", "report", "--sequence-parallel", "t"}
                            << QStringList{"true"};
  QTest::newRow("examples") << QStringList{"shardscape-cli", "report", "--example", "llama3-70b-6"}
                            << QStringList{"llama3-70b-64"};
  QTest::newRow("files") << QStringList{"shardscape-cli", "explore", "--space", "sp"}
                         << QStringList{"space.json"};
  QTest::newRow("operands") << QStringList{"shardscape-cli", "merge", "sp"} << QStringList{"space.json"};
  QTest::newRow("numbers have none") << QStringList{"shardscape-cli", "report", "--tp", ""} << QStringList{};
  QTest::newRow("pages") << QStringList{"shardscape-cli", "reference", "conc"} << QStringList{"concepts"};
  QTest::newRow("window") << QStringList{"/usr/bin/shardscape", "--theme", "d"} << QStringList{"dark"};
  QTest::newRow("window flags") << QStringList{"shardscape", "--exa"} << QStringList{"--example"};
}

void PackagingTest::bash_completes() {
  QFETCH(QStringList, words);
  QFETCH(QStringList, suggestions);
  QCOMPARE(suggested(words), suggestions);
}

void PackagingTest::shells_read_the_completions_data() {
  QTest::addColumn<QString>("shell");
  QTest::addColumn<QByteArray>("text");
  QTest::newRow("bash") << "bash" << QByteArray::fromStdString(bash_completion());
  QTest::newRow("zsh") << "zsh" << QByteArray::fromStdString(zsh_completion());
  QTest::newRow("fish") << "fish" << QByteArray::fromStdString(fish_completion());
}

void PackagingTest::shells_read_the_completions() {
  QFETCH(QString, shell);
  QFETCH(QByteArray, text);
  if (QStandardPaths::findExecutable(shell).isEmpty()) QSKIP("the shell is not installed");
  QTemporaryFile file;
  QVERIFY(file.open());
  file.write(text);
  file.close();
  QProcess process;
  process.start(shell, {"-n", file.fileName()});
  QVERIFY(process.waitForFinished(kLongestRun));
  const QByteArray said = process.readAllStandardError();
  QVERIFY2(process.exitCode() == 0 && said.isEmpty(), said.constData());
}

void PackagingTest::completions_have_every_flag() {
  const QString zsh = QString::fromStdString(zsh_completion()),
                fish = QString::fromStdString(fish_completion());
  for (const Command& command : commands()) {
    const QString name = QString::fromStdString(command.name);
    QVERIFY2(zsh.contains("\n    " + name + ") _arguments"), command.name.c_str());
    QVERIFY2(fish.contains("-n __fish_use_subcommand -f -a " + name + " "), command.name.c_str());
    for (const Flag& flag : command.flags) {
      const QString long_name = QString::fromStdString(flag.name);
      QVERIFY2(zsh.contains(long_name + "=") || zsh.contains(long_name + "["), flag.name.c_str());
      QVERIFY2(fish.contains(" -l " + long_name.mid(2) + " "), flag.name.c_str());
    }
  }
}

QTEST_APPLESS_MAIN(PackagingTest)
#include "packaging_test.moc"
