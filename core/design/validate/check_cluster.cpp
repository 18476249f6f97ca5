// Checks the links between accelerators: cluster values that contradict each other.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/cluster.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "hardware/accelerator.h"

namespace shardscape {
namespace {

// Fixes to the nearest multiple of a step at or below a value, and above the value.
std::vector<Fix> nearest_multiples(std::string_view id, int64_t value, int64_t step) {
  std::vector<Fix> fixes;
  const int64_t below = value / step * step;
  if (below > 0) fixes.push_back(set_to(id, below));
  if (below + step <= kMaxWorld) fixes.push_back(set_to(id, below + step));
  return fixes;
}

void check_domain(Checks& checks) {
  if (!checks.in_range({"gpus_per_node", "scaleup_domain"})) return;
  const int64_t node = checks.design.cluster.gpus_per_node, domain = checks.design.cluster.scaleup_domain;
  if (domain == 0 || domain % node == 0 || node % domain == 0) return;
  std::vector<Fix> fixes = nearest_multiples("scaleup_domain", domain, node);
  fixes.push_back(set_to("scaleup_domain", 0));
  checks.error(ProblemCode::DomainCutsNodes, "scaleup_domain",
               "a domain of " + grouped(domain) + " ranks cuts nodes of " + grouped(node) +
                   " GPUs into parts of unequal size",
               "a divisor or a multiple of " + grouped(node) + ", or 0 for the network's value",
               std::move(fixes));
}

void check_pods(Checks& checks) {
  if (!checks.in_range({"oversubscription"})) return;
  const ClusterSpec& c = checks.design.cluster;
  if (c.oversubscription > 0 && c.oversubscription < 1000) {
    checks.error(ProblemCode::OversubscriptionBelowOne, "oversubscription",
                 thousandths_text(c.oversubscription) +
                     " would mean more bandwidth above the oversubscribed level than below",
                 "1 for full bisection, above 1 for less bandwidth, or 0 for the network's value",
                 {set_to("oversubscription", 1), set_to("oversubscription", 0)});
    return;
  }
  if (!checks.in_range(
          {"gpus_per_node", "accelerator", "network", "scaleup_domain", "pod_size", "tp", "pp", "dp", "cp"}))
    return;
  const int64_t domain = scaleup_domain(checks.design);
  if (c.pod_size == 0 || c.pod_size % domain == 0 || !(network_of(checks.design).oversubscription > 1))
    return;
  std::vector<Fix> fixes = nearest_multiples("pod_size", c.pod_size, domain);
  fixes.push_back(set_to("pod_size", 0));
  checks.error(ProblemCode::PodCutsDomain, "pod_size",
               "a pod of " + grouped(c.pod_size) + " ranks cuts a scale-up domain of " + grouped(domain),
               "a multiple of " + grouped(domain) + ", or 0 for the network's value", std::move(fixes));
}

void check_pue(Checks& checks) {
  const int64_t pue = checks.design.cluster.pue;
  if (!checks.in_range({"pue"}) || pue == 0 || pue >= 1000) return;
  checks.error(
      ProblemCode::PueBelowOne, "pue",
      "with a PUE of " + thousandths_text(pue) + ", the site would draw less power than its computers",
      "at least 1, or 0 for the default", {set_to("pue", 1), set_to("pue", 0)});
}

void check_switches(Checks& checks) {
  if (checks.first_only) return;  // only notes follow
  if (!checks.in_range({"accelerator", "network", "in_network_reduction", "collective_algorithm"})) return;
  const ClusterSpec& c = checks.design.cluster;
  const NetworkEntry* entry = catalogue_network(c);
  const Accelerator* accelerator = find_accelerator(c.accelerator);
  if (entry && accelerator && c.network != "auto" &&
      std::find(entry->accelerators.begin(), entry->accelerators.end(), c.accelerator) ==
          entry->accelerators.end()) {
    checks.note(ProblemCode::NetworkOfOtherAccelerator, "network",
                entry->name + " is not sold with " + accelerator->name + "; estimates use its links anyway",
                "auto for the accelerator's default network", {set_to("network", std::string("auto"))});
  }
  const bool nvls = entry && entry->nvls, sharp = entry && entry->sharp;
  const std::string whose = entry ? entry->name : "the network";
  const bool lacks_nvls = c.in_network_reduction == InNetworkReduction::Nvls && !nvls;
  if (lacks_nvls || (c.in_network_reduction == InNetworkReduction::Sharp && !(nvls && sharp))) {
    checks.note(ProblemCode::NetworkWithoutReduction, "in_network_reduction",
                std::string(!nvls ? "NVLink switches with in-network reduction are not part of "
                                  : "network switches with in-network reduction are not part of ") +
                    whose + "; estimates assume them anyway",
                "auto", {set_to("in_network_reduction", std::string("auto"))});
  }
  const bool any = c.in_network_reduction == InNetworkReduction::Auto
                       ? nvls
                       : c.in_network_reduction != InNetworkReduction::None;
  if (c.collective_algorithm == CollectiveAlgorithm::InNetwork && !any) {
    checks.note(ProblemCode::CollectiveWithoutReduction, "collective_algorithm",
                "no switch of this network reduces data, so collectives use auto",
                "auto, or an in-network reduction (nvls or sharp)",
                {set_to("in_network_reduction", std::string("nvls")),
                 set_to("collective_algorithm", std::string("auto"))});
  }
}

}  // namespace

void check_cluster(Checks& checks) {
  check_domain(checks);
  check_pods(checks);
  check_pue(checks);
  check_switches(checks);
}

}  // namespace shardscape
