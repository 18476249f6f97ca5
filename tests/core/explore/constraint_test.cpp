// Constraints of a space of designs, as people write them.
#include <QtTest>

#include <algorithm>

#include "design/knobs/knobs.h"
#include "explore/constraint.h"
#include "explore/search.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ConstraintTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void constraints_data();
  void constraints();
  void figures_data();
  void figures();
  void every_name_is_accepted();
  void figures_exclude_timed_designs();
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
  QTest::newRow("symbol") << "b == 2 and B == 16" << true;
  QTest::newRow("displayed name") << "virtual stages == 1 and Microbatch <= 2" << true;
  QTest::newRow("displayed name of a quantity") << "GPUs == 16" << true;
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

void ConstraintTest::figures_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("holds");
  // 12 s, 60 of 80 GiB, MFU 41 %, 3,200 tokens/s on 16 GPUs, bubble 5 %
  QTest::newRow("seconds") << "step < 15" << true;
  QTest::newRow("milliseconds") << "step < 11000 ms" << false;
  QTest::newRow("capitals") << "Step < 15 s" << true;
  QTest::newRow("GiB") << "memory <= 60" << true;
  QTest::newRow("with the unit") << "memory <= 60 GiB and memory > 59.9 GiB" << true;
  QTest::newRow("decimal unit") << "memory < 64 GB" << false;  // 59.6 GiB
  QTest::newRow("free") << "free >= 20" << true;
  QTest::newRow("percent") << "MFU >= 41 %" << true;
  QTest::newRow("percent, joined") << "mfu > 40 % and bubble < 5 %" << false;
  QTest::newRow("name of several words") << "tokens/s per GPU >= 200" << true;
  QTest::newRow("sum of figures") << "bubble + exposed < 20" << true;
  QTest::newRow("with knobs") << "step*dp < 50 and tp == 2" << true;
  QTest::newRow("unknown") << "days < 1000" << false;
  QTest::newRow("not") << "not (MFU < 30)" << true;
}

void ConstraintTest::figures() {
  QFETCH(QString, text);
  QFETCH(bool, holds);
  Design d = small_gpt();
  d.parallel.tp = d.parallel.pp = 2;
  d.parallel.dp = 4;
  Evaluation e;
  e.feasibility = Feasibility::Fits;
  e.step_seconds = 12;
  e.memory = int64_t{60} << 30;
  e.capacity = int64_t{80} << 30;
  e.mfu = 0.41;
  e.tokens_per_second = 3200;
  e.bubble = 0.05;
  e.exposed = 0.1;
  const auto parsed = Constraint::parse(text.toStdString());
  QVERIFY2(std::holds_alternative<Constraint>(parsed),
           std::holds_alternative<Problem>(parsed) ? to_string(std::get<Problem>(parsed)).c_str() : "");
  const Constraint& constraint = std::get<Constraint>(parsed);
  QVERIFY(constraint.of_figures());
  QCOMPARE(constraint.holds(Scored{d, e}), holds);
}

void ConstraintTest::every_name_is_accepted() {
  for (const auto& entry : constraint_names()) {
    const std::string& name = entry.first;
    const Knob* knob = find_knob(name);
    if (knob && knob->type != KnobType::Integer && knob->type != KnobType::Decimal) continue;
    const auto parsed = Constraint::parse(name + " >= 0");
    QVERIFY2(std::holds_alternative<Constraint>(parsed), name.c_str());
    const bool quantity = std::any_of(quantities().begin(), quantities().end(),
                                      [&](const ConstraintQuantity& q) { return q.name == name; });
    QCOMPARE(std::get<Constraint>(parsed).of_figures(), !knob && !quantity);
  }
  for (const Knob& knob : knobs())
    if (knob.type == KnobType::Integer)
      QVERIFY2(std::holds_alternative<Constraint>(Constraint::parse(knob.label + " >= 0")),
               knob.label.c_str());
}

// A search leaves out the designs whose figures break the constraint, and only these.
void ConstraintTest::figures_exclude_timed_designs() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = "8";
  spec.dimensions = {{"tp", "1,2,4"}, {"pp", "1,2"}};
  SearchOptions options;
  options.result.top = options.result.sample = 100;
  const auto run = [&] {
    auto space = Space::make(spec);
    return std::get<SearchResult>(search(std::get<0>(space), options));
  };
  const SearchResult all = run();
  QVERIFY(all.best.size() > 2);
  std::vector<double> seconds;
  for (const Point& point : all.best) seconds.push_back(point.evaluation.step_seconds);
  std::sort(seconds.begin(), seconds.end());
  const double limit = (seconds[0] + seconds[1]) / 2;
  spec.constraints = {"step < " + std::to_string(limit * 1e6) + " us"};
  const SearchResult some = run();
  QCOMPARE(some.counts.timed, int64_t{1});
  QCOMPARE(some.counts.all_excluded(), all.counts.timed - 1);
  QCOMPARE(some.best.front().evaluation.step_seconds, seconds[0]);
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
                             << "is not expected after the end";
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
  QTest::newRow("deep") << QString(51, '(') + "tp" + QString(51, ')') + "<=8"
                        << "deeper than 50 levels";
  QTest::newRow("deep not") << QString("not ").repeated(51) + "tp<=8"
                            << "deeper than 50 levels";
  QTest::newRow("long") << QString("tp+").repeated(700) + "tp<=8"
                        << "2105 characters";
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
