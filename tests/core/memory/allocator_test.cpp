// PyTorch's caching allocator: rules on examples worked out by hand, invariants over random requests, and the
// replay of steps.
#include <QtTest>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "design/knobs/knobs.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "memory/segment_memories.h"
#include "report/memory_report.h"
#include "support/designs.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30;

using Block = CachingAllocator::Block;

void add_modes() {
  QTest::addColumn<bool>("expandable");
  QTest::newRow("native") << false;
  QTest::newRow("expandable") << true;
}
SegmentMode mode() {
  QFETCH(bool, expandable);
  return expandable ? SegmentMode::Expandable : SegmentMode::Native;
}

}  // namespace

class AllocatorTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void sizesTakeSegments_data() {
    QTest::addColumn<qint64>("asked");
    QTest::addColumn<qint64>("handed_out");
    QTest::addColumn<qint64>("native");
    QTest::addColumn<qint64>("expandable");
    QTest::newRow("a byte") << qint64{1} << qint64{512} << qint64{2 * MiB} << qint64{2 * MiB};
    QTest::newRow("513 bytes") << qint64{513} << qint64{1024} << qint64{2 * MiB} << qint64{2 * MiB};
    QTest::newRow("the largest small one")
        << qint64{MiB} << qint64{MiB} << qint64{2 * MiB} << qint64{2 * MiB};
    QTest::newRow("the smallest large one")
        << qint64{MiB + 1} << qint64{MiB + 512} << qint64{20 * MiB} << qint64{20 * MiB};
    QTest::newRow("below 10 MiB") << qint64{10 * MiB - 512} << qint64{10 * MiB - 512} << qint64{20 * MiB}
                                  << qint64{20 * MiB};
    // A rest of up to 1 MiB stays with a native block.
    QTest::newRow("10 MiB") << qint64{10 * MiB} << qint64{10 * MiB} << qint64{10 * MiB} << qint64{20 * MiB};
    QTest::newRow("11 MiB") << qint64{11 * MiB} << qint64{12 * MiB} << qint64{12 * MiB} << qint64{20 * MiB};
    QTest::newRow("10.5 MiB") << qint64{10 * MiB + 512 * KiB} << qint64{10 * MiB + 512 * KiB}
                              << qint64{12 * MiB} << qint64{20 * MiB};
    QTest::newRow("21 MiB") << qint64{21 * MiB} << qint64{22 * MiB} << qint64{22 * MiB} << qint64{40 * MiB};
  }
  void sizesTakeSegments() {
    QFETCH(qint64, asked);
    QFETCH(qint64, handed_out);
    QFETCH(qint64, native);
    QFETCH(qint64, expandable);
    CachingAllocator a(SegmentMode::Native), b(SegmentMode::Expandable);
    QCOMPARE(a.range(a.allocate(asked)).bytes, static_cast<int64_t>(handed_out));
    QCOMPARE(a.allocated(), static_cast<int64_t>(handed_out));
    QCOMPARE(a.reserved(), static_cast<int64_t>(native));
    b.allocate(asked);
    QCOMPARE(b.allocated(), (asked + 511) / 512 * 512);
    QCOMPARE(b.reserved(), static_cast<int64_t>(expandable));
  }

  // A large block keeps a remainder of up to 1 MiB. A small block keeps no remainder.
  void remaindersAreSplitOff() {
    CachingAllocator a(SegmentMode::Native);
    const Block first = a.allocate(30 * MiB);
    a.free(first);
    const Block most = a.allocate(29 * MiB);
    QCOMPARE(a.range(most).bytes, 30 * MiB);
    QCOMPARE(a.free_blocks(), int64_t{0});
    a.free(most);
    const Block less = a.allocate(29 * MiB - 512);
    QCOMPARE(a.range(less).bytes, 29 * MiB - 512);
    QCOMPARE(a.largest_free(), MiB + 512);
    QCOMPARE(a.reserved(), 30 * MiB);
    a.allocate(MiB + 512);  // takes the remainder, without a new segment
    QCOMPARE(a.reserved(), 30 * MiB);
    a.allocate(512);  // from the pool of small blocks
    QCOMPARE(a.reserved(), 32 * MiB);
    QCOMPARE(a.largest_free(), 2 * MiB - 512);
  }

  void theSmallestBlockThatSufficesIsTaken() {
    CachingAllocator a(SegmentMode::Native);
    const Block large = a.allocate(64 * MiB), small = a.allocate(32 * MiB), middle = a.allocate(48 * MiB);
    const auto begin = a.range(middle).begin;
    for (const Block b : {large, small, middle}) a.free(b);
    QCOMPARE(a.range(a.allocate(40 * MiB)).begin, begin);
    QCOMPARE(a.reserved(), 144 * MiB);
    // Free blocks of 24, 32 and 64 MiB do not serve a request of 80 MiB.
    QCOMPARE(a.largest_free(), 64 * MiB);
    a.allocate(80 * MiB);
    QCOMPARE(a.reserved(), 224 * MiB);
  }

  void freeNeighboursAreJoined() {
    CachingAllocator a(SegmentMode::Native);
    const Block whole = a.allocate(60 * MiB);
    a.free(whole);
    const Block x = a.allocate(20 * MiB), y = a.allocate(20 * MiB), z = a.allocate(20 * MiB);
    QCOMPARE(a.reserved(), 60 * MiB);
    a.free(x);
    a.free(z);
    QCOMPARE(a.free_blocks(), int64_t{2});
    QCOMPARE(a.largest_free(), 20 * MiB);
    a.free(y);
    QCOMPARE(a.free_blocks(), int64_t{1});
    QCOMPARE(a.largest_free(), 60 * MiB);
  }

  // Native segments leave holes that a range which grows has not.
  void rangesGrowAtTheirEnd() {
    for (const SegmentMode mode : {SegmentMode::Native, SegmentMode::Expandable}) {
      CachingAllocator a(mode);
      for (const int64_t size : {40 * MiB, 60 * MiB, 80 * MiB, 100 * MiB}) a.free(a.allocate(size));
      QCOMPARE(a.reserved(), mode == SegmentMode::Native ? 280 * MiB : 100 * MiB);
      const Block low = a.allocate(50 * MiB);
      a.allocate(50 * MiB);
      a.free(low);
      a.allocate(60 * MiB);  // 50 free before 50 in use
      QCOMPARE(a.reserved(), mode == SegmentMode::Native ? 280 * MiB : 160 * MiB);
    }
  }

  // Where the device is full, segments without a live block go, and pages.
  void aFullDeviceGivesBackWhatIsCached() {
    CachingAllocator a(SegmentMode::Native, 100 * MiB);
    a.free(a.allocate(60 * MiB));
    a.allocate(30 * MiB);  // out of the 60
    QCOMPARE(a.reserved(), 60 * MiB);
    a.free(a.allocate(40 * MiB));
    QCOMPARE(a.retries(), int64_t{0});
    const Block b = a.allocate(38 * MiB);
    a.free(b);
    a.allocate(36 * MiB);
    QCOMPARE(a.reserved(), 100 * MiB);
    QCOMPARE(a.retries(), int64_t{0});
    a.allocate(34 * MiB);  // 30 are free, but split from a block that is in use
    QCOMPARE(a.retries(), int64_t{1});
    QCOMPARE(a.refused(), int64_t{1});

    CachingAllocator c(SegmentMode::Native, 100 * MiB);
    c.free(c.allocate(60 * MiB));
    c.allocate(80 * MiB);
    QCOMPARE(c.reserved(), 80 * MiB);
    QCOMPARE(c.retries(), int64_t{1});
    QCOMPARE(c.refused(), int64_t{0});

    CachingAllocator d(SegmentMode::Expandable, 100 * MiB);
    const Block low = d.allocate(50 * MiB), high = d.allocate(30 * MiB);
    d.free(low);
    d.allocate(70 * MiB);  // 2 pages below the live block go, 50 are free at both ends
    QCOMPARE(d.retries(), int64_t{1});
    QCOMPARE(d.refused(), int64_t{1});
    d.free(high);
  }

  // For random requests: live blocks do not overlap. Reserved bytes are at least the allocated bytes, and
  // shrink only on a full device. After all blocks are freed, each segment is one block.
  void invariants_data() { add_modes(); }
  void invariants() {
    int retried = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937 random(seed);
      const bool full = seed % 2 == 1;
      const int64_t capacity = 1400 * MiB + 100 * MiB * (seed % 3);
      CachingAllocator a(mode(), full ? capacity : 0);
      std::vector<Block> live;
      int64_t reserved = 0;
      for (int i = 0; i < 3000; ++i) {
        const int64_t retries = a.retries();
        if (live.empty() || (random() % 5 < 3 && a.allocated() < GiB)) {
          const int64_t scale = int64_t{1} << (random() % 27);
          const Block block = a.allocate(scale + static_cast<int64_t>(random()) % scale);
          live.push_back(block);
        } else {
          const size_t which = random() % live.size();
          a.free(live[which]);
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        }
        QVERIFY(a.reserved() >= a.allocated() && (!full || a.refused() > 0 || a.reserved() <= capacity));
        if (a.retries() == retries) QVERIFY(a.reserved() >= reserved);
        reserved = a.reserved();
        if (i % 100 != 0) continue;
        std::vector<std::pair<int64_t, int64_t>> ranges;
        int64_t sum = 0;
        for (const Block block : live) {
          const auto [begin, bytes] = a.range(block);
          ranges.emplace_back(begin, begin + bytes);
          sum += bytes;
        }
        QCOMPARE(sum, a.allocated());
        std::sort(ranges.begin(), ranges.end());
        for (size_t k = 1; k < ranges.size(); ++k) QVERIFY(ranges[k - 1].second <= ranges[k].first);
      }
      retried += a.retries() > 0 && a.refused() == 0;
      for (const Block block : live) a.free(block);
      QCOMPARE(a.allocated(), int64_t{0});
      QVERIFY(a.reserved() > 0);
      if (mode() == SegmentMode::Expandable && !full) QCOMPARE(a.free_blocks(), int64_t{2});
      // With nothing alive all can be given back: the next one has the device for itself.
      if (full && a.refused() == 0) {
        a.allocate(1240 * MiB);
        QVERIFY(a.reserved() >= 1240 * MiB && a.reserved() <= capacity);
        QCOMPARE(a.refused(), int64_t{0});
      }
    }
    QVERIFY(retried > 0);
  }

  // Steps of designs: each frees what it has allocated, and the second one is as full as the timeline says.
  // The closed form of the memory timeline and of the search, for blocks that stay allocated. Sizes that fill
  // their segments give the same number. Other sizes leave gaps, which only the allocator counts.
  void segmentsOfBlocksThatStay() {
    std::mt19937 random(3);
    const auto below = [&](int64_t end) {
      return static_cast<int64_t>(random() % static_cast<uint32_t>(end));
    };
    for (int round = 0; round < 200; ++round) {
      const bool fills = round % 2 == 0;
      CachingAllocator allocator(SegmentMode::Native);
      AllocatorSegments segments;
      int64_t sum = 0;
      for (int i = 0; i < 300; ++i) {
        int64_t bytes = 0;
        switch (below(3)) {
          case 0: bytes = fills ? 256 * KiB : 512 * (1 + below(2048)); break;
          case 1: bytes = fills ? 5 * MiB : MiB + 512 * (1 + below(18 * 1024 - 2)); break;
          // Smaller blocks may use free parts of shared segments, and the allocator splits off remainders
          // above 1 MiB.
          default: bytes = 2 * MiB * (10 + below(200)) + MiB + 512 * below(2049); break;
        }
        allocator.allocate(bytes);
        segments.add(bytes, 1);
        sum += bytes;
      }
      const int64_t closed_form = sum + segments.waste();
      if (fills)
        QCOMPARE(allocator.reserved(), closed_form);
      else
        QVERIFY2(allocator.reserved() >= closed_form,
                 qPrintable(QString("%1 %2").arg(allocator.reserved()).arg(closed_form)));
    }
  }

  void stepsFollowTheTimeline_data() { add_trace_rows(); }
  void stepsFollowTheTimeline() {
    const auto report = estimate(fetched_trace_design());
    QVERIFY(report->valid());
    const bool splits = splits_backward(schedule_of(report->design.parallel));
    for (const StageMemory& memory : report->memory->stages) {
      const StageEvents steps = stage_events(*report, memory.stage);
      std::vector<int64_t> live(static_cast<size_t>(steps.blocks));
      int64_t now = 0, most = 0, before = -1;
      for (size_t i = 0; i < steps.events.size(); ++i) {
        if (i == steps.last_step) before = now;
        const auto& [block, bytes, side] = steps.events[i];
        int64_t& here = live[static_cast<size_t>(block)];
        QVERIFY((bytes > 0) == (here == 0));
        now += bytes > 0 ? bytes : -here;
        here = bytes;
        if (i >= steps.last_step) most = std::max(most, now);
      }
      QCOMPARE(now, before);
      if (splits)
        QVERIFY2(most >= memory.allocated &&
                     static_cast<double>(most) < 1.02 * static_cast<double>(memory.allocated),
                 qPrintable(QString("%1 %2").arg(most).arg(memory.allocated)));
      else
        QCOMPARE(most, memory.allocated);
      for (const SegmentMode mode : {SegmentMode::Native, SegmentMode::Expandable}) {
        const AllocatorUse use = allocator_use(steps, mode);
        QVERIFY(use.allocated >= most && use.reserved >= use.allocated);
        QVERIFY(use.largest_free <= use.unused());
      }
    }
  }

  // A device that is a little too small for native segments: first the cache goes, then memory is out. One
  // that is far too small says so.
  void designsKnowTheirDevice() {
    Design design = preset_design("llama3-70b", 8, 4, 8, true);
    design.workload.batch = 64;
    const auto report = estimate(design);
    const auto roomy = fragmentation(*report);
    QCOMPARE(roomy->stage, report->memory->peak_stage);
    QCOMPARE(roomy->native.allocated >= report->memory->stages[static_cast<size_t>(roomy->stage)].allocated,
             true);
    QVERIFY(roomy->native.fits && roomy->expandable.fits && roomy->native.retries == 0);
    QVERIFY(roomy->native.reserved > roomy->expandable.reserved);
    const StageEvents steps = stage_events(*report, roomy->stage);
    const AllocatorUse tight = allocator_use(steps, SegmentMode::Native, roomy->native.reserved - 2 * MiB);
    QVERIFY(tight.retries > 0 && tight.fits && tight.reserved < roomy->native.reserved);
    QVERIFY(!allocator_use(steps, SegmentMode::Native, roomy->native.allocated - 2 * MiB).fits);
    const AllocatorUse same = allocator_use(steps, SegmentMode::Expandable, roomy->expandable.reserved);
    QVERIFY(same.fits && same.retries == 0 && same.reserved == roomy->expandable.reserved);
    design.workload.batch = 64 * 16;
    design.workload.microbatch = 16;
    const auto crowded = fragmentation(*estimate(design));
    QVERIFY(!crowded->native.fits && !crowded->expandable.fits);
    QCOMPARE(crowded->native.retries, int64_t{0});
  }

  // GPipe keeps all microbatches in flight: with tens of thousands of them the replay would take gigabytes,
  // so there is none, and the report says why.
  void tooManyEventsAreNotReplayed() {
    Design design = preset_design("gpt2", 1, 2, 1);
    design.workload.microbatch = 1;
    design.workload.seq = 128;
    design.parallel.schedule = ScheduleKind::GPipe;
    for (const auto& [batch, replayed] : {std::pair{200, true}, {40'000, false}}) {
      design.workload.batch = batch;
      const auto report = estimate(design);
      QVERIFY(report->valid());
      const auto replay = fragmentation(*report);
      QCOMPARE(replay.has_value(), replayed);
      QCOMPARE(fragmentation_text(replay).find("not replayed, because two steps have more than 4,000,000") ==
                   std::string::npos,
               replayed);
      const auto json = nlohmann::json::parse(estimate_json(*report, {}, replay));
      QCOMPARE(json.at("peak").at("segments").is_object(), replayed);
      QCOMPARE(segments_warning(*report->memory, replay).has_value(), false);
    }
  }

  // The optimizer step of ZeRO-1 collects the rank's part of the gradients, flattens it and copies it to
  // float32. ZeRO-2 has collected it during the backward.
  void deepspeedCopiesGradients() {
    for (const SyncStrategy sync : {SyncStrategy::Zero1, SyncStrategy::Zero2}) {
      Design design = preset_design("llama3-8b", 1, 1, 4);
      design.parallel.sync = sync;
      design.workload.batch = 8;
      design.workload.microbatch = 1;
      const auto report = estimate(design);
      QVERIFY(report->valid());
      const auto elements = static_cast<int64_t>(report->stages.front().parameters.value);
      const StageEvents steps = stage_events(*report, 0);
      const auto allocated = [&](int64_t bytes) {
        return std::count_if(steps.events.begin() + static_cast<std::ptrdiff_t>(steps.last_step),
                             steps.events.end(), [&](const BlockEvent& e) { return e.bytes == bytes; });
      };
      QCOMPARE(allocated(elements), 1);  // 4 bytes of a quarter of the elements
      QCOMPARE(allocated(elements / 2), 2);
      // The reduce bucket. ZeRO-2 has it in each of two backwards.
      QCOMPARE(allocated(1'000'000'000), sync == SyncStrategy::Zero1 ? 1 : 2);
    }
  }

  // Tensors decide whether a design fits; that the holes between them do not is a warning, by setting of the
  // allocator.
  void holesAreAWarning() {
    Design design = preset_design("llama3-8b", 2, 1, 4);
    design.parallel.sync = SyncStrategy::Fsdp2;
    design.workload.batch = 32;
    design.workload.microbatch = 1;
    design.workload.seq = 8192;
    const auto warned = [&](int64_t gigabytes) {
      design.cluster.memory_capacity = gigabytes;
      const auto report = estimate(design);
      return std::pair(report->memory->fits, segments_warning(*report->memory, *fragmentation(*report)));
    };
    const auto [roomy, silent] = warned(80);
    QVERIFY(roomy && !silent);
    int told = 0;
    for (int64_t gigabytes = 40; gigabytes < 80; ++gigabytes) {
      const auto [fits, warning] = warned(gigabytes);
      told += fits && warning && warning->find("only with expandable segments") != std::string::npos;
    }
    QVERIFY(told > 0);
    const auto [small, none] = warned(40);
    QVERIFY(!small && !none);  // the verdict says it
    // Tensors that barely fit: the replay reports it, and reserves at least the bytes of the tensors.
    Design tight = preset_design("deepseek-v2-lite", 1, 4, 2);
    tight.workload.microbatch = 2;
    tight.workload.batch = 16;
    tight.workload.seq = 512;
    tight.workload.recompute = Recompute::Full;
    tight.parallel.schedule = ScheduleKind::ZbH2;
    for (int64_t gigabytes = 40; gigabytes < 80; ++gigabytes) {
      tight.cluster.memory_capacity = gigabytes;
      const auto report = estimate(tight);
      QVERIFY(report->valid());
      const auto use = fragmentation(*report);
      QVERIFY(use->native.unused() >= 0 && use->expandable.unused() >= 0);
      if (report->memory->fits && !(use->native.fits && use->expandable.fits))
        QVERIFY(segments_warning(*report->memory, *use));
    }
    MemoryTimeline memory;
    memory.fits = true;
    Fragmentation use;
    use.expandable.fits = false;
    QVERIFY(segments_warning(memory, use)->find("only with native segments") != std::string::npos);
    use.native.fits = false;
    QVERIFY(segments_warning(memory, use)->find("with native and with expandable") != std::string::npos);
  }

  // Under torch.distributed.pipelining a stage has a receive buffer of b S D for every microbatch and
  // neighbour, and outputs stay. Only FSDP2 uses it.
  void messagesOfTorchPipelinesStay() {
    Design design = preset_design("llama3-8b", 1, 2, 2);
    design.parallel.sync = SyncStrategy::Fsdp2;
    design.workload.batch = 16;
    design.workload.microbatch = 1;
    const auto report = estimate(design);
    QVERIFY(report->valid());
    const int64_t message = 2 * design.workload.seq * design.model.hidden;
    for (const StageMemory& stage : report->memory->stages) {
      const auto it = std::find_if(stage.fixed_parts.begin(), stage.fixed_parts.end(),
                                   [](const MemoryContributor& c) { return c.name == "receive buffers"; });
      QVERIFY(it != stage.fixed_parts.end());
      QCOMPARE(it->bytes, report->microbatches * message);
    }
    // Stage 0 holds the outputs of both microbatches in flight.
    const auto actions = stage_timeline(*report, 0);
    const auto first = std::find_if(actions.begin(), actions.end(), [](const ActionMemory& a) {
      return a.action.kind == ActionKind::SendForward;
    });
    QCOMPARE(first->begin, first->end);
    design.parallel.sync = SyncStrategy::DdpFlat;
    const auto other = estimate(design);
    for (const StageMemory& stage : other->memory->stages)
      QVERIFY(std::none_of(stage.fixed_parts.begin(), stage.fixed_parts.end(),
                           [](const MemoryContributor& c) { return c.name == "receive buffers"; }));
    const auto freed = stage_timeline(*other, 0);
    const auto sent = std::find_if(freed.begin(), freed.end(), [](const ActionMemory& a) {
      return a.action.kind == ActionKind::SendForward;
    });
    QCOMPARE(total(sent->begin) - total(sent->end), message);
  }
};

QTEST_GUILESS_MAIN(AllocatorTest)
#include "allocator_test.moc"
