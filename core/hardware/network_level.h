// The levels of a network, from a scale-up domain to the links between pods.
#pragma once

#include <string>
#include <string_view>

#include "hardware/network.h"

namespace shardscape {

enum class NetworkLevel : uint8_t {
  Scaleup,  // the links of one scale-up domain
  Leaf,     // one leaf switch, or one leaf switch per rail
  Spine,    // several leaf switches
  Pods      // above the oversubscribed level
};
std::string_view network_level_name(NetworkLevel level);  // in files: "scaleup"
// For people: "node", "rack", "scale-up", "rail", "leaf", "spine", "pods".
std::string_view network_level_label(NetworkLevel level, const Network& network);
// The highest level that the traffic of a group passes. Traffic to another rail stays below the leaf switches
// if scale-up links reach all NICs of a node (collective_time.h, rails).
NetworkLevel network_level(const Network& network, const GroupSpan& span);
// "64 ranks in 8 domains, 8 in each; 2 leaf switches per rail; 4 pods".
std::string span_text(const Network& network, const GroupSpan& span);

}  // namespace shardscape
