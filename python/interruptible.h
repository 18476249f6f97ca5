// Long work that Ctrl+C ends.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <stop_token>

namespace shardscape {

// Returns work(stop). The work runs on a thread of its own, without the interpreter's lock. Meanwhile this
// thread asks ten times a second for signals, because the interpreter runs their handlers between lines of
// Python only. A handler that raises, as that of Ctrl+C does, stops the work, and its exception is thrown.
template <class Work>
auto interruptible(const Work& work) {
  namespace py = pybind11;
  constexpr std::chrono::milliseconds kPause(100);
  std::stop_source stop;
  auto made = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  const auto ended = [&] {
    const py::gil_scoped_release free;
    return made.wait_for(kPause) == std::future_status::ready;
  };
  while (!ended()) {
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set raised;
    stop.request_stop();
    while (!ended()) {}
    throw raised;
  }
  return made.get();
}

}  // namespace shardscape
