#include "model/library.h"

#include <algorithm>

#include "base/data_dir.h"
#include "base/number_text.h"
#include "model/block_options.h"
#include "model/json_reader.h"
#include "model/model_sizes.h"
#include "model/profile_reader.h"
#include "model/resolve_options.h"
#include "model/variant_json.h"

namespace shardscape {

using json = nlohmann::ordered_json;

const KernelRule* KernelProfile::rule(const std::string& op) const {
  const auto it = rules.find(op);
  return it == rules.end() ? nullptr : &it->second;
}

Symbol chunk_count_symbol(int64_t tokens) { return Symbol::intern("nc" + std::to_string(tokens)); }

std::set<int64_t> KernelProfile::chunks(const std::set<std::string>& ops) const {
  std::set<int64_t> out;
  for (const std::string& op : ops)
    if (const KernelRule* r = rule(op))
      for (const KernelStat& stat : r->stats)
        if (stat.chunk > 0) out.insert(stat.chunk);
  return out;
}

// Reads files into the library. A file with a mistake is left out and its Problem is stored.
class LibraryReader {
 public:
  explicit LibraryReader(ModelLibrary& library) : library_(library) {}

  void read(const std::filesystem::path& folder) {
    each(folder, "blocks", [this](const JsonFile& file) { put(stated_.blocks, block(file)); });
    each(folder, "towers", [this](const JsonFile& file) { put(library_.towers_, tower(file)); });
    each(folder, "architectures",
         [this](const JsonFile& file) { put(stated_.architectures, architecture(file)); });
    each(folder, "profiles", [this](const JsonFile& file) { profiles_.read(file); });
    each(folder, "presets", [this](const JsonFile& file) { put(library_.presets_, preset(file)); });
  }
  // Runs after all folders are read, because a profile may extend a profile of a later file, and a line may
  // call a block of a later file.
  void finish() {
    library_.profiles_ = profiles_.resolve(library_.problems_);
    Templates resolved = resolve_options(stated_, library_.problems_);
    library_.blocks_ = std::move(resolved.blocks);
    library_.architectures_ = std::move(resolved.architectures);
    for (Architecture& architecture : library_.architectures_) take_language(architecture);
    for (Architecture& architecture : library_.architectures_) take_tower(architecture);
    std::erase_if(library_.architectures_, [](const Architecture& a) { return a.kinds.empty(); });
    for (Architecture& architecture : library_.architectures_) {
      gather(architecture, architecture.embedding.lines);
      gather(architecture, architecture.head.lines);
      gather(architecture, architecture.mtp.lines);
      for (const SectionTemplate& kind : architecture.kinds) gather(architecture, kind.lines);
      // Sizes of the tower are not those of the language model; this axis stands for all of them.
      if (!architecture.tower.empty()) architecture.axes.set(static_cast<size_t>(Axis::PatchInputs));
    }
  }

 private:
  void refuse(const Architecture& architecture, const std::string& what, const std::string& accepted) {
    library_.problems_.push_back({ProblemCode::DataValue,
                                  architecture.place.file + ":" + std::to_string(architecture.place.line),
                                  what, accepted});
  }

  void take_tower(Architecture& architecture) {
    if (architecture.tower.id.empty()) return;
    const auto found = std::find_if(library_.towers_.begin(), library_.towers_.end(),
                                    [&](const TowerTemplate& t) { return t.id == architecture.tower.id; });
    if (found != library_.towers_.end()) {
      architecture.tower = *found;
      return;
    }
    refuse(architecture, "there is no tower \"" + architecture.tower.id + "\"",
           "the id of a file under models/towers/");
    architecture.kinds.clear();
  }

  // Copies the sections of the language model of an architecture that adds a tower to it.
  void take_language(Architecture& architecture) {
    if (architecture.language.empty()) return;
    const Architecture* language = library_.architecture(architecture.language);
    if (!language || !language->language.empty()) {
      return refuse(architecture,
                    "\"language\" is \"" + architecture.language +
                        "\", which is no architecture with layers of its own",
                    "the id of another file under models/architectures/");
    }
    Architecture out = *language;
    out.id = architecture.id;
    out.language = architecture.language;
    out.options.clear();  // chosen already
    out.tower = architecture.tower;
    out.place = architecture.place;
    architecture = std::move(out);
  }

