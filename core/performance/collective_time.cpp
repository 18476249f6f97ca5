#include "performance/collective_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "hardware/scaleup_share.h"
#include "performance/collective_table.h"

namespace shardscape {
namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

// NCCL's protocols LL, LL128 and Simple (tuning.cc @5067397, baseLat and hwLat), relative to LL on a ring:
// launch, hop over NVLink, hop over the network; then the share of bandwidth. link_rate and net_rate of LL
// express its caps (llMaxBws) relative to the rate of the links. crossings: how often a message pays the
// additional latency of a network (latencyInter). Simple pays it twice, because it flushes arrived data.
struct Protocol {
  double launch, ring_link, tree_link, ring_net, tree_net, link_rate, net_rate, crossings;
};
constexpr std::array<Protocol, 3> kProtocols{{{1, 1, 1, 1, 1.85, 0.3, 0.1, 1},
                                              {2.12, 3.17, 2.08, 1.48, 3.15, 0.92, 0.92, 1},
                                              {1.27, 5.67, 6.67, 5.19, 5.19, 1, 1, 2}}};
constexpr HopLatency kNccl;  // base of the protocols' hop latencies
constexpr double kTreeRate = 0.92;
// Buffer rate / link rate of unmeasured NVLink SHARP: 263 of 450 GB/s on 8 H100.
constexpr double kNvlsRate = 0.58;
constexpr double kNvlsUs = 25, kSharpUs = 18, kNvlsTreeUs = 20.9;
constexpr double kPeerUs = 0.2;  // per peer of an all-to-all: 2 to 8 ranks in the measured tables

// NCCL's send/recv between nodes (the header names the sources).
constexpr double kLargeMessage = 16384;         // bytes: longer messages use the protocol Simple
constexpr double kMessageChannels = 16;         // of a communicator
constexpr double kPeersOfChannel = 8;           // peers of a domain that share channels
constexpr double kMessageChannelRate = 18.3e9;  // bytes per second of a channel
constexpr double kOldNicGbps = 50, kPlannedChannelGbps = 14;  // of NICs, and planned for a channel

struct Group {
  double n, g, domains, most_per_domain, pods, leaf_switches = 1;
  bool crosses_rails = false;
  TorusSides torus{};
  double max_ctas = 0;
  bool crosses() const { return domains > 1; }
  double inner() const { return (domains - 1) / domains; }  // share of a buffer that other domains hold
};

Group group_of(const GroupSpan& span) {
  return {static_cast<double>(span.ranks),
          static_cast<double>(span.per_domain),
          static_cast<double>(span.domains()),
          static_cast<double>(span.most_per_domain > 0 ? span.most_per_domain : span.per_domain),
          static_cast<double>(span.pods),
          static_cast<double>(span.leaf_switches),
          span.crosses_rails,
          span.torus,
          static_cast<double>(span.max_ctas)};
}

// Hops and bytes of a rank under one algorithm.
struct Plan {
  // spine_hops: the part of net_hops through spine switches.
  double link_hops = 0, net_hops = 0, spine_hops = 0, fixed_us = 0;
  LinkLoad load;
  double links = 1;                                // share of a device's scale-up links in use
  bool tree = false;                               // hops have the latencies of NCCL's trees
  bool levels_in_sequence = false;                 // the levels run one after the other instead of at once
  bool by_protocol = true;                         // false: one transfer at Simple's rate and LL's latencies
  bool nvls = false;                               // links run at the rate of reductions in the switch
  bool simple = false;                             // one transfer with the latencies of Simple
  double message_bytes = 0, message_channels = 1;  // sent to other domains on NCCL's channels of messages
};

double log2_up(double n) { return std::ceil(std::log2(n)); }

// How a kind of collective moves its buffer.
struct KindTraits {
  // Gathers and scatters over the group: an all-reduce is a reduce-scatter and an all-gather.
  double passes = 1;
  // A pass moves all parts of the buffer except a rank's own. Otherwise every rank passes on the whole
  // buffer.
  bool in_parts = false;
  bool rings = false;        // NCCL runs it in rings. Otherwise ranks send directly to the receivers.
  bool sums_to_all = false;  // trees and reducing switches run it
  bool message = false;      // from one rank to another
  // The kind whose curve counts without a curve of its own: rings move the same bytes.
  std::optional<Kind> similar{};
};
KindTraits traits_of(Kind kind) {
  switch (kind) {
    case Kind::AllReduce: return {.passes = 2, .in_parts = true, .rings = true, .sums_to_all = true};
    case Kind::AllGather:
    case Kind::ReduceScatter: return {.in_parts = true, .rings = true};
    case Kind::Broadcast: return {.rings = true, .similar = Kind::AllGather};
    case Kind::Reduce: return {.rings = true, .similar = Kind::ReduceScatter};
    case Kind::AllToAll: return {};
    case Kind::SendRecv: return {.message = true};
  }
  return {};
}

// Whether the algorithm supports the collective on these links.
bool supports(const Network& net, Algorithm algorithm, Kind kind, const Group& group) {
  const KindTraits of = traits_of(kind);
  switch (algorithm) {
    case Algorithm::Auto: return false;
    case Algorithm::Ring: return of.rings;
    case Algorithm::Tree: return of.sums_to_all;
    case Algorithm::HalvingDoubling: return of.in_parts;
    case Algorithm::Hierarchical: return of.in_parts && group.crosses() && group.g > 1;
    case Algorithm::InNetwork:
      // NVLSTree, which needs no SHARP, joins domains by trees, and trees gather nothing.
      if (!of.sums_to_all && (!of.in_parts || (group.crosses() && !net.sharp))) return false;
      return group.g > 1 ? net.nvls : net.sharp;
    case Algorithm::Direct: return !of.rings || of.in_parts;
  }
  return false;
}

// Whether NCCL considers the algorithm by default. Gathers and reduce-scatters in the switches of one domain
// are slower than rings by the formulas, and measured curves of them include NCCL's choice.
bool nccl_considers(Algorithm algorithm, Kind kind, const Group& group) {
  const KindTraits of = traits_of(kind);
  switch (algorithm) {
    case Algorithm::Ring: return true;
    case Algorithm::InNetwork: return of.sums_to_all || group.crosses();
    case Algorithm::Tree: return group.crosses();  // inside a domain, its chains are as long as a ring
    case Algorithm::HalvingDoubling: return !of.sums_to_all && group.g == 1;
    case Algorithm::Direct: return !of.rings;
    case Algorithm::Auto:
    case Algorithm::Hierarchical: return false;
  }
  return false;
}

// The share of the NICs' rate that rings and trees get between pods.
double pod_rate(const Network& net, const Group& group) {
  return group.pods > 1 ? std::min(1.0, group.domains / group.pods / net.oversubscription) : 1;
}

// Adds the cost of traffic to a rail other than the sender's. If the links of a domain reach all NICs of a
// node, the traffic goes to the rank on the receiver's rail first (NCCL's PXN). Otherwise it goes over the
// spine, which joins the rails.
void add_rail_crossing(const Network& net, double share, double bytes, Plan& plan) {
  if (net.domain >= net.node) {
    plan.load.scaleup_bytes += share * bytes;
    plan.link_hops += plan.net_hops;
  } else {
    plan.spine_hops = plan.net_hops;
  }
}

Plan ring_plan(const Network& net, Kind kind, double bytes, const Group& group) {
  Plan plan;
  const KindTraits of = traits_of(kind);
  const double n = group.n, g = group.g, times = of.passes, shared = 1 / pod_rate(net, group);
  const double share = of.in_parts ? (n - 1) / n : 1;
  plan.net_hops = group.crosses() ? times * group.domains : 0;
  plan.link_hops = std::max(
      0.0,
      times * (group.crosses() ? n - 1
                               : static_cast<double>(ring_hops(net, static_cast<int64_t>(n), group.torus))) -
          plan.net_hops);
  plan.spine_hops = times * (group.leaf_switches > 1 ? group.leaf_switches : 0);
  plan.links = scaleup_share(net, static_cast<int64_t>(g), group.torus, LinkUse::Rings);
  plan.load = {g > 1 ? times * share * bytes : 0, group.crosses() ? times * share * bytes / g * shared : 0};
  return plan;
}

// Sends of NCCL to other domains: `sent` bytes in all, `message` bytes to each peer. The peers of a domain
// share channels, and a communicator with many ranks has only one channel per peer.
void add_message_channels(const Network& net, double sent, double message, const Group& group, Plan& plan) {
  const bool planned = net.nic_gbps > kOldNicGbps;  // for each peer, as many channels as the NIC needs
  const double needed = std::ceil(net.nic_gbps / kPlannedChannelGbps),
               most = planned ? needed : kMessageChannels;
  const double channels = group.max_ctas > 0 ? std::min(most, group.max_ctas) : most;
  const double per_peer = planned ? needed : 2 * group.n > 4 * channels ? 1 : 2;
  const double others = (group.domains - 1) * std::ceil(group.most_per_domain / kPeersOfChannel);
  plan.message_bytes = sent;
  plan.message_channels = std::min(channels, per_peer * others);
  plan.simple = message > kLargeMessage;
}

Plan plan_of(const Network& net, Algorithm algorithm, Kind kind, double bytes, const Group& group) {
  Plan plan;
  const auto links_for = [&](LinkUse use, double ranks) {
    return scaleup_share(net, static_cast<int64_t>(ranks), group.torus, use);
  };
  const KindTraits of = traits_of(kind);
  const double n = group.n, g = group.g, domains = group.domains, times = of.passes;
  const double shared = 1 / pod_rate(net, group);
  double oversubscription_factor = shared;  // factor by which oversubscription lengthens traffic between pods
  // Share of the traffic between domains that arrives on a rail other than the sender's.
  double rail_crossing_share = group.crosses_rails ? 1 : 0;
  switch (algorithm) {
    case Algorithm::Auto: break;
    case Algorithm::Ring: plan = ring_plan(net, kind, bytes, group); break;
    case Algorithm::Tree:
      plan.tree = true;
      plan.link_hops = 2 * (n / domains - 1);
      plan.net_hops = 2 * log2_up(domains);
      plan.spine_hops = 2 * log2_up(group.leaf_switches);
      plan.links = links_for(LinkUse::Rings, g);
      plan.load = {g > 1 ? 2 * bytes / kTreeRate : 0, 2 * group.inner() * bytes / g / kTreeRate * shared};
      break;
    case Algorithm::HalvingDoubling:
      plan.link_hops = times * log2_up(group.most_per_domain);
      plan.net_hops = times * log2_up(domains);
      plan.spine_hops = times * log2_up(group.leaf_switches);
      plan.links = links_for(LinkUse::Message, group.most_per_domain);
      plan.load = {times * bytes * (group.most_per_domain - 1) / group.most_per_domain,
                   times * group.inner() * bytes / g * shared};
      plan.levels_in_sequence = true;
      break;
    case Algorithm::Hierarchical:
      plan.link_hops = times * (group.most_per_domain - 1);
      plan.net_hops = times * (domains - 1);
      plan.spine_hops = times * (group.leaf_switches - 1);
      plan.links = links_for(LinkUse::Rings, group.most_per_domain);
      plan.load = {times * bytes * (group.most_per_domain - 1) / group.most_per_domain,
                   times * group.inner() * bytes / g * shared};
      break;
    case Algorithm::InNetwork:
      plan.by_protocol = false;
      plan.nvls = net.nvls;
      plan.fixed_us = !group.crosses() ? kNvlsUs : net.sharp ? kSharpUs : kNvlsTreeUs;
      plan.net_hops = !group.crosses() ? 0 : net.sharp ? 2 : 2 * log2_up(domains);
      plan.spine_hops = group.leaf_switches > 1 && net.sharp ? 2 : 2 * log2_up(group.leaf_switches);
      plan.load = {g > 1 ? bytes : 0,
                   group.crosses() ? (net.sharp ? 1 : 2 * group.inner()) * bytes / g * shared : 0};
      // A gather or a reduce-scatter moves the parts of other domains in one direction only.
      if (!of.sums_to_all) plan.load.nic_bytes *= group.inner();
      break;
    case Algorithm::Direct: {
      plan.by_protocol = false;
      if (of.message) {
        oversubscription_factor = group.pods > 1 ? net.oversubscription : 1;
        plan.links = links_for(LinkUse::Message, g);
        plan.load = {group.crosses() ? 0 : bytes, group.crosses() ? bytes * oversubscription_factor : 0};
      } else {
        const double inside_share = (group.most_per_domain - 1) / n, outside_share = (n - g) / n;
        oversubscription_factor = group.pods > 1 ? std::max(1.0, (1 - 1 / group.pods) * net.oversubscription)
                                                 : 1;
        plan.links = links_for(LinkUse::Rings, group.most_per_domain);
        // On a torus, links also forward the data of other ranks.
        const double passing = plan.links / links_for(LinkUse::Exchange, group.most_per_domain);
        plan.load = {times * bytes * inside_share * passing,
                     times * bytes * outside_share * oversubscription_factor};
        plan.fixed_us = times * kPeerUs * (n - 1);
        if (!group.crosses_rails)
          rail_crossing_share = 1 - 1 / std::min(group.most_per_domain, static_cast<double>(net.rails));
      }
      (group.crosses() ? plan.net_hops : plan.link_hops) = times;
      plan.spine_hops = group.leaf_switches > 1 ? times : 0;
      if (group.crosses() && !of.in_parts && net.channel_gbps > 0)
        add_message_channels(net, plan.load.nic_bytes / oversubscription_factor,
                             of.message ? bytes : bytes / n, group, plan);
      break;
    }
  }
  if (rail_crossing_share > 0 && group.crosses() && net.rails > 1)
    add_rail_crossing(net, rail_crossing_share, plan.load.nic_bytes / oversubscription_factor, plan);
  return plan;
}

// Rates of a rank's links that collectives reach, bytes per second.
struct Rates {
  double link, nic, nvls;  // nvls: bytes of the buffer that switches reduce
};

// Latencies of a plan per protocol in microseconds, launch included.
using Latencies = std::array<double, kProtocols.size()>;
Latencies latencies_of(const Network& net, const Plan& plan) {
  Latencies out;
  for (size_t i = 0; i < out.size(); ++i) {
    const Protocol& p = kProtocols[plan.by_protocol ? i : plan.simple ? out.size() - 1 : 0];
    const double link = kNccl.scaleup_us * (plan.tree ? p.tree_link : p.ring_link) + net.hop.scaleup_us -
                        kNccl.scaleup_us;
    const double nic = kNccl.nic_us * (plan.tree ? p.tree_net : p.ring_net) +
                       p.crossings * (net.hop.nic_us - kNccl.nic_us);
    out[i] = net.launch_us * p.launch + plan.fixed_us + plan.link_hops * std::max(0.0, link) +
             plan.net_hops * std::max(0.0, nic) + plan.spine_hops * p.crossings * net.hop.spine_us;
  }
  return out;
}

double wire_seconds(const Plan& plan, const Rates& rates, const Protocol& protocol) {
  const bool part = plan.by_protocol;
  const double link = plan.load.scaleup_bytes / (plan.nvls ? rates.nvls : rates.link * plan.links) /
                      (part ? protocol.link_rate : 1);
  const double nic = std::max(plan.load.nic_bytes / rates.nic / (part ? protocol.net_rate : 1),
                              plan.message_bytes / (plan.message_channels * kMessageChannelRate));
  return plan.levels_in_sequence ? link + nic : std::max(link, nic);
}

double fastest(const Latencies& latencies, const Plan& plan, const Rates& rates) {
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < latencies.size(); ++i)
    best = std::min(best, latencies[i] * 1e-6 + wire_seconds(plan, rates, kProtocols[i]));
  return best;
}

