#include "model/template_reader.h"

#include <algorithm>
#include <functional>

#include "base/number_text.h"
#include "base/suggest.h"
#include "model/block_options.h"
#include "model/resolve_options.h"

namespace shardscape {

using json = nlohmann::ordered_json;

namespace {

// The text of a value, for suggestions.
std::string plain(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::vector<std::string> names_of(const std::vector<BlockParam>& params) {
  std::vector<std::string> out;
  for (const BlockParam& param : params) out.push_back(param.name);
  return out;
}

// The name of a result of an op.
std::string result_of(const JsonFile& file, const json& entry, const BlockTemplate& block) {
  std::vector<std::string> made;
  for (const OpLine& line : block.ops) made.push_back(line.output);
  if (entry.is_string() && std::find(made.begin(), made.end(), entry.get<std::string>()) != made.end())
    return entry.get<std::string>();
  JsonFile::fail(ProblemCode::DataValue, file.place(entry),
                 entry.dump() + " is not the result of any line" + did_you_mean(plain(entry), made),
                 "a name before '=' of one of the ops");
}

std::vector<Axis> axes(const JsonFile& file, const std::string& near, const json& list) {
  std::vector<Axis> out;
  if (!list.is_array())
    JsonFile::fail(ProblemCode::DataValue, file.place(list), "\"" + near + "\" has no list of axes",
                   "a list such as [\"batch\", \"seq\"]");
  for (const json& entry : list) {
    const auto axis = entry.is_string() ? axis_from_name(entry.get<std::string>()) : std::nullopt;
    if (!axis) {
      std::vector<std::string> known;
      for (int i = 0; i < kAxisCount; ++i) known.emplace_back(axis_name(static_cast<Axis>(i)));
      JsonFile::fail(ProblemCode::DataValue, file.place(entry),
                     entry.dump() + " is not an axis" + did_you_mean(plain(entry), known),
                     "one of " + or_list(known));
    }
    out.push_back(*axis);
  }
  return out;
}

std::optional<DType> dtype(const JsonFile& file, const std::string& near, const json& value,
                           const char* key = "dtype") {
  if (!value.contains(key)) return std::nullopt;
  const auto type = dtype_from_name(file.text(value, key));
  if (!type)
    JsonFile::fail(ProblemCode::DataValue, file.place(value[key]),
                   "the dtype of \"" + near + "\" is not known",
                   "a type such as bfloat16, float32 or float8_block");
  return type;
}

std::vector<OpLine> lines(const JsonFile& file, const json& list) {
  std::vector<OpLine> out;
  DataMistakes mistakes;
  const auto read = [&](const json& entry) {
    if (!entry.is_string())
      JsonFile::fail(ProblemCode::DataValue, file.place(entry), entry.dump() + " is not a line",
                     "a string such as \"y = add(x, z)\"");
    const std::string text = entry.get<std::string>();
    auto line = parse_op_line(text, file.place(entry).further(1));  // behind the quote
    if (auto* problem = std::get_if<Problem>(&line)) throw DataError{*problem};
    out.push_back(std::move(std::get<OpLine>(line)));
  };
  for (const json& entry : list) mistakes.collect([&] { read(entry); });
  mistakes.raise();
  if (out.empty())
    JsonFile::fail(ProblemCode::DataValue, file.place(list), "there are no lines",
                   "at least one line such as \"y = add(x, z)\"");
  return out;
}

// An entry of "cached": a name, or {"name": ..., "dtype": ..., "fp8": ..., "windowed": ...}.
void cached(const JsonFile& file, const json& entry, BlockTemplate& out) {
  const bool typed = entry.is_object();
  if (typed) file.only(entry, {"name", "dtype", "fp8", "windowed"});
  const std::string name = result_of(file, typed && entry.contains("name") ? entry["name"] : entry, out);
  out.cached.push_back(name);
  if (!typed) return;
  if (const auto type = dtype(file, name, entry)) out.cached_types[name] = *type;
  if (const auto type = dtype(file, name, entry, "fp8")) out.fp8_types[name] = *type;
  if (file.boolean_or(entry, "windowed", false)) out.windowed.insert(name);
}

// Reads the role of a parameter in checkpoints.
void role(const JsonFile& file, const std::string& name, const json& value, BlockTemplate& out) {
  const auto param = std::find_if(out.params.begin(), out.params.end(),
                                  [&](const BlockParam& p) { return p.name == name; });
  if (param == out.params.end())
    JsonFile::fail(ProblemCode::DataValue, file.key_place(value),
                   "\"" + name + "\" is not a parameter" + did_you_mean(name, names_of(out.params)),
                   "a key of \"parameters\"");
  param->role = value.is_string() ? weight_role_from_name(value.get<std::string>()) : std::nullopt;
  if (param->role) return;
  std::vector<std::string> roles;
  for (int i = 0; i < kWeightRoleCount; ++i) roles.emplace_back(weight_role_name(static_cast<WeightRole>(i)));
  JsonFile::fail(ProblemCode::DataValue, file.place(value),
                 value.dump() + " is not a role of weights" + did_you_mean(plain(value), roles),
                 or_list(roles));
}

// Reads the recompute modules of a block: "all" for the whole block, or a list of op outputs.
void recompute(const JsonFile& file, const std::string& name, const json& value, BlockTemplate& out) {
  const auto module = recompute_module_from_name(name);
  if (!module) {
    std::vector<std::string> known;
    for (int i = 0; i < kRecomputeModuleCount; ++i)
      known.emplace_back(recompute_module_name(static_cast<RecomputeModule>(i)));
    JsonFile::fail(ProblemCode::DataValue, file.key_place(value),
                   "\"" + name + "\" is not a recompute module" + did_you_mean(name, known),
                   "one of " + or_list(known));
  }
  if (value == "all") return out.modules.add(*module);
  const char* const accepted = "\"all\", or a list of results of ops such as [\"k\", \"v\"]";
  if (!value.is_array())
    JsonFile::fail(ProblemCode::DataValue, file.place(value), "\"" + name + "\" does not state which ops",
                   accepted);
  for (const json& entry : value) out.op_modules[result_of(file, entry, out)].add(*module);
}

BlockOptions options(const JsonFile& file) {
  BlockOptions out;
  if (!file.root().contains("options")) return out;
  const json& all = file.object(file.root(), "options");
  for (const auto& [name, help] : all.items()) out.emplace_back(name, file.text(all, name));
  return out;
}

// Conditions must name options of the file: a misspelt one would never hold.
void check_conditions(const JsonFile& file, const std::vector<OpLine>& lines, const BlockOptions& known) {
  DataMistakes mistakes;
  for (const OpLine& line : lines)
    for (const LineCondition& condition : line.conditions)
      if (const auto problem = unknown_option({file.name(), {condition.option}}, known,
                                              line.place.further(condition.at)))
        mistakes.collect([&] { throw DataError{*problem}; });
  mistakes.raise();
}

// "picked if shared_index" is an input of calls with this option alone.
void check_inputs(const BlockTemplate& block) {
  for (const BlockInput& input : block.inputs)
    if (const auto problem = unknown_input_option(input.name, block.options, block.place))
      throw DataError{*problem};
}

SectionTemplate section(const JsonFile& file, const std::string& name, const json& list) {
  return {name, lines(file, list)};
}

// The axes of the residual stream.
std::vector<Axis> stream(const JsonFile& file, const json& list) {
  std::vector<Axis> out = axes(file, "stream", list);
  if (out.size() < 3 || out[0] != Axis::Batch || out[1] != Axis::Seq || out.back() != Axis::Hidden)
    JsonFile::fail(
        ProblemCode::DataValue, file.place(list), "the stream is not one or several vectors per token",
        "a list such as [\"batch\", \"seq\", \"streams\", \"hidden\"]: batch and seq first, hidden last");
  return out;
}

// Position of a kind of layer. at: the place of the name.
int kind_of(const Architecture& architecture, const json& name, const SourcePlace& at) {
  const auto& kinds = architecture.kinds;
  const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const SectionTemplate& kind) {
    return name.is_string() && kind.name == name;
  });
  if (it != kinds.end()) return static_cast<int>(it - kinds.begin());
  std::vector<std::string> known;
  for (const SectionTemplate& kind : kinds) known.push_back(kind.name);
  JsonFile::fail(ProblemCode::DataValue, at,
                 name.dump() + " is not a kind of layer" + did_you_mean(plain(name), known),
                 "a key of \"layers\": " + or_list(known));
}

const std::string& kind_name(const Architecture& architecture, const json& name, const SourcePlace& at) {
  return architecture.kinds[static_cast<size_t>(kind_of(architecture, name, at))].name;
}

// Kinds of the first layers of residual blocks.
void read_block_start(const JsonFile& file, Architecture& out) {
  const json& root = file.root();
  if (root.contains("block_start"))
    for (const auto& [name, start] : file.object(root, "block_start").items())
      out.block_start[kind_name(out, name, file.key_place(start))] = kind_name(out, start, file.place(start));
  const bool blocks = std::find(out.stream.begin(), out.stream.end(), Axis::ResidualBlocks) !=
                      out.stream.end();
  if (blocks == out.block_start.empty())
    JsonFile::fail(ProblemCode::DataValue, file.place(blocks ? root : root["block_start"]),
                   "a stream with residual_blocks and \"block_start\" belong together", "both or neither");
}

void read_mtp(const JsonFile& file, Architecture& out) {
  const json& root = file.root();
  if (!root.contains("mtp")) return;
  const bool own = root["mtp"].is_object();  // {"variant": kind, "lines": [...]}
  const json& mtp = own ? root["mtp"] : root;
  if (own) file.only(mtp, {"variant", "lines"});
  out.mtp = section(file, "mtp", file.array(mtp, own ? "lines" : "mtp"));
  if (own && mtp.contains("variant"))
    out.mtp_variant = kind_name(out, mtp["variant"], file.place(mtp["variant"]));
}

// Tensors that a layer makes and later layers read: {"picked": {"from": "attention.picked", ...}}.
std::vector<CarriedTensor> carries(const JsonFile& file) {
  std::vector<CarriedTensor> out;
  if (!file.root().contains("carries")) return out;
  for (const auto& [name, value] : file.object(file.root(), "carries").items()) {
    if (!value.is_object())
      JsonFile::fail(ProblemCode::DataValue, file.place(value), "\"" + name + "\" is not described",
                     "an object with \"from\" and \"axes\"");
    file.only(value, {"from", "axes", "dtype", "cached", "in_stream"});
    const std::string from = file.text(value, "from");
    const size_t dot = std::min(from.find('.'), from.size());
    out.push_back({name, from.substr(0, dot), dot < from.size() ? from.substr(dot + 1) : "",
                   axes(file, name, value.value("axes", json())), dtype(file, name, value),
                   file.boolean_or(value, "cached", false), file.boolean_or(value, "in_stream", false)});
  }
  if (out.size() > kMaxCarried)
    JsonFile::fail(ProblemCode::DataValue, file.place(file.root()["carries"]),
                   "there are too many carried tensors", "at most " + std::to_string(kMaxCarried));
  return out;
}

// Lines of layers whose collectives run while other lines compute: ["moe"].
std::set<std::string> concurrent(const JsonFile& file, const std::vector<SectionTemplate>& kinds) {
  std::set<std::string> out;
  if (!file.root().contains("concurrent")) return out;
  std::set<std::string> results;
  for (const SectionTemplate& kind : kinds)
    for (const OpLine& line : kind.lines) results.insert(line.output);
  for (const json& entry : file.array(file.root(), "concurrent")) {
    if (!entry.is_string() || !results.contains(entry.get<std::string>()))
      JsonFile::fail(
          ProblemCode::DataValue, file.place(entry),
          "\"concurrent\" names " + entry.dump() + ", which is not the result of any line of a layer",
          "one of " + or_list(std::vector<std::string>(results.begin(), results.end())));
    out.insert(entry.get<std::string>());
  }
  return out;
}

BlockParam parameter(const JsonFile& file, const std::string& name, const json& value) {
  if (!value.is_object()) return {name, axes(file, name, value), "", ""};
  file.only(value, {"axes", "tied", "shared", "column", "buffer", "dtype", "counted"});
  return {name,
          axes(file, name, value.contains("axes") ? value["axes"] : value),
          file.text_or(value, "tied", ""),
          file.text_or(value, "shared", ""),
          file.boolean_or(value, "column", false),
          file.boolean_or(value, "buffer", false),
          dtype(file, name, value),
          file.boolean_or(value, "counted", true)};
}

// Options, inputs, parameters and lines of a block, which the other members name.
void read_operands(const JsonFile& file, BlockTemplate& out) {
  const json& root = file.root();
  DataMistakes mistakes;
  mistakes.collect([&] {
    file.only(root, {"block", "label", "title", "help", "inputs", "parameters", "options", "ops", "output",
                     "labels", "recompute", "without", "cached", "decode", "roles", "whole_sequence"});
  });
  mistakes.collect([&] { out.options = options(file); });
  mistakes.collect([&] {
    for (const auto& [name, value] : file.object(root, "inputs").items())
      mistakes.collect([&, id = name, of = std::cref(value)] {
        out.inputs.push_back({id, axes(file, id, of)});
      });
  });
  mistakes.collect([&] {
    for (const auto& [name, value] : file.object(root, "parameters").items())
      mistakes.collect(
          [&, id = name, of = std::cref(value)] { out.params.push_back(parameter(file, id, of)); });
  });
  mistakes.collect([&] { out.ops = lines(file, file.array(root, "ops")); });
  mistakes.raise();
  if (root.contains("roles"))
    for (const auto& [name, value] : file.object(root, "roles").items())
      mistakes.collect([&, id = name, of = std::cref(value)] { role(file, id, of, out); });
  mistakes.raise();
}

}  // namespace

