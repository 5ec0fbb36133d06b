#include "run.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <thread>
#include <vector>

namespace tyto::python {

using namespace std::chrono_literals;
constexpr auto kBetweenLooks = 100ms;

bool Watch::report(const Progress& now) {
  {
    const std::lock_guard lock(mutex_);
    latest_ = now;
  }
  if (look_) {
    const auto time = std::chrono::steady_clock::now();
    if (time - looked_ >= kBetweenLooks) looked_ = time, look_();
  }
  return !stopped_;
}

Progress Watch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

namespace {

struct Job {
  Watch watch;
  std::function<void(Watch&)> work;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false, left = false;  // left: nobody waits for it any more
  std::exception_ptr failure;
};

// Jobs hold arrays of Python, which only a thread with the GIL may let go: those that were left are kept
// until such a thread comes by. Never destroyed, as they may outlive Python.
struct LeftJobs {
  std::mutex mutex;
  std::condition_variable ended;
  int running = 0;
  std::vector<std::shared_ptr<Job>> finished;
};
LeftJobs*& left_jobs_place() {
  static auto* jobs = new LeftJobs;
  return jobs;
}
LeftJobs& left_jobs() { return *left_jobs_place(); }

// For a child made by fork: the threads that work, and may hold the lock, are its parent's.
void forget_left_jobs() { left_jobs_place() = new LeftJobs; }

void work_on(std::shared_ptr<Job> job) {
  try {
    job->work(job->watch);
  } catch (...) {
    job->failure = std::current_exception();
  }
  std::unique_lock lock(job->mutex);
  job->done = true;
  job->ended.notify_one();
  if (!job->left) return;
  lock.unlock();
  LeftJobs& jobs = left_jobs();
  const std::lock_guard guard(jobs.mutex);
  jobs.finished.push_back(std::move(job)), --jobs.running;
  jobs.ended.notify_all();
}

void clear_finished() {
  std::vector<std::shared_ptr<Job>> finished;
  LeftJobs& jobs = left_jobs();
  const std::lock_guard lock(jobs.mutex);
  finished.swap(jobs.finished);
}

// What Python has to say meanwhile: an exception, or nothing.
std::exception_ptr look(const Watch& watch, const nb::object& progress) {
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none()) {
      const Progress now = watch.latest();
      progress(now.done, now.total, now.relative_gap);
    }
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Until the job is done, or Python raises something, which is returned.
std::exception_ptr wait_for(Job& job, const nb::object& progress) {
  std::unique_lock lock(job.mutex);
  while (!job.ended.wait_for(lock, kBetweenLooks, [&] { return job.done; })) {
    lock.unlock();
    if (auto raised = look(job.watch, progress)) return raised;
    lock.lock();
  }
  return nullptr;
}

// True if it ended soon; else it is left.
bool stop(Job& job) {
  job.watch.stop();
  std::unique_lock lock(job.mutex);
  if (job.ended.wait_for(lock, 400ms, [&] { return job.done; })) return true;
  const std::lock_guard guard(left_jobs().mutex);
  ++left_jobs().running;
  return !(job.left = true);
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
    LeftJobs& jobs = left_jobs();
    std::unique_lock lock(jobs.mutex);
    while (!jobs.ended.wait_for(lock, 100ms, [&] { return jobs.running == 0; })) {
      lock.unlock();
      if (signalled()) std::signal(SIGINT, SIG_DFL), std::raise(SIGINT);
      lock.lock();
    }
  }
  clear_finished();
}

void run_here(const std::function<void(Watch&)>& work, const nb::object& progress) {
  clear_finished();
  std::exception_ptr raised, failure;
  {
    const nb::gil_scoped_release no_gil;
    Watch watch([&] {
      if (!raised && (raised = look(watch, progress))) watch.stop();
    });
    try {
      work(watch);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (failure) std::rethrow_exception(failure);
}

void run_beside(std::function<void(Watch&)> work, const nb::object& progress) {
  clear_finished();
  const auto job = std::make_shared<Job>();
  job->work = std::move(work);
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release no_gil;
    std::thread worker(work_on, job);
    raised = wait_for(*job, progress);
    if (!raised || stop(*job))
      worker.join();
    else
      worker.detach();
  }
  if (raised) std::rethrow_exception(raised);
  if (job->failure) std::rethrow_exception(job->failure);
}

}  // namespace

void run_work(std::function<void(Watch&)> work, const nb::object& progress, On where) {
  if (where == On::kThisThread)
    run_here(work, progress);
  else
    run_beside(std::move(work), progress);
}

void add_exit(nb::module_& module) {
  module.def("_wait_at_exit", &wait_at_exit);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_at_exit"));
  module.def("_forget_left_jobs", &forget_left_jobs);
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") =
                                                          module.attr("_forget_left_jobs"));
}

}  // namespace tyto::python
