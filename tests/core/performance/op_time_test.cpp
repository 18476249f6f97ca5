// Seconds of kernels: against measured rows, against the roofline, and growth with the size.
#include "performance/op_time.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/data_dir.h"
#include "performance/attention_model.h"
#include "performance/calibration.h"
#include "performance/matmul_model.h"
#include "performance/measured_ops.h"

using namespace shardscape;

namespace {

Machine machine_with(const char* id) {
  Machine machine;
  machine.accelerator = unowned(find_accelerator(id));
  if (!machine.accelerator) qFatal("no accelerator %s", id);
  return machine;
}

MeasuredOps measured(const std::string& id) {
  auto text = read_text(std::string(SHARDSCAPE_TEST_DATA) + "/measured_ops/" + id + ".csv");
  if (auto* problem = std::get_if<Problem>(&text)) qFatal("%s", to_string(*problem).c_str());
  auto ops = read_measured_ops(std::get<std::string>(text), id);
  if (auto* problem = std::get_if<Problem>(&ops)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredOps>(ops);
}

// The calibration states errors for held-out rows. The errors of a sample may be larger by a factor of 1.4.
void check_errors(std::vector<double> errors, const HeldOut& stated, double floor_percent) {
  QVERIFY(!errors.empty());
  std::sort(errors.begin(), errors.end());
  const double median = errors[errors.size() / 2], p90 = errors[errors.size() * 9 / 10];
  QVERIFY2(median <= 1.4 * stated.median_percent + floor_percent,
           qPrintable(QString("median %1 %, stated %2").arg(median).arg(stated.median_percent)));
  QVERIFY2(p90 <= 1.4 * stated.p90_percent + 3 * floor_percent,
           qPrintable(QString("90 % below %1 %, stated %2").arg(p90).arg(stated.p90_percent)));
}

double percent_off(double seconds, double us) { return std::fabs(seconds * 1e6 / us - 1) * 100; }

// A machine for isolated kernels, as the measured tables ran them.
Machine isolated(const char* id) {
  Machine machine = machine_with(id);
  machine.training = false;
  return machine;
}

// The stretch that is fitted to steps, which loops of one kernel do not show.
double fitted(const Machine& machine) {
  for (const TrainingFactor& f : kernels_of(*machine.accelerator).data.training)
    if (f.dtype == DType::BF16) return f.factor;
  return 1;
}

void rows_of_tables() {
  QTest::addColumn<QString>("id");
  for (const char* id : {"a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "b200-hgx-180gb",
                         "gb200-nvl72-186gb", "b300-hgx-270gb", "gb300-nvl72-279gb"}) {
    QTest::newRow(id) << id;
  }
}

void rows_of_accelerators() {
  QTest::addColumn<QString>("id");
  for (const Accelerator& a : accelerators()) QTest::newRow(a.id.c_str()) << QString::fromStdString(a.id);
}

constexpr DType kTypes[]{DType::BF16,     DType::FP16,  DType::FP32, DType::FP8,
                         DType::FP8Block, DType::MXFP8, DType::NVFP4};

}  // namespace

class OpTimeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void no_mistakes_in_files();
  void measured_products_data() { rows_of_tables(); }
  void measured_products();
  void measured_attention_data() { rows_of_tables(); }
  void measured_attention();
  void measured_in_training();
  void products_in_training();
  void measured_memory_data() { rows_of_tables(); }
  void measured_memory();
  void roofline_data() { rows_of_accelerators(); }
  void roofline();
  void larger_takes_longer_data() { rows_of_accelerators(); }
  void larger_takes_longer();
  void waves();
  void split_depth();
  void experts_in_one_kernel();
  void accumulation_costs_bytes();
  void odd_rows_are_slow();
  void pairs_data();
  void pairs();
  void masks();
  void decoding_reads_its_cache();
  void peaks_data();
  void peaks();
  void basis_data();
  void basis();
  void bases_of_bases();
  void unaligned_heads();
  void made_up();
};

void OpTimeTest::no_mistakes_in_files() {
  for (const Problem& p : calibration_problems()) QFAIL(to_string(p).c_str());
  for (const Problem& p : accelerator_problems()) QFAIL(to_string(p).c_str());
}

