// Figures that a benchmark reports: a readable table, and JSON where --json FILE asks for it. Nothing is
// asserted.
#pragma once

#include <string>
#include <vector>

namespace shardscape::bench {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string aim;  // "< 16 ms"; empty when there is none
};

double percentile(std::vector<double> values, double fraction);  // 0.5 is the median
// Prints the table; writes the JSON to the file that follows --json. Returns the process's exit code.
int report_figures(const std::string& title, const std::vector<Figure>& figures, int argc, char** argv);

}  // namespace shardscape::bench
