#include "ui/toolkit/glossary.h"

#include <QPainter>
#include <QRegularExpression>

#include "base/data_dir.h"

namespace shardscape::ui {
namespace {

QString keyOf(const QString& term) { return term.simplified().toLower(); }

}  // namespace

const Glossary& Glossary::instance() {
  static const Glossary glossary;
  return glossary;
}

Glossary::Glossary() {
  const auto text = read_text(data_dir() / "docs" / "concepts.md");
  if (!std::holds_alternative<std::string>(text)) return;
  const QString page = QString::fromStdString(std::get<std::string>(text));
  // "- **Tensor parallelism (tp)**: ranks that share each layer." with indented further lines.
  static const QRegularExpression entry(QStringLiteral("^- \\*\\*([^*]+)\\*\\*: (.+(?:\\n  .+)*)"),
                                        QRegularExpression::MultilineOption);
  static const QRegularExpression short_form(QStringLiteral(" \\((.+)\\)$"));
  for (auto it = entry.globalMatch(page.mid(page.indexOf(QStringLiteral("\n## Glossary")))); it.hasNext();) {
    const QRegularExpressionMatch match = it.next();
    const QString sentence = match.captured(2).simplified().remove('`');
    QString name = match.captured(1);
    const QRegularExpressionMatch brief = short_form.match(name);
    if (brief.hasMatch()) {
      sentences_.insert(keyOf(brief.captured(1)), sentence);
      name = name.left(brief.capturedStart());
    }
    sentences_.insert(keyOf(name), sentence);
    const QString ism = QStringLiteral("parallelism");
    if (name.endsWith(ism)) sentences_.insert(keyOf(name.chopped(3)), sentence);
  }
}

QString Glossary::sentence(const QString& term) const { return sentences_.value(keyOf(term)); }

QString Glossary::tip(const QString& term) const {
  const QString found = sentence(term);
  return found.isEmpty() ? QString() : term.simplified() + QStringLiteral(": ") + found;
}

void underlineTerm(QPainter& painter, const QRect& area, Qt::Alignment alignment, const QString& text) {
  const QRect words = painter.fontMetrics().boundingRect(area, int(alignment), text).intersected(area);
  const int y = std::min(words.bottom(), area.bottom());
  painter.save();
  QPen pen(painter.pen().color(), 1, Qt::CustomDashLine);
  pen.setDashPattern({1, 2});
  painter.setPen(pen);
  painter.setOpacity(0.75);
  painter.drawLine(words.left(), y, words.right(), y);
  painter.restore();
}

}  // namespace shardscape::ui
