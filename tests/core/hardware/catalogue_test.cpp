// The accelerators and networks of the catalogue: the values of a device add up to the figures that its maker
// publishes for whole systems, and a small design runs on every device and every network.
#include <QtTest>
#include <cmath>

#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"
#include "memory/estimate.h"
#include "support/designs.h"
#include "support/machines.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

double value_of(const Accelerator& a, const QByteArray& key) {
  if (key == "bf16_tflops") return a.bf16_tflops;
  if (key == "fp8_tflops") return a.fp8_tflops;
  if (key == "fp4_tflops") return a.fp4_tflops;
  if (key == "int8_tops") return a.int8_tops;
  if (key == "fp32_tflops") return a.fp32_tflops;
  if (key == "memory_gb") return a.memory_gb;
  if (key == "memory_gbps") return a.memory_gbps;
  if (key == "scaleup_gbps") return a.scaleup_gbps;
  return 0;
}

// Two layers of Llama 3 8B on 16 ranks, which fit on the smallest device of the catalogue.
Design small_design(const std::string& accelerator, const std::string& network) {
  Design design = preset_design("llama3-8b", 8, 1, 2, true);
  design.model.layers = 2;
  design.workload.seq = 2048;
  design.workload.batch = 2;
  design.cluster.accelerator = accelerator;
  design.cluster.network = network;
  return design;
}

}  // namespace

class CatalogueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void systems_data();
  void systems();
  void domains_data();
  void domains();
  void networks_between_slices_data();
  void networks_between_slices();
  void small_designs_run_data();
  void small_designs_run();
};

void CatalogueTest::systems_data() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<QByteArray>("key");
  QTest::addColumn<double>("times");  // devices of the system, or twice them for a figure of both directions
  QTest::addColumn<double>("published");  // in the unit of the key; rounded by its maker to 1 % or better
  const auto row = [](const char* accelerator, const char* key, double times, double published) {
    QTest::addRow("%s, %s", accelerator, key)
        << QByteArray(accelerator) << QByteArray(key) << times << published;
  };
  // NVIDIA Vera Rubin NVL72: 72 packages; NVLink in both directions.
  row("rubin-nvl144-288gb", "memory_gb", 72, 20.7e3);
  row("rubin-nvl144-288gb", "memory_gbps", 72, 1.58e6);
  row("rubin-nvl144-288gb", "fp4_tflops", 72, 2.5e6);
  row("rubin-nvl144-288gb", "scaleup_gbps", 2 * 72, 260e3);
  // AWS g7e.48xlarge and g6e.48xlarge: eight cards.
  row("rtx-pro-6000-96gb", "memory_gb", 8, 768);
  row("l40s-48gb", "memory_gb", 8, 384);
  // AMD's platforms of eight.
  row("mi350x-288gb", "bf16_tflops", 8, 18.5e3);
  row("mi350x-288gb", "fp8_tflops", 8, 37e3);
  row("mi350x-288gb", "fp4_tflops", 8, 74e3);
  row("mi355x-288gb", "memory_gb", 8, 2.3e3);
  row("mi355x-288gb", "fp4_tflops", 8, 80.5e3);
  // Two cards of H100 NVL; NVLink is a network of its own.
  row("h100-nvl-94gb", "memory_gb", 2, 188);
  row("h100-nvl-94gb", "bf16_tflops", 2, 1671);
  row("h100-pcie-80gb", "fp8_tflops", 2, 3026);
  // HLS-Gaudi2: 21 of 24 ports of 100 Gb/s in both directions.
  row("gaudi2-96gb", "memory_gb", 8, 768);
  row("gaudi2-96gb", "scaleup_gbps", 8, 2100);
  row("gaudi2-96gb", "bf16_tflops", 1, 2.0 * 2 * 256 * 256 * 1650e6 / 1e12);
  // HCCS of the Ascend 910B: 392 GB/s in both directions.
  row("ascend-910b2-64gb", "scaleup_gbps", 2, 392);
  row("ascend-910b2-64gb", "bf16_tflops", 1, 24 * 2.0 * 16 * 16 * 16 * 1800e6 / 1e12);
  // AWS Neuron documentation: trn1.32xlarge has 32 NeuronCores.
  row("trainium1-core-16gb", "bf16_tflops", 32, 3040);
  row("trainium1-core-16gb", "fp32_tflops", 32, 760);
  row("trainium1-core-16gb", "memory_gb", 32, 512);
  row("trainium1-core-16gb", "memory_gbps", 32, 13120);
  // Google Cloud TPU documentation: pods of 256 chips v5e and v6e, and of 8,960 chips v5p.
  row("tpu-v5e", "int8_tops", 256, 100.9e3);
  row("tpu-v6e", "int8_tops", 256, 470e3);
  // Google's pod of 9,216 chips.
  row("tpu-v7", "fp8_tflops", 9216, 42.5e6);
  row("tpu-v7", "memory_gb", 9216, 1.77e6);
  // AWS Neuron documentation: Trn2 UltraServer of 64 chips, Trn3 Gen2 UltraServer of 144.
  row("trainium2-96gb", "bf16_tflops", 64, 42.8e3);
  row("trainium2-96gb", "fp8_tflops", 64, 83.2e3);
  row("trainium2-96gb", "fp32_tflops", 64, 11.6e3);
  row("trainium2-96gb", "memory_gb", 64, 6144);
  row("trainium2-96gb", "memory_gbps", 64, 185.6e3);
  row("trainium3-144gb", "bf16_tflops", 144, 96624);
  row("trainium3-144gb", "fp8_tflops", 144, 362448);
  row("trainium3-144gb", "fp4_tflops", 144, 362448);
  row("trainium3-144gb", "fp32_tflops", 144, 26352);
  row("trainium3-144gb", "memory_gb", 144, 20736);
  row("trainium3-144gb", "memory_gbps", 144, 705.6e3);
}

