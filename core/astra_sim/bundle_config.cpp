#include "astra_sim/bundle_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/data_dir.h"
#include "base/json_text.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kNoRank = -1, kNoNode = -1;

// A configuration file: in the folder of the traces, or elsewhere.
struct ConfigFile {
  ConfigFile(const fs::path& folder, const fs::path& given, const char* usual)
      : path(given.empty() ? folder / usual : given),
        name(given.empty() ? usual : given.string()),
        usual(given.empty()) {}
  bool exists() const {
    std::error_code error;
    return fs::exists(path, error) || error;
  }
  fs::path path;
  std::string name;  // in messages
  bool usual;        // no other path is given
};

class ConfigReader {
 public:
  ConfigReader(const BundlePaths& paths, Findings& findings)
      : groups_(paths.folder, paths.groups, "comm_groups.json"),
        system_(paths.folder, paths.system, "system.json"),
        network_(paths.folder, paths.network, "network.yml"),
        memory_(paths.folder, paths.memory, "memory.json"),
        findings_(findings) {}

  BundleConfig read() {
    read_groups();
    read_network();
    read_system();
    read_memory();
    return std::move(config_);
  }

 private:
  void error(const char* code, const std::string& message) {
    findings_.error(code, kNoRank, kNoNode, message);
  }
  void warning(const char* code, const std::string& message) {
    findings_.warning(code, kNoRank, kNoNode, message);
  }

