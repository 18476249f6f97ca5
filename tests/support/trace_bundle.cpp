#include "support/trace_bundle.h"

#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "chakra.pb.h"

namespace shardscape::test {

using namespace chakra;
namespace pb = ChakraProtoMsg;

TraceAttr& TraceNodeSpec::attr(const std::string& wanted) {
  for (TraceAttr& a : attrs)
    if (a.name == wanted) return a;
  return attrs.emplace_back(TraceAttr{.name = wanted});
}

void TraceNodeSpec::drop(const std::string& unwanted) {
  std::erase_if(attrs, [&](const TraceAttr& a) { return a.name == unwanted; });
}

TraceNodeSpec& TraceFileSpec::node(uint64_t id) {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const TraceNodeSpec& n) { return n.id == id; });
  if (it == nodes.end()) throw std::out_of_range("no node " + std::to_string(id));
  return *it;
}

namespace {

// Sets the value with the attribute's field number.
void set_value(const TraceAttr& a, pb::AttributeProto& attr) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& set = *attr.GetReflection();
  const FieldDescriptor* field = attr.GetDescriptor()->FindFieldByNumber(static_cast<int>(a.kind));
  if (!field) throw std::out_of_range("no field " + std::to_string(a.kind));
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return set.SetInt32(&attr, field, static_cast<int32_t>(a.integer));
    case FieldDescriptor::CPPTYPE_INT64: return set.SetInt64(&attr, field, a.integer);
    case FieldDescriptor::CPPTYPE_UINT32:
      return set.SetUInt32(&attr, field, static_cast<uint32_t>(a.integer));
    case FieldDescriptor::CPPTYPE_UINT64:
      return set.SetUInt64(&attr, field, static_cast<uint64_t>(a.integer));
    case FieldDescriptor::CPPTYPE_BOOL: return set.SetBool(&attr, field, a.integer != 0);
    case FieldDescriptor::CPPTYPE_FLOAT: return set.SetFloat(&attr, field, static_cast<float>(a.integer));
    case FieldDescriptor::CPPTYPE_DOUBLE: return set.SetDouble(&attr, field, static_cast<double>(a.integer));
    case FieldDescriptor::CPPTYPE_STRING: return set.SetString(&attr, field, a.bytes);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (!set.MutableMessage(&attr, field)->ParseFromString(a.bytes)) throw std::invalid_argument(a.name);
      return;
    case FieldDescriptor::CPPTYPE_ENUM: throw std::logic_error("no attribute is an enum");
  }
}

pb::Node message(const TraceNodeSpec& spec) {
  pb::Node node;
  node.set_id(spec.id);
  node.set_name(spec.name);
  node.set_type(static_cast<pb::NodeType>(spec.type));
  node.mutable_data_deps()->Assign(spec.deps.begin(), spec.deps.end());
  for (const TraceAttr& a : spec.attrs) {
    pb::AttributeProto& attr = *node.add_attr();
    attr.set_name(a.name);
    set_value(a, attr);
  }
  return node;
}

}  // namespace

std::string trace_bytes(const TraceFileSpec& file) {
  if (!file.raw.empty()) return file.raw;
  std::ostringstream out;
  const auto put = [&](const google::protobuf::MessageLite& m) {
    google::protobuf::util::SerializeDelimitedToOstream(m, &out);
  };
  if (file.metadata) {
    pb::GlobalMetadata metadata;
    metadata.set_version("1.0");
    put(metadata);
  }
  for (const TraceNodeSpec& spec : file.nodes) put(message(spec));
  return out.str();
}

void BundleSpec::save(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& file, const std::string& bytes) {
    std::ofstream(folder / file, std::ios::binary) << bytes;
  };
  for (const auto& [rank, file] : ranks) write(name + "." + std::to_string(rank) + ".et", trace_bytes(file));
  for (const auto& [file, bytes] : files) write(file, bytes);
  for (const auto& [file, bytes] : more) write(file, bytes);
}

namespace {

TraceNodeSpec node(uint64_t id, NodeType type, std::vector<uint64_t> deps) {
  return {.id = id,
          .name = "n" + std::to_string(id),
          .type = static_cast<int>(type),
          .deps = std::move(deps),
          .attrs = {{.name = "is_cpu_op", .kind = attr_field::kBool}}};
}

}  // namespace

