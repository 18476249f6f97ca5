#include "serving/requests/request_simulation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "serving/requests/engine.h"

namespace shardscape {
namespace {

std::optional<Problem> check(const Workload& workload, const ServiceSetup& setup) {
  if (auto problem = check_settings(setup.engine)) return problem;
  const auto problem = [](std::string where, std::string what, std::string accepted) {
    return Problem(ProblemCode::WorkloadInvalid, std::move(where), std::move(what), std::move(accepted));
  };
  if (setup.replicas < 1) return problem("replicas", "there is no replica", "at least 1");
  if (setup.lockstep < 1 || setup.replicas % setup.lockstep != 0)
    return problem("replicas", grouped(setup.replicas) + " replicas in groups of " + grouped(setup.lockstep),
                   "a multiple of the replicas that share experts");
  if (workload.requests.empty()) return problem("requests", "there is no request", "at least 1");
  if (workload.users < 0) return problem("users", grouped(workload.users) + " users", "at least 0");
  for (size_t i = 0; i < workload.requests.size(); ++i) {
    const Request& r = workload.requests[i];
    const std::string where = "request " + std::to_string(i);
    if (std::min(r.prompt, r.output) < 1 || std::max(r.prompt, r.output) > kMostTokens)
      return problem(where, grouped(r.prompt) + " prompt tokens and " + grouped(r.output) + " output tokens",
                     "1 to " + grouped(kMostTokens));
    if (!(r.arrival >= 0) || !std::isfinite(r.arrival))
      return problem(where, "it arrives at " + significant(r.arrival) + " s", "a time of at least 0");
    if (r.parent >= 0 && static_cast<size_t>(r.parent) >= i)
      return problem(where, "its parent is request " + std::to_string(r.parent), "an earlier request");
  }
  return std::nullopt;
}

// A time and the number of a request or an engine.
using Event = std::pair<double, int32_t>;
class EventQueue {
 public:
  double time() const { return events_.empty() ? Engine::kIdle : events_.front().first; }
  void push(Event event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }
  Event pop() {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Event event = events_.back();
    events_.pop_back();
    return event;
  }

 private:
  std::vector<Event> events_;
};

class Simulator {
 public:
  Simulator(const Workload& workload, const ServiceSetup& setup, StepClock& clock)
      : workload_(workload),
        setup_(setup),
        settings_(setup.engine),
        contents_(caches_prefixes(settings_) ? BlockContents(workload, cache_block_size(settings_))
                                             : BlockContents()),
        records_(workload.requests.size()) {
    log_.keep_steps = setup.keep_steps;
    engines_.reserve(static_cast<size_t>(setup.replicas / setup.lockstep));
    for (int32_t k = 0; k < setup.replicas; k += setup.lockstep)
      engines_.emplace_back(settings_, workload, contents_, records_, clock, k, setup.lockstep);
    read_turns();
  }

  RequestSimulation run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const double arrival = std::min(first_turn_time(), turns_.time()), wake = wakes_.time();
      if (std::min(arrival, wake) == Engine::kIdle) break;
      if (arrival <= wake)
        arrive();
      else
        run_engine();
    }
    return results();
  }

 private:
  // Lists the first turns, and the turns after each request.
  void read_turns() {
    const size_t count = records_.size();
    child_.assign(count, -1);
    sibling_.assign(count, -1);
    root_.resize(count);
    pending_.assign(count, 0);
    for (size_t i = count; i-- > 0;) {
      const int32_t parent = workload_.requests[i].parent;
      if (parent < 0) continue;
      sibling_[i] = std::exchange(child_[static_cast<size_t>(parent)], static_cast<int32_t>(i));
    }
    for (size_t i = 0; i < count; ++i) {
      const int32_t parent = workload_.requests[i].parent;
      root_[i] = parent < 0 ? static_cast<int32_t>(i) : root_[static_cast<size_t>(parent)];
      ++pending_[static_cast<size_t>(root_[i])];
      if (parent < 0) first_turns_.push_back(static_cast<int32_t>(i));
    }
    if (workload_.users == 0)
      std::stable_sort(first_turns_.begin(), first_turns_.end(), [&](int32_t a, int32_t b) {
        return workload_.requests[static_cast<size_t>(a)].arrival <
               workload_.requests[static_cast<size_t>(b)].arrival;
      });
    for (int64_t user = 0; user < workload_.users; ++user) next_of_user(0);
  }

  double first_turn_time() const {
    if (workload_.users > 0 || next_first_ == first_turns_.size()) return Engine::kIdle;
    return workload_.requests[static_cast<size_t>(first_turns_[next_first_])].arrival;
  }

  void next_of_user(double now) {
    if (next_first_ < first_turns_.size()) turns_.push({now, first_turns_[next_first_++]});
  }

  void arrive() {
    const double first = first_turn_time();
    const Event event = first <= turns_.time() ? Event{first, first_turns_[next_first_++]} : turns_.pop();
    const auto [now, request] = event;
    RequestRecord& record = records_[static_cast<size_t>(request)];
    record.arrival = now;
    const RequestEnd reason = refusal(settings_, workload_.requests[static_cast<size_t>(request)]);
    if (reason != RequestEnd::Pending) return refuse(request, reason, now);
    count_time(now);
    ++in_system_;
    const int32_t replica = chosen(request), number = replica / setup_.lockstep;
    Engine& engine = engines_[static_cast<size_t>(number)];
    const double wake = engine.wake();
    engine.submit(request, replica, now);
    if (engine.wake() < wake) wakes_.push({engine.wake(), number});
  }