  std::optional<std::string> text(const ConfigFile& file) {
    std::error_code failed;
    const fs::file_status status = fs::status(file.path, failed);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      error("CONFIG_FILE", file.name + ": this is no regular file");
      return std::nullopt;
    }
    auto read = read_text(file.path);
    if (auto* problem = std::get_if<Problem>(&read)) {
      error("CONFIG_FILE", file.name + ": " + problem->what);
      return std::nullopt;
    }
    return std::get<std::string>(std::move(read));
  }

  std::optional<json> object(const ConfigFile& file) {
    const auto content = text(file);
    if (!content) return std::nullopt;
    constexpr size_t kLongest = size_t{16} << 20;  // bytes; such files have a few kilobytes
    json j;
    if (const auto problem = read_json(*content, file.name, j, {.longest = kLongest})) {
      error("CONFIG_FILE", to_string(*problem));
      return std::nullopt;
    }
    if (j.is_object()) return j;
    error("CONFIG_FILE", file.name + ": the top level must be an object");
    return std::nullopt;
  }

  void read_groups() {
    if (groups_.usual && !groups_.exists()) return;
    if (groups_.path.string().find("empty") != std::string::npos)
      error("GROUP_PATH",
            "the path " + groups_.path.string() + " contains \"empty\": the simulator then reads no groups");
    const auto content = text(groups_);
    if (!content) return;
    json j;
    if (const auto problem = read_json(*content, groups_.name, j))
      return error("GROUP_FILE", to_string(*problem));
    if (!j.is_object())
      return error("GROUP_FILE", groups_.name + " must be one JSON object {\"1\": [0, 1], ...}");
    for (const auto& [key, members] : j.items()) read_group(key, members);
  }

  void read_group(const std::string& key, const json& members) {
    int64_t id = 0;
    const auto [end, status] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (status != std::errc() || end != key.data() + key.size() || id < 1 ||
        id > std::numeric_limits<int32_t>::max()) {
      error("GROUP_KEY", "group key \"" + key + "\" is not an integer from 1 to 2147483647");
      return;
    }
    if (config_.groups.contains(id))
      error("GROUP_KEY", "group key \"" + key + "\" names group " + std::to_string(id) + " again");
    if (id > 2147)
      warning("GROUP_ID_LARGE",
              "group " + key + ": ids above 2147 overflow the simulator's 32-bit stream number");
    const bool integers = members.is_array() &&
                          std::all_of(members.begin(), members.end(), [](const json& m) {
                            return m.is_number_integer() || m.is_number_unsigned();
                          });
    if (!integers || members.empty()) {
      error("GROUP_MEMBERS", "group " + key + " must be a list of at least two ranks");
      return;
    }
    auto ranks = members.get<std::vector<int64_t>>();
    if (!std::is_sorted(ranks.begin(), ranks.end())) {
      warning("GROUP_ORDER",
              "group " + key + " is not ascending; the simulator's ring follows the order of the list");
      std::sort(ranks.begin(), ranks.end());
    }
    if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end())
      error("GROUP_MEMBERS", "group " + key + " names a rank twice");
    if (ranks.front() < 0)
      error("GROUP_MEMBERS", "group " + key + " names the negative rank " + std::to_string(ranks.front()));
    config_.groups[id] = std::move(ranks);
  }

  // The lists of network.yml: `key: [ a, b ]`, or one line `- a` per entry.
  static std::map<std::string, std::vector<std::string>> yaml_lists(const std::string& content) {
    std::map<std::string, std::vector<std::string>> lists;
    std::string key, word;
    const auto flush = [&] {
      if (!word.empty() && !key.empty()) lists[key].push_back(word);
      word.clear();
    };
    bool comment = false;
    for (size_t i = 0; i <= content.size(); ++i) {
      const char c = i < content.size() ? content[i] : '\n';
      // A dash before a blank begins an entry; before a digit it is a sign.
      const bool bullet = c == '-' && word.empty() &&
                          (i + 1 >= content.size() ||
                           std::isspace(static_cast<unsigned char>(content[i + 1])));
      if (c == '\n') comment = false;
      if (comment) continue;
      if (c == '#') comment = true;
      if (c == ':') {
        key = std::exchange(word, {});
        lists[key];
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == '[' || c == ']' || c == ',' ||
                 c == '#') {
        flush();
      } else if (c != '"' && c != '\'' && !bullet) {
        word += c;
      }
    }
    return lists;
  }

  void read_network() {
    const auto content = text(network_);
    if (!content) return;
    auto lists = yaml_lists(*content);
    for (const char* key : {"topology", "npus_count", "bandwidth", "latency"})
      if (lists[key].empty()) error("NETWORK_KEY", network_.name + " lacks the list " + key);
    dimensions_ = lists["npus_count"].size();
    for (const auto& [key, list] : lists)
      if (!list.empty() && list.size() != dimensions_)
        error("NETWORK_LISTS", network_.name + ": " + key + " has " + std::to_string(list.size()) +
                                   " entries, npus_count " + std::to_string(dimensions_) +
                                   "; both lists must have the same length");
    for (const std::string& t : lists["topology"])
      if (t != "Ring" && t != "FullyConnected" && t != "Switch")
        error("TOPOLOGY", network_.name + ": topology " + t + " is not Ring, FullyConnected or Switch");
    int64_t ranks = dimensions_ == 0 ? 0 : 1;
    for (const std::string& entry : lists["npus_count"]) {
      int64_t n = 0;
      const auto [end, status] = std::from_chars(entry.data(), entry.data() + entry.size(), n);
      if (status != std::errc() || end != entry.data() + entry.size() || n < 2 || n > (int64_t{1} << 31)) {
        error("NPUS_COUNT", network_.name + ": npus_count " + entry + " must be an integer greater than 1" +
                                (entry == "1" ? ": the simulator needs at least 2 ranks" : ""));
        n = n == 1 ? 1 : 0;
      }
      ranks = ranks > (int64_t{1} << 31) ? ranks : ranks * n;
      npus_.push_back(n);
    }
    config_.ranks = ranks;
    config_.dimensions.resize(dimensions_);
    for (const char* key : {"bandwidth", "latency"})
      for (size_t d = 0; d < lists[key].size(); ++d) {
        const double value = checked_number(key, lists[key][d]);
        if (d < dimensions_)
          (key == std::string("latency") ? config_.dimensions[d].latency
                                         : config_.dimensions[d].gigabytes) = value;
      }
    for (size_t d = 0; d < dimensions_; ++d) {
      config_.dimensions[d].ranks = npus_[d];
      if (d < lists["topology"].size()) config_.dimensions[d].topology = lists["topology"][d];
    }
  }

  double checked_number(const std::string& key, const std::string& entry) {
    double value = 0;
    const auto [end, status] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
    const bool number = status == std::errc() && end == entry.data() + entry.size();
    if (!number || !std::isfinite(value) || value < 0 || (key == "bandwidth" && value == 0))
      error("NETWORK_NUMBER", network_.name + ": " + key + " " + entry + " must be a " +
                                  (key == "bandwidth" ? "positive number" : "number of at least 0"));
    return number && std::isfinite(value) ? value : 0;
  }

  double number(const json& j, const char* key, bool required, double otherwise) {
    const auto it = j.find(key);
    if (it == j.end()) {
      if (required) error("SYSTEM_KEY", system_.name + " lacks " + key);
      return otherwise;
    }
    if (it->is_number()) return it->get<double>();
    error("SYSTEM_KEY", system_.name + ": " + key + " must be a number");
    return otherwise;
  }

  void choice(const json& j, const char* key, const std::set<std::string>& allowed) {
    const auto it = j.find(key);
    if (it == j.end() || (it->is_string() && allowed.contains(it->get<std::string>()))) return;
    std::string list;
    for (const std::string& a : allowed) list += (list.empty() ? "" : ", ") + a;
    error("SYSTEM_KEY", system_.name + ": " + key + " must be one of " + list);
  }

  void read_system() {
    const auto j = object(system_);
    if (!j) return;
    const double splits = number(*j, "preferred-dataset-splits", true, 1);
    if (splits < 1) error("SYSTEM_KEY", system_.name + ": preferred-dataset-splits must be at least 1");
    config_.dataset_splits = splits < 1 ? 1 : static_cast<int64_t>(std::min(splits, 1e15));
    config_.endpoint_delay = number(*j, "endpoint-delay", false, config_.endpoint_delay);
    config_.roofline = number(*j, "roofline-enabled", false, 0) != 0;
    config_.peak_flops = number(*j, "peak-perf", config_.roofline, 0) * 1e12;
    config_.memory_bytes_per_second = number(*j, "local-mem-bw", config_.roofline, 0) * 1e9;
    if (config_.roofline && j->contains("peak-perf") && j->contains("local-mem-bw") &&
        (config_.peak_flops <= 0 || config_.memory_bytes_per_second <= 0))
      error("SYSTEM_KEY", system_.name + ": peak-perf and local-mem-bw must be positive for the roofline");
    config_.track_local_mem = number(*j, "track-local-mem", false, 0) != 0;
    config_.active_chunks = static_cast<int64_t>(
        std::clamp(number(*j, "active-chunks-per-dimension", false, 1), 1.0, 1e9));
    config_.replay_only = number(*j, "replay-only", false, 0) != 0;
    choice(*j, "scheduling-policy", {"LIFO", "FIFO", "EXPLICIT"});
    choice(*j, "collective-optimization", {"baseline", "localBWAware"});
    config_.level_by_level = j->value("collective-optimization", json()) == "localBWAware";
    for (size_t i = 0; i < kImplementationCount; ++i)
      check_implementation(*j, kImplementationKeys[i], config_.implementations[i]);
  }

  // "direct4": a window of 4 messages per rank. With a window of 0, the simulator hangs.
  static bool is_known(std::string name) {
    static const std::set<std::string> known{"ring",
                                             "oneRing",
                                             "direct",
                                             "oneDirect",
                                             "halvingDoubling",
                                             "oneHalvingDoubling",
                                             "doubleBinaryTree"};
    if (name.starts_with("direct") || name.starts_with("oneDirect"))
      if (const size_t digits = name.find_first_of("0123456789"); digits != std::string::npos) {
        const std::string window = name.substr(digits);
        if (window.find_first_not_of("0123456789") != std::string::npos ||
            window.find_first_not_of('0') == std::string::npos)
          return false;
        name.resize(digits);
      }
    return known.contains(name);
  }

  void check_implementation(const json& j, const std::string& key, std::vector<std::string>& names) {
    const auto it = j.find(key);
    if (it == j.end() || !it->is_array()) {
      error("IMPLEMENTATION_LIST",
            system_.name + ": " + key + " must be a list with one entry per network dimension");
      return;
    }
    if (dimensions_ != 0 && it->size() != dimensions_)
      error("IMPLEMENTATION_LIST", system_.name + ": " + key + " has " + std::to_string(it->size()) +
                                       " entries for " + std::to_string(dimensions_) + " network dimensions");
    for (size_t d = 0; d < it->size(); ++d) {
      const std::string name = (*it)[d].is_string() ? (*it)[d].get<std::string>() : (*it)[d].dump();
      names.push_back(name);
      if (!is_known(name)) error("IMPLEMENTATION", system_.name + ": " + key + ": " + name + " is unknown");
    }
  }

  static double positive(const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_number() ? std::max(0.0, it->get<double>()) : 0;
  }

  void read_memory() {
    static const std::set<std::string> known{"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                             "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"};
    if (memory_.usual && !memory_.exists())
      return warning("CONFIG_FILE", "memory.json is missing: the check assumes NO_MEMORY_EXPANSION");
    const auto j = object(memory_);
    if (!j) return;
    const auto it = j->find("memory-type");
    const std::string type = it != j->end() && it->is_string() ? it->get<std::string>() : "";
    if (!known.contains(type))
      error("MEMORY_TYPE", memory_.name +
                               ": memory-type must be one of NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION, "
                               "PER_NODE_MEMORY_EXPANSION, MEMORY_POOL");
    config_.memory_expansion = type != "NO_MEMORY_EXPANSION";
    config_.own_memory = type == "PER_NPU_MEMORY_EXPANSION";
    config_.memory_latency = positive(*j, "remote-mem-latency");
    config_.memory_gbps = positive(*j, "remote-mem-bw");
  }

  ConfigFile groups_, system_, network_, memory_;
  Findings& findings_;
  BundleConfig config_;
  size_t dimensions_ = 0;
  std::vector<int64_t> npus_;
};

}  // namespace

