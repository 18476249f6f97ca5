#include "ui/shell/recovery_bar.h"

#include <QDateTime>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

#include "base/units.h"
#include "explore/result.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kMostRows = 4;

QString when(const QDateTime& time) {
  const QString clock = time.time().toString(QStringLiteral("HH:mm"));
  return time.date() == QDate::currentDate()
             ? RecoveryBar::tr("today at %1").arg(clock)
             : RecoveryBar::tr("%1 at %2").arg(QLocale().toString(time.date(), QLocale::ShortFormat), clock);
}

// "Llama 3 8B · tp 2 · dp 4 (mine.json)": the design, and its file if it has one.
QString name_of(const Recovery& recovery) {
  const QString design = Comparisons::nameOf(recovery.study.design);
  if (recovery.document.empty()) return design;
  return RecoveryBar::tr("%1 (%2)").arg(design, QFileInfo(text_of(recovery.document)).fileName());
}

// "12 undo steps, a search of 3,480,000 designs, 2 pinned designs"
QString content_of(const Recovery& recovery) {
  QStringList parts;
  const auto count = [&parts](size_t n, const QString& one, const QString& many) {
    if (n > 0) parts << (n == 1 ? one : many.arg(text_of(grouped(static_cast<Wide>(n)))));
  };
  count(recovery.history.done, RecoveryBar::tr("1 change"), RecoveryBar::tr("%1 changes"));
  if (recovery.study.search)
    count(static_cast<size_t>(recovery.study.search->counts.enumerated),
          RecoveryBar::tr("a search of 1 design"), RecoveryBar::tr("a search of %1 designs"));
  count(recovery.study.compared.size(), RecoveryBar::tr("1 pinned design"),
        RecoveryBar::tr("%1 pinned designs"));
  return parts.join(QStringLiteral(", "));
}

}  // namespace

RecoveryBar::RecoveryBar(QWidget* parent) : QFrame(parent), rows_(new QVBoxLayout(this)) {
  setObjectName(QStringLiteral("recovery_bar"));
  setAccessibleName(tr("Unsaved studies"));
  rows_->setContentsMargins(20, 6, 12, 6);
  rows_->setSpacing(2);
  hide();
}

void RecoveryBar::offer(const QString& folder) {
  for (std::unique_ptr<StudyFile>& file : StudyFile::abandoned(folder)) {
    Result<Recovery> study = load_recovery(file->path().toStdString());
    offers_.push_back({std::move(file), std::move(study)});
  }
  fill();
}

void RecoveryBar::fill() {
  while (QLayoutItem* item = rows_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  if (count() > 1) {
    auto* heading = new QLabel(tr("%1 windows ended before their work was saved.").arg(count()), this);
    heading->setProperty("role", "heading");
    rows_->addWidget(heading);
  }
  for (int i = 0; i < std::min(count(), kMostRows); ++i) addRow(i);
  if (count() > kMostRows) {
    auto* more = new QLabel(tr("%1 older ones follow.").arg(count() - kMostRows), this);
    more->setProperty("role", "secondary");
    rows_->addWidget(more);
  }
  setVisible(count() > 0);
}

void RecoveryBar::addRow(int at) {
  const Offer& offer = offers_[static_cast<size_t>(at)];
  const auto* recovery = std::get_if<Recovery>(&offer.study);
  auto* row = new QWidget(this);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(8);
  auto* label = new QLabel(row);
  if (recovery) {
    const QString last = tr("last change %1").arg(when(QDateTime::fromSecsSinceEpoch(recovery->saved_at)));
    const QString content = content_of(*recovery);
    const QString details = content.isEmpty() ? last : last + QStringLiteral("; ") + content;
    label->setText(count() > 1
                       ? QStringLiteral("%1: %2").arg(name_of(*recovery), details)
                       : tr("The program ended before %1 was saved (%2).").arg(name_of(*recovery), details));
  } else {
    label->setText(
        tr("A study of %1 cannot be read.").arg(when(QFileInfo(offer.file->path()).lastModified())));
    label->setToolTip(text_of(to_string(std::get<Problem>(offer.study))));
  }
  label->setObjectName(QStringLiteral("recovery_text"));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  line->addWidget(label, 1);
  const auto add = [&](const QString& caption, const QString& name, bool restore) {
    auto* button = new QPushButton(caption, row);
    button->setObjectName(name);
    button->setAccessibleName(recovery ? caption + u' ' + name_of(*recovery) : caption);
    line->addWidget(button);
    connect(
        button, &QPushButton::clicked, this, [this, at, restore] { take(at, restore); },
        Qt::QueuedConnection);  // deletes the button
  };
  if (recovery) add(tr("Restore"), QStringLiteral("recovery_restore"), true);
  add(tr("Discard"), QStringLiteral("recovery_discard"), false);
  rows_->addWidget(row);
}

void RecoveryBar::take(int at, bool restore) {
  if (at >= count()) return;
  const Offer offer = std::move(offers_[static_cast<size_t>(at)]);
  offers_.erase(offers_.begin() + at);
  if (restore)
    Q_EMIT restoreRequested(std::get<Recovery>(offer.study), offer.file);
  else
    offer.file->remove();
  fill();
}

}  // namespace shardscape::ui
