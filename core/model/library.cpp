#include "model/library.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/data_dir.h"
#include "model/block_options.h"
#include "model/made_kinds.h"
#include "model/preset_reader.h"
#include "model/profile_reader.h"
#include "model/resolve_options.h"
#include "model/template_reader.h"

namespace shardscape {

const KernelRule* KernelProfile::rule(const std::string& op) const {
  const auto it = rules.find(op);
  return it == rules.end() ? nullptr : &it->second;
}

namespace {

// Bytes of a file of blocks, architectures, towers, profiles or presets. Those of the program have up to
// 10,000. Readers compare every line with those before it.
constexpr size_t kLongestFile = 65'536;

constexpr const char* kSubfolders[] = {"blocks", "towers", "architectures", "profiles", "presets"};

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add_stamp(FileStamps& stamps, const std::filesystem::path& file) {
  std::error_code ignored;
  stamps[file.string()] = {std::filesystem::last_write_time(file, ignored),
                           std::filesystem::file_size(file, ignored)};
}

}  // namespace

Symbol chunk_count_symbol(int64_t tokens) { return Symbol::intern("nc" + std::to_string(tokens)); }

std::set<int64_t> KernelProfile::chunks(const std::set<std::string>& ops) const {
  std::set<int64_t> out;
  for (const std::string& op : ops)
    if (const KernelRule* r = rule(op))
      for (const KernelStat& stat : r->stats)
        if (stat.chunk > 0) out.insert(stat.chunk);
  return out;
}

namespace {

// The axis of a size that a word after the letters of an op reads.
void add_sizes_of_words(Architecture& architecture, const OpLine& line) {
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

void gather_lines(const ModelLibrary& library, Architecture& architecture, const std::vector<OpLine>& lines,
                  int depth = 0) {
  for (const OpLine& line : lines) {
    const BlockTemplate* block = library.block(line.callee);
    if (!block || depth > 8) {  // a block that calls itself becomes a Problem when the graph is built
      architecture.ops.insert(line.callee);
      add_sizes_of_words(architecture, line);
      continue;
    }
    for (const BlockParam& param : block->params)
      for (Axis axis : param.axes) architecture.axes.set(static_cast<size_t>(axis));
    gather_lines(library, architecture, block->ops, depth + 1);
  }
}

// Sizes of the tower are not those of the language model: the axis of patches stands for all of them. Only
// towers have the axes that the model gets in addition.
void gather_tower(const ModelLibrary& library, Architecture& architecture) {
  Architecture of_tower;
  const TowerTemplate& tower = architecture.tower;
  for (const SectionTemplate* part : {&tower.patches, &tower.layer, &tower.norm, &tower.projector})
    gather_lines(library, of_tower, part->lines);
  architecture.tower_axes = of_tower.axes;
  architecture.axes.set(static_cast<size_t>(Axis::PatchInputs));
  for (const Axis axis : {Axis::ProjectorWidth, Axis::ConvTaps})
    if (of_tower.uses(axis)) architecture.axes.set(static_cast<size_t>(axis));
}

// Finds the axes and ops of the blocks that the architecture calls.
void gather(const ModelLibrary& library, Architecture& architecture) {
  architecture.axes.reset();
  architecture.ops.clear();
  gather_lines(library, architecture, architecture.embedding.lines);
  gather_lines(library, architecture, architecture.head.lines);
  gather_lines(library, architecture, architecture.mtp.lines);
  for (const SectionTemplate& kind : architecture.kinds) gather_lines(library, architecture, kind.lines);
  if (!architecture.tower.empty()) gather_tower(library, architecture);
}

}  // namespace

// Reads files into the library. A file with a mistake is left out and its Problem is stored.
class LibraryReader {
 public:
  explicit LibraryReader(ModelLibrary& library) : library_(library) {}