Rates formula_rates(const Network& net) {
  return {net.scaleup_gbps * net.scaleup_efficiency * 1e9, net.nic_gbps * net.nic_efficiency * 1e9,
          net.scaleup_gbps * kNvlsRate * 1e9};
}

CollectiveEstimate by_algorithm(const Network& net, Algorithm algorithm, Kind kind, double bytes,
                                const Group& group, const Rates& rates) {
  const Plan plan = plan_of(net, algorithm, kind, bytes, group);
  return {fastest(latencies_of(net, plan), plan, rates), algorithm, plan.load};
}

// The forced algorithm if it supports the collective, otherwise the fastest of NCCL's candidates.
template <class Estimate>
CollectiveEstimate choose(const Network& net, Kind kind, const Group& group, Estimate&& estimate) {
  if (supports(net, net.algorithm, kind, group)) return estimate(net.algorithm);
  CollectiveEstimate best{std::numeric_limits<double>::infinity(), Algorithm::Ring, {}};
  for (int i = 1; i < kCollectiveAlgorithmCount; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (!nccl_considers(algorithm, kind, group) || !supports(net, algorithm, kind, group)) continue;
    const CollectiveEstimate one = estimate(algorithm);
    if (one.seconds < best.seconds) best = one;
  }
  return best;
}

