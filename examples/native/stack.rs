//! Treiber's stack with hazard pointers: who pops says which node it looks at, and nobody frees that one.
//!
//! **The mistake:** after it has said so, it does not look whether the node is still the top. Then it may be freed already, since whoever freed it did not see the hazard pointer.
//!
//! To free a node is to write to it here: a thread that still reads it is found as a race. Memory is given back when all is over, so that the wrong stack can be looked at.

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cyrano_loom::sync::atomic::{AtomicUsize, fence};
use cyrano_loom::thread;

const NONE: usize = usize::MAX;
const NODES: usize = 2;

/// Nodes by number.
struct Stack {
    /// Of each node the value, nothing once it is freed, and the next one.
    nodes: [UnsafeCell<(Option<u32>, usize)>; NODES],
    top: AtomicUsize,
    /// The node that each of two threads looks at.
    hazards: [AtomicUsize; 2],
    looks_again: bool,
}

// SAFETY: nodes are written before they are published and after nobody looks at them any more.
unsafe impl Sync for Stack {}
// SAFETY: as above.
unsafe impl Send for Stack {}

impl Stack {
    fn new(looks_again: bool) -> Self {
        let nodes = std::array::from_fn(|number| {
            let next = if number == 0 { NONE } else { number - 1 };
            UnsafeCell::new((Some(number as u32), next))
        });
        let hazards = std::array::from_fn(|_| AtomicUsize::new(NONE));
        Self { nodes, top: AtomicUsize::new(NODES - 1), hazards, looks_again }
    }

    fn pop(&self, own: usize) -> Option<u32> {
        let top = loop {
            let top = self.top.load(Acquire);
            if top == NONE {
                return None;
            }
            // `Release`, as it is also seen by who frees the node that this thread looked at before.
            self.hazards[own].store(top, Release);
            fence(SeqCst);
            if self.looks_again && self.top.load(Acquire) != top {
                continue;
            }
            // SAFETY: nobody frees the node.
            let (_, next) = self.nodes[top].with(|node| unsafe { *node });
            if self.top.compare_exchange(top, next, SeqCst, Relaxed).is_ok() {
                break top;
            }
        };
        // SAFETY: the node was taken off by this thread.
        let value = self.nodes[top].with(|node| unsafe { (*node).0 });
        self.hazards[own].store(NONE, Release);
        fence(SeqCst);
        if self.hazards[1 - own].load(Acquire) != top {
            // SAFETY: nobody looks at the node, and nobody will: it is not in the stack.
            self.nodes[top].with_mut(|node| unsafe { (*node).0 = None });
        }
        Some(value.expect("a node that is not freed"))
    }
}

fn test(looks_again: bool) -> impl Fn() + Send + Sync {
    move || {
        let stack = Arc::new(Stack::new(looks_again));
        let other = stack.clone();
        let thread = thread::spawn(move || other.pop(1));
        let own = stack.pop(0);
        assert_ne!(thread.join().unwrap(), own, "each is popped once");
    }
}

#[test]
fn a_stack_is_right() {
    crate::is_right(test(true));
}

#[test]
fn a_node_that_is_freed_is_found() {
    crate::is_wrong(test(false), &["data race: ", "stack.rs"]);
}
