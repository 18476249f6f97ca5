// The design as a file: new, open, save, and the question about unsaved changes.
#pragma once

#include <QDateTime>
#include <QObject>
#include <QString>
#include <memory>
#include <utility>
#include <vector>

#include "explore/study.h"

class QWidget;

namespace shardscape {
struct Recovery;
}

namespace shardscape::ui {

class PageSettings;
class Session;

class Document : public QObject {
  Q_OBJECT
 public:
  Document(Session* session, PageSettings* pages, QWidget* window);
  PageSettings* pages() const { return pages_; }
  const QString& path() const { return path_; }  // empty: never saved
  bool modified() const;  // unsaved changes of the design, its search, its pinned designs, or pages
  QString title() const;  // the file name, or the name of the design
  void newDesign();
  QString chooseFile();  // asks for a file to open; empty: none
  // Tells whether another program wrote the file meanwhile.
  struct FileState {
    qint64 bytes = -1;
    QDateTime written;
    bool operator==(const FileState&) const = default;
  };
  // What a file had at one moment.
  struct FileContent {
    QString path;
    FileState state;
    Result<Study> study;
  };
  static FileContent read(const QString& path);  // in any thread; a large search result takes seconds
  // false: failed() was emitted, or the person kept the present design
  bool open(FileContent content) { return show(std::move(content), true); }
  bool openPath(const QString& path) { return open(read(path)); }
  // A document that comes with the program. "Save" asks for a file.
  bool openExample(const QString& path) { return show(read(path), false); }
  // Asks for a file the first time, and before it replaces what another program wrote to the file meanwhile.
  bool save();
  bool saveAs();
  bool savePath(const QString& path);
  Study study() const;                     // as it would be saved
  void restore(const Recovery& recovery);  // the study of a crashed window; it counts as modified
  bool mayDiscard();                       // asks if there are unsaved changes; true: they may be discarded

 Q_SIGNALS:
  void changed();  // path or title
  void failed(const QString& message);
  void succeeded();

 private:
  static FileState stateOf(const QString& path);
  bool show(FileContent content, bool owned);
  bool mayReplace();
  Session* session_;
  PageSettings* pages_;
  QWidget* window_;
  QString path_;
  FileState state_;                                   // of the file when it was read or written last
  std::shared_ptr<const SearchResult> saved_search_;  // as in the file
  std::vector<NamedDesign> saved_compared_;           // likewise
  StudyPages saved_pages_;                            // likewise
};

}  // namespace shardscape::ui