CollectiveEstimate by_formula(const Network& net, Kind kind, double bytes, const Group& group,
                              const Rates& rates) {
  return choose(net, kind, group,
                [&](Algorithm algorithm) { return by_algorithm(net, algorithm, kind, bytes, group, rates); });
}

// The measured group nearest to the wanted group.
struct Measured {
  const TimeCurve *curve = nullptr, *above = nullptr;  // above: the second curve of an interpolation
  double part = 0;  // position between the two curves, in the logarithm of ranks
  // Measured rate / rate of these links: faster links move proportionally more bytes in the same time.
  double bytes_factor = 1;
  Group group{};  // the measured group

  double seconds(double bytes) const {
    const double one = curve->seconds(bytes * bytes_factor);
    return above ? one * std::pow(above->seconds(bytes * bytes_factor) / one, part) : one;
  }
};

// Tables are measured under one leaf switch, along the rails.
Group without_leaf_and_pod_effects(Group group) {
  group.pods = group.leaf_switches = 1;
  group.crosses_rails = false;
  return group;
}
bool same_placement(const Group& a, const Group& b) {
  return a.pods == b.pods && a.leaf_switches == b.leaf_switches && a.crosses_rails == b.crosses_rails;
}

Measured look_up(const Network& net, Kind kind, bool in_network, const GroupSpan& span) {
  Measured out;
  const bool inside = span.domains() == 1;
  const CollectiveTable::Nearest near = net.measured->nearest(kind, in_network, span.ranks,
                                                              inside ? 0 : span.per_domain);
  if (!near) return out;
  out.curve = near.below ? near.below : near.above;
  out.group = without_leaf_and_pod_effects(group_of(span));
  if (inside && net.measured->scaleup_gbps() > 0)
    out.bytes_factor = net.measured->scaleup_gbps() / net.scaleup_gbps;
  const auto ranks = static_cast<double>(out.curve->row().ranks);
  if (near.below && near.above && near.below->row().ranks != near.above->row().ranks) {
    out.above = near.above;
    out.part = std::log2(out.group.n / ranks) /
               std::log2(static_cast<double>(near.above->row().ranks) / ranks);
  } else if (ranks != out.group.n) {
    out.group = inside ? Group{ranks, ranks, 1, ranks, 1}
                       : Group{ranks, out.group.g, ranks / out.group.g, out.group.g, 1};
  }
  return out;
}

