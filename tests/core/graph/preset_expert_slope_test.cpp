// Proof by execution: gradients of the architecture of every preset with experts equal finite differences.
#include <QtTest>

#include "support/equivalence.h"
#include "support/preset_rows.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetExpertSlopeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsFiniteDifferences_data() { add_preset_rows(PresetKind::Experts, {"batch=1 seq=8"}); }
  void equalsFiniteDifferences() {
    QCOMPARE(QString::fromStdString(difference_from_slopes(fetched_preset(), 2)), QString());
  }
};

QTEST_APPLESS_MAIN(PresetExpertSlopeTest)
#include "preset_expert_slope_test.moc"
