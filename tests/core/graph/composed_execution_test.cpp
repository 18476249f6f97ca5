// Proof by execution: random architectures, composed from all blocks, compute on ranks what they compute
// unsharded, and their gradients equal finite differences.
#include <QTemporaryDir>
#include <QtTest>

#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "support/random_architectures.h"
#include "support/test_share.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const int kArchitectures = cases(36);
constexpr const char* kTraining[] = {"tp=2 sp dp=2",
                                     "tp=4 pp=2 recompute=selective",
                                     "dp=2 pp=2 recompute=full",
                                     "cp=2 context=all-gather",
                                     "cp=2 context=ulysses kv_heads=4 tp=2 sp",
                                     "pp=2 schedule=zb-h1",
                                     "cp=2 context=zigzag",
                                     "tp=2 profile=transformers-eager"};
constexpr const char* kServing[] = {"tp=2 batch=8 microbatch=4", "tp=2 sp pp=2 batch=16 microbatch=8",
                                    "dp=2 batch=8 microbatch=4 kv_cache_dtype=fp8"};

}  // namespace

class ComposedExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { composed_ = compose_architectures(home_.path().toStdString(), kArchitectures, 1); }

  // Three meshes for each architecture.
  void equalsUnsharded() {
    int runs = 0;
    for (size_t i = 0; i < composed_.ids.size(); ++i)
      for (size_t mesh = 0; mesh < std::size(kTraining); ++mesh) {
        if ((mesh + i) % std::size(kTraining) > 2) continue;
        Design d = composed_design(composed_.ids[i]);
        set_knobs(d, kTraining[mesh]);
        if (refused(d)) continue;
        ++runs;
        const std::string difference = difference_from_unsharded(d);
        QVERIFY2(difference.empty(), (composed_.ids[i] + ", " + kTraining[mesh] + ": " + difference).c_str());
      }
    QVERIFY(runs > 2 * kArchitectures);
  }

  void decodeAfterPrefill() {
    for (size_t i = 0; i < composed_.ids.size(); ++i) {
      const char* settings = kServing[i % std::size(kServing)];
      Design d = composed_design(composed_.ids[i]);
      set_knobs(d, settings);
      const std::string difference = difference_from_longer(d, 8, 1);
      QVERIFY2(difference.empty(), (composed_.ids[i] + ", " + settings + ": " + difference).c_str());
    }
  }

  void equalsFiniteDifferences() {
    for (size_t i = 0; i < composed_.ids.size(); i += 6) {
      Design d = composed_design(composed_.ids[i]);
      set_knobs(d, "batch=1 seq=8");
      const std::string parameter = difference_from_slopes(d, 2);
      QVERIFY2(parameter.empty(), (composed_.ids[i] + ": " + parameter).c_str());
    }
  }

 private:
  QTemporaryDir home_;
  ComposedArchitectures composed_;
};

QTEST_APPLESS_MAIN(ComposedExecutionTest)
#include "composed_execution_test.moc"
