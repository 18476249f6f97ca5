// The values that zero stands for, next to what the program computes with.
#include "design/knobs/zero_value.h"

#include <QTest>

#include "design/cluster.h"
#include "design/knobs/knobs.h"

using namespace shardscape;

class ZeroValueTest : public QObject {
  Q_OBJECT

  static std::string at(const Design& design, const char* knob) {
    const auto values = zero_values(design);
    return values.at(knob).text();
  }

 private Q_SLOTS:
  void everyRowIsAKnobWithAValue() {
    const Design design = default_design();
    for (const auto& [id, zero] : zero_values(design)) {
      const Knob* knob = find_knob(id);
      QVERIFY2(knob && knob->min == 0, id.c_str());
      QVERIFY2(zero_means_unset(id) && !zero.value.empty() && !zero.source.empty(), id.c_str());
    }
    QVERIFY(!zero_means_unset("stage3_prefetch_bucket_size"));  // zero is a number: no prefetch
    QVERIFY(!zero_means_unset("tp"));
  }

  void valuesAreThoseOfTheMachine() {
    Design design = default_design();
    QCOMPARE(at(design, "peak_tflops"), std::string("989.4 TFLOP/s"));
    QCOMPARE(at(design, "memory_bandwidth"), std::string("3,350 GB/s"));
    QCOMPARE(at(design, "scaleup_bandwidth"), std::string("450 GB/s"));
    QCOMPARE(at(design, "nic_bandwidth"), std::string("400 Gb/s"));
    // A set knob does not change what zero stands for.
    design.cluster.peak_tflops = 500;
    QCOMPARE(at(design, "peak_tflops"), std::string("989.4 TFLOP/s"));
    QCOMPARE(at(design, "etp"), "tp = " + std::to_string(design.parallel.tp));
    QCOMPARE(at(design, "window"), std::string("no window"));
    QCOMPARE(auto_value("network", design), std::string("DGX H100, 8 x NDR InfiniBand"));
    QCOMPARE(auto_value("in_network_reduction", design), std::string());
    design.cluster.accelerator = "no such device";
    QCOMPARE(auto_value("network", design), std::string());
    QCOMPARE(at(design, "peak_tflops"), std::string("none"));
  }
};

QTEST_APPLESS_MAIN(ZeroValueTest)
#include "zero_value_test.moc"
