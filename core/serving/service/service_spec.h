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
#include "serving/service/service_level.h"

namespace shardscape {

// The requests: a file of recorded ones, or drawn ones.
struct RequestSource {
  std::string trace;                // file (requests/trace_file.h); empty: requests are drawn
  std::string lengths;              // file of lengths to draw from; empty: input_len and output_len
  double characters_per_token = 0;  // of texts in this file; 0: texts are refused
  int64_t requests = 1000;
  ArrivalKind arrivals = ArrivalKind::Poisson;
  double rate = 1;        // requests per second
  double burstiness = 1;  // of the gamma distribution
  // Points of seconds and factor of the rate (rate_pieces, requests/arrivals.h); empty: the rate is constant.
  std::vector<double> rate_profile;
  double rate_period = 0;  // seconds after which the profile repeats; 0: never
  int64_t users = 0;       // closed loop: each sends a request when the previous one ends; 0: open loop
  int64_t input_len = 1024, output_len = 128;  // tokens
  double range_ratio = 1;                      // lengths are uniform between this share of them and the whole
  int64_t turns = 1;                           // requests of a session
  double think_time = 0;                       // mean seconds between the answer of a turn and the next turn
  int64_t seed = 0;
  friend bool operator==(const RequestSource&, const RequestSource&) = default;
};

// Who takes cache blocks for a prompt first (HandoffOrder); Engine: as the engine does.
enum class HandoffChoice : uint8_t { Engine, SourceFirst, DestinationFirst };

// What sends caches from prefill to decode replicas (KvConnector); Engine: as the engine does. Network: the
// connector adds nothing to the network.
enum class KvConnectorChoice : uint8_t { Engine, Network, Mooncake, Nixl };

// Replicas beyond a fixed number of equal ones (requests/request_simulation.h).
struct FleetSpec {
  int64_t prefill_replicas = 0;     // that compute prompts only; 0: every replica does both
  int64_t decode_replicas = 0;      // that generate answers; 0: the data-parallel degree of the design
  std::string prefill_design;       // file (design/document.h); empty: the design of the decode replicas
  int64_t prefill_step_tokens = 0;  // most tokens of their steps; 0: as the decode replicas
  HandoffChoice kv_handoff = HandoffChoice::Engine;
  KvConnectorChoice kv_connector = KvConnectorChoice::Engine;
  int64_t least_replicas = 0;        // 0: the number of replicas is fixed
  double requests_per_replica = 32;  // that the number of replicas follows
  double start_seconds = 60, cool_down_seconds = 300;
  // The same of prefill replicas; the values above are then those of the decode replicas.
  int64_t least_prefill_replicas = 0;
  double requests_per_prefill_replica = 8;
  double prefill_start_seconds = 60, prefill_cool_down_seconds = 300;
  double failure_time = 0, failure_seconds = 0;  // 0 seconds: no failure
  int64_t failed_replica = 0;
  friend bool operator==(const FleetSpec&, const FleetSpec&) = default;
};

struct ServiceSpec {
  RequestSource source;
  EngineSettings engine;
  // Shares of the memory that give the size of the cache, if the engine has none. Of vLLM, of SGLang, and of
  // TensorRT-LLM (engine/cache_capacity.h).
  double gpu_memory_utilization = 0.9;
  double mem_fraction_static = 0;  // 0: as SGLang estimates it
  double free_gpu_memory_fraction = 0.9;
  // Engines, with prefill and decode replicas of both; 0: what follows from them or from the data-parallel
  // degree of the design.
  int64_t replicas = 0;
  FleetSpec fleet;
  // Tiers of the cache below the device, of an attention replica: GiB, and 10^9 bytes per second. The host's
  // link is that of one accelerator (Machine::host_gbps); all accelerators load at once. The disk is the
  // replica's.
  double host_cache_gib = 0, disk_cache_gib = 0;
  double host_cache_gbps = Machine{}.host_gbps, disk_cache_gbps = 7;
  // Model of the draft: a preset or a file (service_draft.h); empty: none. Ranks that share it; 0: as the
  // model.
  std::string draft_model;
  int64_t draft_tensor_parallel_size = 0;
  Router router = Router::RoundRobin;
  RequestLimits limits;  // of a request; its 99th percentile keeps them, too
  ServiceLevel level;    // further limits, of percentiles
  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};

// Level: limits of percentiles (service_level.h).
enum class SettingKind : uint8_t { Whole, Number, Numbers, Switch, Choice, File, Seconds, Level };
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
// What the service promises: the targets of `level`, and p99 of each limit of a request.
ServiceLevel promised_level(const ServiceSpec& spec);
// The limits of a request that count for goodput: those of the spec, or else the loosest percentile of the
// same latency. Mean values, ITL and queueing limit no request.
RequestLimits request_limits(const ServiceSpec& spec);
// The first value out of its range.
std::optional<Problem> check_spec(const ServiceSpec& spec);

}  // namespace shardscape
