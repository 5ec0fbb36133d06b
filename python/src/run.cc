#include "run.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <vector>

namespace tyto::python {

bool Watch::report(const Progress& now) {
  const std::lock_guard lock(mutex_);
  latest_ = now;
  return !stopped_;
}

Progress Watch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

namespace {

using namespace std::chrono_literals;

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
LeftJobs& left_jobs() {
  static auto* jobs = new LeftJobs;
  return *jobs;
}

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
  while (!job.ended.wait_for(lock, 100ms, [&] { return job.done; })) {
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

// A job that computes while the process ends may find its BLAS gone. Where Python ends by Ctrl-C that does
// not matter: it then kills itself.
void wait_at_exit() {
  const nb::object last = nb::getattr(nb::module_::import_("sys"), "last_type", nb::none());
  if (last.is(nb::handle(PyExc_KeyboardInterrupt))) return;
  {
    const nb::gil_scoped_release no_gil;
    LeftJobs& jobs = left_jobs();
    std::unique_lock lock(jobs.mutex);
    jobs.ended.wait(lock, [&] { return jobs.running == 0; });
  }
  clear_finished();
}

}  // namespace

void run_work(std::function<void(Watch&)> work, const nb::object& progress) {
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

void add_exit(nb::module_& module) {
  module.def("_wait_at_exit", &wait_at_exit);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_at_exit"));
}

}  // namespace tyto::python
