// What to do with a bundle that was just exported: check it, simulate it, run it in ASTRA-sim, open its
// folder.
#pragma once

#include <QUrl>
#include <QWidget>
#include <functional>
#include <optional>

#include "ui/toolkit/newest_job.h"

class QLabel;
class QPushButton;

namespace shardscape::ui {

class BundleSteps : public QWidget {
  Q_OBJECT
 public:
  explicit BundleSteps(QWidget* parent = nullptr);
  // name: of the traces. expected: the estimated seconds of the step; nullopt: not known. durations: whether
  // the traces have compute times.
  void offer(const QString& folder, const QString& name, std::optional<double> expected, bool durations);
  void withdraw();  // hides the steps and stops a check or a simulation
  // Opens a folder in the desktop's file manager; false: there is none. For tests.
  void setOpener(std::function<bool(const QUrl&)> opener) { opener_ = std::move(opener); }
  QPushButton* firstButton() const { return check_; }

 private:
  void check();
  void simulate();
  void openFolder();
  void showResult(const QString& text, bool good);
  QPushButton *check_, *simulate_, *copy_, *open_, *copy_path_;
  QLabel* result_;
  QString folder_, name_;
  std::optional<double> expected_;
  bool durations_ = false;
  std::function<bool(const QUrl&)> opener_;
  NewestJob job_{this};
};

}  // namespace shardscape::ui
