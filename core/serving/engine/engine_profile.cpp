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

KvConnector read_connector(const JsonFile& file, const json& entry) {
  file.only(entry, {"connector", "version", "transfer_us", "descriptor_us", "source"});
  KvConnector out;
  out.connector = file.text(entry, "connector");
  out.version = file.text_or(entry, "version", "");
  out.source = file.text(entry, "source");
  out.transfer_seconds = number_or_zero(file, entry, "transfer_us") * 1e-6;
  out.descriptor_seconds = number_or_zero(file, entry, "descriptor_us") * 1e-6;
  return out;
}

// Replaces the first entry that is the same, or adds one.
template <class Entry, class Same>
void put(std::vector<Entry>& all, Entry entry, const Same& same) {
  const auto earlier = std::find_if(all.begin(), all.end(), same);
  if (earlier == all.end())
    all.push_back(std::move(entry));
  else
    *earlier = std::move(entry);
}

struct Profiles {
  EngineEntries all;
  std::vector<Problem> problems;

  Profiles() {
    for (const auto& path : data_files("resources/engines")) {
      const auto text = read_text(path);
      if (const auto* problem = std::get_if<Problem>(&text))
        problems.push_back(*problem);
      else
        add(read_engine_entries(std::get<std::string>(text), path.string(), problems));
    }
  }

  void add(EngineEntries entries) {
    for (EngineProfile& of : entries.engines) {
      const auto same = [engine = of.engine, family = of.family](const EngineProfile& p) {
        return p.engine == engine && p.family == family;
      };
      put(all.engines, std::move(of), same);
    }
    for (KvConnector& of : entries.connectors) {
      const auto same = [name = of.connector](const KvConnector& c) { return c.connector == name; };
      put(all.connectors, std::move(of), same);
    }
  }
};

const Profiles& profiles() {
  static const Profiles instance;
  return instance;
}

}  // namespace

EngineEntries read_engine_entries(const std::string& text, const std::string& name,
                                  std::vector<Problem>& problems) {
  EngineEntries out;
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
    file.only(file.root(), {"note", "engines", "kv_connectors"});
    for (const json& entry : file.array(file.root(), "engines"))
      guarded([&] { out.engines.push_back(read_entry(file, entry)); });
    if (!file.root().contains("kv_connectors")) return;
    for (const json& entry : file.array(file.root(), "kv_connectors"))
      guarded([&] { out.connectors.push_back(read_connector(file, entry)); });
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

KvConnector kv_connector(std::string_view connector) {
  for (const KvConnector& of : profiles().all.connectors)
    if (of.connector == connector) return of;
  KvConnector out;
  out.connector = connector;
  return out;
}

const std::vector<EngineProfile>& engine_profiles() { return profiles().all.engines; }

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
