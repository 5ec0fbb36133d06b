#ifndef _WIN32
#include "tyto/columns/column_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "tyto/base/checksum.h"
#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/base/tuning.h"

namespace tyto {
namespace {

constexpr Index kAlign = 64;  // bytes: a cache line

Index frame_bytes_of(const ColumnFile& file) {
  return (column_bytes(file.type, file.rows) + kAlign - 1) / kAlign * kAlign;
}

constexpr Index kBookkeeping = 96;  // bytes for each frame

Index fixed_bytes(const ColumnFile& file, Index request_bytes) {
  const auto buffers = Tuning::Files().threads * (request_bytes + 3 * static_cast<Index>(ReadBuffer::kBlock));
  return buffers + file.cols * static_cast<Index>(sizeof(std::int32_t));
}

bool is_increasing(std::span<const Index> columns) {
  return std::ranges::adjacent_find(columns, std::greater_equal<>()) == columns.end();
}

}  // namespace

ColumnReader::Shares ColumnReader::shares_of(const ColumnFile& file, Index memory_bytes) {
  const Tuning::Files tuning;
  const Index frame = frame_bytes_of(file);
  Shares shares{};
  shares.request_bytes =
      std::clamp(memory_bytes / tuning.requests_in_memory, tuning.least_request, tuning.most_request);
  const Index most = std::min<Index>(file.cols + tuning.least_ring, (Index{1} << 31) - 64);
  shares.frames =
      std::min((memory_bytes - fixed_bytes(file, shares.request_bytes)) / (frame + kBookkeeping), most);
  shares.ring = std::clamp(tuning.ring_bytes / std::max(frame, kAlign), tuning.least_ring,
                           std::max(tuning.least_ring, shares.frames / tuning.ring_share));
  return shares;
}

void check_column(const ColumnFile& file, Index column, std::span<const std::byte> bytes) {
  if (file.checksums.empty() || checksum(bytes) == file.checksums[static_cast<std::size_t>(column)]) return;
  throw DataError(file.path + ": column " + std::to_string(column) +
                  ": the file is damaged: the checksum is wrong");
}

Index ColumnReader::least_memory(const ColumnFile& file) {
  const Tuning::Files tuning;
  return fixed_bytes(file, tuning.least_request) + tuning.least_ring * (frame_bytes_of(file) + kBookkeeping);
}

void ColumnReader::Memory::operator()(std::byte* memory) const { std::free(memory); }

// Of the frames of the ring at most half are read ahead, and a quarter is pinned by those who use columns: so
// that there is always one to be had.
ColumnReader::ColumnReader(ColumnFile file, Index memory_bytes)
    : file_(std::move(file)),
      watched_(file_.path, file_.cols == 0
                               ? 0
                               : begin_of(file_.cols - 1) +
                                     static_cast<std::uint64_t>(column_bytes(file_.type, file_.rows))),
      column_bytes_(column_bytes(file_.type, file_.rows)),
      frame_bytes_(frame_bytes_of(file_)),
      shares_(shares_of(file_, memory_bytes)),
      cache_(file_.cols, static_cast<std::int32_t>(shares_.frames), static_cast<std::int32_t>(shares_.ring)),
      arrived_in_(static_cast<std::size_t>(shares_.frames)),
      waiting_for_(static_cast<std::size_t>(shares_.frames)),
      ahead_of_(static_cast<std::size_t>(shares_.frames)) {
  const Tuning::Files tuning;
  request_columns_ = std::max<Index>(1, shares_.request_bytes / std::max<Index>(file_.stride, 1));
  constexpr Index kEight = 8;
  most_pinned_ = std::clamp<Index>(shares_.ring / 8 / kEight * kEight, kEight, tuning.most_pinned);
  most_holders_ = shares_.ring / 4 / most_pinned_;
  const auto bytes = static_cast<std::size_t>(shares_.frames * frame_bytes_);
  memory_.reset(static_cast<std::byte*>(
      std::aligned_alloc(static_cast<std::size_t>(kAlign), std::max<std::size_t>(bytes, kAlign))));
  if (!memory_) throw std::bad_alloc();
  prefer_huge_pages(memory_.get(), bytes);
  if (!file_.filling.empty()) filling_.resize(static_cast<std::size_t>(shares_.frames));
  frames_ = stored_columns({file_.type, memory_.get(), file_.rows, shares_.frames, frame_bytes_, filling_},
                           nullptr);
}

ColumnReader::~ColumnReader() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ColumnReader::start_threads() {
  if (!threads_.empty()) return;
  try {
    for (int k = 0; k < Tuning::Files().threads; ++k) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {  // fewer do the same
    if (threads_.empty()) throw;
  }
}

// What the threads do: what somebody waits for first.
void ColumnReader::run() {
  ReadBuffer buffer(static_cast<std::size_t>(shares_.request_bytes));
  Lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return ending_ || has_work(); });
    if (ending_) return;
    const std::vector<Wanted> request = next_request();
    if (request.empty()) continue;
    if (has_work()) work_.notify_one();
    lock.unlock();
    std::exception_ptr failure;
    try {
      read(request, buffer);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    finish(request, failure);
  }
}