void OpTimeTest::measured_products() {
  QFETCH(QString, id);
  const Machine machine = isolated(qPrintable(id));
  std::map<DType, std::vector<double>> errors;
  for (const MeasuredMatmul& row : measured(id.toStdString()).matmul) {
    errors[row.shape.compute].push_back(percent_off(matmul_seconds(machine, row.shape), row.us));
  }
  QVERIFY(errors.contains(DType::BF16));
  for (const auto& [type, list] : errors) {
    const MatmulCalibration& table = *kernels_of(*machine.accelerator).matmul[static_cast<size_t>(type)];
    QCOMPARE(table.dtype, type);
    QCOMPARE(table.from, id.toStdString());
    check_errors(list, table.held_out, 1);
  }
}

void OpTimeTest::measured_attention() {
  QFETCH(QString, id);
  const Machine machine = isolated(qPrintable(id));
  std::map<AttentionPass, std::vector<double>> errors;
  for (const MeasuredAttention& row : measured(id.toStdString()).attention) {
    errors[attention_pass(row.shape)].push_back(percent_off(attention_seconds(machine, row.shape), row.us));
  }
  for (const auto& [pass, list] : errors) {
    HeldOut stated = kernels_of(*machine.accelerator).of(pass, true).held_out;
    if (stated.rows == 0) stated = {1, 3, 6};  // the few rows of a figure: no half is held out
    check_errors(list, stated, 1);
  }
}

// Measured loops of training kernels on B200. Attention follows its tables. GEMMs reach the rate that the
// power limit sustains, up to the differences between shapes.
void OpTimeTest::measured_in_training() {
  const Machine machine = machine_with("b200-hgx-180gb");
  const MeasuredOps ops = measured("b200-hgx-180gb-training");
  std::map<AttentionPass, std::vector<double>> errors;
  for (const MeasuredAttention& row : ops.attention)
    errors[attention_pass(row.shape)].push_back(
        percent_off(attention_seconds(machine, row.shape) / fitted(machine), row.us));
  QCOMPARE(errors.size(), size_t{2});
  for (const auto& [pass, list] : errors) check_errors(list, {1, 1, 2}, 0.5);
  std::vector<double> sustained, alone;
  for (const MeasuredMatmul& row : ops.matmul) {
    sustained.push_back(percent_off(matmul_seconds(machine, row.shape) / fitted(machine), row.us));
    alone.push_back(percent_off(matmul_seconds(isolated("b200-hgx-180gb"), row.shape), row.us));
  }
  check_errors(sustained, {80, 4, 15}, 0);
  std::sort(alone.begin(), alone.end());
  QVERIFY2(alone[alone.size() / 2] > 20, "power is no limit here");
}

// No GEMM exceeds the power limit. Accumulated gradients cost their memory traffic. Experts run concurrently.
void OpTimeTest::products_in_training() {
  const Machine machine = machine_with("b200-hgx-180gb"), alone = isolated("b200-hgx-180gb");
  const TrainingMatmuls& products = kernels_of(*machine.accelerator).data.training_products.front();
  const MatmulShape large{1, 8192, 8192, 8192}, narrow{1, 8192, 64, 8192};
  const double flops = 2.0 * 8192 * 8192 * 8192, peak = peak_flops(*machine.accelerator, DType::BF16);
  QVERIFY(std::fabs(matmul_seconds(machine, large) / (fitted(machine) * flops / (products.sustained * peak)) -
                    1) < 1e-9);
  QVERIFY(std::fabs(matmul_seconds(machine, narrow) / (fitted(machine) * matmul_seconds(alone, narrow)) - 1) <
          1e-9);
  MatmulShape added = large;
  added.accumulates = true;
  added.output = DType::FP32;
  const double traffic = products.accumulate * 8 * 8192.0 * 8192 / (machine.accelerator->memory_gbps * 1e9);
  QVERIFY(std::fabs((matmul_seconds(machine, added) - matmul_seconds(machine, large)) /
                        (fitted(machine) * traffic) -
                    1) < 1e-6);
  MatmulShape expert = large;
  expert.concurrent_expert = true;
  QVERIFY(std::fabs(matmul_seconds(machine, expert) / matmul_seconds(machine, large) - products.experts) <
          1e-9);
  QCOMPARE(matmul_seconds(alone, expert), matmul_seconds(alone, large));
  // Twice the rate at the same power: the same share of the peak.
  MatmulShape eight = large;
  eight.compute = DType::FP8;
  QVERIFY(std::fabs(matmul_seconds(machine, eight) /
                        (fitted(machine) * flops /
                         (products.sustained * peak_flops(*machine.accelerator, DType::FP8))) -
                    1) < 1e-9);
  QVERIFY(routing_seconds(machine, 1e9) > 2 * memory_bound_seconds(machine, 1e9));
  QCOMPARE(routing_seconds(alone, 1e9), memory_bound_seconds(alone, 1e9));
}