  // The axis of a size that a word after the letters of an op reads.
  static void add_sizes_of_words(Architecture& architecture, const OpLine& line) {
    struct Word {
      std::string_view op, name;
      Axis axis;
    };
    constexpr Word kWords[] = {{"rope", "part", Axis::RopeDim}, {"attention", "chunk", Axis::ChunkContext}};
    for (const Word& word : kWords)
      if (const size_t words = line.spec.find(';'); line.callee == word.op && words != std::string::npos &&
                                                    line.spec.find(word.name, words) != std::string::npos)
        architecture.axes.set(static_cast<size_t>(word.axis));
  }

  void gather(Architecture& architecture, const std::vector<OpLine>& lines, int depth = 0) const {
    for (const OpLine& line : lines) {
      const BlockTemplate* block = library_.block(line.callee);
      if (!block || depth > 8) {  // a block that calls itself becomes a Problem when the graph is built
        architecture.ops.insert(line.callee);
        add_sizes_of_words(architecture, line);
        continue;
      }
      for (const BlockParam& param : block->params)
        for (Axis axis : param.axes) architecture.axes.set(static_cast<size_t>(axis));
      gather(architecture, block->ops, depth + 1);
    }
  }

  template <class Read>
  void each(const std::filesystem::path& folder, const char* sub, Read read) {
    std::error_code ignored;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder / sub, ignored))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      try {
        auto text = read_text(path);
        if (auto* problem = std::get_if<Problem>(&text)) throw DataError{*problem};
        read(JsonFile(std::get<std::string>(text), std::string(sub) + "/" + path.filename().string()));
      } catch (const DataError& error) {
        library_.problems_.push_back(error.problem);
      }
    }
  }

  template <class T>
  static void put(std::vector<T>& all, T item) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const T& other) { return other.id == item.id; });
    if (it == all.end())
      all.push_back(std::move(item));
    else
      *it = std::move(item);
  }

  static std::vector<Axis> axes(const JsonFile& file, const std::string& near, const json& list) {
    std::vector<Axis> out;
    if (!list.is_array())
      file.fail(ProblemCode::DataValue, near, "\"" + near + "\" has no list of axes",
                "a list such as [\"batch\", \"seq\"]");
    for (const json& entry : list) {
      const auto axis = entry.is_string() ? axis_from_name(entry.get<std::string>()) : std::nullopt;
      if (!axis) {
        std::string accepted = "one of";
        for (int i = 0; i < kAxisCount; ++i) accepted += " " + std::string(axis_name(static_cast<Axis>(i)));
        file.fail(ProblemCode::DataValue, near, entry.dump() + " is not an axis", accepted);
      }
      out.push_back(*axis);
    }
    return out;
  }

  static std::optional<DType> dtype(const JsonFile& file, const std::string& near, const json& value,
                                    const char* key = "dtype") {
    if (!value.contains(key)) return std::nullopt;
    const auto type = dtype_from_name(file.text(value, key));
    if (!type)
      file.fail(ProblemCode::DataValue, near, "the dtype of \"" + near + "\" is not known",
                "a type such as bfloat16, float32 or float8_block");
    return type;
  }

  static std::vector<OpLine> lines(const JsonFile& file, const json& list) {
    std::vector<OpLine> out;
    for (const json& entry : list) {
      if (!entry.is_string())
        file.fail(ProblemCode::DataValue, "ops", entry.dump() + " is not a line",
                  "a text such as \"y = add(x, z)\"");
      const std::string text = entry.get<std::string>();
      auto line = parse_op_line(text, {file.name(), file.line_of(text)});
      if (auto* problem = std::get_if<Problem>(&line)) throw DataError{*problem};
      out.push_back(std::move(std::get<OpLine>(line)));
    }
    if (out.empty())
      file.fail(ProblemCode::DataValue, "", "there are no lines",
                "at least one line such as \"y = add(x, z)\"");
    return out;
  }

  static BlockTemplate block(const JsonFile& file) {
    const json& root = file.root();
    BlockTemplate out;
    out.id = file.text(root, "block");
    out.label = file.text_or(root, "label", out.id);
    out.help = file.text_or(root, "help", "");
    out.place = {file.name(), 1};
    if (root.contains("is")) {
      file.only(root, {"block", "label", "help", "is"});
      out.is = file.text(root, "is");
      return out;
    }
    file.only(root, {"block", "label", "help", "inputs", "parameters", "options", "ops", "output", "labels",
                     "recompute", "without", "cached", "decode", "roles", "whole_sequence"});
    out.options = options(file);
    for (const auto& [name, value] : file.object(root, "inputs").items())
      out.inputs.push_back({name, axes(file, name, value)});
    for (const auto& [name, value] : file.object(root, "parameters").items()) {
      if (value.is_object()) {
        file.only(value, {"axes", "tied", "shared", "column", "buffer", "dtype", "counted"});
        out.params.push_back({name, axes(file, name, value.value("axes", json())),
                              file.text_or(value, "tied", ""), file.text_or(value, "shared", ""),
                              file.boolean_or(value, "column", false),
                              file.boolean_or(value, "buffer", false), dtype(file, name, value),
                              file.boolean_or(value, "counted", true)});
      } else {
        out.params.push_back({name, axes(file, name, value), "", ""});
      }
    }
    if (root.contains("roles"))
      for (const auto& [name, value] : file.object(root, "roles").items()) role(file, name, value, out);
    out.ops = lines(file, file.array(root, "ops"));
    check_conditions(file, out.ops, out.options);
    out.output = file.text(root, "output");
    if (std::none_of(out.ops.begin(), out.ops.end(), [&](const OpLine& l) { return l.output == out.output; }))
      file.fail(ProblemCode::DataValue, "output", "no line makes \"" + out.output + "\"",
                "the name before '=' of one of the ops");
    if (root.contains("cached"))
      for (const json& entry : file.array(root, "cached")) cached(file, entry, out);
    if (root.contains("whole_sequence"))
      for (const json& entry : file.array(root, "whole_sequence"))
        out.whole_sequence.insert(result_of(file, "whole_sequence", entry, out));
    out.decode = file.text_or(root, "decode", "");
    if (root.contains("without"))
      for (const auto& [name, value] : file.object(root, "without").items()) {
        const auto axis = axis_from_name(name);
        if (!axis || !is_optional_axis(*axis))
          file.fail(ProblemCode::DataValue, name, "no model may omit \"" + name + "\"", "q_rank");
        if (!value.is_string())
          file.fail(ProblemCode::DataValue, name, "\"" + name + "\" names no block",
                    "the id of the replacement block");
        out.without[*axis] = value.get<std::string>();
      }
    if (root.contains("labels"))
      for (const auto& [name, value] : file.object(root, "labels").items())
        out.labels[name] = value.get<std::string>();
    if (root.contains("recompute"))
      for (const auto& [name, value] : file.object(root, "recompute").items())
        recompute(file, name, value, out);
    return out;
  }

  // The name of a result of an op.
  static std::string result_of(const JsonFile& file, const char* key, const json& entry,
                               const BlockTemplate& block) {
    const bool made = entry.is_string() &&
                      std::any_of(block.ops.begin(), block.ops.end(),
                                  [&](const OpLine& l) { return l.output == entry.get<std::string>(); });
    if (!made)
      file.fail(ProblemCode::DataValue, key, entry.dump() + " is made by no line", "names before '=' of ops");
    return entry.get<std::string>();
  }

  // An entry of "cached": a name, or {"name": ..., "dtype": ..., "fp8": ..., "windowed": ...}.
  static void cached(const JsonFile& file, const json& entry, BlockTemplate& out) {
    const bool typed = entry.is_object();
    if (typed) file.only(entry, {"name", "dtype", "fp8", "windowed"});
    const std::string name = result_of(file, "cached", typed ? entry.value("name", json()) : entry, out);
    out.cached.push_back(name);
    if (!typed) return;
    if (const auto type = dtype(file, name, entry)) out.cached_types[name] = *type;
    if (const auto type = dtype(file, name, entry, "fp8")) out.fp8_types[name] = *type;
    if (file.boolean_or(entry, "windowed", false)) out.windowed.insert(name);
  }

  // Reads the role of a parameter in checkpoints.
  static void role(const JsonFile& file, const std::string& name, const json& value, BlockTemplate& out) {
    const auto param = std::find_if(out.params.begin(), out.params.end(),
                                    [&](const BlockParam& p) { return p.name == name; });
    if (param == out.params.end())
      file.fail(ProblemCode::DataValue, name, "\"" + name + "\" is no parameter", "a key of \"parameters\"");
    param->role = value.is_string() ? weight_role_from_name(value.get<std::string>()) : std::nullopt;
    if (param->role) return;
    std::vector<std::string> roles;
    for (int i = 0; i < kWeightRoleCount; ++i)
      roles.emplace_back(weight_role_name(static_cast<WeightRole>(i)));
    file.fail(ProblemCode::DataValue, name, value.dump() + " is no role of weights", or_list(roles));
  }

  // Reads the recompute modules of a block: "all" for the whole block, or a list of op outputs.
  static void recompute(const JsonFile& file, const std::string& name, const json& value,
                        BlockTemplate& out) {
    const auto module = recompute_module_from_name(name);
    if (!module) {
      std::string accepted = "one of";
      for (int i = 0; i < kRecomputeModuleCount; ++i)
        accepted += " " + std::string(recompute_module_name(static_cast<RecomputeModule>(i)));
      file.fail(ProblemCode::DataValue, name, "\"" + name + "\" is not a recompute module", accepted);
    }
    if (value == "all") return out.modules.add(*module);
    const char* const accepted = "\"all\", or a list of results of ops such as [\"k\", \"v\"]";
    if (!value.is_array())
      file.fail(ProblemCode::DataValue, name, "\"" + name + "\" does not say which ops", accepted);
    for (const json& entry : value) {
      const bool known = entry.is_string() && std::any_of(out.ops.begin(), out.ops.end(),
                                                          [&](const OpLine& l) { return l.output == entry; });
      if (!known) file.fail(ProblemCode::DataValue, name, "no line makes " + entry.dump(), accepted);
      out.op_modules[entry.get<std::string>()].add(*module);
    }
  }

  static BlockOptions options(const JsonFile& file) {
    BlockOptions out;
    if (!file.root().contains("options")) return out;
    const json& all = file.object(file.root(), "options");
    for (const auto& [name, help] : all.items()) out.emplace_back(name, file.text(all, name));
    return out;
  }

  // Conditions must name options of the file: a misspelt one would never hold.
  static void check_conditions(const JsonFile& file, const std::vector<OpLine>& lines,
                               const BlockOptions& known) {
    for (const OpLine& line : lines)
      for (const LineCondition& condition : line.conditions)
        if (const auto problem = unknown_option({file.name(), {condition.option}}, known, line.place))
          throw DataError{*problem};
  }

  static SectionTemplate section(const JsonFile& file, const std::string& name, const json& list) {
    return {name, lines(file, list)};
  }

  static TowerTemplate tower(const JsonFile& file) {
    const json& root = file.root();
    file.only(root, {"tower", "patches", "layer", "norm", "projector"});
    TowerTemplate out;
    out.id = file.text(root, "tower");
    out.patches = section(file, "vision_patches", file.array(root, "patches"));
    out.layer = section(file, "vision_layer", file.array(root, "layer"));
    if (root.contains("norm")) out.norm = section(file, "norm", file.array(root, "norm"));
    out.projector = section(file, "projector", file.array(root, "projector"));
    return out;
  }

  // The axes of the residual stream.
  static std::vector<Axis> stream(const JsonFile& file, const json& list) {
    std::vector<Axis> out = axes(file, "stream", list);
    if (out.size() < 3 || out[0] != Axis::Batch || out[1] != Axis::Seq || out.back() != Axis::Hidden)
      file.fail(
          ProblemCode::DataValue, "stream", "the stream is not one or several vectors per token",
          "a list such as [\"batch\", \"seq\", \"streams\", \"hidden\"]: batch and seq first, hidden last");
    return out;
  }

  // Kinds of the first layers of residual blocks. kind_of(key, name): the index of a kind.
  template <class KindOf>
  static void read_block_start(const JsonFile& file, Architecture& out, const KindOf& kind_of) {
    const auto name_of = [&](const json& kind) {
      return out.kinds[static_cast<size_t>(kind_of("block_start", kind))].name;
    };
    if (file.root().contains("block_start"))
      for (const auto& [name, start] : file.object(file.root(), "block_start").items())
        out.block_start[name_of(name)] = name_of(start);
    const bool blocks = std::find(out.stream.begin(), out.stream.end(), Axis::ResidualBlocks) !=
                        out.stream.end();
    if (blocks == out.block_start.empty())
      file.fail(ProblemCode::DataValue, "block_start",
                "a stream with residual_blocks and \"block_start\" belong together", "both, or none of them");
  }

  static Architecture architecture(const JsonFile& file) {
    const json& root = file.root();
    Architecture out;
    out.id = file.text(root, "architecture");
    out.place = {file.name(), 1};
    if (root.contains("language")) {
      file.only(root, {"architecture", "language", "tower"});
      out.language = file.text(root, "language");
      out.tower.id = file.text(root, "tower");
      return out;
    }
    file.only(root, {"architecture", "options", "stream", "embedding", "layers", "lead", "pattern",
                     "block_start", "head", "mtp", "tower"});
    out.tower.id = file.text_or(root, "tower", "");
    out.options = options(file);
    if (out.options.size() > kMaxArchitectureOptions)
      file.fail(ProblemCode::DataValue, "options", "there are too many options",
                "at most " + std::to_string(kMaxArchitectureOptions));
    if (root.contains("stream")) out.stream = stream(file, root["stream"]);
    out.embedding = section(file, "embedding", file.array(root, "embedding"));
    out.head = section(file, "head", file.array(root, "head"));
    const json& kinds = file.object(root, "layers");
    for (const auto& [name, value] : kinds.items()) out.kinds.push_back(section(file, name, value));
    const auto kind_of = [&](const char* key, const json& entry) {
      const auto it = std::find_if(out.kinds.begin(), out.kinds.end(), [&](const SectionTemplate& kind) {
        return entry.is_string() && kind.name == entry;
      });
      if (it == out.kinds.end())
        file.fail(ProblemCode::DataValue, key, entry.dump() + " is no kind of layer", "a key of \"layers\"");
      return static_cast<int>(it - out.kinds.begin());
    };
    for (const json& entry : file.array(root, "pattern")) out.pattern.push_back(kind_of("pattern", entry));
    if (root.contains("lead")) out.lead = kind_of("lead", root["lead"]);
    if (root.contains("mtp")) {
      const bool own = root["mtp"].is_object();  // {"variant": kind, "lines": [...]}
      const json& mtp = own ? root["mtp"] : root;
      if (own) file.only(mtp, {"variant", "lines"});
      out.mtp = section(file, "mtp", file.array(mtp, own ? "lines" : "mtp"));
      if (own && mtp.contains("variant"))
        out.mtp_variant = out.kinds[static_cast<size_t>(kind_of("variant", mtp["variant"]))].name;
    }
    read_block_start(file, out, kind_of);
    if (out.pattern.empty())
      file.fail(ProblemCode::DataValue, "pattern", "the pattern is empty", "a list of keys of \"layers\"");
    for (const SectionTemplate* section : {&out.embedding, &out.head, &out.mtp})
      check_conditions(file, section->lines, out.options);
    for (const SectionTemplate& kind : out.kinds) check_conditions(file, kind.lines, out.options);
    return out;
  }

  // "2025-04" or "2025".
  static bool is_month(const std::string& text) {
    constexpr std::string_view kForm = "dddd-dd";
    return (text.size() == 4 || text.size() == kForm.size()) &&
           std::equal(text.begin(), text.end(), kForm.begin(),
                      [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; });
  }

  static PublishedLayout layout(const JsonFile& file) {
    const json& value = file.object(file.root(), "layout");
    file.only(value, {"source", "knobs"});
    PublishedLayout out{file.text(value, "source"), {}};
    for (const auto& [id, setting] : file.object(value, "knobs").items())
      out.knobs.emplace_back(id, setting.is_string() ? setting.get<std::string>() : setting.dump());
    return out;
  }

  static Preset preset(const JsonFile& file) {
    const json& root = file.root();
    std::vector<const char*> keys{"preset",   "name",   "maker",  "family",
                                  "released", "source", "layout", "architecture"};
    for (const ModelSize& size : kModelSizes) keys.push_back(size.id);
    keys.insert(keys.end(),
                {"tied_embeddings", "layer_pattern", "variants", "weight_formats", "published_parameters",
                 "published_active_parameters", "published_exact", "default_seq"});
    file.only(root, keys);
    Preset out;
    out.id = file.text(root, "preset");
    out.name = file.text(root, "name");
    out.maker = file.text_or(root, "maker", file.text_or(root, "family", ""));  // files of before say family
    out.released = file.text_or(root, "released", "");
    if (!out.released.empty() && !is_month(out.released))
      file.fail(ProblemCode::DataValue, "released", "\"" + out.released + "\" is no month",
                "a year and a month, such as 2025-04, or a year");
    if (root.contains("layout")) out.layout = layout(file);
    out.source = file.text_or(root, "source", "");
    out.published_parameters = file.integer_or(root, "published_parameters", 0);
    out.published_active_parameters = file.integer_or(root, "published_active_parameters", 0);
    out.published_exact = file.boolean_or(root, "published_exact", true);
    out.default_seq = file.integer_or(root, "default_seq", 4096);
    out.model = model(file);
    out.model.preset = out.id;
    return out;
  }

  // The sizes of a preset's model.
  static ModelSpec model(const JsonFile& file) {
    const json& root = file.root();
    ModelSpec m;
    m.architecture = file.text(root, "architecture");
    for (const ModelSize& size : kModelSizes) {
      // Every model has a size whose default is out of range; without grouping, heads have their own keys and
      // values.
      const int64_t usual = size.member == &ModelSpec::kv_heads ? m.heads : m.*size.member;
      m.*size.member = usual < size.min ? file.integer(root, size.id) : file.integer_or(root, size.id, usual);
    }
    m.tied_embeddings = file.boolean_or(root, "tied_embeddings", false);
    m.layer_pattern = file.text_or(root, "layer_pattern", "");
    if (root.contains("variants")) m.variants = variants(file, root["variants"]);
    auto formats = parse_weight_formats(file.text_or(root, "weight_formats", ""));
    if (auto* problem = std::get_if<Problem>(&formats))
      file.fail(problem->code, "weight_formats", problem->what, problem->accepted);
    m.weight_formats = without_plain(std::get<0>(std::move(formats)));
    return m;
  }

  static std::vector<LayerVariant> variants(const JsonFile& file, const json& value) {
    auto read = parse_layer_variants(variants_text(file, "variants", value));
    if (auto* problem = std::get_if<Problem>(&read))
      file.fail(problem->code, "variants", problem->what, problem->accepted);
    return std::get<0>(std::move(read));
  }

  ModelLibrary& library_;
  Templates stated_;
  ProfileReader profiles_;
};

