#include "astra_sim/bundle_simulator.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "astra_sim/nanoseconds.h"

namespace shardscape {
namespace {

using chakra::CollectiveType;
using chakra::NodeType;

constexpr uint32_t kNoNodeRunning = UINT32_MAX;
constexpr int kStuckDescribed = 8;  // number of stuck ranks to describe

struct MeetingKey {
  int64_t group;
  uint32_t issue;
  bool operator==(const MeetingKey&) const = default;
};
struct MessageKey {
  int64_t source, destination, size;
  int32_t tag;
  bool operator==(const MessageKey&) const = default;
};
struct KeyHash {
  static uint64_t mix(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0xff51afd7ed558ccdull;
    return a ^ a >> 32;
  }
  size_t operator()(const MeetingKey& k) const {
    return mix(mix(7, static_cast<uint64_t>(k.group)), k.issue);
  }
  size_t operator()(const MessageKey& k) const {
    return mix(mix(mix(mix(11, static_cast<uint64_t>(k.source)), static_cast<uint64_t>(k.destination)),
                   static_cast<uint64_t>(k.size)),
               static_cast<uint64_t>(k.tag));
  }
};

class Simulator {
 public:
  Simulator(const BundleTraces& traces, const BundleConfig& config, const SimNetwork* network,
            Findings& findings, const std::stop_token& stop, const SpanVisit& visit)
      : traces_(traces),
        config_(config),
        network_(network),
        findings_(findings),
        stop_(stop),
        visit_(visit),
        ranks_(traces.ranks.size()) {}

  BundleSimulation run() {
    for (size_t r = 0; r < ranks_.size(); ++r) start(static_cast<int64_t>(r));
    for (size_t steps = 0;; ++steps) {
      if (steps % 1024 == 0 && stop_.stop_requested()) return {};
      if (due_now_.empty()) {
        if (later_.empty()) break;
        now_ = later_.top().time;
        for (; !later_.empty() && later_.top().time == now_; later_.pop())
          due_now_.push_back(later_.top().node);
      }
      const Waiting done = due_now_.front();
      due_now_.pop_front();
      finish(done.rank, done.comm);
    }
    BundleSimulation out;
    out.finished = all_finished();
    for (const Rank& rank : ranks_) out.ranks.push_back(rank.result);
    return out;
  }

 private:
  using Ready = std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>,
                                    std::greater<>>;
  struct Rank {
    std::vector<uint32_t> waits;   // by node: number of unfinished predecessors
    std::vector<uint32_t> issued;  // by group slot
    uint64_t streams = 0;          // of all collectives so far
    // Ready nodes by id: those that block communication, and computations.
    Ready ready, computations;
    uint32_t running = kNoNodeRunning;  // the node that blocks communication
    uint32_t computing = kNoNodeRunning;
    int64_t running_since = 0, computing_since = 0;
    size_t done = 0;
    SimulatedRank result;
  };
  struct Waiting {
    int64_t rank;
    uint32_t comm;
  };
  struct Message {
    size_t arrived = 0;
    std::deque<Waiting> receivers;
  };
  struct Event {
    int64_t time;
    uint64_t number;  // in order of creation
    Waiting node;
    bool operator>(const Event& other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };

