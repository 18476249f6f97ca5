#include "design/knobs/knob_network.h"

#include "design/cluster.h"
#include "design/limits.h"

namespace shardscape {
namespace {

std::string no_ctas(const Design& d, int64_t degree) {
  if (degree == 1) return "the group has a single rank";
  if (network_of(d).channel_gbps > 0) return {};
  return "the catalogue has no rate of NCCL's channels for " + machine_name(d.cluster);
}

}  // namespace

std::string no_links(const Design& d) { return world_at_most(d, 2) == 1 ? "there is a single rank" : ""; }

std::string no_scaleup(const Design& d) {
  if (std::string none = no_links(d); !none.empty()) return none;
  return scaleup_domain(d) == 1 ? "each scale-up domain has a single rank" : "";
}

std::string no_network(const Design& d) {
  if (std::string none = no_links(d); !none.empty()) return none;
  return world_at_most(d, kMaxWorld) <= scaleup_domain(d) ? "all ranks are in one scale-up domain" : "";
}

std::string no_spine(const Design& d) {
  if (std::string none = no_network(d); !none.empty()) return none;
  const Network network = network_of(d);
  if (network.domain < network.node && network.rails > 1) return {};  // only the spine joins the rails
  if (network.leaf == 0) return "the number of ranks per leaf switch of this network is not known";
  return world_at_most(d, kMaxWorld) <= network.leaf ? "all ranks reach each other over one leaf switch" : "";
}

std::string no_pods(const Design& d) {
  if (std::string none = no_network(d); !none.empty()) return none;
  return network_of(d).oversubscription > 1 ? "" : "no level of the network is oversubscribed";
}

std::string no_tp_ctas(const Design& d) {
  if (trains(d) && d.parallel.tp_comm_overlap)
    return "overlapped collectives of tensor parallelism do not use NCCL";
  return no_ctas(d, d.parallel.tp);
}
std::string no_cp_ctas(const Design& d) { return no_ctas(d, d.parallel.cp); }
std::string no_dp_ctas(const Design& d) { return no_ctas(d, d.parallel.dp); }

}  // namespace shardscape