  void read(const std::filesystem::path& folder) {
    if (folder.empty()) return;  // without HOME there are no own files
    const bool own = folder == own_folder();
    for (const char* sub : kSubfolders)
      for (const auto& path : files_of(folder / sub)) {
        const std::string name = own ? path.string() : std::string(sub) + "/" + path.filename().string();
        if (own) add_stamp(library_.own_files_, path);
        auto text = read_text(path);
        if (auto* problem = std::get_if<Problem>(&text))
          library_.problems_.push_back(*problem);
        else
          read({sub, name, std::get<std::string>(std::move(text))});
      }
  }
  void read(const DataText& data) {
    try {
      if (data.text.size() > kLongestFile)
        throw DataError{{ProblemCode::DataValue, data.name,
                         "the file has " + std::to_string(data.text.size()) + " bytes",
                         "at most " + std::to_string(kLongestFile) + " bytes"}};
      const JsonFile file(data.text, data.name);
      if (data.folder == "blocks") put(stated_.blocks, read_block(file));
      if (data.folder == "towers") put(stated_.towers, read_tower(file));
      if (data.folder == "architectures") put(stated_.architectures, read_architecture(file));
      if (data.folder == "profiles") profiles_.read(file);
      if (data.folder == "presets") return put(library_.presets_, read_preset(file));
      add_content(data.text);
    } catch (const DataError& error) {
      library_.problems_.push_back(error.problem);
      library_.problems_.insert(library_.problems_.end(), error.more.begin(), error.more.end());
    } catch (const nlohmann::json::exception& error) {
      library_.problems_.emplace_back(ProblemCode::JsonValueUnreadable, data.name,
                                      "a value cannot be read: " + json_reason(error),
                                      "values of the types that the files of the program have");
    }
  }
  // Runs after all folders are read, because a profile may extend a profile of a later file, and a line may
  // call a block of a later file.
  void finish() {
    library_.profiles_ = profiles_.resolve(library_.problems_);
    finish_templates();
  }
  // Instead of files: what another library read from them.
  void read(const Templates& stated) { stated_ = stated; }
  void finish_templates() {
    library_.problems_of_files_ = library_.problems_.size();
    Templates resolved = resolve_options(stated_, library_.problems_);
    library_.blocks_ = std::move(resolved.blocks);
    library_.towers_ = std::move(resolved.towers);
    library_.architectures_ = std::move(resolved.architectures);
    library_.index();  // take_language() looks for ids
    for (Architecture& architecture : library_.architectures_) take_language(architecture);
    for (Architecture& architecture : library_.architectures_) take_tower(architecture);
    std::erase_if(library_.architectures_, [](const Architecture& a) { return a.kinds.empty(); });
    library_.index();
    for (Architecture& architecture : library_.architectures_) gather(library_, architecture);
    library_.stated_ = std::make_shared<const Templates>(std::move(stated_));
  }

 private:
  void refuse(const Architecture& architecture, const std::string& what, const std::string& accepted) {
    library_.problems_.push_back({ProblemCode::DataValue, place_text(architecture.place), what, accepted});
  }

  void take_tower(Architecture& architecture) {
    if (architecture.tower.id.empty()) return;
    const auto found = std::find_if(library_.towers_.begin(), library_.towers_.end(),
                                    [&](const TowerTemplate& t) { return t.id == architecture.tower.id; });
    if (found != library_.towers_.end()) {
      architecture.tower = *found;
      return add_deepstack(architecture);
    }
    refuse(architecture, "there is no tower \"" + architecture.tower.id + "\"",
           "the id of a file under models/towers/");
    architecture.kinds.clear();
  }

  // Results of the projector that the first layers add to their results are carried tensors.
  void add_deepstack(Architecture& architecture) {
    const std::vector<std::string>& added = architecture.tower.deepstack;
    if (added.empty()) return;
    if (!architecture.block_start.empty() || architecture.stream.size() != 3 ||
        architecture.carries.size() + added.size() > kMaxCarried)
      return refuse(architecture, "the tower adds tokens to the layers (\"deepstack\")",
                    "a residual stream over batch, seq, hidden without residual blocks, and at most " +
                        std::to_string(kMaxCarried) + " carried tensors");
    for (size_t layer = 0; layer < added.size(); ++layer) {
      CarriedTensor tensor{added[layer], added[layer], "", {Axis::Images, Axis::ImageTokens, Axis::Hidden}};
      tensor.added_to = static_cast<int64_t>(layer);
      architecture.carries.push_back(std::move(tensor));
    }
  }

