// The search of `cyrano_gpu` on a device: states that are expanded by remembered steps and kept in an exact table.
//
// A state is W words. The *arena* has all states in the order of their discovery, so a level of the breadth-first search is a range of it. The *table* has
// slots of 64 bits, 16 of them to a bucket of 128 bytes: 0 for none, else a tag from the state's hash and the state's number in the arena.
//
// Whoever finds an empty slot claims it by compare-and-swap with its tag and WRITING for a number; takes the next number of the arena; writes the state
// there; and publishes the number in the slot. Whoever meets its own tag waits for the publication and compares the states. Slots are looked at in an order
// that the hash determines, and never become empty again: so a state is in the first slot of this order that was empty when it came, and two who bring
// the same state meet in the same slot. There are no duplicates, and every number that was taken belongs to a state.
//
// Where there is no room for a state, the slot is LOST and the search is told that it is full. Once full, no state is stored any more; the states
// whose successors are missing are listed, and expanded again when the table was made anew.
//
// What a step does is looked up (see `memo_find`); a state with a step that is not known is listed, and expanded again when the step is known. A state
// counts its transitions when it was expanded to the end. Inserting its successors twice does no harm.
//
// This file is compiled for devices, and for the host with `host.h` in front, where blocks are run by threads.

#ifndef HOST_BUILD

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(128) name(const Job job)
#define LANE ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define LANES ((u64)gridDim.x * blockDim.x)
#define INLINE __device__ __forceinline__
// Loops whose number of rounds is not known: code that is short stays in the instruction cache.
#define NO_UNROLL _Pragma("unroll 1")

// A load that no cache of one multiprocessor answers.
INLINE u64 load(const u64 *at) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

// Behind all that this lane has written. A fence would empty the caches of the multiprocessor, too, which hold what is known about steps.
INLINE void publish(u64 *at, u64 value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
}

INLINE u64 swap_if(u64 *at, u64 expected, u64 value) { return atomicCAS(at, expected, value); }
INLINE void fence() { __threadfence(); }
INLINE void rest() { __nanosleep(20); }
INLINE u64 high(u64 a, u64 b) { return __umul64hi(a, b); }

// Adds one; one operation on memory for all lanes that are here together.
INLINE u64 next(u64 *counter) {
    u32 lanes = __activemask(), lane = threadIdx.x & 31;
    u32 leader = __ffs(lanes) - 1;
    u64 first = 0;
    if (lane == leader) first = atomicAdd(counter, (u64)__popc(lanes));
    first = __shfl_sync(lanes, first, leader);
    return first + __popc(lanes & ((1u << lane) - 1));
}

// Adds what all lanes of a warp bring. All of them must be here.
INLINE void add_all(u64 *counter, u64 value) {
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffffu, value, half);
    if ((threadIdx.x & 31) == 0 && value != 0) atomicAdd(counter, value);
}

INLINE void least(u64 *at, u64 value) { atomicMin(at, value); }
INLINE u32 exchange(u32 *at, u32 value) { return atomicExch(at, value); }
INLINE u32 peek(const u32 *at) { return *(const volatile u32 *)at; }
INLINE void store(u64 *at, u64 value) { *(volatile u64 *)at = value; }

#endif

// How many threads a program may have, and how many of a state's parts may have timestamps.
#define MOST_THREADS 64
#define MOST_TIMED 64

// The bits of a part: those of `low`, moved to `shift` in a word.
struct Field {
    u32 word, shift, low;
};

// What a launch counts, and whether it can go on.
struct Counters {
    u64 states;       // numbers of the arena that were taken
    u64 transitions;  // of states that were expanded to the end
    u64 again;        // states that were not
    u64 asks;         // states with steps that are not known, one for each step
    u64 looks;        // states to be looked at: something may be wrong, or they may be an end
    u64 ended;        // not 0 if some state has all threads done
    u64 full;         // not 0 if there is no room
    u64 stalled;      // not 0 if somebody waited too long for a publication
    u64 found;        // the smallest number of a state with the step that was looked for
    u64 bad;          // states that the table does not have in their place
};

