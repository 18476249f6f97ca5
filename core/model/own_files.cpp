#include "model/own_files.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/atomic_write.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/suggest.h"
#include "model/layer_parts.h"
#include "model/model_sizes.h"
#include "model/variant_json.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

Result<std::string> file_text(const SourcePlace& place) {
  const std::filesystem::path path = place.file;
  return read_text(path.is_absolute() ? path : data_dir() / "models" / path);
}

std::string quoted(const std::string& text) { return json(text).dump(); }

// "n1 = rms_norm(x)", "attention = self_attention(n1; rope)".
std::string line_text(const OpLine& line) {
  const std::string callee = call_text(line.callee);  // options in parentheses
  const size_t open = callee.find('(');
  std::string out = line.output + " = " + callee.substr(0, open);
  if (!line.spec.empty()) out += "[" + line.spec + "]";
  out += "(";
  for (size_t i = 0; i < line.args.size(); ++i) out += (i == 0 ? "" : ", ") + line.args[i];
  if (open != std::string::npos) out += "; " + callee.substr(open + 1, callee.size() - open - 2);
  return out + ")";
}

std::string lines_text(const SectionTemplate& section, const std::string& indent) {
  std::string out = "[";
  for (size_t i = 0; i < section.lines.size(); ++i)
    out += (i == 0 ? "\n" : ",\n") + indent + "  " + quoted(line_text(section.lines[i]));
  return out + "\n" + indent + "]";
}

// A list of names on one line.
std::string names_text(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) out += (out.size() == 1 ? "" : ", ") + quoted(name);
  return out + "]";
}

std::string written_out(const Architecture& a, const std::string& id) {
  std::string out = "{\n  \"architecture\": " + quoted(id);
  const auto add = [&](const char* key, const std::string& text) {
    out += ",\n  " + quoted(key) + ": " + text;
  };
  std::vector<std::string> names;
  for (Axis axis : a.stream) names.emplace_back(axis_name(axis));
  if (names.size() > 3) add("stream", names_text(names));
  add("embedding", lines_text(a.embedding, "  "));
  std::string kinds = "{";
  for (const SectionTemplate& kind : a.kinds)
    kinds += (kinds.size() == 1 ? "\n    " : ",\n    ") + quoted(kind.name) + ": " + lines_text(kind, "    ");
  add("layers", kinds + "\n  }");
  if (a.lead >= 0) add("lead", quoted(a.kinds[static_cast<size_t>(a.lead)].name));
  names.clear();
  for (const int kind : a.pattern) names.push_back(a.kinds[static_cast<size_t>(kind)].name);
  add("pattern", names_text(names));
  if (!a.block_start.empty()) add("block_start", json(a.block_start).dump());
  if (!a.concurrent.empty()) add("concurrent", names_text({a.concurrent.begin(), a.concurrent.end()}));
  add("head", lines_text(a.head, "  "));
  if (!a.mtp.lines.empty()) {
    const std::string variant = quoted(a.mtp_variant);
    add("mtp", a.mtp_variant.empty() ? lines_text(a.mtp, "  ")
                                     : "{\n    \"variant\": " + variant +
                                           ",\n    \"lines\": " + lines_text(a.mtp, "    ") + "\n  }");
  }
  if (!a.tower.empty()) add("tower", quoted(a.tower.id));
  return out + "\n}\n";
}

Problem unknown(const char* what, const std::string& id, const std::vector<std::string>& known) {
  return {ProblemCode::UnknownArchitecture, what,
          std::string("there is no ") + what + " \"" + id + "\"" + did_you_mean(id, known),
          "an id that `shardscape-cli architecture list` prints"};
}