  // Copies the sections of the language model of an architecture that adds a tower to it.
  void take_language(Architecture& architecture) {
    if (architecture.language.empty()) return;
    const Architecture* language = library_.architecture(architecture.language);
    if (!language || !language->language.empty()) {
      return refuse(architecture,
                    "\"language\" is \"" + architecture.language +
                        "\", which is not an architecture with layers of its own",
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

  void add_content(const std::string& text) {  // FNV-1a
    auto hash = static_cast<uint64_t>(library_.content_);
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    library_.content_ = static_cast<int64_t>(hash);
  }

  template <class T>
  static void put(std::vector<T>& all, T item) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const T& other) { return other.id == item.id; });
    if (it == all.end())
      all.push_back(std::move(item));
    else
      *it = std::move(item);
  }

  ModelLibrary& library_;
  Templates stated_;
  ProfileReader profiles_;
};

namespace {

// The person's own presets first.
void sort_by_maker(std::vector<Preset>& presets) {
  std::map<std::string, std::string> newest;
  for (const Preset& preset : presets) {
    std::string& month = newest[preset.maker];
    month = std::max(month, preset.released);
  }
  std::stable_sort(presets.begin(), presets.end(), [&](const Preset& a, const Preset& b) {
    if (is_own(a.place) != is_own(b.place)) return is_own(a.place);
    const std::string &newest_a = newest[a.maker], &newest_b = newest[b.maker];
    if (a.maker != b.maker) return newest_a != newest_b ? newest_a > newest_b : a.maker < b.maker;
    if (a.released != b.released) return a.released > b.released;
    return a.published_parameters > b.published_parameters;
  });
}

std::atomic<const ModelLibrary*> present = nullptr;
thread_local const ModelLibrary* scoped = nullptr;

template <class T>
const T* find_by_id(const std::vector<T>& all, const std::string& id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const T& item) { return item.id == id; });
  return it == all.end() ? nullptr : &*it;
}

template <class T>
std::unordered_map<std::string, size_t> places_of(const std::vector<T>& all) {
  std::unordered_map<std::string, size_t> out;
  for (size_t i = 0; i < all.size(); ++i) out.try_emplace(all[i].id, i);
  return out;
}

template <class T>
const T* found(const std::vector<T>& all, const std::unordered_map<std::string, size_t>& places,
               const std::string& id) {
  const auto it = places.find(id);
  return it == places.end() ? nullptr : &all[it->second];
}

}  // namespace

std::filesystem::path own_folder() {
  const std::filesystem::path user = user_data_dir();
  return user.empty() ? user : user / "models";
}

bool is_own(const SourcePlace& place) {
  const std::string folder = own_folder().string();
  return !folder.empty() && place.file.starts_with(folder + "/");
}

FileStamps own_file_stamps() {
  FileStamps out;
  const std::filesystem::path own = own_folder();
  if (own.empty()) return out;
  for (const char* sub : kSubfolders)
    for (const auto& path : files_of(own / sub)) add_stamp(out, path);
  return out;
}

std::vector<std::string> ModelLibrary::folders() {
  return {(data_dir() / "models").string(), own_folder().string()};
}

ModelLibrary ModelLibrary::load(const std::vector<std::string>& folders, const std::vector<DataText>& texts) {
  ModelLibrary library;
  LibraryReader reader(library);
  for (const std::string& folder : folders) reader.read(std::filesystem::path(folder));
  for (const DataText& text : texts) reader.read(text);
  reader.finish();
  sort_by_maker(library.presets_);
  library.made_ = std::make_shared<Made>();
  return library;
}

