//! A dataflow that is nothing but a loop: what a worker sends at time `t` arrives where it is for at time `t + 1`.
//!
//! The work is done outside of the dataflow, by code that borrows what it works on; the one operator only moves batches between
//! the network and a [`Mailbox`]. Whoever holds the capability for a time may send at it, and as long as somebody holds it, or a
//! batch is under way, nobody's frontier passes the time behind it: that is how levels end, and how everybody learns that nothing is
//! left to do.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::scheduling::Activator;
use timely::worker::Worker;

use crate::batch::{Batch, Route};

/// A worker's end of the loop.
pub(crate) struct Mailbox {
    shared: Rc<RefCell<Shared>>,
    activator: Activator,
}

#[derive(Default)]
struct Shared {
    inbox: VecDeque<(u64, Batch)>,
    outbox: Vec<(Capability<u64>, Batch)>,
    capabilities: BTreeMap<u64, Capability<u64>>,
    /// The earliest time that may still arrive; `None` if nothing will.
    frontier: Option<u64>,
}

impl Mailbox {
    /// Builds the dataflow. Every worker has to do so in the same order, and starts with the capability for time 0.
    pub fn new(worker: &mut Worker) -> Self {
        let shared = Rc::new(RefCell::new(Shared { frontier: Some(0), ..Shared::default() }));
        let inside = Rc::clone(&shared);
        let activator = worker.dataflow::<u64, _, _>(|scope| {
            let (handle, stream) = scope.feedback::<Batch>(1);
            let mut activator = None;
            let looped = stream.unary_frontier::<CapacityContainerBuilder<Batch>, _, _, _>(
                DistributorPact(|_| Route),
                "exchange",
                |capability, info| {
                    inside.borrow_mut().capabilities.insert(0, capability);
                    activator = Some(scope.activator_for(Rc::clone(&info.address)));
                    move |(input, frontier), output| {
                        let shared = &mut *inside.borrow_mut();
                        input.for_each(|time, batch| {
                            shared.capabilities.entry(*time.time()).or_insert_with(|| time.retain(0));
                            shared.inbox.push_back((*time.time(), std::mem::take(batch)));
                        });
                        for (capability, mut batch) in shared.outbox.drain(..) {
                            output.session(&capability).give_container(&mut batch);
                        }
                        shared.frontier = frontier.frontier().first().copied();
                    }
                },
            );
            looped.connect_loop(handle);
            activator.expect("the operator was built")
        });
        Self { shared, activator }
    }

    /// The capability for a time, if it is held.
    pub fn capability(&self, time: u64) -> Option<Capability<u64>> {
        self.shared.borrow().capabilities.get(&time).cloned()
    }

    /// Any capability.
    pub fn any_capability(&self) -> Option<Capability<u64>> {
        self.shared.borrow().capabilities.values().next().cloned()
    }

    /// Holds a capability for its time.
    pub fn hold(&self, capability: Capability<u64>) {
        let time = *capability.time();
        self.shared.borrow_mut().capabilities.entry(time).or_insert(capability);
    }

    /// Gives up the capabilities up to a time, that one included.
    pub fn give_up(&self, time: u64) {
        let capabilities = &mut self.shared.borrow_mut().capabilities;
        let before = capabilities.len();
        capabilities.retain(|held, _| *held > time);
        // An operator that is activated for nothing keeps its worker from sleeping.
        if capabilities.len() < before {
            self.activator.activate();
        }
    }

    /// Sends a batch at a time for which there is a capability.
    pub fn send(&self, capability: &Capability<u64>, batch: Batch) {
        self.shared.borrow_mut().outbox.push((capability.clone(), batch));
        self.activator.activate();
    }

    /// The next batch of a time up to this one.
    pub fn receive(&self, until: u64) -> Option<Batch> {
        let inbox = &mut self.shared.borrow_mut().inbox;
        let at = inbox.iter().position(|(time, _)| *time <= until)?;
        inbox.remove(at).map(|(_, batch)| batch)
    }

    /// Whether everything of this time has arrived.
    pub fn is_past(&self, time: u64) -> bool {
        self.shared.borrow().frontier.is_none_or(|frontier| frontier > time)
    }

    /// Whether nothing will arrive any more.
    pub fn is_over(&self) -> bool {
        self.shared.borrow().frontier.is_none()
    }
}
