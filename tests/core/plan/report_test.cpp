// The report: every number equals its printed formula, stages agree with the schedule, sends with receives;
// random designs, valid or not, never do worse than a Problem.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QtTest>

#include "design/knobs/knobs.h"
#include "grad_sync/sync_model.h"
#include "plan/report.h"
#include "report/report_json.h"
#include "support/designs.h"
#include "support/schedules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// A plausible design, now and then with a value that makes no sense.
Design random_design(QRandomGenerator& random, bool wild) {
  const char* presets[] = {"llama3-8b", "llama3-70b", "llama3.1-405b", "gpt3-175b"};
  Design d = preset_design(presets[random.bounded(4)], 1 << random.bounded(5), 1 + random.bounded(16),
                           1 << random.bounded(6), random.bounded(2));
  const std::vector<KnobChoice>& schedules = find_knob("schedule")->choices;
  set_knob(d, *find_knob("schedule"),
           schedules[static_cast<size_t>(random.bounded(static_cast<int>(schedules.size())))].value);
  d.parallel.microbatch_group = random.bounded(3) ? 0 : random.bounded(40);
  d.parallel.scatter_gather_pipeline = random.bounded(2);
  if (random.bounded(2)) {  // layers that split over chunks: uneven ones come as a list
    d.parallel.virtual_stages = 1 + random.bounded(4);
    const int64_t stages = d.parallel.pp * d.parallel.virtual_stages;
    if (stages <= d.model.layers && d.model.layers % stages != 0)
      d.parallel.stage_layers = layers_per_virtual_stage(d);
  }
  d.workload.seq = 256 << random.bounded(4);
  d.workload.microbatch = 1 << random.bounded(3);
  d.workload.batch = d.workload.microbatch * d.parallel.dp * (1 + random.bounded(20));
  if (!wild) return d;
  const auto all = knobs();
  for (int i = 0; i < 3; ++i) {
    const Knob& knob = all[random.bounded(static_cast<int>(all.size()))];
    const char* texts[] = {"0", "-1", "7", "131072", "9223372036854775807", "", "x", "1,2,3", "true", "3"};
    (void)set_knob(d, knob, texts[random.bounded(10)]);
  }
  // What a knob would not let through, a file or a caller may still hold.
  int64_t* fields[] = {&d.model.heads,    &d.model.hidden, &d.parallel.tp, &d.parallel.dp,
                       &d.workload.batch, &d.model.layers, &d.workload.seq};
  const int64_t values[] = {0, -5, INT64_MAX, INT64_MIN, 1, 3};
  *fields[random.bounded(7)] = values[random.bounded(6)];
  return d;
}

Wide evaluated(const QString& formula, const QJsonObject& symbols) {
  Binding binding;
  for (const QString& name : symbols.keys())
    binding.set(Symbol::intern(name.toStdString()), symbols[name].toInteger());
  const auto parsed = Expr::parse(formula.toStdString());
  if (!std::holds_alternative<Expr>(parsed)) return -1;
  const auto value = evaluate(std::get<Expr>(parsed), binding);
  return std::holds_alternative<Wide>(value) ? std::get<Wide>(value) : -1;
}

}  // namespace

class ReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The head's backward follows its forward. So a replay in between is in no activation of a stage.
  void replaysOfTheHeadAreNoActivations() {
    Design d = preset_design("llama3-8b", 2, 2, 2);
    d.workload.profile = "torchtitan-selective";
    d.workload.recompute = Recompute::Selective;
    const auto report = make_report(d);
    const Graph& graph = report->graph();
    QVERIFY(!graph.segments[static_cast<size_t>(graph.head())].replayed.empty());
    for (const PartValue& part :
         report->stages.back().parts[static_cast<size_t>(MemoryCategory::Activations)])
      QVERIFY2(!part.name.ends_with("head"), part.name.c_str());
  }

  void everyNumberEqualsItsFormula_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::newRow("llama") << "llama3-8b" << 2 << 3;
    QTest::newRow("kv heads fewer than tp") << "llama3-70b" << 16 << 2;
    QTest::newRow("tied") << "gpt3-175b" << 4 << 4;
    QTest::newRow("alone") << "llama3-8b" << 1 << 1;
    QTest::newRow("virtual stages") << "gpt3-175b" << 4 << 8;
    QTest::newRow("ulysses inside ring") << "llama3-8b" << 2 << 2;
    for (const std::string& schedule : other_schedules())
      QTest::newRow(schedule.c_str()) << "llama3-8b" << 2 << 4;
  }
  void everyNumberEqualsItsFormula() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    QFETCH(int, pp);
    Design d = preset_design(qPrintable(preset), tp, pp, 2, tp > 1);
    if (QLatin1String(QTest::currentDataTag()) == QLatin1String("virtual stages"))
      d.parallel.virtual_stages = 3;
    if (pp == 4 && tp == 2) {
      QVERIFY(!set_knob(d, *find_knob("schedule"), QTest::currentDataTag()));
      d.parallel.virtual_stages = QByteArray(QTest::currentDataTag()).endsWith("v") ||
                                          d.parallel.schedule == ScheduleKind::Flexible
                                      ? 2
                                      : 1;
      d.workload.batch = 16 * d.parallel.dp * d.workload.microbatch;
    }
    if (QLatin1String(QTest::currentDataTag()) == QLatin1String("ulysses inside ring")) {
      d.parallel.cp = 8;
      d.parallel.context = ContextMode::UlyssesRing;
      d.parallel.ulysses_degree = 2;
    }
    const QJsonObject root = QJsonDocument::fromJson(QByteArray::fromStdString(report_json(*make_report(d))))
                                 .object();
    QCOMPARE(root["stages"].toArray().size(), pp);
    int checked = 0;
    for (const QJsonValue& value : root["stages"].toArray()) {
      const QJsonObject stage = value.toObject(), symbols = stage["symbols"].toObject();
      const auto check = [&](const QJsonObject& q) {
        QVERIFY(evaluated(q["formula"].toString(), symbols) == Wide(q["value"].toInteger()));
        ++checked;
      };
      check(stage["parameters"].toObject());
      for (const QJsonValue& category : stage["memory"].toObject()) {
        check(category.toObject());
        for (const QJsonValue& part : category.toObject()["parts"].toArray()) check(part.toObject());
      }
      for (const QJsonValue& kind : stage["flops"].toObject())
        for (const QJsonValue& phase : kind.toObject()) {
          check(phase.toObject());
          check(phase.toObject()["useful"].toObject());
        }
      for (const QJsonValue& row : stage["collectives"].toArray()) {
        const QJsonObject formulas = row.toObject()["formula"].toObject();
        for (const char* key : {"count", "elements", "bytes"}) {
          QVERIFY(evaluated(formulas[key].toString(), symbols) == Wide(row.toObject()[key].toInteger()));
          ++checked;
        }
      }
    }
    QVERIFY(checked > 30 * pp);
  }

  void stagesAgreeWithTheSchedule() {
    QRandomGenerator random(5);
    for (int i = 0; i < 60; ++i) {
      const auto r = make_report(random_design(random, false));
      if (!r->valid()) continue;
      const auto in_flight = microbatches_in_flight(
          make_schedule(r->design.parallel, static_cast<int>(r->microbatches)));
      for (const StageReport& s : r->stages)
        QCOMPARE(s.in_flight, int64_t(in_flight[static_cast<size_t>(s.stage)]));
    }
  }

  // GPT 22B on 4 stages with 2 chunks each, 8 microbatches, as recorded from Megatron-LM (commit fc7f4f0):
  // messages of a step, and microbatches of each chunk alive at the start of the backward at which most is
  // alive.
  void virtualStagesAgreeWithTheRecording() {
    Design d = preset_design("gpt3-175b", 2, 4, 1, false);
    d.model.layers = 8;
    d.model.hidden = 6144;
    d.model.heads = d.model.kv_heads = 64;
    d.model.head_dim = 96;
    d.model.ffn = 24576;
    d.workload.seq = 2048;
    d.workload.microbatch = 4;
    d.workload.batch = 32;
    d.parallel.virtual_stages = 2;
    d.parallel.scatter_gather_pipeline = true;
    const auto r = make_report(d);
    QVERIFY(r->valid());
    const int64_t messages[] = {24, 32, 32, 24}, chunks[] = {11, 9, 7, 5};
    const auto symbol = [](const StageReport& s, const char* name) {
      return s.binding.get(Symbol::intern(name)).value_or(-1);
    };
    for (const StageReport& s : r->stages) {
      const int64_t count = messages[s.stage];
      int rows = 0;
      for (const CollectiveValue& c : s.collectives) {
        if (c.phase != Phase::Pipeline) continue;
        ++rows;
        QVERIFY(c.count.value == count);
        QVERIFY(c.elements.value == count * (c.op == CollectiveKind::AllGather ? 50331648 : 25165824));
      }
      QCOMPARE(rows, 3);
      QCOMPARE(s.in_flight, chunks[s.stage]);
      QCOMPARE(symbol(s, "Lf"), chunks[s.stage]);  // a layer per chunk
      QCOMPARE(s.chunks.size(), size_t{2});
      QCOMPARE(s.chunks[1].first_layer, int64_t{4 + s.stage});
    }
    QCOMPARE(symbol(r->stages[0], "nfe"), int64_t{8});
    QCOMPARE(symbol(r->stages[3], "nfh"), int64_t{1});
  }

  void whatIsSentIsReceived() {
    QRandomGenerator random(6);
    int valid = 0;
    for (int i = 0; i < 200; ++i) {
      const auto r = make_report(random_design(random, false));
      if (!r->valid()) continue;
      ++valid;
      Wide sent = 0, received = 0;
      for (const StageReport& s : r->stages)
        for (const CollectiveValue& c : s.collectives) {
          if (c.op == CommOp::send()) sent += c.bytes.value;
          if (c.op == CommOp::receive()) received += c.bytes.value;
          if (c.phase == Phase::Pipeline && c.op == CollectiveKind::AllGather)
            QVERIFY(c.bytes.value % c.group_size == 0);
          QVERIFY(c.group_size > 1);
          QVERIFY(c.count.value > 0);
        }
      QVERIFY(sent == received);
      QVERIFY((sent > 0) == (r->stages.size() > 1));
    }
    QVERIFY(valid > 50);
  }

  void gradientReductionsCoverWhatIsPartial() {
    QRandomGenerator random(8);
    for (int i = 0; i < 200; ++i) {
      const auto r = make_report(random_design(random, false));
      if (!r->valid()) continue;
      for (const StageReport& s : r->stages) {
        bool dp = false;
        for (const SyncRow& row : stage_sync(r->graph(), s.first, s.last, s.layers > 0).rows) {
          if (row.axes != MeshAxes{MeshAxis::Dp} || row.op != CollectiveKind::AllReduce) continue;
          dp = true;  // every parameter of a rank is reduced over the replicas
          QVERIFY(std::get<Wide>(evaluate(row.elements, s.binding)) == s.parameters.value);
        }
        QCOMPARE(dp, r->design.parallel.dp > 1);
      }
    }
  }

  void nonsenseIsAProblem() {
    QRandomGenerator random(9);
    int invalid = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto r = make_report(random_design(random, true));
      if (r->valid()) {
        QVERIFY(!has_errors(r->problems));
        continue;
      }
      ++invalid;
      QVERIFY(has_errors(r->problems));
      for (const Problem& p : r->problems) QVERIFY(!p.where.empty() && !p.what.empty());
    }
    QVERIFY(invalid > 1000);
  }

  // Useful FLOPs of the attention over all ranks are those of one rank; counted ones are whole blocks, evenly
  // spread by zigzag.
  void ringsShareTheWork_data() {
    QTest::addColumn<QString>("context");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("ring");  // ranks of it
    for (int cp : {2, 4, 8}) {
      QTest::addRow("ring of %d", cp) << "ring" << cp << cp;
      QTest::addRow("zigzag of %d", cp) << "zigzag" << cp << cp;
      QTest::addRow("ulysses in ring of %d", cp) << "ulysses-ring" << cp << cp / 2;
      QTest::addRow("ulysses in zigzag of %d", cp) << "ulysses-zigzag" << cp << cp / 2;
    }
  }
  void ringsShareTheWork() {
    QFETCH(QString, context);
    QFETCH(int, cp);
    QFETCH(int, ring);
    const auto attention = [](const Report& r, bool useful) {
      Wide sum = 0;
      for (const FlopsValue& f : r.stages[0].flops)
        if (f.kind == OpKind::Attention) sum += useful ? f.useful.value : f.counted.value;
      return sum;
    };
    Design d = preset_design("llama3-8b", 2, 1, 1, true);
    d.workload.batch = 4;
    const auto alone = make_report(d);
    d.parallel.cp = cp;
    QVERIFY(!set_knob(d, *find_knob("context"), context.toStdString()));
    d.parallel.ulysses_degree = context.startsWith("ulysses") ? 2 : 0;
    Wide useful = 0, counted = 0, all = 0;
    for (int position = 0; position < ring; ++position) {
      const auto r = make_report(d, {}, position);
      QVERIFY(r->valid());
      QCOMPARE(r->ring_position.has_value(), context.endsWith("ring") && ring > 1);
      useful += attention(*r, true) * (cp / ring);
      counted += attention(*r, false) * (cp / ring);
      all += r->stages[0].flops_total * (cp / ring) * 2;
    }
    QVERIFY(useful == attention(*alone, true));
    // Of n x n blocks n (n + 1) / 2 are worked on.
    QVERIFY(counted * 2 * ring == attention(*alone, false) * (ring + 1) || ring == 1);
    const auto worst = make_report(d);
    QVERIFY(to_double(all) == worst->step_flops);
    if (worst->ring_position) QVERIFY(attention(*worst, false) > attention(*make_report(d, {}, 0), false));
  }

  void stoppedReportsAreNothing() {
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(make_report(default_design(), stop.get_token()) == nullptr);
  }
};

QTEST_APPLESS_MAIN(ReportTest)
#include "report_test.moc"
