#include "launch/launch_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/data_dir.h"
#include "model/huggingface/hf_import.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMostGpus = 100'000'000;
constexpr size_t kLongestName = 200;

// Checkpoints with the sizes of a preset of another name.
constexpr std::pair<std::string_view, std::string_view> kSameSizes[] = {
    {"llama3.18b", "llama3-8b"},
    {"llama3.170b", "llama3-70b"},
    {"llama3.370b", "llama3-70b"},
    {"llama3.1405b", "llama3.1-405b"},
    {"deepseekr1", "deepseek-v3"},
    {"deepseekv3.1", "deepseek-v3"},
    {"mistral7b", "mistral-7b-v0.1"},
    {"mixtral8x7bv0.1", "mixtral-8x7b"},
    {"mixtral8x22bv0.1", "mixtral-8x22b"},
    {"deepseekmoe16b", "deepseek-moe-16b"},
    {"bloom", "bloom-176b"}};

// Endings of names that change no size: tuning, format, date.
constexpr std::string_view kEndings[] = {"-hf",   "-instruct", "-chat",        "-base",     "-it",   "-pt",
                                         "-bf16", "-fp16",     "-dequantized", "-thinking", "-2507", "-0324",
                                         "-0528", "-v0.1",     "-w4a16",       "-unsloth",  "-fp8",  ".yaml"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// "llama3-8b" and "Llama 3 8B" are both "llama38b".
std::string letters(std::string_view text) {
  std::string out;
  for (const char c : lower(text))
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.') out += c;
  return out;
}

const Preset* preset_spelled(std::string_view name) {
  const ModelLibrary& library = ModelLibrary::instance();
  const std::string wanted = letters(name);
  if (wanted.empty()) return nullptr;
  for (const Preset& preset : library.presets())
    if (letters(preset.id) == wanted || letters(preset.name) == wanted) return &preset;
  for (const auto& [other, id] : kSameSizes)
    if (wanted == other) return library.preset(std::string(id));
  return nullptr;
}

std::optional<NamedModel> read_config(const std::string& text, const std::string& where) {
  const ImportResult read = import_hf_config(text, where);
  if (!read.ok()) return std::nullopt;
  return NamedModel{read.model, "sizes of " + where, 0};
}

}  // namespace

std::optional<int64_t> positive_number(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1) return std::nullopt;
  return out;
}

int64_t capped_product(std::initializer_list<int64_t> factors) {
  int64_t out = 1;
  for (const int64_t factor : factors)
    if (__builtin_mul_overflow(out, factor, &out)) return std::numeric_limits<int64_t>::max();
  return out;
}

bool settle_gpus(const LaunchRequest& request, std::optional<int64_t> stated, const std::string& from,
                 LaunchImport& out) {
  out.gpus = request.gpus ? request.gpus : stated;
  out.gpus_from = request.gpus ? "given" : from;
  if (out.gpus && *out.gpus >= 1 && *out.gpus <= kMostGpus) return true;
  out.gpus.reset();
  out.problems.emplace_back(ProblemCode::LaunchGpus, request.where,
                            "the file does not say on how many GPUs it runs", "--gpus N");
  return false;
}

const Preset* preset_of_name(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  if (const size_t slash = name.find_last_of('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  if (name.size() > kLongestName) return nullptr;
  std::string rest = lower(name);
  for (const std::string_view maker : {"meta-", "nvidia-"})
    if (rest.starts_with(maker)) rest.erase(0, maker.size());
  for (const std::string_view tuned : {"-instruct-", "-chat-"})  // Mistral-7B-Instruct-v0.3
    if (const size_t at = rest.find(tuned); at != std::string::npos) rest.replace(at, tuned.size(), "-");
  for (;;) {
    if (const Preset* found = preset_spelled(rest)) return found;
    const auto ending = std::find_if(std::begin(kEndings), std::end(kEndings),
                                     [&](std::string_view one) { return rest.ends_with(one); });
    if (ending == std::end(kEndings)) return nullptr;
    rest.resize(rest.size() - ending->size());
  }
}

std::string preset_id_of_name(std::string_view name) {
  const Preset* preset = preset_of_name(name);
  return preset ? preset->id : std::string();
}

std::variant<NamedModel, Problem> find_model(const LaunchRequest& request, const std::string& named,
                                             const std::string& argument) {
  const bool given = !request.model.empty();
  const std::string& name = given ? request.model : named;
  const std::string where = given ? "--model" : request.where + (argument.empty() ? "" : ", " + argument);
  if (const Preset* preset = name.empty() ? nullptr : preset_of_name(name))
    return NamedModel{preset->model, "sizes of the preset " + preset->id, preset->default_seq};
  std::error_code ignored;
  if (given && (fs::is_regular_file(name, ignored) || fs::is_directory(name, ignored))) {
    const fs::path file = fs::is_directory(name, ignored) ? fs::path(name) / "config.json" : fs::path(name);
    auto text = read_text(file);
    if (auto* problem = std::get_if<Problem>(&text)) return *problem;
    const ImportResult read = import_hf_config(std::get<std::string>(text), file.string());
    if (!read.ok()) return read.problems.front();
    return NamedModel{read.model, "sizes of " + file.string(), 0};
  }
  if (!given && !name.empty() && request.shell.source)
    if (const auto text = request.shell.source(name + "/config.json"))
      if (auto model = read_config(*text, name + "/config.json")) return *model;
  return Problem{ProblemCode::LaunchFormat, where,
                 name.empty() ? "the file does not name the model that it trains"
                              : "the library has no model \"" + name + "\"",
                 "--model with a preset, a name of the Hugging Face hub, or the path of a config.json"};
}

void take_model(LaunchFields& fields, const LaunchRequest& request, const NamedModel& model,
                const std::string& named, const std::string& argument) {
  const bool given = !request.model.empty();
  fields.set_model(model.model, given || argument.empty() ? "--model" : argument,
                   given ? request.model : named, model.origin);
  if (given && !named.empty()) fields.ignore(argument, "--model replaces it");
}

void answer(LaunchDesign read, const std::map<std::string, int>& lines, LaunchImport& out) {
  out.design = std::move(read.design);
  out.fields = std::move(read.fields);
  for (LaunchField& field : out.fields)
    if (const auto line = lines.find(field.name); line != lines.end()) field.line = line->second;
}

}  // namespace shardscape
