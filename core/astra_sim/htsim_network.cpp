#include "astra_sim/htsim_network.h"

#include <algorithm>
#include <cmath>

#include "astra_sim/cluster_fabric.h"
#include "base/units.h"

namespace shardscape {
namespace {

struct Tier {
  int64_t gbit = 1;  // Gbit/s of the links below
  int64_t radix_down = 1, radix_up = 0, oversubscribed = 1;
  int64_t latency_ns = 1;
};

std::string topology_text(int64_t ranks, int64_t per_pod, const std::vector<Tier>& tiers) {
  const auto line = [](const char* key, int64_t value) {
    return std::string(key) + " " + std::to_string(value) + "\n";
  };
  std::string out = line("Nodes", ranks) + line("Tiers", static_cast<int64_t>(tiers.size())) +
                    line("Podsize", per_pod);
  for (size_t i = 0; i < tiers.size(); ++i) {
    const Tier& tier = tiers[i];
    out += "\n" + line("Tier", static_cast<int64_t>(i)) + line("Downlink_speed_Gbps", tier.gbit) +
           line("Radix_Down", tier.radix_down);
    if (tier.radix_up > 0)
      out += line("Radix_Up", tier.radix_up) + line("Oversubscribed", tier.oversubscribed);
    out += line("Bundle", 1) + line("Switch_Latency_ns", 0) + line("Downlink_Latency_ns", tier.latency_ns);
  }
  return out;
}

Problem no_htsim_network(const std::string& what, const std::string& accepted) {
  return {ProblemCode::ValueTooLarge, std::string(backend_label(PacketBackend::Htsim)), what, accepted};
}

class FatTree {
 public:
  FatTree(const Network& network, int64_t ranks) : network_(network), ranks_(ranks) {}

  Result<PacketNetwork> take() {
    const bool one_switch = ranks_ <= network_.domain || network_.domain == 1;
    if (auto problem = one_switch ? single_switch() : domains()) return *problem;
    if (network_.links != ScaleupLinks::Switch && network_.domain > 1)
      note("the links between the ranks of a domain are a switch with the rate of all links of a rank");
    return PacketNetwork{PacketBackend::Htsim,
                         {{kHtsimName, topology_text(ranks_, per_pod_, tiers_)}},
                         std::move(substitutions_)};
  }

 private:
  void note(const std::string& text) { substitutions_.push_back(text); }

  int64_t gbit(double gbps, const char* what) {
    const double exact = gbps * 8;
    const int64_t whole = std::max<int64_t>(1, std::llround(exact));
    note_rate(what, exact, whole);
    return whole;
  }
  void note_rate(const char* what, double exact, int64_t written) {
    if (std::abs(exact - static_cast<double>(written)) < 1e-6 * exact) return;
    note(std::string(what) + " have " + grouped(written) + " Gbit/s instead of " + significant(exact, 5) +
         " Gbit/s");
  }

  static int64_t half_ns(double us) {
    constexpr double kNsPerUs = 1e3;
    return std::max<int64_t>(1, std::llround(us * kNsPerUs / 2));
  }

  std::optional<Problem> single_switch() {
    const bool inside = network_.domain > 1;
    if (ranks_ + 1 > kHtsimMostPortsBelow)
      return no_htsim_network("a switch joins " + grouped(ranks_) + " ranks, and one of htsim has at most " +
                                  grouped(kHtsimMostPortsBelow) + " ports",
                              "at most " + grouped(kHtsimMostPortsBelow - 1) + " ranks in one domain");
    const int64_t rate = inside ? gbit(network_.scaleup_gbps, "links of the scale-up domain")
                                : gbit(nic_link_gbps(network_), "links of NICs");
    const int64_t latency = half_ns(inside ? network_.hop.scaleup_us : network_.hop.nic_us);
    per_pod_ = ranks_;
    tiers_ = {{rate, ranks_, 1, ranks_, latency}, {rate, 1, 0, 1, 1}};
    if (!inside) note_levels();
    return std::nullopt;
  }

  std::optional<Problem> domains() {
    const int64_t inside = divisor_at_most(ranks_, network_.domain), count = ranks_ / inside;
    if (inside != network_.domain)
      note(grouped(ranks_) + " ranks do not fill scale-up domains of " + grouped(network_.domain) +
           " evenly; the file has " + grouped(count) + " of " + grouped(inside));
    if (count > kHtsimMostPorts)
      return no_htsim_network("a switch joins " + grouped(count) +
                                  " scale-up domains, and one of htsim has at most " +
                                  grouped(kHtsimMostPorts) + " ports",
                              "at most " + grouped(kHtsimMostPorts) + " domains, so " +
                                  grouped(kHtsimMostPorts * inside) + " ranks");
    const int64_t nics = divisor_at_most(inside, kHtsimMostPortsBelow - inside), uplinks = inside / nics;
    if (inside + nics > kHtsimMostPortsBelow || 1 + uplinks > kHtsimMostPorts)
      return no_htsim_network("a scale-up domain has " + grouped(inside) +
                                  " ranks, and a switch of htsim has at most " +
                                  grouped(kHtsimMostPortsBelow) + " ports",
                              "smaller scale-up domains");
    const int64_t nic = gbit(nic_link_gbps(network_), "links of NICs");
    const double scaleup = network_.scaleup_gbps * 8;
    const int64_t ratio = std::max<int64_t>(1, std::llround(scaleup / static_cast<double>(uplinks * nic)));
    const int64_t rate = ratio * uplinks * nic;
    note_rate("links of scale-up domains", scaleup, rate);
    const int64_t near = half_ns(network_.hop.scaleup_us),
                  rest = std::max<int64_t>(2, half_ns(network_.hop.nic_us) - near);
    per_pod_ = inside;
    tiers_ = {{rate, inside, nics, uplinks, near},
              {rate, 1, uplinks, ratio, rest / 2},
              {nic, count, 0, 1, rest - rest / 2}};
    note("each message takes any NIC of its domain, chosen at random, because ranks have one link only");
    note_levels();
    return std::nullopt;
  }

  void note_levels() {
    if (network_.leaf > 0 && ranks_ > network_.leaf && network_.hop.spine_us > 0)
      note("latencies are those of one leaf switch, without the additional " +
           significant(network_.hop.spine_us) + " us of a path over a spine switch");
    if (has_pods(network_, ranks_))
      note(
          "all domains have the full rate to each other: the tiers leave no level for the oversubscription "
          "of " +
          significant(network_.oversubscription) + " between pods");
    if (nic_link_gbps(network_) < network_.nic_gbps)
      note("the oversubscription of " + significant(network_.oversubscription) +
           " between domains is in the rate of each NIC");
  }

  const Network& network_;
  const int64_t ranks_;
  int64_t per_pod_ = 1;
  std::vector<Tier> tiers_;
  std::vector<std::string> substitutions_;
};

}  // namespace

Result<PacketNetwork> htsim_network(const Network& network, int64_t ranks) {
  return FatTree(network, ranks).take();
}

}  // namespace shardscape
