#include "base/write_files.h"

#include "base/atomic_write.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

// What was not there before. It is removed again unless it is kept.
class NewPaths {
 public:
  ~NewPaths() {
    std::error_code ignored;
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) fs::remove(*path, ignored);
  }
  // Call it before the path is made.
  void note(const fs::path& path) {
    std::error_code ignored;
    if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) paths_.push_back(path);
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

}  // namespace

std::optional<Problem> write_files(const fs::path& folder, const std::vector<NamedText>& files) {
  NewPaths made;
  fs::path above;
  for (const fs::path& part : folder) made.note(above /= part);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Problem{ProblemCode::FolderNotWritable, folder.string(),
                   "the folder cannot be made: " + error.message(), "a writable folder"};
  std::vector<AtomicFile> written;
  for (const NamedText& file : files) {
    auto next = AtomicFile::write(folder / file.name, file.text);
    if (auto* problem = std::get_if<Problem>(&next)) return std::move(*problem);
    written.push_back(std::get<AtomicFile>(std::move(next)));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    made.note(folder / files[i].name);
    if (auto problem = written[i].commit()) return problem;
  }
  made.keep();
  return std::nullopt;
}

}  // namespace shardscape
