// The knobs under one heading of a group. A section without effect on the design, or with rarely changed
// knobs, is folded to one line.
#pragma once

#include <QVector>
#include <QWidget>
#include <optional>

class QPushButton;

namespace shardscape::ui {

class KnobRow;

class KnobSection : public QWidget {
  Q_OBJECT
 public:
  KnobSection(const QString& name, QWidget* parent);
  void add(KnobRow* row);
  void setHeading(bool shown);  // false: the group has one section
  void refresh();               // after the rows are refreshed; setShown() then shows the result
  int filter(const QString& text, bool helps);  // Returns the number of shown rows. Filtering unfolds the
                                                // section. helps: also search help texts.
  bool folded() const { return folded_; }
  // idle: rows without effect are shown. open: the group is not folded.
  void setShown(bool idle, bool open);
  void setFolded(bool folded);  // by the person; holds until the reason to fold changes
  const QVector<KnobRow*>& rows() const { return rows_; }
  QPushButton* header() const { return header_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showRows();
  void showHeader();
  const QString name_;
  QPushButton* header_;
  QVector<KnobRow*> rows_;
  bool shows(const KnobRow* row) const;
  QString filter_, reason_;
  bool helps_ = false;
  bool heading_ = true, fold_ = false, folded_ = false, idle_shown_ = false, group_open_ = false;
};

}  // namespace shardscape::ui
