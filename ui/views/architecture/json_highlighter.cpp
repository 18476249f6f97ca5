#include "ui/views/architecture/json_highlighter.h"

#include <QRegularExpression>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

JsonHighlighter::JsonHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) {
  connect(&Theme::instance(), &Theme::changed, this, &QSyntaxHighlighter::rehighlight);
}

void JsonHighlighter::highlightBlock(const QString& text) {
  static const QRegularExpression key(QStringLiteral("\"[^\"]*\"(?=\\s*:)")),
      callee(QStringLiteral("=\\s*([A-Za-z_][A-Za-z_0-9]*)(\\[[^\\]]*\\])?")),
      words(QStringLiteral("\\b(if|unless)\\b"));
  const Colors& c = Theme::instance().colors();
  const auto paint = [&](const QRegularExpression& pattern, int group, const QColor& color) {
    for (auto it = pattern.globalMatch(text); it.hasNext();) {
      const auto match = it.next();
      if (match.capturedStart(group) >= 0)
        setFormat(static_cast<int>(match.capturedStart(group)), static_cast<int>(match.capturedLength(group)),
                  readable(color, c.field));
    }
  };
  paint(key, 0, c.accent);
  paint(callee, 1, c.communication);
  paint(callee, 2, c.secondary);
  paint(words, 0, c.optimizer);
}

}  // namespace shardscape::ui
