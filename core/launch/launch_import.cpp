#include "launch/launch_import.h"

#include <algorithm>

#include "launch/litgpt/litgpt_launch.h"
#include "launch/maxtext/maxtext_launch.h"
#include "launch/megatron/megatron_launch.h"
#include "launch/nanotron/nanotron_launch.h"
#include "launch/neox/neox_launch.h"
#include "launch/torchtitan/torchtitan_launch.h"

namespace shardscape {
namespace {

struct Reader {
  LaunchFramework framework;
  bool (*recognises)(std::string_view text);
  void (*read)(const LaunchRequest& request, LaunchImport& out);
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> kReaders{
      {{"megatron-lm", "Megatron-LM",
        "scripts and command lines with --num-layers, and argument dumps in logs"},
       is_megatron_launch,
       read_megatron_launch},
      {{"torchtitan", "torchtitan", "TOML files up to v0.2.2, and settings that its logs print"},
       is_torchtitan_launch,
       read_torchtitan_launch},
      {{"nanotron", "nanotron", "YAML files"}, is_nanotron_launch, read_nanotron_launch},
      {{"gpt-neox", "GPT-NeoX", "YAML files"}, is_neox_launch, read_neox_launch},
      {{"litgpt", "litgpt", "YAML files of litgpt pretrain"}, is_litgpt_launch, read_litgpt_launch},
      {{"maxtext", "MaxText", "YAML files, command lines of overrides, and parameters in logs"},
       is_maxtext_launch,
       read_maxtext_launch}};
  return kReaders;
}

std::string accepted_frameworks() {
  std::string out = "one of ";
  for (const Reader& reader : readers())
    out += (out == "one of " ? "" : ", ") + std::string(reader.framework.id);
  return out;
}

}  // namespace

const std::vector<LaunchFramework>& launch_frameworks() {
  static const std::vector<LaunchFramework> kFrameworks = [] {
    std::vector<LaunchFramework> out;
    for (const Reader& reader : readers()) out.push_back(reader.framework);
    return out;
  }();
  return kFrameworks;
}

LaunchImport import_launch(const LaunchRequest& request) {
  LaunchImport out;
  const auto chosen = std::find_if(readers().begin(), readers().end(), [&](const Reader& reader) {
    return request.framework.empty() ? reader.recognises(request.text)
                                     : reader.framework.id == request.framework;
  });
  if (chosen == readers().end()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.framework.empty() ? request.where : "--as",
                              request.framework.empty()
                                  ? "the text is no launch of a known framework"
                                  : "\"" + request.framework + "\" is no known framework",
                              accepted_frameworks());
    return out;
  }
  out.framework = chosen->framework.id;
  chosen->read(request, out);
  return out;
}

bool looks_like_launch(std::string_view text) {
  return std::any_of(readers().begin(), readers().end(),
                     [&](const Reader& reader) { return reader.recognises(text); });
}

}  // namespace shardscape
