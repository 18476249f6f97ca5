// The files of the person's own models while the window is open: changes that another program makes are read
// again after a short pause, and files that cannot be read are reported.
#pragma once

#include <QFileSystemWatcher>
#include <QHash>
#include <QObject>
#include <QTimer>

namespace shardscape::ui {

class MessageBar;
class Session;

class ModelFiles : public QObject {
  Q_OBJECT
 public:
  // Reports the files that the program could not read at its start.
  ModelFiles(Session* session, MessageBar* messages, QObject* parent);

 private:
  // By path: time of the last change and size in bytes.
  using Stamps = QHash<QString, QPair<qint64, qint64>>;
  Stamps stamps() const;
  void watch();
  void readAgain();  // if a file differs from when the library was read
  void report();
  Session* session_;
  MessageBar* messages_;
  QFileSystemWatcher watcher_;
  QTimer pause_;  // an editor writes a file in several steps
  Stamps read_;   // when the library was read
  QString reported_;
};

}  // namespace shardscape::ui
