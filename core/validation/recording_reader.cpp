// Reads the JSON of a recording in two forms: as recorded, and condensed (collectives as kinds and an order,
// storages as shapes).
#include <algorithm>

#include "base/data_dir.h"
#include "base/shown_text.h"
#include "base/wide.h"
#include "model/json_reader.h"
#include "validation/recording.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

class Reader {
 public:
  Reader(std::string text, const std::string& name) : file_(std::move(text), name) {}

  Recording read() {
    const Json& root = file_.root();
    r_.name = file_.text_or(root, "case", file_.name());
    r_.source = file_.text(root, "source");
    fields("config", file_.object(root, "config"));
    if (root.contains("parallel")) fields("parallel", file_.object(root, "parallel"));
    if (root.contains("params_per_rank")) parameters(file_.object(root, "params_per_rank"));
    if (root.contains("full_model_params"))
      r_.full_model_parameters = whole(file_.object(root, "full_model_params"), "total");
    totals(root);
    if (root.contains("per_layer")) parts(file_.object(root, "per_layer"));
    if (root.contains("saved_activation_bytes")) storages(file_.object(root, "saved_activation_bytes"));
    collectives(root);
    r_.schedule = file_.text_or(root, "schedule", "");
    return std::move(r_);
  }

 private:
  void fields(const std::string& prefix, const Json& object) {
    for (const auto& [key, value] : object.items()) {
      const std::string name = prefix + "." + key;
      check_name(name);
      if (value.is_object()) {
        fields(name, value);
        continue;
      }
      RecordedField field{name, {}};
      if (value.is_boolean())
        field.value = value.get<bool>();
      else if (value.is_number_integer())
        field.value = value.get<int64_t>();
      else if (value.is_number())
        field.value = value.get<double>();
      else if (value.is_string())
        field.value = value.get<std::string>();
      else if (!value.is_null())
        field.value = value.dump();
      r_.fields.push_back(std::move(field));
    }
  }

  std::optional<int64_t> whole(const Json& in, const std::string& key) const {
    if (!in.contains(key)) return std::nullopt;
    return file_.integer(in, key);
  }

  std::vector<int64_t> shape(const Json& list, const std::string& near) const {
    constexpr int64_t kMost = int64_t{1} << 60;
    std::vector<int64_t> out;
    Wide elements = 1;
    if (!list.is_array())
      file_.fail(ProblemCode::DataValue, near, "the shape of \"" + near + "\" is not a list",
                 "a list of whole numbers");
    for (const Json& size : list) {
      if (!size.is_number_integer())
        file_.fail(ProblemCode::DataValue, near, "the shape of \"" + near + "\" holds " + size.dump(),
                   "whole numbers");
      out.push_back(size.get<int64_t>());
      elements *= out.back();
      if (out.back() < 0 || elements > kMost)
        file_.fail(ProblemCode::DataValue, near, "the shape of \"" + near + "\" is out of range",
                   "sizes whose product stays below 2^60");
    }
    return out;
  }

  void parameters(const Json& in) {
    r_.parameters = whole(in, "total");
    if (!r_.parameters) r_.parameters = whole(in, "total_unsharded");
    if (!in.contains("tensors")) return;
    for (const auto& [name, value] : file_.object(in, "tensors").items()) {
      if (!value.is_array() && !value.is_object())
        file_.fail(ProblemCode::DataValue, name, "\"" + name + "\" has no shape",
                   "a list, or an object with one");
      r_.tensors.push_back(
          {name, value.is_array() ? shape(value, name) : shape(file_.array(value, "shape"), name)});
    }
  }

  void totals(const Json& root) {
    if (!root.contains("totals")) return;
    const Json& in = file_.object(root, "totals");
    r_.forward_flops = whole(in, "forward_matmul_flops");
    r_.backward_flops = whole(in, "backward_matmul_flops");
    r_.recompute_flops = whole(in, "recompute_matmul_flops");
  }

  RecordedParts part_numbers(const Json& in, const std::string& key) const {
    RecordedParts out;
    if (!in.contains(key)) return out;
    const Json& object = file_.object(in, key);
    constexpr size_t kMostParts = 1000;  // a member is found by a search through all
    if (object.size() > kMostParts)
      JsonFile::fail(ProblemCode::DataValue, file_.place(object),
                     "the object has " + std::to_string(object.size()) + " members",
                     "at most " + std::to_string(kMostParts) + " parts of a layer");
    for (const auto& item : object.items()) out[item.key()] = file_.integer(object, item.key());
    return out;
  }

  void parts(const Json& in) {
    r_.part_parameters = part_numbers(in, "params");
    r_.part_forward_flops = part_numbers(in, "forward_flops");
    r_.part_backward_flops = part_numbers(in, "backward_flops");
    r_.part_recompute_flops = part_numbers(in, "recompute_flops");
    r_.part_saved = part_numbers(in, "saved_activation_bytes");
  }

