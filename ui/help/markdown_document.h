// Makes a document from Markdown in the colours and fonts of the theme, and lists its headings and lines.
#pragma once

#include <QTextDocument>
#include <QVector>
#include <memory>

namespace shardscape::ui {

// The headings have the anchors that sectionsOf() returns.
std::unique_ptr<QTextDocument> markdownDocument(const QString& markdown);

struct HelpSection {
  int position;  // in the document
  int level;     // 1: the title of the page
  QString title;
  QString anchor;  // as GitHub makes anchors: "peak-and-contributors"; a second heading "Size" has "size-1"
};
QVector<HelpSection> sectionsOf(const QTextDocument& document);

inline const QString kCellGap = QStringLiteral("  ·  ");  // between the cells of a row
struct HelpLine {                                         // a paragraph, a line of code or a row of a table
  int position;
  QString text;
};
QVector<HelpLine> linesOf(const QTextDocument& document);

}  // namespace shardscape::ui
