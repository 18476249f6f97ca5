// A fact of the inspector: its name left, its value right, and a hairline below. The value may be a link.
// Where both do not fit beside each other, the value is below the name.
#pragma once

#include <QWidget>

class QBoxLayout;
class QLabel;

namespace shardscape::ui {

class CopyLabel;

class FactRow : public QWidget {
  Q_OBJECT
 public:
  explicit FactRow(QWidget* parent, bool link = false);
  void set(const QString& name, const QString& value);

 Q_SIGNALS:
  void followed();  // the link

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();

  QBoxLayout* line_;
  CopyLabel *name_, *text_;  // text_: of a value that is no link
  QLabel* value_;
};

}  // namespace shardscape::ui