// Tells those who wait for nothing else.
void ColumnReader::finish(const std::vector<Wanted>& request, const std::exception_ptr& failure) {
  if (failure && !failure_) failure_ = failure;
  if (failure_) {  // nothing is read any more
    for (const auto& all : waiting_for_)
      for (Pinned* waiting : all) waiting->complete_.notify_one();
    arrived_.notify_all();
    room_.notify_all();
    return;
  }
  for (const Wanted& one : request) {
    const auto frame = static_cast<std::size_t>(one.frame);
    arrived_in_[frame] = true;
    cache_.unpin(one.frame);
    for (Pinned* waiting : waiting_for_[frame])
      if (--waiting->missing_ == 0) waiting->complete_.notify_one();
    waiting_for_[frame].clear();
  }
  ring_is_full_ = false;
  arrived_.notify_all();
}

bool ColumnReader::is_due(const Plan& plan) const {
  const Index most = std::min(request_columns_, shares_.ring / 2);
  return plan.left() > 0 && ahead_ + std::min(static_cast<Index>(plan.left()), most) <= shares_.ring / 2;
}

bool ColumnReader::has_work() const {
  if (failure_) return false;
  if (!demanded_.empty()) return true;
  return !ring_is_full_ && std::ranges::any_of(plans_, [this](const Plan* plan) { return is_due(*plan); });
}

// Whether two columns are read at once: what lies between them is no more than a block.
bool ColumnReader::follows(Index column, Index next) const {
  if (next <= column) return false;
  const auto end = begin_of(column) + static_cast<std::uint64_t>(column_bytes_);
  return begin_of(next) <= end + ReadBuffer::kBlock;
}

// Columns that follow one another are one read; a few that do not are taken together too, so that threads
// have less to agree on.
bool ColumnReader::has_room(const std::vector<Wanted>& request, Index next) const {
  if (request.empty()) return true;
  if (std::ssize(request) >= request_columns_) return false;
  return follows(request.back().column, next) ||
         std::ssize(request) * column_bytes_ < Tuning::Files().scattered_request;
}

std::vector<ColumnReader::Wanted> ColumnReader::next_request() {
  std::vector<Wanted> request;
  while (!demanded_.empty() && has_room(request, demanded_.front().column)) {
    request.push_back(demanded_.front());
    demanded_.pop_front();
  }
  for (Plan* plan : plans_)
    if (request.empty() && !ring_is_full_ && is_due(*plan)) request_of(*plan, request);
  return request;
}

void ColumnReader::request_of(Plan& plan, std::vector<Wanted>& request) {
  for (; plan.left() > 0; ++plan.next_) {
    const Index column = plan.columns_[plan.next_];
    const std::int32_t there = cache_.find(column);
    if (there != FrameCache::kNone) {
      if (!plan.kept_.empty()) cache_.keep(there);
      continue;
    }
    if (!has_room(request, column) || ahead_ >= shares_.ring / 2) return;
    const std::int32_t frame = cache_.take(column, !plan.kept_.empty());
    if (frame == FrameCache::kNone) {
      ring_is_full_ = true;
      return;
    }
    cache_.pin(frame);  // for the plan, beside the pin of the one who reads
    arrived_in_[static_cast<std::size_t>(frame)] = false;
    ahead_of_[static_cast<std::size_t>(frame)] = &plan;
    ++plan.ahead_;
    ++ahead_;
    request.push_back({column, frame});
  }
}

// In pieces, where it is long.
void ColumnReader::read_run(std::span<const Wanted> run, ReadBuffer& buffer) const {
  const std::uint64_t end = begin_of(run.back().column) + static_cast<std::uint64_t>(column_bytes_);
  const auto piece = static_cast<std::uint64_t>(shares_.request_bytes);
  for (std::uint64_t begin = begin_of(run.front().column); begin < end; begin += piece) {
    const std::uint64_t stop = std::min(end, begin + piece);
    copy_out(run, begin, stop, watched_.read(begin, stop, buffer));
  }
}

void ColumnReader::read(const std::vector<Wanted>& request, ReadBuffer& buffer) {
  for (std::span<const Wanted> rest = request; !rest.empty();) {
    std::size_t count = 1;
    while (count < rest.size() && follows(rest[count - 1].column, rest[count].column)) ++count;
    read_run(rest.first(count), buffer);
    rest = rest.subspan(count);
  }
  for (const Wanted& one : request)
    check_column(file_, one.column, {data(one.frame), static_cast<std::size_t>(column_bytes_)});
  if (filling_.empty()) return;
  for (const Wanted& one : request)
    filling_[static_cast<std::size_t>(one.frame)] = file_.filling[static_cast<std::size_t>(one.column)];
}

