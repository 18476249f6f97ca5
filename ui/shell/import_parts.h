// Parts that the previews of imported files share: labels, buttons, and a tree of fields in sections.
#pragma once

#include <QString>
#include <vector>

class QLabel;
class QPushButton;
class QTreeView;
class QWidget;

namespace shardscape::ui {

QLabel* importLabel(const char* role, QWidget* parent);
QLabel* importNotice(const char* name,
                     QWidget* parent);  // with a background, of which the text can be copied
QPushButton* importButton(const QString& text, const char* name, QWidget* parent);

// A tree whose sections have the title and number of their fields.
class FieldTree {
 public:
  struct Row {
    QString name, value, meaning;
  };
  explicit FieldTree(QWidget* parent);
  QTreeView* view() const { return view_; }
  void clear();
  void add(const QString& title, const std::vector<Row>& rows);  // nothing without rows
  // All sections open, but the last if it is folded.
  void finish(bool fold_last);
  int sections() const;

 private:
  QTreeView* view_;
  int widest_ = 0;  // pixels of the longest name
};

}  // namespace shardscape::ui