void OpTimeTest::measured_memory() {
  QFETCH(QString, id);
  const Machine machine = machine_with(qPrintable(id));
  std::vector<double> errors;
  for (const MeasuredMemory& row : measured(id.toStdString()).memory)
    errors.push_back(percent_off(memory_bound_seconds(machine, row.bytes), row.us));
  if (errors.empty()) QSKIP("no rows of this device");
  check_errors(errors, kernels_of(*machine.accelerator).data.memory->held_out, 2);
}

void OpTimeTest::roofline() {
  QFETCH(QString, id);
  const Machine machine = machine_with(qPrintable(id));
  const double bandwidth = machine.accelerator->memory_gbps * 1e9;
  for (const DType type : kTypes) {
    for (const int64_t m : {1, 7, 128, 1000, 4096, 131072}) {
      for (const int64_t n : {32, 1536, 28672}) {
        for (const int64_t k : {16, 4096, 53248}) {
          MatmulShape shape{1, m, n, k};
          shape.compute = type;
          const double seconds = matmul_seconds(machine, shape);
          const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
          QVERIFY2(seconds >= flops / peak_flops(*machine.accelerator, type),
                   qPrintable(QString("%1 x %2 x %3").arg(m).arg(n).arg(k)));
          QVERIFY(seconds >= 2.0 * static_cast<double>(m) * static_cast<double>(n) / bandwidth);
          QVERIFY(std::isfinite(seconds));
        }
      }
    }
  }
  for (const bool backward : {false, true}) {
    for (const int64_t keys : {1, 100, 4096, 131072}) {
      AttentionShape shape{1, 8, 8, keys, keys};
      shape.causal = true;
      shape.backward = backward;
      const double flops = 8 * attended_pairs(shape) * 2 * 128 * (backward ? 5 : 2);
      QVERIFY(attention_seconds(machine, shape) >= flops / peak_flops(*machine.accelerator, DType::BF16));
    }
  }
  for (const double bytes : {1.0, 1e6, 1e10})
    QVERIFY(memory_bound_seconds(machine, bytes) > bytes / (bandwidth * 3));
  QVERIFY(memory_bound_seconds(machine, 1e10) >= 1e10 / bandwidth);
  QVERIFY(memory_bound_seconds(machine, 1) > 1e-6);
  QCOMPARE(matmul_seconds(machine, {1, 0, 64, 64}), 0.0);
  QCOMPARE(attention_seconds(machine, {0, 8, 8, 64, 64}), 0.0);
  QCOMPARE(memory_bound_seconds(machine, 0), 0.0);
}

