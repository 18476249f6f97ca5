// The design as a file: new, open, save, and the question about changes that are not saved.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "explore/study.h"

class QWidget;

namespace shardscape::ui {

class Session;

class Document : public QObject {
  Q_OBJECT
 public:
  Document(Session* session, QWidget* window);
  const QString& path() const { return path_; }  // empty: never saved
  bool modified() const;                         // the design, its search, or what it is compared with
  QString title() const;                         // file name, or the design's own
  void newDesign();
  void open();                         // asks for a file
  bool openPath(const QString& path);  // false: failed() said why, or the person kept the present design
  bool save();                         // asks for a file the first time
  bool saveAs();
  bool savePath(const QString& path);
  bool mayDiscard();  // asks where there are changes; true: go on

 Q_SIGNALS:
  void changed();  // path or title
  void failed(const QString& message);
  void succeeded();

 private:
  Session* session_;
  QWidget* window_;
  QString path_;
  std::shared_ptr<const SearchResult> saved_search_;  // as the file has it
  std::vector<NamedDesign> saved_compared_;           // likewise
};

}  // namespace shardscape::ui
