#include "astra_sim/sim_network.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr int64_t kHandlingInGroup = 10;  // ns

// Bytes of a stream that a rank holds after a phase over n ranks.
int64_t bytes_after(CollectiveType type, int64_t bytes, int64_t n) {
  return type == CollectiveType::AllGather       ? bytes * n
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
  if (config.dataset_splits > 1 && (config.active_chunks > 1 || (several && config.level_by_level)))
    return not_simulated("streams of one collective that overtake each other are not simulated",
                         "preferred-dataset-splits 1, or active-chunks-per-dimension 1 and baseline");
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
    return static_cast<int64_t>(static_cast<double>(hops) * d.latency +
                                static_cast<double>(bytes) / bytes_per_ns);
  }
  return 0;
}

int64_t SimNetwork::reduction(int64_t bytes) const {
  constexpr int64_t kPasses = 3;  // two reads and a write
  constexpr double kNsPerSecond = 1e9;
  return kPasses *
         static_cast<int64_t>(static_cast<double>(bytes) / config_.memory_bytes_per_second * kNsPerSecond);
}

int64_t SimNetwork::handling(const Party& party) const {
  return party.part ? kHandlingInGroup : static_cast<int64_t>(config_.endpoint_delay);
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
                            std::vector<int64_t>& times) const {
  const auto world = config_.ranks;
  const bool whole_job = static_cast<int64_t>(members.size()) == world;
  int64_t chunk = bytes / config_.dataset_splits;
  // Every collective except an all-gather has at least one byte per rank of the job.
  if (type != CollectiveType::AllGather && chunk < world) {
    chunk = world;
    bytes = world * config_.dataset_splits;
  }
  const std::vector<Phase> steps = phases(type, chunk, whole_job);
  // By phase: the time at which each member has finished the previous stream.
  std::vector<std::vector<int64_t>> before(steps.size(), times);
  const std::vector<int64_t> begin = times;
  for (int64_t sent = 0; sent < bytes; sent += chunk) {
    times = begin;
    for (size_t s = 0; s < steps.size(); ++s) {
      for (size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], before[s][i]);
      for (const Party& party : parties(steps[s], members, whole_job)) run(steps[s], party, times);
      before[s] = times;
    }
  }
}

void SimNetwork::run(const Phase& phase, const Party& party, std::vector<int64_t>& times) const {
  std::vector<int64_t> of;
  for (const size_t place : party.places) of.push_back(times[place]);
  const bool at_once = phase.by.algorithm == Algorithm::Direct && phase.by.window == 0 && of.size() > 2;
  at_once ? all_at_once(phase, party, of) : in_sequence(phase, party, of);
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
void SimNetwork::in_sequence(const Phase& phase, const Party& party, std::vector<int64_t>& times) const {
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
  for (int64_t& t : times) t += handled;
  std::vector<int64_t> hop(times.size()), next(times.size());
  const auto measure = [&] {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = halving ? i ^ away : (i - away % n + n) % n;
      hop[static_cast<size_t>(i)] = message(party.ranks[static_cast<size_t>(from)],
                                            party.ranks[static_cast<size_t>(i)], bytes);
    }
  };
  measure();
  for (int64_t m = 1; m <= messages; ++m) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = halving ? i ^ away : (i - away % n + n) % n;
      next[static_cast<size_t>(i)] = std::max(times[static_cast<size_t>(i)],
                                              times[static_cast<size_t>(from)] + hop[static_cast<size_t>(i)]);
    }
    if (halving) {
      doubles ? away /= 2 : away *= 2;
      doubles ? bytes *= 2 : bytes /= 2;
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
    const int64_t after = handled + (reduces(phase, party, m) ? reduction(bytes) : 0);
    for (int64_t i = 0; i < n; ++i) times[static_cast<size_t>(i)] = next[static_cast<size_t>(i)] + after;
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
  const auto after = [&](int64_t m) { return handled + (reduces(phase, party, m) ? reduction(bytes) : 0); };
  for (int64_t& t : times) t += handled;
  // By rank: the time at which its m-th message leaves.
  std::vector<std::vector<int64_t>> sent(n);
  for (size_t i = 0; i < n; ++i) sent[i].assign(n - 1, times[i]);
  const auto exchange = [&](size_t i) {
    std::vector<int64_t> arrived;
    for (size_t m = 0; m + 1 < n; ++m) {
      const size_t sender = from(i, m);
      arrived.push_back(std::max(sent[i][m], sent[sender][m] + hop(sender, i)));
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
      for (size_t m = 0; m + 1 < n; ++m) ready[m] += after(static_cast<int64_t>(m) + 1);
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
      times[i] = std::max(times[i], arrived[m] + after(message_number + static_cast<int64_t>(m)));
  }
}

}  // namespace shardscape
