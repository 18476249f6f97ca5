#include "astra_sim/sim_network.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "astra_sim/nanoseconds.h"

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr int64_t kHandlingInGroup = 10;   // ns
constexpr int64_t kMostStreams = 1 << 16;  // of a collective

bool is_power_of_two(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

// Bytes of a stream that a rank holds after a phase over n ranks.
int64_t bytes_after(CollectiveType type, int64_t bytes, int64_t n) {
  constexpr int64_t kMost = int64_t{1} << 60;
  return type == CollectiveType::AllGather       ? (bytes > kMost / n ? kMost : bytes * n)
         : type == CollectiveType::ReduceScatter ? bytes / n
                                                 : bytes;
}

Problem not_simulated(const std::string& what, const std::string& accepted) {
  return {ProblemCode::NotSimulated, "system.json", what, accepted};
}

}  // namespace

Result<SimNetwork> SimNetwork::make(const BundleConfig& config) {
  if (config.dimensions.empty() || config.ranks < 2)
    return Problem{ProblemCode::NetworkInvalid, "network.yml",
                   "the file does not describe a network of at least two ranks",
                   "a network as shardscape-cli export writes it"};
  for (const NetworkDimension& d : config.dimensions)
    if (d.ranks < 1 || d.gigabytes <= 0)
      return Problem{ProblemCode::NetworkInvalid, "network.yml", "a dimension has no ranks or no bandwidth",
                     "positive numbers"};
  if (config.replay_only) return not_simulated("replay-only is on: communication takes no time", "0");
  if (config.memory_bytes_per_second <= 0)
    return not_simulated("local-mem-bw is missing: the time of a reduction is unknown", "a positive number");
  if (config.memory_expansion && !config.own_memory)
    return Problem{ProblemCode::NotSimulated, "memory.json",
                   "ranks share their remote memory, which is not simulated", "PER_NPU_MEMORY_EXPANSION"};
  const bool several = config.dimensions.size() > 1;
  if (config.dataset_splits > 1 && several && (config.active_chunks > 1 || config.level_by_level))
    return not_simulated("streams of one collective that overtake each other are not simulated",
                         "preferred-dataset-splits 1, active-chunks-per-dimension 1 and baseline, or a "
                         "network of one dimension");
  if (config.dataset_splits > kMostStreams)
    return not_simulated("preferred-dataset-splits is " + std::to_string(config.dataset_splits),
                         "at most " + std::to_string(kMostStreams));
  SimNetwork out(config);
  for (size_t c = 0; c < out.implementations_.size(); ++c) {
    for (const std::string& name : config.implementations[c]) {
      Implementation& made = out.implementations_[c].emplace_back();
      made.whole = name.starts_with("one");
      const size_t digits = name.find_first_of("0123456789");
      const std::string kind = name.substr(0, digits);
      if (kind == "halvingDoubling" || kind == "oneHalvingDoubling")
        made.algorithm = Algorithm::HalvingDoubling;
      else if (kind == "direct" || kind == "oneDirect")
        made.algorithm = Algorithm::Direct;
      else if (kind != "ring" && kind != "oneRing")
        return not_simulated("the implementation " + name + " is not simulated",
                             "ring, direct, direct1 or halvingDoubling");
      if (digits != std::string::npos)
        std::from_chars(name.data() + digits, name.data() + name.size(), made.window);
      if (made.window > 1)
        return not_simulated("the implementation " + name + " is not simulated", "direct or direct1");
    }
    const bool whole = !out.implementations_[c].empty() && out.implementations_[c].front().whole;
    if (out.implementations_[c].size() != config.dimensions.size() && !whole)
      return not_simulated("the lists of implementations and the dimensions of network.yml differ in length",
                           "one entry per dimension");
  }
  if (const auto uneven = out.uneven_halving())
    return not_simulated("halvingDoubling needs powers of two, but " + *uneven, "ring or direct");
  return out;
}

