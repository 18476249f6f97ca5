// Proof by execution: gradients of the architecture of every preset without experts equal finite differences.
#include <QtTest>

#include "support/equivalence.h"
#include "support/preset_rows.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetSlopeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsFiniteDifferences_data() { add_preset_rows(PresetKind::Dense, {"batch=1"}); }
  void equalsFiniteDifferences() {
    QCOMPARE(QString::fromStdString(difference_from_slopes(fetched_preset(), 2)), QString());
  }
};

QTEST_APPLESS_MAIN(PresetSlopeTest)
#include "preset_slope_test.moc"
