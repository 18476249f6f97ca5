#include "explore/search.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>

#include "base/memory_limit.h"
#include "base/number_text.h"
#include "base/units.h"
#include "explore/search_run.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

constexpr Wide kChunk = 64;                 // designs that a thread takes at a time
constexpr Wide kBlock = 8;                  // consecutive chunks
constexpr Wide kScattered = Wide{1} << 21;  // larger spaces are visited in scattered blocks

// The order in which chunks of a space are visited.
class Route {
 public:
  Route(Wide size, int64_t shard, int64_t shards) : size_(size), shard_(shard), shards_(shards) {
    blocks_ = (chunks_of(size) + kBlock - 1) / kBlock;
    if (size > kScattered) stride_ = coprime_stride(blocks_);
  }
  // Chunks of the shard; chunks beyond the end of the space are empty.
  Wide chunks() const {
    const Wide all = blocks_ * kBlock;
    return all > shard_ ? (all - shard_ + shards_ - 1) / shards_ : 0;
  }
  struct Range {
    Wide begin, end;
  };
  Range range(Wide k) const {
    const Wide position = shard_ + k * shards_;
    const Wide chunk = times(position / kBlock) * kBlock + position % kBlock;
    return {std::min(chunk * kChunk, size_), std::min((chunk + 1) * kChunk, size_)};
  }

 private:
  static Wide chunks_of(Wide size) { return (size + kChunk - 1) / kChunk; }
  // A stride near 0.618 n (golden ratio), so that every part of the route is spread evenly over the space.
  static Wide coprime_stride(Wide n) {
    Wide stride = n / 1000 * 618 + 1;
    const auto gcd = [](Wide a, Wide b) {
      while (b != 0) a = std::exchange(b, a % b);
      return a;
    };
    while (gcd(stride, n) != 1) ++stride;
    return stride;
  }
  // block · stride modulo blocks_, without overflow.
  Wide times(Wide block) const {
    if (stride_ == 1) return block;
    if (blocks_ < Wide{1} << 62) return block * stride_ % blocks_;
    Wide product = 0;
    for (Wide a = block, b = stride_; b > 0; b >>= 1, a = (a + a) % blocks_)
      if (b & 1) product = (product + a) % blocks_;
    return product;
  }
  Wide size_, shard_, shards_, blocks_ = 0, stride_ = 1;
};

struct Chunk {
  std::vector<Point> points;
  std::vector<std::vector<int>> values;
  SearchCounts counts;
  bool whole = true;  // false: a stop interrupted the chunk, which is discarded
};

// Several threads evaluate chunks. Whoever completes the next chunk of the route commits it and those behind
// it.
class ChunkVisits {
 public:
  // from: chunks that an earlier run committed.
  ChunkVisits(SearchRun& run, const Route& route, Wide from)
      : run_(run), route_(route), total_(route.chunks()), next_(from), done_(from) {}

  void work() {
    try {
      SpaceCursor cursor(*run_.space);
      while (const std::optional<Wide> k = take()) complete(*k, evaluate(cursor, *k));
    } catch (...) {
      end_all();  // the others would wait for the chunk of this thread
      throw;
    }
  }
  // Committed chunks.
  Wide done() const { return done_; }

 private:
  // Chunks that threads complete before the next one of the route. More would only take memory.
  static constexpr Wide kAhead = 1024;

  void end_all() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    committed_.notify_all();
  }

  std::optional<Wide> take() {
    std::unique_lock lock(mutex_);
    committed_.wait(lock, [&] { return next_ - done_ < kAhead || broken_; });
    if (next_ == total_ || broken_ || run_.stop.stop_requested()) return std::nullopt;
    return next_++;
  }

  Chunk evaluate(SpaceCursor& cursor, Wide k) {
    Chunk chunk;
    const Route::Range range = route_.range(k);
    for (Wide index = range.begin; index < range.end; ++index) {
      if (auto point = run_.visitor.visit(cursor, index, chunk.counts, run_.stop)) {
        chunk.points.push_back(std::move(*point));
        chunk.values.push_back(cursor.values());
      } else if (run_.stop.stop_requested()) {
        chunk.whole = false;
        break;
      }
    }
    return chunk;
  }

  void complete(Wide k, Chunk chunk) {
    const std::lock_guard lock(mutex_);
    complete_.emplace(k, std::move(chunk));
    for (auto first = complete_.begin(); !broken_ && first != complete_.end() && first->first == done_;) {
      broken_ = !first->second.whole;
      if (!broken_) commit(first->second);
      first = complete_.erase(first);
    }
    committed_.notify_all();
  }

  void commit(const Chunk& chunk) {
    run_.commit(chunk.points, chunk.values, chunk.counts);
    ++done_;
    const Wide designs = std::max<Wide>(1,
                                        (run_.space->size() + run_.options.shards - 1) / run_.options.shards);
    run_.report_progress(std::min(designs, static_cast<Wide>(run_.collector.counts().enumerated)), designs);
    run_.report_checkpoint({run_.options.shard, run_.options.shards, done_, total_});
  }

  SearchRun& run_;
  const Route& route_;
  const Wide total_;
  std::mutex mutex_;
  std::condition_variable committed_;
  Wide next_, done_;  // chunks
  std::map<Wide, Chunk> complete_;
  bool broken_ = false;  // a chunk of the route was interrupted
};

