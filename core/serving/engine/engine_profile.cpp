#include "serving/engine/engine_profile.h"

#include <algorithm>

#include "base/data_dir.h"
#include "model/json_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

// A number of at least 0; 0 without the member.
double number_or_zero(const JsonFile& file, const json& entry, const char* key) {
  const auto it = entry.find(key);
  if (it == entry.end()) return 0;
  const double value = it->is_number() ? it->get<double>() : -1;
  if (!(value >= 0))
    file.fail(ProblemCode::DataValue, key, it->dump() + " is not a time", "a number of at least 0");
  return value;
}

EngineProfile read_entry(const JsonFile& file, const json& entry) {
  file.only(entry, {"engine", "family", "version", "step_ms", "sequence_us", "sync_sequence_us", "launch_us",
                    "draft_ms", "request_ms", "prompt_us", "source"});
  EngineProfile out;
  out.engine = file.text(entry, "engine");
  out.family = file.text(entry, "family");
  out.version = file.text_or(entry, "version", "");
  out.source = file.text(entry, "source");
  out.step_seconds = number_or_zero(file, entry, "step_ms") * 1e-3;
  out.sequence_seconds = number_or_zero(file, entry, "sequence_us") * 1e-6;
  out.sync_sequence_seconds = std::max(out.sequence_seconds,
                                       number_or_zero(file, entry, "sync_sequence_us") * 1e-6);
  out.launch_seconds = number_or_zero(file, entry, "launch_us") * 1e-6;
  out.request_seconds = number_or_zero(file, entry, "request_ms") * 1e-3;
  out.prompt_seconds = number_or_zero(file, entry, "prompt_us") * 1e-6;
  return out;
}

struct Profiles {
  std::vector<EngineProfile> all;
  std::vector<Problem> problems;

  Profiles() {
    for (const auto& path : data_files("resources/engines")) {
      const auto text = read_text(path);
      if (const auto* problem = std::get_if<Problem>(&text))
        problems.push_back(*problem);
      else
        for (EngineProfile& profile :
             read_engine_profiles(std::get<std::string>(text), path.string(), problems))
          put(std::move(profile));
    }
  }

  void put(EngineProfile profile) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const EngineProfile& p) {
      return p.engine == profile.engine && p.family == profile.family;
    });
    if (same == all.end())
      all.push_back(std::move(profile));
    else
      *same = std::move(profile);
  }
};

const Profiles& profiles() {
  static const Profiles instance;
  return instance;
}

}  // namespace

std::vector<EngineProfile> read_engine_profiles(const std::string& text, const std::string& name,
                                                std::vector<Problem>& problems) {
  std::vector<EngineProfile> out;
  const auto guarded = [&](const auto& read) {
    try {
      read();
    } catch (const DataError& error) {
      problems.push_back(error.problem);
      problems.insert(problems.end(), error.more.begin(), error.more.end());
    }
  };
  guarded([&] {
    const JsonFile file(text, name);
    file.only(file.root(), {"note", "engines"});
    for (const json& entry : file.array(file.root(), "engines"))
      guarded([&] { out.push_back(read_entry(file, entry)); });
  });
  return out;
}

EngineProfile engine_profile(std::string_view engine, std::string_view family) {
  for (const EngineProfile& profile : engine_profiles())
    if (profile.engine == engine && profile.family == family) return profile;
  EngineProfile out;
  out.engine = engine;
  out.family = family;
  return out;
}

const std::vector<EngineProfile>& engine_profiles() { return profiles().all; }

const std::vector<Problem>& engine_profile_problems() { return profiles().problems; }

int64_t EngineProfile::padded(int64_t tokens) const {
  const auto at = std::lower_bound(captured.begin(), captured.end(), tokens);
  return at == captured.end() ? tokens : *at;
}

std::vector<int64_t> vllm_captured_sizes(int64_t most, int64_t sequence_tokens) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t size) {
    const int64_t rounded = (size + sequence_tokens - 1) / sequence_tokens * sequence_tokens;
    if (rounded <= most && (out.empty() || rounded > out.back())) out.push_back(rounded);
  };
  for (const int64_t size : {1, 2, 4}) add(size);
  for (int64_t size = 8; size <= most; size += size < 256 ? 8 : 16) add(size);
  return out;
}

}  // namespace shardscape