TraceNodeSpec compute(uint64_t id, std::vector<uint64_t> deps, int64_t ops, int64_t bytes) {
  TraceNodeSpec n = node(id, NodeType::Comp, std::move(deps));
  n.attrs.push_back({.name = "num_ops", .kind = attr_field::kInt64, .integer = ops});
  n.attrs.push_back({.name = "tensor_size", .kind = attr_field::kUint64, .integer = bytes});
  return n;
}

TraceNodeSpec collective(uint64_t id, std::vector<uint64_t> deps, CollectiveType type, int64_t bytes,
                         const std::string& group) {
  TraceNodeSpec n = node(id, NodeType::Coll, std::move(deps));
  n.attrs.push_back({.name = "comm_type", .kind = attr_field::kInt64, .integer = static_cast<int64_t>(type)});
  n.attrs.push_back({.name = "comm_size", .kind = attr_field::kInt64, .integer = bytes});
  if (!group.empty()) n.attrs.push_back({.name = "pg_name", .kind = attr_field::kString, .bytes = group});
  return n;
}

TraceNodeSpec transfer(uint64_t id, std::vector<uint64_t> deps, bool send, int64_t source,
                       int64_t destination, int64_t bytes, int64_t tag) {
  TraceNodeSpec n = node(id, send ? NodeType::Send : NodeType::Recv, std::move(deps));
  n.attrs.push_back({.name = "comm_src", .kind = attr_field::kInt32, .integer = source});
  n.attrs.push_back({.name = "comm_dst", .kind = attr_field::kInt32, .integer = destination});
  n.attrs.push_back({.name = "comm_size", .kind = attr_field::kInt64, .integer = bytes});
  n.attrs.push_back({.name = "comm_tag", .kind = attr_field::kInt32, .integer = tag});
  return n;
}

std::string encode_string_list(const std::vector<std::string>& strings) {
  pb::StringList list;
  list.mutable_values()->Assign(strings.begin(), strings.end());
  return list.SerializeAsString();
}

std::string encode_bool_list(const std::vector<bool>& values) {
  pb::BoolList list;
  list.mutable_values()->Assign(values.begin(), values.end());
  return list.SerializeAsString();
}

BundleSpec good_bundle() {
  BundleSpec bundle;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const bool first = rank < 2;
    const std::string pair = first ? "1" : "2";
    TraceFileSpec& file = bundle.ranks[rank];
    file.nodes.push_back(compute(1, {}));
    file.nodes.push_back(collective(2, {1}, CollectiveType::AllReduce, 1 << 20, pair));
    file.nodes.push_back(collective(3, {2}, CollectiveType::AllGather, 1 << 18, pair));
    file.nodes.push_back(collective(4, {3}, CollectiveType::ReduceScatter, 1 << 19, pair));
    file.nodes.push_back(collective(5, {4}, CollectiveType::AllToAll, 1 << 19, pair));
    file.nodes.push_back(
        transfer(6, {5}, first, first ? rank : rank - 2, first ? rank + 2 : rank, 1 << 16, 7));
    file.nodes.push_back(compute(7, {6}));
    file.nodes.push_back(
        transfer(8, {6, 7}, !first, first ? rank + 2 : rank, first ? rank : rank - 2, 1 << 16, 8));
    file.nodes.push_back(collective(9, {8}, CollectiveType::AllReduce, 4096, rank % 2 ? "4" : "3"));
    file.nodes.push_back(collective(10, {9}, CollectiveType::AllReduce, 64, ""));
    file.nodes.push_back(compute(11, {10}));
  }
  bundle.files["comm_groups.json"] = R"({"1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]})";
  bundle.files["system.json"] = R"({"scheduling-policy": "LIFO", "collective-optimization": "baseline",
  "preferred-dataset-splits": 1, "active-chunks-per-dimension": 1, "endpoint-delay": 0, "peak-perf": 989,
  "local-mem-bw": 3350, "roofline-enabled": 1, "all-reduce-implementation": ["ring"],
  "all-gather-implementation": ["ring"], "reduce-scatter-implementation": ["ring"],
  "all-to-all-implementation": ["ring"]})";
  bundle.files["network.yml"] =
      "topology: [ Switch ]\nnpus_count: [ 4 ]  # ranks\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";
  bundle.files["memory.json"] = R"({"memory-type": "NO_MEMORY_EXPANSION"})";
  return bundle;
}

}  // namespace shardscape::test
