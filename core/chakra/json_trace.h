// Reads traces in JSON, object by object: the memory is that of the file and of one node. Known forms:
// - Chakra's jsonizer: a GlobalMetadata and Nodes, one object after another, in protobuf's JSON mapping.
// - Chakra's feeder: {"workload_graph": [node, ...]}, with one key per value.
// - STAGE (symbolic_tensor_graph): {"nodes": [node, ...]}, with types as text ("coll_comm_node").
// - PyTorch's ExecutionTraceObserver: {"schema": "1.0.2-chakra.0.0.4", "nodes": [node, ...]}. A node names
// its
//   parent; the collectives are the nodes "record_param_comms".
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "chakra/raw_node.h"

namespace shardscape {

class JsonTrace {
 public:
  enum class Step : uint8_t { Node, End, Bad };
  explicit JsonTrace(std::string_view file);
  // Whether a file is JSON: the first character other than white space is { or [.
  static bool is_json(std::string_view file);
  // The schema that the file states; "" if none. Known after the first node.
  const std::string& version() const { return version_; }
  const char* form() const;  // "JSON of Chakra's feeder"
  // The texts of the node are valid until the next call.
  Step next(RawNode& node);
  std::string_view node_text() const { return object_; }  // the JSON of the last node
  const std::string& problem() const { return problem_; }

 private:
  enum class Form : uint8_t { Unknown, Objects, Nodes, WorkloadGraph, PyTorch };
  bool next_object();
  bool open_list();
  bool read(RawNode& node, bool& is_node);
  bool bad(size_t at, const std::string& what);
  void skip_space();
  bool skip_value();
  bool read_text(std::string_view& text);  // the characters between quotes

  std::string_view file_, object_;
  size_t at_ = 0;
  bool in_list_ = false, opened_ = false, done_ = false;
  Form form_ = Form::Unknown;
  std::string version_, problem_;
  std::deque<std::string> texts_;  // of the node; a deque never moves its elements
};

}  // namespace shardscape