ModelLibrary ModelLibrary::with(const DataText& text) const {
  ModelLibrary library;
  library.presets_ = presets_;
  library.profiles_ = profiles_;
  library.content_ = content_;
  library.own_files_ = own_files_;
  library.problems_.assign(problems_.begin(),
                           problems_.begin() + static_cast<std::ptrdiff_t>(problems_of_files_));
  LibraryReader reader(library);
  reader.read(*stated_);
  reader.read(text);
  reader.finish_templates();
  library.made_ = std::make_shared<Made>();
  return library;
}

const ModelLibrary& ModelLibrary::instance() {
  if (scoped) return *scoped;
  static const ModelLibrary first = load(folders());
  const ModelLibrary* library = present.load();
  return library ? *library : first;
}

void ModelLibrary::replace(std::shared_ptr<const ModelLibrary> library) {
  static std::mutex mutex;
  static std::vector<std::shared_ptr<const ModelLibrary>> all;
  const std::scoped_lock lock(mutex);
  present = library.get();
  all.push_back(std::move(library));
}

ModelLibrary::Scope::Scope(const ModelLibrary& library) : before_(std::exchange(scoped, &library)) {}
ModelLibrary::Scope::~Scope() { scoped = before_; }

// Grows on demand. Nodes of maps stay in place, so pointers to values stay valid.
struct ModelLibrary::Made {
  std::shared_mutex mutex;
  std::map<std::string, Architecture> architectures;  // by text
  std::map<std::string, BlockTemplate> blocks;
};

const Architecture* ModelLibrary::made(const std::string& id) const {
  {
    const std::shared_lock lock(made_->mutex);
    const auto known = made_->architectures.find(id);
    if (known != made_->architectures.end()) return &known->second;
  }
  auto result = with_made_kinds(id, *this, *stated_);
  if (std::holds_alternative<Problem>(result)) return nullptr;
  auto& [architecture, blocks] = std::get<0>(result);
  {
    const std::scoped_lock lock(made_->mutex);
    for (BlockTemplate& block : blocks)
      if (!found(blocks_, block_at_, block.id)) made_->blocks.try_emplace(block.id, std::move(block));
  }
  gather(*this, architecture);
  const std::scoped_lock lock(made_->mutex);
  return &made_->architectures.try_emplace(id, std::move(architecture)).first->second;
}

std::optional<Problem> ModelLibrary::architecture_problem(const std::string& id) const {
  if (!has_made_kinds(id)) return std::nullopt;
  const auto result = with_made_kinds(id, *this, *stated_);
  const auto* problem = std::get_if<Problem>(&result);
  return problem ? std::optional(*problem) : std::nullopt;
}

// A search of many designs asks for architectures and blocks a million times.
void ModelLibrary::index() {
  architecture_at_ = places_of(architectures_);
  block_at_ = places_of(blocks_);
}

const Preset* ModelLibrary::preset(const std::string& id) const { return find_by_id(presets_, id); }
const Architecture* ModelLibrary::architecture(const std::string& id) const {
  const Architecture* exact = found(architectures_, architecture_at_, id);
  if (exact || id.find(';') == std::string::npos) return exact;
  if (has_made_kinds(id)) return made(id);
  const OptionCall call = parse_option_call(id);
  const Architecture* base = found(architectures_, architecture_at_, call.id);
  if (!base || unknown_option(call, base->options, base->place)) return nullptr;
  return found(architectures_, architecture_at_, option_call_text(call, base->options));
}
const BlockTemplate* ModelLibrary::block(const std::string& id) const {
  const BlockTemplate* block = found(blocks_, block_at_, id);
  if (block || id.find(';') == std::string::npos) return block;
  const std::shared_lock lock(made_->mutex);
  const auto made = made_->blocks.find(id);
  return made == made_->blocks.end() ? nullptr : &made->second;
}
const KernelProfile* ModelLibrary::profile(const std::string& id) const { return find_by_id(profiles_, id); }

}  // namespace shardscape
