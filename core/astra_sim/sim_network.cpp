#include "astra_sim/sim_network.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "astra_sim/nanoseconds.h"

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr int64_t kHandlingInGroup = 10;       // ns
constexpr int64_t kMostStreams = 1 << 16;      // of a collective
constexpr int64_t kMostRankStreams = 1 << 24;  // of a collective, on all ranks

Problem not_simulated(const std::string& what, const std::string& accepted) {
  return {ProblemCode::NotSimulated, "system.json", what, accepted};
}

// The implementation with this name in system.json.
Result<CollectiveImplementation> implementation(const std::string& name) {
  CollectiveImplementation made;
  const size_t digits = name.find_first_of("0123456789");
  std::string kind = name.substr(0, digits);
  if (kind.starts_with("one") && kind.size() > 3) {
    made.whole = true;
    kind = static_cast<char>(std::tolower(static_cast<unsigned char>(kind[3]))) + kind.substr(4);
  }
  const bool windowed = digits != std::string::npos;
  if (windowed) std::from_chars(name.data() + digits, name.data() + name.size(), made.window);
  if (kind == "halvingDoubling")
    made.algorithm = PhaseAlgorithm::HalvingDoubling;
  else if (kind == "direct" && (!windowed || made.window > 0))
    made.algorithm = PhaseAlgorithm::Direct;
  else if (kind == "doubleBinaryTree" && !made.whole)
    made.algorithm = PhaseAlgorithm::DoubleBinaryTree;
  else if (kind != "ring")
    return not_simulated("the implementation " + name + " is not simulated",
                         "ring, direct, direct1, direct2, ..., halvingDoubling or doubleBinaryTree");
  return made;
}

}  // namespace

Result<SimNetwork> SimNetwork::make(const BundleConfig& config, const CollectiveUse& use) {
  if (config.dimensions.empty() || config.ranks < 2)
    return Problem{ProblemCode::NetworkInvalid, "network.yml",
                   "the file does not describe a network of at least two ranks",
                   "a network as shardscape-cli export writes it"};
  for (const NetworkDimension& d : config.dimensions)
    if (d.ranks < 1 || d.gigabytes <= 0 || d.latency < 0)
      return Problem{ProblemCode::NetworkInvalid, "network.yml",
                     "a dimension has no ranks, no bandwidth or a negative latency",
                     "positive numbers, and a latency of at least 0"};
  if (config.replay_only) return not_simulated("replay-only is on: communication takes no time", "0");
  if (config.memory_bytes_per_second <= 0)
    return not_simulated("local-mem-bw is missing: the time of a reduction is unknown", "a positive number");
  if (config.memory_expansion && !config.own_memory)
    return Problem{ProblemCode::NotSimulated, "memory.json",
                   "ranks share their remote memory, which is not simulated", "PER_NPU_MEMORY_EXPANSION"};
  if (config.ranks > kMostRankStreams)
    return Problem{ProblemCode::NotSimulated, "network.yml",
                   "the network has " + std::to_string(config.ranks) + " ranks",
                   "at most " + std::to_string(kMostRankStreams) + " ranks"};
  if (config.dataset_splits > std::min(kMostStreams, kMostRankStreams / config.ranks))
    return not_simulated(
        "preferred-dataset-splits is " + std::to_string(config.dataset_splits),
        "at most " + std::to_string(std::min(kMostStreams, kMostRankStreams / config.ranks)));
  SimNetwork out(config);
  for (size_t c = 0; c < out.implementations_.size(); ++c) {
    for (const std::string& name : config.implementations[c]) {
      const auto made = implementation(name);
      if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
      out.implementations_[c].push_back(std::get<CollectiveImplementation>(made));
    }
    const bool whole = !out.implementations_[c].empty() && out.implementations_[c].front().whole;
    if (out.implementations_[c].size() != config.dimensions.size() && !whole)
      return not_simulated("the lists of implementations and the dimensions of network.yml differ in length",
                           "one entry per dimension");
  }
  if (const auto defects = implementation_defects(config, use); !defects.empty())
    return not_simulated(defects.front(), "ring or direct");
  return out;
}

int64_t SimNetwork::message(int64_t from, int64_t to, int64_t bytes) const {
  constexpr double kBytesPerGigabyte = 1 << 30, kNsPerSecond = 1e9;
  for (const NetworkDimension& d : config_.dimensions) {
    const int64_t a = from % d.ranks, b = to % d.ranks;
    from /= d.ranks;
    to /= d.ranks;
    if (a == b) continue;
    int64_t hops = 1;
    if (d.topology == "Switch") hops = 2;
    if (d.topology == "Ring") hops = std::min((b - a + d.ranks) % d.ranks, (a - b + d.ranks) % d.ranks);
    const double bytes_per_ns = d.gigabytes * kBytesPerGigabyte / kNsPerSecond;
    return whole_ns(static_cast<double>(hops) * d.latency + static_cast<double>(bytes) / bytes_per_ns);
  }
  return 0;
}

