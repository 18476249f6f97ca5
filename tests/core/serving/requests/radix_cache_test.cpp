// The radix cache equals a list of cached token sequences, on random requests.
#include <QtTest>
#include <set>

#include "serving/requests/radix_cache.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Numbers of the first tokens of a request. Equal numbers mean equal prefixes.
std::vector<int32_t> contents_of(const BlockContents& contents, int32_t request, int32_t tokens) {
  std::vector<int32_t> out;
  ContentWalk walk(contents.segments(request), 0);
  for (int32_t i = 0; i < tokens; ++i) out.push_back(walk.next());
  return out;
}

}  // namespace

class RadixCacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void matches_and_sizes_equal_those_of_a_set() {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RequestCase c = random_case(seed);
      const BlockContents contents(c.workload, 1);
      RadixCache cache(contents);
      std::set<int32_t> known;
      const auto count = static_cast<int32_t>(c.workload.requests.size());
      for (int32_t i = 0; i < 3 * count; ++i) {
        const int32_t request = i % count;
        const int32_t tokens = c.workload.requests[static_cast<size_t>(request)].prompt;
        const int32_t most = 1 + (7 * i) % tokens;
        const std::vector<int32_t> all = contents_of(contents, request, tokens);
        const auto first_new = std::find_if(all.begin(), all.begin() + most,
                                            [&](int32_t content) { return !known.contains(content); });
        const auto expected = static_cast<int32_t>(first_new - all.begin());
        QCOMPARE(cache.cached(request, most), expected);
        QCOMPARE(cache.match(request, most).pages, expected);
        if (i % 2) continue;
        QCOMPARE(cache.insert(request, most).pages, expected);
        known.insert(all.begin(), all.begin() + most);
        QCOMPARE(cache.pages(), static_cast<int64_t>(known.size()));
        QCOMPARE(cache.evictable(), cache.pages());
      }
    }
  }

  // Locks keep the whole path. An endless eviction leaves the locked tokens only.
  void locked_prefixes_stay() {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RequestCase c = random_case(seed);
      const BlockContents contents(c.workload, 1);
      RadixCache cache(contents);
      std::set<int32_t> locked;
      std::vector<int32_t> nodes;
      const auto count = static_cast<int32_t>(c.workload.requests.size());
      for (int32_t i = 0; i < count; ++i) {
        const int32_t tokens = c.workload.requests[static_cast<size_t>(i)].prompt;
        const RadixCache::Match match = cache.insert(i, tokens);
        if (i % 3) continue;
        cache.lock(match.node);
        nodes.push_back(match.node);
        const auto all = contents_of(contents, i, tokens);
        locked.insert(all.begin(), all.end());
      }
      const auto held = static_cast<int64_t>(locked.size());
      QCOMPARE(cache.pages() - cache.evictable(), held);
      cache.evict(1 << 30);
      QCOMPARE(cache.pages(), held);
      QCOMPARE(cache.evictable(), int64_t{0});
      for (const int32_t node : nodes) cache.unlock(node);
      QCOMPARE(cache.evictable(), held);
      cache.evict(1 << 30);
      QCOMPARE(cache.pages(), int64_t{0});
    }
  }

  // Three prompts with the same first 16 tokens, and one of another prefix. Whole leaves go, the least
  // recently used first; the common start goes last.
  void leaves_are_evicted_by_their_last_use() {
    Workload w = workload({request(0, 32, 1), request(0, 32, 1), request(0, 32, 1), request(0, 32, 1)});
    w.tokens_per_hash = 16;
    w.hashes = {1, 2, 1, 3, 1, 4, 5, 6};
    for (size_t i = 0; i < 4; ++i) {
      w.requests[i].hashes = 2;
      w.requests[i].first_hash = static_cast<int64_t>(2 * i);
    }
    const BlockContents contents(w, 1);
    RadixCache cache(contents);
    for (int32_t i = 0; i < 4; ++i) cache.insert(i, 32);
    QCOMPARE(cache.pages(), int64_t{16 + 3 * 16 + 32});
    cache.match(0, 32);
    cache.evict(1);
    QCOMPARE(cache.cached(1, 32), 16);
    QCOMPARE(cache.cached(2, 32), 32);
    cache.evict(17);
    QCOMPARE(cache.cached(2, 32), 16);
    QCOMPARE(cache.cached(3, 32), 0);
    QCOMPARE(cache.cached(0, 32), 32);
    cache.clear();
    QCOMPARE(cache.cached(0, 32), 0);
  }
};

QTEST_APPLESS_MAIN(RadixCacheTest)
#include "radix_cache_test.moc"
