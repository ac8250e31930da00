//! Random assembly tests: every instruction that is supported, with and without `LOCK`, forward jumps, pointers.

use cyrano_conformance::stream::Stream;

/// A random test, as text.
pub fn test(seed: u64) -> String {
    let mut stream = Stream::new(seed);
    let threads = 2 + usize::from(stream.below(4) == 0);
    let length = if threads == 3 { 2 } else { 2 + stream.below(3) };
    let mut columns = Vec::new();
    for _ in 0..threads {
        columns.push(thread(&mut stream, length));
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = format!(
        "X86 random{seed}\n{{ x={}; y=0; 0:EDI=x; 1:EDI=y; 0:ESI=x; 1:ESI=x; {}p=x; }}\n",
        stream.below(2),
        if threads == 3 { "2:EDI=x; 2:ESI=y; " } else { "" }
    );
    let heads: Vec<String> = (0..threads).map(|number| format!(" P{number} ")).collect();
    text.push_str(&format!("{};\n", heads.join("|")));
    for row in 0..rows {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
        text.push_str(&format!(" {} ;\n", cells.join(" | ")));
    }
    let registers = (0..threads).flat_map(|number| ["EAX", "EBX", "ECX", "ESI"].map(|name| format!("{number}:{name}")));
    let shown: Vec<String> = registers.chain(["x".into(), "y".into(), "p".into()]).collect();
    text.push_str(&format!("locations [{};]\nexists (x=1 \\/ 0:ESI=y)\n", shown.join("; ")));
    text
}

fn thread(stream: &mut Stream, length: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for _ in 0..length {
        if !open && stream.below(5) == 0 {
            let a = stream.pick(&["EAX", "EBX", "ECX"]);
            let value = stream.below(3) as i128 - 1;
            lines.push(format!("{} {a},${value}", stream.pick(&["CMP", "TEST", "SUB", "ADD"])));
            let cc = stream.pick(&["E", "NE", "G", "LE", "L", "GE", "A", "BE", "B", "AE", "S", "NS", "O", "NO"]);
            lines.push(format!("J{cc} end"));
            open = true;
            continue;
        }
        lines.push(instruction(stream));
    }
    if open {
        lines.push("end:".to_owned());
    }
    lines
}

fn instruction(stream: &mut Stream) -> String {
    let mem = stream.pick(&["[x]", "[x]", "[y]", "[y]", "[EDI]", "[ESI]"]);
    let reg = stream.pick(&["EAX", "EBX", "ECX"]);
    let other = stream.pick(&["EAX", "EBX", "ECX"]);
    let value = stream.below(3) as i128 - 1;
    let lock = stream.pick(&["", "LOCK "]);
    let unary = stream.pick(&["INC", "DEC", "NEG", "NOT"]);
    let alu = stream.pick(&["ADD", "SUB", "AND", "OR", "XOR"]);
    match stream.below(20) {
        0..=3 => format!("MOV {mem},${}", value + 2),
        4..=7 => format!("MOV {reg},{mem}"),
        8 => format!("MOV {mem},{reg}"),
        9 => format!("MOV {reg},${value}"),
        10 => format!("XCHG {mem},{reg}"),
        11 => format!("XCHG {reg},{other}"),
        12 => format!("{lock}{unary} {mem}"),
        13 => format!("{lock}{alu} {mem},{reg}"),
        14 => format!("{alu} {reg},{mem}"),
        15 => format!("{lock}CMPXCHG {mem},{reg}"),
        16 => format!("{lock}XADD {mem},{reg}"),
        17 => stream.pick(&["MFENCE", "SFENCE", "LFENCE", "MFENCE"]).to_owned(),
        18 => format!("CMOV{} {reg},{mem}", stream.pick(&["E", "NE", "B", "G"])),
        _ => match stream.below(3) {
            0 => "MOV ESI,[p]".to_owned(),
            1 => "MOV [p],$y".to_owned(),
            _ => format!("{alu} {reg},{other}"),
        },
    }
}