BlockTemplate read_block(const JsonFile& file) {
  const json& root = file.root();
  BlockTemplate out;
  out.id = file.text(root, "block");
  out.label = file.text_or(root, "label", out.id);
  out.title = file.text_or(root, "title", out.label);
  out.help = file.text_or(root, "help", "");
  out.place = file.place(root["block"]);
  if (root.contains("is")) {
    file.only(root, {"block", "label", "title", "help", "is"});
    out.is = file.text(root, "is");
    return out;
  }
  read_operands(file, out);
  DataMistakes mistakes;
  mistakes.collect([&] { check_conditions(file, out.ops, out.options); });
  mistakes.collect([&] { check_inputs(out); });
  mistakes.collect([&] {
    out.output = file.text(root, "output");
    result_of(file, root["output"], out);
  });
  const auto each_entry = [&](const char* key, const auto& read) {
    if (root.contains(key))
      mistakes.collect([&] {
        for (const json& entry : file.array(root, key)) mistakes.collect([&] { read(entry); });
      });
  };
  const auto each_member = [&](const char* key, const auto& read) {
    if (root.contains(key))
      mistakes.collect([&] {
        for (const auto& member : file.object(root, key).items())
          mistakes.collect([&] { read(member.key(), member.value()); });
      });
  };
  each_entry("cached", [&](const json& entry) { cached(file, entry, out); });
  each_entry("whole_sequence",
             [&](const json& entry) { out.whole_sequence.insert(result_of(file, entry, out)); });
  mistakes.collect([&] { out.decode = file.text_or(root, "decode", ""); });
  each_member("without", [&](const std::string& name, const json& value) {
    const auto axis = axis_from_name(name);
    if (!axis || !is_optional_axis(*axis))
      JsonFile::fail(ProblemCode::DataValue, file.key_place(value), "no model may omit \"" + name + "\"",
                     "q_rank");
    if (!value.is_string())
      JsonFile::fail(ProblemCode::DataValue, file.place(value), "\"" + name + "\" names no block",
                     "the id of the replacement block");
    out.without[*axis] = value.get<std::string>();
  });
  each_member("labels", [&](const std::string& name, const json& value) {
    if (!value.is_string())
      JsonFile::fail(ProblemCode::DataValue, file.place(value), "\"" + name + "\" has no label", "a string");
    out.labels[name] = value.get<std::string>();
  });
  each_member("recompute",
              [&](const std::string& name, const json& value) { recompute(file, name, value, out); });
  mistakes.raise();
  return out;
}

