// Saves what only the window saves.
// fault_saver study NAME FILE: a document with one compared design.
// fault_saver unsaved NAME FOLDER: the unsaved work of a window; in a folder that exists, that of a window
// that ended.
#include <QDir>
#include <cstdio>
#include <string>

#include "base/fatal.h"
#include "explore/recovery.h"
#include "ui/shell/study_file.h"

using namespace shardscape;

namespace {

std::optional<Problem> save_unsaved(const Study& study, const QString& folder) {
  std::unique_ptr<ui::StudyFile> file;
  if (QDir(folder).exists()) {
    auto files = ui::StudyFile::abandoned(folder);
    if (files.empty())
      return Problem{ProblemCode::FileUnreadable, folder.toStdString(), "no unsaved work can be opened",
                     "a file"};
    file = std::move(files.front());
  } else {
    auto made = ui::StudyFile::create(folder);
    if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
    file = std::move(std::get<0>(made));
  }
  Recovery recovery;
  recovery.study = study;
  return file->write(to_json(recovery));
}

}  // namespace

int main(int argc, char** argv) {
  handle_fatal_states();
  if (argc != 4) return 2;
  Study study;
  study.compared.push_back({.name = argv[2], .design = study.design});
  const bool unsaved = argv[1] == std::string("unsaved");
  const auto problem = unsaved ? save_unsaved(study, argv[3]) : save_study(study, argv[3]);
  if (problem) std::fprintf(stderr, "error: %s\n", to_string(*problem).c_str());
  return problem ? 3 : 0;
}
