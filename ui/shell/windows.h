// The windows of the program. Each has its own session and document. The program ends with the last one.
#pragma once

#include <QObject>
#include <QPointer>
#include <vector>

namespace shardscape::ui {

class MainWindow;
class Session;

class Windows : public QObject {
  Q_OBJECT
 public:
  // unsaved: the folder for studies that are not saved (StudyFile); empty: they are not kept.
  explicit Windows(const QString& unsaved);
  ~Windows() override;
  MainWindow* make();  // a hidden window with the default design; deleted when it closes
  MainWindow* open();  // a shown window, a little away from the last one
  int count() const;

 private:
  struct Opened {
    QPointer<Session> session;
    QPointer<MainWindow> window;
  };
  QString unsaved_;
  std::vector<Opened> opened_;
};

}  // namespace shardscape::ui
