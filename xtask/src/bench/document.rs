//! `docs/benchmarks.md`: what is between `<!-- NAME -->` and `<!-- /NAME -->` is measured, the rest is written by hand.

use anyhow::{Context, ensure};

/// Puts a text between the marks of this name.
pub fn replace(name: &str, text: &str) -> anyhow::Result<()> {
    let path = crate::root().join("docs").join("benchmarks.md");
    let old = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    std::fs::write(&path, between(&old, name, text)?)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn between(old: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    ensure!(
        old.matches(&begin).count() == 1 && old.matches(&end).count() == 1,
        "`{begin}` and `{end}` must be there once"
    );
    let (head, rest) = old.split_once(&begin).context("no begin")?;
    let (_, tail) = rest.split_once(&end).with_context(|| format!("`{end}` must stand behind `{begin}`"))?;
    Ok(format!("{head}{begin}\n{}\n{end}{tail}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let old = "by hand\n<!-- measured -->\nold\n<!-- /measured -->\nby hand too\n";
        let new = between(old, "measured", "\nnew\n").expect("has marks");
        assert_eq!(new, "by hand\n<!-- measured -->\n\nnew\n<!-- /measured -->\nby hand too\n");
        assert_eq!(between(&new, "measured", "\nold\n").expect("has marks").replace("\n\nold", "\nold"), old);
        assert!(between("nothing", "measured", "new").is_err());
        assert!(between("<!-- /measured --><!-- measured -->", "measured", "new").is_err());
    }
}
