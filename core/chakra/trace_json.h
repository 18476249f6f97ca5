// A trace file as JSON.
#pragma once

#include <string>
#include <string_view>

namespace shardscape {

// One line per message, the metadata first and then the nodes, in protobuf's JSON form of the schema: what
// Chakra's jsonizer prints, without line breaks inside a message. Fields without a value are left out. Throws
// std::invalid_argument if the bytes are no trace.
std::string trace_json(std::string_view trace);

}  // namespace shardscape
