#include "ui/toolkit/select_on_click.h"

#include <QFocusEvent>
#include <QLineEdit>
#include <QTimer>

namespace shardscape::ui {
namespace {

class SelectOnClick : public QObject {
 public:
  explicit SelectOnClick(QLineEdit* line) : QObject(line), line_(line) {}
  // After the event, which puts the cursor to the place of the click.
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::FocusIn &&
        static_cast<QFocusEvent*>(event)->reason() == Qt::MouseFocusReason)
      QTimer::singleShot(0, line_, &QLineEdit::selectAll);
    return false;
  }

 private:
  QLineEdit* line_;
};

}  // namespace

void selectOnClick(QLineEdit* line) { line->installEventFilter(new SelectOnClick(line)); }

}  // namespace shardscape::ui
