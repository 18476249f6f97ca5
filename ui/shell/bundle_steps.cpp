#include "ui/shell/bundle_steps.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QDir>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "bundle/astra_command.h"
#include "bundle/bundle_simulation.h"
#include "bundle/checker.h"
#include "ui/toolkit/flow_layout.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr qsizetype kMostLines = 8;  // of findings

QString findings_text(const std::vector<Finding>& findings) {
  QStringList lines;
  for (const Finding& finding : findings) lines << text_of(finding.code + ": " + finding.message);
  const qsizetype more = lines.size() - kMostLines;
  if (more > 0) lines = lines.mid(0, kMostLines) << BundleSteps::tr("and %1 more").arg(more);
  return lines.join(u'\n');
}

QString check_result(const CheckReport& report) {
  const QString counts = BundleSteps::tr("%1 ranks, %2 nodes")
                             .arg(text_of(grouped(report.ranks)), text_of(grouped(report.nodes)));
  if (report.ok())
    return BundleSteps::tr("Checked: every rank finishes (%1).").arg(counts) +
           (report.findings.empty() ? QString() : u'\n' + findings_text(report.findings));
  return BundleSteps::tr("The check failed (%1).").arg(counts) + u'\n' + findings_text(report.findings);
}

// "Simulated step: 4.01 s, 0.5 % below the estimate."
QString simulation_result(const SimulationReport& report, std::optional<double> expected, bool durations) {
  if (!report.finished)
    return BundleSteps::tr("The simulation failed: a rank never finishes.") + u'\n' +
           findings_text(report.findings);
  const double seconds = static_cast<double>(report.cycles()) * 1e-9;
  const QString step = text_of(format_seconds(seconds));
  if (!expected || *expected <= 0) return BundleSteps::tr("Simulated step: %1.").arg(step);
  const double percent = 100 * (seconds / *expected - 1);
  const QString difference = QString::number(std::abs(percent), 'f', 1);
  const QString
      words = percent < 0
                  ? BundleSteps::tr("Simulated step: %1, %2 % below the estimate.").arg(step, difference)
                  : BundleSteps::tr("Simulated step: %1, %2 % above the estimate.").arg(step, difference);
  return durations
             ? words
             : words + u'\n' +
                   BundleSteps::tr("These traces have no compute times, so ASTRA-sim's roofline decides.");
}

}  // namespace

BundleSteps::BundleSteps(QWidget* parent)
    : QWidget(parent),
      check_(new QPushButton(tr("Check"), this)),
      simulate_(new QPushButton(this)),
      copy_(new QPushButton(tr("Copy ASTRA-sim command"), this)),
      open_(new QPushButton(tr("Open folder"), this)),
      copy_path_(new QPushButton(tr("Copy path"), this)),
      result_(new QLabel(this)),
      opener_([](const QUrl& url) { return QDesktopServices::openUrl(url); }) {
  check_->setObjectName(QStringLiteral("bundle_check"));
  simulate_->setObjectName(QStringLiteral("bundle_simulate"));
  copy_->setObjectName(QStringLiteral("bundle_command"));
  open_->setObjectName(QStringLiteral("export_open"));
  copy_path_->setObjectName(QStringLiteral("bundle_copy_path"));
  result_->setObjectName(QStringLiteral("bundle_result"));
  check_->setToolTip(tr("Reads every trace and proves that every rank finishes (shardscape-cli check)"));
  simulate_->setToolTip(
      tr("Runs the traces as ASTRA-sim's analytical backend does (shardscape-cli simulate). Traces without "
         "compute times follow ASTRA-sim's roofline, which is faster than the estimate."));
  copy_->setToolTip(tr("The command that runs this bundle in ASTRA-sim"));
  auto* buttons = new FlowLayout(8, nullptr);
  for (QPushButton* button : {check_, simulate_, copy_, open_, copy_path_}) {
    button->setAutoDefault(false);
    buttons->addWidget(button);
  }
  result_->setWordWrap(true);
  result_->setTextFormat(Qt::PlainText);
  result_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(10);
  layout->addLayout(buttons);
  layout->addWidget(result_);
  connect(check_, &QPushButton::clicked, this, &BundleSteps::check);
  connect(simulate_, &QPushButton::clicked, this, &BundleSteps::simulate);
  connect(open_, &QPushButton::clicked, this, &BundleSteps::openFolder);
  connect(copy_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(
        text_of(astra_sim_command(folder_.toStdString(), name_.toStdString())));
    showResult(tr("The ASTRA-sim command is on the clipboard."), true);
  });
  connect(copy_path_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(QDir::toNativeSeparators(folder_));
    showResult(tr("The path is on the clipboard: %1").arg(QDir::toNativeSeparators(folder_)), true);
  });
  hide();
}

void BundleSteps::offer(const QString& folder, const QString& name, std::optional<double> expected,
                        bool durations) {
  folder_ = folder;
  durations_ = durations;
  name_ = name;
  expected_ = expected;
  simulate_->setText(expected ? tr("Simulate (expected: %1)").arg(text_of(format_seconds(*expected)))
                              : tr("Simulate"));
  open_->show();
  copy_path_->hide();
  showResult({}, true);
  show();
}

void BundleSteps::withdraw() {
  job_.stop();
  hide();
}

void BundleSteps::showResult(const QString& words, bool good) {
  const QString style = good ? QStringLiteral("secondary") : QStringLiteral("bad");
  if (result_->property("role") != style) {
    result_->setProperty("role", style);
    result_->style()->unpolish(result_);
    result_->style()->polish(result_);
  }
  result_->setText(words);
  result_->setVisible(!words.isEmpty());
}

void BundleSteps::check() {
  showResult(tr("Checking every trace…"), true);
  job_.start([this, folder = folder_.toStdString()](const NewestJob::Post& post, std::stop_token stop) {
    const CheckReport report = check_bundle(folder, {}, stop);
    if (stop.stop_requested()) return;
    post([this, words = check_result(report), good = report.ok()] { showResult(words, good); });
  });
}

void BundleSteps::simulate() {
  showResult(tr("Simulating the step…"), true);
  job_.start([this, folder = folder_.toStdString(), expected = expected_, durations = durations_](
                 const NewestJob::Post& post, std::stop_token stop) {
    const auto result = simulate_bundle(folder, {}, stop);
    if (stop.stop_requested()) return;
    const auto* report = std::get_if<SimulationReport>(&result);
    const QString words = report ? simulation_result(*report, expected, durations)
                                 : text_of(to_string(std::get<Problem>(result)));
    post([this, words, good = report && report->finished] { showResult(words, good); });
  });
}

void BundleSteps::openFolder() {
  if (opener_(QUrl::fromLocalFile(folder_))) return;
  open_->hide();
  copy_path_->show();
  copy_path_->setFocus();
  showResult(tr("No program opens folders here. The bundle is in %1").arg(QDir::toNativeSeparators(folder_)),
             true);
}

}  // namespace shardscape::ui