// The algorithm behind a measured curve: NCCL's choice.
Algorithm native_of(Kind kind, bool in_network) {
  const KindTraits of = traits_of(kind);
  if (!of.rings) return Algorithm::Direct;
  return of.sums_to_all && in_network ? Algorithm::InNetwork : Algorithm::Ring;
}

// Extrapolates a measurement to an unmeasured algorithm, group or network. Larger messages still take longer:
// the curve is read at the size with equal transfer time, and the latency of missing hops is added. For
// surplus hops, only the latency of small messages is subtracted.
double extrapolated_seconds(const Network& net, const Measured& measured, double bytes, const Plan& here,
                            const Plan& there, const Plan& hops_there, const Rates& rates) {
  const Protocol& simple = kProtocols.back();
  const double factor = wire_seconds(here, rates, simple) / wire_seconds(there, rates, simple);
  Network links = net;  // the links of the measurement
  links.hop = net.measured_hop;
  const Latencies wanted = latencies_of(net, here), measured_latencies = latencies_of(links, hops_there);
  Latencies increased = measured_latencies;
  double missing = 0;
  for (size_t i = 0; i < increased.size(); ++i) {
    missing = std::max(missing, wanted[i] - measured_latencies[i]);
    increased[i] += missing;
  }
  const double surplus = missing > 0 ? 0 : (wanted[0] - measured_latencies[0]) * 1e-6;
  const double added = fastest(increased, here, rates) - fastest(measured_latencies, here, rates);
  return std::max(net.launch_us * 1e-6, measured.seconds(bytes * factor) + added + surplus);
}

