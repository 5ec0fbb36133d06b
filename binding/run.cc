#include "binding/run.h"

#include <condition_variable>
#include <thread>
#include <vector>

namespace tyto::binding {

using namespace std::chrono_literals;
constexpr auto kBetweenLooks = 100ms;
constexpr auto kPatience = 400ms;  // with work that was asked to stop

bool Watch::report(const Progress& now) {
  {
    const std::lock_guard lock(mutex_);
    latest_ = now;
  }
  if (look_) {
    const auto time = std::chrono::steady_clock::now();
    if (time - looked_ >= kBetweenLooks) {
      looked_ = time;
      look_();
    }
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

// Never destroyed, as jobs may outlive the language.
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
  jobs.finished.push_back(std::move(job));
  --jobs.running;
  jobs.ended.notify_all();
}

// Until the job is done, or the language raises something, which is returned.
std::exception_ptr wait_for(Job& job, const Look& look) {
  std::unique_lock lock(job.mutex);
  while (!job.ended.wait_for(lock, kBetweenLooks, [&] { return job.done; })) {
    lock.unlock();
    if (auto raised = look(job.watch.latest())) return raised;
    lock.lock();
  }
  return nullptr;
}

// True if it ended soon; else it is left.
bool stop(Job& job) {
  job.watch.stop();
  std::unique_lock lock(job.mutex);
  if (job.ended.wait_for(lock, kPatience, [&] { return job.done; })) return true;
  const std::lock_guard guard(left_jobs().mutex);
  ++left_jobs().running;
  job.left = true;
  return false;
}

void run_here(const std::function<void(Watch&)>& work, const Look& look) {
  std::exception_ptr raised;
  Watch watch([&] {
    if (!raised && (raised = look(watch.latest()))) watch.stop();
  });
  try {
    work(watch);
  } catch (...) {
    if (!raised) throw;
  }
  if (raised) std::rethrow_exception(raised);
}

void run_beside(std::function<void(Watch&)> work, const Look& look) {
  const auto job = std::make_shared<Job>();
  job->work = std::move(work);
  std::thread worker(work_on, job);
  const std::exception_ptr raised = wait_for(*job, look);
  if (!raised || stop(*job))
    worker.join();
  else
    worker.detach();
  if (raised) std::rethrow_exception(raised);
  if (job->failure) std::rethrow_exception(job->failure);
}

}  // namespace

void run_work(std::function<void(Watch&)> work, const Look& look, On where) {
  if (where == On::kThisThread)
    run_here(work, look);
  else
    run_beside(std::move(work), look);
}

void release_finished() {
  std::vector<std::shared_ptr<Job>> finished;
  LeftJobs& jobs = left_jobs();
  const std::lock_guard lock(jobs.mutex);
  finished.swap(jobs.finished);
}

void wait_for_left(const std::function<void()>& meanwhile) {
  LeftJobs& jobs = left_jobs();
  std::unique_lock lock(jobs.mutex);
  while (!jobs.ended.wait_for(lock, kBetweenLooks, [&] { return jobs.running == 0; })) {
    lock.unlock();
    meanwhile();
    lock.lock();
  }
}

void forget_left() { left_jobs_place() = new LeftJobs; }

}  // namespace tyto::binding
