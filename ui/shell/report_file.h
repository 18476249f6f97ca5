// The page about a design as a file: a web page, Markdown, or PDF, which needs the text layout of Qt.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "base/problem.h"

class QTextDocument;

namespace shardscape {
struct PageReport;
}

namespace shardscape::ui {

class Session;

// The page about the present design with its sensitivity, which takes up to a few seconds; or about the
// pinned designs and the present one. The session's report is current and valid.
PageReport presentPage(const Session& session, bool comparison);
// The formats of the file dialog.
QString reportFilter();
// The end of the name chooses the format: ".pdf", ".md", else a web page.
std::optional<Problem> writeReportFile(const PageReport& page, const QString& path);
// html: as page_html() makes it. A PDF has the design of the page as an attached file.
std::optional<Problem> writePdf(const QString& html, const QString& path);
// The page laid out on sheets of A4, in pixels of 1/96 inch, with black text on white in every theme.
// Pictures are vectors.
std::unique_ptr<QTextDocument> reportDocument(const QString& html);

}  // namespace shardscape::ui
