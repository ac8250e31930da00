//! The processes of a cluster: one `host:port` per line.

use std::net::TcpListener;

use crate::Error;
use crate::key::random;

/// Ports for processes on one machine. Systems take the ports of outgoing connections from above these: one of those could have a port
/// between the moment when it was found free and the one when it is needed.
const PORTS: std::ops::Range<u16> = 10_000..30_000;
/// How many are tried.
const TRIES: usize = 1000;

/// So many addresses of the loopback interface that nobody uses now.
pub fn free(count: usize) -> Result<Vec<String>, Error> {
    let mut listeners = Vec::new();
    for _ in 0..TRIES {
        if listeners.len() == count {
            break;
        }
        let port = PORTS.start + u16::from_le_bytes(random()?) % (PORTS.end - PORTS.start);
        listeners.extend(TcpListener::bind(("127.0.0.1", port)).ok().map(|listener| (port, listener)));
    }
    if listeners.len() < count {
        return Err(Error::new(format!("there are no {count} free ports")));
    }
    Ok(listeners.iter().map(|(port, _)| format!("127.0.0.1:{port}")).collect())
}

/// The addresses in the text of a hosts file. Empty lines and what follows a `#` do not count.
pub fn parse(text: &str) -> Result<Vec<String>, Error> {
    let mut hosts: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let port = line.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(1..))) {
            return Err(Error::new(format!("line {}: expected host:port, found `{line}`", number + 1)));
        }
        if hosts.iter().any(|known| known == line) {
            return Err(Error::new(format!("line {}: {line} is there twice", number + 1)));
        }
        hosts.push(line.to_owned());
    }
    if hosts.is_empty() {
        return Err(Error::new("there is no host in it".to_owned()));
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    #[test]
    fn free_addresses_differ() {
        let found = super::free(20).expect("there are so many");
        let different: std::collections::BTreeSet<&String> = found.iter().collect();
        assert_eq!(different.len(), 20);
        assert!(super::parse(&found.join("\n")).is_ok());
    }

    #[test]
    fn hosts_files() {
        let check = |text: &str, expected: Result<&[&str], &str>| match (super::parse(text), expected) {
            (Ok(hosts), Ok(expected)) => assert_eq!(hosts, expected),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{text:?}: {found:?}, not {expected:?}"),
        };
        check("a:1\n\n# b:2\n[::1]:3 # here\n", Ok(&["a:1", "[::1]:3"]));
        check("a", Err("line 1"));
        check("a:1\n:2", Err("line 2"));
        check("a:70000", Err("line 1"));
        check("a:0", Err("line 1"));
        check("a:1\na:1", Err("twice"));
        check("# nobody", Err("no host"));
    }
}
