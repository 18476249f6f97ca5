// Brings work into the window: a file that a person opens, drops or names, and text of the clipboard. A
// config.json and a launch get a preview; a design replaces the document; traces and profiles get a window.
// A thread reads files: a large search result takes seconds.
#pragma once

#include <QObject>
#include <QTimer>

#include "ui/toolkit/newest_job.h"

class QDialog;
class QMimeData;
class QWidget;

namespace shardscape::ui {

class Document;
class MessageBar;
class Session;
class WindowHelp;

class Importer : public QObject {
  Q_OBJECT
 public:
  Importer(Session* session, Document* document, MessageBar* message, WindowHelp* help, QWidget* window);
  // Whether openFile() replaces the document, or says why the file is no design.
  static bool isDocument(const QString& path);
  void choose();                               // asks for a file
  void openFile(const QString& path);          // by its content, which is shown later
  bool opening() const { return opening_; }    // a file is being read
  void chooseRun();                            // asks for a trace or a profile
  void paste();                                // the text of the clipboard
  static bool accepts(const QMimeData* data);  // local files or folders, or text
  void open(const QMimeData* data);            // what accepts() accepts

 Q_SIGNALS:
  void architectureRequested();  // edit the layers of the model

 private:
  struct Content;
  static Content contentOf(const QString& path);
  void openFiles(const QStringList& paths);
  void show(const QStringList& paths, const Content& content);
  void stopOpening();  // the file that is being read is not shown
  void endWait();
  void previewConfig(const QString& path);
  // Whether the first path is a trace or a profile, which then has a window.
  bool openRun(const QStringList& paths);
  void previewLaunch(const std::string& text, const QString& name, const QString& folder);
  void openText(const QString& text, const QString& name);
  void preview(QDialog* dialog);
  Session* session_;
  Document* document_;
  MessageBar* message_;
  WindowHelp* help_;
  QWidget* window_;
  bool opening_ = false;
  QTimer slow_;           // a file that is read at once needs no message
  QString wait_message_;  // while the file is read
  NewestJob job_{this};   // last member: the thread ends before what it posts to
};

}  // namespace shardscape::ui
