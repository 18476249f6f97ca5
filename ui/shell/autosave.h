// Keeps the unsaved study of a window in a file, so that a crash loses a few seconds at most. A worker thread
// writes. A window that closes removes its file.
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>

#include "ui/shell/study_file.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape {
struct Recovery;
}

namespace shardscape::ui {

class Document;
class Session;

class Autosave : public QObject {
  Q_OBJECT
 public:
  static constexpr int kPause = 3000;  // from a change to its file, in milliseconds
  Autosave(Session* session, Document* document, const QString& folder, QObject* parent);
  ~Autosave() override;
  void setPause(int milliseconds) { timer_.setInterval(milliseconds); }
  void setView(std::function<QString()> view) { view_ = std::move(view); }  // the name of the shown view
  // From now on the study is kept in the file of a crashed window, which the window has restored.
  void adopt(std::shared_ptr<StudyFile> file);
  void finish();  // the window closes in good order: its file goes

 Q_SIGNALS:
  void written();
  void failed(const QString& message);  // once until a save succeeds; it is tried again and again

 private:
  void follow();
  void save();
  void saveLast();
  Recovery snapshot() const;
  Session* session_;
  Document* document_;
  std::function<QString()> view_;
  QTimer timer_;
  struct Target;  // used by the worker alone
  std::shared_ptr<Target> target_;
  bool finished_ = false, failed_ = false;
  std::unique_ptr<NewestJob> job_;
};

}  // namespace shardscape::ui