std::optional<size_t> implementation_index(chakra::CollectiveType type) {
  using chakra::CollectiveType;
  switch (type) {
    case CollectiveType::AllReduce: return 0;
    case CollectiveType::AllGather: return 1;
    case CollectiveType::ReduceScatter: return 2;
    case CollectiveType::AllToAll: return 3;
    case CollectiveType::Reduce:
    case CollectiveType::Gather:
    case CollectiveType::Scatter:
    case CollectiveType::Broadcast:
    case CollectiveType::ReduceScatterBlock:
    case CollectiveType::Barrier: return std::nullopt;
  }
  return std::nullopt;
}

bool BundleConfig::is_member(int64_t group, int64_t rank) const {
  const auto it = groups.find(group);
  return it != groups.end() && std::binary_search(it->second.begin(), it->second.end(), rank);
}

BundleConfig read_bundle_config(const BundlePaths& paths, Findings& findings) {
  return ConfigReader(paths, findings).read();
}

void check_config_ranks(const BundleConfig& config, int64_t ranks, int64_t traces, Findings& findings) {
  if (config.ranks != 0 && config.ranks != traces)
    findings.error("NPUS_PRODUCT", kNoRank, kNoNode,
                   "network.yml has " + std::to_string(config.ranks) +
                       " ranks (product of npus_count), there are " + std::to_string(traces) + " traces");
  for (const auto& [id, members] : config.groups) {
    if (!members.empty() && members.back() >= ranks)
      findings.error("GROUP_MEMBERS", kNoRank, kNoNode,
                     "group " + std::to_string(id) + " names rank " + std::to_string(members.back()) +
                         " of 0.." + std::to_string(ranks - 1));
  }
}

}  // namespace shardscape
