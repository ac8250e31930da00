//! What a search needs of a device: memory that is addressed by numbers, and kernels that are launched by name.

use std::fmt;

use crate::job::Job;

/// Why a device does not do what it was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// It has no memory left.
    NoMemory,
    /// There is none, or not what it takes to use it.
    Missing(String),
    /// Something else; nothing that it said can be relied on.
    Failed(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory => write!(f, "the device has no memory left"),
            Self::Missing(what) => write!(f, "{what}"),
            Self::Failed(what) => write!(f, "the device failed: {what}"),
        }
    }
}

/// What devices answer.
pub type Result<T> = std::result::Result<T, Trouble>;

/// A device. Whatever is asked for is done when a call returns; a call that takes too long fails.
pub trait Device {
    /// What it is called.
    fn name(&self) -> String;
    /// How many bytes of memory are free.
    fn free_bytes(&mut self) -> Result<u64>;
    /// Allocates so many words, whose contents say nothing.
    fn allocate(&mut self, words: u64) -> Result<u64>;
    /// Gives back what was allocated.
    fn release(&mut self, at: u64);
    /// Gives back all that was allocated.
    fn clear(&mut self);
    /// Sets words to 0.
    fn zero(&mut self, at: u64, words: u64) -> Result<()>;
    /// Writes words.
    fn write(&mut self, at: u64, words: &[u64]) -> Result<()>;
    /// Reads words.
    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<()>;
    /// Copies words that do not overlap.
    fn copy(&mut self, to: u64, from: u64, words: u64) -> Result<()>;
    /// Runs a kernel on so many lanes.
    fn launch(&mut self, kernel: &str, job: &Job, lanes: u64) -> Result<()>;
}

/// Some of a device's memory.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Buffer {
    pub at: u64,
    pub words: u64,
}

impl Buffer {
    pub fn new(device: &mut dyn Device, words: u64) -> Result<Self> {
        let words = words.max(1);
        Ok(Self { at: device.allocate(words)?, words })
    }

    /// Gives it back, if it is anything.
    pub fn release(&mut self, device: &mut dyn Device) {
        if self.words > 0 {
            device.release(self.at);
        }
        *self = Self::default();
    }

    /// Writes words to its beginning; if it is too small it becomes another one, with some room.
    pub fn fill(&mut self, device: &mut dyn Device, words: &[u64]) -> Result<()> {
        if self.words < words.len() as u64 {
            self.release(device);
            *self = Self::new(device, 2 * words.len() as u64)?;
        }
        device.write(self.at, words)
    }
}