// What a launch works with. `job.rs` has the same.
struct Job {
    u64 *arena;
    u64 *slots;
    Counters *counters;
    const u64 *memo;      // entries of W + 1 words: what is known, the key
    const u64 *changes;   // differences of W words; with forms, of W + 1: the last one is what is said
    const u64 *facts;     // entries of 3 words: a key of two, what is known
    const u64 *times;     // for each timed part and number its timestamps, in 2 words
    const u32 *images;    // for each renaming, part and number one more than the number after, or 0
    const u32 *renamings; // for each renaming and part where it comes from, where its images begin, how many there are
    const u32 *order;     // the parts in the order in which they are compared
    const Field *all;     // all parts
    const u64 *places;    // records of W + 1 words: what is known, the bits that the next step depends on
    const u64 *list;      // the states to expand, or none for a range
    u64 *again;
    u64 *asks;
    u64 *looks;
    u32 *filter;          // what was asked for
    const u64 *target;    // the state that a step is looked for to
    const Field *from;    // a layout and another one
    const Field *to;
    u64 *moved;           // an arena for the other one
    u64 capacity;         // of the arena, in states
    u64 buckets;
    u64 memo_mask;
    u64 facts_mask;
    u64 filter_mask;
    u64 first;            // a range of states
    u64 count;            // how many states there are to do
    u64 history[16];      // the bits of the history of calls
    u64 seen[16];         // the bits that an invariant depends on
    u32 words;
    u32 words_to;
    u32 parts;
    u32 threads;
    u32 groups;           // of threads that may exchange their places
    u32 options;          // bits of OPTION_
    u32 patience;         // how often somebody looks whether a slot was published
    u32 asks_room;        // how many asks there is room for
    u32 timed;            // how many parts may have timestamps
    u32 renamed;          // how many renamings there are
    u32 criterion;        // the part of what the criterion keeps
    u32 unused;
    u32 timed_part[MOST_TIMED];
    u32 timed_base[MOST_TIMED];
    u32 timed_count[MOST_TIMED];
    u32 place_base[MOST_THREADS];
    u32 place_count[MOST_THREADS];
    u32 group_end[MOST_THREADS];
    Field field[MOST_THREADS];   // of the threads
    Field member[MOST_THREADS];  // of the threads of the groups
};

#define OPTION_MOMENTS 1u     // states are judged by what an invariant sees
#define OPTION_LOOK_DONE 2u   // states with all threads done are looked at
#define FAULT_NO_COMPARE 256u // deliberate bugs, for tests
#define FAULT_NO_RETRY 512u
#define FAULT_HOLES 1024u
#define OPTION_FEW_TAGS 2048u // for tests, so that different states have the same tag

#define PLACE_KNOWN 1u
#define PLACE_DONE 2u

#define ENTRY_KNOWN 1u
#define ENTRY_WRONG 2u
#define ENTRY_SPEAKS 4u

#define BUCKET 16
#define MOST_BUCKETS 64
#define NUMBER_BITS 40
#define NUMBERS ((1ull << NUMBER_BITS) - 1)
#define WRITING NUMBERS
#define LOST (NUMBERS - 1)

template <int W> struct State {
    u64 word[W];
};

template <int W> INLINE u32 get(const State<W> &state, const Field &field) {
    u64 word = state.word[0];
#pragma unroll
    for (int i = 1; i < W; i++) word = field.word == (u32)i ? state.word[i] : word;
    return (u32)(word >> field.shift) & field.low;
}

template <int W> INLINE void put(State<W> &state, const Field &field, u32 number) {
    u64 mask = (u64)field.low << field.shift, bits = (u64)number << field.shift;
#pragma unroll
    for (int i = 0; i < W; i++) state.word[i] = field.word == (u32)i ? (state.word[i] & ~mask) | bits : state.word[i];
}