// Returns the number of committed chunks.
Wide visit_all(SearchRun& run, const Route& route, Wide from) {
  ChunkVisits visits(run, route, from);
  parallel_loop(loop_threads(), [&](size_t) { visits.work(); });
  const auto seen = static_cast<Wide>(run.collector.counts().enumerated);
  const bool whole = visits.done() == route.chunks();
  run.report_progress(seen, whole ? seen : std::max(seen, run.space->size() / run.options.shards), true);
  return visits.done();
}

// Cost and energy need figures of an accelerator. A Problem if no design of the space has them.
std::optional<Problem> unknown_objective(const Space& space, const ResultOptions& result_options) {
  const int axis = space.axis("accelerator");
  std::vector<Design> designs{space.design_at(0)};
  if (axis >= 0)
    for (const std::string& id : space.axes()[static_cast<size_t>(axis)].values) {
      designs.push_back(designs.front());
      designs.back().cluster.accelerator = id;
    }
  Evaluation any;
  any.step_seconds = any.tokens_per_second = any.capacity = 1;
  for (int objective : {result_options.objective, result_options.front_x, result_options.front_y}) {
    const Objective& chosen = objectives()[static_cast<size_t>(objective)];
    if (std::any_of(designs.begin(), designs.end(), [&](const Design& design) {
          return !std::isnan(chosen.value({design, any, result_options.price_per_hour}));
        }))
      continue;
    return Problem(ProblemCode::ObjectiveUnavailable, "objective",
                   std::string(chosen.label) + " is unknown: " + unknown_reason(objective, designs.back()),
                   std::string_view(chosen.id) == "cost"
                       ? "a price per GPU hour (--price), or another objective"
                       : "another objective");
  }
  return std::nullopt;
}

// A Problem if the designs to store do not fit in the memory of this computer.
std::optional<Problem> storage_short(const Space& space, const SearchOptions& options) {
  constexpr Wide kBytesOfJson = 4096;  // of a stored design in the result, as a tree and as text
  const auto at_most = [&](size_t designs) { return std::min(space.size(), static_cast<Wide>(designs)); };
  const Wide top = at_most(options.result.top), sample = at_most(options.result.sample),
             visited = options.guided
                           ? at_most(static_cast<size_t>(std::max<int64_t>(options.guided->budget, 0)))
                           : 0;
  return memory_short(
      {.what = "storing " + grouped(top + sample + visited) + " designs",
       .bytes = (top + sample) * (Wide{sizeof(Point)} + kBytesOfJson) + visited * Wide{sizeof(Point)},
       .where = sample >= std::max(top, visited) ? "sample"
                : top >= visited                 ? "top"
                                                 : "budget",
       .accepted = "a smaller number of stored designs"});
}

// How an earlier result differs from the search that would continue it; null: it does not.
const char* other_search(const SearchResult& before, const Space& space, const SearchOptions& options,
                         const SearchPart& part) {
  if (options.guided) return "a guided search cannot be continued";
  if (!(before.space->spec() == space.spec())) return "the space differs";
  if (!(before.options == options.result))
    return "the objective, the front, the price or the numbers of stored designs differ";
  if (before.parts.size() != 1) return "the result is merged of several shards";
  const SearchPart& done = before.parts.front();
  return done.shard == part.shard && done.shards == part.shards && done.chunks == part.chunks
             ? nullptr
             : "the shard differs";
}

}  // namespace

Result<SearchResult> search(std::shared_ptr<const Space> space, const SearchOptions& options,
                            const SearchCallbacks& callbacks, std::stop_token stop) {
  if (options.shards < 1 || options.shard < 0 || options.shard >= options.shards)
    return Problem(ProblemCode::ShardInvalid, "shard", "this shard does not exist",
                   "i/n, where i is below n");
  if (options.guided && options.shards > 1)
    return Problem(ProblemCode::GuidedSearchSharded, "shard", "a guided search cannot be split",
                   "an exhaustive search, or no shards");
  if (auto problem = unknown_objective(*space, options.result)) return *problem;
  if (auto problem = storage_short(*space, options)) return *std::move(problem);
  const Route route(space->size(), options.shard, options.shards);
  SearchPart part{options.shard, options.shards, 0, route.chunks()};
  if (const SearchResult* before = options.resume) {
    if (const char* difference = other_search(*before, *space, options, part))
      return Problem(ProblemCode::ResultOfOtherSearch, "resume",
                     "the result belongs to another search: " + std::string(difference),
                     "a result of the same space, objectives and shard");
    part.done = before->parts.front().done;
  }
  SearchRun run(space, options, callbacks, stop);
  if (options.resume) run.collector.add(*options.resume);
  with_loop_threads(options.threads, [&] {
    if (options.guided)
      guided_search(run, *options.guided);
    else
      part.done = visit_all(run, route, part.done);
  });
  SearchResult result = run.collector.result();
  if (options.guided)
    result.guided = options.guided;
  else
    result.parts = {part};
  return result;
}

Result<std::pair<int64_t, int64_t>> parse_shard(const std::string& text) {
  const size_t slash = text.find('/');
  const NumberText i = parse_number(text.substr(0, slash), false);
  const NumberText n = parse_number(slash == std::string::npos ? "" : text.substr(slash + 1), false);
  const bool read = i.fault == NumberFault::None && n.fault == NumberFault::None;
  if (!read || n.value < 1 || i.value < 0 || i.value > n.value)
    return Problem(ProblemCode::ShardInvalid, "shard", "\"" + text + "\" is not a shard",
                   "i/n: part i of n, as in 3/16; i counts from 0 or from 1");
  return std::pair{i.value % n.value, n.value};
}

}  // namespace shardscape
