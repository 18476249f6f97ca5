// Decodes nodes of a binary trace. Three schemas are known, all of MLCommons Chakra (et_def.proto):
// - Chakra: 0.0.4 and 1.0. Attributes have typed values (field 10).
// - Attributes: 0.0.2 and 0.0.3, 2023. Attributes name their type (field 11); parents instead of
// dependencies.
// - Fields: 0.0.1. Every value of a node is a field of the node; a file starts with its first node.
#pragma once

#include <string_view>

#include "chakra/raw_node.h"

namespace shardscape {

enum class NodeSchema : uint8_t { Chakra, Attributes, Fields };

// The schema of a file from its first messages, whether or not the first message is a GlobalMetadata.
NodeSchema detect_schema(std::string_view file);

// Whether the message can be a GlobalMetadata. version: its version, "" without one.
bool decode_metadata(std::string_view message, NodeSchema schema, std::string& version);

// Returns false if the message is no Node of the schema: a field has another type, or a text is not UTF-8.
// Types of nodes and collectives get the numbers of Chakra 1.0. The texts of the node are parts of the
// message. Unknown fields and attributes are skipped.
bool decode_node(std::string_view message, NodeSchema schema, RawNode& node);

}  // namespace shardscape