template <int W> INLINE bool same(const State<W> &one, const State<W> &other) {
    u64 different = 0;
#pragma unroll
    for (int i = 0; i < W; i++) different |= one.word[i] ^ other.word[i];
    return different == 0;
}

template <int W> INLINE State<W> and_(const State<W> &state, const u64 *mask) {
    State<W> result;
#pragma unroll
    for (int i = 0; i < W; i++) result.word[i] = state.word[i] & mask[i];
    return result;
}

// States of the arena are read past caches that may be stale.
template <int W> INLINE State<W> fetch(const u64 *at) {
    State<W> state;
#pragma unroll
    for (int i = 0; i < W; i++) state.word[i] = load(at + i);
    return state;
}

INLINE u64 spread(u64 hash) {
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    return hash ^ (hash >> 32);
}

template <int W> INLINE u64 hash_of(const State<W> &state) {
    u64 hash = 0x9e3779b97f4a7c15ull;
#pragma unroll
    for (int i = 0; i < W; i++) {
        hash = (hash ^ state.word[i]) * 0x9fb21c651e98df25ull;
        hash ^= hash >> 29;
    }
    return spread(hash);
}

// The slots in which a state may be, in order: those of its bucket, and of the next ones.
struct Probe {
    u64 bucket, tag;
    u32 at, seen;

    INLINE Probe(u64 hash, const Job &job) {
        bucket = high(hash, job.buckets);
        // No tag is 0, so that no slot with one is empty.
        tag = ((hash >> 4 & (job.options & OPTION_FEW_TAGS ? 6 : 0xffffff)) | 1) << NUMBER_BITS;
        at = (u32)hash & (BUCKET - 1);
        seen = 0;
    }

    INLINE u64 slot() const { return bucket * BUCKET + at; }

    // Goes on to the next one; false if these are too many buckets, or all.
    INLINE bool advance(u64 buckets, u64 most) {
        seen++;
        at = (at + 1) & (BUCKET - 1);
        if (seen % BUCKET == 0) {
            bucket = bucket + 1 == buckets ? 0 : bucket + 1;
            return seen < BUCKET * most && seen < BUCKET * buckets;
        }
        return true;
    }
};

// Waits until a slot with this tag says where its state is.
INLINE u64 published(const Job &job, const u64 *slot, u64 value) {
NO_UNROLL
    for (u32 looks = 0; (value & NUMBERS) == WRITING; looks++) {
        if (looks >= job.patience) {
            store(&job.counters->stalled, 1);
            return (value & ~NUMBERS) | LOST;
        }
        if (looks > 16) rest();
        value = load(slot);
    }
    return value;
}

// Whether the arena has a state at a number that was published.
template <int W> INLINE bool is_at(const Job &job, u64 number, const State<W> &state) {
    if (job.options & FAULT_NO_COMPARE) return true;
    if (same(fetch<W>(job.arena + number * W), state)) return true;
    // Nearly always another state with the same tag. That it is not this one, written but not seen here yet, only a fence can say.
    fence();
    return same(fetch<W>(job.arena + number * W), state);
}

// Inserts a state; false if there was no room for it.
template <int W> INLINE bool insert(const Job &job, const State<W> &state) {
    Probe probe(hash_of(state), job);
NO_UNROLL
    while (true) {
        u64 *slot = job.slots + probe.slot();
        u64 value = load(slot);
        if (value == 0) {
            value = swap_if(slot, 0, probe.tag | WRITING);
            if (value == 0) {
                u64 number = next(&job.counters->states);
                if (number >= job.capacity) {
                    publish(slot, probe.tag | LOST);
                    break;
                }
                u64 *at = job.arena + number * W;
#pragma unroll
                for (int i = 0; i < W; i++) store(at + i, state.word[i]);
                publish(slot, probe.tag | number);
                return true;
            }
        }
        if ((value & ~NUMBERS) == probe.tag) {
            u64 number = published(job, slot, value) & NUMBERS;
            if (number == LOST) break;
            if (is_at<W>(job, number, state)) return true;
        }
        if (!probe.advance(job.buckets, MOST_BUCKETS)) break;
    }
    store(&job.counters->full, 1);
    return false;
}

