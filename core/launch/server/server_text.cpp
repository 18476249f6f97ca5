#include "launch/server/server_text.h"

#include <algorithm>
#include <functional>

#include "base/units.h"
#include "launch/document/launch_document.h"
#include "launch/server/inferencex_text.h"
#include "launch/server/python_values.h"
#include "launch/shell/shell_script.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

constexpr size_t kMostBlocks = 200;     // of code in Markdown
constexpr size_t kMostServers = 1'000;  // of a text
constexpr size_t kArgumentBytes = 500;  // memory of an argument besides its value

struct Program {
  EngineKind engine;
  const char* module;  // behind "python -m"
};
constexpr Program kModules[] = {{EngineKind::Vllm, "vllm.entrypoints.openai.api_server"},
                                {EngineKind::Vllm, "vllm.entrypoints.api_server"},
                                {EngineKind::Vllm, "dynamo.vllm"},
                                {EngineKind::Sglang, "sglang.launch_server"},
                                {EngineKind::Sglang, "dynamo.sglang"},
                                {EngineKind::Trtllm, "dynamo.trtllm"}};
// Programs with "serve" behind them.
constexpr Program kCommands[] = {{EngineKind::Vllm, "vllm"}, {EngineKind::Sglang, "sglang"}};
// An image whose entry point is the server.
constexpr std::string_view kImage = "vllm/vllm-openai";

struct Start {
  EngineKind engine;
  std::string program;
  size_t first;  // word behind the program
};

std::optional<Start> start_of(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string base = words[i].substr(words[i].rfind('/') + 1);
    const bool more = i + 1 < words.size();
    for (const Program& command : kCommands)
      if (more && base == command.module && words[i + 1] == "serve")
        return Start{command.engine, base + " serve", i + 2};
    for (const Program& module : kModules)
      if (more && words[i] == "-m" && words[i + 1] == module.module)
        return Start{module.engine, words[i + 1], i + 2};
    if (base == "trtllm-serve")
      return Start{EngineKind::Trtllm, base, more && words[i + 1] == "serve" ? i + 2 : i + 1};
  }
  const auto image = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return !is_server_flag(word) && word.find(kImage) != std::string::npos;
  });
  const auto runs = std::find(words.begin(), image, "run");
  const bool other = std::any_of(words.begin(), image,
                                 [](const std::string& word) { return word.starts_with("--entrypoint"); });
  if (image == words.end() || runs == image || other) return std::nullopt;
  return Start{EngineKind::Vllm, *image, static_cast<size_t>(image - words.begin()) + 1};
}

// A value that is a JSON object becomes one argument for each of its values.
void put(ServerText& out, const ServerFlag& flag, int line, bool replace = true) {
  const auto add = [&](const std::string& name, const std::string& written, const std::string& value) {
    if (!replace && out.arguments.contains(name)) return;
    out.arguments[name] = value;
    out.written[name] = written;
    out.lines[name] = line;
  };
  if (flag.value.starts_with('{')) {
    const auto read = read_launch_document(DocumentLanguage::Json, flag.value, flag.written);
    if (const auto* document = std::get_if<LaunchDocument>(&read)) {
      for (const auto& [name, value] : document->arguments)
        add(server_setting_name(out.engine, flag.name + "." + name), flag.written + "." + name, value);
      return;
    }
  }
  add(flag.name, flag.written, flag.value);
}

void put_document(ServerText& out, const LaunchDocument& document, bool replace) {
  for (const auto& [name, value] : document.arguments) {
    const auto line = document.lines.find(name);
    const std::vector<std::string> word{"--" + name + "=" + value};
    for (ServerFlag& flag : server_flags(out.engine, word)) {
      flag.written = name;
      put(out, flag, line == document.lines.end() ? 0 : line->second, replace);
    }
  }
}

// Documents by path. Many servers may name the same.
using Configs = std::map<std::string, LaunchDocument>;

