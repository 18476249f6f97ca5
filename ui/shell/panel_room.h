// Hides panels that a narrow window has no room for, and shows them again when the window is wide enough. A
// person can show such a panel in a narrow window too.
#pragma once

#include <QObject>
#include <QVector>

class QAction;
class QWidget;

namespace shardscape::ui {

class PanelRoom : public QObject {
  Q_OBJECT
 public:
  PanelRoom(QWidget* window, QObject* parent);
  // The checked action shows the panel. least: the width of the window with room for it.
  void add(QAction* action, int least);
  void reset();  // the actions have the state of a wide window
  // Shown, or hidden only because the window is narrow.
  bool wanted(const QAction* action) const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fit();
  struct Panel {
    QAction* action;
    int least;
    bool hidden = false;  // because the window is narrow
    bool narrow = false;
  };
  QWidget* window_;
  QVector<Panel> panels_;
};

}  // namespace shardscape::ui
