// The kernels of `search.cu` as a library for the host.

#include "host.h"
#include "search.cu"

struct Named {
    const char *name;
    HostKernel kernel;
};

#define NAMES(W) {"expand_" #W, expand_##W}, {"scan_" #W, scan_##W}, {"expand_forms_" #W, expand_forms_##W}, {"scan_forms_" #W, scan_forms_##W}, \
                 {"rebuild_" #W, rebuild_##W}, {"audit_" #W, audit_##W},

static const Named kernels[] = {
    NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(6) NAMES(8) NAMES(12) NAMES(16){"gather", gather}, {"relayout", relayout},
};

// Runs a kernel with so many threads; 0 if there is none with this name. Lanes come in blocks of 32, so that each lane does one piece of work.
extern "C" int launch(const char *name, const Job *job, u64 lanes, u32 threads) {
    for (const Named &named : kernels) {
        if (std::strcmp(named.name, name) != 0) continue;
        std::atomic<u64> block(0);
        auto work = [&]() {
            host_lanes = lanes;
            for (u64 first; (first = 32 * block++) < lanes;) {
                for (host_lane = first; host_lane < first + 32 && host_lane < lanes; host_lane++) named.kernel(*job);
            }
        };
        std::vector<std::thread> others;
        for (u32 i = 1; i < threads; i++) others.emplace_back(work);
        work();
        for (std::thread &other : others) other.join();
        return 1;
    }
    return 0;
}

extern "C" u64 job_bytes() { return sizeof(Job); }
