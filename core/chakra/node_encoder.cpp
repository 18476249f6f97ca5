#include "chakra/node_encoder.h"

#include "chakra/lower.h"
#include "chakra/node_tensors.h"
#include "chakra/wire.h"

namespace shardscape {
namespace {

constexpr int64_t kLargestFile = int64_t{1} << 31;

// An attribute with an integer value, which is encoded already. Returns the offset of the value in `out`.
size_t put_encoded(std::string& out, std::string_view name, uint32_t field, std::string_view varint) {
  wire::Writer w(out);
  w.tag(chakra::node_field::kAttr, wire::Type::Bytes);
  w.varint(2 + name.size() + wire::varint_size(uint64_t{field} << 3) + varint.size());
  w.bytes_field(chakra::attr_field::kName, name);
  w.tag(field, wire::Type::Varint);
  out += varint;
  return out.size() - varint.size();
}

// Zero is written too: the value is a oneof, in which an absent field is not zero.
void put_integer(std::string& out, std::string_view name, uint32_t field, uint64_t value) {
  char varint[10];
  put_encoded(out, name, field, {varint, wire::put_varint(varint, value)});
}

// An attribute with a bytes value. Returns the offset of the value in `out`.
size_t put_bytes(std::string& out, std::string_view name, uint32_t field, std::string_view value) {
  wire::Writer w(out);
  w.tag(chakra::node_field::kAttr, wire::Type::Bytes);
  w.varint(2 + name.size() + wire::varint_size(uint64_t{field} << 3) + wire::varint_size(value.size()) +
           value.size());
  w.bytes_field(chakra::attr_field::kName, name);
  w.bytes_field(field, value);
  return out.size() - value.size();
}

size_t deps_size(std::span<const uint32_t> deps) {
  size_t bytes = 0;
  for (const uint32_t d : deps) bytes += wire::varint_size(d);
  return bytes;
}

size_t field_size(size_t payload) { return payload == 0 ? 0 : 1 + wire::varint_size(payload) + payload; }

// proto3 packs repeated integers.
void put_deps(std::string& out, uint32_t field, std::span<const uint32_t> deps) {
  if (deps.empty()) return;
  wire::Writer w(out);
  w.tag(field, wire::Type::Bytes);
  w.varint(deps_size(deps));
  for (const uint32_t d : deps) w.varint(d);
}

}  // namespace

NodeEncoder::NodeEncoder(const RankProgram& program, const SlotTexts& texts) : program_(program) {
  codes_.reserve(program.ops.size());
  for (const TraceOp& op : program.ops) codes_.push_back(encode_op(op, texts));
}

NodeEncoder::OpCode NodeEncoder::encode_op(const TraceOp& op, const SlotTexts& texts) const {
  using namespace chakra;
  OpCode code;
  wire::Writer(code.head).varint_field(node_field::kType, static_cast<uint64_t>(op.type));
  std::string& out = code.attrs;
  const int roles = program_.roles;
  put_integer(out, "is_cpu_op", attr_field::kBool, 0);
  const auto patched = [&](size_t slot, size_t offset) {
    code.places.push_back({static_cast<uint32_t>(slot), static_cast<uint32_t>(offset)});
  };
  const auto put_rank = [&](std::string_view name, size_t slot) {
    patched(slot, put_encoded(out, name, attr_field::kInt32, texts[slot].view()));
  };
  switch (op.type) {
    case NodeType::Coll: {
      put_integer(out, "comm_type", attr_field::kInt64, static_cast<uint64_t>(op.collective.value()));
      put_integer(out, "comm_size", attr_field::kInt64, static_cast<uint64_t>(op.comm_size));
      const auto slot = static_cast<size_t>(op.role);
      patched(slot, put_bytes(out, "pg_name", attr_field::kString, texts[slot].view()));
      break;
    }
    case NodeType::Send:
    case NodeType::Recv: {
      const size_t own = own_slot(roles), peer = peer_slot(roles, op.peer);
      put_rank("comm_src", op.type == NodeType::Send ? own : peer);
      put_rank("comm_dst", op.type == NodeType::Send ? peer : own);
      put_integer(out, "comm_size", attr_field::kInt64, static_cast<uint64_t>(op.comm_size));
      code.message = true;
      break;
    }
    case NodeType::MemLoad:
    case NodeType::MemStore:
      put_integer(out, "tensor_size", attr_field::kUint64, static_cast<uint64_t>(op.tensor_size));
      break;
    case NodeType::Comp:
    case NodeType::Invalid:
    case NodeType::Metadata:
      put_integer(out, "num_ops", attr_field::kInt64, static_cast<uint64_t>(op.num_ops));
      put_integer(out, "tensor_size", attr_field::kUint64, static_cast<uint64_t>(op.tensor_size));
  }
  return code;
}

void NodeEncoder::put_header(std::string& out) const {
  std::string metadata;
  wire::Writer(metadata).bytes_field(chakra::metadata_field::kVersion, "1.0");
  wire::Writer(out).varint(metadata.size());
  out += metadata;
}

void NodeEncoder::node_name(const TraceNode& node, const TraceOp& op) {
  name_.clear();
  append_scope(name_, NameScope::Microbatch, program_, node, op.place);
  name_ += op.name;
}

void NodeEncoder::put_tensors(const NodeTensors& tensors, std::string& out) {
  std::string list;
  const auto put = [&](std::string_view attr, const std::vector<NamedTensor>& named) {
    list.clear();
    wire::Writer w(list);
    for (const NamedTensor& t : named) {
      w.bytes_field(1, t.name);
      w.bytes_field(1, std::to_string(t.bytes));
    }
    put_bytes(out, attr, chakra::attr_field::kStringList, list);
  };
  put("inputs", tensors.inputs);
  put("outputs", tensors.outputs);
}

size_t NodeEncoder::duration_size(size_t index) const {
  if (program_.durations.empty() || program_.durations[index] == 0) return 0;
  return 1 + wire::varint_size(program_.durations[index]);
}

size_t NodeEncoder::body_size(size_t index) {
  const TraceNode& node = program_.nodes[index];
  const TraceOp& op = program_.ops[node.op];
  const OpCode& code = codes_[node.op];
  node_name(node, op);
  tensors_.clear();
  if (program_.tensors) put_tensors(node_tensors(program_, index), tensors_);
  if (code.message)
    put_integer(tensors_, "comm_tag", chakra::attr_field::kInt32,
                static_cast<uint64_t>(message_tag(node, program_.chunks, op.backward)));
  return 1 + wire::varint_size(index + 1) + field_size(name_.size()) + code.head.size() +
         duration_size(index) + field_size(deps_size(program_.ctrl_deps(node))) +
         field_size(deps_size(program_.data_deps(node))) + code.attrs.size() + tensors_.size();
}

void NodeEncoder::put_node(size_t index, std::string& out) {
  const TraceNode& node = program_.nodes[index];
  const OpCode& code = codes_[node.op];
  wire::Writer w(out);
  w.varint(body_size(index));
  w.varint_field(chakra::node_field::kId, index + 1);
  w.bytes_field(chakra::node_field::kName, name_);
  out += code.head;
  put_deps(out, chakra::node_field::kCtrlDeps, program_.ctrl_deps(node));
  put_deps(out, chakra::node_field::kDataDeps, program_.data_deps(node));
  if (duration_size(index) > 0) w.varint_field(chakra::node_field::kDuration, program_.durations[index]);
  places_.clear();
  for (const SlotPlace& place : code.places)
    places_.push_back({place.slot, place.offset + static_cast<uint32_t>(out.size())});
  out += code.attrs;
  out += tensors_;
}

int64_t NodeEncoder::file_size() {
  std::string header;
  put_header(header);
  auto total = static_cast<int64_t>(header.size());
  for (size_t n = 0; n < program_.nodes.size(); ++n) {
    const size_t body = body_size(n);
    total += static_cast<int64_t>(wire::varint_size(body) + body);
  }
  if (total > kLargestFile)
    throw LoweringError("the trace of one rank of stage " + std::to_string(program_.stage) + " would take " +
                        std::to_string(total >> 20) + " MiB, more than the 2,048 MiB that one file may hold");
  return total;
}

}  // namespace shardscape
