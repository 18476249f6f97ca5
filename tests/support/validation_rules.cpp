#include "support/validation_rules.h"

#include <QTest>

#include "design/knobs/knobs.h"

namespace shardscape::test {

std::string listing(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_string(problem) + "\n";
  return text;
}

void apply(Design& design, const Fix& fix) {
  for (const auto& [id, text] : fix.settings) {
    const Knob* knob = find_knob(id);
    QVERIFY2(knob, id.c_str());
    const auto problem = set_knob(design, *knob, text);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
}

void add_rule_columns() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<bool>("note");
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<QString>("where");
  QTest::addColumn<QString>("accepted");
  QTest::addColumn<int>("fixes");  // at least so many
}

void row(const char* name, const Change& change, bool note, ProblemCode code, const char* where,
         const char* accepted, int fixes) {
  QTest::newRow(name) << change << note << code << where << accepted << fixes;
}

void check_rule(Notes notes) {
  QFETCH(Change, change);
  QFETCH(bool, note);
  QFETCH(ProblemCode, code);
  QFETCH(QString, where);
  QFETCH(QString, accepted);
  QFETCH(int, fixes);
  Design design = default_design();
  change(design);
  std::vector<Problem> problems = validate(design);
  if (notes == Notes::Ignored)
    std::erase_if(problems, [](const Problem& p) { return p.severity == Severity::Note; });
  QVERIFY2(problems.size() == 1, listing(problems).c_str());
  const Problem& problem = problems.front();
  QCOMPARE(problem.severity == Severity::Note, note);
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(problem.code == code, to_string(problem).c_str());
  QVERIFY2(QString::fromStdString(problem.accepted).contains(accepted), problem.accepted.c_str());
  QVERIFY2(static_cast<int>(problem.fixes.size()) >= fixes, std::to_string(problem.fixes.size()).c_str());
  for (const Fix& fix : problem.fixes) {
    Design mended = design;
    apply(mended, fix);
    QVERIFY(!(mended == design));
    const std::vector<Problem> left = validate(mended);
    QVERIFY2(!has_errors(left), (fix.label + " leaves " + listing(left)).c_str());
    for (const Problem& other : left)
      QVERIFY2(!note || other.where != problem.where, (fix.label + " leaves " + listing(left)).c_str());
  }
}

void add_good_columns() { QTest::addColumn<Change>("change"); }

void good_row(const char* name, const Change& change) { QTest::newRow(name) << change; }

void check_good() {
  QFETCH(Change, change);
  Design design = default_design();
  change(design);
  QCOMPARE(listing(validate(design)), std::string());
}

}  // namespace shardscape::test
