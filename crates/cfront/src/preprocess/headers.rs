//! The headers that come with the binary, so that no system header is needed.

/// The stub headers by name.
const STUBS: [(&str, &str); 22] = [
    ("cyrano.h", include_str!("../../headers/cyrano.h")),
    ("stdint.h", include_str!("../../headers/stdint.h")),
    ("stdbool.h", include_str!("../../headers/stdbool.h")),
    ("stddef.h", include_str!("../../headers/stddef.h")),
    ("stdlib.h", include_str!("../../headers/stdlib.h")),
    ("assert.h", include_str!("../../headers/assert.h")),
    ("limits.h", include_str!("../../headers/limits.h")),
    ("pthread.h", include_str!("../../headers/pthread.h")),
    ("genmc.h", include_str!("../../headers/genmc.h")),
    ("nidhugg.h", include_str!("../../headers/nidhugg.h")),
    ("inttypes.h", include_str!("../../headers/inttypes.h")),
    ("threads.h", include_str!("../../headers/threads.h")),
    ("stdio.h", include_str!("../../headers/stdio.h")),
    ("unistd.h", include_str!("../../headers/unistd.h")),
    ("string.h", include_str!("../../headers/string.h")),
    ("sched.h", include_str!("../../headers/sched.h")),
    ("semaphore.h", include_str!("../../headers/semaphore.h")),
    ("errno.h", include_str!("../../headers/errno.h")),
    ("time.h", include_str!("../../headers/time.h")),
    ("stdatomic.h", include_str!("../../headers/stdatomic.h")),
    ("sys/types.h", include_str!("../../headers/sys_types.h")),
    ("linux.h", include_str!("../../headers/linux.h")),
];

/// The text of a stub header.
pub fn stub(name: &str) -> Option<&'static str> {
    let name = if is_kernels(name) { "linux.h" } else { name };
    STUBS.iter().find(|(stub, _)| *stub == name).map(|(_, text)| *text)
}

/// Whether the header is one of the many over which the kernel spreads what `linux.h` has.
pub(crate) fn is_kernels(name: &str) -> bool {
    name.starts_with("linux/") || name.starts_with("asm/")
}

/// The names of the stub headers.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    STUBS.iter().map(|(name, _)| *name)
}

/// The stub header that gives a word its meaning, for the help of a syntax error or an unknown function.
pub(crate) fn header_of(word: &str) -> Option<&'static str> {
    let header = match word {
        "bool" | "true" | "false" => "stdbool.h",
        "size_t" | "ptrdiff_t" | "NULL" => "stddef.h",
        _ if crate::atomics::is_c11(word) => "stdatomic.h",
        _ if crate::atomics::is_kernels(word) => "linux.h",
        "malloc" | "calloc" | "realloc" | "free" => "stdlib.h",
        "assert" => "assert.h",
        "CHAR_BIT" | "CHAR_MIN" | "CHAR_MAX" | "SCHAR_MIN" | "SCHAR_MAX" | "UCHAR_MAX" | "SHRT_MIN" | "SHRT_MAX"
        | "USHRT_MAX" | "INT_MIN" | "INT_MAX" | "UINT_MAX" | "LONG_MIN" | "LONG_MAX" | "ULONG_MAX" | "LLONG_MIN"
        | "LLONG_MAX" | "ULLONG_MAX" => "limits.h",
        "atomic" | "cyrano_word" | "lock_t" | "lock" | "unlock" | "init_lock" | "fence" | "cas" | "dcas" | "assume"
        | "choose" | "exchange" | "fetch_add" | "atomic_begin" | "commit_point" | "atomic_end" => "cyrano.h",
        _ if (word.ends_with("_t") && (word.starts_with("int") || word.starts_with("uint"))) || is_bound(word) => {
            "stdint.h"
        }
        _ => return None,
    };
    Some(header)
}

/// Whether the word is the least or the greatest value of a type of `stdint.h`: `INT64_MIN`, `UINTPTR_MAX`.
fn is_bound(word: &str) -> bool {
    let ty = word.strip_suffix("_MIN").or_else(|| word.strip_suffix("_MAX")).unwrap_or_default();
    let kind = ty.strip_prefix("UINT").or_else(|| ty.strip_prefix("INT")).unwrap_or_default();
    ty == "SIZE" || ["8", "16", "32", "64", "PTR", "MAX"].contains(&kind)
}
