// The cache of plans: equal keys have one value, and it holds no more bytes than it was given.
#include <QtTest>

#include "base/plan_cache.h"

using namespace shardscape;

namespace {

CacheKey key_of(int64_t word) {
  CacheKey key;
  key.add(word);
  return key;
}

constexpr auto kLight = [](const int&) { return sizeof(int); };

}  // namespace

class PlanCacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalKeysHaveOneValue();
  void kindsAreApart();
  void textsArePartsOfKeys();
  void bytesAreBounded_data();
  void bytesAreBounded();
  void whatWasStoppedIsNotKept();
};

void PlanCacheTest::equalKeysHaveOneValue() {
  PlanCache cache;
  int made = 0;
  const auto make = [&] { return std::make_shared<const int>(++made); };
  const auto first = cache.get<int>(CacheKind::Graph, key_of(1), make, kLight);
  QCOMPARE(cache.get<int>(CacheKind::Graph, key_of(1), make, kLight), first);
  QVERIFY(cache.get<int>(CacheKind::Graph, key_of(2), make, kLight) != first);
  QCOMPARE(made, 2);
}

void PlanCacheTest::kindsAreApart() {
  PlanCache cache;
  const auto one = cache.get<int>(
      CacheKind::Graph, key_of(1), [] { return std::make_shared<const int>(1); }, kLight);
  const auto two = cache.get<int>(
      CacheKind::Segments, key_of(1), [] { return std::make_shared<const int>(2); }, kLight);
  QCOMPARE(*one, 1);
  QCOMPARE(*two, 2);
}

void PlanCacheTest::textsArePartsOfKeys() {
  const auto words = [](std::initializer_list<std::string_view> texts) {
    CacheKey key;
    for (const std::string_view text : texts) key.add(text);
    return std::vector<int64_t>(key.words().begin(), key.words().end());
  };
  QVERIFY(words({"ab", "c"}) != words({"a", "bc"}));
  QVERIFY(words({"abcdefgh"}) != words({"abcdefgh", ""}));
  QVERIFY(words({"abcdefghi"}) != words({"abcdefghj"}));
  QVERIFY(words({"abcdefghi"}) == words({"abcdefghi"}));
}

void PlanCacheTest::bytesAreBounded_data() {
  QTest::addColumn<int>("weight");
  QTest::newRow("light") << 1;
  QTest::newRow("heavy") << 5'000;
  QTest::newRow("heavier than the cache") << 5'000'000;
}

void PlanCacheTest::bytesAreBounded() {
  QFETCH(int, weight);
  constexpr size_t kBytes = 1 << 20;
  PlanCache cache(kBytes);
  const auto bytes = [](const int& value) { return static_cast<size_t>(value); };
  size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    cache.get<int>(
        CacheKind::Graph, key_of(i), [&] { return std::make_shared<const int>(weight); }, bytes);
    // Asked for again, it stays young.
    cache.get<int>(
        CacheKind::Graph, key_of(i / 2), [&] { return std::make_shared<const int>(weight); }, bytes);
    if (i % 997 == 0) most = std::max(most, cache.bytes());
  }
  // Each of the 16 shards drops its oldest values when it is asked next; until then it may hold one more
  // generation.
  const size_t bound = 2 * kBytes + 32 * static_cast<size_t>(weight);
  QVERIFY2(most <= bound, qPrintable(QString("%1 bytes, bound %2").arg(most).arg(bound)));
}

void PlanCacheTest::whatWasStoppedIsNotKept() {
  PlanCache cache;
  const auto stopped = [] { return std::shared_ptr<const int>(); };
  QVERIFY(!cache.get<int>(CacheKind::Graph, key_of(1), stopped, kLight));
  QCOMPARE(*cache.get<int>(
               CacheKind::Graph, key_of(1), [] { return std::make_shared<const int>(7); }, kLight),
           7);
}

QTEST_APPLESS_MAIN(PlanCacheTest)
#include "plan_cache_test.moc"
