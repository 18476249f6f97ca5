// Reads one node of a JSON trace. json_trace.h lists the forms.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "chakra/raw_node.h"

namespace shardscape {

enum class JsonNode : uint8_t {
  Node,
  Metadata,  // an object without an id
  Bad
};

// pytorch: a node of PyTorch's ExecutionTraceObserver. texts: storage for the node's texts. problem: set if
// the node is bad; names the key and the accepted values.
JsonNode read_json_node(const nlohmann::json& j, bool pytorch, RawNode& node, std::deque<std::string>& texts,
                        std::string& problem);

}  // namespace shardscape
