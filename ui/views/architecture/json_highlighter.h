// Colours of a JSON text: keys, and in lines of blocks the names of ops and blocks and their letters.
#pragma once

#include <QSyntaxHighlighter>

namespace shardscape::ui {

class JsonHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  explicit JsonHighlighter(QTextDocument* document);

 protected:
  void highlightBlock(const QString& text) override;
};

}  // namespace shardscape::ui