  Rank& state(int64_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  const ShapeNode& node(int64_t rank, uint32_t comm) const {
    return traces_.shape(rank).nodes[traces_.analysis(rank).comm[comm].node];
  }
  int64_t peer(int64_t rank, const ShapeNode& n) const {
    return traces_.ranks[static_cast<size_t>(rank)].peers[n.slot];
  }
  int64_t group(int64_t rank, const ShapeNode& n) const {
    return traces_.ranks[static_cast<size_t>(rank)].groups[n.slot];
  }
  size_t group_size(int64_t group) const {
    return group == 0 ? ranks_.size() : config_.groups.at(group).size();
  }

  void start(int64_t rank) {
    if (!traces_.ranks[static_cast<size_t>(rank)].readable) return;
    const ShapeAnalysis& a = traces_.analysis(rank);
    Rank& s = state(rank);
    s.waits.reserve(a.comm.size());
    for (const CommNode& c : a.comm) s.waits.push_back(c.pred_count);
    s.issued.resize(traces_.shape(rank).group_slots);
    for (uint32_t i = 0; i < a.comm.size(); ++i)
      if (a.comm[i].pred_count == 0) arrive(rank, i);
    issue(rank);
  }

  // Queues the end of a node instead of calling finish, because a chain of nodes that end at once may be
  // long.
  void finish_at(int64_t time, Waiting node) {
    if (time <= now_)
      due_now_.push_back(node);
    else
      later_.push({time, events_++, node});
  }

  // Called when all dependencies of the node are done.
  void arrive(int64_t rank, uint32_t comm) {
    const ShapeNode& n = node(rank, comm);
    if (traces_.analysis(rank).comm[comm].join) {
      const bool memory = n.type == NodeType::MemLoad || n.type == NodeType::MemStore;
      if (network_ && n.type == NodeType::Comp)
        state(rank).computations.push({n.id, comm});
      else if (network_ && memory)
        state(rank).ready.push({n.id, comm});
      else
        finish_at(now_, {rank, comm});
      return;
    }
    if (n.type != NodeType::Recv) {
      state(rank).ready.push({n.id, comm});
      return;
    }
    if (visit_) receiving_since_[key_of(rank, comm)] = now_;
    Message& message = messages_[{peer(rank, n), rank, n.size, n.tag}];
    if (message.arrived == 0) {
      message.receivers.push_back({rank, comm});
      return;
    }
    --message.arrived;
    finish_at(now_, {rank, comm});
  }

  void finish(int64_t rank, uint32_t comm) {
    const ShapeAnalysis& a = traces_.analysis(rank);
    Rank& s = state(rank);
    ++s.done;
    s.result.end = now_;
    if (visit_ && network_) report(rank, comm);
    if (s.running == comm) s.running = kNoNodeRunning;
    if (s.computing == comm) s.computing = kNoNodeRunning;
    const CommNode& c = a.comm[comm];
    for (uint32_t k = 0; k < c.succ_count; ++k) {
      const uint32_t next = a.succs[c.succs + k];
      if (--s.waits[next] == 0) arrive(rank, next);
    }
    issue(rank);
    if (const ShapeNode& n = node(rank, comm); !c.join && n.type == NodeType::Send) deliver(rank, n);
  }

  static uint64_t key_of(int64_t rank, uint32_t comm) { return static_cast<uint64_t>(rank) << 32 | comm; }

  void report(int64_t rank, uint32_t comm) {
    const Rank& s = state(rank);
    const ShapeNode& n = node(rank, comm);
    int64_t begin = now_;
    if (s.running == comm) {
      begin = s.running_since;
    } else if (s.computing == comm) {
      begin = s.computing_since;
    } else if (const auto it = receiving_since_.find(key_of(rank, comm)); it != receiving_since_.end()) {
      begin = it->second;
      receiving_since_.erase(it);
    }
    visit_({rank, n.id, n.type, begin, now_});
  }

  void issue(int64_t rank) {
    Rank& s = state(rank);
    if (s.computing == kNoNodeRunning && !s.computations.empty()) {
      s.computing = s.computations.top().second;
      s.computations.pop();
      s.computing_since = now_;
      const int64_t ns = node(rank, s.computing).nanoseconds;
      s.result.compute = add_ns(s.result.compute, std::min(ns, kForever));
      finish_at(add_ns(now_, std::min(ns, kForever)), {rank, s.computing});
    }
    if (s.running != kNoNodeRunning || s.ready.empty()) return;
    const uint32_t comm = s.running = s.ready.top().second;
    s.ready.pop();
    s.running_since = now_;
    const ShapeNode& n = node(rank, comm);
    if (n.type == NodeType::Send)
      finish_at(add_ns(now_, network_ ? network_->message(rank, peer(rank, n), n.size) : 0), {rank, comm});
    else if (n.type == NodeType::Coll && n.collective != CollectiveType::Broadcast)
      meet(rank, comm, n);
    else
      finish_at(add_ns(now_, network_ ? std::min(n.nanoseconds, kForever) : 0), {rank, comm});
  }

  // A send ends when its packet arrives, also if no receive waits for the packet. A waiting receive ends
  // before any other event of the same nanosecond.
  void deliver(int64_t rank, const ShapeNode& n) {
    Message& message = messages_[{rank, peer(rank, n), n.size, n.tag}];
    if (message.receivers.empty()) {
      ++message.arrived;
      return;
    }
    const Waiting receiver = message.receivers.front();
    message.receivers.pop_front();
    finish(receiver.rank, receiver.comm);
  }

  void meet(int64_t rank, uint32_t comm, const ShapeNode& n) {
    const MeetingKey key{group(rank, n), state(rank).issued[n.slot]++};
    Meeting& here = meetings_[key];
    here.members.push_back({rank, comm});
    here.times.push_back(now_);
    here.streams.push_back(state(rank).streams);
    state(rank).streams += static_cast<uint64_t>(stream_count(config_, n.collective.value(), n.size));
    if (here.members.size() < group_size(key.group)) return;
    // The simulator loops for ever.
    if (n.collective == CollectiveType::AllGather && n.size < config_.dataset_splits) return;
    for (const Waiting& w : here.members) {
      const ShapeNode& other = node(w.rank, w.comm);
      // mismatched collectives never complete
      if (other.collective != n.collective || other.size != n.size) return;
    }
    if (const char* reason = run(here, key.group, n)) {
      blocked_[key] = reason;
      return;
    }
    const Meeting met = std::move(here);
    meetings_.erase(key);
    for (size_t i = 0; i < met.times.size(); ++i) finish_at(met.times[i], met.members[i]);
  }

  struct Meeting {
    std::vector<Waiting> members;   // in order of arrival
    std::vector<int64_t> times;     // at which they begin, then at which they end
    std::vector<uint64_t> streams;  // that they began before
  };

  // Returns why the collective never ends, or null.
  const char* run(Meeting& met, int64_t group, const ShapeNode& n) {
    // Without a group, the tag of a message is the number of streams that the rank has begun.
    if (group == 0 && std::set<uint64_t>(met.streams.begin(), met.streams.end()).size() > 1)
      return "its members began different numbers of collectives before; a group of all ranks avoids this";
    if (!network_) return nullptr;
    if (group == 0 && world_.empty())
      for (size_t r = 0; r < ranks_.size(); ++r) world_.push_back(static_cast<int64_t>(r));
    const std::vector<int64_t>& ranks = group == 0 ? world_ : config_.groups.at(group);
    SimCollective what{.type = n.collective.value(), .bytes = n.size, .members = ranks};
    for (const Waiting& w : met.members)
      what.arrivals.push_back(
          static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), w.rank) - ranks.begin()));
    if (what.type == CollectiveType::AllReduce && ranks.size() == ranks_.size()) {
      what.earlier_streams = all_reduced_;
      all_reduced_ += stream_count(config_, what.type, what.bytes);
    }
    std::vector<int64_t> at(ranks.size());
    for (size_t i = 0; i < met.times.size(); ++i) at[what.arrivals[i]] = met.times[i];
    if (!network_->collective(what, at, stop_)) return "its streams wait for each other";
    for (size_t i = 0; i < met.times.size(); ++i) met.times[i] = at[what.arrivals[i]];
    return nullptr;
  }

