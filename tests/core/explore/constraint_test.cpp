// Constraints of a space of designs, as people write them.
#include <QtTest>

#include "explore/constraint.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ConstraintTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void constraints_data();
  void constraints();
  void bad_constraints_data();
  void bad_constraints();
};

void ConstraintTest::constraints_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("holds");
  // tp 2, pp 2, dp 4, batch 16, microbatch 2, seq 128, 1f1b, sequence parallel, H100 with 8 GPUs per node
  QTest::newRow("less") << "tp<=2" << true;
  QTest::newRow("strictly") << "tp < 2" << false;
  QTest::newRow("more") << "dp>=5" << false;
  QTest::newRow("equal") << "dp==4" << true;
  QTest::newRow("one sign") << "dp=4" << true;
  QTest::newRow("unequal") << "dp!=4" << false;
  QTest::newRow("one of") << "dp==1|4" << true;
  QTest::newRow("none of") << "dp!=1|4" << false;
  QTest::newRow("product") << "tp*pp*dp == gpus" << true;
  QTest::newRow("precedence") << "tp + pp * dp == 10" << true;
  QTest::newRow("parentheses") << "(tp+pp)*dp == 16" << true;
  QTest::newRow("quotient") << "batch/dp/microbatch == microbatches" << true;
  QTest::newRow("difference") << "dp-tp-pp==0" << true;
  QTest::newRow("remainder") << "batch%3==1" << true;
  QTest::newRow("tokens") << "tokens==2k" << true;
  QTest::newRow("millions") << "tokens>=1M" << false;
  QTest::newRow("node") << "tp<=node and node==8" << true;
  QTest::newRow("nodes") << "nodes==2" << true;
  QTest::newRow("domain") << "domain==8" << true;
  QTest::newRow("choice") << "schedule==1f1b" << true;
  QTest::newRow("choices") << "schedule==gpipe|zb-h1" << false;
  QTest::newRow("not the choice") << "sync!=zero-3" << true;
  QTest::newRow("Boolean") << "sequence_parallel" << true;
  QTest::newRow("Boolean, said") << "sequence-parallel==false" << false;
  QTest::newRow("not") << "not sequence_parallel" << false;
  QTest::newRow("or") << "pp==1 or virtual_stages==1" << true;
  QTest::newRow("and binds more") << "pp==1 and tp==1 or dp==4" << true;
  QTest::newRow("nested") << "(pp==1 or tp==2) and (dp==1 or not dropout)" << true;
  QTest::newRow("decimal") << "load_imbalance<=1" << true;
}

void ConstraintTest::constraints() {
  QFETCH(QString, text);
  QFETCH(bool, holds);
  Design d = small_gpt();
  d.parallel.tp = d.parallel.pp = 2;
  d.parallel.dp = 4;
  d.parallel.sequence_parallel = true;
  d.workload.microbatch = 2;
  const auto constraint = Constraint::parse(text.toStdString());
  QVERIFY2(
      std::holds_alternative<Constraint>(constraint),
      std::holds_alternative<Problem>(constraint) ? to_string(std::get<Problem>(constraint)).c_str() : "");
  QCOMPARE(std::get<Constraint>(constraint).holds(d), holds);
}

void ConstraintTest::bad_constraints_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("what");
  QTest::newRow("empty") << ""
                         << "missing";
  QTest::newRow("no knob") << "tq<=8"
                           << "\"tq\"";
  QTest::newRow("no comparison") << "tp*pp"
                                 << "comparison";
  QTest::newRow("left over") << "tp<=8 pp"
                             << "follows the end";
  QTest::newRow("open") << "(tp+1<=8"
                        << "not closed";
  QTest::newRow("end") << "tp<="
                       << "at the end";
  QTest::newRow("sign") << "tp<=#"
                        << "\"#\"";
  QTest::newRow("choice") << "schedule==best"
                          << "\"best\"";
  QTest::newRow("order of choices") << "schedule<=gpipe"
                                    << "no order";
  QTest::newRow("out of range") << "sequence_parallel==maybe"
                                << "maybe";
}

void ConstraintTest::bad_constraints() {
  QFETCH(QString, text);
  QFETCH(QString, what);
  const auto constraint = Constraint::parse(text.toStdString());
  QVERIFY(std::holds_alternative<Problem>(constraint));
  QVERIFY(std::get<Problem>(constraint).code == ProblemCode::ConstraintSyntax);
  QVERIFY2(QString::fromStdString(std::get<Problem>(constraint).what).contains(what),
           std::get<Problem>(constraint).what.c_str());
}

QTEST_GUILESS_MAIN(ConstraintTest)
#include "constraint_test.moc"
