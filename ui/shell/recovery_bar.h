// A bar across the window that offers the unsaved studies of crashed windows, one line each. It waits for an
// answer as long as the person likes. Studies without an answer are offered again at the next start.
#pragma once

#include <QFrame>
#include <memory>
#include <vector>

#include "explore/recovery.h"
#include "ui/shell/study_file.h"

class QVBoxLayout;

namespace shardscape::ui {

class RecoveryBar : public QFrame {
  Q_OBJECT
 public:
  explicit RecoveryBar(QWidget* parent = nullptr);
  void offer(const QString& folder);  // reads the abandoned files of the folder; hidden if there are none
  int count() const { return static_cast<int>(offers_.size()); }

 Q_SIGNALS:
  // The receiver keeps the study in the file from now on.
  void restoreRequested(const shardscape::Recovery& recovery, const std::shared_ptr<StudyFile>& file);

 private:
  struct Offer {
    std::shared_ptr<StudyFile> file;
    Result<Recovery> study;
  };
  void fill();
  void addRow(int at);
  void take(int at, bool restore);
  std::vector<Offer> offers_;
  QVBoxLayout* rows_;
};

}  // namespace shardscape::ui