void OpTimeTest::larger_takes_longer() {
  QFETCH(QString, id);
  const Machine machine = machine_with(qPrintable(id));
  for (const DType type : {DType::BF16, DType::FP8}) {
    int all = 0, shorter = 0;
    for (int64_t m = 64; m <= 32768; m *= 2) {
      for (int64_t n = 64; n <= 32768; n *= 2) {
        for (int64_t k = 64; k <= 32768; k *= 2) {
          for (int axis = 0; axis < 3; ++axis) {
            MatmulShape small{1, m, n, k};
            small.compute = type;
            MatmulShape large = small;
            (axis == 0 ? large.m : axis == 1 ? large.n : large.k) *= 2;
            const double drop = matmul_seconds(machine, small) / matmul_seconds(machine, large) - 1;
            QVERIFY2(
                drop < 0.12,
                qPrintable(QString("%1 x %2 x %3, axis %4: %5").arg(m).arg(n).arg(k).arg(axis).arg(drop)));
            ++all;
            if (drop > 0.02) ++shorter;
          }
        }
      }
    }
    QVERIFY2(shorter * 30 <= all, qPrintable(QString("%1 of %2").arg(shorter).arg(all)));
  }
  for (const bool backward : {false, true}) {
    AttentionShape shape{1, 16, 16, 128, 128};
    shape.causal = true;
    shape.backward = backward;
    double before = 0;
    for (; shape.keys <= 262144; shape.keys = shape.queries *= 2) {
      const double seconds = attention_seconds(machine, shape);
      QVERIFY(seconds > before * 0.98);
      before = seconds;
    }
  }
  for (double bytes = 1; bytes < 1e11; bytes *= 1.5)
    QVERIFY(memory_bound_seconds(machine, bytes) < memory_bound_seconds(machine, bytes * 1.5));
}

// 108 processors and tiles of 128 x 128: the 109th tile begins a second wave.
void OpTimeTest::waves() {
  MatmulCalibration constants;
  constants.tiles = {{128, 128}};
  constants.wave = 1;
  constants.launch_us = 0;
  constants.memory_share = 10;  // so that it does not matter here
  const Accelerator& a100 = *find_accelerator("a100-sxm-80gb");
  QCOMPARE(a100.processors, int64_t{108});
  const auto seconds = [&](int64_t rows_of_tiles) {
    return modelled_matmul_seconds(a100, constants, {1, 128 * rows_of_tiles, 128, 16384});
  };
  QVERIFY(seconds(109) > 1.7 * seconds(108));
  QVERIFY(seconds(216) < 1.02 * seconds(109));
  QVERIFY(seconds(217) > 1.4 * seconds(216));
  constants.wave = 0;
  QVERIFY(seconds(109) < 1.02 * seconds(108));
}

void OpTimeTest::split_depth() {
  MatmulCalibration constants;
  constants.tiles = {{128, 128}};
  constants.launch_us = 0;
  const Accelerator& h100 = *find_accelerator("h100-sxm-80gb");
  const double shallow = modelled_matmul_seconds(h100, constants, {1, 256, 256, 512}),
               deep = modelled_matmul_seconds(h100, constants, {1, 256, 256, 16384});
  QVERIFY(deep < 16 * shallow);  // of 32 times the work
}

void OpTimeTest::experts_in_one_kernel() {
  for (const char* id : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-hgx-180gb", "mi300x-192gb"}) {
    const Machine machine = isolated(id);
    for (const int64_t rows : {64, 256, 1024}) {
      const double together = matmul_seconds(machine, {16, rows, 4096, 2048}),
                   apart = 16 * matmul_seconds(machine, {1, rows, 4096, 2048});
      QVERIFY2(together < apart, id);
      // Every expert reads weights of its own.
      QVERIFY2(together >= matmul_seconds(machine, {1, 16 * rows, 4096, 2048}) * 0.99, id);
    }
  }
}

// Rows that begin at odd multiples of 2 bytes: features of an operand or of the result, not tokens.
void OpTimeTest::odd_rows_are_slow() {
  const Machine a100 = machine_with("a100-sxm-80gb"), h100 = machine_with("h100-sxm-80gb");
  const auto seconds = [](const Machine& machine, int64_t m, int64_t n, int64_t k, bool gradient = false,
                          DType type = DType::FP16) {
    return matmul_seconds(machine, {1, m, n, k, type, type, gradient});
  };
  const double flops = 2.0 * 1024 * 50257 * 2048,
               factor = kernels_of(*a100.accelerator).data.training[0].factor,
               share = kernels_of(*a100.accelerator).data.training[0].unaligned_share;
  QVERIFY(share > 0.1 && share < 0.5);
  const double slow = flops / (share * peak_flops(*a100.accelerator, DType::FP16)) * factor;
  QCOMPARE(seconds(a100, 1024, 50257, 2048), slow);
  QCOMPARE(seconds(a100, 1024, 2048, 50257), slow);
  QCOMPARE(seconds(a100, 50257, 2048, 1024, true), slow);
  QVERIFY(seconds(a100, 1024, 50258, 2048) < 0.5 * slow);
  QVERIFY(seconds(a100, 1023, 50256, 2048) < 0.5 * slow);
  QVERIFY(seconds(a100, 50256, 2048, 1023, true) < 0.5 * slow);
  QVERIFY(seconds(h100, 1024, 50257, 2048) < 1.05 * seconds(h100, 1024, 50304, 2048));  // not known
}

