// The slowdown of a kernel profile: GEMMs and attention of one version of a code base take longer, in
// training only.
#include <QtTest>

#include "model/library.h"
#include "performance/op_time.h"
#include "support/designs.h"
#include "timing/machine_of.h"

using namespace shardscape;
using namespace shardscape::test;

class CodeBaseTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void versionsOfACodeBaseAreSlower_data() {
    QTest::addColumn<QString>("profile");
    QTest::addColumn<bool>("slower");
    QTest::newRow("NeMo of MLPerf v3.0") << "nemo-23.04" << true;
    QTest::newRow("NeMo of MLPerf v3.1") << "nemo-23.09" << true;
    QTest::newRow("no base inherits a slowdown") << "megatron-core-te-1" << false;
    QTest::newRow("default") << "flash" << false;
  }
  void versionsOfACodeBaseAreSlower() {
    QFETCH(QString, profile);
    QFETCH(bool, slower);
    Design d = preset_design("llama3-8b", 1, 1, 1);
    d.workload.profile = profile.toStdString();
    const double slowdown = ModelLibrary::instance().profile(d.workload.profile)->slowdown;
    QCOMPARE(slowdown > 1, slower);
    const Machine machine = machine_of(d);
    Machine plain = machine;
    plain.code_base_factor = 1;
    QCOMPARE(machine.code_base_factor, slowdown);
    const MatmulShape shape{1, 4096, 4096, 4096, DType::BF16, DType::BF16};
    QCOMPARE(matmul_seconds(machine, shape), slowdown * matmul_seconds(plain, shape));
    QCOMPARE(memory_bound_seconds(machine, 1e8), memory_bound_seconds(plain, 1e8));
    d.workload.mode = Mode::Prefill;
    QCOMPARE(machine_of(d).code_base_factor, 1.0);
  }
};

QTEST_GUILESS_MAIN(CodeBaseTest)
#include "code_base_test.moc"
