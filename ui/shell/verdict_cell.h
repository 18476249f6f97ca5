// One figure of the verdict strip: small label, large number, small unit.
#pragma once

#include <QWidget>

class QPushButton;

namespace shardscape::ui {

class ElidedLabel;

class VerdictCell : public QWidget {
  Q_OBJECT
 public:
  VerdictCell(const QString& label, QWidget* parent);
  // The value "61.3 GiB" is split at its blank: large number, small unit and detail.
  void setValue(const QString& value, const QString& detail = {});
  void setLabel(const QString& label);
  // A link next to the value; an empty label hides the link.
  void setLink(const QString& label, const QString& description);
  QPushButton* link() const { return link_; }
  QString text() const;
  void setPale(bool pale);  // readable, but not a figure of the current design
  bool pale() const { return pale_; }

 private:
  void recolor();
  QString label_;
  bool pale_ = false;
  ElidedLabel *caption_, *number_, *unit_;
  QPushButton* link_;
};

}  // namespace shardscape::ui
