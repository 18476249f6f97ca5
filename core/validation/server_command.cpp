#include "validation/server_command.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "launch/server/server_flags.h"

namespace shardscape {
namespace {

// Flags without effect on the time of a request.
constexpr const char* kWithoutEffect[] = {
    "m",
    "model",
    "host",
    "port",
    "served_model_name",
    "chat_template",
    "reasoning_parser",
    "tool_call_parser",
    "tokenizer_mode",
    "trust_remote_code",
    "enable_auto_tool_choice",
};

// The words of the command, without comments, line continuations and quotes.
std::vector<std::string> words(const std::string& command) {
  std::vector<std::string> out;
  std::istringstream lines(command);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::erase_if(line, [](char c) { return c == '\\' || c == '"' || c == '\''; });
    std::istringstream text(line);
    out.insert(out.end(), std::istream_iterator<std::string>(text), std::istream_iterator<std::string>());
  }
  return out;
}

}  // namespace

ServerSettings server_settings(const std::string& engine, const std::string& command) {
  ServerSettings out;
  const std::vector<std::string> all = words(command);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i] != "export") continue;
    const size_t equals = all[i + 1].find('=');
    out[all[i + 1].substr(0, equals)] = equals == std::string::npos ? "" : all[i + 1].substr(equals + 1);
  }
  EngineKind kind = EngineKind::Vllm;
  for (const EngineKind other : {EngineKind::Sglang, EngineKind::Trtllm})
    if (engine == kEngineIds[static_cast<size_t>(other)]) kind = other;
  for (const ServerFlag& flag : server_flags(kind, all))
    if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), flag.name) ==
        std::end(kWithoutEffect))
      out[flag.name] = flag.value;
  return out;
}

}  // namespace shardscape