int64_t SimNetwork::reduction(int64_t bytes) const {
  constexpr int64_t kPasses = 3;
  constexpr double kNsPerSecond = 1e9;
  const int64_t pass = whole_ns(static_cast<double>(bytes) / config_.memory_bytes_per_second * kNsPerSecond);
  return std::min(kPasses * pass, kForever);
}

int64_t SimNetwork::handling(bool in_part) const {
  return in_part ? kHandlingInGroup : whole_ns(config_.endpoint_delay);
}

std::vector<CollectivePhase> SimNetwork::phases(CollectiveType type, int64_t bytes, bool whole_job) const {
  const std::vector<CollectiveImplementation>& by = implementations_[implementation_index(type).value()];
  if (!whole_job)
    return {{.type = type, .by = by.size() > 1 ? CollectiveImplementation{} : by.front(), .bytes = bytes}};
  if (by.front().whole) return {{.type = type, .by = by.front(), .bytes = bytes}};
  const auto last = static_cast<int64_t>(by.size()) - 1;
  std::vector<CollectivePhase> out;
  const auto add = [&](CollectivePhase phase) {
    const int64_t ranks = config_.dimensions[static_cast<size_t>(phase.dimension)].ranks;
    if (ranks == 1) return;
    phase.by = by[static_cast<size_t>(phase.dimension)];
    phase.bytes = bytes;
    out.push_back(phase);
    bytes = bytes_after(phase, ranks);
  };
  if (type == CollectiveType::AllReduce && config_.level_by_level) {
    // A stream chooses a tree twice per dimension, except in the last one.
    for (int64_t d = 0; d < last; ++d)
      add({.type = CollectiveType::ReduceScatter, .dimension = d, .tree = TreeChoice::First});
    add({.type = CollectiveType::AllReduce, .dimension = last});
    for (int64_t d = last - 1; d >= 0; --d)
      add({.type = CollectiveType::AllGather, .dimension = d, .reversed = true, .tree = TreeChoice::Second});
  } else {
    for (int64_t d = 0; d <= last; ++d)
      add({.type = type, .dimension = type == CollectiveType::AllGather ? last - d : d});
  }
  return out;
}

std::vector<CollectiveParty> SimNetwork::parties(const CollectivePhase& phase,
                                                 const std::vector<int64_t>& members, bool whole_job) const {
  if (phase.dimension < 0) {
    CollectiveParty all{members, {}, !whole_job};
    for (size_t i = 0; i < members.size(); ++i) all.places.push_back(i);
    return {std::move(all)};
  }
  int64_t stride = 1;
  for (int64_t d = 0; d < phase.dimension; ++d) stride *= config_.dimensions[static_cast<size_t>(d)].ranks;
  const int64_t ranks = config_.dimensions[static_cast<size_t>(phase.dimension)].ranks;
  std::vector<CollectiveParty> out;
  for (int64_t first = 0; first < static_cast<int64_t>(members.size()); ++first) {
    if (first / stride % ranks != 0) continue;
    CollectiveParty& party = out.emplace_back();
    for (int64_t i = 0; i < ranks; ++i) {
      party.ranks.push_back(first + i * stride);
      party.places.push_back(static_cast<size_t>(first + i * stride));
    }
  }
  return out;
}

namespace {

// The streams of a collective and the bytes of each. Every collective except an all-gather has at least one
// byte per rank of the job.
struct Split {
  int64_t streams = 0, bytes = 0;
};
Split split(const BundleConfig& config, CollectiveType type, int64_t bytes) {
  const int64_t stream = bytes / config.dataset_splits;
  if (type != CollectiveType::AllGather && stream < config.ranks)
    return {config.dataset_splits, config.ranks};
  return stream == 0 ? Split{} : Split{bytes / stream + (bytes % stream != 0), stream};
}

// Whether streams may end in another order than they start, or a phase is neither a sequence of messages nor
// one exchange.
bool needs_events(const StreamPlan& plan) {
  bool returns = false;
  for (size_t p = 0; p < plan.phases.size(); ++p) {
    const CollectivePhase& phase = plan.phases[p];
    const auto n = static_cast<int64_t>(plan.parties[p].front().ranks.size());
    const int64_t at_a_time = messages_at_a_time(phase, n);
    if (phase.by.algorithm == PhaseAlgorithm::DoubleBinaryTree) return true;
    // A rank releases several messages at a time.
    if (at_a_time > 1 && (at_a_time < n - 1 || phase.type == CollectiveType::AllReduce)) return true;
    returns |= phase.reversed;
  }
  return plan.streams > 1 && plan.phases.size() > 1 && (plan.active > 1 || returns);
}

}  // namespace

int64_t stream_count(const BundleConfig& config, CollectiveType type, int64_t bytes) {
  return split(config, type, bytes).streams;
}

