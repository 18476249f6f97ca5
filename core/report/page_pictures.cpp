#include "report/page_pictures.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/units.h"
#include "report/page_report.h"

namespace shardscape {
namespace {

constexpr int kLabel = 70, kBar = 720, kRow = 22, kThick = 15, kLegend = 24, kPerLine = 4, kCell = 205;
constexpr const char* kPalette[] = {"#3569B0", "#5FA3D9", "#8A6FC0", "#E08B2C", "#D2B535",
                                    "#B65C7A", "#3E9E82", "#98A2AD", "#7C5A3C", "#4C7A34"};

const char* color_of(size_t category) { return kPalette[category % std::size(kPalette)]; }

class Svg {
 public:
  Svg(int width, int height) {
    const std::string wide = std::to_string(width), high = std::to_string(height);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + wide + " " + high +
           "\" width=\"" + wide + "\" font-family=\"Inter,sans-serif\" font-size=\"12\" fill=\"#1D2733\">\n";
  }
  void rect(double left, int top, double wide, int high, const std::string& color) {
    out_ += "<rect x=\"" + significant(left, 6) + "\" y=\"" + std::to_string(top) + "\" width=\"" +
            significant(wide, 6) + "\" height=\"" + std::to_string(high) + "\" fill=\"" + color + "\"/>\n";
  }
  void text(double left, int base, const std::string& words) {
    out_ += "<text x=\"" + significant(left, 6) + "\" y=\"" + std::to_string(base) + "\">" +
            html_text(words) + "</text>\n";
  }
  std::string finish() { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

double sum(const StackedBar& bar) { return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0); }

// The bars that are drawn, and a row without parts in the place of those left out.
std::vector<StackedBar> drawn(const std::vector<StackedBar>& bars) {
  if (bars.size() <= kMostBars) return bars;
  const auto half = static_cast<std::ptrdiff_t>(kMostBars / 2);
  std::vector<StackedBar> out(bars.begin(), bars.begin() + half);
  out.push_back({"...", {}, grouped(static_cast<Wide>(bars.size() - kMostBars)) + " more"});
  out.insert(out.end(), bars.end() - half, bars.end());
  return out;
}

}  // namespace

std::string stacked_picture(const StackedPicture& picture) {
  const std::vector<StackedBar> bars = drawn(picture.bars);
  double most = picture.line;
  for (const StackedBar& bar : bars) most = std::max(most, sum(bar));
  if (most <= 0) most = 1;
  const auto x = [&](double value) { return kLabel + value / most * kBar; };
  const int lines = (static_cast<int>(picture.categories.size()) + kPerLine - 1) / kPerLine;
  const int legend = kLegend * lines;
  Svg svg(kLabel + kBar + 110, legend + kRow * static_cast<int>(bars.size()) + kRow);
  for (size_t c = 0; c < picture.categories.size(); ++c) {
    const int left = static_cast<int>(c) % kPerLine * kCell, top = static_cast<int>(c) / kPerLine * kLegend;
    svg.rect(left, top + 2, 12, 12, picture.categories[c].second);
    svg.text(left + 18, top + 12, picture.categories[c].first);
  }
  int top = legend;
  for (const StackedBar& bar : bars) {
    svg.text(0, top + 12, bar.name);
    double before = 0;
    for (size_t c = 0; c < bar.parts.size(); ++c) {
      if (bar.parts[c] <= 0) continue;
      svg.rect(x(before), top, x(before + bar.parts[c]) - x(before), kThick, picture.categories[c].second);
      before += bar.parts[c];
    }
    svg.text(x(before) + 6, top + 12, bar.total);
    top += kRow;
  }
  if (picture.line > 0) {
    svg.rect(x(picture.line), legend - 4, 2, top - legend + 4, "#C0392B");
    svg.text(x(picture.line) - 90, top + 14, picture.line_name);
  }
  return svg.finish();
}

std::string memory_picture(const MemoryTimeline& memory) {
  StackedPicture picture;
  for (size_t c = 0; c < static_cast<size_t>(kAllMemoryCategories); ++c)
    picture.categories.emplace_back(memory_category_label(static_cast<MemoryCategory>(c)), color_of(c));
  for (const StageMemory& s : memory.stages) {
    StackedBar bar{"stage " + std::to_string(s.stage), {}, format_bytes(s.in_use)};
    for (size_t c = 0; c < picture.categories.size(); ++c)
      bar.parts.push_back(static_cast<double>(std::max<int64_t>(0, s.at_peak[c])));
    picture.bars.push_back(std::move(bar));
  }
  picture.line = static_cast<double>(memory.capacity);
  picture.line_name = "capacity " + format_bytes(memory.capacity);
  return stacked_picture(picture);
}

std::string step_picture(const Simulation& simulation) {
  StackedPicture picture;
  std::vector<size_t> used;
  for (size_t c = 0; c < static_cast<size_t>(kTimeCategoryCount); ++c) {
    if (std::none_of(simulation.stages.begin(), simulation.stages.end(),
                     [&](const auto& stage) { return stage.seconds[c] > 0; }))
      continue;
    picture.categories.emplace_back(time_category_label(static_cast<TimeCategory>(c)), color_of(used.size()));
    used.push_back(c);
  }
  for (size_t i = 0; i < simulation.stages.size(); ++i) {
    StackedBar bar{"stage " + std::to_string(i), {}, ""};
    for (const size_t c : used) bar.parts.push_back(simulation.stages[i].seconds[c]);
    bar.total = format_seconds(sum(bar));
    picture.bars.push_back(std::move(bar));
  }
  return stacked_picture(picture);
}

}  // namespace shardscape
