// Words to flags, nearest words, wrapping.
#include <QTest>

#include "app/cli/arguments.h"
#include "app/cli/text.h"
#include "base/suggest.h"

using namespace shardscape;

class ArgumentsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void flags_data();
  void flags();
  void mistakes_data();
  void mistakes();
  void distances_data();
  void distances();
  void nearest();
  void wrapping();
  void tables();
};

namespace {

Command command() {
  Command c;
  c.name = "try";
  c.usage = "[FLAGS] [WORD]";
  c.operands = 1;
  c.flags = {{"--tp", 0, FlagKind::Value, "N", "", ""},
             {"--output", 'o', FlagKind::Value, "DIR", "", ""},
             {"--recompute-modules", 0, FlagKind::Value, "LIST", "", "Memory"},
             {"--json", 0, FlagKind::Switch, "", "", ""},
             {"--sequence-parallel", 0, FlagKind::Boolean, "[true|false]", "", ""}};
  return c;
}

Result<Arguments> parse(const QString& line) {
  std::vector<QByteArray> bytes;
  for (const QString& word : line.split(' ', Qt::SkipEmptyParts)) bytes.push_back(word.toUtf8());
  std::vector<const char*> words;
  for (const QByteArray& word : bytes) words.push_back(word.constData());
  return parse_arguments(words, command());
}

}  // namespace

void ArgumentsTest::flags_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<QString>("flag");
  QTest::addColumn<QString>("value");
  QTest::addColumn<int>("operands");
  QTest::newRow("two words") << "--tp 4"
                             << "--tp"
                             << "4" << 0;
  QTest::newRow("one word") << "--tp=4"
                            << "--tp"
                            << "4" << 0;
  QTest::newRow("empty value of a setting") << "--recompute-modules= out"
                                            << "--recompute-modules"
                                            << "" << 1;
  QTest::newRow("negative number") << "--tp -4"
                                   << "--tp"
                                   << "-4" << 0;
  QTest::newRow("the last one counts") << "--tp 2 --tp 8"
                                       << "--tp"
                                       << "8" << 0;
  QTest::newRow("letter") << "-o out"
                          << "--output"
                          << "out" << 0;
  QTest::newRow("letter, one word") << "-oout"
                                    << "--output"
                                    << "out" << 0;
  QTest::newRow("switch before an operand") << "--json out"
                                            << "--json"
                                            << "true" << 1;
  QTest::newRow("boolean alone") << "--sequence-parallel"
                                 << "--sequence-parallel"
                                 << "true" << 0;
  QTest::newRow("boolean before a flag") << "--sequence-parallel --tp 2"
                                         << "--sequence-parallel"
                                         << "true" << 0;
  QTest::newRow("boolean with a word") << "--sequence-parallel Off"
                                       << "--sequence-parallel"
                                       << "Off" << 0;
  QTest::newRow("boolean with =") << "--sequence-parallel=false"
                                  << "--sequence-parallel"
                                  << "false" << 0;
  QTest::newRow("boolean before an operand") << "--sequence-parallel out"
                                             << "--sequence-parallel"
                                             << "true" << 1;
  QTest::newRow("after --") << "--tp 2 -- --json"
                            << "--tp"
                            << "2" << 1;
}

void ArgumentsTest::flags() {
  QFETCH(QString, line);
  QFETCH(QString, flag);
  QFETCH(QString, value);
  QFETCH(int, operands);
  const auto parsed = parse(line);
  QVERIFY(std::holds_alternative<Arguments>(parsed));
  const auto& arguments = std::get<Arguments>(parsed);
  QVERIFY(arguments.has(flag.toStdString()));
  QCOMPARE(QString::fromStdString(*arguments.value(flag.toStdString())), value);
  QCOMPARE(static_cast<int>(arguments.operands().size()), operands);
}

