#include "model/huggingface/hf_import.h"

#include <algorithm>
#include <filesystem>

#include "base/shown_text.h"
#include "model/huggingface/families/towers.h"
#include "model/huggingface/nearest_family.h"
#include "model/huggingface/quantization.h"
#include "model/library.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

std::string known_types() {
  std::string out;
  for (const std::string& type : hf_model_types()) out += (out.empty() ? "" : ", ") + type;
  return out;
}

// The key that says how many experts a layer has, in the spelling of any family; empty without experts.
std::string experts_key(const HfReader& reader) {
  for (const char* key : {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"})
    if (const json* found = reader.value(key); found && !found->is_null() && *found != json(0)) return key;
  return "";
}

// "a", "b" and 3 more
std::string quoted_list(const std::vector<std::string>& texts, const char* quote) {
  constexpr size_t kShown = 12;
  std::string out;
  for (size_t i = 0; i < std::min(texts.size(), kShown); ++i)
    out += (out.empty() ? "" : ", ") + (quote + texts[i]) + quote;
  if (texts.size() > kShown) out += " and " + std::to_string(texts.size() - kShown) + " more";
  return out;
}

void refuse_unknown(HfReader& reader, ImportResult& result) {
  const std::string type = reader.text_or("model_type", "");
  const hf::NearestFamily nearest = hf::nearest_family(reader);
  const std::string what = type.empty()
                               ? "\"model_type\" is missing or not a string: the model type is unknown"
                               : "the model type \"" + type + "\" is not known";
  std::string accepted = "one of " + known_types();
  if (nearest.fields > 0) {
    result.nearest = nearest.family->type;
    accepted += "; the closest is \"" + std::string(nearest.family->type) + "\", architecture " +
                nearest.architecture + ", which reads " + std::to_string(nearest.fields) +
                (nearest.fields == 1 ? " field" : " fields") + " of this file";
  }
  if (nearest.fields > 0 && !nearest.differences.empty())
    accepted += "; the file differs: " + quoted_list(nearest.differences, "");
  reader.problem(
      ProblemCode::HfUnknownType, "model_type",
      what + (nearest.uncovered.empty() ? "" : "; no block supports " + quoted_list(nearest.uncovered, "\"")),
      accepted);
}

// The family of an object by its model type, or by the class of the original code.
const hf::FamilyRow* family_of(const HfReader& reader) {
  const std::string type = reader.text_or("model_type", "");
  if (const hf::FamilyRow* row = hf::family_of_type(type)) return row;
  if (type.empty() && !reader.absent("ssm_cfg")) return hf::family_of_type(hf::kUntypedMamba);
  const json* classes = reader.value("architectures");
  for (const json& name : classes && classes->is_array() ? *classes : json::array())
    if (name.is_string())
      if (const hf::FamilyRow* row = hf::family_of_class(name.get<std::string>())) return row;
  return nullptr;
}

// The first class of the original code; empty if the file names none.
std::string model_class(const HfReader& file) {
  const json* classes = file.value("architectures");
  return classes && classes->is_array() && !classes->empty() && classes->front().is_string()
             ? classes->front().get<std::string>()
             : "";
}

// The vision tower, if blocks compute it. Without "vision_config", all sizes are the family's.
const hf::TowerRow* tower_of(const HfReader& file) {
  const hf::TowerRow* row = hf::tower_of_type(file.text_or("model_type", ""));
  const json* vision = file.value("vision_config");
  const bool stated = vision && vision->is_object();
  const bool usual = row && row->has_defaults && !vision &&
                     model_class(file).ends_with("ForConditionalGeneration");
  return stated || usual ? row : nullptr;
}

// The models next to the language model that have no blocks. tower: whether blocks compute the vision tower.
void refuse_others(HfReader& file, bool tower) {
  const auto refuse = [&](const char* key, const char* what) {
    file.problem(ProblemCode::HfUnsupportedType, key, what, "a file with only a language model");
  };
  const auto object = [&](const char* key) { return file.value(key) && file.value(key)->is_object(); };
  if (tower && object("vision_config"))
    file.recognise("vision_config", "vision tower");
  else if (!tower && object("vision_config"))
    refuse("vision_config", "this vision tower is not supported yet");
  else if (!tower && model_class(file).ends_with("ForConditionalGeneration"))
    refuse("architectures", "this vision tower is not supported yet");
  if (object("audio_config")) refuse("audio_config", "the audio encoder is not supported yet");
}

// Lists the key by which the family was found first.
void recognise_family(HfReader& reader, const hf::FamilyRow& row, ImportResult& result) {
  const std::string architecture = "architecture " + result.model.architecture;
  if (!result.as.empty()) return reader.assume("model_type", result.as, architecture + ", as chosen");
  if (row.type == std::string(hf::kUntypedMamba)) {
    reader.recognise(reader.absent("ssm_cfg.layer") ? "ssm_cfg" : "ssm_cfg.layer", architecture);
  } else if (hf::family_of_type(reader.text_or("model_type", ""))) {
    reader.recognise("model_type", architecture);
  } else {
    reader.recognise("architectures", architecture);
    if (!reader.absent("model_type")) reader.ignore("model_type", "not known; \"architectures\" decides");
  }
  std::rotate(result.recognised.begin(), result.recognised.end() - 1, result.recognised.end());
}

// Takes the name of a preset with equal sizes, otherwise the last part of the path in the file. An
// approximation has no preset.
void name_it(ImportResult& result, const HfReader& reader) {
  result.model.preset.clear();
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    if (!result.as.empty()) break;
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
}

// The name of a model whose file states none: "mine" for mine.json and mine_config.json, otherwise the type.
std::string usual_name(const std::string& where, const std::string& model_type) {
  std::string name = std::filesystem::path(where).stem().string();
  constexpr std::string_view kConfig = "config";
  if (name.ends_with(kConfig)) name.resize(name.size() - kConfig.size());
  while (name.ends_with('_') || name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name.empty() ? model_type : name;
}

void read_model(HfReader& file, ImportResult& result) {
  constexpr const char* kLanguage = "text_config";
  const bool several = file.value(kLanguage) && file.value(kLanguage)->is_object();
  HfReader language = several ? file.within(kLanguage) : file;
  result.model_type = file.text_or("model_type", language.text_or("model_type", ""));
  // The row of the whole file knows of mechanisms beyond those of its language model's type.
  const hf::FamilyRow* row = several ? family_of(file) : nullptr;
  if (!row) row = family_of(language);
  if (!result.as.empty()) row = hf::family_of_type(result.as);
  if (!row) return refuse_unknown(language, result);
  if (result.model_type.empty()) result.model_type = row->type;
  const hf::TowerRow* tower = several ? tower_of(file) : nullptr;
  if (several) refuse_others(file, tower);
  if (!row->read)
    return language.problem(
        ProblemCode::HfUnsupportedType, "model_type",
        "\"" + result.model_type + "\" is not supported, because no block implements " + row->missing,
        "one of " + known_types());
  hf::Family family{row->type, language, several ? &file : nullptr, result.model, result.context};
  row->read(family);
  if (tower) {
    HfReader reader = file.within("vision_config");
    tower->read(reader, family);
  }
  if (const std::string key = experts_key(language); !key.empty() && result.model.experts == 0) {
    language.problem(ProblemCode::HfUnsupportedType, key,
                     "\"" + key + "\" is " + language.shown(key) + ", but \"" + row->type +
                         "\" is a family without experts",
                     "no experts, or a family with experts: one of " + known_types());
    if (!result.ok()) return;
  }
  recognise_family(language, *row, result);
  if (several && !file.absent("model_type"))
    file.recognise("model_type", "several models; the language model is in \"text_config\"");
  if (result.ok()) name_it(result, file);
  // Some files of several models say it of the language model, others of the whole.
  constexpr const char* kQuantization = "quantization_config";
  HfReader& quantized = language.absent(kQuantization) ? file : language;
  hf::import_quantization(quantized, kQuantization, language.text_or("expert_dtype", ""), result);
  file.ignore_rest();
}

// Settings of the file or of one of its parts. Published files have fewer than 200; readers look up each
// setting among all others.
constexpr size_t kMostSettings = 5000;

// A Problem if the file or a part has more. Quantizations list modules, which are not looked up.
std::optional<Problem> too_many_settings(const JsonFile& file) {
  const auto check = [&](const json& part, const std::string& what) -> std::optional<Problem> {
    if (!part.is_object() || part.size() <= kMostSettings) return std::nullopt;
    return Problem{ProblemCode::JsonValueUnreadable, place_text(file.place(part)),
                   what + " has " + std::to_string(part.size()) + " settings",
                   "at most " + std::to_string(kMostSettings) + " settings"};
  };
  if (auto problem = check(file.root(), "the file")) return problem;
  for (const auto& [key, part] : file.root().items())
    if (key.find("quantization") == std::string::npos)
      if (auto problem = check(part, "\"" + shortened(key) + "\"")) return problem;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> out;
  for (const hf::FamilyRow& row : hf::families())
    if (row.read && row.type != std::string(hf::kUntypedMamba)) out.push_back(row.type);
  return out;
}

ImportResult import_hf_config(const std::string& text, const std::string& where, const std::string& as) {
  ImportResult result;
  result.model = {};
  result.model.preset.clear();
  const std::vector<std::string> types = hf_model_types();
  if (!as.empty() && std::find(types.begin(), types.end(), as) == types.end()) {
    result.problems.emplace_back(ProblemCode::HfUnknownType, where,
                                 "there is no model type \"" + as + "\" to import the file as",
                                 "one of " + known_types());
    return result;
  }
  result.as = as;
  try {
    const JsonFile file(text, where, JsonDialect::Python);
    if (auto problem = too_many_settings(file)) {
      result.problems.push_back(std::move(*problem));
      return result;
    }
    HfReader reader(file, result);
    read_model(reader, result);
    if (result.ok() && result.name.empty()) result.name = usual_name(where, result.model_type);
  } catch (const DataError& error) {
    result.problems.push_back(error.problem);
  } catch (const json::exception& error) {
    result.problems.push_back(
        {ProblemCode::JsonValueUnreadable, where,
         std::string("the file holds a value that cannot be read: ") + json_reason(error),
         "a config.json as Hugging Face publishes it"});
  }
  return result;
}

}  // namespace shardscape
