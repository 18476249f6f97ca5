#include "chakra/raw_node.h"

#include "chakra/chakra.h"

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kAttrCount> kNames{
    "is_cpu_op", "num_ops",       "tensor_size", "comm_type",    "comm_size", "comm_src", "comm_dst",
    "comm_tag",  "comm_priority", "pg_name",     "involved_dim", "inputs",    "outputs"};

}  // namespace

std::string_view attr_name(Attr attr) { return kNames[static_cast<size_t>(attr)]; }

AttrValue* find_attr(std::string_view name, RawNode& node) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return &node.attrs[i];
  return nullptr;
}

bool AttrValue::is_integer() const {
  using namespace chakra;
  return kind >= attr_field::kInt32 && kind <= attr_field::kBool && kind % 2 == 1;
}

void RawNode::clear() {
  id = start = duration = 0;
  type = 0;
  name = {};
  ctrl_deps.clear();
  data_deps.clear();
  attrs.fill({});
  inputs.clear();
  outputs.clear();
}

}  // namespace shardscape
