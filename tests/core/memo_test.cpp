// What is kept of values made once per key: the same one for equal keys, and no more of them than was said.
#include <QtTest>

#include "base/memo.h"

using namespace shardscape;

namespace {

MemoKey key_of(int64_t word) {
  MemoKey key;
  key.add(word);
  return key;
}

}  // namespace

class MemoTest : public QObject {
  Q_OBJECT

 private slots:
  void equal_keys_have_one_value();
  void weights_bound_what_is_kept_data();
  void weights_bound_what_is_kept();
  void what_was_stopped_is_not_kept();
};

void MemoTest::equal_keys_have_one_value() {
  Memo<int> memo(64);
  int made = 0;
  const auto make = [&] { return std::make_shared<const int>(++made); };
  const auto first = memo.get(key_of(1), make);
  QCOMPARE(memo.get(key_of(1), make), first);
  QVERIFY(memo.get(key_of(2), make) != first);
  QCOMPARE(made, 2);
}

void MemoTest::weights_bound_what_is_kept_data() {
  QTest::addColumn<int>("weight");
  QTest::newRow("light") << 1;
  QTest::newRow("heavy") << 50;
  QTest::newRow("heavier than all that is kept") << 5000;
}

void MemoTest::weights_bound_what_is_kept() {
  QFETCH(int, weight);
  constexpr size_t kKept = 3200, kShards = 16;
  Memo<int> memo(kKept, [](const int& value) { return static_cast<size_t>(value); });
  for (int i = 0; i < 20000; ++i) {
    memo.get(key_of(i), [&] { return std::make_shared<const int>(weight); });
    memo.get(key_of(i / 2), [&] { return std::make_shared<const int>(weight); });  // asked for again, it stays young
  }
  // Every shard may have one too many, and one that fills it by itself.
  const size_t most = kKept / static_cast<size_t>(weight) + 2 * kShards;
  QVERIFY2(memo.size() <= most, qPrintable(QString("%1 of weight %2").arg(memo.size()).arg(weight)));
}

void MemoTest::what_was_stopped_is_not_kept() {
  Memo<int> memo(64);
  QVERIFY(!memo.get(key_of(1), [] { return std::shared_ptr<const int>(); }));
  QCOMPARE(*memo.get(key_of(1), [] { return std::make_shared<const int>(7); }), 7);
}

QTEST_APPLESS_MAIN(MemoTest)
#include "memo_test.moc"