// What the steps from a key do: flags, the thread, how many changes there are and where. 0 if that is not known.
template <int W> INLINE u64 memo_find(const Job &job, const State<W> &key, u32 thread) {
    u64 hash = thread * 0x9e3779b97f4a7c15ull;
#pragma unroll
    for (int i = 0; i < W; i++) {
        hash = (hash ^ key.word[i]) * 0x9fb21c651e98df25ull;
        hash ^= hash >> 32;
    }
NO_UNROLL
    for (u64 at = hash & job.memo_mask;; at = (at + 1) & job.memo_mask) {
        const u64 *entry = job.memo + at * (W + 1);
        u64 known = entry[0];
        if (known == 0) return 0;
        u64 different = (known >> 8 & 0xff) ^ thread;
#pragma unroll
        for (int i = 0; i < W; i++) different |= entry[1 + i] ^ key.word[i];
        if (different == 0) return known;
    }
}

// Sorts the numbers of threads that may exchange their places.
template <int W> INLINE void sort(const Job &job, State<W> &state) {
    u32 start = 0;
NO_UNROLL
    for (u32 group = 0; group < job.groups; group++) {
NO_UNROLL
        for (u32 end = start + 1; end < job.group_end[group]; end++) {
            u32 number = get(state, job.member[end]), at = end;
NO_UNROLL
            for (; at > start; at--) {
                u32 before = get(state, job.member[at - 1]);
                if (before <= number) break;
                put(state, job.member[at], before);
            }
            if (at != end) put(state, job.member[at], number);
        }
        start = job.group_end[group];
    }
}

// Notes that something has to be asked for, about once in a launch. The hash is that of what is not known; whoever finds that it was asked for comes again.
INLINE void ask(const Job &job, u64 hash, u64 number) {
    u32 mark = (u32)(hash >> 32) | 1, *asked = job.filter + (hash & job.filter_mask);
    if (peek(asked) == mark || exchange(asked, mark) == mark) return;
    u64 at = next(&job.counters->asks);
    if (at < job.asks_room) job.asks[at] = number;
}

template <int W> INLINE u64 hash_of_key(const State<W> &key, u32 thread) {
    return spread(hash_of(key) + thread * 0x9e3779b97f4a7c15ull);
}

// What is found out about a state while its steps are taken.
struct Found {
    u64 steps;
    bool done, again, look, dropped;
};

// Kinds of facts; those about sets of timestamps have KNOWN in their second word. Timestamps and images are not in this table, but can be unknown, too.
#define FACT_TIMES 4ull
#define FACT_IMAGE 5ull
#define FACT_HEARD 1ull
#define FACT_RANKED 2ull
#define FACT_GAPS 3ull
#define KNOWN (1ull << 63)

#define HEARD_KEEPS 1u
#define HEARD_WRONG 2u
#define HEARD_DROPPED 3u

INLINE u64 hash_of_fact(u64 first, u64 second) {
    u64 hash = (first * 0x9fb21c651e98df25ull) ^ second;
    return spread(hash * 0x9e3779b97f4a7c15ull);
}

// What is known by a key; 0 if nothing is, and then the hash of what is not known.
INLINE u64 fact_find(const Job &job, u64 first, u64 second, u64 &unknown) {
    u64 hash = hash_of_fact(first, second);
NO_UNROLL
    for (u64 at = hash & job.facts_mask;; at = (at + 1) & job.facts_mask) {
        const u64 *entry = job.facts + at * 3;
        if (entry[2] == 0) {
            unknown = hash | 1;
            return 0;
        }
        if (entry[0] == first && entry[1] == second) return entry[2];
    }
}

#define IS_RANKED 1u
#define RANKING_KNOWN 2u

// A set of timestamps, and what is known about it: its number, above two bits about its ranking. 0 if nothing is.
struct Times {
    u64 low, high, known;
};

