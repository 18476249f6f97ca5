#include "launch/trainer/trainer_files.h"

#include <cctype>

#include "launch/launch_parts.h"

namespace shardscape {
namespace {

// "ds_z3_offload_config.json", "zero1.json": the digit; nullopt: the name has none.
std::optional<char> stage_of_name(const std::string& name) {
  for (const char* beginning : {"ds_z", "zero_stage", "zero"})
    if (const size_t at = name.find(beginning); at != std::string::npos) {
      const size_t digit = at + std::string_view(beginning).size();
      if (digit < name.size() && name[digit] >= '0' && name[digit] <= '3') return name[digit];
    }
  return std::nullopt;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

bool has_yaml_key(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == '\n';
    if (starts && at + key.size() < text.size() && text[at + key.size()] == ':') return true;
  }
  return false;
}

std::optional<LaunchDocument> read_trainer_yaml(const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return std::nullopt;
  }
  return std::get<LaunchDocument>(std::move(read));
}

std::set<std::string> add_deepspeed_file(const LaunchRequest& request, const std::string& argument,
                                         LaunchDocument& document, LaunchImport& out) {
  const auto named = document.arguments.find(argument);
  if (named == document.arguments.end() || named->second.empty() || named->second == "null") return {};
  const std::string path = named->second;
  const auto line = document.lines.find(argument);
  const auto note = [&](const std::string& text) {
    out.notes.push_back({line == document.lines.end() ? 0 : line->second, text});
  };
  if (const auto text = file_beside(request, path)) {
    auto read = read_launch_document(DocumentLanguage::Json, *text, path);
    if (auto* problem = std::get_if<Problem>(&read)) {
      out.problems.push_back(std::move(*problem));
      return {};
    }
    for (const auto& [name, value] : std::get<LaunchDocument>(read).arguments)
      document.arguments["deepspeed." + name] = value;
    return {};
  }
  const std::string name = base_name(path);
  const auto stage = stage_of_name(name);
  std::set<std::string> assumed;
  const auto fill = [&](const char* setting, const std::string& value) {
    document.arguments[std::string("deepspeed.") + setting] = value;
    assumed.insert(std::string("deepspeed.") + setting);
  };
  fill("zero_optimization.stage", stage ? std::string(1, *stage) : "0");
  for (const char* automatic : {"bf16.enabled", "fp16.enabled", "gradient_clipping", "train_batch_size",
                                "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"})
    fill(automatic, "auto");
  if (name.find("offload") != std::string::npos) fill("zero_optimization.offload_optimizer.device", "cpu");
  note("the file " + path + " is not there; " +
       (stage ? "its name says ZeRO stage " + std::string(1, *stage)
              : "its name says no ZeRO stage, and the design has stage 0") +
       ", all else is assumed");
  return assumed;
}

void mark_assumed(const std::set<std::string>& settings, LaunchImport& out) {
  for (LaunchField& field : out.fields) {
    if (!settings.contains(field.name)) continue;
    if (field.use == LaunchUse::Taken && !field.knobs.empty())
      field.note = "the file is not there: by its name";
    if (field.use == LaunchUse::Taken) field.use = LaunchUse::Assumed;
  }
}

}  // namespace shardscape