  void storages(const Json& in) {
    if (!in.contains("tensors")) return;
    for (const Json& row : file_.array(in, "tensors"))
      r_.saved.push_back({file_.text(row, "scope"), shape(file_.array(row, "shape"), "shape"),
                          file_.text(row, "dtype"), file_.integer(row, "storage_bytes")});
  }

  // Many fields and collectives repeat a name.
  const std::string& check_name(const std::string& name) const {
    constexpr size_t kLongest = 1000;
    if (name.size() > kLongest)
      file_.fail(ProblemCode::DataValue, "a name", "\"" + shortened(name) + "\" is too long",
                 "at most " + std::to_string(kLongest) + " characters");
    return name;
  }

  RecordedCollective collective(const Json& in) const {
    const auto name = [&](const char* key) { return check_name(file_.text(in, key)); };
    return {name("phase"),
            name("type"),
            name("group"),
            file_.integer_or(in, "group_size", 0),
            name("dtype"),
            file_.integer(in, "elements"),
            file_.integer(in, "bytes")};
  }

  void collectives(const Json& root) {
    if (!root.contains("collectives")) return;
    if (root["collectives"].is_array()) {
      for (const Json& row : root["collectives"]) r_.collectives.push_back(collective(row));
      return;
    }
    const Json& in = file_.object(root, "collectives");
    std::vector<RecordedCollective> kinds;
    for (const Json& row : file_.array(in, "kinds")) kinds.push_back(collective(row));
    for (const Json& index : file_.array(in, "order")) {
      const int64_t i = index.is_number_integer() ? index.get<int64_t>() : -1;
      if (i < 0 || i >= static_cast<int64_t>(kinds.size()))
        file_.fail(ProblemCode::DataValue, "order", "the order of collectives holds " + index.dump(),
                   "positions in the list of kinds");
      r_.collectives.push_back(kinds[static_cast<size_t>(i)]);
    }
  }

  JsonFile file_;
  Recording r_;
};

// (chunk, layer) of "chunk1.layer0" or "layer3".
std::optional<std::pair<int64_t, int64_t>> layer_place(const std::string& part) {
  const size_t dot = part.find('.');
  const std::string chunk = dot == std::string::npos ? "chunk0" : part.substr(0, dot);
  const std::string layer = dot == std::string::npos ? part : part.substr(dot + 1);
  const auto number = [](const std::string& text, const std::string& word) -> std::optional<int64_t> {
    if (!text.starts_with(word) || text.size() == word.size() || text.size() > word.size() + 9)
      return std::nullopt;
    if (!std::all_of(text.begin() + static_cast<std::ptrdiff_t>(word.size()), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    return std::stoll(text.substr(word.size()));
  };
  const auto c = number(chunk, "chunk"), l = number(layer, "layer");
  if (!c || !l) return std::nullopt;
  return std::pair{*c, *l};
}

// The module that owns the layers: "decoder" of "decoder.layers.0.mlp". Checkpoints of its layers belong to
// this module.
std::string module_of_layers(const Recording& recording) {
  for (const RecordedTensor& t : recording.tensors)
    for (const char* list : {"layers.", "h."})
      if (const size_t at = t.name.find(list); at == 0 || (at != std::string::npos && t.name[at - 1] == '.'))
        return at == 0 ? "" : t.name.substr(0, at - 1);
  return "";
}

}  // namespace

std::string field_text(const RecordedField& field) {
  if (const auto* flag = std::get_if<bool>(&field.value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&field.value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&field.value)) return Json(*real).dump();
  if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
  return "null";
}

const RecordedField* Recording::field(const std::string& wanted) const {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const RecordedField& f) { return f.name == wanted; });
  return it == fields.end() ? nullptr : &*it;
}

bool is_layer_part(const std::string& part) { return layer_place(part).has_value(); }

std::string last_layer(const RecordedParts& parts) {
  std::string best;
  for (const auto& [part, value] : parts)
    if (is_layer_part(part) && (best.empty() || *layer_place(part) > *layer_place(best))) best = part;
  return best;
}

std::optional<int64_t> checkpointed_bytes_per_layer(const Recording& recording, int64_t layers) {
  const std::string owner = module_of_layers(recording);
  // count, and bytes of one storage
  std::map<std::pair<std::string, std::vector<int64_t>>, std::pair<int64_t, int64_t>> rows;
  for (const RecordedStorage& s : recording.saved)
    if (s.scope == owner) rows.try_emplace({s.dtype, s.shape}, 0, s.bytes).first->second.first += 1;
  int64_t total = 0;
  for (const auto& [key, row] : rows)
    if (layers > 1 && row.first == layers) total += row.second;
  return total > 0 ? std::optional(total) : std::nullopt;
}

Result<Recording> recording_from_json(std::string text, const std::string& name) {
  try {
    return Reader(std::move(text), name).read();
  } catch (const DataError& error) {
    return error.problem;
  }
}

Result<Recording> read_recording(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return *problem;
  return recording_from_json(std::get<std::string>(std::move(text)), path.filename().string());
}

}  // namespace shardscape
