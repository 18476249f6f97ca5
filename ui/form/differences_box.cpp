#include "ui/form/differences_box.h"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/form/knob_row.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kLine = 22, kAtFirst = 6;  // lines shown at first
constexpr double kNameShare = 0.5;       // the least share of a line's width for the name

// A knob on the left, the values on the right: "8 | B 4  C 16".
class DifferenceLine : public QAbstractButton {
 public:
  DifferenceLine(const QString& name, const QString& now, const QVector<KnobRow::Other>& others,
                 QWidget* parent)
      : QAbstractButton(parent), name_(name), now_(now), others_(others) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setFixedHeight(kLine);
    QStringList values;
    for (const KnobRow::Other& other : others_)
      values << Comparisons::letter(other.member) + u' ' + other.value;
    setText(QStringLiteral("%1: %2, %3").arg(name_, now_, values.join(QStringLiteral(", "))));
    setAccessibleName(text());
    setToolTip(text());
  }
  QSize sizeHint() const override { return {160, kLine}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::instance();
    const Colors& colors = theme.colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (underMouse()) painter.fillRect(rect(), mixed(colors.panel, colors.text, 0.06));
    const QFont plain = theme.uiFont(12), strong = theme.uiFont(12, QFont::DemiBold);
    const QFontMetricsF metrics(plain), strong_metrics(strong);
    // From the right: each other design's letter and value, then the present value.
    const QString arrow = QStringLiteral("  ≠  ");
    double wanted = metrics.horizontalAdvance(now_ + arrow);
    for (const KnobRow::Other& other : others_)
      wanted += strong_metrics.horizontalAdvance(Comparisons::letter(other.member)) +
                metrics.horizontalAdvance(other.value) + 14;
    const double room = std::min(wanted, width() * (1 - kNameShare)),
                 name_room = std::max(width() * kNameShare, width() - room) - 8;
    painter.setFont(plain);
    painter.setPen(colors.text);
    painter.drawText(QRectF(2, 0, name_room, kLine), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(name_, Qt::ElideRight, name_room));
    double x = width() - room;
    painter.setPen(colors.secondary);
    const QString first = metrics.elidedText(now_, Qt::ElideRight,
                                             std::max(24.0, room / static_cast<double>(others_.size() + 1))) +
                          arrow;
    painter.drawText(QRectF(x, 0, metrics.horizontalAdvance(first) + 2, kLine),
                     Qt::AlignLeft | Qt::AlignVCenter, first);
    x += metrics.horizontalAdvance(first);
    for (const KnobRow::Other& other : others_) {
      if (x > width() - 16) break;
      const QString letter = Comparisons::letter(other.member);
      painter.setFont(strong);
      painter.setPen(readable(theme.designColor(other.member), colors.panel));
      painter.drawText(QPointF(x, (kLine + strong_metrics.ascent() - strong_metrics.descent()) / 2), letter);
      x += strong_metrics.horizontalAdvance(letter) + 4;
      painter.setFont(plain);
      painter.setPen(colors.text);
      const QString value = metrics.elidedText(other.value, Qt::ElideRight, std::max(12.0, width() - x));
      painter.drawText(QPointF(x, (kLine + metrics.ascent() - metrics.descent()) / 2), value);
      x += metrics.horizontalAdvance(value) + 10;
    }
    painter.fillRect(QRectF(0, kLine - 1, width(), 1), colors.line);
    if (!hasFocus()) return;
    painter.setPen(QPen(colors.accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
    QAbstractButton::keyPressEvent(event);
  }

 private:
  QString name_, now_;
  QVector<KnobRow::Other> others_;
};

}  // namespace

DifferencesBox::DifferencesBox(QWidget* parent)
    : QWidget(parent), count_(new QLabel(this)), more_(new QPushButton(this)) {
  setObjectName(QStringLiteral("differences"));
  setAccessibleName(tr("Settings that differ"));
  auto* title = new QLabel(tr("DIFFERS FROM PINNED DESIGNS"), this);
  title->setProperty("role", "group");
  count_->setProperty("role", "total");
  auto* header = new QHBoxLayout;
  header->setContentsMargins(0, 0, 0, 2);
  header->addWidget(title);
  header->addStretch();
  header->addWidget(count_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(header);
  rows_ = new QVBoxLayout;
  rows_->setSpacing(0);
  layout->addLayout(rows_);
  more_->setProperty("link", true);
  layout->addWidget(more_, 0, Qt::AlignLeft);
  connect(more_, &QPushButton::clicked, this, [this] {
    open_ = !open_;
    place();
  });
  setVisible(false);
}

void DifferencesBox::show(const QVector<const KnobRow*>& differing, const Design& present, int pinned) {
  pinned_ = pinned > 0;
  QVector<QWidget*> before = std::exchange(lines_, {});
  for (const KnobRow* row : differing) {
    const Knob& knob = row->knob();
    auto* line = new DifferenceLine(QString::fromStdString(knob.label),
                                    displayText(knob, QString::fromStdString(knob_text(present, knob))),
                                    row->others(), this);
    connect(line, &QAbstractButton::clicked, this,
            [this, id = QString::fromStdString(knob.id)] { Q_EMIT chosen(id); });
    rows_->addWidget(line);
    lines_ << line;
  }
  for (QWidget* line : before) {
    line->hide();
    line->deleteLater();  // the line may still be handling its click
  }
  count_->setText(lines_.isEmpty()     ? tr("none")
                  : lines_.size() == 1 ? tr("1 setting")
                                       : tr("%1 settings").arg(lines_.size()));
  place();
}

void DifferencesBox::place() {
  for (qsizetype i = 0; i < lines_.size(); ++i) lines_[i]->setVisible(open_ || i < kAtFirst);
  more_->setVisible(lines_.size() > kAtFirst);
  more_->setText(open_ ? tr("Only the first %1").arg(kAtFirst) : tr("All %1").arg(lines_.size()));
  setVisible(pinned_ && !filtered_);
}

void DifferencesBox::setFiltered(bool filtered) {
  filtered_ = filtered;
  place();
}

QStringList DifferencesBox::texts() const {
  QStringList out;
  for (const QWidget* line : lines_) out << static_cast<const QAbstractButton*>(line)->text();
  return out;
}

}  // namespace shardscape::ui