void ArgumentsTest::mistakes_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<QString>("where");
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<QString>("said");
  QTest::newRow("unknown, near") << "--outptu x"
                                 << "--outptu" << ProblemCode::UnknownFlag << "did you mean --output?";
  QTest::newRow("unknown, far") << "--zzzzzz x"
                                << "--zzzzzz" << ProblemCode::UnknownFlag << "there is no such flag";
  QTest::newRow("unknown letter") << "-x"
                                  << "-x" << ProblemCode::UnknownFlag << "there is no such flag";
  QTest::newRow("no value at the end") << "--tp"
                                       << "--tp" << ProblemCode::FlagValueMissing << "a value is missing";
  QTest::newRow("no value before a flag") << "--tp --json"
                                          << "--tp" << ProblemCode::FlagValueMissing << "a value is missing";
  QTest::newRow("empty value of another flag")
      << "--output= a"
      << "--output" << ProblemCode::FlagValueMissing << "a value is missing";
  QTest::newRow("switch with a value") << "--json=1"
                                       << "--json" << ProblemCode::FlagTakesNoValue << "takes no value";
  QTest::newRow("too many operands") << "a b"
                                     << "b" << ProblemCode::StrayWord << "belongs to no flag";
}

void ArgumentsTest::mistakes() {
  QFETCH(QString, line);
  QFETCH(QString, where);
  QFETCH(ProblemCode, code);
  QFETCH(QString, said);
  const auto parsed = parse(line);
  QVERIFY(std::holds_alternative<Problem>(parsed));
  const auto& problem = std::get<Problem>(parsed);
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(problem.code == code, problem.what.c_str());
  QVERIFY2(QString::fromStdString(problem.what).contains(said), problem.what.c_str());
  QVERIFY(!problem.accepted.empty());
}

void ArgumentsTest::distances_data() {
  QTest::addColumn<QString>("a");
  QTest::addColumn<QString>("b");
  QTest::addColumn<int>("distance");
  QTest::newRow("equal") << "batch"
                         << "batch" << 0;
  QTest::newRow("empty") << ""
                         << "pp" << 2;
  QTest::newRow("inserted") << "batch"
                            << "baatch" << 1;
  QTest::newRow("deleted") << "batch"
                           << "bach" << 1;
  QTest::newRow("replaced") << "batch"
                            << "botch" << 1;
  QTest::newRow("swapped") << "batch"
                           << "btach" << 1;
  QTest::newRow("several") << "kitten"
                           << "sitting" << 3;
}

void ArgumentsTest::distances() {
  QFETCH(QString, a);
  QFETCH(QString, b);
  QFETCH(int, distance);
  QCOMPARE(edit_distance(a.toStdString(), b.toStdString()), distance);
  QCOMPARE(edit_distance(b.toStdString(), a.toStdString()), distance);
}

void ArgumentsTest::nearest() {
  const std::vector<std::string> known{"llama3-8b", "llama3-70b", "gpt3-175b"};
  QCOMPARE(closest("Llama3-8B", known).value(), "llama3-8b");
  QCOMPARE(closest("lama3-70b", known).value(), "llama3-70b");
  QVERIFY(!closest("mixtral", known));
  QVERIFY(!closest("x", {}));
}

void ArgumentsTest::wrapping() {
  QCOMPARE(wrapped("a bb ccc", 0, 4), "a bb\nccc");
  QCOMPARE(wrapped("a bb ccc", 2, 6), "a bb\n  ccc");
  QCOMPARE(wrapped("a-very-long-word b", 0, 4), "a-very-long-word\nb");
  QCOMPARE(wrapped("2·b·S x", 0, 7), "2·b·S x");  // characters, not bytes
  QCOMPARE(wrapped("", 4), "");
}

void ArgumentsTest::tables() {
  QCOMPARE(text_table({{"id", "n"}, {"·", "10"}, {"abc", ""}}, {Align::Left, Align::Right}),
           "id    n\n·    10\nabc\n");
}

QTEST_APPLESS_MAIN(ArgumentsTest)
#include "arguments_test.moc"
