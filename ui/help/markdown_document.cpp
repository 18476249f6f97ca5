#include "ui/help/markdown_document.h"

#include <QHash>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextFrame>
#include <QTextList>
#include <QTextTable>
#include <algorithm>
#include <utility>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kTextSize = 14, kCodeSize = 13, kLineHeight = 135;  // pixels, pixels, percent
constexpr int kCodePadding = 10, kCellPadding = 6, kParagraphGap = 10, kItemGap = 4;

struct HeadingStyle {
  int size, above, below;  // pixels
};
HeadingStyle headingStyle(int level) {
  if (level == 1) return {24, 4, 14};
  if (level == 2) return {18, 26, 10};
  return {15, 20, 8};
}

bool isCode(const QTextBlock& block) {
  const QTextBlockFormat format = block.blockFormat();
  return format.hasProperty(QTextFormat::BlockCodeFence) ||
         format.hasProperty(QTextFormat::BlockCodeLanguage) || format.nonBreakableLines();
}

QTextTable* tableOf(const QTextBlock& block) { return QTextCursor(block).currentTable(); }

int rowOf(QTextTable* table, const QTextBlock& block) { return table->cellAt(block.position()).row(); }

QString anchorOf(const QString& title) {
  QString anchor;
  for (const QChar c : title.trimmed().toLower()) {
    if (c.isLetterOrNumber() || c == '-' || c == '_') anchor += c;
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

QTextCharFormat textFormat(const QTextCharFormat& before, const QTextBlock& block) {
  const Theme& theme = Theme::instance();
  const Colors& colors = theme.colors();
  const int level = block.blockFormat().headingLevel();
  const bool code = isCode(block) || before.fontFixedPitch();
  const bool bold = level > 0 || before.fontWeight() > QFont::Normal;
  QTextCharFormat format = before;
  const int size = level > 0 ? headingStyle(level).size : kTextSize;
  QFont font = code ? theme.monoFont(level > 0 ? size - 1 : kCodeSize) : theme.uiFont(size);
  font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
  font.setItalic(before.fontItalic());
  format.clearProperty(QTextFormat::FontSizeAdjustment);
  format.setFont(font);
  const QColor link = readable(readable(colors.accent, colors.panel), colors.ground);
  format.setForeground(before.isAnchor() ? link : colors.text);
  format.setFontUnderline(false);
  if (code && !isCode(block)) format.setBackground(colors.ground);
  return format;
}

void styleText(const QTextBlock& block) {
  QVector<std::pair<int, int>> parts;  // position, length
  for (auto it = block.begin(); !it.atEnd(); ++it) {
    if (!it.fragment().charFormat().isImageFormat())
      parts.push_back({it.fragment().position(), it.fragment().length()});
  }
  QTextCursor cursor(block);
  for (const auto& [position, length] : parts) {
    cursor.setPosition(position);
    cursor.setPosition(position + length, QTextCursor::KeepAnchor);
    const QTextCharFormat before = cursor.charFormat();
    cursor.setCharFormat(textFormat(before, block));
  }
}

void styleBlock(const QTextBlock& block) {
  QTextBlockFormat format = block.blockFormat();
  const int level = format.headingLevel();
  const HeadingStyle heading = headingStyle(level);
  const bool in_list = block.textList() && block.next().isValid() && block.next().textList();
  const bool loose = !isCode(block) && !tableOf(block);
  format.setTopMargin(level > 0 ? heading.above : 0);
  format.setBottomMargin(level > 0 ? heading.below : in_list ? kItemGap : loose ? kParagraphGap : 0);
  const bool picture = block.text().contains(QChar::ObjectReplacementCharacter);
  format.setLineHeight(picture ? 100 : kLineHeight, QTextBlockFormat::ProportionalHeight);
  if (isCode(block)) format.clearBackground();
  QTextCursor(block).setBlockFormat(format);
}

void styleTable(QTextTable* table) {
  const Colors& colors = Theme::instance().colors();
  QTextTableFormat format = table->format();
  format.setBorder(0);
  format.setBorderCollapse(true);
  format.setCellPadding(kCellPadding);
  format.setCellSpacing(0);
  format.setTopMargin(4);
  format.setBottomMargin(kParagraphGap + 4);
  table->setFormat(format);
  for (int row = 0; row < table->rows(); ++row) {
    for (int column = 0; column < table->columns(); ++column) {
      QTextTableCell cell = table->cellAt(row, column);
      QTextTableCellFormat style = cell.format().toTableCellFormat();
      style.setBottomBorder(1);
      style.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
      style.setBottomBorderBrush(colors.line);
      if (row == 0) style.setBackground(colors.ground);
      cell.setFormat(style);
    }
  }
}

void styleTables(QTextFrame* frame) {
  for (QTextFrame* child : frame->childFrames()) {
    if (auto* table = qobject_cast<QTextTable*>(child)) styleTable(table);
    styleTables(child);
  }
}

// A box around each run of lines of code.
void frameCode(QTextDocument& document) {
  QVector<std::pair<QTextBlock, QTextBlock>> runs;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    if (!isCode(block)) continue;
    if (!runs.isEmpty() && runs.back().second.next() == block)
      runs.back().second = block;
    else
      runs.push_back({block, block});
  }
  for (auto& [first, last] : runs) {
    for (; last != first && last.length() == 1; last = last.previous())
      QTextCursor(last).setBlockFormat({});  // not code: this block stays below the box
  }
  QTextFrameFormat box;
  box.setPadding(kCodePadding);
  box.setBackground(Theme::instance().colors().ground);
  box.setBottomMargin(kParagraphGap);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    QTextCursor cursor(run->first);
    cursor.setPosition(run->second.position() + run->second.length() - 1, QTextCursor::KeepAnchor);
    cursor.insertFrame(box);
  }
}

