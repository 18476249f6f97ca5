// Why a knob of the network has no effect on a design; empty: it has.
#pragma once

#include <string>

#include "design/design.h"

namespace shardscape {

std::string no_links(const Design& d);    // a single rank
std::string no_scaleup(const Design& d);  // no links inside a domain
std::string no_network(const Design& d);  // no links between domains
std::string no_spine(const Design& d);
std::string no_pods(const Design& d);
// Limits of CTAs.
std::string no_tp_ctas(const Design& d);
std::string no_cp_ctas(const Design& d);
std::string no_dp_ctas(const Design& d);

}  // namespace shardscape