void OpTimeTest::accumulation_costs_bytes() {
  const Machine machine = machine_with("h100-sxm-80gb");
  MatmulShape shape{1, 8192, 8192, 512};
  const double plain = matmul_seconds(machine, shape);
  shape.output = DType::FP32;
  shape.accumulates = true;
  QVERIFY(matmul_seconds(machine, shape) > plain * 1.05);
}

void OpTimeTest::pairs_data() {
  QTest::addColumn<int>("queries");
  QTest::addColumn<int>("keys");
  QTest::addColumn<int>("first");
  QTest::addColumn<int>("window");
  QTest::addColumn<bool>("causal");
  QTest::addColumn<int>("chunk");
  QTest::newRow("square") << 37 << 37 << -1 << 0 << true << 0;
  QTest::newRow("full") << 37 << 41 << -1 << 0 << false << 0;
  QTest::newRow("last of the keys") << 5 << 41 << -1 << 0 << true << 0;
  QTest::newRow("first of the keys") << 5 << 41 << 0 << 0 << true << 0;
  QTest::newRow("beyond the keys") << 9 << 12 << 7 << 0 << true << 0;
  QTest::newRow("far beyond") << 9 << 12 << 40 << 0 << true << 0;
  QTest::newRow("window") << 37 << 37 << -1 << 8 << true << 0;
  QTest::newRow("wide window") << 37 << 37 << -1 << 80 << true << 0;
  QTest::newRow("window in the middle") << 10 << 64 << 20 << 7 << true << 0;
  QTest::newRow("window of one") << 16 << 16 << -1 << 1 << true << 0;
  QTest::newRow("one query") << 1 << 1000 << -1 << 0 << true << 0;
  QTest::newRow("chunks") << 37 << 37 << -1 << 0 << true << 8;
  QTest::newRow("whole chunks") << 40 << 40 << -1 << 0 << true << 8;
  QTest::newRow("chunk of one") << 16 << 16 << -1 << 0 << true << 1;
  QTest::newRow("wide chunk") << 37 << 37 << -1 << 0 << true << 80;
  QTest::newRow("chunks in the middle") << 10 << 64 << 20 << 0 << true << 7;
}

void OpTimeTest::pairs() {
  QFETCH(int, queries);
  QFETCH(int, keys);
  QFETCH(int, first);
  QFETCH(int, window);
  QFETCH(bool, causal);
  QFETCH(int, chunk);
  AttentionShape shape{1, 1, 1, queries, keys};
  shape.chunk = chunk;
  shape.first_query = first;
  shape.window = window;
  shape.causal = causal;
  const int start = first >= 0 ? first : keys - queries;
  int expected = 0;
  for (int q = 0; q < queries; ++q) {
    for (int k = 0; k < keys; ++k)
      expected += !causal || (k <= start + q && (window == 0 || k > start + q - window) &&
                              (chunk == 0 || k / chunk == (start + q) / chunk));
  }
  QCOMPARE(attended_pairs(shape), static_cast<double>(expected));
}

void OpTimeTest::masks() {
  const Machine machine = machine_with("h100-sxm-80gb");
  AttentionShape shape{1, 32, 8, 16384, 16384};
  const double full = attention_seconds(machine, shape);
  shape.causal = true;
  const double causal = attention_seconds(machine, shape);
  shape.window = 1024;
  const double windowed = attention_seconds(machine, shape);
  QVERIFY(causal < 0.65 * full && causal > 0.45 * full);
  QVERIFY(windowed < 0.35 * causal);
  shape.window = 0;
  shape.chunk = 2048;  // as many pairs as a window of 1024
  const double chunked = attention_seconds(machine, shape);
  QVERIFY(chunked < 1.3 * windowed && chunked > 0.7 * windowed);
  shape.chunk = 0;
  shape.backward = true;
  QVERIFY(attention_seconds(machine, shape) > 2.4 * causal);
}

