// Contents of cache blocks, and the pool of blocks with its prefix cache.
#include <QtTest>
#include <map>
#include <numeric>

#include "serving/requests/kv_blocks.h"
#include "serving/requests/random.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::vector<int32_t> contents(const BlockContents& all, int32_t request, int32_t blocks) {
  std::vector<int32_t> out;
  ContentWalk walk(all.segments(request), 0);
  for (int32_t i = 0; i < blocks; ++i) out.push_back(walk.next());
  return out;
}

void add_hashes(Workload& workload, size_t request, std::vector<uint64_t> hashes) {
  workload.requests[request].first_hash = static_cast<int64_t>(workload.hashes.size());
  workload.requests[request].hashes = static_cast<int32_t>(hashes.size());
  workload.hashes.insert(workload.hashes.end(), hashes.begin(), hashes.end());
}

// The first blocks that two requests have in common.
int common(const BlockContents& all, int32_t a, int32_t b, int32_t blocks) {
  const auto x = contents(all, a, blocks), y = contents(all, b, blocks);
  int out = 0;
  while (out < blocks && x[static_cast<size_t>(out)] == y[static_cast<size_t>(out)]) ++out;
  return out;
}

// Takes and publishes blocks for all prompt tokens that are not cached.
KvBlocks::Table admitted(KvBlocks& pool, int32_t request, int32_t blocks, int32_t full) {
  KvBlocks::Table table;
  const auto hits = pool.hits(request, full);
  pool.take_hits(request, hits.rows, table);
  pool.take(blocks - hits.rows, table);
  pool.publish(request, table, hits.rows, full);
  return table;
}

}  // namespace

class KvBlocksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equal_chains_of_hashes_are_equal_contents() {
    Workload w = workload({request(0, 40, 8), request(0, 48, 8), request(0, 48, 8), request(0, 48, 8)});
    w.tokens_per_hash = 16;
    add_hashes(w, 0, {1, 2, 3});  // the last part has 8 tokens
    add_hashes(w, 1, {1, 2, 3});
    add_hashes(w, 2, {9, 2, 3});  // equal parts after a different one
    const BlockContents all(w, 4);
    QCOMPARE(common(all, 0, 1, 12), 10);  // 40 tokens
    QCOMPARE(common(all, 0, 2, 12), 0);
    QCOMPARE(common(all, 0, 3, 12), 0);
    QCOMPARE(all.private_from(0), 10);
    QCOMPARE(all.private_from(3), 0);
    // Blocks of 12 tokens: the fourth ends in the third part.
    const BlockContents wide(w, 12);
    QCOMPARE(common(wide, 0, 1, 4), 3);
    // All numbers are in range, and own blocks are of one request only.
    std::map<int32_t, int> owners;
    for (int32_t r = 0; r < 4; ++r)
      for (const int32_t c : contents(all, r, 12)) {
        QVERIFY(c >= 0 && c < all.contents());
        ++owners[c];
      }
    QCOMPARE(std::count_if(owners.begin(), owners.end(), [](auto& o) { return o.second == 2; }), 10);
  }

  // A turn repeats the prompt and the answer of its parent, and of all turns before.
  void turns_continue_their_parents() {
    Workload w = workload({request(0, 10, 7), request(0, 30, 5), request(0, 60, 5), request(0, 12, 9)});
    w.requests[1].parent = 0;
    w.requests[2].parent = 1;
    w.requests[3].parent = 0;  // shorter than prompt and answer of the parent
    const BlockContents all(w, 4);
    QCOMPARE(common(all, 0, 1, 4), 4);  // 17 tokens
    QCOMPARE(common(all, 1, 2, 8), 8);  // 35 tokens
    QCOMPARE(common(all, 0, 2, 4), 4);
    QVERIFY(contents(all, 1, 5)[4] >= 4);  // not of the parent, which has four whole blocks
    QCOMPARE(common(all, 0, 3, 4), 3);     // 12 tokens of the prompt; the answers differ
    QCOMPARE(all.private_from(0), std::numeric_limits<int32_t>::max());
    QCOMPARE(all.private_from(2), 8);
  }

  void the_table_finds_contents_and_frees_its_pages() {
    constexpr int32_t kContents = 5000;
    ContentTable table(kContents);
    std::map<int32_t, int32_t> expected;
    Random random(4);
    for (int i = 0; i < 200000; ++i) {
      const auto content = static_cast<int32_t>(random.below(kContents));
      if (random.below(2)) {
        table.set(content, i);
        expected[content] = i;
      } else if (expected.erase(content)) {
        table.set(content, -1);
      }
      const auto probe = static_cast<int32_t>(random.below(kContents));
      const auto at = expected.find(probe);
      QCOMPARE(table.find(probe), at == expected.end() ? -1 : at->second);
    }
  }

  // The null block is never given out.
  void one_block_is_the_null_block() {
    const BlockContents none;
    KvBlocks pool(5, none);
    QCOMPARE(pool.usable(), int64_t{4});
    QVERIFY(pool.has_free(4) && !pool.has_free(5));
    KvBlocks::Table table;
    pool.take(4, table);
    QVERIFY(std::find(table.rows.begin(), table.rows.end(), 0) == table.rows.end());
    QVERIFY(!pool.has_free(1));
    pool.release(table, 0);
    QVERIFY(pool.has_free(4));
    QCOMPARE(pool.peak_in_use(), int64_t{4});
  }

  // Blocks that were never used go first, then the least recently used; of a request, its last blocks.
  void the_tail_of_the_oldest_request_is_evicted_first() {
    Workload w = workload({request(0, 12, 1), request(0, 12, 1), request(0, 4, 1)});
    w.tokens_per_hash = 4;
    add_hashes(w, 0, {1, 2, 3});
    add_hashes(w, 1, {4, 5, 6});
    const BlockContents all(w, 4);
    KvBlocks pool(9, all);
    KvBlocks::Table a = admitted(pool, 0, 3, 3), b = admitted(pool, 1, 3, 3), c;
    pool.release(a, 3);
    pool.release(b, 3);
    const auto hits = [&](int32_t r) { return pool.hits(r, 3).rows; };
    pool.take(2, c);  // the two unused ones
    QCOMPARE(hits(0), 3);
    pool.take(1, c);
    QCOMPARE(hits(0), 2);
    pool.take(2, c);
    QCOMPARE(hits(0), 0);
    QCOMPARE(hits(1), 3);
    // A hit takes the request out of the free list.
    KvBlocks::Table d = admitted(pool, 1, 3, 3);
    QVERIFY(!pool.has_free(1));
    QCOMPARE(pool.hits(1, 3).free, int64_t{0});
    pool.release(d, 3);
    QCOMPARE(pool.hits(1, 3).free, int64_t{3});
    QCOMPARE(pool.hits(1, 2).rows, 2);
  }

  void shared_blocks_stay_until_the_last_user_ends() {
    Workload w = workload({request(0, 8, 1), request(0, 8, 1)});
    w.tokens_per_hash = 4;
    add_hashes(w, 0, {1, 2});
    add_hashes(w, 1, {1, 2});
    const BlockContents all(w, 4);
    KvBlocks pool(4, all);
    KvBlocks::Table a = admitted(pool, 0, 2, 2), b = admitted(pool, 1, 2, 2);
    QCOMPARE(a.rows, b.rows);
    QCOMPARE(pool.in_use(), int64_t{2});
    pool.release(a, 2);
    QCOMPARE(pool.in_use(), int64_t{2});
    pool.release(b, 2);
    QCOMPARE(pool.in_use(), int64_t{0});
  }

  // The second request computes its last block again, so two blocks have one content.
  void a_twin_is_found_when_the_first_is_evicted() {
    Workload w = workload({request(0, 4, 1), request(0, 4, 1)});
    w.tokens_per_hash = 4;
    add_hashes(w, 0, {1});
    add_hashes(w, 1, {1});
    const BlockContents all(w, 4);
    KvBlocks pool(3, all);
    KvBlocks::Table a, b, c;
    pool.take(1, a);
    pool.publish(0, a, 0, 1);
    pool.take(1, b);
    pool.publish(1, b, 0, 1);
    pool.release(a, 1);
    pool.take(1, c);  // evicts the block of the first request
    QCOMPARE(pool.hits(0, 1).rows, 1);
    QCOMPARE(pool.hits(0, 1).free, int64_t{0});
    pool.release(b, 1);
    pool.take(1, b);
    QCOMPARE(pool.hits(0, 1).rows, 0);
  }

  // Sequences of random layouts grow step by step. Each holds the blocks of the rule, and the cache is full
  // before it gives out more than it has.
  void sequences_hold_the_blocks_of_their_layout() {
    constexpr int64_t kRow = 4;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      CacheLayout layout;
      layout.full = static_cast<int32_t>(random.below(3));
      for (int64_t w = random.below(3); w > 0; --w)
        layout.windows.push_back(
            {1 + random.below(30), random.below(2) == 0, 1 + static_cast<int32_t>(random.below(3))});
      layout.states = static_cast<int32_t>(random.below(3));
      const BlockContents none;
      KvBlocks pool(200, none, layout, kRow);
      std::vector<KvBlocks::Table> tables(6);
      std::vector<int64_t> computed(tables.size(), 0), held(tables.size(), 0);
      for (int step = 0; step < 300; ++step) {
        const auto i = static_cast<size_t>(random.below(static_cast<int64_t>(tables.size())));
        const int64_t tokens = 1 + random.below(10), rows = (computed[i] + tokens + kRow - 1) / kRow;
        pool.skip(computed[i], tables[i]);
        if (random.below(20) == 0 || !pool.has_free(pool.missing(tables[i], rows))) {
          pool.release(tables[i], 0);
          computed[i] = held[i] = 0;
        } else {
          pool.take(rows - tables[i].size(), tables[i]);
          held[i] = layout.blocks(rows, computed[i], kRow);
          QVERIFY(held[i] <= layout.most_blocks(rows, tokens, kRow));
          computed[i] += tokens;
        }
        QCOMPARE(pool.in_use(), std::accumulate(held.begin(), held.end(), int64_t{0}));
        QVERIFY(pool.in_use() <= pool.usable());
      }
    }
  }

  // The device evicts to the host, the host to the disk, the least recently evicted first.
  void evicted_blocks_move_down_the_tiers() {
    KvTiers tiers({{3, 2}, {1, 10}}, 100);
    const auto places = [&] {
      QList<int> out;
      for (int32_t content = 0; content < 7; ++content) out << tiers.find(content);
      return out;
    };
    for (int32_t content = 0; content < 5; ++content) tiers.insert(content, 1);
    QCOMPARE(places(), (QList<int>{1, 1, 0, 0, 0, -1, -1}));
    tiers.insert(0, 1);  // evicted from the device again
    QCOMPARE(places(), (QList<int>{0, 1, 1, 0, 0, -1, -1}));
    tiers.insert(-1, 2);  // two blocks that nobody asks for
    QCOMPARE(places(), (QList<int>{0, -1, -1, 1, 1, -1, -1}));
    QCOMPARE(tiers.in_use(CacheTier::Host), int64_t{3});
    QCOMPARE(tiers.in_use(CacheTier::Disk), int64_t{2});
    tiers.remove(3);
    QCOMPARE(tiers.in_use(CacheTier::Disk), int64_t{1});
    tiers.insert(5, 4);  // larger than both
    QCOMPARE(places(), (QList<int>{0, -1, -1, -1, 1, -1, -1}));
  }

  // Two prompts of three blocks share a device of three. The second evicts the first to the host.
  void hits_in_the_host_take_new_blocks() {
    Workload w = workload({request(0, 12, 1), request(0, 12, 1), request(0, 12, 1)});
    w.tokens_per_hash = 4;
    add_hashes(w, 0, {1, 2, 3});
    add_hashes(w, 1, {4, 5, 6});
    add_hashes(w, 2, {1, 2, 3});
    const BlockContents all(w, 4);
    KvBlocks pool(4, all, {}, 4, {{4, 0}, {0.5, 0}});
    KvBlocks::Table a = admitted(pool, 0, 3, 3);
    pool.release(a, 3);
    KvBlocks::Table b = admitted(pool, 1, 3, 3);
    QCOMPARE(pool.tiers().in_use(CacheTier::Host), int64_t{3});
    pool.release(b, 3);
    const KvBlocks::Hits hits = pool.hits(2, 3);
    QCOMPARE(hits.rows, 3);
    QCOMPARE(hits.held, int64_t{0});
    QCOMPARE(hits.tier_rows[0], 3);
    QCOMPARE(pool.load_seconds(hits), 1.5);
    QCOMPARE(pool.needed(hits, 3, true, 100), int64_t{3});
    KvBlocks::Table c;
    pool.take_hits(2, 3, c);
    QCOMPARE(pool.in_use(), int64_t{3});
    QCOMPARE(pool.hits(1, 3).tier_rows[0], 3);  // they have changed places
    QCOMPARE(pool.tiers().in_use(CacheTier::Host), int64_t{3});
  }

  // Rows of 4 tokens, a window of 8 tokens: a prefix needs its last two rows in the window.
  void a_prefix_needs_the_last_rows_of_a_window() {
    Workload w = workload({request(0, 32, 1), request(0, 32, 1), request(0, 20, 1)});
    w.tokens_per_hash = 4;
    add_hashes(w, 0, {1, 2, 3, 4, 5, 6, 7, 8});
    add_hashes(w, 1, {1, 2, 3, 4, 5, 6, 7, 8});
    add_hashes(w, 2, {1, 2, 3, 4, 5});
    const BlockContents all(w, 4);
    CacheLayout layout;
    layout.windows.push_back({8, false, 1});
    KvBlocks pool(17, all, layout, 4);  // two sequences of 8 rows with whole windows
    KvBlocks::Table a;
    pool.take(8, a);
    pool.publish(0, a, 0, 8);
    pool.skip(32, a);
    QCOMPARE(pool.in_use(), int64_t{8 + 2});
    // All rows are cached, those before the window in the free list.
    QCOMPARE(pool.hits(1, 8).rows, 8);
    QCOMPARE(pool.hits(1, 8).held, int64_t{8 + 2});
    QCOMPARE(pool.hits(2, 5).rows, 5);
    QCOMPARE(pool.hits(2, 5).free, int64_t{2});
    KvBlocks::Table b;
    pool.take_hits(2, 5, b);
    QCOMPARE(b.windows[0][2], 0);
    QVERIFY(b.windows[0][3] != 0 && b.windows[0][4] != 0);
    pool.release(b, 5);
    // Other sequences take the six free rows of the window. The prefix that ends with row 5 is then lost.
    pool.take(3, b);
    QCOMPARE(pool.in_use(), pool.usable());
    QCOMPARE(pool.hits(2, 5).rows, 0);
    QCOMPARE(pool.hits(1, 8).rows, 8);
  }

  // Blocks that nobody asks for again are used again, and shared ones stay.
  void an_endless_cache_keeps_shared_prefixes() {
    Workload w = workload(std::vector<Request>(1000, request(0, 40, 8)));
    w.tokens_per_hash = 16;
    for (size_t i = 0; i < 1000; ++i) add_hashes(w, i, {1, 2 + i % 2});
    const BlockContents all(w, 4);
    KvBlocks pool(0, all);
    int32_t most = 0;
    for (int32_t r = 0; r < 1000; ++r) {
      QCOMPARE(pool.hits(r, 10).rows, r == 0 ? 0 : r == 1 ? 4 : 8);
      KvBlocks::Table table = admitted(pool, r, 12, 10);
      most = std::max(most, *std::max_element(table.rows.begin(), table.rows.end()));
      pool.release(table, all.private_from(r));
    }
    QCOMPARE(pool.peak_in_use(), int64_t{12});
    QVERIFY(most <= 4 + 4 + 4 + 4);
    QVERIFY(pool.has_free(int64_t{1} << 40));
  }
};

QTEST_APPLESS_MAIN(KvBlocksTest)
#include "kv_blocks_test.moc"
