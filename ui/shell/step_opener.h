// Opens a step of the page Requests: its design becomes the current one, the Timeline is shown, and a line
// leads back. The design is one undo step, because every view, the export and the command line read the
// session's design: a person can inspect, compare and export the step, and undo returns to the service.
#pragma once

#include <QObject>

class QAction;

namespace shardscape {
struct Design;
}

namespace shardscape::ui {

class MainWindow;

class StepOpener : public QObject {
  Q_OBJECT
 public:
  explicit StepOpener(MainWindow* window);

 private:
  void open(const Design& design, const QString& what, const QString& note);
  void goBack();
  MainWindow* window_;
  QAction* back_;
  bool changed_ = false;
};

}  // namespace shardscape::ui