  bool all_finished() {
    int64_t stuck = 0, unreadable = 0, first = -1;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const auto rank = static_cast<int64_t>(r);
      if (!traces_.ranks[r].readable) {
        ++unreadable;
      } else if (!traces_.analysis(rank).complete || ranks_[r].done < traces_.analysis(rank).comm.size()) {
        if (first < 0) first = rank;
        if (ranks_[r].done < traces_.analysis(rank).comm.size() && stuck < kStuckDescribed) describe(rank);
        ++stuck;
      }
    }
    if (stuck > 0)
      findings_.error("NOT_FINISHED", first, -1,
                      std::to_string(stuck) + " of " + std::to_string(ranks_.size()) + " ranks never finish");
    return stuck == 0 && unreadable == 0;
  }

  void describe(int64_t rank) {
    Rank& s = state(rank);
    if (s.running != kNoNodeRunning) return describe_meeting(rank);
    const ShapeAnalysis& a = traces_.analysis(rank);
    const std::unordered_set<uint32_t> waiting = waiting_receives(rank);
    for (uint32_t i = 0; i < a.comm.size(); ++i) {
      if (a.comm[i].join || s.waits[i] != 0) continue;
      const ShapeNode& n = node(rank, i);
      if (n.type != NodeType::Recv || !waiting.contains(i)) continue;
      findings_.error("WAITS", rank, static_cast<int64_t>(n.id),
                      "waits forever to receive " + std::to_string(n.size) + " bytes with tag " +
                          std::to_string(n.tag) + " from rank " + std::to_string(peer(rank, n)));
      return;
    }
    findings_.error("WAITS", rank, -1, "waits forever for missing nodes or for nodes in a cycle");
  }

