// The command campaign, and the costs in reports.
#include <QJsonArray>
#include <QtTest>
#include <cmath>

#include "cli_run.h"

using namespace shardscape::test;

class CampaignTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text();
  void json();
  void flags_reach_the_run();
  void refusals_data();
  void refusals();
  void reports_have_costs();
  void documents_keep_the_run();
};

namespace {

const QString kRun = "campaign --model llama3-8b --dp 64 --batch 256 --tokens ";

}  // namespace

void CampaignTest::text() {
  const CliRun run = run_line(kRun + "15T");
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.err.isEmpty());
  for (const char* words :
       {"15.0 T tokens on 64 x NVIDIA H100", "steps ", "checkpoint ", "save interval", "goodput", " days (",
        "80 % band of steps  ", "accelerator-hours", "$", "MWh (", "per million tokens: $"})
    QVERIFY2(run.out.contains(words), qPrintable(words + run.out));
}

void CampaignTest::json() {
  const QJsonObject run = run_line(kRun + "15T --json").json();
  QCOMPARE(run["tokens"].toDouble(), 15e12);
  QCOMPARE(run["steps"].toDouble(), std::ceil(15e12 / (256 * 8192)));
  QCOMPARE(run["design"].toObject()["workload"].toObject()["tokens"].toDouble(), 15e12);
  for (const char* key : {"days", "interruptions", "accelerator_hours", "usd", "mwh"}) {
    const QJsonObject band = run[key].toObject();
    QVERIFY2(
        band["low"].toDouble() < band["mean"].toDouble() && band["mean"].toDouble() < band["high"].toDouble(),
        key);
  }
  const QJsonObject steps = run["days_of_step_band"].toObject();
  const double mean = run["days"].toObject()["mean"].toDouble();
  QVERIFY(steps["low"].toDouble() < mean && mean < steps["high"].toDouble());
  double sum = 0;
  for (const QJsonValue share : run["shares"].toObject()) sum += share.toDouble();
  QVERIFY(std::abs(sum - 1) < 1e-9);
  QCOMPARE(run["goodput"].toDouble(), run["shares"].toObject()["steps"].toDouble());
  QVERIFY(run["makes_progress"].toBool());
}

void CampaignTest::flags_reach_the_run() {
  const QJsonObject run = run_line(kRun +
                                   "1.5T --json --price-per-hour 2 --failure-rate 8 --restart-time 300 "
                                   "--checkpoint-bandwidth 1 --checkpoint-interval 1800 --pue 1.2 "
                                   "--board-power 650 --host-power 300")
                              .json();
  const QJsonObject operation = run["operation"].toObject(), saved = run["checkpoint"].toObject();
  QCOMPARE(operation["price_per_hour"].toDouble(), 2.);
  QCOMPARE(operation["failures_per_1000_node_days"].toObject()["high"].toDouble(), 8.);
  QCOMPARE(operation["restart_seconds"].toObject()["usual"].toDouble(), 300.);
  QCOMPARE(operation["site_watts"].toDouble(), 950 * 1.2);
  QVERIFY(saved["interval_given"].toBool());
  QCOMPARE(saved["save_seconds"].toDouble(), saved["slowest_rank_bytes"].toDouble() / 1e9);
  QCOMPARE(run["usd"].toObject()["mean"].toDouble(),
           run["accelerator_hours"].toObject()["mean"].toDouble() * 2);
  const QJsonObject unknown = run_line(
                                  "campaign --model llama3-8b --accelerator tpu-v5p --dp 64 --batch 256 "
                                  "--tokens 1T --json")
                                  .json();
  QVERIFY(unknown["usd"].toObject()["mean"].isNull() || unknown["usd"].isNull());
  QVERIFY(unknown["days"].toObject()["mean"].toDouble() > 0);
}

void CampaignTest::refusals_data() {
  QTest::addColumn<QString>("words");
  QTest::addColumn<QString>("message");
  QTest::newRow("no tokens") << "campaign --model llama3-8b --dp 8"
                             << "the number of training tokens is missing";
  QTest::newRow("inference") << "campaign --model llama3-8b --dp 8 --mode decode --tokens 1T"
                             << "an inference design has no training run";
  QTest::newRow("thousands") << "campaign --model llama3-8b --tokens 15K"
                             << "M, B and T stand for 10^6";
  QTest::newRow("no number") << "campaign --model llama3-8b --tokens xT"
                             << "is not a whole number";
  QTest::newRow("PUE") << "campaign --model llama3-8b --tokens 1T --pue 0.9"
                       << "less power than its computers";
}

void CampaignTest::refusals() {
  QFETCH(QString, words);
  QFETCH(QString, message);
  const CliRun run = run_line(words);
  QVERIFY(run.exit_code == 1 || run.exit_code == 2);
  QVERIFY2(run.err.contains(message), qPrintable(run.err));
  QVERIFY(run.out.isEmpty());
}

void CampaignTest::reports_have_costs() {
  const QString words = "report --model llama3-8b --dp 64 --batch 256 --mode ";
  for (const char* mode : {"train", "prefill", "decode"}) {
    const QJsonObject time = run_line(words + mode + " --json").json()["time"].toObject();
    const double hours = 1e6 * 64 / time["tokens_per_second"].toDouble() / 3600;
    QVERIFY(std::abs(time["usd_per_million_tokens"].toDouble() / (hours * 3.24) - 1) < 1e-9);
    QVERIFY(std::abs(time["kwh_per_million_tokens"].toDouble() / (hours * 1.05 * 1.1) - 1) < 1e-9);
    QVERIFY(run_line(words + mode).out.contains("per million tokens: $"));
  }
  const CliRun unknown = run_line("report --model llama3-8b --accelerator tpu-v5p --dp 64 --batch 256");
  QVERIFY(!unknown.out.contains("per million tokens"));
  for (const char* line : {"no price for Google TPU v5p 95 GB: --price-per-hour sets it\n",
                           "no board power for Google TPU v5p 95 GB: --board-power sets it\n"})
    QVERIFY2(unknown.out.contains(line), qPrintable(unknown.out));
}

// A document has the knobs of the run only where they are set, so that it reads as before without them.
void CampaignTest::documents_keep_the_run() {
  const auto workload = [](const QString& flags) {
    return run_line("report --json --model llama3-8b --dp 8" + flags)
        .json()["design"]
        .toObject()["workload"]
        .toObject();
  };
  QVERIFY(!workload("").contains("tokens"));
  QCOMPARE(workload(" --tokens 366B")["tokens"].toDouble(), 366e9);
}

QTEST_GUILESS_MAIN(CampaignTest)
#include "campaign_test.moc"
