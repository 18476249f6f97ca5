// What a simulation of a service needs besides a design: the requests, the engine and the fleet. One table
// of settings gives the flags of the command line, the keys of JSON and the fields of the window.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "performance/machine.h"
#include "serving/requests/arrivals.h"
#include "serving/requests/engine_settings.h"
#include "serving/requests/request_simulation.h"
#include "serving/requests/service_results.h"

namespace shardscape {

// The requests: a file of recorded ones, or drawn ones.
struct RequestSource {
  std::string trace;    // file (requests/trace_file.h); empty: requests are drawn
  std::string lengths;  // file of lengths to draw from; empty: input_len and output_len
  int64_t requests = 1000;
  ArrivalKind arrivals = ArrivalKind::Poisson;
  double rate = 1;        // requests per second
  double burstiness = 1;  // of the gamma distribution
  int64_t users = 0;      // closed loop: each sends a request when the previous one ends; 0: open loop
  int64_t input_len = 1024, output_len = 128;  // tokens
  double range_ratio = 1;                      // lengths are uniform between this share of them and the whole
  int64_t seed = 0;
  friend bool operator==(const RequestSource&, const RequestSource&) = default;
};

struct ServiceSpec {
  RequestSource source;
  EngineSettings engine;
  // Shares of the memory that give the size of the cache, if the engine has none. Of vLLM, of SGLang, and of
  // TensorRT-LLM (engine/cache_capacity.h).
  double gpu_memory_utilization = 0.9;
  double mem_fraction_static = 0;  // 0: as SGLang estimates it
  double free_gpu_memory_fraction = 0.9;
  // Tiers of the cache below the device, of an attention replica: GiB, and 10^9 bytes per second. The host's
  // link is that of one accelerator (Machine::host_gbps); all accelerators load at once. The disk is the
  // replica's.
  double host_cache_gib = 0, disk_cache_gib = 0;
  double host_cache_gbps = Machine{}.host_gbps, disk_cache_gbps = 7;
  int64_t replicas = 0;  // engines; 0: the data-parallel degree of the design
  Router router = Router::RoundRobin;
  RequestLimits limits;
  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};

enum class SettingKind : uint8_t { Whole, Number, Numbers, Switch, Choice, File, Seconds };
enum class SettingGroup : uint8_t { Requests, Engine, Fleet, Limits };
const char* group_label(SettingGroup group);  // "Requests"

// One setting. Values are texts as a person writes them: "0.9", "0.7,0.5", "poisson", "true", "50 ms".
struct ServiceSetting {
  const char* id;     // "max_num_seqs"; the flag is --max-num-seqs
  const char* label;  // for the window: "Sequences"
  const char* help;
  SettingGroup group;
  SettingKind kind;
  std::vector<const char*> choices;  // of a Choice
  std::string (*text)(const ServiceSpec& spec);
  bool (*read)(ServiceSpec& spec, const std::string& text);  // false: not a value of this kind
  std::optional<EngineKind> engine = {};                     // whose setting it is; empty: of all
  std::string flag() const;
  std::string accepted() const;  // "a whole number"
};

std::span<const ServiceSetting> service_settings();
const ServiceSetting* find_setting(std::string_view id);
// Reads a value. A Problem names the setting and what it accepts; the spec is then unchanged.
std::optional<Problem> set_setting(ServiceSpec& spec, const ServiceSetting& setting, const std::string& text);
// A Problem if the setting belongs to another engine than that of the spec, and has no effect.
std::optional<Problem> check_engine(const ServiceSpec& spec, const ServiceSetting& setting);
// The setting that gives the cache its share of the memory.
const ServiceSetting& memory_setting(EngineKind engine);
double memory_share(const ServiceSpec& spec);
// The first value out of its range.
std::optional<Problem> check_spec(const ServiceSpec& spec);

}  // namespace shardscape