// Qt's importer ends code with an empty line, and a frame needs a block before and after. These blocks get
// height 0.
void flattenEmptyBlocks(const QTextDocument& document) {
  QTextBlockFormat flat;
  flat.setLineHeight(1, QTextBlockFormat::FixedHeight);
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    if (block.length() == 1 && !tableOf(block) && !isCode(block)) QTextCursor(block).setBlockFormat(flat);
  }
}

void setAnchors(QTextDocument& document) {
  for (const HelpSection& section : sectionsOf(document)) {
    QTextCursor cursor(&document);
    cursor.setPosition(section.position);
    cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
    QTextCharFormat format;
    format.setAnchorNames({section.anchor});
    cursor.mergeCharFormat(format);
  }
}

}  // namespace

std::unique_ptr<QTextDocument> markdownDocument(const QString& markdown) {
  auto document = std::make_unique<QTextDocument>();
  document->setUndoRedoEnabled(false);
  document->setIndentWidth(28);
  document->setDefaultFont(Theme::instance().uiFont(kTextSize));
  // HTML is off, so that "<rank>" is text.
  document->setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub |
                                                                  QTextDocument::MarkdownNoHTML));
  QTextCursor edit(document.get());
  edit.beginEditBlock();
  for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
    styleText(block);
    styleBlock(block);
  }
  styleTables(document->rootFrame());
  frameCode(*document);
  flattenEmptyBlocks(*document);
  setAnchors(*document);
  edit.endEditBlock();
  return document;
}

QVector<HelpSection> sectionsOf(const QTextDocument& document) {
  QVector<HelpSection> sections;
  QHash<QString, int> seen;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    const int level = block.blockFormat().headingLevel();
    if (level == 0) continue;
    QString anchor = anchorOf(block.text());
    if (const int before = seen[anchor]++; before > 0) anchor += QStringLiteral("-%1").arg(before);
    sections.push_back({block.position(), level, block.text(), anchor});
  }
  return sections;
}

QVector<HelpLine> linesOf(const QTextDocument& document) {
  QVector<HelpLine> lines;
  QTextTable* table_before = nullptr;
  int row_before = -1;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    const QString text = block.text().remove(QChar::ObjectReplacementCharacter).simplified();
    if (text.isEmpty()) continue;
    QTextTable* table = tableOf(block);
    const int row = table ? rowOf(table, block) : -1;
    if (table && table == table_before && row == row_before)
      lines.back().text += kCellGap + text;
    else
      lines.push_back({block.position(), text});
    table_before = table;
    row_before = row;
  }
  return lines;
}

}  // namespace shardscape::ui
