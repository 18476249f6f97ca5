// Windows that fit their screen: no larger than the room that the desktop leaves, and with contents that
// scroll where this room is small.
#pragma once

#include <QScrollArea>

class QDialog;

namespace shardscape::ui {

// The largest size of this window, without the frame that a window manager draws around it.
QSize roomOnScreen(const QWidget* window);
// A window that is shown moves up or left where it would reach beyond its screen.
void resizeOnScreen(QWidget* window, QSize wanted);

// The whole content of a dialog, whose first size is that of the content.
class ScrolledContent : public QScrollArea {
  Q_OBJECT
 public:
  explicit ScrolledContent(QDialog* dialog);
  QSize sizeHint() const override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace shardscape::ui
