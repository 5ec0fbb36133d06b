#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "binding/run.h"

namespace tyto::r {

using binding::On;
using binding::Watch;

// Runs `work` as binding::run_work does, and lets R handle interrupts meanwhile: Ctrl-C is thrown here.
void run_work(std::function<void(Watch&)> work, On where);

// The same for work that returns something.
template <class Work>
auto run(Work work, On where) {
  auto result = std::make_shared<decltype(work(std::declval<Watch&>()))>();
  run_work([result, work = std::move(work)](Watch& watch) { *result = work(watch); }, where);
  return std::move(*result);
}

void wait_for_left();  // before the library is unloaded

}  // namespace tyto::r