StreamPlan SimNetwork::plan(const SimCollective& what) const {
  const bool whole_job = static_cast<int64_t>(what.members.size()) == config_.ranks;
  const Split cut = split(config_, what.type, what.bytes);
  if (cut.streams == 0) return {.streams = 0};
  StreamPlan plan{.phases = phases(what.type, cut.bytes, whole_job),
                  .streams = cut.streams,
                  .active = std::min(config_.active_chunks, cut.streams),
                  .earlier = what.earlier_streams};
  for (const CollectivePhase& phase : plan.phases)
    plan.parties.push_back(parties(phase, what.members, whole_job));
  return plan;
}

bool SimNetwork::collective(const SimCollective& what, std::vector<int64_t>& times,
                            const std::stop_token& stop) const {
  const StreamPlan plan = this->plan(what);
  if (plan.streams == 0) return true;  // the checker reports it
  if (!needs_events(plan)) {
    run_in_order(plan, times, stop);
    return !stop.stop_requested();
  }
  return simulate_streams(*this, plan, what.arrivals, times, stop);
}

// Streams end in the order in which they start.
void SimNetwork::run_in_order(const StreamPlan& plan, std::vector<int64_t>& times,
                              const std::stop_token& stop) const {
  // By phase, the last streams in a circle: the time at which each member has finished the stream. A stream
  // starts when the stream before these has ended.
  const auto active = static_cast<size_t>(plan.active);
  std::vector<std::vector<std::vector<int64_t>>> before(plan.phases.size(),
                                                        std::vector<std::vector<int64_t>>(active, times));
  const std::vector<int64_t> begin = times;
  for (int64_t k = 0; k < plan.streams && !stop.stop_requested(); ++k) {
    times = begin;
    for (size_t p = 0; p < plan.phases.size(); ++p) {
      std::vector<int64_t>& slot = before[p][static_cast<size_t>(k) % active];
      for (size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], slot[i]);
      for (const CollectiveParty& party : plan.parties[p]) run(plan.phases[p], party, times, stop);
      slot = times;
    }
  }
}

void SimNetwork::run(const CollectivePhase& phase, const CollectiveParty& party, std::vector<int64_t>& times,
                     const std::stop_token& stop) const {
  std::vector<int64_t> of;
  for (const size_t place : party.places) of.push_back(times[place]);
  messages_at_a_time(phase, static_cast<int64_t>(of.size())) > 1 ? all_at_once(phase, party, of)
                                                                 : in_sequence(phase, party, of, stop);
  for (size_t i = 0; i < of.size(); ++i) times[party.places[i]] = of[i];
}

// Every rank waits for a message before it sends the next one.
void SimNetwork::in_sequence(const CollectivePhase& phase, const CollectiveParty& party,
                             std::vector<int64_t>& times, const std::stop_token& stop) const {
  const auto n = static_cast<int64_t>(party.ranks.size());
  const int64_t messages = message_count(phase, n), handled = handling(party.part);
  for (int64_t& t : times) t = add_ns(t, handled);
  std::vector<int64_t> from(times.size()), hop(times.size()), next(times.size());
  for (int64_t m = 0; m < messages && !stop.stop_requested(); ++m) {
    // All messages of a ring are equal.
    if (m == 0 || phase.by.algorithm != PhaseAlgorithm::Ring)
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        from[at] = sender_of(phase, n, i, m);
        hop[at] = message(party.ranks[static_cast<size_t>(from[at])], party.ranks[at],
                          message_bytes(phase, n, m));
      }
    for (size_t i = 0; i < times.size(); ++i)
      next[i] = std::max(times[i], add_ns(times[static_cast<size_t>(from[i])], hop[i]));
    const int64_t after = add_ns(
        handled, reduces(phase, party, m + 1) ? reduction(message_bytes(phase, n, m + 1)) : 0);
    for (size_t i = 0; i < times.size(); ++i) times[i] = add_ns(next[i], after);
  }
}

// All messages are sent at the same time.
void SimNetwork::all_at_once(const CollectivePhase& phase, const CollectiveParty& party,
                             std::vector<int64_t>& times) const {
  const auto n = static_cast<int64_t>(party.ranks.size());
  const int64_t handled = handling(party.part), bytes = message_bytes(phase, n, 0);
  for (int64_t& t : times) t = add_ns(t, handled);
  const std::vector<int64_t> sent = times;
  std::vector<int64_t> arrived(static_cast<size_t>(n - 1));
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    for (int64_t m = 0; m < n - 1; ++m) {
      const auto sender = static_cast<size_t>(sender_of(phase, n, i, m));
      arrived[static_cast<size_t>(m)] = std::max(
          sent[at], add_ns(sent[sender], message(party.ranks[sender], party.ranks[at], bytes)));
    }
    std::sort(arrived.begin(), arrived.end());
    for (int64_t m = 0; m < n - 1; ++m) {
      const int64_t reduced = reduces(phase, party, n - 1 + m) ? reduction(bytes) : 0;
      times[at] = std::max(times[at], add_ns(arrived[static_cast<size_t>(m)], add_ns(handled, reduced)));
    }
  }
}

}  // namespace shardscape