void OpTimeTest::decoding_reads_its_cache() {
  const Machine machine = machine_with("h100-sxm-80gb");
  AttentionShape shape{64, 32, 8, 1, 8192};
  shape.causal = true;
  const double bytes = 64.0 * 8 * 8192 * 256 * 2;
  const double seconds = attention_seconds(machine, shape),
               least = bytes / (machine.accelerator->memory_gbps * 1e9);
  QVERIFY(seconds > least && seconds < 1.4 * least);
}

void OpTimeTest::peaks_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<QString>("dtype");
  QTest::addColumn<double>("tflops");
  QTest::newRow("a100 float8 runs in bfloat16") << "a100-sxm-80gb"
                                                << "float8" << 312.0;
  QTest::newRow("a100 float32") << "a100-sxm-80gb"
                                << "float32" << 19.5;
  QTest::newRow("h100 float8") << "h100-sxm-80gb"
                               << "float8" << 1978.9;
  QTest::newRow("h100 nvfp4 runs in float8") << "h100-sxm-80gb"
                                             << "nvfp4" << 1978.9;
  QTest::newRow("b200 mxfp8") << "b200-hgx-180gb"
                              << "mxfp8" << 4500.0;
  QTest::newRow("b200 nvfp4") << "b200-hgx-180gb"
                              << "nvfp4" << 9000.0;
  QTest::newRow("b300 nvfp4") << "b300-hgx-270gb"
                              << "nvfp4" << 14000.0;
  QTest::newRow("gb200 float8") << "gb200-nvl72-186gb"
                                << "float8_block" << 5000.0;
  QTest::newRow("gb300 nvfp4") << "gb300-nvl72-279gb"
                               << "nvfp4" << 15000.0;
  QTest::newRow("mi300x float8") << "mi300x-192gb"
                                 << "float8" << 2614.9;
  QTest::newRow("gaudi3 float8") << "gaudi3-128gb"
                                 << "float8" << 1835.0;
  QTest::newRow("rubin nvfp4") << "rubin-nvl144-288gb"
                               << "nvfp4" << 35000.0;
  QTest::newRow("rubin mxfp8") << "rubin-nvl144-288gb"
                               << "mxfp8" << 17500.0;
  QTest::newRow("rtx pro nvfp4") << "rtx-pro-6000-96gb"
                                 << "nvfp4" << 1871.2;
  QTest::newRow("l40s float8") << "l40s-48gb"
                               << "float8" << 733.0;
  QTest::newRow("l40s nvfp4 as float8") << "l40s-48gb"
                                        << "nvfp4" << 733.0;
  QTest::newRow("mi350x float8") << "mi350x-288gb"
                                 << "float8" << 4613.7;
  QTest::newRow("mi355x nvfp4 as mxfp4") << "mi355x-288gb"
                                         << "nvfp4" << 10066.3;
  QTest::newRow("tpu v7 float8") << "tpu-v7"
                                 << "float8" << 4614.0;
  QTest::newRow("trainium 2 float8") << "trainium2-96gb"
                                     << "float8" << 1299.0;
  QTest::newRow("trainium 3 mxfp8") << "trainium3-144gb"
                                    << "mxfp8" << 2517.0;
  QTest::newRow("tpu v5p bfloat16") << "tpu-v5p"
                                    << "bfloat16" << 459.0;
}

void OpTimeTest::peaks() {
  QFETCH(QString, id);
  QFETCH(QString, dtype);
  QFETCH(double, tflops);
  QCOMPARE(peak_flops(*find_accelerator(id.toStdString()), *dtype_from_name(dtype.toStdString())),
           tflops * 1e12);
}

