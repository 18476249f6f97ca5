// Sets of measured runs: every row is a design or says why not, and memory is as close to them as the README
// says.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "accuracy/workload_layout.h"
#include "timing/simulation.h"
#include "validation/validation.h"

using namespace shardscape;

namespace {

std::string path_of(const QString& set) {
  return QStringLiteral(SHARDSCAPE_TEST_DATA "/measured/%1.json").arg(set).toStdString();
}

MeasuredSet read(const QString& set) {
  auto result = read_measured_set(path_of(set));
  if (auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredSet>(std::move(result));
}

const ValidatedMetric* metric(const Validation& v, const char* name) {
  for (const ValidatedMetric& m : v.metrics)
    if (m.name == name) return &m;
  return nullptr;
}

}  // namespace

class ValidationTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsAreDesignsOrSayWhy_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("mapped");
    QTest::newRow("megatron_b200_8gpu") << 22 << 22;
    QTest::newRow("torchtitan_h100") << 14 << 13;
    QTest::newRow("megatron_a100") << 643 << 643;
    QTest::newRow("korthikanti2022") << 6 << 6;
    QTest::newRow("fsdp_a100_h100") << 104 << 104;
    QTest::newRow("megatron_bridge") << 122 << 95;
    QTest::newRow("llama3") << 1 << 1;
    QTest::newRow("deepseek_v3") << 2 << 2;
    QTest::newRow("mlperf_training") << 20 << 20;
    QTest::newRow("megatron_golden") << 144 << 71;
    QTest::newRow("bigscience_bloom") << 100 << 97;
  }
  // The fused softmax runs where 4 divides the heads of a rank's sequences. Only one tp rank has an odd part
  // of the vocabulary. Layouts of both kinds compete for one workload.
  void vTrainsModel() {
    std::map<std::string, std::set<std::string>> profiles;
    for (const MeasuredRow& row : read("megatron_a100").rows) {
      const Design& d = row.design;
      const bool fused = d.model.heads / d.parallel.tp * d.workload.microbatch % 4 == 0;
      QCOMPARE(d.workload.profile, std::string(fused ? "megatron-2022" : "megatron-2022-unfused"));
      QCOMPARE(d.model.vocab, 50257);
      QCOMPARE(d.workload.vocab_multiple, d.parallel.tp == 1 ? 1 : 2);
      profiles[layout_of(d).workload].insert(d.workload.profile);
    }
    QVERIFY(std::ranges::any_of(profiles, [](const auto& of) { return of.second.size() == 2; }));
  }
  void rowsAreDesignsOrSayWhy() {
    QFETCH(int, rows);
    QFETCH(int, mapped);
    const MeasuredSet set = read(QTest::currentDataTag());
    QVERIFY(!set.source.empty());
    QCOMPARE(static_cast<int>(set.rows.size()), rows);
    int found = 0;
    std::map<std::string, int> reasons;
    for (const MeasuredRow& row : set.rows) {
      QVERIFY(row.seconds || !row.no_seconds.empty());
      QVERIFY(row.bytes || !row.no_bytes.empty());
      QVERIFY(!row.name.empty());
      row.unmapped.empty() ? ++found : ++reasons[row.unmapped];
    }
    for (const auto& [reason, count] : reasons) qInfo("%d rows: %s", count, reason.c_str());
    QCOMPARE(found, mapped);
  }

  void memoryIsAsMeasured_data() {
    QTest::addColumn<double>("each");  // percent
    QTest::addColumn<double>("mean");
    QTest::newRow("megatron_b200_8gpu") << 0.5 << 0.15;
    // 405B under cp 8 reserves more than the model finds. All other rows are within 10 %.
    QTest::newRow("torchtitan_h100") << 19.6 << 5.2;
    QTest::newRow("mlperf_training") << 0.5 << 0.2;
  }
  void memoryIsAsMeasured() {
    QFETCH(double, each);
    QFETCH(double, mean);
    const Validation v = validate_set(read(QTest::currentDataTag()), {});
    const ValidatedMetric* memory = metric(v, "memory");
    QVERIFY(memory && !memory->rows.empty());
    for (const auto& [row, why] : memory->unmapped)  // not measured
      QVERIFY2(why.find("mem_GiB") != std::string::npos || why.find("memory_gib") != std::string::npos,
               (row + ": " + why).c_str());
    for (const ValidatedRow& row : memory->rows)
      QVERIFY2(std::abs(row.error_percent()) < each,
               (row.name + ": " + std::to_string(row.error_percent())).c_str());
    QVERIFY(memory->mean_abs_error_percent() < mean);
  }

  // Functional tests of Megatron-LM, bytes of the last rank. No number is fitted. GB200 runs hold tensors
  // that Python's garbage collector has not freed yet.
  void memoryOfFunctionalTests_data() {
    QTest::addColumn<double>("each");  // percent
    QTest::addColumn<double>("mean");
    QTest::newRow("h100") << 1.2 << 0.5;
    QTest::newRow("gb200") << 2.1 << 1.0;
  }
  void memoryOfFunctionalTests() {
    QFETCH(double, each);
    QFETCH(double, mean);
    const Validation v = validate_set(read("megatron_golden"), {});
    const ValidatedMetric* memory = metric(v, "memory");
    QVERIFY(memory && !metric(v, "time"));
    ValidatedMetric here{"memory", {}, {}};
    for (const ValidatedRow& row : memory->rows) {
      if (row.name.find(QTest::currentDataTag()) == std::string::npos) continue;
      here.rows.push_back(row);
      QVERIFY2(std::abs(row.error_percent()) < each,
               (row.name + ": " + std::to_string(row.error_percent())).c_str());
    }
    QVERIFY(here.rows.size() > 25);
    QVERIFY2(here.mean_abs_error_percent() < mean,
             qPrintable(QString::number(here.mean_abs_error_percent())));
  }

  // The mode of a torchtitan row names the schedule, and the table of its date the profile.
  void torchtitanModesAreSchedules_data() {
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<int>("chunks");
    QTest::addColumn<int>("microbatch");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("profile");
    const QByteArray pipeline = R"("model": "llama3.1-405b", "gpus": 512, "fsdp": 8, "tp": 8, "pp": 8,
        "lbs": 32, "ac": "full", "tps_gpu": 1, "mem_GiB": 1, "mode": )";
    QTest::newRow("1F1B") << pipeline + R"("compile+float8 1F1B")" << 1 << 4 << "15,16,16,16,16,16,16,15"
                          << "torchtitan";
    QTest::newRow("interleaved") << pipeline + R"("compile+float8 Interleaved 1F1B")" << 2 << 2
                                 << "7,8,8,8,8,8,8,8,8,8,8,8,8,8,8,7"
                                 << "torchtitan";
    QTest::newRow("H200") << QByteArray(R"("model": "llama3.1-8b", "gpus": 32, "fsdp": 32, "lbs": 2,
        "ac": "selective", "gpu": "h200-sxm-141gb", "tps_gpu": 1, "mem_GiB": 1, "mode": "compile")")
                          << 1 << 2 << ""
                          << "torchtitan-2025-selective";
  }
  void torchtitanModesAreSchedules() {
    QFETCH(QByteArray, fields);
    QFETCH(int, chunks);
    QFETCH(int, microbatch);
    QFETCH(QString, layers);
    QFETCH(QString, profile);
    QTemporaryDir folder;
    const std::string path = folder.filePath("set.json").toStdString();
    std::ofstream(path) << R"({"source": "x", "rows": [{)" << fields.toStdString() << "}]}";
    const auto result = read_measured_set(path);
    QVERIFY(std::holds_alternative<MeasuredSet>(result));
    const MeasuredRow& row = std::get<MeasuredSet>(result).rows.at(0);
    QCOMPARE(row.unmapped, std::string());
    QCOMPARE(row.design.parallel.virtual_stages, chunks);
    QCOMPARE(row.design.workload.microbatch, microbatch);
    QStringList split;
    for (const int64_t part : row.design.parallel.stage_layers) split << QString::number(part);
    QCOMPARE(split.join(','), layers);
    QCOMPARE(QString::fromStdString(row.design.workload.profile), profile);
  }

  // The present errors with a small margin: a change that makes steps worse fails.
  void timeIsAsMeasured_data() {
    QTest::addColumn<double>("mean");  // percent
    QTest::newRow("megatron_b200_8gpu") << 4.5;
    QTest::newRow("megatron_a100") << 8.6;
    QTest::newRow("korthikanti2022") << 2.5;
    QTest::newRow("fsdp_a100_h100") << 8.2;
    QTest::newRow("megatron_bridge") << 12.6;
    QTest::newRow("llama3") << 4.5;
    QTest::newRow("torchtitan_h100") << 16.5;
    QTest::newRow("deepseek_v3") << 8.3;
    QTest::newRow("mlperf_training") << 3.5;
    QTest::newRow("bigscience_bloom") << 5.9;
  }
  void timeIsAsMeasured() {
    QFETCH(double, mean);
    const Validation v = validate_set(read(QTest::currentDataTag()), [](const Report& report) {
      return std::optional<double>(simulate(report)->step_seconds);
    });
    const ValidatedMetric* time = metric(v, "time");
    QVERIFY(time && !time->rows.empty());
    QVERIFY2(time->mean_abs_error_percent() < mean,
             qPrintable(QString::number(time->mean_abs_error_percent())));
  }

  void rowsThatNoDesignExpressesAreListed() {
    const Validation v = validate_set(read("megatron_bridge"),
                                      [](const Report&) { return std::optional<double>(1); });
    const ValidatedMetric* time = metric(v, "time");
    QVERIFY(time && !metric(v, "memory"));
    QCOMPARE(time->rows.size() + time->unmapped.size(), size_t{122});
    for (const auto& [row, why] : time->unmapped) QVERIFY(!row.empty() && !why.empty());
    const std::string json = validation_json(v), text = validation_text(v);
    QVERIFY(json.find("\"unmapped\"") != std::string::npos && json.find("fine-tuning") != std::string::npos);
    QVERIFY(text.find("not mapped: ") != std::string::npos);
  }

  void errorsAreOfTheSignOfThePrediction() {
    ValidatedMetric m{"time", {{"a", 2, 1}, {"b", 2, 2.2}}, {}};
    QCOMPARE(m.rows[0].error_percent(), -50.0);
    QCOMPARE(m.worst()->name, std::string("a"));
    QVERIFY(std::abs(m.mean_abs_error_percent() - 30) < 1e-9);
  }

  void filesThatAreNoSetsAreToldApart() {
    QTemporaryDir folder;
    const auto written = [&](const char* name, const char* text) {
      const std::string path = folder.filePath(name).toStdString();
      std::ofstream(path) << text;
      return path;
    };
    for (const auto& [path, code] :
         {std::pair(folder.filePath("missing.json").toStdString(), ProblemCode::FileUnreadable),
          std::pair(written("a.json", "no json"), ProblemCode::JsonSyntax),
          std::pair(written("b.json", "[1]"), ProblemCode::JsonNotAnObject),
          std::pair(written("c.json", R"({"rows": [{"something": 1}]})"), ProblemCode::WrongKindOfFile),
          std::pair(written("d.json", R"({"rows": []})"), ProblemCode::WrongKindOfFile)}) {
      const auto result = read_measured_set(path);
      const auto* problem = std::get_if<Problem>(&result);
      QVERIFY(problem && problem->code == code && problem->where.starts_with(path) &&
              !problem->accepted.empty());
    }
  }

  // Values that are not numbers, and fields of a wrong type, are listed with row and reason, for every metric
  // of the set.
  void oddRowsAreListed_data() {
    QTest::addColumn<QByteArray>("row");
    QTest::addColumn<QByteArray>("time");  // part of the reason; empty: it is a row of the metric
    QTest::addColumn<QByteArray>("memory");
    const QByteArray model = R"("model": "llama3_8b", "layers": 4)";
    const auto row = [&](const char* name, const QByteArray& fields, const char* time, const char* memory) {
      QTest::newRow(name) << "{" + model + ", " + fields + "}" << QByteArray(time) << QByteArray(memory);
    };
    row("both", R"("measured_ms": 1, "measured_alloc_GiB": 2)", "", "");
    row("as a whole float", R"("measured_ms": 1, "measured_alloc_GiB": 2, "tp": 1.0)", "", "");
    row("no memory", R"("measured_ms": 1)", "", "no measured_alloc_GiB");
    row("out of memory", R"("measured_ms": null, "measured_alloc_GiB": "OOM")", "measured_ms is null",
        "measured_alloc_GiB is \"OOM\", not a number");
    row("nothing", R"("measured_ms": 0, "measured_alloc_GiB": -1)", "measured_ms is 0, not more than 0",
        "not more than 0");
    row("a number for a text", R"("measured_ms": 1, "measured_alloc_GiB": 2, "recompute": 3)",
        "recompute is 3, not a string", "recompute is 3");
    row("a text for a number", R"("measured_ms": 1, "measured_alloc_GiB": 2, "tp": "8")",
        "tp is \"8\", not a whole number", "tp is");
    row("half a rank", R"("measured_ms": 1, "measured_alloc_GiB": 2, "dp": 0.5)",
        "dp is 0.5, not a whole number", "dp is");
    row("a text for yes", R"("measured_ms": 1, "measured_alloc_GiB": 2, "ce_fusion": "yes")",
        "ce_fusion is \"yes\", not true or false", "ce_fusion");
    row("huge",
        R"("measured_ms": 1, "measured_alloc_GiB": 2, "micro_batches": 9000000000000000000,
           "micro_batch": 9000)",
        "batch", "batch");
    QTest::newRow("a number for a row")
        << QByteArray("7") << QByteArray("no measured_ms") << QByteArray("no measured_alloc_GiB");
  }
  void oddRowsAreListed() {
    QFETCH(QByteArray, row);
    QFETCH(QByteArray, time);
    QFETCH(QByteArray, memory);
    QTemporaryDir folder;
    const std::string path = folder.filePath("set.json").toStdString();
    std::ofstream(path) << "{\"rows\": ["
                        << R"({"case": "first", "model": "llama3_8b", "layers": 4, "measured_ms": 1,
              "measured_alloc_GiB": 2}, )"
                        << row.toStdString() << "]}";
    const auto result = read_measured_set(path);
    QVERIFY(std::holds_alternative<MeasuredSet>(result));
    const Validation v = validate_set(std::get<MeasuredSet>(result),
                                      [](const Report&) { return std::optional<double>(1); });
    for (const auto& [name, why] : {std::pair{"time", time}, {"memory", memory}}) {
      const ValidatedMetric* of = metric(v, name);
      QVERIFY(of);
      QCOMPARE(of->rows.size() + of->unmapped.size(), size_t{2});  // none vanishes
      QCOMPARE(of->unmapped.size(), why.isEmpty() ? size_t{0} : size_t{1});
      if (why.isEmpty()) continue;
      QCOMPARE(of->unmapped[0].first, std::string("row 2"));
      QVERIFY2(of->unmapped[0].second.find(why.toStdString()) != std::string::npos,
               of->unmapped[0].second.c_str());
      QVERIFY(validation_text(v).find("not mapped: row 2: ") != std::string::npos);
    }
  }

  void mlperfRowsOfOtherCodeBasesAreListed() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("set.json").toStdString();
    std::ofstream(path) << R"({"rows": [
      {"round": "v3.1", "benchmark": "gpt3", "gpu": "gaudi2", "framework": "SynapseAI", "micro_batches": 1,
       "step_seconds": 1},
      {"round": "v5.0", "benchmark": "llama2_70b_lora", "gpu": "h100_sxm", "step_seconds": 1},
      {"round": "v4.1", "benchmark": "gpt3", "gpu": "h100_sxm", "same_logs_as": "another", "step_seconds": 1},
      {"round": "v5.1", "benchmark": "llama31_8b", "gpu": "b200_sxm", "tp": 1, "pp": 1, "dp": 8, "mbs": 1,
       "gbs": 16, "seq": 8192, "precision": "fp8", "fp8_recipe": "mxfp8", "fp8_params": true,
       "overlap": {"param_gather": false}, "step_seconds": 1},
      {"round": "v4.1", "benchmark": "llama2_70b_lora", "gpu": "h100_sxm", "tp": 4, "cp": 2, "pp": 1, "dp": 8,
       "mbs": 1, "gbs": 8, "seq": 8192, "precision": "fp8", "fp8_params": false, "step_seconds": 1}]})";
    const auto result = read_measured_set(path);
    QVERIFY(std::holds_alternative<MeasuredSet>(result));
    const std::vector<MeasuredRow>& rows = std::get<MeasuredSet>(result).rows;
    QCOMPARE(rows.size(), size_t{5});
    for (const auto& [row, why] : {std::pair{0, "other code bases than Megatron-core: SynapseAI"},
                                   {1, "the row does not give the layout of the run"},
                                   {2, "the row repeats the logs of another"}})
      QVERIFY2(rows[static_cast<size_t>(row)].unmapped.find(why) != std::string::npos,
               rows[static_cast<size_t>(row)].unmapped.c_str());
    QCOMPARE(rows[3].unmapped, std::string());
    const Design& d = rows[3].design;
    QVERIFY(d.workload.fp8_params && !d.workload.transposed_weights);
    QVERIFY(d.workload.compute == ComputePrecision::MXFP8 && d.workload.grad_dtype == DType::BF16);
    QVERIFY(d.parallel.overlap_grad_reduce && !d.parallel.overlap_param_gather);
    QVERIFY(rows[3].stage == 0);
    QCOMPARE(rows[4].unmapped, std::string());
    const Design& lora = rows[4].design;
    QCOMPARE(lora.model.preset, std::string("llama2-70b"));
    QCOMPARE(lora.workload.lora_rank, int64_t{16});
    QVERIFY(lora.workload.lora_modules == kAttentionLora);
    QVERIFY(lora.parallel.context == ContextMode::Zigzag && lora.workload.fp8_params);
  }

  void aNameThatIsNoTextIsToldWithItsRow() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("set.json").toStdString();
    std::ofstream(path)
        << R"({"rows": [{"case": 12, "model": 5, "measured_ms": 1, "measured_alloc_GiB": 2}]})";
    const auto result = read_measured_set(path);
    QVERIFY(std::holds_alternative<MeasuredSet>(result));
    QCOMPARE(std::get<MeasuredSet>(result).rows[0].name, std::string("row 1"));
    QCOMPARE(std::get<MeasuredSet>(result).rows[0].unmapped, std::string("case is 12, not a string"));
  }

  void longNamesEndInAnEllipsis() {
    Validation v{"set",
                 "",
                 {{"time",
                   {{std::string(80, 'x'), 1, 1},
                    {std::string(60, 'x') + "ééééé", 1, 1},
                    {std::string(63, 'y') + "é", 1, 1}},
                   {}}}};
    const QStringList lines = QString::fromStdString(validation_text(v)).split('\n');
    QVERIFY(lines[3].startsWith(QString(63, 'x') + QChar(0x2026) + ' '));
    QVERIFY(lines[4].startsWith(QString(60, 'x') + QString::fromUtf8("ééé") + QChar(0x2026) +
                                ' '));  // between characters
    QVERIFY(lines[5].startsWith(QString(63, 'y') + QString::fromUtf8("é ")));
    for (int i = 2; i < 6; ++i) QCOMPARE(lines[i].size(), lines[2].size());
  }

  void aRowWithoutAModelIsListed() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("set.json").toStdString();
    std::ofstream(path) << R"({"source": "x", "rows": [{"case": "a", "model": "unheard-of", "measured_ms": 1,
       "measured_alloc_GiB": 2},
      {"case": "b", "model": "llama3_8b", "layers": 4, "tp": 3, "dp": 1, "measured_ms": 1,
       "measured_alloc_GiB": 2}]})";
    const auto result = read_measured_set(path);
    QVERIFY(std::holds_alternative<MeasuredSet>(result));
    const auto& rows = std::get<MeasuredSet>(result).rows;
    QCOMPARE(rows.size(), size_t{2});
    QCOMPARE(rows[0].unmapped, std::string("no preset has this architecture"));
    QVERIFY(rows[1].unmapped.find("tp = 3") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(ValidationTest)
#include "validation_test.moc"