// The timestamps of a state; false if something is not known.
template <int W> INLINE bool times_of(const Job &job, const State<W> &state, Times &times, u64 &unknown) {
    u64 low = 0, high = 0;
    bool all = true;
NO_UNROLL
    for (u32 i = 0; i < job.timed; i++) {
        u32 number = get(state, job.all[job.timed_part[i]]);
        const u64 *known = job.times + 2 * ((u64)job.timed_base[i] + number);
        bool is = number < job.timed_count[i] && known[1] != 0;
        all &= is;
        if (is) low |= known[0], high |= known[1];
        else unknown = hash_of_fact((u64)i << 8 | FACT_TIMES, number) | 1;
    }
    if (!all) return false;
    if (low != times.low || high != times.high) {
        times.low = low;
        times.high = high;
        times.known = fact_find(job, low, high, unknown);
    }
    if (times.known == 0) unknown = hash_of_fact(low, high) | 1;
    return times.known != 0;
}

// Ranks the timestamps of a state; false if something is not known.
template <int W> INLINE bool rank(const Job &job, State<W> &state, Times &times, u64 &unknown) {
    if (job.timed == 0) return true;
    if (!times_of(job, state, times, unknown)) return false;
    if ((times.known & RANKING_KNOWN) == 0) {
        unknown = hash_of_fact(times.low, times.high) | 1;
        return false;
    }
    if ((times.known & IS_RANKED) == 0) return true;
    State<W> ranked = state;
NO_UNROLL
    for (u32 i = 0; i < job.timed; i++) {
        u32 part = job.timed_part[i], number = get(state, job.all[part]);
        const u64 *known = job.times + 2 * ((u64)job.timed_base[i] + number);
        if (known[0] == 0 && known[1] == KNOWN) continue;
        u64 to = fact_find(job, (times.known >> 2) << 8 | FACT_RANKED, (u64)part << 32 | number, unknown);
        if (to == 0) return false;
        put(ranked, job.all[part], (u32)to - 1);
    }
    state = ranked;
    return true;
}

// What becomes of a part under a renaming, one more than its number; 0 if that is not known.
template <int W> INLINE u32 image(const Job &job, const State<W> &state, const u32 *renaming, u32 part) {
    const u32 *of = renaming + 3 * part;
    u32 number = get(state, job.all[of[0]]);
    return number < of[2] ? job.images[of[1] + number] : 0;
}

// Takes the renaming of a state that stands for all; false if something is not known.
template <int W> INLINE bool rename(const Job &job, State<W> &state, u64 &unknown) {
    State<W> best = state;
NO_UNROLL
    for (u32 at = 0; at < job.renamed; at++) {
        const u32 *renaming = job.renamings + 3 * (u64)at * job.parts;
        bool smaller = false;
NO_UNROLL
        for (u32 i = 0; i < job.parts; i++) {
            u32 part = job.order[i], to = image(job, state, renaming, part);
            if (to == 0) {
                u32 from = renaming[3 * part];
                unknown = hash_of_fact((u64)at << 32 | from << 8 | FACT_IMAGE, get(state, job.all[from])) | 1;
                return false;
            }
            if (!smaller) {
                u32 number = get(best, job.all[part]);
                if (to - 1 > number) break;
                smaller = to - 1 < number;
            }
            // Up to here both are the same.
            if (smaller) put(best, job.all[part], to - 1);
        }
    }
    state = best;
    return true;
}

// What a criterion makes of a step, and the form of the state behind it; false if there is no state to visit. What is not known has a hash, which is not 0.
template <int W> INLINE bool form(const Job &job, State<W> &next, u64 said, Times &times, Found &found, u64 &unknown) {
    if (said != 0) {
        u32 kept = get(next, job.all[job.criterion]);
        u64 heard = fact_find(job, said << 32 | kept, FACT_HEARD, unknown);
        if ((heard >> 32) == HEARD_KEEPS) {
            put(next, job.all[job.criterion], (u32)heard);
        } else if ((heard >> 32) == HEARD_DROPPED) {
            found.steps--;
            found.dropped = true;
            return false;
        } else {
            found.look |= heard != 0;
            return false;
        }
    }
    return rank(job, next, times, unknown) && rename(job, next, unknown);
}

