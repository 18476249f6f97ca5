#include "model/huggingface/hf_files.h"

#include <algorithm>
#include <utility>

#include "base/data_dir.h"
#include "model/huggingface/hf_reader.h"
#include "model/huggingface/quantization.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

enum class Contents : uint8_t { Other, Config, Quantization };

Contents contents_of(const std::string& text) {
  try {
    const JsonFile file(text, "", JsonDialect::Python);
    const json& root = file.root();
    if (root.contains("shardscape")) return Contents::Other;
    if (root.contains("model_type") || root.contains("architectures") || root.contains("ssm_cfg"))
      return Contents::Config;
    return root.contains("quantization") ? Contents::Quantization : Contents::Other;
  } catch (const DataError&) {
    return Contents::Other;
  }
}

// The path of X_config.json next to X_hf_quant_config.json, and the other way round. A path with another name
// has X = "".
fs::path neighbour_of(const fs::path& path, const std::string& own, const std::string& other) {
  const std::string name = path.filename().string();
  const bool named = name.ends_with(own);
  return path.parent_path() / ((named ? name.substr(0, name.size() - own.size()) : "") + other);
}

// Gives the model the formats of the file, unless config.json has said them.
void read_quantization_file(const HfFile& quantization, ImportResult& result) {
  const JsonFile file(quantization.text, quantization.name, JsonDialect::Python);
  ImportResult own;
  own.model = result.model;
  own.model_type = result.model_type;
  HfReader reader(file, own);
  const bool said = std::any_of(result.recognised.begin(), result.recognised.end(),
                                [](const ImportField& f) { return f.key.ends_with("quantization_config"); });
  if (said)
    reader.ignore("quantization", "\"quantization_config\" of config.json has this information");
  else if (result.ok())
    hf::import_quantization(reader, "quantization", "", own);
  else
    reader.ignore("quantization", "the model is not imported");
  if (!reader.absent("producer")) reader.ignore("producer", "the program that wrote the file");
  result.model = std::move(own.model);
  for (const auto& [list, to] : {std::pair{&own.recognised, &result.recognised},
                                 {&own.assumed, &result.assumed},
                                 {&own.unknown, &result.unknown},
                                 {&own.ignored, &result.ignored}})
    for (ImportField& field : *list) {
      field.key = "hf_quant_config." + field.key;
      to->push_back(std::move(field));
    }
  for (Problem& problem : own.problems) result.problems.push_back(std::move(problem));
}

}  // namespace

Result<HfFiles> read_hf_files(const fs::path& path) {
  constexpr const char *kConfig = "config.json", *kQuantization = "hf_quant_config.json";
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  HfFile first{std::get<std::string>(std::move(text)), path.string()};
  const bool quantization = contents_of(first.text) == Contents::Quantization;
  const fs::path second = quantization ? neighbour_of(path, kQuantization, kConfig)
                                       : neighbour_of(path, kConfig, kQuantization);
  std::error_code ignored;
  // A config of another name has no second file: hf_quant_config.json belongs to config.json.
  const bool named = quantization || path.filename().string().ends_with(kConfig);
  const bool exists = named && second != path && fs::is_regular_file(second, ignored);
  if (quantization && !exists)
    return Problem{ProblemCode::HfConfigMissing, path.string(),
                   "the file describes quantized weights only; the model is in \"" + second.string() +
                       "\", which does not exist",
                   "a config.json next to the file"};
  if (!exists) return HfFiles{std::move(first), {}};
  auto other = read_text(second);
  if (auto* problem = std::get_if<Problem>(&other)) return std::move(*problem);
  HfFile file{std::get<std::string>(std::move(other)), second.string()};
  if (quantization) std::swap(first, file);
  return HfFiles{std::move(first), std::move(file)};
}

ImportResult import_hf_files(const HfFiles& files, const std::string& as) {
  ImportResult result = import_hf_config(files.config.text, files.config.name, as);
  if (!files.quantization) return result;
  try {
    read_quantization_file(*files.quantization, result);
  } catch (const DataError& error) {
    result.problems.push_back(error.problem);
  }
  return result;
}

bool looks_like_hf_file(const std::string& text) { return contents_of(text) != Contents::Other; }

}  // namespace shardscape
