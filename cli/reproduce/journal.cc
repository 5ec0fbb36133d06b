#include "cli/reproduce/journal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tyto/base/error.h"
#include "tyto/base/json.h"
#include "tyto/data/atomic_file.h"

namespace tyto::cli {
namespace {

using nlohmann::json;

json to_json(const Record& r) {
  json object{{"experiment", r.key.experiment},
              {"set", r.key.set},
              {"strength", r.key.strength},
              {"algorithm", r.key.algorithm},
              {"trial", r.key.trial},
              {"n", r.n},
              {"p", r.p},
              {"multiplier", r.multiplier},
              {"tolerance", r.tolerance},
              {"seed", r.seed},
              {"status", r.status},
              {"cpu_seconds", r.cpu_seconds},
              {"epochs", r.epochs},
              {"gap", r.gap},
              {"primal", r.primal},
              {"screened", r.screened},
              {"nonzeros", r.nonzeros}};
  if (!r.key.setting.empty()) object["setting"] = r.key.setting;
  if (r.published_epoch >= 0) object["published_stop"] = {r.published_epoch, r.published_gap};
  if (r.rmse == r.rmse) object["rmse"] = r.rmse;
  for (const Record::Point& at : r.trace) object["trace"].push_back({at.epoch, at.gap, at.active});
  return object;
}

Record from_json(const json& object) {
  Record r;
  const auto get = [&object](const char* name, auto& value) { object.at(name).get_to(value); };
  get("experiment", r.key.experiment);
  get("set", r.key.set);
  get("strength", r.key.strength);
  get("algorithm", r.key.algorithm);
  get("trial", r.key.trial);
  get("n", r.n);
  get("p", r.p);
  get("multiplier", r.multiplier);
  get("tolerance", r.tolerance);
  get("seed", r.seed);
  get("status", r.status);
  get("cpu_seconds", r.cpu_seconds);
  get("epochs", r.epochs);
  get("gap", r.gap);
  get("primal", r.primal);
  get("screened", r.screened);
  get("nonzeros", r.nonzeros);
  if (object.contains("rmse")) get("rmse", r.rmse);
  if (object.contains("setting")) get("setting", r.key.setting);
  if (object.contains("published_stop")) {
    object["published_stop"].at(0).get_to(r.published_epoch);
    object["published_stop"].at(1).get_to(r.published_gap);
  }
  if (object.contains("trace"))
    for (const json& at : object["trace"])
      r.trace.push_back({at.at(0).get<Index>(), at.at(1).get<double>(), at.at(2).get<Index>()});
  return r;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw DataError(path + ": cannot write: " + std::generic_category().message(error));
}

std::string differing_field(const json& there, const json& wanted) {
  for (const auto& [name, value] : wanted.items())
    if (!there.contains(name) || there[name] != value) return name;
  return "format";
}

std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
  const std::string text = read_whole(path_);
  const std::vector<std::string> lines = whole_lines(text);
  settings_ = lines.empty() ? json() : parse_json<json>(lines[0], path_);
  if (!settings_.is_object() || settings_.value("format", json()) != kFormat)
    throw DataError(path_ + ": not the runs of tyto reproduce");
  load(text);
}

Journal::Journal(std::string path, const json& settings, bool fresh)
    : path_(std::move(path)), settings_(settings) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path_, errno);
  try {
    lock();
    if (fresh && ::ftruncate(file_, 0) != 0) fail(path_, errno);
    take_over();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::lock() {
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) throw InvalidArgument("output: " + path_ + " is in use by another run");
  fail(path_, errno);
}

std::size_t Journal::load(const std::string& text) {
  const std::vector<std::string> lines = whole_lines(text);
  std::size_t length = lines[0].size() + 1;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    try {
      check_json_depth(lines[k], path_);
      keep(from_json(json::parse(lines[k])));
    } catch (const json::exception&) {
      break;
    }
    length += lines[k].size() + 1;
  }
  return length;
}

void Journal::take_over() {
  const std::string text = read_whole(path_);
  const std::vector<std::string> lines = whole_lines(text);
  if (lines.empty()) {
    if (::ftruncate(file_, 0) != 0) fail(path_, errno);
    return append(settings_.dump());
  }
  const json there = parse_json<json>(lines[0], path_);
  if (there != settings_)
    throw InvalidArgument(
        fmt::format("output: {} was begun with another {}; want another folder, or --fresh to begin anew",
                    path_, there.is_object() ? differing_field(there, settings_) : "program"));
  const std::size_t length = load(text);
  if (length < text.size() && ::ftruncate(file_, static_cast<off_t>(length)) != 0) fail(path_, errno);
}

void Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, errno);
    done += static_cast<std::size_t>(count);
  }
  if (::fsync(file_) != 0) fail(path_, errno);
}

const Record* Journal::find(const RunKey& key) const {
  const auto at = places_.find(key);
  return at == places_.end() ? nullptr : &records_[at->second];
}

void Journal::add(Record record) {
  append(to_json(record).dump());
  keep(std::move(record));
}

void Journal::keep(Record record) {
  places_[record.key] = records_.size();
  seconds_ += record.cpu_seconds;
  records_.push_back(std::move(record));
}

}  // namespace tyto::cli