namespace {

// Results of the projector that are added to the first layers: ["deepstack_0", "deepstack_1"].
std::vector<std::string> deepstack(const JsonFile& file, const SectionTemplate& projector) {
  std::vector<std::string> out, results;
  if (!file.root().contains("deepstack")) return out;
  for (const OpLine& line : projector.lines) results.push_back(line.output);
  for (const json& entry : file.array(file.root(), "deepstack")) {
    const std::string name = entry.is_string() ? entry.get<std::string>() : "";
    if (std::erase(results, name) == 0 || results.empty())
      JsonFile::fail(ProblemCode::DataValue, file.place(entry),
                     "\"deepstack\" names " + entry.dump() +
                         ", which is not a result of the projector other than the image tokens",
                     "the results of all lines of the projector except one, each once: " + or_list(results));
    out.push_back(name);
  }
  return out;
}

}  // namespace

TowerTemplate read_tower(const JsonFile& file) {
  const json& root = file.root();
  file.only(root,
            {"tower", "class_token", "frames_apart", "patches", "layer", "norm", "projector", "deepstack"});
  TowerTemplate out;
  out.id = file.text(root, "tower");
  out.class_token = file.boolean_or(root, "class_token", false);
  out.frames_apart = file.boolean_or(root, "frames_apart", false);
  out.patches = section(file, "vision_patches", file.array(root, "patches"));
  out.layer = section(file, "vision_layer", file.array(root, "layer"));
  if (root.contains("norm")) out.norm = section(file, "norm", file.array(root, "norm"));
  out.projector = section(file, "projector", file.array(root, "projector"));
  out.deepstack = deepstack(file, out.projector);
  for (const SectionTemplate* part : {&out.patches, &out.layer, &out.norm, &out.projector})
    check_conditions(file, part->lines, {});
  return out;
}

