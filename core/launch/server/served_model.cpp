#include "launch/server/served_model.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

#include "model/library.h"

namespace shardscape {
namespace {

struct Checkpoint {
  const char* preset;
  const char *fp8, *fp4, *int4;  // null: there is none
};
// gpt-oss: the publisher's experts have 4 bits, whatever the label.
constexpr char
    kAllBlocks[] = "attention=fp8-block, mlp=fp8-block, experts=fp8-block, shared_experts=fp8-block";
constexpr Checkpoint kCheckpoints[] = {
    {"deepseek-v3", kAllBlocks, "mlp=nvfp4, experts=nvfp4, shared_experts=nvfp4", nullptr},
    {"deepseek-v3.2", kAllBlocks, nullptr, nullptr},
    {"glm-5", kAllBlocks, nullptr, nullptr},
    {"glm-5.2", kAllBlocks, nullptr, nullptr},
    {"gpt-oss-20b", nullptr, "experts=mxfp4", nullptr},
    {"gpt-oss-120b", nullptr, "experts=mxfp4", nullptr},
    {"kimi-k2.5", nullptr, "experts=nvfp4", "experts=int4-g32"},
    {"minimax-m2.5", "attention=fp8-block, experts=fp8-block", "experts=nvfp4", nullptr},
    {"mixtral-8x7b", "attention=fp8, experts=fp8", nullptr, nullptr},
    {"qwen3-235b-a22b", "attention=fp8-block, experts=fp8-block", nullptr, nullptr},
    {"qwen3.5-397b-a17b", "attention=fp8-block, mixer=fp8-block, experts=fp8-block, shared_experts=fp8-block",
     "experts=nvfp4", nullptr},
};

// Other names of models with the same architecture and sizes.
constexpr std::pair<const char*, const char*> kAliases[] = {
    {"llama3405b", "llama3.1-405b"}, {"llama318b", "llama3-8b"},
    {"llama3170b", "llama3-70b"},    {"deepseekv2lite", "deepseek-v2-lite"},
    {"22b", "megatron-22b"},         {"175b", "gpt3-175b-megatron"},
    {"530b", "mt-nlg-530b"},         {"1t", "megatron-1t"},
};

// Further names, of checkpoints that launches start.
constexpr std::pair<const char*, const char*> kCheckpointAliases[] = {
    {"llama3370b", "llama3-70b"},       {"glm51", "glm-5"},
    {"minimaxm2", "minimax-m2.5"},      {"minimaxm21", "minimax-m2.5"},
    {"minimaxm27", "minimax-m2.5"},     {"llama4scout17b16e", "llama4-scout"},
    {"mixtral8x7bv01", "mixtral-8x7b"},
};

// Endings that do not change the architecture, and those that state the format of weights or a version.
constexpr const char* kEndings[] = {"instruct", "2507", "hf", "fp8",  "nvfp4",
                                    "v01",      "999",  "99", "edge", "datacenter"};
constexpr const char* kCheckpointEndings[] = {"2512", "0905",     "fp4",   "bf16",    "awq",
                                              "int4", "gptq",     "w4a16", "dynamic", "wmxfp4a",
                                              "it",   "instruct", "fp8"};

// The first preset that a name stands for, if endings are left out one by one.
template <class Find>
std::string without_endings(std::string known, std::span<const char* const> endings, const Find& find) {
  for (bool shorter = true; shorter;) {
    if (const std::string id = find(known); !id.empty()) return id;
    shorter = false;
    for (const char* tail : endings)
      if (!shorter && known.ends_with(tail)) {
        known.resize(known.size() - std::char_traits<char>::length(tail));
        shorter = true;
      }
  }
  return {};
}

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

}  // namespace

std::string plain_name(const std::string& name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string preset_named(const std::string& name) {
  const std::string known = plain_name(name);
  for (const auto& [alias, id] : kAliases)
    if (known == alias) return id;
  for (const Preset& preset : ModelLibrary::instance().presets())
    if (plain_name(preset.id) == known) return preset.id;
  return {};
}

std::string serving_preset(const std::string& name) {
  const std::string known = plain_name(name.substr(name.rfind('/') + 1));
  for (const char* deepseek : {"deepseekr1", "deepseekv31"})
    if (known.starts_with(deepseek)) return "deepseek-v3";
  return without_endings(known, kEndings, preset_named);
}

std::string checkpoint_preset(const std::string& name) {
  std::string plain = name;
  while (plain.ends_with('/')) plain.pop_back();
  std::string known = plain_name(plain.substr(plain.rfind('/') + 1));
  if (has(known, "distill")) return {};
  if (known == "deepseekv30324") return "deepseek-v3";
  if (known.starts_with("metallama")) known.erase(0, std::string_view("meta").size());
  return without_endings(known, kCheckpointEndings, [](const std::string& shorter) {
    for (const auto& [alias, id] : kCheckpointAliases)
      if (shorter == alias) return std::string(id);
    return serving_preset(shorter);
  });
}

std::string served_precision(const std::string& name) {
  const std::string known = plain_name(name.substr(name.rfind('/') + 1));
  if (has(known, "bf16")) return "bf16";
  if (has(known, "awq") || has(known, "gptq") || has(known, "int4") || has(known, "w4a16")) return "int4";
  if (has(known, "gptoss")) return "mxfp4";
  if (has(known, "fp4")) return "fp4";
  // Names of checkpoints with one scale per tensor or row come from NVIDIA, Red Hat and AMD; those of the
  // makers of models have blocks of 128.
  const bool of_tensors = name.starts_with("nvidia/") || name.starts_with("RedHatAI/") ||
                          name.starts_with("neuralmagic/") || name.starts_with("amd/") || has(known, "llama");
  if (has(known, "fp8")) return of_tensors ? "fp8" : "fp8_block";
  for (const char* deepseek : {"deepseekr1", "deepseekv3"})
    if (known.starts_with(deepseek) && !has(known, "distill")) return "fp8_block";
  return {};
}

std::optional<ServedFormats> served_formats(const std::string& preset, bool experts,
                                            const std::string& precision) {
  const bool fp8 = precision.starts_with("fp8"), fp4 = precision == "fp4" || precision == "nvfp4";
  if (!experts) {
    if (!fp8 && !fp4) return std::nullopt;
    const std::string format = fp4 ? "nvfp4" : precision == "fp8_block" ? "fp8-block" : "fp8";
    return ServedFormats{"attention=" + format + ", mlp=" + format, true};
  }
  for (const Checkpoint& checkpoint : kCheckpoints) {
    if (preset != checkpoint.preset) continue;
    const char* text = fp8                           ? checkpoint.fp8
                       : fp4 || precision == "mxfp4" ? checkpoint.fp4
                       : precision == "int4"         ? checkpoint.int4
                                                     : nullptr;
    if (text) return ServedFormats{text};
  }
  return std::nullopt;
}

}  // namespace shardscape
