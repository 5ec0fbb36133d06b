#include "run.h"

#include <csignal>
#include <exception>

namespace tyto::python {
namespace {

// What Python has to say meanwhile: an exception, or nothing.
std::exception_ptr look(const binding::Progress& now, const nb::object& progress) {
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none()) progress(now.done, now.total, now.relative_gap);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

bool signalled() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// True where a script ends by Ctrl-C. At a prompt, the last error may be long ago.
bool ends_by_ctrl_c() {
  const nb::module_ sys = nb::module_::import_("sys");
  const nb::object last = nb::getattr(sys, "last_type", nb::none());
  return last.is(nb::handle(PyExc_KeyboardInterrupt)) && !nb::hasattr(sys, "ps1");
}

// A job that computes while the process ends may find the library gone. Where Python ends by Ctrl-C that does
// not matter: it then kills itself, and so does this where Ctrl-C is pressed meanwhile.
void wait_at_exit() {
  if (ends_by_ctrl_c()) return;
  {
    const nb::gil_scoped_release no_gil;
    binding::wait_for_left([] {
      if (!signalled()) return;
      std::signal(SIGINT, SIG_DFL);
      std::raise(SIGINT);
    });
  }
  binding::release_finished();
}

}  // namespace

void run_work(std::function<void(Watch&)> work, const nb::object& progress, On where) {
  binding::release_finished();
  // The last to let the work go, and the arrays of Python that it holds, is this thread, with the GIL.
  const auto held = std::make_shared<std::function<void(Watch&)>>(std::move(work));
  const nb::gil_scoped_release no_gil;
  binding::run_work([held](Watch& watch) { (*held)(watch); },
                    [&](const binding::Progress& now) { return look(now, progress); }, where);
}

void add_exit(nb::module_& module) {
  module.def("_wait_at_exit", &wait_at_exit);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_at_exit"));
  module.def("_forget_left_jobs", &binding::forget_left);
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") =
                                                          module.attr("_forget_left_jobs"));
}

}  // namespace tyto::python
