#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "binding/run.h"

namespace tyto::python {

namespace nb = nanobind;

using binding::On;
using binding::Watch;

// Runs `work` without the GIL, as binding::run_work does. Meanwhile Python handles signals, and `progress` (a
// callable of done, total and relative gap, or None) is called; what either raises is thrown here.
void run_work(std::function<void(Watch&)> work, const nb::object& progress, On where);

// The same for work that returns something.
template <class Work>
auto run(Work work, const nb::object& progress, On where = On::kOwnThread) {
  auto result = std::make_shared<decltype(work(std::declval<Watch&>()))>();
  run_work([result, work = std::move(work)](Watch& watch) { *result = work(watch); }, progress, where);
  return std::move(*result);
}

void add_exit(nb::module_& module);  // what is to be done about work left to itself when Python ends or forks

}  // namespace tyto::python