CollectiveEstimate by_measurement(const Network& net, Kind kind, double bytes, const GroupSpan& span,
                                  const Rates& rates) {
  const Group group = group_of(span);
  const bool usual_latency = group.crosses() ? net.hop == net.measured_hop
                                             : net.hop.scaleup_us == net.measured_hop.scaleup_us;
  const KindTraits of = traits_of(kind);
  if (of.message) {
    const Plan plan = plan_of(net, Algorithm::Direct, kind, bytes, group);
    Measured measured = look_up(net, kind, false, span);
    double size = bytes;
    if (!measured.curve) {  // an all-to-all of two ranks exchanges half its buffer
      measured = look_up(net, Kind::AllToAll, false, {2, group.crosses() ? 1 : 2});
      size = 2 * bytes;
    }
    // An all-to-all of more than two ranks used more links than the traffic between two ranks.
    if (!measured.curve || (measured.group.n != 2 && net.links != ScaleupLinks::Switch))
      return by_formula(net, kind, bytes, group, rates);
    const Group near = without_leaf_and_pod_effects(group);
    const bool exact = usual_latency && same_placement(group, near);
    const Plan there = plan_of(net, Algorithm::Direct, kind, bytes, near);
    const double seconds = exact ? measured.seconds(size)
                                 : extrapolated_seconds(net, measured, size, plan, there, there, rates);
    return {seconds, Algorithm::Direct, plan.load};
  }
  const auto estimate = [&](Algorithm algorithm, bool& exact) -> CollectiveEstimate {
    // Measured times of a reduce-scatter include reductions in switches, because NCCL chooses them by itself.
    const bool in_network = of.sums_to_all ? algorithm == Algorithm::InNetwork
                                           : net.nvls && !supports(net, net.algorithm, kind, group);
    Kind measured_kind = kind;
    Measured measured = look_up(net, kind, in_network, span);
    if (!measured.curve && of.similar) {
      measured_kind = *of.similar;
      measured = look_up(net, measured_kind, in_network, span);
    }
    const Algorithm native = native_of(kind, in_network);
    if (!measured.curve) return by_algorithm(net, algorithm, kind, bytes, group, rates);
    const Plan here = plan_of(net, algorithm, kind, bytes, group);
    exact = algorithm == native && measured_kind == kind && measured.group.n == group.n && usual_latency &&
            same_placement(group, measured.group);
    if (exact) return {measured.seconds(bytes), algorithm, here.load};
    const Plan there = plan_of(net, native, measured_kind, bytes, measured.group);
    // In another group, hops are those of a ring: few ranks reduce small messages themselves, even where
    // switches reduce large ones.
    const bool ring = native == Algorithm::InNetwork && measured.group.n != group.n;
    const Plan hops_there = ring ? plan_of(net, Algorithm::Ring, measured_kind, bytes, measured.group)
                                 : there;
    return {extrapolated_seconds(net, measured, bytes, here, there, hops_there, rates), algorithm, here.load};
  };
  bool exact = false;
  if (!supports(net, net.algorithm, kind, group)) {  // no forced algorithm: NCCL chooses
    const Algorithm native = native_of(kind, net.nvls);
    if (const CollectiveEstimate one = estimate(native, exact); exact) return one;
  }
  return choose(net, kind, group, [&](Algorithm algorithm) { return estimate(algorithm, exact); });
}