namespace {

// Options, stream and lines of an architecture, which the other members name.
void read_sections(const JsonFile& file, Architecture& out) {
  const json& root = file.root();
  DataMistakes mistakes;
  mistakes.collect([&] {
    file.only(root, {"architecture", "options", "stream", "embedding", "layers", "lead", "pattern",
                     "block_start", "carries", "concurrent", "head", "mtp", "tower"});
  });
  mistakes.collect([&] { out.tower.id = file.text_or(root, "tower", ""); });
  mistakes.collect([&] {
    out.options = options(file);
    if (out.options.size() > kMaxArchitectureOptions)
      JsonFile::fail(ProblemCode::DataValue, file.place(root["options"]), "there are too many options",
                     "at most " + std::to_string(kMaxArchitectureOptions));
  });
  mistakes.collect([&] {
    if (root.contains("stream")) out.stream = stream(file, root["stream"]);
  });
  mistakes.collect([&] { out.embedding = section(file, "embedding", file.array(root, "embedding")); });
  mistakes.collect([&] { out.head = section(file, "head", file.array(root, "head")); });
  mistakes.collect([&] {
    for (const auto& [name, value] : file.object(root, "layers").items())
      mistakes.collect([&, id = name, of = std::cref(value)] { out.kinds.push_back(section(file, id, of)); });
  });
  mistakes.raise();
}

}  // namespace

