#include "ui/toolkit/style_sheet.h"

#include <QFile>
#include <QRegularExpression>

#include "ui/toolkit/contrast.h"

// The linker drops the resources of a static library unless they are named. The macro must be in the global
// namespace.
static void load_resources() { Q_INIT_RESOURCE(shardscape); }

namespace shardscape::ui {
namespace {

struct Replacement {
  const char* name;
  QColor color;
};

}  // namespace

QString styleSheet(Theme::Mode mode) {
  load_resources();
  QFile file(":/themes/shardscape.qss");
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString text = QString::fromUtf8(file.readAll());
  const Colors& c = Theme::colors(mode);
  const bool dark = mode == Theme::Mode::Dark;
  const Replacement replacements[] = {
      {"ground", c.ground},
      {"panel", c.panel},
      {"line", c.line},
      {"text", c.text},
      {"secondary", c.secondary},
      {"accent", c.accent},
      {"accent_soft", c.accent_soft},
      {"accent_text", readable(c.accent, c.panel)},
      {"on_accent", dark ? QColor("#0F1722") : QColor(Qt::white)},
      {"accent_hover", mixed(c.accent, c.text, 0.14)},
      {"good", c.good},
      {"note", c.note},
      {"note_soft", mixed(c.panel, c.note, dark ? 0.14 : 0.12)},
      {"bad", c.bad},
      {"bad_text", readable(c.bad, c.panel)},
      {"good_soft", mixed(c.panel, c.good, dark ? 0.18 : 0.12)},
      {"good_text", readable(c.good, mixed(c.panel, c.good, dark ? 0.18 : 0.12))},
      {"field", c.field},
      {"hover", mixed(c.panel, c.text, 0.06)},
      {"pressed", mixed(c.panel, c.text, 0.11)},
      {"faint", mixed(c.panel, c.secondary, 0.6)},
      {"scroll", mixed(c.panel, c.secondary, 0.38)},
  };
  static const QRegularExpression variable("@([a-z_]+)@");
  qsizetype from = 0;
  for (QRegularExpressionMatch match = variable.match(text, from); match.hasMatch();
       match = variable.match(text, from)) {
    const QString name = match.captured(1);
    QString value = name == "mode" ? (dark ? "dark" : "light") : QString();
    for (const Replacement& replacement : replacements) {
      if (name == QLatin1String(replacement.name)) value = replacement.color.name();
    }
    Q_ASSERT_X(!value.isEmpty(), "style sheet", qPrintable(name));
    text.replace(match.capturedStart(), match.capturedLength(), value);
    from = match.capturedStart() + value.size();
  }
  return text;
}

}  // namespace shardscape::ui
