//! Threads in assembly.

use super::cycle::Event;
use super::relation::{Dir, Link};
use super::target::Target;
use super::text::{location, written};

/// A thread as text.
#[derive(Default)]
pub(super) struct Thread {
    /// Its lines.
    pub(super) lines: Vec<String>,
    /// The registers that hold addresses.
    pub(super) inits: Vec<(String, String)>,
    /// What has to be read: registers and values.
    pub(super) seen: Vec<(String, i128)>,
}

/// The thread of these accesses.
pub(super) fn thread(target: Target, events: &[Event]) -> Result<Thread, String> {
    if !target.has_dependencies() {
        return x86(target, events);
    }
    let mut writer = Writer { target, thread: Thread::default(), next: 0, labels: 0 };
    let mut last = String::new();
    for event in events {
        last = writer.access(event, &last)?;
    }
    Ok(writer.thread)
}

/// X86 in Intel's order of operands, X86_64 in AT&T's, as herd has them.
fn x86(target: Target, events: &[Event]) -> Result<Thread, String> {
    const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];
    let long = target == Target::X86_64;
    let (mut thread, mut registers) = (Thread::default(), REGISTERS.iter());
    for event in events {
        thread.lines.extend(match event.link {
            Link::None => None,
            Link::MFence => Some("MFENCE".to_owned()),
            Link::SFence => Some("SFENCE".to_owned()),
            Link::LFence => Some("LFENCE".to_owned()),
            other => return Err(format!("{} tests have no `{}`", target.name(), other.word())),
        });
        event.note.written(target, event.dir == Dir::R)?;
        let place = location(event.location);
        if event.dir == Dir::W {
            let value = written(event);
            thread.lines.push(if long {
                format!("movl ${value},({place})")
            } else {
                format!("MOV [{place}],${value}")
            });
            continue;
        }
        let register = registers.next().ok_or("more reads in a thread than registers")?;
        let low = register.to_lowercase();
        thread.lines.push(if long { format!("movl ({place}),%{low}") } else { format!("MOV {register},[{place}]") });
        let shown = if long { low.replacen('e', "r", 1) } else { (*register).to_owned() };
        thread.seen.extend(event.value.map(|value| (shown, value)));
    }
    Ok(thread)
}

/// A thread while it is written. Registers are numbers; how one is spelled is the machine's to say.
struct Writer {
    target: Target,
    thread: Thread,
    next: usize,
    labels: usize,
}

impl Writer {
    fn line(&mut self, line: String) {
        self.thread.lines.push(line);
    }

    /// A register that is not used yet.
    fn register(&mut self) -> Result<String, String> {
        let number = self.next;
        self.next += 1;
        let (first, most) = match self.target {
            Target::Riscv => (5, 31),
            Target::Ppc => (1, 31),
            _ => (0, 28),
        };
        if first + number > most {
            return Err("more registers than the machine has".to_owned());
        }
        Ok(match self.target {
            Target::Riscv => format!("x{}", first + number),
            Target::Ppc => format!("r{}", first + number),
            _ => format!("X{number}"),
        })
    }

    /// The register that holds the address of a location.
    fn address(&mut self, place: usize) -> Result<String, String> {
        let name = location(place);
        if let Some((register, _)) = self.thread.inits.iter().find(|(_, known)| *known == name) {
            return Ok(register.clone());
        }
        let register = self.register()?;
        self.thread.inits.push((register.clone(), name));
        Ok(register)
    }

    /// A register that is 0, computed from another.
    fn zero(&mut self, last: &str) -> Result<String, String> {
        let zero = self.register()?;
        let line = match self.target {
            Target::AArch64 => format!("EOR {0},{1},{1}", half(&zero), half(last)),
            _ => format!("xor {zero},{last},{last}"),
        };
        self.line(line);
        Ok(zero)
    }

    /// What stands between the last access and the next, as far as it is lines of its own.
    fn link(&mut self, link: Link, last: &str) -> Result<(), String> {
        match link {
            Link::None | Link::Addr | Link::Data => {}
            Link::CtrlFence(machine) if machine != self.target => {
                return Err(format!("{} tests have no `{}`", self.target.name(), link.word()));
            }
            Link::Ctrl | Link::CtrlFence(_) => {
                let label = format!("LC{:02}", self.labels);
                self.labels += 1;
                match self.target {
                    Target::AArch64 => self.line(format!("CBNZ {},{label}", half(last))),
                    Target::Riscv => self.line(format!("bne {last},x0,{label}")),
                    _ => {
                        self.line(format!("cmpw {last},{last}"));
                        self.line(format!("beq {label}"));
                    }
                }
                self.line(format!("{label}:"));
                if link != Link::Ctrl {
                    let fence = match self.target {
                        Target::AArch64 => "ISB",
                        Target::Riscv => "fence.i",
                        _ => "isync",
                    };
                    self.line(fence.to_owned());
                }
            }
            Link::Barrier(barrier) if barrier.target() == self.target => self.line(barrier.line().to_owned()),
            other => return Err(format!("{} tests have no `{}`", self.target.name(), other.word())),
        }
        Ok(())
    }

    /// Writes an access with what stands before it; gives the register that it read, if it read.
    fn access(&mut self, event: &Event, last: &str) -> Result<String, String> {
        self.link(event.link, last)?;
        let reads = event.dir == Dir::R;
        let word = event.note.written(self.target, reads)?;
        let index = if event.link == Link::Addr { Some(self.zero(last)?) } else { None };
        let data = if reads {
            let register = self.register()?;
            self.thread.seen.extend(event.value.map(|value| (register.clone(), value)));
            register
        } else {
            self.value(event, last)?
        };
        let base = self.address(event.location)?;
        let line = match (self.target, index) {
            (Target::AArch64, None) => format!("{word} {},[{base}]", half(&data)),
            (Target::AArch64, Some(index)) if matches!(word, "LDR" | "STR") => {
                format!("{word} {},[{base},{},SXTW]", half(&data), half(&index))
            }
            (Target::AArch64, Some(index)) => {
                let sum = self.register()?;
                self.line(format!("ADD {sum},{base},{},SXTW", half(&index)));
                format!("{word} {},[{sum}]", half(&data))
            }
            (Target::Riscv, Some(index)) => {
                let sum = self.register()?;
                self.line(format!("add {sum},{base},{index}"));
                format!("{word} {data},0({sum})")
            }
            (Target::Ppc, Some(index)) => format!("{word}x {data},{index},{base}"),
            (_, None | Some(_)) => format!("{word} {data},0({base})"),
        };
        self.line(line);
        Ok(if reads { data } else { String::new() })
    }

    /// A register with the value of a write.
    fn value(&mut self, event: &Event, last: &str) -> Result<String, String> {
        let value = written(event);
        if event.link == Link::Data {
            let data = self.zero(last)?;
            let line = match self.target {
                Target::AArch64 => format!("ADD {0},{0},#{value}", half(&data)),
                _ => format!("addi {data},{data},{value}"),
            };
            self.line(line);
            return Ok(data);
        }
        let data = self.register()?;
        let line = match self.target {
            Target::AArch64 => format!("MOV {},#{value}", half(&data)),
            Target::Riscv => format!("ori {data},x0,{value}"),
            _ => format!("li {data},{value}"),
        };
        self.line(line);
        Ok(data)
    }
}

/// The lower half of a register of Arm's.
fn half(register: &str) -> String {
    register.replacen('X', "W", 1)
}
