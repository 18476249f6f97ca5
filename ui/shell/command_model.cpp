#include "ui/shell/command_model.h"

#include <QRegularExpression>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kNoMatch = -1, kWithoutEffect = 1000;

bool names(const Command& command, const QString& words) {
  return command.title.compare(words, Qt::CaseInsensitive) == 0 ||
         command.keywords.split(' ').contains(words, Qt::CaseInsensitive);
}

// The score of a match, lower is better.
int score(const Command& command, const QStringList& words) {
  const QString everything = QStringList{command.group, command.title, command.hint, command.keywords}.join(
      ' ');
  int points = command.without_effect ? kWithoutEffect : 0;
  if (names(command, words.join(' '))) return points;
  ++points;
  for (const QString& word : words) {
    if (!everything.contains(word, Qt::CaseInsensitive)) return kNoMatch;
    const qsizetype in_title = command.title.indexOf(word, 0, Qt::CaseInsensitive);
    if (command.keywords.split(' ').contains(word, Qt::CaseInsensitive))
      continue;  // the word is the name or the symbol of a knob
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
  given_ = commands_.size();
  rank(filter_);
  endResetModel();
}

void CommandModel::setFilter(const QString& words) {
  beginResetModel();
  filter_ = words;
  rank(words);
  endResetModel();
}

// "recompute full": the field, then the begin of a choice's value or label.
void CommandModel::addChoices(const QString& text, const Command& field) {
  static const QRegularExpression gap(QStringLiteral("[\\s=:]+"));
  for (auto at = gap.globalMatch(text); at.hasNext();) {
    const QRegularExpressionMatch match = at.next();
    const QString value = text.mid(match.capturedEnd()).trimmed();
    if (value.isEmpty() || !names(field, text.left(match.capturedStart()).trimmed())) continue;
    for (const auto& [id, label] : field.choices)
      if (id.startsWith(value, Qt::CaseInsensitive) || label.startsWith(value, Qt::CaseInsensitive))
        commands_.push_back({field.group, tr("%1 = %2").arg(field.title, label), tr("now %1").arg(field.hint),
                             text, [set = field.set, id = id] { set(id); }});
  }
}

// "dp 128" and "dp=128" name a field and its value.
void CommandModel::addAssignments(const QString& text) {
  for (qsizetype i = 0; i < given_; ++i) addChoices(text, Command(commands_[i]));
  static const QRegularExpression pattern(QStringLiteral("^\\s*(.+?)\\s*[ =:]\\s*([-+.0-9]\\S*)\\s*$"));
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) return;
  for (qsizetype i = 0; i < given_; ++i) {
    const Command& field = commands_[i];
    if (!field.set || !field.choices.isEmpty() || !names(field, match.captured(1))) continue;
    const QString value = match.captured(2);
    commands_.push_back({field.group, tr("%1 = %2").arg(field.title, value), tr("now %1").arg(field.hint),
                         text, [set = field.set, value] { set(value); }});
  }
}

void CommandModel::rank(const QString& text) {
  commands_.resize(given_);
  addAssignments(text);
  const QStringList words = text.split(' ', Qt::SkipEmptyParts);
  QVector<QPair<int, int>> ranked;
  for (int i = 0; i < commands_.size(); ++i) {
    const int points = i < given_ ? score(commands_[i], words) : 0;
    if (points != kNoMatch) ranked.push_back({points, i});
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
