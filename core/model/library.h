// Everything under models/: presets, architectures, block templates, kernel profiles; built-in first, then the user's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/block.h"
#include "model/kernel_profile.h"
#include "model/model_spec.h"

namespace shardscape {

struct Preset {
  std::string id, name, family, source;
  ModelSpec model;
  int64_t published_parameters = 0, published_active_parameters = 0;  // active 0: as all of them, or not published
  bool published_exact = true;  // false: the paper prints a rounded figure
  int64_t default_seq = 0;
};

class ModelLibrary {
 public:
  // Reads the data folders once; later calls return the same library.
  static const ModelLibrary& instance();
  // Reads the given folders (each with presets/, architectures/, blocks/, profiles/) in order; later ones override by id.
  static ModelLibrary load(const std::vector<std::string>& folders);

  const std::vector<Preset>& presets() const { return presets_; }
  const Preset* preset(const std::string& id) const;
  const Architecture* architecture(const std::string& id) const;
  const BlockTemplate* block(const std::string& id) const;
  const KernelProfile* profile(const std::string& id) const;
  const std::vector<KernelProfile>& profiles() const { return profiles_; }
  // Mistakes found in data files; the file in question was left out.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class LibraryReader;
  std::vector<Preset> presets_;
  std::vector<Architecture> architectures_;
  std::vector<BlockTemplate> blocks_;
  std::vector<KernelProfile> profiles_;
  std::vector<Problem> problems_;
};

}  // namespace shardscape
