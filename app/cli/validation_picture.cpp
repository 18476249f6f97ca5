#include "app/cli/validation_picture.h"

#include <QXmlStreamWriter>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace shardscape {
namespace {

constexpr double kSide = 420, kMargin = 64, kDot = 3.5;  // pixels
const QString kText = QStringLiteral("#1D2733"), kFaint = QStringLiteral("#5C6874");

QString fixed(double value, int digits = 1) { return QString::number(value, 'f', digits); }

class Picture {
 public:
  explicit Picture(QByteArray& to) : xml_(&to) {}

  void draw(const Validation& v) {
    xml_.writeStartElement(QStringLiteral("svg"));
    xml_.writeDefaultNamespace(QStringLiteral("http://www.w3.org/2000/svg"));
    attributes({{"width", fixed(kMargin + static_cast<double>(v.metrics.size()) * (kSide + kMargin), 0)},
                {"height", fixed(kSide + 2 * kMargin, 0)},
                {"font-family", "Inter, sans-serif"},
                {"font-size", "12"}});
    xml_.writeCharacters(QStringLiteral("\n"));
    shape("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#FFFFFF"}});
    double left = kMargin;
    for (const ValidatedMetric& metric : v.metrics) {
      square(v, metric, left);
      left += kSide + kMargin;
    }
    xml_.writeEndElement();
    xml_.writeCharacters(QStringLiteral("\n"));
  }

 private:
  using Attributes = std::initializer_list<std::pair<const char*, QString>>;

  void attributes(Attributes all) {
    for (const auto& [name, value] : all) xml_.writeAttribute(QLatin1String(name), value);
  }
  void shape(const char* kind, Attributes list) {
    xml_.writeEmptyElement(QLatin1String(kind));
    attributes(list);
    xml_.writeCharacters(QStringLiteral("\n"));
  }
  void text(Attributes list, const QString& words) {
    xml_.writeStartElement(QStringLiteral("text"));
    attributes(list);
    xml_.writeCharacters(words);
    xml_.writeEndElement();
    xml_.writeCharacters(QStringLiteral("\n"));
  }

  void square(const Validation& v, const ValidatedMetric& metric, double left) {
    const QString title = QStringLiteral("%1, %2: %3 rows, mean absolute error %4 %")
                              .arg(QString::fromStdString(v.set), QString::fromStdString(metric.name),
                                   QString::number(metric.rows.size()),
                                   fixed(metric.mean_abs_error_percent(), 2));
    text({{"x", fixed(left)}, {"y", fixed(kMargin / 2)}, {"fill", kText}}, title);
    shape("rect", {{"x", fixed(left)},
                   {"y", fixed(kMargin)},
                   {"width", fixed(kSide)},
                   {"height", fixed(kSide)},
                   {"fill", "none"},
                   {"stroke", "#DCE1E7"}});
    double low = INFINITY, high = 0;
    for (const ValidatedRow& row : metric.rows) {
      low = std::min({low, row.measured, row.predicted});
      high = std::max({high, row.measured, row.predicted});
    }
    if (metric.rows.empty() || !(low > 0)) return;
    dots(metric, left, low, high);
    text({{"x", fixed(left + kSide / 2)},
          {"y", fixed(kMargin + kSide + 36)},
          {"text-anchor", "middle"},
          {"fill", kText}},
         QStringLiteral("measured"));
    text({{"x", fixed(left + 6)}, {"y", fixed(kMargin + 16)}, {"fill", kText}}, QStringLiteral("predicted"));
  }

  // The diagonal, a dot per row, and the ends of both axes.
  void dots(const ValidatedMetric& metric, double left, double low, double high) {
    const double begin = std::log10(low) - 0.05, span = std::max(std::log10(high) + 0.05 - begin, 1e-6);
    const auto x = [&](double value) { return left + kSide * (std::log10(value) - begin) / span; };
    const auto y = [&](double value) { return kMargin + kSide * (1 - (std::log10(value) - begin) / span); };
    const auto figure = [&](double value) { return QString::fromStdString(figure_text(metric, value)); };
    const double first = std::pow(10, begin), last = std::pow(10, begin + span);
    shape("line", {{"x1", fixed(x(first))},
                   {"y1", fixed(y(first))},
                   {"x2", fixed(x(last))},
                   {"y2", fixed(y(last))},
                   {"stroke", kFaint},
                   {"stroke-dasharray", "4 4"}});
    for (const ValidatedRow& row : metric.rows) {
      xml_.writeStartElement(QStringLiteral("circle"));
      attributes({{"cx", fixed(x(row.measured))},
                  {"cy", fixed(y(row.predicted))},
                  {"r", fixed(kDot)},
                  {"fill", "#2F6FDE"},
                  {"fill-opacity", "0.6"}});
      xml_.writeTextElement(QStringLiteral("title"), QStringLiteral("%1: measured %2, predicted %3")
                                                         .arg(QString::fromStdString(row.name),
                                                              figure(row.measured), figure(row.predicted)));
      xml_.writeEndElement();
      xml_.writeCharacters(QStringLiteral("\n"));
    }
    for (const double value : {low, high}) {
      text({{"x", fixed(x(value))},
            {"y", fixed(kMargin + kSide + 18)},
            {"text-anchor", "middle"},
            {"fill", kFaint}},
           figure(value));
      text({{"x", fixed(left - 6)}, {"y", fixed(y(value) + 4)}, {"text-anchor", "end"}, {"fill", kFaint}},
           figure(value));
    }
  }

  QXmlStreamWriter xml_;
};

}  // namespace

std::string validation_svg(const Validation& validation) {
  QByteArray out;
  Picture(out).draw(validation);
  return out.toStdString();
}

}  // namespace shardscape
