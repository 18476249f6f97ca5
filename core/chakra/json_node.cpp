#include "chakra/json_node.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_text.h"
#include "chakra/chakra.h"

namespace shardscape {
namespace {

using namespace chakra;
using nlohmann::json;

// Keys and names of types differ in case and underscores only: "NodeType", "node_type".
std::string plain(std::string_view key) {
  std::string out;
  for (const char c : key)
    if (c != '_' && c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// An integer, or a text with an integer: the JSON mapping of Protocol Buffers writes 64-bit integers as text.
std::optional<int64_t> integer(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_unsigned()) return static_cast<int64_t>(j.get<uint64_t>());
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number_float() && std::abs(j.get<double>()) < 9e18) return static_cast<int64_t>(j.get<double>());
  if (!j.is_string()) return std::nullopt;
  const auto& text = j.get_ref<const std::string&>();
  uint64_t bits = 0;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, value); error == std::errc() && at == end)
    return value;
  if (const auto [at, error] = std::from_chars(text.data(), end, bits); error == std::errc() && at == end)
    return static_cast<int64_t>(bits);
  return std::nullopt;
}

std::optional<int64_t> node_type(const json& j) {
  if (!j.is_string()) return integer(j);
  const std::string name = plain(j.get_ref<const std::string&>());
  if (name == "collcommnode") return static_cast<int64_t>(NodeType::Coll);  // STAGE
  for (int t = 0; t < kNodeTypeCount; ++t)
    if (plain(node_type_name(static_cast<NodeType>(t))) == name) return t;
  return integer(j);
}

std::optional<int64_t> collective(const json& j) {
  if (!j.is_string()) return integer(j);
  std::string name = plain(j.get_ref<const std::string&>());
  if (name.starts_with("nccl:")) name.erase(0, 5);
  for (const char* end : {"coalesced", "tensor", "base", "into", "single", "v"})
    if (name.ends_with(end)) name.resize(name.size() - std::string_view(end).size());
  for (int t = 0; t < kCollectiveTypeCount; ++t)
    if (plain(collective_type_name(static_cast<CollectiveType>(t))) == name) return t;
  return integer(j);
}

class NodeReader {
 public:
  NodeReader(RawNode& node, std::deque<std::string>& texts, std::string& problem)
      : node_(node), texts_(texts), problem_(problem) {}

  // Returns false with a problem.
  bool member(const std::string& key, const json& value) {
    const std::string name = plain(key);
    if (name == "id") return number(key, value, node_.id);
    if (name == "name") return text(key, value, node_.name);
    if (name == "type" || name == "nodetype") return type(key, value);
    if (name == "starttimemicros") return number(key, value, node_.start);
    if (name == "durationmicros" || name == "runtime") return number(key, value, node_.duration);
    if (name == "ctrldeps") return ids(key, value, node_.ctrl_deps);
    if (name == "datadeps" || name == "parent") return ids(key, value, node_.data_deps);
    if (name == "attr" || name == "attrs") return !value.is_array() || attributes(value);
    attribute(key, value, 0);
    return true;
  }

 private:
  bool wrong(const std::string& key, const char* accepted) {
    problem_ = "the key \"" + key + "\" must be " + accepted;
    return false;
  }
  std::string_view own(std::string text) { return texts_.emplace_back(std::move(text)); }

  bool number(const std::string& key, const json& value, uint64_t& out) {
    const auto read = integer(value);
    if (!read) return wrong(key, "an integer");
    out = static_cast<uint64_t>(*read);
    return true;
  }
  bool text(const std::string& key, const json& value, std::string_view& out) {
    if (!value.is_string()) return wrong(key, "a text");
    out = own(value.get<std::string>());
    return true;
  }
  bool type(const std::string& key, const json& value) {
    const auto read = node_type(value);
    if (!read) return wrong(key, "a node type, such as 4 or \"COMP_NODE\"");
    node_.type = *read;
    return true;
  }
  bool ids(const std::string& key, const json& value, std::vector<uint64_t>& out) {
    const auto add = [&](const json& id) {
      const auto read = integer(id);
      if (read) out.push_back(static_cast<uint64_t>(*read));
      return read.has_value();
    };
    const bool read = value.is_array() ? std::all_of(value.begin(), value.end(), add) : add(value);
    return read || wrong(key, "an id or a list of ids");
  }

