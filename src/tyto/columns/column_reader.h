#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tyto/columns/column_file.h"
#include "tyto/columns/frame_cache.h"
#include "tyto/columns/watched_file.h"

namespace tyto {

// Throws DataError where the bytes of a column are not those that its checksum was made of, if there is one.
void check_column(const ColumnFile& file, Index column, std::span<const std::byte> bytes);

// Columns of a file in memory of a given size: read by a few threads, in the order of the file, ahead of
// those who want them as far as plans say. Several threads may call at once; none waits for another but for
// bytes that are being read, so that all get on.
class ColumnReader {
 public:
  ColumnReader(ColumnFile file, Index memory_bytes);
  ~ColumnReader();
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  static Index least_memory(const ColumnFile& file);

  const ColumnFile& file() const { return file_; }
  // All frames as columns; some have a column of the file in them.
  const Columns& frames() const { return *frames_; }
  // Columns at once: eights, so that kernels that take several at a time take those that they take in memory.
  Index most_pinned() const { return most_pinned_; }
  std::uint64_t bytes_read() const { return watched_.bytes_read(); }

  // Columns, no more than most_pinned(), and the frames in which they are, for as long as this lives. Only
  // one at a time for a thread.
  class Pinned {
   public:
    Pinned(ColumnReader& reader, std::span<const Index> columns);
    ~Pinned();
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    std::span<const Index> frames() const { return frame_; }
    const std::byte* data(std::size_t k) const { return reader_.data(static_cast<std::int32_t>(frame_[k])); }

   private:
    friend class ColumnReader;
    ColumnReader& reader_;
    std::vector<Index> frame_;
    Index missing_ = 0;  // frames whose columns have not arrived
    std::condition_variable complete_;
  };

  // What will be pinned, in about this order: read ahead as long as this lives. Throws DataError where the
  // file is not what it was.
  class Plan {
   public:
    Plan(ColumnReader& reader, std::span<const Index> columns);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

   private:
    friend class ColumnReader;
    std::size_t left() const { return columns_.size() - next_; }
    void pass(Index column);
    bool keeps(Index column) const { return std::ranges::binary_search(kept_, column); }

    ColumnReader& reader_;
    const std::vector<Index> columns_;
    const bool sorted_;
    std::vector<Index> kept_;  // the columns in order, if the list is short; else none
    std::size_t next_ = 0;     // place of the first that was neither asked for nor found
    Index ahead_ = 0;          // frames
  };

 private:
  struct Memory {
    void operator()(std::byte* memory) const;
  };
  struct Wanted {
    Index column;
    std::int32_t frame;
  };
  // How the memory is shared out.
  struct Shares {
    Index request_bytes, frames, ring;
  };
  using Lock = std::unique_lock<std::mutex>;

  static Shares shares_of(const ColumnFile& file, Index memory_bytes);

  std::byte* data(std::int32_t frame) const { return memory_.get() + frame * frame_bytes_; }
  std::uint64_t begin_of(Index column) const {
    return file_.offset + static_cast<std::uint64_t>(column) * static_cast<std::uint64_t>(file_.stride);
  }
  void start_threads();
  void run();
  bool follows(Index column, Index next) const;
  bool has_room(const std::vector<Wanted>& request, Index next) const;
  void finish(const std::vector<Wanted>& request, const std::exception_ptr& failure);
  bool is_due(const Plan& plan) const;
  bool has_work() const;
  std::vector<Wanted> next_request();
  void request_of(Plan& plan, std::vector<Wanted>& request);
  void read(const std::vector<Wanted>& request, ReadBuffer& buffer);
  void read_run(std::span<const Wanted> run, ReadBuffer& buffer) const;
  void copy_out(std::span<const Wanted> run, std::uint64_t begin, std::uint64_t end,
                const std::byte* bytes) const;
  void pin(std::span<const Index> columns, Pinned& to);
  std::int32_t frame_for(Index column, Lock& lock);
  void unpin(std::span<const Index> frames);
  void release(std::span<const Index> frames);
  void throw_if_failed() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  const ColumnFile file_;
  const WatchedFile watched_;
  const Index column_bytes_, frame_bytes_;
  const Shares shares_;
  Index most_pinned_, most_holders_, request_columns_;
  std::unique_ptr<std::byte, Memory> memory_;
  std::vector<double> filling_;  // of frames
  std::shared_ptr<const Columns> frames_;

  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable work_, arrived_, room_;
  FrameCache cache_;
  std::vector<bool> arrived_in_;                   // by frame: the bytes of its column are there
  std::vector<std::vector<Pinned*>> waiting_for_;  // by frame: who waits for its column
  std::vector<Plan*> ahead_of_;  // by frame: the plan that has it pinned until somebody wants it
  std::deque<Wanted> demanded_;  // by somebody who waits
  std::list<Plan*> plans_;
  Index ahead_ = 0, holders_ = 0;  // frames of all plans; Pinned that live
  std::exception_ptr failure_;     // of a read: nothing is read after it
  bool ending_ = false;
  bool ring_is_full_ = false;  // of frames that are pinned: plans wait until one is unpinned
  std::vector<std::thread> threads_;
};

}  // namespace tyto
