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

// The formats of the file dialog.
QString reportFilter();
// The end of the name chooses the format: ".pdf", ".md", else a web page.
std::optional<Problem> writeReportFile(const PageReport& page, const QString& path);
// The page laid out on sheets of A4, in pixels of 1/96 inch, with black text on white in every theme.
std::unique_ptr<QTextDocument> reportDocument(const PageReport& page);

}  // namespace shardscape::ui
