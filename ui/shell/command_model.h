// The commands of the palette, filtered by the typed words, best match first.
#pragma once

#include <QAbstractListModel>
#include <QVector>
#include <functional>

namespace shardscape::ui {

struct Command {
  QString group;     // "File", "Model", "Set"
  QString title;     // "Export bundle"
  QString hint;      // shortcut or present value
  QString keywords;  // searched, not shown
  std::function<void()> run;
  std::function<void(const QString& value)> set = {};  // of a field: "dp 128" sets it
  bool without_effect = false;                         // listed last
  QVector<QPair<QString, QString>> choices = {};       // values and labels that `set` accepts; empty: numbers
};

class CommandModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role { HintRole = Qt::UserRole, GroupRole };
  using QAbstractListModel::QAbstractListModel;
  void setCommands(QVector<Command> commands);
  void setFilter(const QString& words);
  const Command& command(int row) const { return commands_[shown_[row]]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  void rank(const QString& words);
  void addAssignments(const QString& text);
  void addChoices(const QString& text, const Command& field);
  QVector<Command> commands_;  // those that were given, then assignments of the typed value
  qsizetype given_ = 0;
  QVector<int> shown_;  // indices into commands_
  QString filter_;
};

}  // namespace shardscape::ui
