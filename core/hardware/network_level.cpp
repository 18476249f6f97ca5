#include "hardware/network_level.h"

#include "base/units.h"

namespace shardscape {

std::string_view network_level_name(NetworkLevel level) {
  switch (level) {
    case NetworkLevel::Scaleup: return "scaleup";
    case NetworkLevel::Leaf: return "leaf";
    case NetworkLevel::Spine: return "spine";
    case NetworkLevel::Pods: return "pods";
  }
  return {};
}

std::string_view network_level_label(NetworkLevel level, const Network& network) {
  switch (level) {
    case NetworkLevel::Scaleup:
      if (network.domain == network.node) return "node";
      return network.domain > network.node && network.links == ScaleupLinks::Switch ? "rack" : "scale-up";
    case NetworkLevel::Leaf: return network.rails > 1 ? "rail" : "leaf";
    case NetworkLevel::Spine: return "spine";
    case NetworkLevel::Pods: return "pods";
  }
  return {};
}

NetworkLevel network_level(const Network& network, const GroupSpan& span) {
  if (span.ranks <= 1 || span.domains() <= 1) return NetworkLevel::Scaleup;
  if (span.pods > 1) return NetworkLevel::Pods;
  const bool by_spine = span.crosses_rails && network.rails > 1 && network.domain < network.node;
  return span.leaf_switches > 1 || by_spine ? NetworkLevel::Spine : NetworkLevel::Leaf;
}

std::string span_text(const Network& network, const GroupSpan& span) {
  const auto counted = [](int64_t count, const char* one, const char* many) {
    return grouped(count) + " " + (count == 1 ? one : many);
  };
  std::string out = counted(span.ranks, "rank", "ranks") + " in " +
                    counted(span.domains(), "scale-up domain", "scale-up domains");
  if (span.domains() <= 1) return out;
  const int64_t most = span.most_per_domain > 0 ? span.most_per_domain : span.per_domain;
  out += ", " + grouped(span.per_domain) + (most == span.per_domain ? "" : " to " + grouped(most)) +
         " in each";
  if (span.leaf_switches > 1)
    out += "; " + grouped(span.leaf_switches) + " leaf switches" + (network.rails > 1 ? " per rail" : "");
  if (span.crosses_rails && network.rails > 1) out += "; ranks are on different rails";
  if (span.pods > 1) out += "; " + grouped(span.pods) + " pods";
  return out;
}

}  // namespace shardscape
