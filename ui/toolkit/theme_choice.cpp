#include "ui/toolkit/theme_choice.h"

#include <QApplication>

#include "ui/toolkit/desktop_theme.h"

namespace shardscape::ui {

ThemeChooser::ThemeChooser() : of_palette_(modeOf(QApplication::palette())) {}

ThemeChooser::~ThemeChooser() = default;

ThemeChooser& ThemeChooser::instance() {
  static ThemeChooser chooser;
  return chooser;
}

void ThemeChooser::choose(ThemeChoice choice) {
  choice_ = choice;
  desktop_.reset();
  switch (choice) {
    case ThemeChoice::Light: Theme::instance().setMode(Theme::Mode::Light); break;
    case ThemeChoice::Dark: Theme::instance().setMode(Theme::Mode::Dark); break;
    case ThemeChoice::System:
      desktop_ = std::make_unique<DesktopTheme>(of_palette_);
      connect(desktop_.get(), &DesktopTheme::changed, this,
              [this] { Theme::instance().setMode(desktop_->mode()); });
      Theme::instance().setMode(desktop_->mode());
  }
  Q_EMIT changed();
}

}  // namespace shardscape::ui
