// Threads that share out the items of one job after another. They spin for a moment after a job, since in a decode step
// the next one follows within microseconds, and then sleep in the kernel: an idle pool costs nothing.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tensor.h"

namespace dk {

class Pool {
 public:
  static Pool& shared();
  int threads() const { return int(workers_.size()) + 1; }
  void resize(int threads);

  // f(item) for every item; serially where `work` (about the number of multiplications) isn't worth waking anybody.
  template <class Fn> void run(i64 items, i64 work, Fn&& f) {
    auto call = [](void* context, i64 item) { (*static_cast<std::remove_reference_t<Fn>*>(context))(item); };
    share(items, work, call, &f);
  }

 private:
  using Call = void (*)(void*, i64);
  void share(i64 items, i64 work, Call call, void* context);
  void serve();
  void drain(Call call, void* context, i64 items);

  std::vector<std::thread> workers_;
  std::mutex busy_;
  std::atomic<std::uint32_t> epoch_{0};  // grows with every job; what the idle wait on
  std::atomic<int> gate_{-1};            // how many workers joined the job; −1: closed
  std::atomic<int> left_{0};             // how many of them are done
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<i64> next_{0};
  Call call_ = nullptr;
  void* context_ = nullptr;
  i64 items_ = 0;
};

// Memory of the calling thread, kept between calls; a slot is valid until it is asked for again.
enum Slot { SLOT_X, SLOT_OUT, SLOT_A, SLOT_B, SLOT_C, SLOT_D, SLOT_E, SLOT_ITEM_A, SLOT_ITEM_B, SLOT_ITEM_C, SLOT_ITEM_D, SLOTS };
void* scratch(Slot slot, i64 bytes);
inline float* floats(Slot slot, i64 count) { return static_cast<float*>(scratch(slot, count * 4)); }

}  // namespace dk
