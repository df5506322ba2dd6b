// An operator of the user's; the declaration is that of c10/core/thread_pool.h.
namespace c10 {
struct TaskThreadPoolBase {
  static unsigned long defaultNumThreads();
};
}

extern "C" int threads() { return c10::TaskThreadPoolBase::defaultNumThreads() > 0; }