// --config of vLLM, and the options of TensorRT-LLM: a file that the script writes, or a file beside it.
// vLLM's command line replaces values of the file (vllm/utils/argparse_utils.py); the options of
// TensorRT-LLM replace its command line (tensorrt_llm/llmapi/llm_args.py, update_llm_args_with_extra_dict).
void read_config(ServerText& server, const std::map<std::string, std::string>& files, Configs& known,
                 const LaunchRequest& request, LaunchImport& out) {
  const auto path = server.arguments.find("config");
  if (path == server.arguments.end()) return;
  const auto take = [&](const LaunchDocument& document) {
    put_document(server, document, server.engine == EngineKind::Trtllm);
    server.has_config = true;
  };
  if (const auto same = known.find(path->second); same != known.end()) return take(same->second);
  std::optional<std::string> text;
  if (const auto written = files.find(path->second); written != files.end())
    text = written->second;
  else if (request.shell.source)
    text = request.shell.source(path->second);
  if (!text) {
    out.notes.push_back({server.line, "the options in \"" + path->second +
                                          "\" are not read: there is no "
                                          "such file beside the launch"});
    return;
  }
  auto read = read_launch_document(DocumentLanguage::Yaml, *text, path->second);
  if (auto* problem = std::get_if<Problem>(&read))
    out.problems.push_back(std::move(*problem));
  else {
    LaunchDocument& document = std::get<LaunchDocument>(read);
    document.lines.clear();  // lines of another file
    take(known[path->second] = std::move(document));
  }
}

struct FoundServers {
  std::vector<ServerText> servers = {};
  size_t bytes = 0;  // of their arguments
};

// Adds a server. false: out has Problems, also that of too many servers or arguments.
bool add_server(ServerText server, const LaunchRequest& request, LaunchImport& out, FoundServers& found) {
  const std::string where = request.where + ", line " + std::to_string(server.line);
  for (const auto& [name, value] : server.arguments) found.bytes += kArgumentBytes + value.size();
  found.servers.push_back(std::move(server));
  if (found.servers.size() > kMostServers)
    out.problems.emplace_back(ProblemCode::LaunchFormat, where,
                              "more than " + grouped(kMostServers) + " commands start a server", "fewer");
  else if (found.bytes > kMostLaunchBytes)
    out.problems.emplace_back(ProblemCode::LaunchFormat, where,
                              "the servers up to here have more than " +
                                  std::to_string(kMostLaunchBytes >> 20) + " MiB of arguments",
                              "fewer servers, or shorter files of options");
  return out.problems.empty();
}

void read_script(std::string_view text, int lines_before, const LaunchRequest& request, LaunchImport& out,
                 FoundServers& found, bool whole) {
  auto read = read_shell_script(text, request.shell);
  if (const auto* problem = std::get_if<Problem>(&read)) {
    if (whole)
      out.problems.emplace_back(problem->code, request.where + ", " + problem->where, problem->what,
                                problem->accepted);
    return;
  }
  const ShellScript& script = std::get<ShellScript>(read);
  for (const ShellNote& note : script.notes)
    if (whole) out.notes.push_back({note.line + lines_before, note.text});
  Configs known;
  for (const ShellCommand& command : script.commands)
    if (auto server = server_command(command.words, command.line + lines_before)) {
      read_config(*server, script.files, known, request, out);
      if (!add_server(std::move(*server), request, out, found)) return;
    }
}

bool names_program(std::string_view text) {
  for (const EngineKind engine : {EngineKind::Vllm, EngineKind::Sglang, EngineKind::Trtllm})
    if (has_server_command(text, engine)) return true;
  return false;
}

// Blocks of code between fences; "$ " in front of a command is a prompt.
void read_markdown(const LaunchRequest& request, LaunchImport& out, FoundServers& found) {
  std::string block;
  bool inside = false;
  int first = 0;
  size_t blocks = 0;
  for_lines(request.text, [&](std::string_view row, int line) {
    const size_t start = std::min(row.find_first_not_of(" \t"), row.size());
    if (row.substr(start).starts_with("```")) {
      if (inside && out.problems.empty() && names_program(block) && ++blocks <= kMostBlocks)
        read_script(block, first, request, out, found, false);
      inside = !inside;
      first = line;
      block.clear();
    } else if (inside) {
      if (row.substr(start).starts_with("$ ")) row.remove_prefix(start + 2);
      block.append(row).append("\n");
    }
  });
}

struct LogLine {
  EngineKind engine;
  std::string_view text;  // in front of the bracket
  const char* program;
};
// vllm/entrypoints/utils.py, log_non_default_args; python/sglang/srt/entrypoints/engine.py.
constexpr LogLine kLogLines[] = {{EngineKind::Vllm, "non-default args: ", "log of vLLM"},
                                 {EngineKind::Sglang, "server_args=ServerArgs", "log of SGLang"}};

