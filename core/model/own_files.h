// Files of the person's own models: texts to start from, and how they are saved. ModelLibrary reads them from
// own_folder().
#pragma once

#include <filesystem>
#include <string>

#include "base/problem.h"
#include "model/library.h"

namespace shardscape {

// The text of the file that states a block or an architecture. An architecture with options or made kinds is
// written out: its text has the lines that its model runs.
Result<std::string> block_text(const std::string& id, const ModelLibrary& library);
Result<std::string> architecture_text(const std::string& id, const ModelLibrary& library);
// The text of a copy: the same with another id.
std::string with_id(const std::string& text, const std::string& id);

// What a text states: the folder of its file, "blocks" or "architectures", and its id. Both are empty if the
// text has neither key.
struct TextKind {
  std::string folder, id;
};
TextKind kind_of_text(const std::string& text);

// The JSON of a preset.
std::string preset_text(const std::string& id, const std::string& name, const ModelSpec& model,
                        int64_t sequence);

// FOLDER/ID.json below own_folder(); empty if there is no such folder.
std::filesystem::path own_file(const std::string& folder, const std::string& id);

// Writes own_file(folder, id), which it replaces. Refuses an id that a file of the program has, and an id
// that is no file name.
Result<std::filesystem::path> save_own(const std::string& folder, const std::string& id,
                                       const std::string& text);

}  // namespace shardscape