std::optional<std::string> SimNetwork::uneven_halving() const {
  const auto ranks_text = [](int64_t n) { return " has " + std::to_string(n) + " ranks"; };
  for (const std::vector<Implementation>& by : implementations_) {
    for (size_t d = 0; d < by.size(); ++d) {
      if (by[d].algorithm != Algorithm::HalvingDoubling) continue;
      if (!is_power_of_two(config_.ranks)) return "the job" + ranks_text(config_.ranks);
      if (!by[d].whole && !is_power_of_two(config_.dimensions[d].ranks))
        return "dimension " + std::to_string(d) + ranks_text(config_.dimensions[d].ranks);
    }
    // Groups smaller than the job use the only entry of the list, otherwise a ring.
    if (by.size() != 1 || by.front().algorithm != Algorithm::HalvingDoubling) continue;
    for (const auto& [id, members] : config_.groups)
      if (const auto n = static_cast<int64_t>(members.size()); !is_power_of_two(n))
        return "group " + std::to_string(id) + ranks_text(n);
  }
  return std::nullopt;
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
  constexpr int64_t kPasses = 3;  // two reads and a write
  constexpr double kNsPerSecond = 1e9;
  const int64_t pass = whole_ns(static_cast<double>(bytes) / config_.memory_bytes_per_second * kNsPerSecond);
  return std::min(kPasses * pass, kForever);
}

int64_t SimNetwork::handling(const Party& party) const {
  return party.part ? kHandlingInGroup : whole_ns(config_.endpoint_delay);
}

std::vector<SimNetwork::Phase> SimNetwork::phases(CollectiveType type, int64_t bytes, bool whole_job) const {
  const std::vector<Implementation>& by = implementations_[implementation_index(type).value()];
  if (!whole_job) return {{type, by.size() > 1 ? Implementation{} : by.front(), -1, bytes}};
  if (by.front().whole) return {{type, by.front(), -1, bytes}};
  const auto last = static_cast<int64_t>(by.size()) - 1;
  std::vector<Phase> out;
  const auto add = [&](CollectiveType kind, int64_t d) {
    const int64_t ranks = config_.dimensions[static_cast<size_t>(d)].ranks;
    if (ranks == 1) return;
    out.push_back({kind, by[static_cast<size_t>(d)], d, bytes});
    bytes = bytes_after(kind, bytes, ranks);
  };
  if (type == CollectiveType::AllReduce && config_.level_by_level) {
    for (int64_t d = 0; d < last; ++d) add(CollectiveType::ReduceScatter, d);
    add(CollectiveType::AllReduce, last);
    for (int64_t d = last - 1; d >= 0; --d) add(CollectiveType::AllGather, d);
  } else {
    for (int64_t d = 0; d <= last; ++d) add(type, type == CollectiveType::AllGather ? last - d : d);
  }
  return out;
}

std::vector<SimNetwork::Party> SimNetwork::parties(const Phase& phase, const std::vector<int64_t>& members,
                                                   bool whole_job) const {
  if (phase.dimension < 0) {
    Party all{members, {}, !whole_job};
    for (size_t i = 0; i < members.size(); ++i) all.places.push_back(i);
    return {std::move(all)};
  }
  int64_t stride = 1;
  for (int64_t d = 0; d < phase.dimension; ++d) stride *= config_.dimensions[static_cast<size_t>(d)].ranks;
  const int64_t ranks = config_.dimensions[static_cast<size_t>(phase.dimension)].ranks;
  std::vector<Party> out;
  for (int64_t first = 0; first < static_cast<int64_t>(members.size()); ++first) {
    if (first / stride % ranks != 0) continue;
    Party& party = out.emplace_back();
    for (int64_t i = 0; i < ranks; ++i) {
      party.ranks.push_back(first + i * stride);
      party.places.push_back(static_cast<size_t>(first + i * stride));
    }
  }
  return out;
}

