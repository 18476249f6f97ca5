// Counts of enumerators: of enums made for this test, and the counts that headers state.
#include "base/enum_count.h"

#include <QtTest>

#include "model/recompute_module.h"
#include "timing/simulation.h"

using namespace shardscape;

namespace {

enum class One { Only };
enum Plain : unsigned char { First, Second, Third };
enum class Gap { Zero, Two = 2 };

static_assert(enum_count<One>() == 1);
static_assert(enum_count<Plain>() == 3);
static_assert(enum_count<Gap>() == 1, "counts up to the first value without a name");

static_assert(kAxisCount == enum_count<Axis>());
static_assert(kCollectiveAlgorithmCount == enum_count<CollectiveAlgorithm>());
static_assert(kCollectiveKindCount == enum_count<CollectiveKind>());
static_assert(kAllMemoryCategories == enum_count<MemoryCategory>());
static_assert(kPhaseCount == enum_count<Phase>());
static_assert(kRecomputeModuleCount == enum_count<RecomputeModule>());
static_assert(kStreamKindCount == enum_count<StreamKind>());
static_assert(kTimeCategoryCount == enum_count<TimeCategory>());

}  // namespace

// The checks above run in the compiler.
class EnumCountTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void casts_have_no_name() {
    QVERIFY(is_enumerator<Gap::Two>());
    QVERIFY(!is_enumerator<static_cast<Gap>(1)>());
  }
};

QTEST_APPLESS_MAIN(EnumCountTest)
#include "enum_count_test.moc"
