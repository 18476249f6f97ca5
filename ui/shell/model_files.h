// The files of the person's own models while the window is open: changes that another program makes are read
// again after a short pause, and files that cannot be read are reported.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

#include "model/library.h"

namespace shardscape::ui {

class MessageBar;
class Session;

class ModelFiles : public QObject {
  Q_OBJECT
 public:
  // Reports the files that the program could not read at its start.
  ModelFiles(Session* session, MessageBar* messages, QObject* parent);

 private:
  void follow();  // the library of the program, which has just been read
  void watch();
  void readAgain();  // if a file differs from when the library was read
  void report();
  Session* session_;
  MessageBar* messages_;
  QFileSystemWatcher watcher_;
  QTimer pause_;     // an editor writes a file in several steps
  FileStamps read_;  // when the library was read
  QString reported_;
};

}  // namespace shardscape::ui
