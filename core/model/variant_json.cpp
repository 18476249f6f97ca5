#include "model/variant_json.h"

#include "model/model_sizes.h"

namespace shardscape {

using json = nlohmann::ordered_json;

namespace {
constexpr const char* kWeights = "weights";
}

std::string variants_text(const JsonFile& file, const std::string& key, const json& value) {
  const auto wrong = [&](const std::string& what) {
    file.fail(
        ProblemCode::JsonMember, key, "\"" + key + "\": " + what,
        "an object such as {\"full\": {\"kind\": \"global\", \"head_dim\": 512, \"weights\": {\"experts\": "
        "\"nvfp4\"}}}");
  };
  if (!value.is_object()) wrong(value.dump() + " is not an object");
  std::string out;
  for (const auto& [name, variant] : value.items()) {
    if (!variant.is_object() || !variant.contains("kind") || !variant["kind"].is_string())
      wrong("\"" + name + "\" has no kind");
    out += (out.empty() ? "" : "; ") + name + ": " + variant["kind"].get<std::string>();
    for (const auto& [id, size] : variant.items()) {
      if (id == "kind") continue;
      if (id == kWeights) {
        if (!size.is_object()) wrong("\"" + id + "\" of \"" + name + "\" is not an object");
        for (const auto& [role, format] : size.items()) {
          if (!format.is_string())
            wrong("the format of \"" + role + "\" of \"" + name + "\" is not a string");
          out += " " + role + "_weights=" + format.get<std::string>();
        }
        continue;
      }
      if (!size.is_number_integer()) wrong("\"" + id + "\" of \"" + name + "\" is not a whole number");
      out += " " + id + "=" + size.dump();
    }
  }
  return out;
}

json variants_json(const std::vector<LayerVariant>& variants) {
  json out = json::object();
  for (const LayerVariant& variant : variants) {
    json& entry = out[variant.name] = {{"kind", variant.kind}};
    for (const auto& [row, value] : variant.sizes) entry[kModelSizes[static_cast<size_t>(row)].id] = value;
    for (const auto& [name, format] : named_formats(variant.formats))
      entry[kWeights][std::string(name)] = std::string(weight_format_name(format));
  }
  return out;
}

}  // namespace shardscape