// Visits the successors of a state. F says whether states have forms of their own, or a criterion listens.
template <int W, bool F, class Visit>
INLINE Found successors(const Job &job, const State<W> &state, u64 number, Visit &visit) {
    Found found = {0, true, false, false, false};
    Times times = {0, 0, 0};  // no set has 0 for its second word
    const u32 stride = W + (F ? 1 : 0);
NO_UNROLL
    for (u32 thread = 0; thread < job.threads; thread++) {
        u32 part = get(state, job.field[thread]);
        const u64 *place = job.places + (u64)(job.place_base[thread] + part) * (W + 1);
        u32 about = part < job.place_count[thread] ? (u32)place[0] : 0;
        if (about == 0) {
            State<W> key = {};
            put(key, job.field[thread], part);
            ask(job, hash_of_key(key, thread), number);
            found.again = true;
            continue;
        }
        found.done &= (about & PLACE_DONE) != 0;
        State<W> key = and_<W>(state, place + 1);
        u64 entry = memo_find<W>(job, key, thread);
        if (!F && (entry & ENTRY_SPEAKS)) {
#pragma unroll
            for (int i = 0; i < W; i++) key.word[i] |= state.word[i] & job.history[i];
            entry = memo_find<W>(job, key, MOST_THREADS + thread);
        }
        if (entry == 0) {
            ask(job, hash_of_key(key, thread), number);
            found.again = true;
            continue;
        }
        u32 changes = (u32)(entry >> 16) & 0xffff;
        const u64 *change = job.changes + (entry >> 32) * stride;
        found.steps += changes;
        u64 unknown = 0;
NO_UNROLL
        for (u32 i = 0; i < changes; i++, change += stride) {
            State<W> next;
#pragma unroll
            for (int k = 0; k < W; k++) next.word[k] = state.word[k] ^ change[k];
            if (F && !form(job, next, change[W], times, found, unknown)) {
                if (unknown != 0) ask(job, unknown, number), found.again = true;
                unknown = 0;
                continue;
            }
            if (same(next, state)) continue;
            if (!F && job.groups != 0) sort(job, next);
            found.again |= !visit(next);
        }
        if (F && (change[0] >> 32) != 0) {
            // Something is added to timestamps: whether gaps above them get lost is a matter of all timestamps.
            bool known = times_of(job, state, times, unknown);
            if (known) fact_find(job, (times.known >> 2) << 8 | FACT_GAPS, change[0] >> 32, unknown);
            if (unknown != 0) ask(job, unknown, number), found.again = true;
        }
        if (entry & ENTRY_WRONG) {
            // Steps in which something goes wrong lead nowhere, but they are steps.
            found.steps += (u32)change[0];
            found.look = true;
        }
    }
    if (job.options & OPTION_MOMENTS) {
        State<W> key = and_<W>(state, job.seen);
        if (memo_find<W>(job, key, 2 * MOST_THREADS) == 0) {
            ask(job, hash_of_key(key, 2 * MOST_THREADS), number);
            found.again = true;
        }
    }
    return found;
}

template <int W> struct Insert {
    const Job &job;
    INLINE bool operator()(const State<W> &state) const { return insert<W>(job, state); }
};

// Expands a range of states, or those of a list.
template <int W, bool F> INLINE void expand(const Job &job) {
    u64 transitions = 0;
    Insert<W> visit = {job};
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        u64 number = job.list ? job.list[i] : job.first + i;
        Found found = {0, true, true, false, false};
        if (load(&job.counters->full) == 0) {
            State<W> state = fetch<W>(job.arena + number * W);
            found = successors<W, F>(job, state, number, visit);
        }
        if (found.again && !(job.options & FAULT_NO_RETRY)) {
            job.again[next(&job.counters->again)] = number;
            continue;
        }
        transitions += found.steps;
        bool stuck = found.steps == 0 && !found.done && !found.dropped;
        bool done = found.done && (job.options & OPTION_LOOK_DONE);
        if (found.done) store(&job.counters->ended, 1);
        if (found.look || stuck || done) job.looks[next(&job.counters->looks)] = number;
    }
    add_all(&job.counters->transitions, transitions);
}

