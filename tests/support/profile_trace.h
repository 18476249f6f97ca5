// Writes small traces in the format of torch.profiler.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace shardscape::test {

class ProfileTrace {
 public:
  // Times in microseconds. args: further members of "args", with a comma in front: ",\"bytes\": 4".
  ProfileTrace& kernel(const std::string& name, double begin, double length, int64_t correlation,
                       int64_t stream = 7, const std::string& args = {}) {
    return add("kernel", name, "0", begin, length,
               "\"device\": 0, \"stream\": " + std::to_string(stream) +
                   ", \"correlation\": " + std::to_string(correlation) +
                   ", \"External id\": " + std::to_string(1000 + correlation) + args);
  }
  // The launch of the kernel with this correlation.
  ProfileTrace& launch(int64_t correlation, double begin, double length = 1,
                       const std::string& thread = "1") {
    return add("cuda_runtime", "cudaLaunchKernel", thread, begin, length,
               "\"correlation\": " + std::to_string(correlation));
  }
  // The op that launches the kernel with this correlation.
  ProfileTrace& op(int64_t correlation, const std::string& name, double begin, double length,
                   const std::string& args = {}, const std::string& thread = "1") {
    return add("cpu_op", name, thread, begin, length,
               "\"External id\": " + std::to_string(1000 + correlation) + args);
  }
  ProfileTrace& annotation(const std::string& name, double begin, double length) {
    return add("user_annotation", name, "1", begin, length, "");
  }
  ProfileTrace& module(const std::string& name, double begin, double length) {
    return add("python_function", "nn.Module: " + name, "1", begin, length, "");
  }
  ProfileTrace& collective(const std::string& kernel, const std::string& name, double begin, double length,
                           int64_t correlation, int64_t in, int64_t out, int64_t group,
                           const std::string& dtype = "BFloat16", int64_t stream = 20) {
    return this->kernel(kernel, begin, length, correlation, stream,
                        ", \"Collective name\": \"" + name + "\", \"In msg nelems\": " + std::to_string(in) +
                            ", \"Out msg nelems\": " + std::to_string(out) +
                            ", \"Group size\": " + std::to_string(group) + ", \"dtype\": \"" + dtype +
                            "\", \"Process Group Description\": \"group\"");
  }
  ProfileTrace& add(const std::string& category, const std::string& name, const std::string& thread,
                    double begin, double length, const std::string& args) {
    events_ += std::string(events_.empty() ? "" : ",\n") + "{\"ph\": \"X\", \"cat\": \"" + category +
               "\", \"name\": \"" + name + "\", \"pid\": 1, \"tid\": " + thread +
               ", \"ts\": " + std::to_string(begin) + ", \"dur\": " + std::to_string(length) +
               ", \"args\": {" + args + "}}";
    return *this;
  }
  std::string text(int64_t rank = 0, int64_t ranks = 1) const {
    return "{\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"Test GPU\"}],\n"
           "\"distributedInfo\": {\"rank\": " +
           std::to_string(rank) + ", \"world_size\": " + std::to_string(ranks) + "},\n\"traceEvents\": [\n" +
           events_ + "\n], \"traceName\": \"t\"}\n";
  }
  void write(const std::string& file, int64_t rank = 0, int64_t ranks = 1) const {
    std::ofstream(file, std::ios::binary) << text(rank, ranks);
  }

 private:
  std::string events_;
};

}  // namespace shardscape::test
