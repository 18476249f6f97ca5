#include "machine/collective_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "machine/collective_table.h"

namespace shardscape {
namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

// NCCL's protocols (tuning.cc @5067397, baseLat and hwLat), relative to those of LL on a ring: of the launch, of a hop over
// NVLink and of one over the network; then the share of bandwidth. The caps of LL (llMaxBws) are relative to the links' rate.
struct Protocol {
  double launch, ring_link, tree_link, ring_net, tree_net, link_rate, net_rate;
};
constexpr std::array<Protocol, 3> kProtocols{{{1, 1, 1, 1, 1.85, 0.3, 0.1},
                                              {2.12, 3.17, 2.08, 1.48, 3.15, 0.92, 0.92},
                                              {1.27, 5.67, 6.67, 5.19, 5.19, 1, 1}}};
constexpr double kTreeRate = 0.92;
constexpr double kNvlsRate = 0.58;           // buffer over links' rate where nothing was measured: 263 of 450 GB/s on 8 H100
constexpr double kNvlsUs = 25, kSharpUs = 18, kNvlsTreeUs = 20.9;
constexpr double kPeerUs = 0.2;              // per peer of an all-to-all: 2 to 8 ranks in the measured tables

struct Group {
  double n, g, domains, fullest, pods;
  bool crosses() const { return domains > 1; }
  double inner() const { return (domains - 1) / domains; }  // share of a buffer that others hold
};

Group group_of(const GroupSpan& span) {
  return {static_cast<double>(span.ranks), static_cast<double>(span.per_domain), static_cast<double>(span.domains()),
          static_cast<double>(span.fullest > 0 ? span.fullest : span.per_domain), static_cast<double>(span.pods)};
}

// What an algorithm asks of a rank and its links.
struct Plan {
  double link_hops = 0, net_hops = 0, fixed_us = 0;
  LinkLoad load;
  bool tree = false;        // latencies of NCCL's trees
  bool in_turn = false;     // one level after the other, not both at once
  bool by_protocol = true;  // else in one transfer, by Simple's rate and LL's latencies
  bool nvls = false;        // links at the rate of sums in the switch
};

double log2_up(double n) { return std::ceil(std::log2(n)); }

bool is_shard_move(Kind kind) { return kind == Kind::AllReduce || kind == Kind::AllGather || kind == Kind::ReduceScatter; }

// Whether the algorithm exists for the kind on these links.
bool offers(const Network& net, Algorithm algorithm, Kind kind, const Group& group) {
  switch (algorithm) {
    case Algorithm::Auto: return false;
    case Algorithm::Ring: return is_shard_move(kind) || kind == Kind::Broadcast || kind == Kind::Reduce;
    case Algorithm::Tree: return kind == Kind::AllReduce;
    case Algorithm::HalvingDoubling: return is_shard_move(kind);
    case Algorithm::Hierarchical: return is_shard_move(kind) && group.crosses() && group.g > 1;
    case Algorithm::InNetwork: return kind == Kind::AllReduce && (group.g > 1 ? net.nvls : net.sharp);
    case Algorithm::Direct: return kind == Kind::AllToAll || kind == Kind::SendRecv || is_shard_move(kind);
  }
  return false;
}

// Whether NCCL would consider it unasked.
bool tried(Algorithm algorithm, Kind kind, const Group& group) {
  switch (algorithm) {
    case Algorithm::Ring:
    case Algorithm::Tree:
    case Algorithm::InNetwork: return true;
    case Algorithm::HalvingDoubling: return kind != Kind::AllReduce && group.g == 1;
    case Algorithm::Direct: return kind == Kind::AllToAll || kind == Kind::SendRecv;
    default: return false;
  }
}

// The share of the rate of NICs that is left between pods, to rings and trees.
double pod_rate(const Network& net, const Group& group) {
  return group.pods > 1 ? std::min(1.0, group.domains / group.pods / net.oversubscription) : 1;
}

Plan plan_of(const Network& net, Algorithm algorithm, Kind kind, double bytes, const Group& group) {
  Plan plan;
  const double n = group.n, g = group.g, domains = group.domains, times = kind == Kind::AllReduce ? 2 : 1;
  const double shared = 1 / pod_rate(net, group);
  switch (algorithm) {
    case Algorithm::Auto: break;
    case Algorithm::Ring: {
      const double share = is_shard_move(kind) ? (n - 1) / n : 1;
      plan.net_hops = group.crosses() ? times * domains : 0;
      plan.link_hops = std::max(0.0, times * (n - 1) - plan.net_hops);
      plan.load = {g > 1 ? times * share * bytes : 0, group.crosses() ? times * share * bytes / g * shared : 0};
      break;
    }
    case Algorithm::Tree:
      plan.tree = true;
      plan.link_hops = 2 * (n / domains - 1);
      plan.net_hops = 2 * log2_up(domains);
      plan.load = {g > 1 ? 2 * bytes / kTreeRate : 0, 2 * group.inner() * bytes / g / kTreeRate * shared};
      break;
    case Algorithm::HalvingDoubling:
      plan.link_hops = times * log2_up(group.fullest);
      plan.net_hops = times * log2_up(domains);
      plan.load = {times * bytes * (group.fullest - 1) / group.fullest, times * group.inner() * bytes / g * shared};
      plan.in_turn = true;
      break;
    case Algorithm::Hierarchical:
      plan.link_hops = times * (group.fullest - 1);
      plan.net_hops = times * (domains - 1);
      plan.load = {times * bytes * (group.fullest - 1) / group.fullest, times * group.inner() * bytes / g * shared};
      break;
    case Algorithm::InNetwork:
      plan.by_protocol = false;
      plan.nvls = net.nvls;
      plan.fixed_us = !group.crosses() ? kNvlsUs : net.sharp ? kSharpUs : kNvlsTreeUs;
      plan.net_hops = !group.crosses() ? 0 : net.sharp ? 2 : 2 * log2_up(domains);
      plan.load = {g > 1 ? bytes : 0, group.crosses() ? (net.sharp ? 1 : 2 * group.inner()) * bytes / g * shared : 0};
      break;
    case Algorithm::Direct: {
      // Whatever leaves a pod goes through its share of the links above.
      const double above = group.pods > 1 ? std::max(1.0, (1 - 1 / group.pods) * net.oversubscription) : 1;
      plan.by_protocol = false;
      if (kind == Kind::SendRecv) {
        plan.load = {group.crosses() ? 0 : bytes, group.crosses() ? bytes * (group.pods > 1 ? net.oversubscription : 1) : 0};
      } else {
        const double stays = (group.fullest - 1) / n, leaves = (n - g) / n;
        const double forwarded = g > 1 && net.rails > 1 ? leaves * (1 - 1 / static_cast<double>(net.rails)) : 0;
        plan.load = {times * bytes * (stays + (kind == Kind::AllToAll ? forwarded : 0)), times * bytes * leaves * above};
        plan.fixed_us = times * kPeerUs * (n - 1);
      }
      (group.crosses() ? plan.net_hops : plan.link_hops) = times;
      break;
    }
  }
  return plan;
}

// A rank's links as collectives find them, bytes per second.
struct Rates {
  double link, nic, nvls;  // nvls: of the buffer that switches add up
};

double seconds_of(const Network& net, const Plan& plan, const Rates& rates) {
  const double link = plan.load.scaleup_bytes / (plan.nvls ? rates.nvls : rates.link), nic = plan.load.nic_bytes / rates.nic;
  if (!plan.by_protocol)
    return (net.launch_us + plan.fixed_us + plan.link_hops * net.scaleup_latency_us + plan.net_hops * net.nic_latency_us) * 1e-6 +
           std::max(link, nic);
  double best = std::numeric_limits<double>::infinity();
  for (const Protocol& p : kProtocols) {
    const double hops = plan.link_hops * net.scaleup_latency_us * (plan.tree ? p.tree_link : p.ring_link) +
                        plan.net_hops * net.nic_latency_us * (plan.tree ? p.tree_net : p.ring_net);
    const double a = link / p.link_rate, b = nic / p.net_rate;
    best = std::min(best, (net.launch_us * p.launch + hops) * 1e-6 + (plan.in_turn ? a + b : std::max(a, b)));
  }
  return best;
}

Rates formula_rates(const Network& net) {
  return {net.scaleup_gbps * net.scaleup_efficiency * 1e9, net.nic_gbps * net.nic_efficiency * 1e9, net.scaleup_gbps * kNvlsRate * 1e9};
}

CollectiveEstimate by_algorithm(const Network& net, Algorithm algorithm, Kind kind, double bytes, const Group& group, const Rates& rates) {
  const Plan plan = plan_of(net, algorithm, kind, bytes, group);
  return {seconds_of(net, plan, rates), algorithm, plan.load};
}

CollectiveEstimate by_formula(const Network& net, Algorithm wanted, Kind kind, double bytes, const Group& group, const Rates& rates) {
  if (offers(net, wanted, kind, group)) return by_algorithm(net, wanted, kind, bytes, group, rates);
  CollectiveEstimate best{std::numeric_limits<double>::infinity(), Algorithm::Ring, {}};
  for (int i = 1; i < kCollectiveAlgorithmCount; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (!tried(algorithm, kind, group) || !offers(net, algorithm, kind, group)) continue;
    const CollectiveEstimate one = by_algorithm(net, algorithm, kind, bytes, group, rates);
    if (one.seconds < best.seconds) best = one;
  }
  return best;
}

// As measured, of the algorithm that NCCL chose there.
struct Measured {
  double seconds;
  Group group;  // the measured one nearest to the wanted; of an interpolation the wanted one
};

bool look_up(const Network& net, Kind kind, bool in_network, double bytes, const GroupSpan& span, Measured& out) {
  const bool inside = span.domains() == 1;
  const CollectiveTable::Nearest near = net.measured->nearest(kind, in_network, span.ranks, inside ? 0 : span.per_domain);
  if (!near) return false;
  // Faster links move as many bytes more in the same time.
  const double moved = inside && net.measured->scaleup_gbps() > 0 ? bytes * net.measured->scaleup_gbps() / net.scaleup_gbps : bytes;
  const CollectiveCurve* one = near.below ? near.below : near.above;
  out.seconds = one->seconds(moved);
  const auto ranks = static_cast<double>(one->row().ranks);
  out.group = group_of(span);
  if (near.below && near.above && near.below != near.above) {
    const auto above = static_cast<double>(near.above->row().ranks);
    const double part = std::log2(out.group.n / ranks) / std::log2(above / ranks);
    out.seconds *= std::pow(near.above->seconds(moved) / out.seconds, part);
  } else if (ranks != out.group.n) {
    out.group.n = ranks;
    out.group.domains = inside ? 1 : ranks / out.group.g;
    if (inside) out.group.g = out.group.fullest = ranks;
  }
  return true;
}

// What the measured times are of: NCCL's choice there.
Algorithm native_of(Kind kind, bool in_network) {
  if (kind == Kind::AllToAll || kind == Kind::SendRecv) return Algorithm::Direct;
  return kind == Kind::AllReduce && in_network ? Algorithm::InNetwork : Algorithm::Ring;
}

CollectiveEstimate by_measurement(const Network& net, Kind kind, double bytes, const GroupSpan& span, const CollectiveEstimate& formula, const Rates& rates) {
  const Group group = group_of(span);
  const Algorithm wanted = offers(net, net.algorithm, kind, group) ? net.algorithm : Algorithm::Auto;
  Network measured_on = net;
  measured_on.nvls = net.nvls && (wanted == Algorithm::Auto || wanted == Algorithm::InNetwork);
  Kind as = kind;
  double size = bytes;
  Measured measured;
  bool found = look_up(net, kind, measured_on.nvls, bytes, span, measured);
  if (!found && kind == Kind::SendRecv) {  // an all-to-all of two exchanges half its buffer
    const GroupSpan pair{2, span.domains() > 1 ? 1 : 2, 0, 0, span.pods};
    if (look_up(net, Kind::AllToAll, false, 2 * bytes, pair, measured)) return {measured.seconds, Algorithm::Direct, formula.load};
  }
  if (!found && (kind == Kind::Broadcast || kind == Kind::Reduce)) {  // rings move the bytes of these as they do of gathers
    as = kind == Kind::Broadcast ? Kind::AllGather : Kind::ReduceScatter;
    found = look_up(net, as, false, size, span, measured);
  }
  if (!found) return formula;
  const Algorithm native = native_of(kind, measured_on.nvls);
  const bool is_native = wanted == Algorithm::Auto || wanted == native;
  const Network usual;  // whose latencies the measured links have
  measured_on.scaleup_latency_us = usual.scaleup_latency_us;
  measured_on.nic_latency_us = usual.nic_latency_us;
  const bool same_latency = net.scaleup_latency_us == usual.scaleup_latency_us && (span.domains() == 1 || net.nic_latency_us == usual.nic_latency_us);
  if (is_native && as == kind && measured.group.n == group.n && same_latency) return {measured.seconds, formula.algorithm, formula.load};
  // From what was measured to what is asked for by the difference of the formulas: of latencies and of shares of the bytes.
  const double there = by_formula(measured_on, is_native ? wanted : native, as, size, measured.group, rates).seconds;
  return {std::max(net.launch_us * 1e-6, measured.seconds + formula.seconds - there), formula.algorithm, formula.load};
}

// The rates that measured collectives inside a domain reach, of which the formulas make use.
Rates rates_of(const Network& net, const GroupSpan& span) {
  Rates rates = formula_rates(net);
  if (!net.measured || span.per_domain < 2 || !(net.measured->scaleup_gbps() > 0)) return rates;
  const double scale = net.scaleup_gbps / net.measured->scaleup_gbps();
  const auto nearest = [&](Kind kind, bool in_network) {
    const CollectiveTable::Nearest near = net.measured->nearest(kind, in_network, span.per_domain);
    return near.below ? near.below : near.above;
  };
  if (const CollectiveCurve* ring = nearest(Kind::AllGather, false)) {
    const auto n = static_cast<double>(ring->row().ranks);
    rates.link = ring->rate() * (n - 1) / n * scale;
  }
  if (const CollectiveCurve* sum = nearest(Kind::AllReduce, true)) rates.nvls = sum->rate() * scale;
  return rates;
}

}  // namespace

