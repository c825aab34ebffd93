#include "pool.h"

#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sched.h>
#endif

namespace dk {

static constexpr int SPINS = 4000;         // some tens of microseconds
static constexpr i64 WORTH_IT = 40'000;    // multiplications; below it waking costs more than it saves

static inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

static int usable_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  int count = int(std::thread::hardware_concurrency());
  return count > 0 ? count : 1;
}

Pool& Pool::shared() {
  static Pool* pool = [] {  // never destroyed: threads may still look at it while the process ends
    auto* made = new Pool;
    made->resize(usable_cpus());
    return made;
  }();
  return *pool;
}

void Pool::resize(int threads) {
  std::lock_guard lock(busy_);
  stopping_ = true;
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
  stopping_ = false;
  for (int i = 1; i < threads; i++) workers_.emplace_back([this] { serve(); });
}

void Pool::drain(Call call, void* context, i64 items) {
  for (i64 item = next_.fetch_add(1); item < items; item = next_.fetch_add(1)) call(context, item);
}

// A job is shared by whoever comes while its gate is open: a worker that sleeps late, or is a copy lost in a fork, holds
// nobody up.
void Pool::share(i64 items, i64 work, Call call, void* context) {
  if (items <= 1 || work < WORTH_IT || workers_.empty() || !busy_.try_lock()) {
    for (i64 item = 0; item < items; item++) call(context, item);
    return;
  }
  std::lock_guard lock(busy_, std::adopt_lock);
  call_ = call;
  context_ = context;
  items_ = items;
  next_ = 0;
  left_ = 0;
  gate_.store(0, std::memory_order_release);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  drain(call, context, items);
  const int joined = gate_.exchange(-1);
  for (int spins = 0;; spins++) {
    int left = left_.load(std::memory_order_acquire);
    if (left == joined) return;
    if (spins < SPINS) pause();
    else left_.wait(left);
  }
}

void Pool::serve() {
  std::uint32_t seen = epoch_.load();
  while (!stopping_) {
    int joined = gate_.load(std::memory_order_acquire);
    while (joined >= 0 && !gate_.compare_exchange_weak(joined, joined + 1)) {
    }
    if (joined >= 0) {
      drain(call_, context_, items_);
      left_.fetch_add(1, std::memory_order_release);
      left_.notify_one();
    }
    for (int spins = 0; spins < SPINS && epoch_.load(std::memory_order_acquire) == seen; spins++) pause();
    epoch_.wait(seen);
    seen = epoch_.load();
  }
}

void* scratch(Slot slot, i64 bytes) {
  struct Memory {
    void* data = nullptr;
    i64 size = 0;
    ~Memory() { std::free(data); }
  };
  thread_local Memory memory[SLOTS];
  Memory& mine = memory[slot];
  if (mine.size < bytes) {
    std::free(mine.data);
    mine.size = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    mine.data = std::aligned_alloc(4096, std::size_t(mine.size));
    if (!mine.data) {
      mine.size = 0;
      throw std::bad_alloc();
    }
  }
  return mine.data;
}

}  // namespace dk