  // The request and all turns after it end here.
  void refuse(int32_t request, RequestEnd reason, double now) {
    std::vector<int32_t> turns{request};
    while (!turns.empty()) {
      const auto turn = static_cast<size_t>(turns.back());
      turns.pop_back();
      records_[turn].arrival = now;
      records_[turn].end = std::exchange(reason, RequestEnd::ParentRefused);
      for (int32_t next = child_[turn]; next >= 0; next = sibling_[static_cast<size_t>(next)])
        turns.push_back(next);
      ended(static_cast<int32_t>(turn), now);
    }
  }

  void ended(int32_t request, double now) {
    int32_t& left = pending_[static_cast<size_t>(root_[static_cast<size_t>(request)])];
    if (--left == 0 && workload_.users > 0) next_of_user(now);
  }

  int32_t chosen(int32_t request) {
    const int32_t count = setup_.replicas;
    if (setup_.router == Router::RoundRobin || count == 1)
      return static_cast<int32_t>(next_replica_++ % static_cast<size_t>(count));
    int32_t best = 0;
    std::pair<int64_t, int64_t> best_key;
    for (int32_t k = 0; k < count; ++k) {
      const Engine& engine = engines_[static_cast<size_t>(k / setup_.lockstep)];
      const int64_t cached = setup_.router == Router::PrefixAware ? engine.cached_tokens(request, k) : 0;
      const std::pair key{-cached, engine.outstanding(k)};
      if (k == 0 || key < best_key) {
        best = k;
        best_key = key;
      }
    }
    return best;
  }

  void run_engine() {
    const auto [now, number] = wakes_.pop();
    Engine& engine = engines_[static_cast<size_t>(number)];
    // A submission has woken the engine before.
    if (engine.wake() != now) return;
    engine.run(now, log_);
    if (engine.wake() != Engine::kIdle) wakes_.push({engine.wake(), number});
    if (log_.finished.empty()) return;
    count_time(now);
    in_system_ -= static_cast<int64_t>(log_.finished.size());
    for (const int32_t request : log_.finished) {
      for (int32_t turn = child_[static_cast<size_t>(request)]; turn >= 0;
           turn = sibling_[static_cast<size_t>(turn)])
        turns_.push({now + workload_.requests[static_cast<size_t>(turn)].arrival, turn});
      ended(request, now);
    }
    log_.finished.clear();
  }

  void count_time(double now) {
    in_system_seconds_ += static_cast<double>(in_system_) * (now - last_time_);
    last_time_ = now;
  }

  RequestSimulation results() {
    RequestSimulation out;
    out.requests = std::move(records_);
    out.steps = std::move(log_.steps);
    out.chunks = std::move(log_.chunks);
    out.gaps = std::move(log_.gaps);
    out.drafts = std::move(log_.drafts);
    out.step_count = log_.step_count;
    out.seconds = last_time_;
    out.busy_seconds = log_.busy_seconds;
    out.in_system = in_system_seconds_;
    out.mean_blocks = log_.busy_seconds > 0 ? log_.block_seconds / log_.busy_seconds : 0;
    for (const Engine& engine : engines_) out.peak_blocks = std::max(out.peak_blocks, engine.peak_blocks());
    out.usable_blocks = engines_.front().usable_blocks();
    return out;
  }

  const Workload& workload_;
  ServiceSetup setup_;
  EngineSettings settings_;
  BlockContents contents_;
  std::vector<RequestRecord> records_;
  std::vector<Engine> engines_;
  EngineLog log_;
  EventQueue wakes_;  // of engines that are not idle
  EventQueue turns_;  // later turns, and first turns of a closed loop

  std::vector<int32_t> first_turns_;  // open loop: by arrival; closed loop: in the order of the list
  size_t next_first_ = 0;
  std::vector<int32_t> child_, sibling_;  // turns after each request
  std::vector<int32_t> root_;             // first turn of each request
  std::vector<int32_t> pending_;          // of each first turn: turns that have not ended
  size_t next_replica_ = 0;
  int64_t in_system_ = 0;
  double in_system_seconds_ = 0, last_time_ = 0;
};

}  // namespace

StepBatch batch_of(const RequestSimulation& simulation, size_t step) {
  const StepRecord& of = simulation.steps.at(step);
  const size_t end = step + 1 < simulation.steps.size() ? simulation.steps[step + 1].first_chunk
                                                        : simulation.chunks.size();
  return {of.decode_sequences, of.decode_context,
          std::span(simulation.chunks).subspan(of.first_chunk, end - of.first_chunk), of.sampled};
}

Result<RequestSimulation> simulate_requests(const Workload& workload, const ServiceSetup& setup,
                                            StepClock& clock, std::stop_token stop) {
  if (auto problem = check(workload, setup)) return *std::move(problem);
  return Simulator(workload, setup, clock).run(stop);
}

}  // namespace shardscape
