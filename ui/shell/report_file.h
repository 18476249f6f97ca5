// The page about a design as a file: a web page, Markdown, or PDF, which needs the text layout of Qt.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "base/problem.h"

class QTextDocument;

namespace shardscape::ui {

// The formats of the file dialog.
QString reportFilter();
// html: as page_html() makes it. A PDF has the design of the page as an attached file.
std::optional<Problem> writePdf(const QString& html, const QString& path);
// The page laid out on sheets of A4, in pixels of 1/96 inch, with black text on white in every theme.
// Pictures are vectors.
std::unique_ptr<QTextDocument> reportDocument(const QString& html);

}  // namespace shardscape::ui
