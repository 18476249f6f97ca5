// A change of the design that a person can apply: name, badge ("fits"), figures, details, and a button.
#pragma once

#include <QFrame>
#include <QString>

class QPushButton;

namespace shardscape::ui {

struct Change {
  QString name;
  QString badge;        // "fits"; may be empty
  bool fits = true;     // colours the badge
  QString figures;      // "4.03 s, 53.3 GiB"
  QString details;      // small text below the figures; may be empty
  QString description;  // for screen readers
};

class ChangeRow : public QFrame {
  Q_OBJECT
 public:
  explicit ChangeRow(const Change& change, QWidget* parent = nullptr);
  QPushButton* button() const { return button_; }
  void setCurrent();  // the design is already this one: there is nothing to apply

 private:
  QPushButton* button_;
};

}  // namespace shardscape::ui
