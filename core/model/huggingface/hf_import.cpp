#include "model/huggingface/hf_import.h"

#include <algorithm>

#include "model/huggingface/families/registry.h"
#include "model/library.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

std::string known_types() {
  std::string out;
  for (const std::string& type : hf_model_types()) out += (out.empty() ? "" : ", ") + type;
  return out;
}

// Whether the file has a key of a mixture of experts, in the spelling of any family.
bool has_experts(const json& root) {
  const auto says = [&](const char* key) { return root.contains(key) && !root[key].is_null(); };
  return says("num_local_experts") || says("n_routed_experts") || says("num_experts") ||
         says("moe_num_experts");
}

void refuse_type(const json& root, const std::string& type, HfReader& reader) {
  const std::string accepted = "one of " + known_types();
  if (type.empty())
    reader.problem(ProblemCode::HfUnknownType, "model_type",
                   "\"model_type\" is missing or not a text: the model type is unknown", accepted);
  else if (has_experts(root))
    reader.problem(ProblemCode::HfUnsupportedType, "model_type",
                   "\"" + type + "\" is a mixture of experts, which is not supported yet", accepted);
  else if (root.contains("text_config"))
    reader.problem(ProblemCode::HfUnsupportedType, "model_type",
                   "\"" + type + "\" consists of several models; only single language models can be imported",
                   accepted);
  else
    reader.problem(ProblemCode::HfUnknownType, "model_type", "the model type \"" + type + "\" is not known",
                   accepted);
}

// Takes the name of a preset with equal sizes, otherwise the last part of the path in the file.
void name_it(ImportResult& result, const HfReader& reader) {
  result.model.preset.clear();
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    ModelSpec same = preset.model;
    same.preset.clear();
    const bool equal = same == result.model;
    same.mtp_layers = result.model.mtp_layers;  // published sizes exclude multi-token prediction
    if (same != result.model) continue;
    if (equal) result.model.preset = preset.id;
    result.name = preset.name;
    return;
  }
  std::string path = reader.text_or("_name_or_path", "");
  while (path.ends_with('/')) path.pop_back();
  result.name = path.substr(path.rfind('/') + 1);
  if (result.name.empty()) result.name = "Imported " + result.model_type;
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> out;
  for (const hf::FamilyRow& row : hf::families())
    if (row.type != std::string(hf::kUntypedMamba)) out.push_back(row.type);
  return out;
}

ImportResult import_hf_config(const std::string& text, const std::string& where) {
  ImportResult result;
  result.model = {};
  result.model.preset.clear();
  try {
    const JsonFile file(text, where);
    HfReader reader(file, result);
    result.model_type = reader.text_or("model_type", "");
    const bool untyped = result.model_type.empty() && file.root().contains("ssm_cfg");
    if (untyped) result.model_type = hf::kUntypedMamba;
    const hf::FamilyRow* row = hf::family_of_type(result.model_type);
    if (row) {
      hf::Family family{row->type, reader, result.model, result.context};
      row->read(family);
    }
    if (!row || (has_experts(file.root()) && result.model.experts == 0)) {
      refuse_type(file.root(), result.model_type, reader);
      return result;
    }
    reader.recognise(!untyped                         ? "model_type"
                     : reader.absent("ssm_cfg.layer") ? "ssm_cfg"
                                                      : "ssm_cfg.layer",
                     "architecture " + result.model.architecture);
    std::rotate(result.recognised.begin(), result.recognised.end() - 1, result.recognised.end());
    reader.ignore_rest();
    if (result.ok()) name_it(result, reader);
  } catch (const DataError& error) {
    result.problems.push_back(error.problem);
  } catch (const json::exception& error) {
    result.problems.push_back({ProblemCode::JsonValueUnreadable, where,
                               std::string("the file holds a value that cannot be read: ") + error.what(),
                               "a config.json as Hugging Face publishes it"});
  }
  return result;
}

bool looks_like_hf_config(const std::string& text) {
  try {
    const json root = json::parse(text);
    return root.is_object() && !root.contains("shardscape") &&
           (root.contains("model_type") || root.contains("architectures") || root.contains("ssm_cfg"));
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace shardscape