namespace {

void sort_by_maker(std::vector<Preset>& presets) {
  std::map<std::string, std::string> newest;
  for (const Preset& preset : presets) {
    std::string& month = newest[preset.maker];
    month = std::max(month, preset.released);
  }
  std::stable_sort(presets.begin(), presets.end(), [&](const Preset& a, const Preset& b) {
    const std::string &newest_a = newest[a.maker], &newest_b = newest[b.maker];
    if (a.maker != b.maker) return newest_a != newest_b ? newest_a > newest_b : a.maker < b.maker;
    if (a.released != b.released) return a.released > b.released;
    return a.published_parameters > b.published_parameters;
  });
}

}  // namespace

ModelLibrary ModelLibrary::load(const std::vector<std::string>& folders) {
  ModelLibrary library;
  LibraryReader reader(library);
  for (const std::string& folder : folders) reader.read(folder);
  reader.finish();
  sort_by_maker(library.presets_);
  return library;
}

const ModelLibrary& ModelLibrary::instance() {
  static const ModelLibrary library = load(
      {(data_dir() / "models").string(), (user_data_dir() / "models").string()});
  return library;
}

namespace {
template <class T>
const T* find_by_id(const std::vector<T>& all, const std::string& id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const T& item) { return item.id == id; });
  return it == all.end() ? nullptr : &*it;
}
}  // namespace

const Preset* ModelLibrary::preset(const std::string& id) const { return find_by_id(presets_, id); }
const Architecture* ModelLibrary::architecture(const std::string& id) const {
  const Architecture* exact = find_by_id(architectures_, id);
  if (exact || id.find(';') == std::string::npos) return exact;
  const OptionCall call = parse_option_call(id);
  const Architecture* base = find_by_id(architectures_, call.id);
  if (!base || unknown_option(call, base->options, base->place)) return nullptr;
  return find_by_id(architectures_, option_call_text(call, base->options));
}
const BlockTemplate* ModelLibrary::block(const std::string& id) const { return find_by_id(blocks_, id); }
const KernelProfile* ModelLibrary::profile(const std::string& id) const { return find_by_id(profiles_, id); }

}  // namespace shardscape
