// Finds the servers that a text would start, or has started: commands of a script, blocks of code in
// Markdown, lines of a log, and documents with options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"
#include "launch/server/server_flags.h"

namespace shardscape {

struct ServerText {
  EngineKind engine = EngineKind::Vllm;
  std::string program;                         // "vllm serve"
  int line = 0;                                // of the command
  LaunchArguments arguments;                   // by common name (server_flags.h)
  std::map<std::string, std::string> written;  // the names in the text
  std::map<std::string, int> lines;            // of arguments that a document or a log gives
  // Engines of this kind on other nodes, and what runs with them (disaggregated serving).
  std::map<std::string, std::string> fleet;  // id of a setting of the service -> value
  bool has_config = false;                   // the arguments hold those of the file that "config" names
};

// Whether the text starts an engine, or has its log or its options. engine: nullopt for any.
bool has_server_command(std::string_view text, EngineKind engine);
bool has_server_log(std::string_view text, EngineKind engine);
bool has_server_options(std::string_view text, EngineKind engine);

// In the order of the text. Notes and problems go to `out`.
std::vector<ServerText> find_servers(const LaunchRequest& request, LaunchImport& out);

// Memory of weights and cache that vLLM's log states at the start. service: the settings of the engine.
std::vector<LaunchMeasurement> vllm_measurements(std::string_view log,
                                                 const std::vector<LaunchSetting>& service);

// Adds the flags of a command from its words; the model may stand between the program and its flags.
// nullopt: the words start no engine.
std::optional<ServerText> server_command(const std::vector<std::string>& words, int line);

}  // namespace shardscape
