// The theme as the person chose it: light, dark, or as the desktop.
#pragma once

#include <QObject>
#include <memory>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {

class DesktopTheme;

enum class ThemeChoice { Light, Dark, System };

class ThemeChooser : public QObject {
  Q_OBJECT
 public:
  // The first call takes the palette of the application for that of the desktop.
  static ThemeChooser& instance();
  ~ThemeChooser() override;
  ThemeChoice choice() const { return choice_; }
  void choose(ThemeChoice choice);  // sets the mode of the theme, and follows the desktop from now on

 Q_SIGNALS:
  void changed();

 private:
  ThemeChooser();
  const Theme::Mode of_palette_;  // the theme of a desktop without a portal
  ThemeChoice choice_ = ThemeChoice::Light;
  std::unique_ptr<DesktopTheme> desktop_;  // while System is chosen
};

}  // namespace shardscape::ui