void SimNetwork::collective(CollectiveType type, int64_t bytes, const std::vector<int64_t>& members,
                            std::vector<int64_t>& times, const std::stop_token& stop) const {
  const auto world = config_.ranks;
  const bool whole_job = static_cast<int64_t>(members.size()) == world;
  int64_t chunk = bytes / config_.dataset_splits;
  // Every collective except an all-gather has at least one byte per rank of the job.
  if (type != CollectiveType::AllGather && chunk < world) {
    chunk = world;
    bytes = world * config_.dataset_splits;
  }
  const std::vector<Phase> steps = phases(type, chunk, whole_job);
  if (chunk == 0) return;  // an all-gather below preferred-dataset-splits, which the checker reports
  const int64_t streams = bytes / chunk + (bytes % chunk != 0);
  // By phase, the last streams in a circle: the time at which each member has finished the stream. A stream
  // starts when the stream before these has ended.
  const auto active = static_cast<size_t>(std::min(config_.active_chunks, streams));
  std::vector<std::vector<std::vector<int64_t>>> before(steps.size(),
                                                        std::vector<std::vector<int64_t>>(active, times));
  const std::vector<int64_t> begin = times;
  for (int64_t k = 0; k < streams && !stop.stop_requested(); ++k) {
    times = begin;
    for (size_t s = 0; s < steps.size(); ++s) {
      std::vector<int64_t>& slot = before[s][static_cast<size_t>(k) % active];
      for (size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], slot[i]);
      for (const Party& party : parties(steps[s], members, whole_job)) run(steps[s], party, times, stop);
      slot = times;
    }
  }
}

void SimNetwork::run(const Phase& phase, const Party& party, std::vector<int64_t>& times,
                     const std::stop_token& stop) const {
  std::vector<int64_t> of;
  for (const size_t place : party.places) of.push_back(times[place]);
  const bool at_once = phase.by.algorithm == Algorithm::Direct && phase.by.window == 0 && of.size() > 2;
  at_once ? all_at_once(phase, party, of) : in_sequence(phase, party, of, stop);
  for (size_t i = 0; i < of.size(); ++i) times[party.places[i]] = of[i];
}

// Whether the rank reduces the received message with this number, counted from 1. Messages alternate in
// cycles: some messages are forwarded, then other messages may be reduced. In an all-reduce only every second
// cycle reduces.
bool SimNetwork::reduces(const Phase& phase, const Party& party, int64_t message) const {
  const auto n = static_cast<int64_t>(party.ranks.size());
  if (phase.type != CollectiveType::AllReduce && phase.type != CollectiveType::ReduceScatter) return false;
  int64_t at_a_time = 1, others = n - 1;
  if (phase.by.algorithm == Algorithm::HalvingDoubling) others = std::bit_width(static_cast<uint64_t>(n)) - 2;
  if (phase.by.algorithm == Algorithm::Direct) {
    at_a_time = phase.by.window == 0 ? n - 1 : phase.by.window;
    others = at_a_time * (party.part ? n - 1 : 1);
  }
  const int64_t cycle = at_a_time + others, number = at_a_time + message - 1;
  if (number % cycle < at_a_time) return false;
  return phase.type == CollectiveType::ReduceScatter || number / cycle % 2 == 0;
}