Architecture read_architecture(const JsonFile& file) {
  const json& root = file.root();
  Architecture out;
  out.id = file.text(root, "architecture");
  out.place = file.place(root["architecture"]);
  if (root.contains("language")) {
    file.only(root, {"architecture", "language", "tower"});
    out.language = file.text(root, "language");
    out.tower.id = file.text(root, "tower");
    return out;
  }
  read_sections(file, out);
  DataMistakes mistakes;
  mistakes.collect([&] {
    for (const json& entry : file.array(root, "pattern"))
      mistakes.collect([&] { out.pattern.push_back(kind_of(out, entry, file.place(entry))); });
    if (root["pattern"].empty())
      JsonFile::fail(ProblemCode::DataValue, file.place(root["pattern"]), "the pattern is empty",
                     "a list of keys of \"layers\"");
  });
  mistakes.collect([&] {
    if (root.contains("lead")) out.lead = kind_of(out, root["lead"], file.place(root["lead"]));
  });
  mistakes.collect([&] { read_mtp(file, out); });
  mistakes.collect([&] { read_block_start(file, out); });
  mistakes.collect([&] { out.carries = carries(file); });
  mistakes.collect([&] { out.concurrent = concurrent(file, out.kinds); });
  for (const SectionTemplate* section : {&out.embedding, &out.head, &out.mtp})
    mistakes.collect([&] { check_conditions(file, section->lines, out.options); });
  for (const SectionTemplate& kind : out.kinds)
    mistakes.collect([&] { check_conditions(file, kind.lines, out.options); });
  mistakes.raise();
  if (!out.carries.empty() && !out.block_start.empty())
    JsonFile::fail(ProblemCode::DataValue, file.place(root["carries"]),
                   "layers with residual blocks carry no tensors", "\"block_start\" or \"carries\"");
  return out;
}

}  // namespace shardscape
