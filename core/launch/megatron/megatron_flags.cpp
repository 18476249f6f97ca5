#include "launch/megatron/megatron_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/data_dir.h"
#include "base/json_text.h"

namespace shardscape {
namespace {

using Json = nlohmann::json;

MegatronAction action_of(const std::string& text) {
  return text == "on"     ? MegatronAction::On
         : text == "off"  ? MegatronAction::Off
         : text == "both" ? MegatronAction::Both
                          : MegatronAction::Value;
}

std::optional<double> number(const std::string& text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Of several arguments with one name in the dump, the one that is spelled like the name, then "--no-...".
int rank(const MegatronFlag& flag) {
  std::string name = flag.name.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name == flag.dest ? 2 : flag.name.starts_with("--no-") ? 1 : 0;
}

}  // namespace

MegatronFlags::MegatronFlags() {
  const auto text = read_text(data_dir() / "resources" / "launch" / "megatron_flags.json");
  if (!std::holds_alternative<std::string>(text)) return;
  Json file;
  if (parse_json(std::get<std::string>(text), file) || !file.is_object() || !file.contains("arguments"))
    return;
  for (const Json& row : file["arguments"]) {
    if (!row.is_array() || row.size() != 4) continue;
    const auto cells = row.get<std::array<std::string, 4>>();
    flags_[cells[0]] = {cells[0], cells[1], action_of(cells[2]), cells[3]};
  }
  for (const auto& [name, flag] : flags_) {
    const MegatronFlag*& chosen = by_dest_[flag.dest];
    if (!chosen || rank(flag) > rank(*chosen)) chosen = &flag;
  }
}

bool MegatronFlags::knows(const std::string& argument) const {
  if (flags_.empty() || flags_.contains(argument)) return true;
  if (!argument.starts_with("--no-")) return false;
  const auto positive = flags_.find("--" + argument.substr(5));
  return positive != flags_.end() && positive->second.action == MegatronAction::Both;
}

bool MegatronFlags::is_default(const std::string& argument, const std::string& value) const {
  const auto found = flags_.find(argument);
  if (found == flags_.end()) return false;
  if (found->second.action != MegatronAction::Value)
    return value == "false";  // a switch of a file of settings
  const std::string& otherwise = found->second.otherwise;
  if (otherwise.empty()) return value.empty();
  const auto a = number(value), b = number(otherwise);
  return value == otherwise || (a && b && *a == *b);
}

const MegatronFlag* MegatronFlags::of_dest(const std::string& dest) const {
  const auto found = by_dest_.find(dest);
  return found == by_dest_.end() ? nullptr : found->second;
}

std::string plain_python_value(std::string_view text) {
  const auto is_list = [&](char open, char close) {
    return text.size() > 1 && text.front() == open && text.back() == close;
  };
  // "([0]*3+[1]*58)" is an expression, no list.
  if ((is_list('[', ']') || is_list('(', ')')) && text.find('*') == std::string_view::npos) {
    std::string out;
    for (const char c : text.substr(1, text.size() - 2))
      if (c == ',')
        out += ' ';
      else if (c != '\'' && c != '"' && c != ' ')
        out += c;
    return out;
  }
  for (const auto& [type, name] : {std::pair<std::string_view, const char*>{"torch.float32", "fp32"},
                                   {"torch.bfloat16", "bf16"},
                                   {"torch.float16", "fp16"}})
    if (text == type) return name;
  const size_t dot = text.find('.');
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (dot != std::string_view::npos && std::isupper(static_cast<unsigned char>(text[0])) &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(dot), is_letter))
    return std::string(text.substr(dot + 1));
  return std::string(text);
}

}  // namespace shardscape
