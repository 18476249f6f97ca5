#include "launch/maxtext/maxtext_launch.h"

#include <algorithm>
#include <charconv>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/maxtext/maxtext_fields.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

constexpr std::string_view kParameter = "Config param ";  // src/maxtext/configs/pyconfig.py:584

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool is_log(std::string_view text) { return has(text, kParameter); }
bool is_script(std::string_view text) {
  return has(text, "maxtext.trainers.pre_train") || has(text, "MaxText.train") ||
         has(text, "MaxText/train") || has(text, "benchmarks.benchmark_runner");
}
bool is_yaml(std::string_view text) {
  return has(text, "base_emb_dim:") || has(text, "per_device_batch_size:") ||
         (has(text, "base_config:") && has(text, "model_name:"));
}

struct Text {
  LaunchDocument document;
  int64_t gpus = 0, slices = 0;  // 0: not in the text
};

// "True", "None" and "[1, 2]" of Python, and texts in quotes.
std::string plain(std::string text) {
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  if (text == "True") return "true";
  if (text == "False") return "false";
  if (text == "None") return "null";
  if (!text.starts_with('[') && !text.starts_with('(')) return text;
  std::string out;
  for (const char c : text) {
    const bool between = c == ',' || c == ' ';
    if (between && !out.empty() && out.back() != ' ') out += ' ';
    if (!between && std::string_view("[]()'\"").find(c) == std::string_view::npos) out += c;
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::string number_after(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = trimmed(line.substr(at + name.size()));
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

int64_t whole(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out <= 100'000'000 ? out : 0;
}

void read_log(const std::string& text, Text& read, LaunchImport& out) {
  for_lines(text, [&](std::string_view line, int number) {
    if (const size_t begin = line.find(kParameter); begin != std::string_view::npos) {
      const std::string_view rest = line.substr(begin + kParameter.size());
      const size_t colon = rest.find(':');
      if (colon == std::string_view::npos || read.document.arguments.size() >= kMostLaunchValues) return;
      const std::string name(rest.substr(0, colon));
      read.document.arguments[name] = plain(std::string(trimmed(rest.substr(colon + 1))));
      read.document.lines[name] = number;
    } else if (has(line, "completed step: ")) {
      out.measured.clear();
      using enum MeasuredQuantity;
      for (const auto& [name, quantity, what, unit] :
           {std::tuple{"seconds: ", StepTime, "step time", "s"},
            {"TFLOP/s/device: ", UsefulFlops, "useful FLOP/s per device", "TFLOP/s"},
            {"Tokens/s/device: ", Tokens, "tokens per second and device", "tokens/s"}})
        if (const auto value = real_number(number_after(line, name)))
          out.measured.push_back({quantity, what, *value, unit, number});
    } else if (has(line, "Num_devices: ")) {
      read.gpus = whole(number_after(line, "Num_devices: "));
    }
  });
}

// PyYAML reads 32_000 as a number.
std::string without_underscores(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789_") != std::string::npos) return text;
  std::string out = text;
  std::erase(out, '_');
  return out;
}

// Chips of "v5e-256"; the numbers of v4 and v5p count two cores per chip.
int64_t chips(const std::string& topology) {
  const size_t dash = topology.rfind('-');
  if (dash == std::string::npos) return 0;
  const int64_t number = whole(topology.substr(dash + 1));
  const std::string kind = topology.substr(0, dash);
  return kind == "v4" || kind == "v5p" ? number / 2 : number;
}

bool refuse(const LaunchRequest& request, LaunchImport& out, std::string what, std::string accepted) {
  out.problems.emplace_back(ProblemCode::LaunchFormat, request.where, std::move(what), std::move(accepted));
  return false;
}

bool read_command(const LaunchRequest& request, Text& read, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return false;
  for (const ShellCommand& command : script->commands) {
    const auto program = std::find_if(command.words.begin(), command.words.end(),
                                      [](const std::string& word) {
                                        return has(word, "maxtext.trainers.pre_train") ||
                                               has(word, "MaxText.train") || has(word, "MaxText/train");
                                      });
    if (program == command.words.end()) continue;
    for (auto word = program + 1; word != command.words.end(); ++word) {
      const size_t sign = word->find('=');
      if (sign == std::string::npos || sign == 0 || word->starts_with("-")) continue;
      const std::string name = word->substr(0, sign);
      read.document.arguments[name] = plain(word->substr(sign + 1));
      read.document.lines[name] = command.line;
    }
    return true;
  }
  if (has(request.text, "benchmarks.benchmark_runner"))
    return refuse(
        request, out, "the script names a benchmark, whose arguments are Python in MaxText's benchmarks/",
        "the log of the benchmark with its lines \"Config param NAME: VALUE\", or a command line of "
        "maxtext.trainers.pre_train.train");
  return refuse(request, out, "no command of the script starts maxtext.trainers.pre_train.train",
                "a script or a command line with its arguments NAME=VALUE");
}

}  // namespace

bool is_maxtext_launch(std::string_view text) { return is_log(text) || is_script(text) || is_yaml(text); }

void read_maxtext_launch(const LaunchRequest& request, LaunchImport& out) {
  Text read;
  if (is_log(request.text)) {
    read_log(request.text, read, out);
  } else if (is_script(request.text)) {
    if (!read_command(request, read, out)) return;
  } else {
    auto document = read_request(DocumentLanguage::Yaml, request.text, request, out);
    if (!document) return;
    read.document = std::move(*document);
    for (auto& entry : read.document.arguments) entry.second = without_underscores(entry.second);
  }
  const LaunchArguments& arguments = read.document.arguments;
  const auto text = [&](const char* name) {
    const auto found = arguments.find(name);
    return found == arguments.end() ? std::string() : found->second;
  };
  if (has(text("base_config"), "inference")) {
    refuse(request, out, "base_config is " + text("base_config") + ": the file starts a server",
           "a file whose base_config is base.yml");
    return;
  }
  std::string from = "Num_devices in the log";
  read.slices = whole(text("compile_topology_num_slices"));
  if (read.slices < 1) read.slices = std::max<int64_t>(whole(text("num_slices")), 1);
  if (read.gpus == 0 && !text("compile_topology").empty()) {
    read.gpus = chips(text("compile_topology")) * read.slices;
    from = "compile_topology x slices";
  }
  if (!set_launch_gpus(request, read.gpus, from, out)) return;
  finish_launch(read_maxtext_arguments(arguments, read.slices, request, out), read.document.lines, out);
}

}  // namespace shardscape
