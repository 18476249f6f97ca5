// The bottom line: problems, the running export with cancel, units, and how long the last update took.
#pragma once

#include <QWidget>
#include <optional>

class QLabel;
class QProgressBar;
class QPushButton;

namespace shardscape::ui {

class ExportJob;
class FrameClock;
class Session;

class StatusBar : public QWidget {
  Q_OBJECT
 public:
  StatusBar(Session* session, ExportJob* job, const FrameClock* clock, QWidget* parent = nullptr);
  void showMessage(const QString& text);  // until the next job or edit

 Q_SIGNALS:
  void problemsRequested();

 private:
  void refreshProblems();
  void refreshJob();
  void refreshUnits();
  void refreshElapsed();
  Session* session_;
  ExportJob* job_;
  const FrameClock* clock_;
  std::optional<double> answer_;  // milliseconds that the person waited for the figures of the last edit
  QPushButton *problems_, *cancel_, *units_;
  QLabel *message_, *elapsed_;
  QProgressBar* bar_;
};

}  // namespace shardscape::ui