void read_log(const LaunchRequest& request, LaunchImport& out, std::vector<ServerText>& servers) {
  const std::string& text = request.text;
  for (const LogLine& log : kLogLines) {
    const size_t found = text.find(log.text);
    if (found == std::string::npos) continue;
    const int line = 1 + static_cast<int>(
                             std::count(text.begin(), text.begin() + static_cast<long>(found), '\n'));
    const size_t start = found + log.text.size();
    const auto values = read_python_values(std::string_view(text).substr(start));
    if (!values) {
      out.problems.emplace_back(ProblemCode::LaunchSyntax, request.where + ", line " + std::to_string(line),
                                "the list of arguments does not end", "the whole line of the log");
      return;
    }
    ServerText server{log.engine, log.program, line, {}, {}, {}, {}};
    for (const auto& [name, value] : *values)
      if (value != "null") put(server, {server_setting_name(log.engine, name), value, name}, line);
    servers.push_back(std::move(server));
  }
}

void read_options(EngineKind engine, const LaunchRequest& request, LaunchImport& out,
                  std::vector<ServerText>& servers) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  ServerText server{engine, std::string("options of ") + engine_name(engine), 1, {}, {}, {}, {}};
  put_document(server, std::get<LaunchDocument>(read), true);
  servers.push_back(std::move(server));
}

bool has_line_with(std::string_view text, std::initializer_list<std::string_view> starts) {
  bool found = false;
  for_lines(text, [&](std::string_view row, int) {
    for (const std::string_view start : starts) found |= row.starts_with(start);
  });
  return found;
}

}  // namespace

std::optional<ServerText> server_command(const std::vector<std::string>& words, int line) {
  const auto start = start_of(words);
  if (!start) return std::nullopt;
  ServerText out{start->engine, start->program, line, {}, {}, {}, {}};
  size_t first = start->first;
  if (first < words.size() && words[first] == "...") return std::nullopt;  // of a text, not a command
  if (first < words.size() && !is_server_flag(words[first])) {
    put(out, {"model", words[first], "the model"}, line);
    ++first;
  }
  for (const ServerFlag& flag : server_flags(start->engine, std::span(words).subspan(first)))
    put(out, flag, line);
  return out;
}

bool has_server_command(std::string_view text, EngineKind engine) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  for (const Program& module : kModules)
    if (module.engine == engine && has(module.module)) return true;
  for (const Program& command : kCommands)
    if (command.engine == engine && has(std::string(command.module) + " serve ")) return true;
  return engine == EngineKind::Vllm ? has(kImage) : engine == EngineKind::Trtllm && has("trtllm-serve");
}

bool has_server_log(std::string_view text, EngineKind engine) {
  return std::any_of(std::begin(kLogLines), std::end(kLogLines), [&](const LogLine& log) {
    return log.engine == engine && text.find(log.text) != std::string_view::npos;
  });
}

bool has_server_options(std::string_view text, EngineKind engine) {
  switch (engine) {
    case EngineKind::Vllm:
      return has_line_with(text, {"tensor-parallel-size:", "kv-cache-dtype:", "max-num-batched-tokens:",
                                  "max-num-seqs:", "gpu-memory-utilization:", "no-enable-prefix-caching:"});
    case EngineKind::Sglang: return false;
    case EngineKind::Trtllm:
      return has_line_with(text, {"kv_cache_config:", "cuda_graph_config:", "enable_attention_dp:",
                                  "moe_expert_parallel_size:", "cache_transceiver_config:"});
  }
  return false;
}

std::vector<ServerText> find_servers(const LaunchRequest& request, LaunchImport& out) {
  FoundServers found;
  std::vector<ServerText>& servers = found.servers;
  const std::string_view text = request.text;
  const bool fenced = text.starts_with("```") || text.find("\n```") != std::string_view::npos;
  const auto any = [&](bool (*has)(std::string_view, EngineKind)) -> std::optional<EngineKind> {
    for (const EngineKind engine : {EngineKind::Vllm, EngineKind::Sglang, EngineKind::Trtllm})
      if (has(text, engine)) return engine;
    return std::nullopt;
  };
  if (is_inferencex_script(text)) {
    if (auto server = read_inferencex_script(request, out)) servers.push_back(std::move(*server));
  } else if (any(has_server_log))
    read_log(request, out, servers);
  else if (const auto engine = any(has_server_options); engine && !any(has_server_command))
    read_options(*engine, request, out, servers);
  else if (fenced)
    read_markdown(request, out, found);
  else
    read_script(text, 0, request, out, found, true);
  return std::move(servers);
}

}  // namespace shardscape
