#include "ui/shell/command_model.h"

#include <algorithm>

namespace shardscape::ui {
namespace {

// The score of a match, lower is better; -1: a word does not match.
int score(const Command& command, const QStringList& words) {
  const QString everything = QStringList{command.group, command.title, command.hint, command.keywords}.join(
      ' ');
  int points = 0;
  for (const QString& word : words) {
    if (!everything.contains(word, Qt::CaseInsensitive)) return -1;
    const qsizetype in_title = command.title.indexOf(word, 0, Qt::CaseInsensitive);
    if (command.keywords.compare(word, Qt::CaseInsensitive) == 0)
      continue;  // the word is the symbol of a knob
    if (in_title == 0)
      points += 1;
    else if (in_title > 0 && !command.title[in_title - 1].isLetterOrNumber())
      points += 2;
    else if (in_title > 0)
      points += 4;
    else
      points += 8;
  }
  return points;
}

}  // namespace

void CommandModel::setCommands(QVector<Command> commands) {
  beginResetModel();
  commands_ = std::move(commands);
  rank(filter_);
  endResetModel();
}

void CommandModel::setFilter(const QString& words) {
  beginResetModel();
  filter_ = words;
  rank(words);
  endResetModel();
}

void CommandModel::rank(const QString& text) {
  const QStringList words = text.split(' ', Qt::SkipEmptyParts);
  QVector<QPair<int, int>> ranked;
  for (int i = 0; i < commands_.size(); ++i) {
    if (const int points = score(commands_[i], words); points >= 0) ranked.push_back({points, i});
  }
  std::sort(ranked.begin(), ranked.end());
  shown_.clear();
  for (const auto& [points, index] : ranked) shown_ << index;
}

int CommandModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant CommandModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const Command& shown = command(index.row());
  switch (role) {
    case Qt::DisplayRole: return shown.title;
    case HintRole: return shown.hint;
    case GroupRole: return shown.group;
    case Qt::AccessibleTextRole: return QString("%1: %2 %3").arg(shown.group, shown.title, shown.hint);
    default: return {};
  }
}

}  // namespace shardscape::ui
