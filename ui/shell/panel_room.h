// Hides panels that a narrow window has no room for, and shows them again when the window is wide enough. A
// person can show such a panel in a narrow window too.
#pragma once

#include <QObject>
#include <QSize>
#include <QVector>

class QAction;
class QWidget;

namespace shardscape::ui {

// Narrower windows show a view next to one panel, or alone.
inline constexpr int kRoomForBoth = 940, kRoomForOne = 700;
// A view in a smaller pane scrolls. The controls of a view that cannot wrap need up to about 500 pixels
// (Architecture). A window of 853x533, the room that fonts of 150 % leave on 1280x800, has about 550 pixels
// next to the form: there no view scrolls sideways.
inline constexpr QSize kLeastView(508, 300);

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
