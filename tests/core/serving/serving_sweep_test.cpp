// Sweeps of serving: the largest batches, the rows, and the split of batches into microbatches.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <map>

#include "design/knobs/knobs.h"
#include "report/inference_report.h"
#include "serving/within_limits.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

class ServingSweepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void largest() {
    for (const char* context : {"4096", "131072"}) {
      Design d = served("llama3-70b", Mode::Decode, {{"tp", "4"}, {"dp", "2"}, {"batch", "2"}});
      const int64_t tokens = QByteArray(context).toLongLong(), most = largest_batch(d, tokens);
      QVERIFY(most > 0 && most % 2 == 0);
      QVERIFY(reported(serving_design(d, Mode::Decode, most, tokens))->memory->fits);
      QVERIFY(!reported(serving_design(d, Mode::Decode, most + 2, tokens))->memory->fits);
    }
    QCOMPARE(largest_batch(served("llama3-70b", Mode::Decode), 4096),
             int64_t{0});  // weights alone are too much
  }

  // The largest batch is what trying all of them finds.
  void largestByBruteForce_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<QList<int>>("degrees");  // tp, pp, dp
    QTest::addColumn<int>("context");
    QTest::newRow("grouped, one replica") << QByteArray("llama3-70b") << QList<int>{8, 1, 1} << 65536;
    QTest::newRow("replicas") << QByteArray("llama3-70b") << QList<int>{4, 1, 2} << 65536;
    QTest::newRow("pipeline") << QByteArray("llama3-70b") << QList<int>{2, 4, 1} << 32768;
    QTest::newRow("latent") << QByteArray("deepseek-v2-lite") << QList<int>{1, 1, 2} << 262144;
    QTest::newRow("a state of fixed size") << QByteArray("mamba2-2.7b") << QList<int>{1, 1, 1} << 4096;
    QTest::newRow("none") << QByteArray("llama3-70b") << QList<int>{1, 1, 1} << 1024;
  }
  void largestByBruteForce() {
    QFETCH(QByteArray, preset);
    QFETCH(QList<int>, degrees);
    QFETCH(int, context);
    Design d = served(preset.constData(), Mode::Decode);
    d.parallel.tp = degrees[0];
    d.parallel.pp = degrees[1];
    d.parallel.dp = degrees[2];
    const int64_t unit = d.parallel.pp * d.parallel.dp;
    int64_t most = 0;
    for (int64_t batch = unit; batch <= 1200; batch += unit)
      if (estimate(serving_design(d, Mode::Decode, batch, context))->memory->fits) most = batch;
    QVERIFY2(most < 1200 - unit, "more would have to be tried");
    QCOMPARE(largest_batch(d, context), most);
  }

  void sweeps() {
    const ServingSweep made = sweep(served("llama3-8b", Mode::Train, {{"dp", "2"}}), {64, 2, 3},
                                    {1024, 8192});
    QCOMPARE(std::count_if(made.points.begin(), made.points.end(),
                           [](const ServedPoint& p) { return p.requested; }),
             6);
    QCOMPARE(made.points.size(), size_t{8});  // and the largest of each context
    for (const ServedPoint& p : made.points) {
      QCOMPARE(p.decode.valid(), p.batch != 3);  // two replicas
      QCOMPARE(!point_problem(p), p.batch != 3);
      QCOMPARE(p.largest, !p.requested);
    }
    QVERIFY(std::is_sorted(made.points.begin(), made.points.end(), [](const auto& a, const auto& b) {
      return std::pair(a.context, a.batch) < std::pair(b.context, b.batch);
    }));
    QVERIFY(QString::fromStdString(sweep_text(made)).contains("sequences of 8,192 tokens fit: "));
    const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(sweep_json(made))).object();
    QCOMPARE(json["points"].toArray().size(), 6);
    QVERIFY(json["points"][2]["decode"]["tpot_seconds"].toDouble() > 0);
    QCOMPARE(json["largest_batches"][0]["context"].toInt(), 1024);
    QVERIFY(json["largest_batches"][0]["decode"]["fits"].toBool());
    // A sweep that is stopped at once is empty. Stopped later, it has complete contexts.
    std::stop_source stop;
    const ServingSweep part = sweep(served("llama3-8b", Mode::Train), {1, 2}, {1024, 2048, 4096},
                                    stop.get_token(), [&](size_t done, size_t of) {
                                      QCOMPARE(of, size_t{9});
                                      if (done == 5) stop.request_stop();
                                    });
    QCOMPARE(part.points.size(), size_t{3});
    QCOMPARE(part.largest.size(), size_t{1});
  }

  void limitsAreTimes() {
    const auto seconds = [](const char* text) { return std::get<0>(limit_seconds(text, "x")); };
    QVERIFY(!seconds("") && !seconds("  "));
    QCOMPARE(*seconds("50 ms"), 0.05);
    QCOMPARE(*seconds("1.5s"), 1.5);
    QCOMPARE(*seconds(" 2 MIN "), 120.0);
    QCOMPARE(*seconds("800 us"), *seconds("800 µs"));
    for (const char* text : {"50", "ms", "-1 s", "0 s", "1 e3 s", "five s", "1 h", "1.2.3 s"})
      QVERIFY2(std::holds_alternative<Problem>(limit_seconds(text, "x")), text);
    for (const double value : {0.05, 1.5, 0.0008, 120.0, 0.0123})
      QCOMPARE(*seconds(limit_text(value).c_str()), value);
  }

  // The answer is what trying all batches finds.
  void largestWithinLimits_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<QList<int>>("degrees");  // tp, pp, dp
    QTest::addColumn<int>("ttft_at");         // the limit is the latency of this many sequences; 0: no limit
    QTest::addColumn<int>("tpot_at");
    QTest::newRow("TPOT") << QByteArray("llama3-8b") << QList<int>{1, 1, 1} << 0 << 23;
    QTest::newRow("TTFT") << QByteArray("llama3-8b") << QList<int>{1, 1, 1} << 29 << 0;
    QTest::newRow("both, replicas") << QByteArray("llama3-8b") << QList<int>{1, 1, 2} << 26 << 50;
    QTest::newRow("pipeline") << QByteArray("llama3-70b") << QList<int>{2, 2, 1} << 0 << 37;
  }
  void largestWithinLimits() {
    QFETCH(QByteArray, preset);
    QFETCH(QList<int>, degrees);
    QFETCH(int, ttft_at);
    QFETCH(int, tpot_at);
    Design d = served(preset.constData(), Mode::Decode);
    d.parallel.tp = degrees[0];
    d.parallel.pp = degrees[1];
    d.parallel.dp = degrees[2];
    const int64_t context = 4096, unit = least_batch(d);
    ServingSweep made = sweep(d, {unit, 16 * unit, 256 * unit}, {context});
    const size_t before = made.points.size();
    ServiceLimits limits;
    if (ttft_at > 0) limits.ttft = served_point(d, ttft_at, context).prefill.figures.seconds;
    if (tpot_at > 0) limits.tpot = served_point(d, tpot_at, context).decode.figures.seconds;
    find_within_limits(made, limits);
    int64_t most = 0;
    for (int64_t batch = unit; batch <= 110 * unit; batch += unit)
      if (keeps_limits(served_point(d, batch, context), limits)) most = batch;
    QVERIFY2(most > unit && most < 100 * unit, qPrintable(QString::number(most)));
    QCOMPARE(made.within, (std::vector<std::pair<int64_t, int64_t>>{{context, most}}));
    const auto at = std::find_if(made.points.begin(), made.points.end(),
                                 [](const ServedPoint& p) { return p.within; });
    QVERIFY(at != made.points.end() && at->batch == most && !at->requested);
    QVERIFY(std::is_sorted(made.points.begin(), made.points.end(), [](const auto& a, const auto& b) {
      return std::pair(a.context, a.batch) < std::pair(b.context, b.batch);
    }));
    for (const ServedPoint& p : made.points) {
      QCOMPARE(breaks_ttft(p, limits), ttft_at > 0 && p.prefill.figures.seconds > *limits.ttft);
      QCOMPARE(breaks_tpot(p, limits), tpot_at > 0 && p.decode.figures.seconds > *limits.tpot);
    }
    // A million tokens at its speed: dollars of an hour of all GPUs, over the tokens of an hour.
    const Operation site = operation_of(d.cluster);
    const double hours = 1e6 / at->decode.figures.tokens_per_second / 3600 * static_cast<double>(d.world());
    QVERIFY(site.price_per_hour > 0);
    QVERIFY(qAbs(*output_cost(d, *at).dollars / (hours * site.price_per_hour) - 1) < 1e-12);
    const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(sweep_json(made))).object();
    const QJsonValue answer = json["largest_batches_within_limits"][0];
    QCOMPARE(answer["batch"].toInteger(), most);
    QCOMPARE(answer["dollars_per_million_output_tokens"].toDouble(), *output_cost(d, *at).dollars);
    QVERIFY(!json["points"][2]["breaks_limits"].toArray().isEmpty());
    QVERIFY(QString::fromStdString(sweep_text(made)).contains("per million output tokens"));
    // Other limits replace the answer. Without limits nothing is left of it.
    find_within_limits(made, {std::nullopt, 1e9});
    QCOMPARE(made.points.size(), before);
    QCOMPARE(made.within, made.largest);
    find_within_limits(made, {1e-9, std::nullopt});
    QCOMPARE(made.within.front().second, int64_t{0});
    QVERIFY(QString::fromStdString(sweep_text(made)).contains("no sequences of 4,096 tokens"));
    find_within_limits(made, {});
    QVERIFY(made.within.empty() && made.points.size() == before);
    QVERIFY(!QString::fromStdString(sweep_json(made)).contains("limits"));
  }

  // A row of a sweep is the report of the design that it makes the present one.
  void rowsAreReports_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<QList<int>>("degrees");  // tp, pp, dp, ep, sequence parallelism, etp
    QTest::addColumn<QByteArray>("dispatcher");
    QTest::newRow("pipeline") << QByteArray("llama3-70b") << QList<int>{4, 2, 1, 1, 0, 0}
                              << QByteArray("alltoall");
    QTest::newRow("sequences over tp")
        << QByteArray("llama3-8b") << QList<int>{2, 2, 2, 1, 1, 0} << QByteArray("alltoall");
    QTest::newRow("experts") << QByteArray("mixtral-8x7b") << QList<int>{2, 1, 4, 4, 0, 0}
                             << QByteArray("alltoall");
    QTest::newRow("experts over tp") << QByteArray("mixtral-8x7b") << QList<int>{4, 1, 2, 8, 0, 1}
                                     << QByteArray("alltoall");
    QTest::newRow("gathered experts over tp")
        << QByteArray("mixtral-8x7b") << QList<int>{4, 1, 2, 8, 0, 1} << QByteArray("allgather");
  }
  void rowsAreReports() {
    QFETCH(QByteArray, preset);
    QFETCH(QList<int>, degrees);
    Design d = served(preset.constData(), Mode::Train);
    d.parallel.tp = degrees[0];
    d.parallel.pp = degrees[1];
    d.parallel.dp = degrees[2];
    d.parallel.ep = degrees[3];
    d.parallel.sequence_parallel = degrees[4] == 1;
    d.parallel.etp = degrees[5];
    QFETCH(QByteArray, dispatcher);
    QVERIFY(!set_knob(d, *find_knob("dispatcher"), dispatcher.toStdString()));
    const std::vector<int64_t> contexts = usual_contexts(d);
    const ServingSweep made = sweep(d, usual_batches(d, contexts), contexts);
    const auto raw = sweep_table(made);
    QCOMPARE(raw.size(), made.points.size() + 1);
    int valid = 0;
    for (size_t i = 0; i < made.points.size(); ++i) {
      const ServedPoint& p = made.points[i];
      for (const Mode mode : {Mode::Prefill, Mode::Decode}) {
        const SweptPhase& phase = mode == Mode::Decode ? p.decode : p.prefill;
        const Design of = serving_design(d, mode, p.batch, p.context);
        QCOMPARE(has_errors(validate(of)), !phase.valid());
        if (!phase.valid()) continue;
        ++valid;
        const auto report = reported(of);
        const InferenceFigures figures = inference_figures(*report, *simulate(*report));
        QVERIFY(qAbs(phase.figures.seconds / figures.seconds - 1) < 1e-9);
        QVERIFY(qAbs(phase.figures.first_seconds - figures.first_seconds) <= 1e-9 * figures.seconds);
        QVERIFY(qAbs(phase.figures.tokens_per_gpu / figures.tokens_per_gpu - 1) < 1e-9);
        QCOMPARE(phase.figures.kv_cache_bytes, figures.kv_cache_bytes);
        QCOMPARE(phase.memory, memory_in_use(*report, report->memory->peak_stage));
        QCOMPARE(phase.fits, report->memory->fits);
        QCOMPARE(phase.microbatch, of.workload.microbatch);
        const char* name = mode == Mode::Decode ? "tpot_seconds" : "ttft_seconds";
        const auto column = std::find(raw.front().begin(), raw.front().end(), name) - raw.front().begin();
        QCOMPARE(QByteArray::fromStdString(raw[i + 1][static_cast<size_t>(column)]).toDouble(),
                 phase.figures.seconds);
      }
    }
    QVERIFY(valid > 40);
    const auto column = [&](const char* name) {
      return static_cast<size_t>(std::find(raw.front().begin(), raw.front().end(), name) -
                                 raw.front().begin());
    };
    QVERIFY(column("problem") + 1 == raw.front().size() && column("decode_fits") < raw.front().size());
  }

  // Default ranges include the batch and context of the design. Batches reach from the smallest valid one to
  // one that does not fit. Contexts end at the table of positions.
  void usualRanges() {
    const Design d = served("llama3-70b", Mode::Decode,
                            {{"tp", "4"}, {"dp", "2"}, {"batch", "6"}, {"context_length", "5000"}});
    const std::vector<int64_t> contexts = usual_contexts(d), batches = usual_batches(d, contexts);
    QCOMPARE(contexts, (std::vector<int64_t>{1024, 4096, 5000, 16384, 65536}));
    QCOMPARE(batches.front(), int64_t{2});
    QVERIFY(std::find(batches.begin(), batches.end(), 6) != batches.end());
    const int64_t most = largest_batch(d, 1024);
    QVERIFY(batches.back() > most && batches[batches.size() - 2] <= most);
    QCOMPARE(usual_contexts(served("gpt2", Mode::Prefill, {{"seq", "512"}})),
             (std::vector<int64_t>{512, 1024}));
    // Small states: thousands of sequences in a dozen steps.
    const Design small = served("mamba-130m", Mode::Decode);
    QVERIFY(usual_batches(small, usual_contexts(small)).size() <= 14);
    // The weights alone do not fit: the ranges are still not empty.
    const Design large = served("llama3.1-405b", Mode::Decode);
    QCOMPARE(usual_batches(large, usual_contexts(large)).front(), int64_t{1});
    QVERIFY(usual_batches(large, usual_contexts(large)).size() >= 6);
  }

  // Simulating a part of many microbatches gives the same result as simulating all.
  void manyPrompts_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<QList<int>>("degrees");  // tp, pp, dp, cp, ep
    QTest::newRow("one stage") << QByteArray("llama3-8b") << QList<int>{2, 1, 1, 1, 1};
    QTest::newRow("uneven stages") << QByteArray("gpt2-large") << QList<int>{1, 4, 1, 1, 1};
    QTest::newRow("deep, across nodes") << QByteArray("llama3-70b") << QList<int>{4, 16, 1, 1, 1};
    QTest::newRow("rings") << QByteArray("llama3-8b") << QList<int>{1, 2, 1, 4, 1};
    QTest::newRow("experts") << QByteArray("mixtral-8x7b") << QList<int>{2, 2, 4, 1, 4};
  }
  void manyPrompts() {
    QFETCH(QByteArray, preset);
    QFETCH(QList<int>, degrees);
    Design d = served(preset.constData(), Mode::Prefill, {{"seq", "512"}});
    d.parallel.tp = degrees[0];
    d.parallel.pp = degrees[1];
    d.parallel.dp = degrees[2];
    d.parallel.cp = degrees[3];
    d.parallel.ep = degrees[4];
    if (d.parallel.cp > 1) d.parallel.context = ContextMode::Ring;
    for (const int64_t microbatches : {65, 100, 400}) {
      d.workload.batch = microbatches * d.parallel.dp;
      const SweptPhase part = swept_phase(d);
      QVERIFY2(part.valid(), part.problem ? part.problem->what.c_str() : "");
      const ServedPhase all = serve(d);
      QVERIFY2(qAbs(part.figures.seconds / all.figures.seconds - 1) < 1e-9,
               qPrintable(QString::number(part.figures.seconds / all.figures.seconds - 1)));
      QVERIFY(qAbs(part.figures.first_seconds / all.figures.first_seconds - 1) < 1e-9);
      QCOMPARE(part.memory, memory_in_use(*all.report, all.report->memory->peak_stage));
    }
  }

  // Sequence parallelism wants pairs in a microbatch: four sequences of two replicas and two stages are one
  // microbatch each.
  void microbatchesSplit() {
    Design d = served("llama3-8b", Mode::Decode, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    d.parallel.sequence_parallel = true;
    QCOMPARE(serving_design(d, Mode::Decode, 4, 1024).workload.microbatch, int64_t{2});
    QCOMPARE(serving_design(d, Mode::Decode, 8, 1024).workload.microbatch, int64_t{2});
    QCOMPARE(serving_design(d, Mode::Decode, 12, 1024).workload.microbatch, int64_t{4});
    d.parallel.sequence_parallel = false;
    QCOMPARE(serving_design(d, Mode::Decode, 4, 1024).workload.microbatch, int64_t{1});
  }

  // An odd sequence leaves a place of a microbatch empty; it does not split the batch into one-sequence
  // microbatches.
  void oddBatches() {
    const Design d = served("llama3-8b", Mode::Decode, {{"pp", "4"}});
    const ServingSweep swept = sweep(d, {31, 32}, {8192});
    std::map<int64_t, const ServedPoint*> of;
    for (const ServedPoint& p : swept.points) of[p.batch] = &p;
    QVERIFY(of.at(31)->decode.valid() && of.at(32)->decode.valid());
    QCOMPARE(of.at(31)->decode.microbatch, int64_t{8});
    QCOMPARE(of.at(31)->decode.figures.seconds, of.at(32)->decode.figures.seconds);
    QVERIFY(qAbs(of.at(31)->decode.figures.tokens_per_second / of.at(32)->decode.figures.tokens_per_second *
                     32 / 31 -
                 1) < 1e-12);
    // At most as many microbatches as stages, and no empty microbatch. One sequence more is never much
    // faster; one microbatch less may save a little.
    for (const int64_t pp : {4, 8}) {
      Design deeper = d;
      deeper.parallel.pp = pp;
      double before = 0;
      for (int64_t batch = 1; batch < 70; ++batch) {
        const Design serving = serving_design(deeper, Mode::Decode, batch, 1024);
        const int64_t microbatch = serving.workload.microbatch, places = serving.workload.batch;
        QVERIFY(places >= batch && places - batch < microbatch && places / microbatch <= pp);
        const SweptPhase phase = swept_phase(serving);
        QVERIFY2(
            phase.valid() && phase.figures.seconds > 0.65 * before,
            qPrintable(
                QString("pp %1, %2: %3 after %4").arg(pp).arg(batch).arg(phase.figures.seconds).arg(before)));
        before = phase.figures.seconds;
      }
    }
    Design split = d;
    split.parallel.tp = 4;
    split.parallel.sequence_parallel = true;
    for (int64_t batch = 1; batch < 40; ++batch) {
      const WorkloadSpec w = serving_design(split, Mode::Decode, batch, 1024).workload;
      QVERIFY(w.microbatch % 4 == 0 && w.batch % w.microbatch == 0 && w.batch >= batch &&
              w.batch < batch + w.microbatch);
    }
  }
};

QTEST_APPLESS_MAIN(ServingSweepTest)
#include "serving_sweep_test.moc"
