// The glossary of docs/concepts.md. Labels that are terms have a dotted underline and the sentence as a tip.
#pragma once

#include <QHash>
#include <QString>

class QPainter;
class QRect;

namespace shardscape::ui {

class Glossary {
 public:
  static const Glossary& instance();
  // "model FLOPs utilization: ..." for "MFU". Ignores case, a line break and a part in parentheses:
  // "Tensor parallel" and "tp" find "Tensor parallelism (tp)". Empty: not a term.
  QString sentence(const QString& term) const;
  // "MFU: model FLOPs utilization. ..." for a tip; empty: not a term.
  QString tip(const QString& term) const;

 private:
  Glossary();
  QHash<QString, QString> sentences_;
};

// The dotted line under a term that was drawn with the painter's pen, aligned in the area.
void underlineTerm(QPainter& painter, const QRect& area, Qt::Alignment alignment, const QString& text);

}  // namespace shardscape::ui
