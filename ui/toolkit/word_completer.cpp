#include "ui/toolkit/word_completer.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QStandardItemModel>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kRows = 10;
constexpr qsizetype kLongest = 48;  // letters of a word

bool starts_word(QChar c) { return c.isLetter() || c == u'$'; }
bool inside_word(QChar c) { return c.isLetterOrNumber() || c == u'_' || c == u'-'; }

}  // namespace

WordCompleter::WordCompleter(QLineEdit* field)
    : QCompleter(field), field_(field), model_(new QStandardItemModel(this)) {
  setModel(model_);
  setCaseSensitivity(Qt::CaseInsensitive);
  setFilterMode(Qt::MatchContains);
  setMaxVisibleItems(kRows);
  field->setCompleter(this);
}

void WordCompleter::setWords(const QList<Word>& words) {
  words_ = words;
  model_->clear();
  for (const Word& word : words) {
    auto* item = new QStandardItem(word.hint.isEmpty() ? word.text
                                                       : word.text + QStringLiteral("   ") + word.hint);
    item->setData(word.text, Qt::UserRole);
    model_->appendRow(item);
  }
}

QString WordCompleter::wordAt(const QString& line, qsizetype cursor) const {
  const QString before = line.left(cursor);
  const auto longest = [&](auto matches) {
    for (qsizetype i = std::max<qsizetype>(0, before.size() - kLongest); i < before.size(); ++i) {
      if (!starts_word(before[i]) || (i > 0 && inside_word(before[i - 1]))) continue;
      const QString word = before.mid(i);
      if (std::any_of(words_.begin(), words_.end(), [&](const Word& of) { return matches(of, word); }))
        return word;
    }
    return QString();
  };
  // A name first: "and ste" may stand in a hint, but "ste" begins a name.
  const QString name = longest(
      [](const Word& of, const QString& word) { return of.text.startsWith(word, Qt::CaseInsensitive); });
  if (!name.isEmpty()) return name;
  return longest(
      [](const Word& of, const QString& word) { return of.hint.contains(word, Qt::CaseInsensitive); });
}

QStringList WordCompleter::splitPath(const QString& path) const {
  const QString word = wordAt(path, field_->cursorPosition());
  return {word.isEmpty() ? QString(QChar(1)) : word};  // no entry contains this character
}

QString WordCompleter::pathFromIndex(const QModelIndex& index) const {
  const QString line = field_->text();
  const qsizetype cursor = field_->cursorPosition();
  return line.left(cursor - wordAt(line, cursor).size()) + index.data(Qt::UserRole).toString() +
         line.mid(cursor);
}

}  // namespace shardscape::ui
