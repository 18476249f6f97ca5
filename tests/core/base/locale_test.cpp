// Numbers are read and written with a decimal point also in a process whose locale has a comma: the window of
// a German desktop, a program that loads the Python module.
#include <clocale>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "base/real_text.h"
#include "base/units.h"
#include "explore/constraint.h"
#include "explore/search.h"
#include "memory/estimate.h"
#include "report/time_report.h"
#include "serving/service_limits.h"
#include "support/designs.h"
#include "support/spaces.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Sets a locale with a decimal comma: one of the system, or one that localedef makes in the folder.
bool set_comma_locale(const QString& folder) {
  const auto has_comma = [](const char* name) {
    return std::setlocale(LC_NUMERIC, name) && std::string_view(std::localeconv()->decimal_point) == ",";
  };
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "pl_PL.UTF-8"})
    if (has_comma(name)) return true;
  QFile source(folder + "/comma.src");
  if (!source.open(QIODevice::WriteOnly)) return false;
  source.write(
      "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
      "grouping 3;3\nEND LC_NUMERIC\n");
  source.close();
  // The other categories are missing, so localedef warns and -c is needed.
  QProcess::execute("localedef", {"--quiet", "-c", "-i", source.fileName(), folder + "/xx_XX"});
  qputenv("LOCPATH", folder.toLocal8Bit());
  return has_comma("xx_XX");
}

// Texts and numbers of all ways in and out.
QStringList answers() {
  QStringList out;
  const auto add = [&](const std::string& text) { out << QString::fromStdString(text); };
  add(significant(61.34));
  add(significant(1.5e-9));
  add(format_bytes(Wide{1500} << 20));
  add(format_seconds(0.0123));
  add(fixed_text(0.5, 2) + " " + signed_text(0.5, 2) + " " + real_text(1e-7, 6));
  add(limit_text(*std::get<std::optional<double>>(limit_seconds("1.5 s", "ttft"))));
  Design d = small_gpt();
  d.workload.seq = 192;
  for (const char* text : {"load_imbalance<=1.5", "seq*1.5<=287.9", "seq*1.5<=288.1", "step_time<=0.5 ms"}) {
    const auto read = Constraint::parse(text);
    if (const auto* problem = std::get_if<Problem>(&read))
      add(to_string(*problem));
    else if (const Constraint& constraint = std::get<Constraint>(read); !constraint.of_figures())
      add(constraint.holds(d) ? "holds" : "does not hold");
  }
  SpaceSpec spec = small_space("2");
  spec.constraints = {"load_imbalance<=1.5"};
  spec.memory_margin = 0.125;
  const auto read = space_from_json(to_json(spec), "space.json");
  if (const auto* problem = std::get_if<Problem>(&read)) add(to_string(*problem));
  add(to_json(spec));
  const SearchResult result = found(made(spec));
  add(result_json(result));
  add(result_csv(result));
  add(result_json(reread(result)));
  const auto report = estimate(d);
  add(time_text(*simulate(*report)));
  return out;
}

}  // namespace

class LocaleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersDoNotDependOnTheLocale() {
    const QStringList expected = answers();
    QVERIFY(expected.contains("61.3") && expected.contains("holds") && expected.contains("does not hold"));
    QTemporaryDir folder;
    if (!set_comma_locale(folder.path()))
      QSKIP("no locale has a decimal comma, and localedef makes none without the package locales");
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 1.5);
    QCOMPARE(QByteArray(text), QByteArray("1,5"));
    const QStringList found = answers();
    std::setlocale(LC_NUMERIC, "C");
    QCOMPARE(found, expected);
  }

  void reals_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<double>("value");
    QTest::addColumn<int>("length");
    QTest::newRow("whole") << QByteArray("12") << 12.0 << 2;
    QTest::newRow("point") << QByteArray("1.5") << 1.5 << 3;
    QTest::newRow("comma") << QByteArray("1,5") << 1.0 << 1;
    QTest::newRow("unit") << QByteArray("20B") << 20.0 << 2;
    QTest::newRow("exponent") << QByteArray("1e-3 s") << 0.001 << 4;
    QTest::newRow("no number") << QByteArray("x") << 0.0 << -1;
    QTest::newRow("nothing") << QByteArray("") << 0.0 << -1;
    QTest::newRow("too large") << QByteArray("1e999") << 0.0 << -1;
    QTest::newRow("infinity") << QByteArray("inf") << 0.0 << -1;
    QTest::newRow("no finite number") << QByteArray("nan") << 0.0 << -1;
  }
  void reals() {
    QFETCH(QByteArray, text);
    QFETCH(double, value);
    QFETCH(int, length);
    const auto read = leading_real(text.toStdString());
    QCOMPARE(read ? static_cast<int>(read->length) : -1, length);
    if (read) QCOMPARE(read->value, value);
    QCOMPARE(parse_real(text.toStdString()).has_value(), length == text.size() && length > 0);
  }
};

QTEST_GUILESS_MAIN(LocaleTest)
#include "locale_test.moc"
