#include "base/units.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <limits>

#include "base/data_dir.h"
#include "base/problem.h"

using namespace shardscape;

namespace {

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("%s", qPrintable(path));
}

}  // namespace

class UnitsTest : public QObject {
  Q_OBJECT

 private slots:
  void wide_numbers();
  void wholes_of_doubles();
  void bytes();
  void counts();
  void flops();
  void seconds();
  void significant_figures();
  void problems();
  void data_folders();
  void texts();
};

void UnitsTest::wide_numbers() {
  const Wide high = static_cast<Wide>(~static_cast<unsigned __int128>(0) >> 1);
  QCOMPARE(to_string(Wide{0}), std::string("0"));
  QCOMPARE(to_string(high), std::string("170141183460469231731687303715884105727"));
  QCOMPARE(to_string(-high - 1), std::string("-170141183460469231731687303715884105728"));
  QCOMPARE(grouped(131072), std::string("131,072"));
  QCOMPARE(grouped(-1000), std::string("-1,000"));
  QCOMPARE(grouped(-100), std::string("-100"));
  QCOMPARE(grouped(999), std::string("999"));
  QCOMPARE(grouped(1000000), std::string("1,000,000"));
}

void UnitsTest::wholes_of_doubles() {
  QVERIFY(whole_part(2.9) == 2 && whole_part(-2.9) == -2);
  QVERIFY(nearest_whole(2.5) == 3 && nearest_whole(-2.5) == -3 && nearest_whole(2.4) == 2);
  QVERIFY(whole_part(1e300) == Wide{1} << 126 && nearest_whole(-1e300) == -(Wide{1} << 126));
  QVERIFY(whole_part(std::numeric_limits<double>::infinity()) == Wide{1} << 126);
  QVERIFY(whole_part(std::numeric_limits<double>::quiet_NaN()) == 0);
}

void UnitsTest::bytes() {
  constexpr Wide gib = Wide{1} << 30;
  QCOMPARE(format_bytes(0), std::string("0 B"));
  QCOMPARE(format_bytes(812), std::string("812 B"));
  QCOMPARE(format_bytes(1023), std::string("1,023 B"));
  QCOMPARE(format_bytes(1024), std::string("1.00 KiB"));
  QCOMPARE(format_bytes(gib * 613 / 10), std::string("61.3 GiB"));
  QCOMPARE(format_bytes(gib * 613 / 10, UnitSystem::Decimal), std::string("65.8 GB"));
  QCOMPARE(format_bytes(80 * gib), std::string("80.0 GiB"));
  QCOMPARE(format_bytes(1010 * gib), std::string("1,010 GiB"));
  QCOMPARE(format_bytes(1024 * gib - 1), std::string("1.00 TiB"));
  QCOMPARE(format_bytes(-3 * gib / 2), std::string("-1.50 GiB"));
  QCOMPARE(format_bytes(999999, UnitSystem::Decimal), std::string("1.00 MB"));
}

void UnitsTest::counts() {
  QCOMPARE(format_count(812), std::string("812"));
  QCOMPARE(format_count(1030000), std::string("1.03 M"));
  QCOMPARE(format_count(405853933568), std::string("405.9 B"));
  QCOMPARE(format_count(70553706496), std::string("70.6 B"));
  QCOMPARE(format_count(999), std::string("999"));
  QCOMPARE(format_count(1000), std::string("1.00 K"));
  QCOMPARE(format_count(999960), std::string("1.00 M"));
  QCOMPARE(format_count(1600000000000), std::string("1.60 T"));
  QCOMPARE(format_count(Wide{1234500} * 1000000000), std::string("1,234.5 T"));
  QCOMPARE(format_count(0), std::string("0"));
}

void UnitsTest::flops() {
  QCOMPARE(format_flops(Wide{5500} * 1000000000000), std::string("5.50 PFLOP"));
  QCOMPARE(format_flops(12), std::string("12 FLOP"));
  QCOMPARE(format_flops(Wide{38} * 1000000000000 * 1000000000000), std::string("38.0 YFLOP"));
}

