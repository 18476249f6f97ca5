#include "ui/toolkit/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QPalette>
#include <algorithm>
#include <iterator>
#include <optional>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/house_style.h"
#include "ui/toolkit/roles.h"
#include "ui/toolkit/style_sheet.h"
#include "ui/toolkit/tabular_font.h"

namespace shardscape::ui {
namespace {

void set_series(Colors& colors) {
  colors.parameters = "#3569B0";
  colors.gradients = "#7FB9E6";
  colors.optimizer = "#8A6FC0";
  colors.activations = "#E08B2C";
  colors.logits = "#E3CB5C";
  colors.kv_cache = "#B65C7A";
  colors.buffers = "#2F8F74";
  colors.runtime = "#98A2AD";
  colors.communication = "#E08B2C";
  colors.gradient_sync = "#B65C7A";
  colors.weight_gradient = "#2AA0B0";
}

Colors light_colors() {
  Colors colors;
  colors.ground = "#F3F5F8";
  colors.panel = "#FFFFFF";
  colors.line = "#DCE1E7";
  colors.text = "#1D2733";
  colors.secondary = "#5C6874";
  colors.accent = "#2F6FDE";
  colors.good = "#1E8E5A";
  colors.note = "#B7791F";
  colors.bad = "#C0392B";
  colors.field = "#FFFFFF";
  colors.accent_soft = mixed(colors.panel, colors.accent, 0.15);
  colors.idle = "#D3D9E0";
  set_series(colors);
  return colors;
}

Colors dark_colors() {
  Colors colors;
  colors.ground = "#16181C";
  colors.panel = "#1E2126";
  colors.line = "#31363D";
  colors.text = "#E7EAEE";
  colors.secondary = "#A3ADB8";
  colors.accent = "#6AA5FF";
  colors.good = "#4CC38A";
  colors.note = "#E0B050";
  colors.bad = "#F07167";
  colors.field = "#16181C";
  colors.accent_soft = mixed(colors.panel, colors.accent, 0.22);
  colors.idle = "#363C44";
  set_series(colors);
  return colors;
}

QPalette palette_of(const Colors& colors) {
  QPalette palette;
  const auto set = [&](QPalette::ColorRole role, const QColor& color) { palette.setColor(role, color); };
  set(QPalette::Window, colors.panel);
  set(QPalette::WindowText, colors.text);
  set(QPalette::Base, colors.field);
  set(QPalette::AlternateBase, colors.ground);
  set(QPalette::Text, colors.text);
  set(QPalette::Button, colors.panel);
  set(QPalette::ButtonText, colors.text);
  set(QPalette::BrightText, colors.bad);
  set(QPalette::ToolTipBase, colors.panel);
  set(QPalette::ToolTipText, colors.text);
  set(QPalette::PlaceholderText, mixed(colors.field, colors.secondary, 0.85));
  set(QPalette::Highlight, colors.accent_soft);
  set(QPalette::HighlightedText, colors.text);
  set(QPalette::Link, readable(colors.accent, colors.panel));
  set(QPalette::LinkVisited, readable(colors.accent, colors.panel));
  set(QPalette::Light, colors.panel);
  set(QPalette::Midlight, colors.line);
  set(QPalette::Mid, colors.line);
  set(QPalette::Dark, colors.line);
  set(QPalette::Shadow, colors.ground);
  const QColor faint = mixed(colors.panel, colors.secondary, 0.6);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, faint);
  }
  return palette;
}

QString installed_family(const QStringList& wanted, QFontDatabase::SystemFont otherwise) {
  for (const QString& family : wanted) {
    if (QFontDatabase::hasFamily(family)) return family;
  }
  return QFontDatabase::systemFont(otherwise).family();
}

// While it lives, widgets do not hear of changed styles and fonts: sheets differ in colours only, so no
// widget needs another layout. Widgets hear of the new palette and are painted again.
class OnlyColors : public QObject {
 public:
  OnlyColors() { qApp->installEventFilter(this); }
  bool eventFilter(QObject*, QEvent* event) override {
    return event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange;
  }
};

}  // namespace

Theme& Theme::instance() {
  static Theme theme;
  return theme;
}

const Colors& Theme::colors(Mode mode) {
  static const Colors light = light_colors();
  static const Colors dark = dark_colors();
  return mode == Mode::Light ? light : dark;
}

const Colors& Theme::colors() const { return colors(mode_); }

void Theme::setMode(Mode mode) {
  const bool first = qApp->styleSheet().isEmpty();
  if (mode == mode_ && !first) return;
  mode_ = mode;
  std::optional<OnlyColors> only_colors;
  if (first) {  // each is a pass over all widgets
    QApplication::setStyle(new HouseStyle);
    QApplication::setFont(uiFont());
  } else {
    only_colors.emplace();
    // When one sheet replaces another, Qt restyles a widget once for itself and once for each of its
    // ancestors. With no sheet in between, it restyles each widget twice.
    qApp->setStyleSheet({});
  }
  QApplication::setPalette(palette_of(colors()));
  qApp->setStyleSheet(styleSheet(mode));
  only_colors.reset();  // widgets that are made from here on must hear of their fonts
  Q_EMIT changed();
}

QColor Theme::spanColor(SpanKind kind) const { return color_of(role_of(kind)); }

QColor Theme::designColor(int member) const {
  const Colors& c = colors();
  const QColor inks[] = {c.accent, c.activations, c.buffers, c.optimizer, c.logits};
  return inks[std::clamp<int>(member, 0, static_cast<int>(std::size(inks)) - 1)];
}

QColor Theme::opColor(OpKind kind) const { return color_of(role_of(kind)); }

QFont Theme::uiFont(double pixel_size, QFont::Weight weight) const {
  static const QString family = tabularFamily(installed_family({"Inter"}, QFontDatabase::GeneralFont));
  QFont font(family);
  font.setPixelSize(qRound(pixel_size));
  font.setWeight(weight);
  font.setStyleStrategy(QFont::PreferAntialias);
  font.setHintingPreference(QFont::PreferVerticalHinting);
  return font;
}

QFont Theme::monoFont(double pixel_size) const {
  static const QString family = installed_family({"JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono"},
                                                 QFontDatabase::FixedFont);
  QFont font(family);
  font.setPixelSize(qRound(pixel_size));
  font.setStyleHint(QFont::Monospace);
  font.setFixedPitch(true);
  return font;
}

}  // namespace shardscape::ui