// The rates of the formulas, from measured collectives inside a domain where they exist.
Rates rates_of(const Network& net, const GroupSpan& span) {
  Rates rates = formula_rates(net);
  if (!net.measured || span.per_domain < 2 || !(net.measured->scaleup_gbps() > 0)) return rates;
  const double scale = net.scaleup_gbps / net.measured->scaleup_gbps();
  const auto nearest = [&](Kind kind, bool in_network) {
    const CollectiveTable::Nearest near = net.measured->nearest(kind, in_network, span.per_domain);
    return near.below ? near.below : near.above;
  };
  if (const TimeCurve* ring = nearest(Kind::AllGather, false)) {
    const auto n = static_cast<double>(ring->row().ranks);
    rates.link = ring->rate() * (n - 1) / n * scale /
                 scaleup_share(net, ring->row().ranks, {}, LinkUse::Rings);
  }
  if (const TimeCurve* sum = nearest(Kind::AllReduce, true)) rates.nvls = sum->rate() * scale;
  return rates;
}

// The kernel of an inference engine for this group; nullptr: the engine uses NCCL. The kernels run inside a
// domain of switches, on links with the latency of the measurement.
const TimeCurve* engine_kernel(const Machine& machine, Kind kind, const GroupSpan& span) {
  const Network& net = machine.network;
  if (machine.training || !net.measured || span.domains() != 1 || net.links != ScaleupLinks::Switch ||
      net.algorithm != Algorithm::Auto || net.hop.scaleup_us != net.measured_hop.scaleup_us)
    return nullptr;
  return net.measured->engine_kernel(kind, span.ranks);
}

}  // namespace

