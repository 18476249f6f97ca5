// The model library holds the data below models/: presets, architectures, block templates and kernel
// profiles. Built-in files come first, the user's files follow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/block.h"
#include "model/kernel_profile.h"
#include "model/model_spec.h"

namespace shardscape {

// A layout in which people have trained the model: values of knobs other than those of the model.
struct PublishedLayout {
  std::string source;
  std::vector<std::pair<std::string, std::string>> knobs;  // id and value, as set_knob() reads it
  bool empty() const { return knobs.empty(); }
};

struct Preset {
  std::string id, name, maker, source;
  std::string released;  // "2025-04", or "2025" if the month is not known; may be empty
  ModelSpec model;
  PublishedLayout layout;  // empty if none is published
  // Active parameters: 0 if all are active, or if the number is not published.
  int64_t published_parameters = 0, published_active_parameters = 0;
  bool published_exact = true;  // false: the published number is rounded
  int64_t default_seq = 0;
  SourcePlace place;
};

// A file that is not on disk, or that replaces one: a text while a person writes it.
struct DataText {
  std::string folder;  // "blocks" or "architectures"
  std::string name;    // in messages, in place of the path
  std::string text;
};

// The folder of the person's own models; empty without $HOME.
std::filesystem::path own_folder();
// Whether the file is in the folder of the person's own models.
bool is_own(const SourcePlace& place);
struct Templates;

// By path: the time of the last change and the size in bytes.
using FileStamps = std::map<std::string, std::pair<std::filesystem::file_time_type, uintmax_t>>;
// Of the files of the person's own models, now.
FileStamps own_file_stamps();

class ModelLibrary {
 public:
  // The library of the program. Reads the data folders at the first call. A thread with a Scope gets the
  // library of its scope.
  static const ModelLibrary& instance();
  // instance() returns this library from now on. Libraries before it stay alive until the program ends, so
  // that jobs that started with them can finish.
  static void replace(std::shared_ptr<const ModelLibrary> library);
  // While it lives, instance() returns one library in this thread. A job makes a scope of instance() when it
  // starts, so that it reads one library from its first line to its last.
  class Scope {
   public:
    explicit Scope(const ModelLibrary& library);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ModelLibrary* before_;
  };
  // Reads folders with presets/, architectures/, towers/, blocks/ and profiles/ in order, then the texts. An
  // entry replaces an earlier entry with the same id.
  static ModelLibrary load(const std::vector<std::string>& folders, const std::vector<DataText>& texts = {});
  // This library with one more text, which may replace an entry. Reads no files.
  ModelLibrary with(const DataText& text) const;
  // The folders of instance(): that of the program, then that of the person.
  static std::vector<std::string> folders();

  // Grouped by maker: the maker of the newest model first, and the newest models of a maker first.
  const std::vector<Preset>& presets() const { return presets_; }
  const Preset* preset(const std::string& id) const;
  // id: with options, if the architecture has some: "glm4_moe; qk_norm". Kinds of layers may follow that are
  // made of others (made_kinds.h).
  const Architecture* architecture(const std::string& id) const;
  const BlockTemplate* block(const std::string& id) const;
  const KernelProfile* profile(const std::string& id) const;
  // Why architecture(id) returns nullptr; a text with made kinds has its own reasons.
  std::optional<Problem> architecture_problem(const std::string& id) const;
  const std::vector<Architecture>& architectures() const { return architectures_; }
  const std::vector<BlockTemplate>& blocks() const { return blocks_; }
  const std::vector<TowerTemplate>& towers() const { return towers_; }
  const std::vector<KernelProfile>& profiles() const { return profiles_; }
  // Mistakes in data files. Files with a mistake are left out.
  const std::vector<Problem>& problems() const { return problems_; }
  // The stamps of own files, each taken before its text was read: a file that has changed since has another
  // stamp.
  const FileStamps& own_files() const { return own_files_; }
  // A hash of all texts but those of presets. Cache keys contain it, so that libraries can share a cache.
  int64_t content() const { return content_; }

 private:
  friend class LibraryReader;
  void index();  // after each change of architectures and blocks
  std::vector<Preset> presets_;
  std::vector<TowerTemplate> towers_;
  std::vector<Architecture> architectures_;
  std::vector<BlockTemplate> blocks_;
  std::vector<KernelProfile> profiles_;
  std::vector<Problem> problems_;
  std::unordered_map<std::string, size_t> architecture_at_, block_at_;  // by id
  FileStamps own_files_;
  size_t problems_of_files_ = 0;  // the first ones; the others are mistakes between files
  int64_t content_ = 0;
  // What the files state, and architectures with made kinds, which are resolved when someone asks for them.
  struct Made;
  const Architecture* made(const std::string& id) const;
  std::shared_ptr<const Templates> stated_;
  std::shared_ptr<Made> made_;
};

}  // namespace shardscape