// Where the text of the value of the first of these keys begins and ends, quotes included; {0, 0}: nowhere.
std::pair<size_t, size_t> id_range(const std::string& text, const char*& key) {
  for (const char* candidate : {"architecture", "block"}) {
    const size_t at = text.find(quoted(candidate));
    if (at == std::string::npos) continue;
    const size_t colon = text.find_first_not_of(" \t\r\n", at + std::string(candidate).size() + 2);
    if (colon == std::string::npos || text[colon] != ':') continue;
    const size_t begin = text.find_first_not_of(" \t\r\n", colon + 1);
    if (begin == std::string::npos || text[begin] != '"') continue;
    const size_t end = text.find('"', begin + 1);
    if (end == std::string::npos) continue;
    key = candidate;
    return {begin, end + 1};
  }
  return {0, 0};
}

bool is_file_name(const std::string& id) {
  return !id.empty() && id.front() != '.' && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

Result<std::string> block_text(const std::string& id, const ModelLibrary& library) {
  if (const BlockTemplate* block = library.block(id)) return file_text(block->place);
  std::vector<std::string> known;
  for (const BlockTemplate& block : library.blocks()) known.push_back(block.id);
  return unknown("block", id, known);
}

Result<std::string> architecture_text(const std::string& id, const ModelLibrary& library) {
  const Architecture* architecture = library.architecture(id);
  if (architecture)
    return id.find(';') == std::string::npos
               ? file_text(architecture->place)
               : Result<std::string>(written_out(*architecture, id.substr(0, id.find(';'))));
  std::vector<std::string> known;
  for (const Architecture& other : library.architectures()) known.push_back(other.id);
  return unknown("architecture", id, known);
}

std::string with_id(const std::string& text, const std::string& id) {
  const char* key = "";
  const auto [begin, end] = id_range(text, key);
  return end == 0 ? text : text.substr(0, begin) + quoted(id) + text.substr(end);
}

TextKind kind_of_text(const std::string& text) {
  const char* key = "";
  const auto [begin, end] = id_range(text, key);
  if (end == 0) return {};
  return {std::string(key) + "s", text.substr(begin + 1, end - begin - 2)};
}

std::string preset_text(const std::string& id, const std::string& name, const ModelSpec& model,
                        int64_t sequence) {
  json out{{"preset", id}, {"name", name}, {"maker", "Yours"}, {"architecture", model.architecture}};
  const ModelSpec plain;
  for (const ModelSize& size : kModelSizes)
    if (size.min > 0 || size.member == &ModelSpec::kv_heads || model.*size.member != plain.*size.member)
      out[size.id] = model.*size.member;
  if (model.tied_embeddings) out["tied_embeddings"] = true;
  if (!model.layer_pattern.empty()) out["layer_pattern"] = model.layer_pattern;
  if (!model.variants.empty()) out["variants"] = variants_json(model.variants);
  if (!model.weight_formats.empty()) out["weight_formats"] = weight_formats_text(model.weight_formats);
  out["default_seq"] = sequence;
  return json_document(out);
}

std::filesystem::path own_file(const std::string& folder, const std::string& id) {
  const std::filesystem::path own = own_folder();
  return own.empty() ? own : own / folder / (id + ".json");
}

Result<std::filesystem::path> save_own(const std::string& folder, const std::string& id,
                                       const std::string& text) {
  if (!is_file_name(id))
    return Problem{ProblemCode::DataValue, folder, "\"" + id + "\" is not a valid file name",
                   "letters, digits, '-', '_' and '.'"};
  std::error_code error;
  if (std::filesystem::exists(data_dir() / "models" / folder / (id + ".json"), error))
    return Problem{ProblemCode::DataValue, folder, "\"" + id + "\" comes with the program",
                   "an id that only your file has"};
  const std::filesystem::path file = own_file(folder, id);
  if (file.empty())
    return Problem{ProblemCode::FileUnreadable, folder, "there is no folder for your files",
                   "HOME or XDG_DATA_HOME names a folder"};
  std::filesystem::create_directories(file.parent_path(), error);
  if (auto problem = atomic_write(file, text)) return *problem;
  return file;
}

}  // namespace shardscape