template <int W> struct Compare {
    State<W> target;
    bool met;
    INLINE bool operator()(const State<W> &state) {
        met |= same(state, target);
        return true;
    }
};

// Finds the first state of a range with a step to the target.
template <int W, bool F> INLINE void scan(const Job &job) {
    Compare<W> visit = {fetch<W>(job.target), false};
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        u64 number = job.first + i;
        visit.met = false;
        successors<W, F>(job, fetch<W>(job.arena + number * W), number, visit);
        if (visit.met) least(&job.counters->found, number);
    }
}

// Puts the states of a range, which are different ones, into a table that does not have them. One that lands far off is not found by whoever inserts it again;
// then the table is full.
template <int W> INLINE void rebuild(const Job &job) {
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        u64 number = job.first + i;
        if ((job.options & FAULT_HOLES) && number % 64 == 63) continue;
        Probe probe(hash_of(fetch<W>(job.arena + number * W)), job);
        while (load(job.slots + probe.slot()) != 0 || swap_if(job.slots + probe.slot(), 0, probe.tag | number) != 0) {
            if (!probe.advance(job.buckets, job.buckets)) {
                store(&job.counters->full, 1);
                break;
            }
        }
    }
}

// Counts the states of a range that the table does not have where the arena has them.
template <int W> INLINE void audit(const Job &job) {
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        u64 number = job.first + i;
        State<W> state = fetch<W>(job.arena + number * W);
        Probe probe(hash_of(state), job);
        bool good = false;
        while (true) {
            u64 value = load(job.slots + probe.slot());
            if (value == 0) break;
            u64 other = value & NUMBERS;
            if ((value & ~NUMBERS) == probe.tag && other < job.capacity) {
                good = other == number;
                if (good || same(fetch<W>(job.arena + other * W), state)) break;
            }
            if (!probe.advance(job.buckets, job.buckets)) break;
        }
        if (!good) next(&job.counters->bad);
    }
}

#define FOR_WORDS(W) KERNELS(W)
#define KERNELS(W)                                    \
    KERNEL(expand_##W) { expand<W, false>(job); }     \
    KERNEL(scan_##W) { scan<W, false>(job); }         \
    KERNEL(expand_forms_##W) { expand<W, true>(job); } \
    KERNEL(scan_forms_##W) { scan<W, true>(job); }    \
    KERNEL(rebuild_##W) { rebuild<W>(job); }          \
    KERNEL(audit_##W) { audit<W>(job); }

// For a device, the kernels of one width are a module.
#ifdef WORDS
FOR_WORDS(WORDS)
#else
FOR_WORDS(1)
FOR_WORDS(2)
FOR_WORDS(3)
FOR_WORDS(4)
FOR_WORDS(6)
FOR_WORDS(8)
FOR_WORDS(12)
FOR_WORDS(16)
#endif

// Copies the states of a list.
KERNEL(gather) {
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        const u64 *state = job.arena + job.list[i] * job.words;
NO_UNROLL
        for (u32 word = 0; word < job.words; word++) job.moved[i * job.words + word] = state[word];
    }
}

// Gives states another layout, in place if they keep their length.
KERNEL(relayout) {
NO_UNROLL
    for (u64 i = LANE; i < job.count; i += LANES) {
        const u64 *old = job.arena + i * job.words;
        u64 words[16] = {};
NO_UNROLL
        for (u32 part = 0; part < job.parts; part++) {
            Field from = job.from[part], to = job.to[part];
            u64 number = (u32)(old[from.word] >> from.shift) & from.low;
            words[to.word] |= number << to.shift;
        }
NO_UNROLL
        for (u32 word = 0; word < job.words_to; word++) job.moved[i * job.words_to + word] = words[word];
    }
}