CollectiveEstimate collective_formula(const Network& network, CollectiveKind kind, double bytes, const GroupSpan& span) {
  if (span.ranks <= 1 || !(bytes > 0)) return {};
  return by_formula(network, network.algorithm, kind, bytes, group_of(span), formula_rates(network));
}

CollectiveEstimate collective_estimate(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span) {
  if (span.ranks <= 1 || !(bytes > 0)) return {};
  const Network& net = machine.network;
  const Rates rates = rates_of(net, span);
  const CollectiveEstimate formula = by_formula(net, net.algorithm, kind, bytes, group_of(span), rates);
  return net.measured ? by_measurement(net, kind, bytes, span, formula, rates) : formula;
}

double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span) {
  return collective_estimate(machine, kind, bytes, span).seconds;
}

LinkShare& LinkShare::operator+=(const LinkShare& other) {
  scaleup += other.scaleup;
  nic += other.nic;
  return *this;
}

LinkShare link_share(const Machine& machine, const CollectiveEstimate& estimate) {
  if (!(estimate.seconds > 0)) return {};
  const Rates rates = formula_rates(machine.network);
  return {std::min(1.0, estimate.load.scaleup_bytes / (rates.link * estimate.seconds)), std::min(1.0, estimate.load.nic_bytes / (rates.nic * estimate.seconds))};
}

double slowdown(const LinkShare& one, const LinkShare& all) {
  double factor = 1;
  if (one.scaleup > 0) factor = std::max(factor, all.scaleup);
  if (one.nic > 0) factor = std::max(factor, all.nic);
  return factor;
}

std::string collective_basis(const Machine& machine) {
  const Network& net = machine.network;
  if (!net.measured) return "formulas; nothing was measured on such links";
  std::string text = "measured: " + net.measured->source();
  if (net.measured->scaleup_gbps() > 0 && net.measured->scaleup_gbps() != net.scaleup_gbps) text += "; scaled by the rate of the links";
  return text;
}

}  // namespace shardscape