namespace {

// With the limit of the CTAs of the group's communicator. The rank's CTAs move the bytes of the fuller level.
CollectiveEstimate within_ctas(const Network& net, CollectiveKind kind, const GroupSpan& span,
                               CollectiveEstimate estimate) {
  if (span.max_ctas <= 0 || !(net.channel_gbps > 0) || !traits_of(kind).rings) return estimate;
  const double bytes = std::max(estimate.load.scaleup_bytes, estimate.load.nic_bytes);
  const double rate = static_cast<double>(span.max_ctas) * net.channel_gbps * 1e9;
  estimate.seconds = std::max(estimate.seconds, net.launch_us * 1e-6 + bytes / rate);
  return estimate;
}

}  // namespace

CollectiveEstimate collective_formula(const Network& network, CollectiveKind kind, double bytes,
                                      const GroupSpan& span) {
  if (span.ranks <= 1 || !(bytes > 0)) return {};
  return within_ctas(network, kind, span,
                     by_formula(network, kind, bytes, group_of(span), formula_rates(network)));
}

CollectiveEstimate collective_estimate(const Machine& machine, CollectiveKind kind, double bytes,
                                       const GroupSpan& span) {
  if (span.ranks <= 1 || !(bytes > 0)) return {};
  const Network& net = machine.network;
  const Rates rates = rates_of(net, span);
  const CollectiveEstimate free = net.measured ? by_measurement(net, kind, bytes, span, rates)
                                               : by_formula(net, kind, bytes, group_of(span), rates);
  const CollectiveEstimate nccl = within_ctas(net, kind, span, free);
  const TimeCurve* kernel = engine_kernel(machine, kind, span);
  if (!kernel) return nccl;
  const double seconds = kernel->seconds(bytes * net.measured->scaleup_gbps() / net.scaleup_gbps);
  if (seconds >= nccl.seconds) return nccl;
  return {seconds, Algorithm::Direct, plan_of(net, Algorithm::Direct, kind, bytes, group_of(span)).load};
}

double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span) {
  return collective_estimate(machine, kind, bytes, span).seconds;
}

Machine without_nccl_messages(Machine machine) {
  machine.network.channel_gbps = 0;
  return machine;
}

LinkShare& LinkShare::operator+=(const LinkShare& other) {
  scaleup += other.scaleup;
  nic += other.nic;
  return *this;
}

LinkShare link_share(const Machine& machine, const CollectiveEstimate& estimate) {
  if (!(estimate.seconds > 0)) return {};
  const Rates rates = formula_rates(machine.network);
  return {std::min(1.0, estimate.load.scaleup_bytes / (rates.link * estimate.seconds)),
          std::min(1.0, estimate.load.nic_bytes / (rates.nic * estimate.seconds))};
}

double slowdown(const LinkShare& one, const LinkShare& all) {
  double factor = 1;
  if (one.scaleup > 0) factor = std::max(factor, all.scaleup);
  if (one.nic > 0) factor = std::max(factor, all.nic);
  return factor;
}

double bus_factor(CollectiveKind kind, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::AllReduce: return 2 * (n - 1) / n;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll: return (n - 1) / n;
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::SendRecv: return 1;
  }
  return 1;
}

std::string collective_basis(const Machine& machine) {
  const Network& net = machine.network;
  if (!net.measured) return "formulas; no measurements for these links";
  std::string text = "measured: " + net.measured->source();
  if (net.measured->scaleup_gbps() > 0 && net.measured->scaleup_gbps() != net.scaleup_gbps)
    text += "; scaled by the rate of the links";
  if (!machine.training && !net.measured->engine_curves().empty())
    text += "; small all-reduces inside a domain: " + net.measured->engine_source();
  return text;
}

}  // namespace shardscape