  // [{"name": "comm_size", "int64Val": "4096"}, ...], or with "type" and "value" in PyTorch's traces.
  bool attributes(const json& list) {
    for (const json& entry : list) {
      if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string())
        return wrong("attr", "a list of objects with a name");
      const auto name = entry["name"].get<std::string>();
      for (const auto& [key, value] : entry.items()) {
        const std::string kind = plain(key);
        if (kind == "value" || kind.ends_with("val") || kind.ends_with("list"))
          attribute(name, value, kind_of(kind));
      }
      if (AttrValue* value = find_attr(name, node_)) value->present = true;
    }
    return true;
  }

  static uint32_t kind_of(const std::string& key) {
    for (uint32_t field = attr_field::kDouble; field <= attr_field::kBytesList; ++field)
      if (plain(attr_kind_name(field)) == key) return field;
    return 0;
  }

  // kind: field number of the value; 0: from the value.
  void attribute(const std::string& name, const json& value, uint32_t kind) {
    AttrValue* to = find_attr(name == "comm_group" ? "pg_name" : name, node_);
    if (!to || to->present) return;
    // PyTorch and STAGE write inputs and outputs in other forms, which simulators do not read.
    const bool tensors = to == &node_.attr(Attr::Inputs) || to == &node_.attr(Attr::Outputs);
    if (tensors && kind != attr_field::kStringList) return;
    to->present = true;
    if (value.is_object() && value.contains("values")) return list(to, value["values"]);
    if (value.is_array()) return list(to, value);
    const auto read = to == &node_.attr(Attr::CommType) ? collective(value) : integer(value);
    if (to == &node_.attr(Attr::PgName) || !read) {
      to->kind = kind != 0 ? kind : attr_field::kString;
      to->text = own(value.is_string() ? value.get<std::string>() : value.dump());
    } else {
      to->kind = kind != 0                 ? kind
                 : value.is_boolean()      ? attr_field::kBool
                 : value.is_number_float() ? attr_field::kDouble
                                           : attr_field::kInt64;
      to->integer = *read;
    }
  }

  void list(AttrValue* to, const json& values) {
    to->kind = attr_field::kStringList;
    if (to == &node_.attr(Attr::InvolvedDim)) {
      to->kind = attr_field::kBoolList;
      to->any_true = std::any_of(values.begin(), values.end(), [](const json& v) { return v == json(true); });
      return;
    }
    auto& out = to == &node_.attr(Attr::Inputs) ? node_.inputs : node_.outputs;
    if (to != &node_.attr(Attr::Inputs) && to != &node_.attr(Attr::Outputs)) return;
    for (const json& v : values) out.push_back(own(v.is_string() ? v.get<std::string>() : v.dump()));
  }

  RawNode& node_;
  std::deque<std::string>& texts_;
  std::string& problem_;
};

// Bytes of the tensors of a value: a tensor is [id, storage, offset, elements, bytes of an element, device].
double tensor_bytes(const json& value) {
  constexpr size_t kElements = 3, kElementBytes = 4, kDevice = 5;
  if (!value.is_array()) return 0;
  if (value.size() == kDevice + 1 && value[kDevice].is_string() && value[kElements].is_number() &&
      value[kElementBytes].is_number())
    return value[kElements].get<double>() * value[kElementBytes].get<double>();
  double sum = 0;
  for (const json& v : value) sum += tensor_bytes(v);
  return sum;
}

void set(RawNode& node, Attr attr, int64_t value) {
  AttrValue& to = node.attr(attr);
  to.present = true;
  to.kind = attr_field::kInt64;
  to.integer = value;
}

const json* values_of(const json& j) {
  const auto inputs = j.find("inputs");
  if (inputs == j.end()) return nullptr;
  if (inputs->is_array()) return &*inputs;
  return inputs->is_object() && inputs->contains("values") ? &(*inputs)["values"] : nullptr;
}

// PyTorch's nodes have no type. record_param_comms states the call of a collective.
void complete_pytorch(const json& j, RawNode& node) {
  const bool collective_call = node.name == "record_param_comms";
  const bool frame = node.name.starts_with("[pytorch|") || node.name.starts_with("##");
  node.type = static_cast<int64_t>(collective_call ? NodeType::Coll
                                   : frame         ? NodeType::Metadata
                                                   : NodeType::Comp);
  set(node, Attr::IsCpuOp, 1);
  std::erase(node.ctrl_deps, node.id);  // the root is its own parent
  std::erase(node.data_deps, node.id);
  if (!collective_call) return;
  const json* values = values_of(j);
  if (!values || !values->is_array() || values->empty()) return;
  set(node, Attr::CommSize, static_cast<int64_t>(std::fmin(std::fmax(tensor_bytes((*values)[0]), 0), 9e18)));
  for (const json& value : *values)
    if (value.is_string())
      if (const auto type = collective(value)) set(node, Attr::CommType, *type);
}

}  // namespace

JsonNode read_json_node(std::string_view object, bool pytorch, RawNode& node, std::deque<std::string>& texts,
                        std::string& version, std::string& problem) {
  json j;
  if (const auto mistake = parse_json(object, j)) {
    problem = "a node is not JSON: " + mistake->what;
    return JsonNode::Bad;
  }
  node.clear();
  bool has_id = false, is_node = false;
  NodeReader reader(node, texts, problem);
  for (const auto& [key, value] : j.items()) {
    const std::string name = plain(key);
    has_id |= name == "id";
    is_node |= name == "name" || name == "type" || name == "nodetype";
    if (!reader.member(key, value)) return JsonNode::Bad;
  }
  // protobuf's JSON mapping leaves out an id of 0.
  if (!has_id && !is_node) {
    if (const auto it = j.find("version"); it != j.end() && it->is_string()) version = *it;
    return JsonNode::Metadata;
  }
  if (pytorch) complete_pytorch(j, node);
  return JsonNode::Node;
}

}  // namespace shardscape
