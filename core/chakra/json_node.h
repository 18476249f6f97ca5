// Reads one node of a JSON trace. json_trace.h lists the forms.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "chakra/raw_node.h"

namespace shardscape {

enum class JsonNode : uint8_t {
  Node,
  Metadata,  // an object without an id
  Bad
};

// object: the text of the node. pytorch: a node of PyTorch's ExecutionTraceObserver. texts: storage for the
// node's texts. version: set by an object of metadata that has one. problem: set if the node is bad; names
// the key and the accepted values.
JsonNode read_json_node(std::string_view object, bool pytorch, RawNode& node, std::deque<std::string>& texts,
                        std::string& version, std::string& problem);

}  // namespace shardscape
