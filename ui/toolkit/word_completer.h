// Completion of the word at the cursor of a line of text, from a list of words with hints. A word may contain
// spaces.
#pragma once

#include <QCompleter>
#include <QList>
#include <QString>

class QLineEdit;
class QStandardItemModel;

namespace shardscape::ui {

class WordCompleter : public QCompleter {
  Q_OBJECT
 public:
  struct Word {
    QString text, hint;  // the hint follows the word in the list: "tp   Tensor parallel"
  };
  explicit WordCompleter(QLineEdit* field);
  void setWords(const QList<Word>& words);
  // The beginning of a word before the cursor; empty: none. "tp <= 8 and mem" has "mem".
  QString wordAt(const QString& line, qsizetype cursor) const;

 protected:
  QStringList splitPath(const QString& path) const override;
  QString pathFromIndex(const QModelIndex& index) const override;

 private:
  QLineEdit* field_;
  QStandardItemModel* model_;
  QList<Word> words_;
};

}  // namespace shardscape::ui
