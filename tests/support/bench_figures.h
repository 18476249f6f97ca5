// Figures of a benchmark as a table, and as JSON with --json FILE. Nothing is asserted.
#pragma once

#include <string>
#include <vector>

namespace shardscape::bench {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string aim;  // target, "< 16 ms"; empty: none
};

double percentile(std::vector<double> values, double fraction);  // 0.5 is the median
// Prints the table. Writes the JSON to the file after --json. Returns the exit code of the process.
int report_figures(const std::string& title, const std::vector<Figure>& figures, int argc, char** argv);

}  // namespace shardscape::bench
