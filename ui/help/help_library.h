// The pages of the documentation as documents. Each document is made on first use.
#pragma once

#include <QUrl>
#include <QVector>
#include <memory>
#include <optional>

#include "ui/help/markdown_document.h"

namespace shardscape::ui {

struct HelpPlace {
  int page = 0, position = 0;  // position in the document of the page
};

struct HelpMatch {
  HelpPlace place;
  QString text;  // the line
};

inline const QString kRowOf = QStringLiteral("row=");

class HelpLibrary {
 public:
  HelpLibrary();
  int size() const { return static_cast<int>(pages_.size()); }
  QString title(int page) const { return at(page).title; }
  QString name(int page) const { return at(page).name; }  // "models/memory"
  QTextDocument* document(int page);
  const QVector<HelpSection>& sections(int page);
  const QVector<HelpLine>& lines(int page);
  // The place that a link leads to. "models/memory.md#advice" is relative to the page `from` (-1: to the
  // root). A fragment names a heading, or with kRowOf the first cell of a table's row: "json.md#row=tp".
  // Empty if the link leads out of the documentation.
  std::optional<HelpPlace> resolve(const QUrl& link, int from = -1);
  QUrl absolute(const QUrl& link, int from) const;
  // The lines that contain all words, page by page. Pages with the words in a heading come first.
  QVector<HelpMatch> search(const QStringList& words);
  void dropDocuments();  // later calls make them again, in the current theme

 private:
  struct Page {
    QString name, title, path;
    std::unique_ptr<QTextDocument> document;
    QVector<HelpSection> sections;
    QVector<HelpLine> lines;
  };
  const Page& at(int page) const { return pages_[static_cast<size_t>(page)]; }
  Page& loaded(int page);
  std::vector<Page> pages_;
};

}  // namespace shardscape::ui
