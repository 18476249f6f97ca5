#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/shown_text.h"
#include "chakra.pb.h"
#include "trace/trace_query.h"

namespace shardscape {
namespace {

namespace pb = ChakraProtoMsg;
using Attributes = std::vector<std::pair<std::string, std::string>>;
constexpr size_t kLongestText = 500;

std::string cut(const std::string& text) { return shortened(text, kLongestText); }

std::string value_text(const pb::AttributeProto& attr) {
  if (attr.value_case() == pb::AttributeProto::VALUE_NOT_SET) return "no value";
  if (attr.has_string_val()) return attr.string_val();
  std::string text = attr.ShortDebugString();  // name: "comm_size" int64_val: 4096
  const std::string kind = attr.GetDescriptor()->FindFieldByNumber(attr.value_case())->name();
  const size_t at = text.rfind(kind);
  if (at == std::string::npos) return text;
  const size_t value = text.find_first_not_of(": ", at + kind.size());
  return value == std::string::npos ? std::string() : text.substr(value);
}

}  // namespace

Attributes node_attributes(std::string_view bytes, bool binary) {
  Attributes out;
  if (!binary) {
    nlohmann::json j;
    if (parse_json(bytes, j)) return out;
    for (const auto& [key, value] : j.items()) out.emplace_back(key, cut(value.dump()));
    return out;
  }
  pb::Node node;
  if (!node.ParseFromArray(bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT32_MAX))))
    return out;
  if (node.start_time_micros() != 0)
    out.emplace_back("start_time_micros", std::to_string(node.start_time_micros()));
  for (const auto& [name, info] :
       {std::pair("inputs", &node.inputs()), std::pair("outputs", &node.outputs())}) {
    if (!info->values().empty()) out.emplace_back(name + std::string(".values"), cut(info->values()));
    if (!info->shapes().empty()) out.emplace_back(name + std::string(".shapes"), cut(info->shapes()));
    if (!info->types().empty()) out.emplace_back(name + std::string(".types"), cut(info->types()));
  }
  for (const pb::AttributeProto& attr : node.attr()) out.emplace_back(attr.name(), cut(value_text(attr)));
  return out;
}

}  // namespace shardscape
