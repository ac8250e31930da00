//! Who calls a transactional memory: the most general client, given ones, all of a size, and those that go on for ever.

pub(crate) mod endless;
pub(crate) mod general;
pub(crate) mod given;
pub(crate) mod named;
pub(crate) mod space;
pub(crate) mod values;
