// A choice of several values from a list: one small button per value. The last button shows values that are
// not chosen, if there are many. One stop of the Tab key; arrows go through the values.
#pragma once

#include <QStringList>
#include <QWidget>

class QPushButton;

namespace shardscape::ui {

class ValueChips : public QWidget {
  Q_OBJECT
 public:
  static constexpr int kFew = 5;  // more values are folded

  explicit ValueChips(const QString& name, QWidget* parent);
  // values: in the order of the list. labels: for people.
  void setValues(const QStringList& values, const QStringList& labels, const QStringList& chosen);
  const QStringList& values() const { return values_; }
  QStringList chosen() const;
  QPushButton* chip(const QString& value) const;  // nullptr: no such value
  void setIdle(bool idle);                        // the values have no effect now
  QPushButton* moreChip() const { return more_; }

 Q_SIGNALS:
  void toggled();  // by the person

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fold();
  void elide();  // labels that are wider than a line
  void focusNext(QPushButton* from, int by);
  QStringList values_, labels_;
  QList<QPushButton*> chips_;
  QPushButton* more_;
  bool open_ = false, idle_ = false;
};

}  // namespace shardscape::ui
