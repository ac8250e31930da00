//! This machine's processor as a device: the kernels' source compiled for it (`kernels/host.cpp`), some threads, and memory of this process.
//!
//! It is how the search is tested where there is no GPU. It does the same in the same order, with threads for blocks.

use std::path::Path;

use libloading::Library;
use rustc_hash::FxHashMap;

use crate::device::{Device, Result, Trouble};
use crate::job::Job;

type Launch = unsafe extern "C" fn(*const std::ffi::c_char, *const Job, u64, u32) -> i32;

/// The processor.
#[derive(Debug)]
pub struct Host {
    library: Library,
    threads: u32,
    memory: u64,
    used: u64,
    allocated: FxHashMap<u64, Vec<u64>>,
    /// How many more launches there are before it fails, if it is to.
    pub fails_after: Option<u64>,
    /// Whether what it says of the states is to be wrong then, instead.
    pub lies: bool,
}

impl Host {
    /// A device with so many threads and so many bytes of memory, by a library that was compiled from the kernels.
    pub fn open(library: &Path, threads: u32, memory: u64) -> Result<Self> {
        let failed = |error: libloading::Error| Trouble::Missing(error.to_string());
        // SAFETY: the library was compiled from the kernels, and has no initialisers but the standard library's.
        let library = unsafe { Library::new(library) }.map_err(failed)?;
        // SAFETY: it has the type that `host.cpp` says.
        let bytes = unsafe { library.get::<unsafe extern "C" fn() -> u64>("job_bytes").map_err(failed)?() };
        if bytes != size_of::<Job>() as u64 {
            return Err(Trouble::Failed(format!("its jobs have {bytes} bytes, not {}", size_of::<Job>())));
        }
        let allocated = FxHashMap::default();
        Ok(Self { library, threads, memory, used: 0, allocated, fails_after: None, lies: false })
    }

    /// Some of what was allocated.
    fn part(&mut self, at: u64, words: u64) -> &mut [u64] {
        let start = at - at % 8;
        let inside = |(from, block): &(&u64, &mut Vec<u64>)| **from <= start && start < **from + 8 * block.len() as u64;
        let (from, block) = self.allocated.iter_mut().find(inside).expect("it was allocated");
        let first = ((start - from) / 8) as usize;
        &mut block[first..first + words as usize]
    }

    fn fails(&mut self) -> bool {
        match &mut self.fails_after {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}

impl Device for Host {
    fn name(&self) -> String {
        format!("this machine's processor, {} threads", self.threads)
    }

    fn free_bytes(&mut self) -> Result<u64> {
        Ok(self.memory - self.used)
    }

    fn allocate(&mut self, words: u64) -> Result<u64> {
        if self.used + 8 * words > self.memory {
            return Err(Trouble::NoMemory);
        }
        self.used += 8 * words;
        // What is allocated says nothing: certainly not zeros.
        let block = vec![0xa5a5_a5a5_a5a5_a5a5; words as usize];
        let at = block.as_ptr() as u64;
        self.allocated.insert(at, block);
        Ok(at)
    }

    fn release(&mut self, at: u64) {
        let block = self.allocated.remove(&at).expect("what is released was allocated");
        self.used -= 8 * block.len() as u64;
    }

    fn clear(&mut self) {
        self.allocated.clear();
        self.used = 0;
    }

    fn zero(&mut self, at: u64, words: u64) -> Result<()> {
        self.part(at, words).fill(0);
        Ok(())
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<()> {
        if !words.is_empty() {
            self.part(at, words.len() as u64).copy_from_slice(words);
        }
        Ok(())
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<()> {
        words.copy_from_slice(self.part(at, words.len() as u64));
        Ok(())
    }

    fn copy(&mut self, to: u64, from: u64, words: u64) -> Result<()> {
        if words > 0 {
            let copied = self.part(from, words).to_vec();
            self.part(to, words).copy_from_slice(&copied);
        }
        Ok(())
    }

    fn launch(&mut self, kernel: &str, job: &Job, lanes: u64) -> Result<()> {
        let fails = self.fails();
        if fails && !self.lies {
            return Err(Trouble::Failed("it was unplugged".to_owned()));
        }
        let name = std::ffi::CString::new(kernel).map_err(|_| Trouble::Failed(format!("no kernel `{kernel}`")))?;
        // SAFETY: it has the type that `host.cpp` says, and a kernel writes only where the job's addresses lead, into what is allocated here.
        let known = unsafe {
            let launch = self.library.get::<Launch>("launch").map_err(|error| Trouble::Failed(error.to_string()))?;
            launch(name.as_ptr(), job, lanes, self.threads)
        };
        if known == 0 {
            return Err(Trouble::Failed(format!("no kernel `{kernel}`")));
        }
        if fails && kernel.starts_with("expand") {
            // One bit of one slot.
            let slots = self.part(job.slots, 16 * job.buckets);
            let spoilt = slots.iter_mut().find(|slot| **slot != 0).expect("there are states");
            *spoilt ^= 1 << 45;
            self.fails_after = None;
        }
        Ok(())
    }
}
