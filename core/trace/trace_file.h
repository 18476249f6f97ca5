// Finds and loads trace files: binary or JSON, plain or compressed with gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "base/problem.h"
#include "chakra/raw_node.h"
#include "chakra/trace_reader.h"

namespace shardscape {

// The traces of a path, by rank. A file is one trace: of the rank in its name (NAME.<rank>.et), otherwise of
// rank 0. A folder has files NAME.<rank>.et, or NAME.<rank>.json if it has no such files; both may end in
// .gz. Problems: no trace, or traces with several names.
Result<std::map<int64_t, std::filesystem::path>> find_traces(const std::filesystem::path& path);

// The bytes of a regular file, decompressed. Stopped: as read_text_or_gzip.
Result<std::string> load_trace(const std::filesystem::path& file, const std::stop_token& stop = {});

struct TraceHeader {
  std::string form;       // "Chakra 0.0.4 or 1.0"
  std::string version;    // as the file states it; "" if it does not
  bool simulated = true;  // a form that simulators read
  bool binary = true;     // otherwise JSON
};
// The name of a node, from its message or JSON object.
std::string node_name(std::string_view bytes, bool binary);
// Visits every node in file order. `bytes`: the node's message or JSON object. Returns a Problem
// (TraceFormat) with the file and the byte or line where it is damaged, or where it has no node. A stopped
// visit has seen a part of the nodes.
using NodeVisit = std::function<void(const RawNode& node, std::string_view bytes)>;
Result<TraceHeader> visit_nodes(const std::filesystem::path& file, std::string_view content,
                                const NodeVisit& visit, const std::stop_token& stop = {});

}  // namespace shardscape
