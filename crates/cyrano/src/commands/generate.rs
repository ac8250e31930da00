//! `cyrano completions` and `cyrano man`, both made from the definitions in `args.rs`.

use clap::CommandFactory;

use crate::args::Cli;
use crate::console;
use cyrano_session::Failure;

/// Prints the completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cyrano", &mut script);
    console::print_raw(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Prints the manual page of Cyrano, or of one command.
pub fn man(command: Option<&str>) -> Result<u8, Failure> {
    let mut root = Cli::command();
    root.build();
    let page = match command {
        None => root,
        Some(name) => {
            let found = root.get_subcommands().find(|command| command.get_name() == name).cloned();
            found.ok_or_else(|| Failure::input(format!("there is no command `{name}`; `cyrano --help` lists them")))?
        }
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.expect("writing to memory cannot fail");
    console::print_raw(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
