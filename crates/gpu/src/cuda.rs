//! A GPU, through CUDA's driver, which is loaded when it is wanted.
//!
//! The kernels of one width of states are a module of their own. It is compiled by NVRTC where that is installed, for the device that is there; else, or
//! where that fails, the driver compiles the PTX that is part of this program. `kernels/ptx.sh` makes it from the source.
//!
//! A launch is waited for with a time limit, after which the device counts as lost: nobody waits for a kernel that does not end.

use std::ffi::{CString, c_void};
use std::ptr::addr_of;
use std::time::{Duration, Instant};

use cudarc::driver::DriverError;
use cudarc::driver::result::{self, ctx, device, module, primary_ctx};
use cudarc::driver::sys::{self, CUdevice_attribute, CUfunction, CUmodule, CUresult};
use cudarc::nvrtc;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::device::{Device, Result, Trouble};
use crate::job::Job;

/// The source of the kernels.
pub const SOURCE: &str = include_str!("../kernels/search.cu");

/// The same in PTX, for each width.
pub const PTX: [(u32, &str); 8] = [
    (1, include_str!("../kernels/ptx/search_1.ptx")),
    (2, include_str!("../kernels/ptx/search_2.ptx")),
    (3, include_str!("../kernels/ptx/search_3.ptx")),
    (4, include_str!("../kernels/ptx/search_4.ptx")),
    (6, include_str!("../kernels/ptx/search_6.ptx")),
    (8, include_str!("../kernels/ptx/search_8.ptx")),
    (12, include_str!("../kernels/ptx/search_12.ptx")),
    (16, include_str!("../kernels/ptx/search_16.ptx")),
];

/// How long a launch may take. A chunk of states takes some milliseconds.
const LONGEST: Duration = Duration::from_secs(60);
/// For so long a launch is waited for without a pause.
const EAGER: Duration = Duration::from_millis(20);
/// Lanes of a block.
const BLOCK: u64 = 128;
/// A launch has no more lanes than this; each does more of the work then.
const MOST_LANES: u64 = 1 << 26;

/// A GPU.
#[derive(Debug)]
pub struct Cuda {
    number: i32,
    device: sys::CUdevice,
    modules: FxHashMap<u32, CUmodule>,
    functions: FxHashMap<String, CUfunction>,
    allocated: FxHashSet<u64>,
    /// Whether a launch did not end. Nothing is given back then: that might wait for it.
    lost: bool,
}

// SAFETY: handles of contexts, modules and functions belong to the process; a thread that uses them makes the context its own first.
unsafe impl Send for Cuda {}

fn failed(what: &str) -> impl Fn(DriverError) -> Trouble {
    move |error| match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Trouble::NoMemory,
        _ => Trouble::Failed(format!("{what}: {error}")),
    }
}

/// How many devices there are.
pub fn count() -> Result<usize> {
    let missing = |what: &str| Trouble::Missing(format!("--gpu needs a CUDA device: {what}"));
    // SAFETY: loading the driver runs its initialisers, which is what it is loaded for.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing("CUDA's driver (libcuda.so) is not installed"));
    }
    result::init().map_err(|error| missing(&format!("the driver does not start ({error})")))?;
    let count = device::get_count().map_err(|error| missing(&format!("the driver names no devices ({error})")))?;
    match usize::try_from(count) {
        Ok(0) | Err(_) => Err(missing("the driver knows of none")),
        Ok(count) => Ok(count),
    }
}

impl Cuda {
    /// The device with a number.
    pub fn open(number: usize) -> Result<Self> {
        let count = count()?;
        if number >= count {
            return Err(Trouble::Missing(format!("--gpu: there is no device {number}, the last one is {}", count - 1)));
        }
        let number = number as i32;
        let device = device::get(number).map_err(failed("it cannot be opened"))?;
        // SAFETY: the device is one that the driver named.
        let context = unsafe { primary_ctx::retain(device) }.map_err(failed("it has no context"))?;
        // SAFETY: the context is retained until this is dropped.
        unsafe { ctx::set_current(context) }.map_err(failed("its context cannot be used"))?;
        Ok(Self {
            number,
            device,
            modules: FxHashMap::default(),
            functions: FxHashMap::default(),
            allocated: FxHashSet::default(),
            lost: false,
        })
    }

    fn attribute(&self, attribute: CUdevice_attribute) -> i32 {
        // SAFETY: the device is one that the driver named.
        unsafe { device::get_attribute(self.device, attribute) }.unwrap_or(0)
    }

    /// The module with the kernels of a width.
    fn module(&mut self, words: u32) -> Result<CUmodule> {
        if let Some(module) = self.modules.get(&words) {
            return Ok(*module);
        }
        let load = |text: &str| {
            let text = CString::new(text).map_err(|_| Trouble::Failed("its code has a zero".to_owned()))?;
            // SAFETY: the image is a text with a zero at its end, and the driver copies what it needs.
            unsafe { module::load_data(text.as_ptr().cast::<c_void>()) }.map_err(failed("it does not take the kernels"))
        };
        let embedded = || {
            let ptx = PTX.iter().find(|(width, _)| *width == words);
            ptx.map(|(_, text)| *text).ok_or_else(|| Trouble::Failed(format!("no kernels for {words} words")))
        };
        let compiled = self.compiled(words).and_then(|text| load(&text).ok());
        let module = compiled.map_or_else(|| embedded().and_then(load), Ok)?;
        self.modules.insert(words, module);
        Ok(module)
    }

