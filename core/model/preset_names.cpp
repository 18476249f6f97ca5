#include "model/preset_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace shardscape {
namespace {

constexpr size_t kLongestName = 200;

// Names of models that have the sizes of a preset of another name, in plain letters.
constexpr std::pair<std::string_view, std::string_view> kSameSizes[] = {{"llama318b", "llama3-8b"},
                                                                        {"llama3170b", "llama3-70b"},
                                                                        {"llama3370b", "llama3-70b"},
                                                                        {"llama31405b", "llama3.1-405b"},
                                                                        {"llama3405b", "llama3.1-405b"},
                                                                        {"llama4scout17b16e", "llama4-scout"},
                                                                        {"deepseekr1", "deepseek-v3"},
                                                                        {"deepseekv31", "deepseek-v3"},
                                                                        {"glm51", "glm-5"},
                                                                        {"minimaxm2", "minimax-m2.5"},
                                                                        {"minimaxm21", "minimax-m2.5"},
                                                                        {"minimaxm27", "minimax-m2.5"},
                                                                        {"mistral7b", "mistral-7b-v0.1"},
                                                                        {"mixtral8x7bv01", "mixtral-8x7b"},
                                                                        {"mixtral8x22bv01", "mixtral-8x22b"},
                                                                        {"bloom", "bloom-176b"},
                                                                        {"22b", "megatron-22b"},
                                                                        {"175b", "gpt3-175b-megatron"},
                                                                        {"530b", "mt-nlg-530b"},
                                                                        {"1t", "megatron-1t"}};

// Endings of names that change no size: tuning, format of the weights, date, version, and the classes of
// MLPerf's benchmarks ("llama2-70b-99.9").
constexpr std::string_view kEndings[] = {
    "hf",      "instruct", "chat", "base", "it",   "pt",        "bf16",        "fp16",     "fp8",
    "fp4",     "nvfp4",    "int4", "awq",  "gptq", "w4a16",     "wmxfp4a",     "dynamic",  "2507",
    "2512",    "0324",     "0528", "0905", "v01",  "v2",        "dequantized", "thinking", "terminus",
    "unsloth", "yaml",     "999",  "99",   "edge", "datacenter"};

bool contains(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

// "Mistral-7B-Instruct-v0.3" has the sizes of Mistral-7B-v0.3.
void erase_inside(std::string& name, std::string_view part) {
  if (const size_t at = name.find(part); at != 0 && at != name.npos) name.erase(at, part.size());
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string preset_named(std::string_view name) {
  const std::string known = plain_name(name);
  if (known.empty()) return {};
  for (const auto& [other, id] : kSameSizes)
    if (known == other) return std::string(id);
  for (const Preset& preset : ModelLibrary::instance().presets())
    if (plain_name(preset.id) == known || plain_name(preset.name) == known) return preset.id;
  return {};
}

const Preset* preset_of_name(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  if (name.size() > kLongestName) return nullptr;
  std::string rest = plain_name(name);
  if (contains(rest, "distill")) return nullptr;  // the sizes of another model
  for (const std::string_view maker : {"meta", "nvidia"})
    if (rest.starts_with(maker)) rest.erase(0, maker.size());
  for (;;) {
    if (const std::string id = preset_named(rest); !id.empty()) return ModelLibrary::instance().preset(id);
    const auto ending = std::find_if(std::begin(kEndings), std::end(kEndings),
                                     [&](std::string_view one) { return rest.ends_with(one); });
    if (ending == std::end(kEndings)) break;
    rest.resize(rest.size() - ending->size());
  }
  const size_t length = rest.size();
  for (const std::string_view tuned : {"instruct", "chat"}) erase_inside(rest, tuned);
  return rest.size() < length ? preset_of_name(rest) : nullptr;
}

std::string preset_id_of_name(std::string_view name) {
  const Preset* preset = preset_of_name(name);
  return preset ? preset->id : std::string();
}

}  // namespace shardscape
