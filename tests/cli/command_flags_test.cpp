// The flags that the program writes for a design give the same design when the command line reads them.
#include <QProcess>
#include <QTest>
#include <random>

#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "design/knobs/command_flags.h"
#include "design/knobs/knobs.h"
#include "model/library.h"
#include "support/longest_run.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

std::optional<Design> read_back(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  static const Command report = report_command();
  const auto arguments = parse_arguments(pointers, report);
  if (std::holds_alternative<Problem>(arguments)) return std::nullopt;
  auto design = design_of(std::get<Arguments>(arguments));
  if (std::holds_alternative<int>(design)) return std::nullopt;
  return std::get<Design>(std::move(design));
}

QByteArray differences(const Design& a, const Design& b) {
  QByteArray text;
  for (const Knob& knob : knobs())
    if (knob_text(a, knob) != knob_text(b, knob))
      text += QByteArray::fromStdString(knob.id + ": " + knob_text(a, knob) + " | " + knob_text(b, knob) +
                                        "\n");
  return text;
}

}  // namespace

class CommandFlagsTest : public QObject {
  Q_OBJECT

  static void compare(const Design& design) {
    const auto read = read_back(command_flags(design));
    QVERIFY2(read, command_line(design).c_str());
    Design wanted = design;
    wanted.name = read->name;
    QVERIFY2(*read == wanted, command_line(design).c_str() + ("\n" + differences(wanted, *read)));
  }

 private Q_SLOTS:
  void presets() {
    for (const Preset& preset : ModelLibrary::instance().presets()) {
      Design design = default_design();
      apply_preset(design, preset.id);
      compare(design);
      if (QTest::currentTestFailed()) return;
    }
  }

  void random_designs() {
    std::mt19937 random(17);
    for (int i = 0; i < 400; ++i) {
      compare(test::random_design(random));
      if (QTest::currentTestFailed()) return;
    }
  }

  // The knobs of a model that is no preset are written one by one. Its label is lost.
  void models_that_are_no_presets() {
    std::mt19937 random(18);
    for (int i = 0; i < 100; ++i) {
      Design design = test::random_design(random);
      design.model.preset = "Imported model";
      const auto read = read_back(command_flags(design));
      QVERIFY2(read, command_line(design).c_str());
      design.model.preset = read->model.preset;
      design.name = read->name;
      QVERIFY2(*read == design, command_line(design).c_str() + ("\n" + differences(design, *read)));
    }
  }

  void lists_and_texts() {
    Design design = default_design();
    design.parallel.stage_layers = {20, 12};
    design.parallel.pp = 2;
    QVERIFY(apply_preset(design, "llama3-8b"));
    for (const auto& [id, text] :
         {std::pair("recompute_modules", ""), std::pair("weight_formats", "attention=fp8-block, down=mxfp4")})
      QVERIFY(!set_knob(design, *find_knob(id), text));
    compare(design);
  }

  void one_line_is_short() {
    Design design = default_design();
    design.parallel = {};
    design.parallel.tp = 2;
    const QString line = QString::fromStdString(command_line(design));
    QVERIFY2(line.startsWith("shardscape-cli report --model=llama3-8b --tp=2 --seq=8192 --batch=32"),
             qPrintable(line));
  }

  void words_of_a_shell_data() {
    QTest::addColumn<QString>("word");
    for (const char* word : {"--tp=2", "a b", "", "it's", "a*2, (b, c*3)*", "$HOME `x` \\ \"q\"", "a;b&c|d>e",
                             "~", "#x", "x\ny", "é"})
      QTest::newRow(word) << QString::fromUtf8(word);
  }
  void words_of_a_shell() {
    QFETCH(QString, word);
    QProcess shell;
    shell.start("/bin/sh", {"-c", "printf %s " + QString::fromStdString(shell_word(word.toStdString()))});
    QVERIFY(shell.waitForFinished(test::kLongestRun));
    QCOMPARE(QString::fromUtf8(shell.readAllStandardOutput()), word);
  }
};

QTEST_GUILESS_MAIN(CommandFlagsTest)
#include "command_flags_test.moc"