void OpTimeTest::basis_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<QString>("dtype");
  QTest::addColumn<QString>("words");
  QTest::newRow("own table") << "h100-sxm-80gb"
                             << "bfloat16"
                             << "isolated loops";
  QTest::newRow("errors of it") << "h100-sxm-80gb"
                                << "bfloat16"
                                << "rows held out";
  QTest::newRow("same chip") << "h800-sxm-80gb"
                             << "bfloat16"
                             << "NVIDIA H100 SXM 80 GB table scaled by peak and bandwidth";
  QTest::newRow("other memory") << "a100-sxm-40gb"
                                << "bfloat16"
                                << "NVIDIA A100 SXM 80 GB table scaled";
  QTest::newRow("other type") << "b200-hgx-180gb"
                              << "mxfp8"
                              << "efficiency of float8 at the peak of mxfp8";
  QTest::newRow("one figure") << "mi300x-192gb"
                              << "bfloat16"
                              << "708 TFLOP/s";
  QTest::newRow("new family") << "mi355x-288gb"
                              << "bfloat16"
                              << "not measured";
  QTest::newRow("none") << "tpu-v5p"
                        << "bfloat16"
                        << "not measured";
}

void OpTimeTest::basis() {
  QFETCH(QString, id);
  QFETCH(QString, dtype);
  QFETCH(QString, words);
  const std::string text = matmul_basis(*find_accelerator(id.toStdString()),
                                        *dtype_from_name(dtype.toStdString()));
  QVERIFY2(QString::fromStdString(text).contains(words), text.c_str());
  QVERIFY(!attention_basis(*find_accelerator(id.toStdString()), AttentionPass::Backward).empty());
}

// What the basis of a basis alone knows counts too: how much longer older kernels take.
void OpTimeTest::bases_of_bases() {
  AttentionShape shape{
      .batch = 1, .heads = 32, .kv_heads = 32, .queries = 8192, .keys = 8192, .causal = true};
  for (const char* id : {"b200-hgx-180gb", "b300-hgx-270gb", "gb200-nvl72-186gb", "gb300-nvl72-279gb"}) {
    const Machine machine = machine_with(id);
    shape.kernel = {};
    const double fastest = attention_seconds(machine, shape);
    shape.kernel = "flash-attention-triton";
    QVERIFY2(attention_seconds(machine, shape) > 2 * fastest, id);
  }
}

// GEMMs of unfused attention use tensor cores only if the rows of a head are multiples of 16 bytes.
void OpTimeTest::unaligned_heads() {
  const Machine machine = machine_with("a100-sxm-80gb");
  const auto seconds = [&](int64_t dim, double score_bytes) {
    AttentionShape shape{.batch = 4, .heads = 12, .kv_heads = 12, .queries = 2048, .keys = 2048};
    shape.head_dim = shape.value_dim = dim;
    shape.score_bytes = score_bytes;
    return attention_seconds(machine, shape);
  };
  for (const int64_t dim : {108, 150}) QVERIFY(seconds(dim, 8) > 3 * seconds(160, 8));
  QVERIFY(seconds(152, 8) < seconds(160, 8) * 1.01);
  QVERIFY(seconds(150, 0) < seconds(160, 0) * 1.01);  // fused
}

// A device of a person's own form: its family's tables at its own peak, else constants.
void OpTimeTest::made_up() {
  const Machine h100 = machine_with("h100-sxm-80gb");
  Accelerator twice = *h100.accelerator;
  twice.id = "twice";
  twice.bf16_tflops *= 2;
  twice.memory_gbps *= 2;
  Machine machine;
  machine.accelerator = unowned(&twice);
  const MatmulShape shape{1, 8192, 8192, 8192};
  const double ratio = matmul_seconds(h100, shape) / matmul_seconds(machine, shape);
  QVERIFY2(ratio > 1.95 && ratio < 2.05, qPrintable(QString::number(ratio)));
  QVERIFY(matmul_basis(twice, DType::BF16).starts_with("NVIDIA H100 SXM 80 GB table scaled"));
  twice.family = "abacus";
  const double seconds = matmul_seconds(machine, shape),
               least = 2 * std::pow(8192.0, 3) / (twice.bf16_tflops * 1e12);
  QVERIFY(seconds > 1.2 * least && seconds < 1.5 * least);
  QVERIFY(matmul_basis(twice, DType::BF16).starts_with("not measured"));
}

QTEST_APPLESS_MAIN(OpTimeTest)
#include "op_time_test.moc"
