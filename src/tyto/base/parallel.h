#pragma once

#include <functional>

#include "tyto/base/types.h"

namespace tyto {

// Runs task(0), ..., task(count - 1), on up to `threads` threads. The tasks must not depend on one another,
// and what each of them computes must not depend on `threads`: that is how results keep the same bits. An
// exception in a task is rethrown here, after all threads have ended.
void parallel_for(Index count, int threads, const std::function<void(Index)>& task);

// Threads that pay for reading so many numbers.
int useful_threads(int threads, Index numbers);

int hardware_threads();

}  // namespace tyto