  // The receives of a rank that have no message.
  std::unordered_set<uint32_t> waiting_receives(int64_t rank) const {
    std::unordered_set<uint32_t> out;
    for (const auto& [key, message] : messages_)
      for (const Waiting& w : message.receivers)
        if (w.rank == rank) out.insert(w.comm);
    return out;
  }

  // Why a collective never ends though all its members take part.
  std::string reason_of(const MeetingKey& key, const ShapeNode& n) const {
    if (const auto it = blocked_.find(key); it != blocked_.end()) return it->second;
    return n.size < config_.dataset_splits ? "it is smaller than preferred-dataset-splits"
                                           : "its members have different types or sizes";
  }

  // Members that do not take part in a collective: their number, and the first ones as text.
  struct Missing {
    int64_t count = 0;
    std::string first;
  };
  const Missing& missing_from(const MeetingKey& key) {
    const auto [it, fresh] = missing_.try_emplace(key);
    Missing& out = it->second;
    if (!fresh) return out;
    constexpr int64_t kNamed = 8;
    std::unordered_set<int64_t> present;
    for (const Waiting& w : meetings_[key].members) present.insert(w.rank);
    const auto look = [&](int64_t member) {
      if (present.contains(member)) return;
      if (++out.count <= kNamed) out.first += (out.first.empty() ? "" : ", ") + std::to_string(member);
    };
    if (key.group == 0)
      for (size_t r = 0; r < ranks_.size(); ++r) look(static_cast<int64_t>(r));
    else
      for (const int64_t member : config_.groups.at(key.group)) look(member);
    return out;
  }

  void describe_meeting(int64_t rank) {
    Rank& s = state(rank);
    const ShapeNode& n = node(rank, s.running);
    const int64_t id = group(rank, n);
    const uint32_t number = s.issued[n.slot];
    const auto& [count, missing] = missing_from({id, number - 1});
    findings_.error("WAITS", rank, static_cast<int64_t>(n.id),
                    "waits forever in collective " + std::to_string(number) + " of " +
                        (id == 0 ? std::string("the world") : "group " + std::to_string(id)) + " (" +
                        collective_text(n) + "): " +
                        (count == 0 ? reason_of({id, number - 1}, n)
                                    : "missing rank " + missing + (count > 8 ? " and others" : "")));
  }

  const BundleTraces& traces_;
  const BundleConfig& config_;
  const SimNetwork* network_;
  Findings& findings_;
  const std::stop_token& stop_;
  const SpanVisit& visit_;
  std::unordered_map<uint64_t, int64_t> receiving_since_;  // by rank and node; only for visit_
  std::vector<Rank> ranks_;
  std::vector<int64_t> world_;
  int64_t now_ = 0;
  uint64_t events_ = 0;
  std::deque<Waiting> due_now_;  // nodes that end at now_
  std::priority_queue<Event, std::vector<Event>, std::greater<>> later_;
  std::unordered_map<MeetingKey, Meeting, KeyHash> meetings_;
  std::unordered_map<MeetingKey, const char*, KeyHash> blocked_;  // why they never end
  std::unordered_map<MeetingKey, Missing, KeyHash> missing_;
  int64_t all_reduced_ = 0;  // streams of all-reduces of the whole job
  std::unordered_map<MessageKey, Message, KeyHash> messages_;
};

}  // namespace

BundleSimulation simulate_traces(const BundleTraces& traces, const BundleConfig& config,
                                 const SimNetwork* network, Findings& findings, const std::stop_token& stop,
                                 const SpanVisit& visit) {
  return Simulator(traces, config, network, findings, stop, visit).run();
}

}  // namespace shardscape