    /// What NVRTC makes of the source, if it is there.
    fn compiled(&self, words: u32) -> Option<String> {
        // SAFETY: loading the library runs its initialisers, which is what it is loaded for.
        if !unsafe { nvrtc::sys::is_culib_present() } {
            return None;
        }
        let major = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let options = [format!("--gpu-architecture=compute_{major}{minor}"), format!("-DWORDS={words}")];
        let program = nvrtc::result::create_program(&CString::new(SOURCE).ok()?, None).ok()?;
        // SAFETY: the program was created above and is destroyed below, once.
        let ptx = unsafe {
            let done = nvrtc::result::compile_program(program, &options).and_then(|()| nvrtc::result::get_ptx(program));
            let _ = nvrtc::result::destroy_program(program);
            done
        };
        let bytes: Vec<u8> = ptx.ok()?.into_iter().map(|byte| byte as u8).filter(|byte| *byte != 0).collect();
        String::from_utf8(bytes).ok()
    }

    fn function(&mut self, kernel: &str, words: u32) -> Result<CUfunction> {
        let name = format!("{kernel} {words}");
        if let Some(function) = self.functions.get(&name) {
            return Ok(*function);
        }
        let module = self.module(words)?;
        let symbol = CString::new(kernel).map_err(|_| Trouble::Failed(format!("no kernel `{kernel}`")))?;
        // SAFETY: the module was loaded and is never unloaded while this is there.
        let function = unsafe { module::get_function(module, symbol) };
        let function = function.map_err(failed(&format!("it has no kernel `{kernel}`")))?;
        self.functions.insert(name, function);
        Ok(function)
    }

    /// Waits for what was launched.
    fn wait(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            // SAFETY: the default stream is always there.
            match unsafe { sys::cuStreamQuery(std::ptr::null_mut()) } {
                CUresult::CUDA_SUCCESS => return Ok(()),
                CUresult::CUDA_ERROR_NOT_READY if started.elapsed() < EAGER => std::hint::spin_loop(),
                CUresult::CUDA_ERROR_NOT_READY if started.elapsed() < LONGEST => {
                    std::thread::sleep(Duration::from_micros(100));
                }
                CUresult::CUDA_ERROR_NOT_READY => {
                    self.lost = true;
                    return Err(Trouble::Failed(format!("a kernel did not end in {} s", LONGEST.as_secs())));
                }
                error => return Err(failed("a kernel did not come to its end")(DriverError(error))),
            }
        }
    }

    fn alive(&self) -> Result<()> {
        if self.lost { Err(Trouble::Failed("it does not answer".to_owned())) } else { Ok(()) }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        self.clear();
        if !self.lost {
            // SAFETY: it was retained once, and nothing of it is used any more.
            let _ = unsafe { primary_ctx::release(self.device) };
        }
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        device::get_name(self.device).unwrap_or_else(|_| format!("device {}", self.number))
    }

    fn free_bytes(&mut self) -> Result<u64> {
        self.alive()?;
        result::mem_get_info().map(|(free, _)| free as u64).map_err(failed("it does not say what is free"))
    }

    fn allocate(&mut self, words: u64) -> Result<u64> {
        self.alive()?;
        // SAFETY: the context is current.
        let at = unsafe { result::malloc_sync(8 * words as usize) }.map_err(failed("it does not allocate"))?;
        self.allocated.insert(at);
        Ok(at)
    }

    fn release(&mut self, at: u64) {
        if !self.lost && self.allocated.remove(&at) {
            // SAFETY: it was allocated, and is released once. What is not released goes with the context.
            let _ = unsafe { result::free_sync(at) };
        }
    }

    fn clear(&mut self) {
        let all: Vec<u64> = self.allocated.iter().copied().collect();
        all.into_iter().for_each(|at| self.release(at));
    }

    fn zero(&mut self, at: u64, words: u64) -> Result<()> {
        self.alive()?;
        // SAFETY: the range lies in what was allocated.
        unsafe { result::memset_d8_sync(at, 0, 8 * words as usize) }.map_err(failed("it does not clear memory"))?;
        self.wait()
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<()> {
        self.alive()?;
        if words.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in what was allocated.
        unsafe { result::memcpy_htod_sync(at, words) }.map_err(failed("it does not take data"))
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<()> {
        self.alive()?;
        // SAFETY: the range lies in what was allocated.
        unsafe { result::memcpy_dtoh_sync(words, at) }.map_err(failed("it does not give data"))
    }

    fn copy(&mut self, to: u64, from: u64, words: u64) -> Result<()> {
        self.alive()?;
        if words == 0 {
            return Ok(());
        }
        // SAFETY: both ranges lie in what was allocated, in different allocations.
        unsafe { result::memcpy_dtod_sync(to, from, 8 * words as usize) }.map_err(failed("it does not copy"))?;
        self.wait()
    }

    fn launch(&mut self, kernel: &str, job: &Job, lanes: u64) -> Result<()> {
        self.alive()?;
        let function = self.function(kernel, job.words)?;
        let blocks = lanes.min(MOST_LANES).div_ceil(BLOCK) as u32;
        let mut parameters = [addr_of!(*job).cast_mut().cast::<c_void>()];
        // SAFETY: the kernel has one parameter, of the type of the job, and writes only where its addresses lead, as the search laid it out.
        unsafe {
            result::launch_kernel(
                function,
                (blocks, 1, 1),
                (BLOCK as u32, 1, 1),
                0,
                std::ptr::null_mut(),
                &mut parameters,
            )
        }
        .map_err(failed("it does not launch a kernel"))?;
        self.wait()
    }
}
