#include "look.h"

#include <cpp11/protect.hpp>
#include <exception>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace tyto::r {
namespace {

std::exception_ptr look(const binding::Progress&) {
  try {
    cpp11::check_user_interrupt();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// A child of fork, as parallel::mclapply makes them, has none of its parent's threads.
void notice_fork() {
#ifndef _WIN32
  static pid_t last = getpid();
  if (getpid() == last) return;
  last = getpid();
  binding::forget_left();
#endif
}

}  // namespace

void run_work(std::function<void(Watch&)> work, On where) {
  notice_fork();
  binding::release_finished();
  // The last to let the work go, and the objects of R that it holds, is R's thread.
  const auto held = std::make_shared<std::function<void(Watch&)>>(std::move(work));
  binding::run_work([held](Watch& watch) { (*held)(watch); }, look, where);
}

void wait_for_left() {
  notice_fork();
  binding::wait_for_left([] {});
  binding::release_finished();
}

}  // namespace tyto::r
