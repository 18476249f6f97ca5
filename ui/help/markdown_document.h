// A page of Markdown as a document in the colours and fonts of the theme, and where its headings are.
#pragma once

#include <QTextDocument>
#include <QVector>
#include <memory>

namespace shardscape::ui {

// The headings have the anchors that sectionsOf names.
std::unique_ptr<QTextDocument> markdownDocument(const QString& markdown);

struct HelpSection {
  int position;  // in the document
  int level;     // 1: the title of the page
  QString title;
  QString anchor;  // as GitHub derives it: "peak-and-contributors"; "size-1" for the second of that name
};
QVector<HelpSection> sectionsOf(const QTextDocument& document);

struct HelpLine {  // a paragraph, a line of code or a row of a table
  int position;
  QString text;
};
QVector<HelpLine> linesOf(const QTextDocument& document);

}  // namespace shardscape::ui