void CatalogueTest::systems() {
  QFETCH(QByteArray, accelerator);
  QFETCH(QByteArray, key);
  QFETCH(double, times);
  QFETCH(double, published);
  const Accelerator* device = find_accelerator(accelerator.toStdString());
  QVERIFY(device);
  const double sum = times * value_of(*device, key);
  QVERIFY2(std::abs(sum / published - 1) < 0.01, QByteArray::number(sum).constData());
  QVERIFY(!source_of(device->sources, key.toStdString()).empty());
}

void CatalogueTest::domains_data() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<int>("node");
  QTest::addColumn<int>("domain");  // 0: a node
  QTest::addRow("dies of NVL144 are no ranks") << QByteArray("vera-rubin-nvl144") << 4 << 72;
  QTest::addRow("cards") << QByteArray("rtx-pro-6000") << 8 << 0;
  QTest::addRow("cards of PCI Express 4.0") << QByteArray("l40s") << 8 << 0;
  QTest::addRow("MI350X") << QByteArray("mi350x") << 8 << 0;
  QTest::addRow("MI355X") << QByteArray("mi355x") << 8 << 0;
  QTest::addRow("TPU v7") << QByteArray("ironwood") << 4 << 9216;
  QTest::addRow("Gaudi 2") << QByteArray("gaudi2") << 8 << 0;
  QTest::addRow("Ascend 910B") << QByteArray("910b") << 8 << 0;
  QTest::addRow("NeuronCores of Trainium 1") << QByteArray("trn1") << 32 << 32;
  QTest::addRow("H100 PCIe") << QByteArray("h100-pcie") << 8 << 0;
  QTest::addRow("H100 NVL") << QByteArray("h100-nvl") << 8 << 0;
  QTest::addRow("Trainium 2") << QByteArray("trn2") << 16 << 16;
  QTest::addRow("Trainium 3") << QByteArray("trn3") << 4 << 144;
}

void CatalogueTest::domains() {
  QFETCH(QByteArray, accelerator);
  QFETCH(int, node);
  QFETCH(int, domain);
  const Accelerator* device = find_accelerator(accelerator.toStdString());
  QVERIFY(device);
  const NetworkEntry* network = default_network(device->id);
  QVERIFY(network);
  QCOMPARE(network->gpus_per_node, int64_t{node});
  QCOMPARE(network->domain, int64_t{domain});
  // Links inside a domain and a NIC out of it are known.
  QVERIFY(network->scaleup_gbps > 0 || device->scaleup_gbps > 0);
  QVERIFY(network->nic_gbps > 0);
}

// Google's documentation: the network of a data centre, in Tb/s per pod.
void CatalogueTest::networks_between_slices_data() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<int>("chips");
  QTest::addColumn<double>("terabits");
  QTest::addRow("TPU v5e") << QByteArray("tpu-v5e") << 256 << 6.4;
  QTest::addRow("TPU v5p") << QByteArray("tpu-v5p") << 1 << 0.05;
  QTest::addRow("TPU v6e") << QByteArray("tpu-v6e") << 256 << 25.6;
  QTest::addRow("TPU v7") << QByteArray("tpu-v7") << 1 << 0.1;
}

void CatalogueTest::networks_between_slices() {
  QFETCH(QByteArray, accelerator);
  QFETCH(int, chips);
  QFETCH(double, terabits);
  const NetworkEntry* network = default_network(accelerator.toStdString());
  QVERIFY(network);
  QCOMPARE(network->nic_gbps * 8 * chips, terabits * 1000);
}

void CatalogueTest::small_designs_run_data() { machine_rows(); }

void CatalogueTest::small_designs_run() {
  QFETCH(QByteArray, accelerator);
  QFETCH(QByteArray, network);
  const auto report = estimate(small_design(accelerator.toStdString(), network.toStdString()));
  QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
  QVERIFY2(report->problems.empty(),
           report->problems.empty() ? "" : to_string(report->problems.front()).c_str());
  QCOMPARE(QByteArray::fromStdString(report->accelerator->id), accelerator);
  QVERIFY(report->memory->fits);
  // No faster than the dense peak of all devices.
  const auto step = simulate(*report);
  const double shortest = report->step_flops /
                          (static_cast<double>(report->ranks) * report->accelerator->bf16_tflops * 1e12);
  QVERIFY2(step->step_seconds > shortest && step->step_seconds < 100 * shortest,
           QByteArray::number(step->step_seconds / shortest).constData());
}

QTEST_APPLESS_MAIN(CatalogueTest)
#include "catalogue_test.moc"
