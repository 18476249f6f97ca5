#include "support/bench_figures.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace shardscape::bench {

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
  return values[at];
}

int report_figures(const std::string& title, const std::vector<Figure>& figures, int argc, char** argv) {
  std::printf("%s\n", title.c_str());
  for (const Figure& f : figures)
    std::printf("  %-58s %12.4g %-6s %s\n", f.name.c_str(), f.value, f.unit.c_str(),
                f.aim.empty() ? "" : ("aim " + f.aim).c_str());
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--json") != 0) continue;
    nlohmann::ordered_json rows;
    for (const Figure& f : figures)
      rows.push_back({{"name", f.name}, {"value", f.value}, {"unit", f.unit}, {"aim", f.aim}});
    std::ofstream out(argv[i + 1]);
    out << nlohmann::ordered_json{{"title", title}, {"figures", rows}}.dump(2) << "\n";
    if (!out) {
      std::fprintf(stderr, "cannot write %s\n", argv[i + 1]);
      return 1;
    }
  }
  return 0;
}

}  // namespace shardscape::bench