// The bytes begin .. end - 1 of the file to where they belong.
void ColumnReader::copy_out(std::span<const Wanted> run, std::uint64_t begin, std::uint64_t end,
                            const std::byte* bytes) const {
  for (const Wanted& one : run) {
    const std::uint64_t first = begin_of(one.column);
    const std::uint64_t from = std::max(begin, first);
    const std::uint64_t to = std::min(end, first + static_cast<std::uint64_t>(column_bytes_));
    if (from < to) std::memcpy(data(one.frame) + (from - first), bytes + (from - begin), to - from);
  }
}

std::int32_t ColumnReader::frame_for(Index column, Lock& lock) {
  const bool keep = std::ranges::any_of(plans_, [column](const Plan* plan) { return plan->keeps(column); });
  for (;;) {
    std::int32_t frame = cache_.find(column);
    if (frame != FrameCache::kNone) {
      if (keep) cache_.keep(frame);
      cache_.pin(frame);
      if (Plan*& plan = ahead_of_[static_cast<std::size_t>(frame)]; plan != nullptr) {
        --plan->ahead_;
        --ahead_;
        plan = nullptr;
        cache_.unpin(frame);
      }
      return frame;
    }
    frame = cache_.take(column, keep);
    if (frame != FrameCache::kNone) {
      cache_.pin(frame);
      arrived_in_[static_cast<std::size_t>(frame)] = false;
      demanded_.push_back({column, frame});
      for (Plan* plan : plans_) plan->pass(column);
      return frame;
    }
    arrived_.wait(lock);  // the rest of the ring is being read, for plans that have ended
    throw_if_failed();
  }
}

void ColumnReader::pin(std::span<const Index> columns, Pinned& to) {
  Lock lock(mutex_);
  room_.wait(lock, [this] { return failure_ || holders_ < most_holders_; });
  throw_if_failed();
  start_threads();
  ++holders_;
  try {
    for (const Index column : columns) to.frame_.push_back(frame_for(column, lock));
    if (has_work()) work_.notify_one();
    for (const Index frame : to.frame_) {
      const auto k = static_cast<std::size_t>(frame);
      if (arrived_in_[k]) continue;
      waiting_for_[k].push_back(&to);
      ++to.missing_;
    }
    to.complete_.wait(lock, [&] { return failure_ || to.missing_ == 0; });
    throw_if_failed();
  } catch (...) {
    for (const Index frame : to.frame_) std::erase(waiting_for_[static_cast<std::size_t>(frame)], &to);
    release(to.frame_);
    throw;
  }
}

void ColumnReader::unpin(std::span<const Index> frames) {
  const Lock lock(mutex_);
  release(frames);
}

void ColumnReader::release(std::span<const Index> frames) {
  for (const Index frame : frames) cache_.unpin(static_cast<std::int32_t>(frame));
  --holders_;
  ring_is_full_ = false;
  room_.notify_one();
  if (has_work()) work_.notify_one();
}

ColumnReader::Pinned::Pinned(ColumnReader& reader, std::span<const Index> columns) : reader_(reader) {
  frame_.reserve(columns.size());
  reader_.pin(columns, *this);
}
ColumnReader::Pinned::~Pinned() { reader_.unpin(frame_); }

ColumnReader::Plan::Plan(ColumnReader& reader, std::span<const Index> columns)
    : reader_(reader), columns_(columns.begin(), columns.end()), sorted_(is_increasing(columns)) {
  if (std::ssize(columns) <= (reader.shares_.frames - reader.shares_.ring) / 2) {
    kept_ = columns_;
    std::ranges::sort(kept_);
  }
  reader_.watched_.check();
  const Lock lock(reader_.mutex_);
  reader_.start_threads();
  reader_.plans_.push_back(this);
  reader_.work_.notify_one();
}

ColumnReader::Plan::~Plan() {
  const Lock lock(reader_.mutex_);
  reader_.plans_.remove(this);
  if (ahead_ == 0) return;
  for (std::size_t frame = 0; frame < reader_.ahead_of_.size(); ++frame) {
    if (reader_.ahead_of_[frame] != this) continue;
    reader_.ahead_of_[frame] = nullptr;
    reader_.cache_.unpin(static_cast<std::int32_t>(frame));
    --reader_.ahead_;
  }
}

// A column that somebody had to wait for: the plan goes on after it.
void ColumnReader::Plan::pass(Index column) {
  constexpr std::size_t kNear = 64;
  const auto begin = columns_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto near = begin + static_cast<std::ptrdiff_t>(std::min(kNear, left()));
  const auto found =
      sorted_ ? std::lower_bound(begin, columns_.end(), column) : std::find(begin, near, column);
  if (found != (sorted_ ? columns_.end() : near) && *found == column)
    next_ = static_cast<std::size_t>(found - columns_.begin()) + 1;
}

}  // namespace tyto
#endif