// Every rank waits for a message before it sends the next one.
void SimNetwork::in_sequence(const Phase& phase, const Party& party, std::vector<int64_t>& times,
                             const std::stop_token& stop) const {
  const auto n = static_cast<int64_t>(party.ranks.size());
  const bool all_reduce = phase.type == CollectiveType::AllReduce,
             gather = phase.type == CollectiveType::AllGather;
  const bool halving = phase.by.algorithm == Algorithm::HalvingDoubling,
             direct = phase.by.algorithm == Algorithm::Direct;
  int64_t messages = all_reduce ? 2 * (n - 1) : n - 1;
  if (halving) messages = (all_reduce ? 2 : 1) * (std::bit_width(static_cast<uint64_t>(n)) - 1);
  if (phase.type == CollectiveType::AllToAll && !direct) messages = n * (n - 1) / 2;
  // Halving and doubling: bytes and distance of the message change from step to step.
  int64_t bytes = gather ? phase.bytes : phase.bytes / n, away = 1;
  bool doubles = gather;
  if (halving) {
    if (!gather) bytes = phase.bytes / 2;
    if (gather) away = n / 2;
  }
  const int64_t handled = handling(party);
  for (int64_t& t : times) t = add_ns(t, handled);
  std::vector<int64_t> hop(times.size()), next(times.size());
  const auto measure = [&] {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = halving ? i ^ away : (i - away % n + n) % n;
      hop[static_cast<size_t>(i)] = message(party.ranks[static_cast<size_t>(from)],
                                            party.ranks[static_cast<size_t>(i)], bytes);
    }
  };
  measure();
  for (int64_t m = 1; m <= messages && !stop.stop_requested(); ++m) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = halving ? i ^ away : (i - away % n + n) % n;
      next[static_cast<size_t>(i)] = std::max(
          times[static_cast<size_t>(i)],
          add_ns(times[static_cast<size_t>(from)], hop[static_cast<size_t>(i)]));
    }
    if (halving) {
      doubles ? away /= 2 : away *= 2;
      bytes = doubles ? std::min(bytes, int64_t{1} << 60) * 2 : bytes / 2;
      if (away == n && all_reduce) {
        doubles = true;
        away /= 2;
        bytes *= 2;
      }
      if (m < messages) measure();
    } else if (direct) {
      if (++away == n) away = 1;
      measure();
    }
    const int64_t after = add_ns(handled, reduces(phase, party, m) ? reduction(bytes) : 0);
    for (int64_t i = 0; i < n; ++i)
      times[static_cast<size_t>(i)] = add_ns(next[static_cast<size_t>(i)], after);
  }
}

// All messages are sent at the same time. In an all-reduce, the sums are sent after all messages have
// arrived.
void SimNetwork::all_at_once(const Phase& phase, const Party& party, std::vector<int64_t>& times) const {
  const size_t n = times.size();
  const int64_t handled = handling(party);
  const int64_t bytes = phase.type == CollectiveType::AllGather ? phase.bytes
                                                                : phase.bytes / static_cast<int64_t>(n);
  // The sender of the m-th message that rank i receives.
  const auto from = [&](size_t i, size_t m) { return (i + n - 1 - m) % n; };
  const auto hop = [&](size_t a, size_t b) { return message(party.ranks[a], party.ranks[b], bytes); };
  const auto after = [&](int64_t m) {
    return add_ns(handled, reduces(phase, party, m) ? reduction(bytes) : 0);
  };
  for (int64_t& t : times) t = add_ns(t, handled);
  // By rank: the time at which its m-th message leaves.
  std::vector<std::vector<int64_t>> sent(n);
  for (size_t i = 0; i < n; ++i) sent[i].assign(n - 1, times[i]);
  const auto exchange = [&](size_t i) {
    std::vector<int64_t> arrived;
    for (size_t m = 0; m + 1 < n; ++m) {
      const size_t sender = from(i, m);
      arrived.push_back(std::max(sent[i][m], add_ns(sent[sender][m], hop(sender, i))));
    }
    std::sort(arrived.begin(), arrived.end());
    return arrived;
  };
  int64_t message_number = 1;
  if (phase.type == CollectiveType::AllReduce) {
    std::vector<std::vector<int64_t>> forwarded(n);
    for (size_t i = 0; i < n; ++i) {
      std::vector<int64_t> ready = exchange(i);
      const int64_t all = ready.back();
      for (size_t m = 0; m + 1 < n; ++m) ready[m] = add_ns(ready[m], after(static_cast<int64_t>(m) + 1));
      // The first message that is handled after all messages have arrived releases the earlier messages.
      const int64_t begin = *std::find_if(ready.begin(), ready.end(), [&](int64_t t) { return t >= all; });
      for (int64_t& t : ready) t = std::max(t, begin);
      forwarded[i] = std::move(ready);
    }
    sent = std::move(forwarded);
    message_number = static_cast<int64_t>(n);
  }
  for (size_t i = 0; i < n; ++i) {
    const std::vector<int64_t> arrived = exchange(i);
    times[i] = 0;
    for (size_t m = 0; m + 1 < n; ++m)
      times[i] = std::max(times[i], add_ns(arrived[m], after(message_number + static_cast<int64_t>(m))));
  }
}

}  // namespace shardscape
