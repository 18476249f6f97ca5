#include "astra_sim/stream_simulator.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "astra_sim/nanoseconds.h"
#include "astra_sim/sim_network.h"

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr int64_t kNoReduction = -1;

struct LinkKey {
  size_t stream, from, to;  // members
  int64_t bytes;
  bool operator==(const LinkKey&) const = default;
};
struct LinkHash {
  size_t operator()(const LinkKey& k) const {
    uint64_t hash = 7;
    for (const uint64_t part : {uint64_t{k.stream}, uint64_t{k.from}, uint64_t{k.to}, uint64_t(k.bytes)}) {
      hash = (hash ^ part) * 0xff51afd7ed558ccdull;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

class StreamSimulator {
 public:
  StreamSimulator(const SimNetwork& network, const StreamPlan& plan, std::vector<int64_t>& times)
      : network_(network),
        plan_(plan),
        times_(times),
        seats_(plan.phases.size(), std::vector<Seat>(times.size())),
        members_(times.size()) {
    for (size_t p = 0; p < plan.phases.size(); ++p)
      for (const CollectiveParty& party : plan.parties[p])
        for (size_t i = 0; i < party.places.size(); ++i)
          seats_[p][party.places[i]] = {&party, static_cast<int64_t>(i)};
    int64_t dimensions = 1;
    for (const CollectivePhase& phase : plan.phases) dimensions = std::max(dimensions, phase.dimension + 1);
    for (Member& member : members_) {
      member.streams.resize(static_cast<size_t>(plan.streams));
      member.queues.resize(static_cast<size_t>(dimensions));
    }
  }

  bool run(const std::vector<size_t>& arrivals, const std::stop_token& stop) {
    constexpr size_t kEventsPerStopCheck = 4096;
    for (size_t i = 0; i < members_.size(); ++i) {
      const size_t member = arrivals.empty() ? i : arrivals[i];
      schedule(times_[member], {.kind = Kind::Start, .member = member});
    }
    for (size_t count = 0; !events_.empty(); ++count) {
      if (count % kEventsPerStopCheck == 0 && stop.stop_requested()) return false;
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      happen(event);
    }
    return ended_ == members_.size();
  }

 private:
  // The place of a member in a phase.
  struct Seat {
    const CollectiveParty* party = nullptr;
    int64_t index = 0;
    int64_t ranks() const { return static_cast<int64_t>(party->ranks.size()); }
  };
  enum class TreeStep : uint8_t { WaitForTwo, WaitForOne, SendUp, WaitForParent, SendDown, End };
  // A stream on one rank. Messages of the phase so far: made are those that the rank may send when it has
  // handled them; free are those handled but not sent.
  struct Stream {
    size_t phase = 0;
    bool started = false;
    int64_t made = 0, sent = 0, received = 0, free = 0;
    TreeStep step = TreeStep::WaitForTwo;
    bool reduced_one = false;
  };
  // Streams of a dimension, those that run first.
  struct Queue {
    std::deque<size_t> streams;
    size_t running = 0;
  };
  // Something that a member has handled. A reduction follows, or the stream goes on.
  struct Handled {
    size_t stream;
    int64_t reduction;  // ns, or kNoReduction
  };
  struct Member {
    std::vector<Stream> streams;
    std::vector<Queue> queues;                        // by dimension
    std::map<int64_t, std::vector<Handled>> handled;  // by time
    int64_t finished = 0;                             // streams
  };
  enum class Kind : uint8_t { Start, Handle, Arrive, Receive };
  struct Event {
    Kind kind = Kind::Start;
    size_t member = 0, stream = 0, from = 0;
    int64_t bytes = 0;
    int64_t time = 0;
    uint64_t number = 0;  // in order of creation
    bool operator>(const Event& other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };
  // Messages of one size between two members that have arrived, or that their receiver waits for.
  struct Link {
    int64_t arrived = 0, awaited = 0;
  };

  void schedule(int64_t time, Event event) {
    event.time = time;
    event.number = scheduled_++;
    events_.push(event);
  }

  void happen(const Event& event) {
    switch (event.kind) {
      case Kind::Start:
        for (size_t s = 0; s < members_[event.member].streams.size(); ++s) enter(event.member, s);
        return;
      case Kind::Handle: return handle_all(event.member);
      case Kind::Arrive: {
        Link& link = links_[{event.stream, event.from, event.member, event.bytes}];
        if (link.awaited == 0) {
          ++link.arrived;
          return;
        }
        --link.awaited;
        return receive(event.member, event.stream);
      }
      case Kind::Receive: return receive(event.member, event.stream);
    }
  }

  Stream& state(size_t member, size_t stream) { return members_[member].streams[stream]; }
  const CollectivePhase& phase(const Stream& s) const { return plan_.phases[s.phase]; }
  const Seat& seat(size_t member, const Stream& s) const { return seats_[s.phase][member]; }
  bool in_tree(const Stream& s) const { return phase(s).by.algorithm == PhaseAlgorithm::DoubleBinaryTree; }
  Queue& queue(size_t member, const Stream& s) {
    return members_[member].queues[static_cast<size_t>(std::max<int64_t>(phase(s).dimension, 0))];
  }

  // A stream reaches the dimension of its phase.
  void enter(size_t member, size_t stream) {
    Queue& q = queue(member, state(member, stream));
    q.streams.push_back(stream);
    start_streams(member, q);
  }

  void start_streams(size_t member, Queue& q) {
    while (q.running < q.streams.size() && static_cast<int64_t>(q.running) < plan_.active)
      start(member, q.streams[q.running++]);
  }

  void start(size_t member, size_t stream) {
    const Stream& s = state(member, stream);
    if (in_tree(s)) return start_tree(member, stream);
    const int64_t window = messages_at_a_time(phase(s), seat(member, s).ranks());
    for (int64_t i = 0; i < window; ++i) make_message(member, stream);
  }

  void leave_phase(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    Queue& q = queue(member, s);
    q.streams.erase(std::find(q.streams.begin(), q.streams.end(), stream));
    --q.running;
    const size_t next = s.phase + 1;
    if (next == plan_.phases.size()) {
      if (++members_[member].finished == plan_.streams) {
        times_[member] = now_;
        ++ended_;
      }
      return start_streams(member, q);
    }
    s = {.phase = next};
    Queue& next_q = queue(member, s);
    next_q.streams.push_back(stream);
    start_streams(member, q);
    start_streams(member, next_q);
  }

  // The rank handles something that it has received or made, and then reduces it.
  void handle(size_t member, size_t stream, int64_t reduction) {
    const Seat& at = seat(member, state(member, stream));
    handle_at(member, add_ns(now_, network_.handling(at.party->part)), {stream, reduction});
  }

  // A rank handles all that ends at one time in one event.
  void handle_at(size_t member, int64_t time, Handled what) {
    const auto [it, fresh] = members_[member].handled.try_emplace(time);
    it->second.push_back(what);
    if (fresh) schedule(time, {.kind = Kind::Handle, .member = member});
  }

  void handle_all(size_t member) {
    const int64_t time = now_;
    std::vector<Handled>& handled = members_[member].handled[time];
    for (size_t i = 0; i < handled.size(); ++i) {  // grows
      const Handled what = handled[i];
      if (what.reduction != kNoReduction)
        handle_at(member, add_ns(time, what.reduction), {what.stream, kNoReduction});
      else if (in_tree(state(member, what.stream)))
        go_on_in_tree(member, what.stream);
      else
        go_on(member, what.stream);
    }
    members_[member].handled.erase(time);
  }

  void make_message(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    const Seat& at = seat(member, s);
    const int64_t number = s.made++;
    handle(member, stream,
           reduces(phase(s), *at.party, number)
               ? network_.reduction(message_bytes(phase(s), at.ranks(), number))
               : kNoReduction);
  }

  void go_on(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    const int64_t n = seat(member, s).ranks(), window = messages_at_a_time(phase(s), n);
    const int64_t count = message_count(phase(s), n);
    ++s.free;
    int64_t sends = 1;
    const bool in_rounds = phase(s).by.algorithm == PhaseAlgorithm::Direct &&
                           phase(s).type == CollectiveType::AllReduce;
    if (in_rounds && s.sent >= n - 1) {
      if (s.received < n - 1) return;
      sends = window;
    }
    for (; sends > 0 && s.made > s.sent && s.sent < count && s.free > 0; --sends) {
      const int64_t number = s.sent++, bytes = message_bytes(phase(s), n, number);
      --s.free;
      const int64_t index = seat(member, s).index;
      send(member, stream, receiver_of(phase(s), n, index, number), bytes);
      await(member, stream, sender_of(phase(s), n, index, number), bytes);
    }
    if (s.sent == count && s.free == window) leave_phase(member, stream);
  }

  // index: of the other rank in the party.
  void send(size_t member, size_t stream, int64_t index, int64_t bytes) {
    const Seat& at = seat(member, state(member, stream));
    const auto to = static_cast<size_t>(index);
    const int64_t ns = network_.message(at.party->ranks[static_cast<size_t>(at.index)], at.party->ranks[to],
                                        bytes);
    schedule(add_ns(now_, ns), {.kind = Kind::Arrive,
                                .member = at.party->places[to],
                                .stream = stream,
                                .from = member,
                                .bytes = bytes});
  }

  void await(size_t member, size_t stream, int64_t index, int64_t bytes) {
    const size_t from = seat(member, state(member, stream)).party->places[static_cast<size_t>(index)];
    Link& link = links_[{stream, from, member, bytes}];
    if (link.arrived == 0) {
      ++link.awaited;
      return;
    }
    --link.arrived;
    schedule(now_, {.kind = Kind::Receive, .member = member, .stream = stream});
  }

  void receive(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    if (in_tree(s)) return receive_in_tree(member, stream);
    ++s.received;
    make_message(member, stream);
  }

  TreePlace place(size_t member, size_t stream) {
    const Stream& s = state(member, stream);
    const bool odd = (plan_.earlier + static_cast<int64_t>(stream)) % 2 != 0;
    const TreeChoice choice = phase(s).tree;
    return tree_place(seat(member, s).ranks(), seat(member, s).index,
                      choice == TreeChoice::Second || (choice == TreeChoice::Alternating && odd));
  }

  void start_tree(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    const TreePlace at = place(member, stream);
    if (at.leaf()) {
      s.step = TreeStep::SendUp;
      s.reduced_one = true;
      return handle(member, stream, kNoReduction);
    }
    s.step = at.left >= 0 && at.right >= 0 ? TreeStep::WaitForTwo : TreeStep::WaitForOne;
    s.reduced_one = s.step == TreeStep::WaitForOne;
    for (const int64_t child : {at.left, at.right})
      if (child >= 0) await(member, stream, child, phase(s).bytes);
  }

  void receive_in_tree(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    const TreePlace at = place(member, stream);
    switch (s.step) {
      case TreeStep::WaitForTwo: s.step = TreeStep::WaitForOne; break;
      case TreeStep::WaitForOne: s.step = at.parent >= 0 ? TreeStep::SendUp : TreeStep::SendDown; break;
      case TreeStep::WaitForParent: s.step = at.leaf() ? TreeStep::End : TreeStep::SendDown; break;
      case TreeStep::SendUp:
      case TreeStep::SendDown:
      case TreeStep::End: return;
    }
    // Also what comes from the parent is reduced, except by a leaf.
    handle(member, stream, at.leaf() ? kNoReduction : network_.reduction(phase(s).bytes));
  }

  void go_on_in_tree(size_t member, size_t stream) {
    Stream& s = state(member, stream);
    // Of two children, the stream goes on when both have been reduced.
    if (!s.reduced_one) {
      s.reduced_one = true;
      return;
    }
    const TreePlace at = place(member, stream);
    const int64_t bytes = phase(s).bytes;
    if (s.step == TreeStep::SendUp) {
      s.step = TreeStep::WaitForParent;
      send(member, stream, at.parent, bytes);
      return await(member, stream, at.parent, bytes);
    }
    for (const int64_t child : {at.left, at.right})
      if (child >= 0) send(member, stream, child, bytes);
    leave_phase(member, stream);
  }

  const SimNetwork& network_;
  const StreamPlan& plan_;
  std::vector<int64_t>& times_;
  std::vector<std::vector<Seat>> seats_;  // by phase and member
  std::vector<Member> members_;
  int64_t now_ = 0;
  uint64_t scheduled_ = 0;
  size_t ended_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::unordered_map<LinkKey, Link, LinkHash> links_;
};

}  // namespace

bool simulate_streams(const SimNetwork& network, const StreamPlan& plan, const std::vector<size_t>& arrivals,
                      std::vector<int64_t>& times, const std::stop_token& stop) {
  return StreamSimulator(network, plan, times).run(arrivals, stop);
}

}  // namespace shardscape
