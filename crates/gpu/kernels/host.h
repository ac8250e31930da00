// Stands in front of `search.cu` where it is compiled for the host: a launch is done by some threads, which take blocks of lanes in turn and run one lane
// after the other.
//
// A lane that waits for a slot to be published waits for another thread, which is in the middle of an insertion and needs nobody to get on.

#define HOST_BUILD

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

static thread_local u64 host_lane = 0, host_lanes = 1;

struct Job;
typedef void (*HostKernel)(const Job &);

#define KERNEL(name) static void name(const Job &job)
#define LANE host_lane
#define LANES host_lanes
#define INLINE inline
#define NO_UNROLL

static inline u64 load(const u64 *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static inline void publish(u64 *at, u64 value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
static inline u64 swap_if(u64 *at, u64 expected, u64 value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
}
static inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void rest() { std::this_thread::yield(); }
static inline u64 high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline u64 next(u64 *counter) { return __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL); }
static inline void add_all(u64 *counter, u64 value) { __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL); }
static inline void least(u64 *at, u64 value) {
    u64 old = load(at);
    while (value < old && !__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}
static inline u32 exchange(u32 *at, u32 value) { return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }
static inline u32 peek(const u32 *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
static inline void store(u64 *at, u64 value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
