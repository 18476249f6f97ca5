// Parts of a page above one another, with dividers that a person drags. A double click on a divider gives all
// room to the part below, and takes it back. A divider is a stop of the Tab key: arrows move it, Enter is a
// double click.
#pragma once

#include <QSplitter>

namespace shardscape::ui {

class PageSplitter : public QSplitter {
  Q_OBJECT
 public:
  // name: under which settings remember the dividers.
  explicit PageSplitter(const QString& name, QWidget* parent);
  // Heights of the parts that the page would choose, in the order of the parts; the part with 0 takes the
  // rest. They apply until the person moves a divider.
  void suggest(const QList<int>& heights);
  bool moved() const { return moved_; }  // by the person
  bool maximised() const { return !before_.isEmpty(); }
  void toggleMaximised(int part);
  void move(int divider, int pixels);
  QByteArray remembered() const;          // empty: the person has not moved a divider
  void restore(const QByteArray& state);  // empty: back to what the page suggests

 protected:
  QSplitterHandle* createHandle() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void apply();
  QList<int> suggested_, before_;  // before_: heights before a part was maximised
  bool moved_ = false;
};

}  // namespace shardscape::ui