void UnitsTest::seconds() {
  QCOMPARE(format_seconds(0), std::string("0 s"));
  QCOMPARE(format_seconds(9.84), std::string("9.84 s"));
  QCOMPARE(format_seconds(0.00114), std::string("1.14 ms"));
  QCOMPARE(format_seconds(0.00099999), std::string("1.00 ms"));
  QCOMPARE(format_seconds(2.5e-6), std::string("2.50 µs"));
  QCOMPARE(format_seconds(7e-9), std::string("7.00 ns"));
  QCOMPARE(format_seconds(100), std::string("100 s"));
  QCOMPARE(format_seconds(750), std::string("12.5 min"));
  QCOMPARE(format_seconds(18720), std::string("5.20 h"));
  QCOMPARE(format_seconds(86400 * 54.0), std::string("54.0 days"));
}

void UnitsTest::significant_figures() {
  QCOMPARE(significant(61.3), std::string("61.3"));
  QCOMPARE(significant(9.84), std::string("9.84"));
  QCOMPARE(significant(0.00123), std::string("0.00123"));
  QCOMPARE(significant(9.999), std::string("10.0"));
  QCOMPARE(significant(-0.5), std::string("-0.500"));
  QCOMPARE(significant(1234567), std::string("1,234,567"));
  QCOMPARE(significant(3.14159, 5), std::string("3.1416"));
  QCOMPARE(significant(0), std::string("0"));
  QCOMPARE(significant(1.0 / 0.0), std::string("inf"));
}

void UnitsTest::problems() {
  const Problem problem(ProblemCode::HeadsIndivisibleByTp, "tp", "32 heads do not split over tp = 5",
                        "a divisor of 32");
  QCOMPARE(to_string(problem),
           std::string("tp: 32 heads do not split over tp = 5; accepted: a divisor of 32"));
  const Problem note = Problem::note(ProblemCode::LayersUneven, "", "odd");
  QCOMPARE(to_string(note), std::string("odd"));
  QVERIFY(problem.severity == Severity::Error && note.severity == Severity::Note);
  QVERIFY(has_errors({problem}));
  QVERIFY(!has_errors({note}));
}

void UnitsTest::data_folders() {
  QTemporaryDir data, home;
  qputenv("SHARDSCAPE_DATA", data.path().toUtf8());
  qputenv("XDG_DATA_HOME", home.path().toUtf8());
  QCOMPARE(data_dir().string(), data.path().toStdString());
  QCOMPARE(user_data_dir().string(), home.path().toStdString() + "/shardscape");
  QVERIFY(data_files("models").empty());
  QVERIFY(QDir(data.path()).mkpath("models/blocks") && QDir(home.path()).mkpath("shardscape/models"));
  write(data.filePath("models/z.json"), "{}");
  write(data.filePath("models/blocks/a.json"), "{}");
  write(data.filePath("models/readme.txt"), "");
  write(home.filePath("shardscape/models/a.json"), "{}");
  std::vector<std::string> names;
  for (const auto& path : data_files("models")) names.push_back(path.filename().string());
  QCOMPARE(names, (std::vector<std::string>{"a.json", "z.json", "a.json"}));
  qputenv("XDG_DATA_HOME", "relative");
  qputenv("HOME", "/home/somebody");
  QCOMPARE(user_data_dir().string(), std::string("/home/somebody/.local/share/shardscape"));
  qunsetenv("SHARDSCAPE_DATA");
  QCOMPARE(data_dir().string(), std::string(SHARDSCAPE_SOURCE_DIR));
}

void UnitsTest::texts() {
  QTemporaryDir folder;
  write(folder.filePath("a.json"), "{\n\"x\": 1}\n");
  const auto text = read_text(folder.filePath("a.json").toStdString());
  QCOMPARE(std::get<std::string>(text), std::string("{\n\"x\": 1}\n"));
  // Texts of Windows programs.
  write(folder.filePath("b.csv"), "\xEF\xBB\xBFop,us\n");
  QCOMPARE(std::get<std::string>(read_text(folder.filePath("b.csv").toStdString())), std::string("op,us\n"));
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    write(folder.filePath("c.csv"), mark);
    const auto wide = read_text(folder.filePath("c.csv").toStdString());
    QVERIFY(std::holds_alternative<Problem>(wide));
    QVERIFY(std::get<Problem>(wide).what.find("UTF-16") != std::string::npos);
  }
  for (const char* name : {"missing.json", "."}) {
    const auto missing = read_text(folder.filePath(name).toStdString());
    QVERIFY(std::holds_alternative<Problem>(missing));
    QVERIFY(std::get<Problem>(missing).code == ProblemCode::FileUnreadable);
    QCOMPARE(std::get<Problem>(missing).where, folder.filePath(name).toStdString());
  }
}

QTEST_APPLESS_MAIN(UnitsTest)
#include "units_test.moc"
