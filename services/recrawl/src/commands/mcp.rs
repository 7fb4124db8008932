//! `recrawl mcp`: shows a crawl to a model, over the Model Context Protocol on stdin and stdout.

mod protocol;
mod reading;
mod tools;
mod untrusted;

use self::tools::CrawlTools;
use crate::CommandFailure;
use crate::commands::CrawlArguments;
use ::operate::{Access, Crawl, token_in};
use clap::Args;
use outputs::stdout::print;
use settings::Settings;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Longest message of a client.
const LONGEST_MESSAGE: usize = 1 << 20;

/// Arguments of `recrawl mcp`.
#[derive(Args, Debug)]
pub struct McpArguments {
    #[command(flatten)]
    crawl: CrawlArguments,
    /// Offers tools that fetch pages next, forget pages and block hosts, too. They go to the running crawl with the key in
    /// --key-file, and do what its role allows.
    #[arg(long, requires = "key_file")]
    allow_acts: bool,
    /// File with the token of the key that acts go by, such as recrawl key NAME --role operator makes. The token of the settings is
    /// never taken: it has all rights.
    #[arg(long, requires = "allow_acts", value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Shows the texts of all pages. Without it those whose owners disallow their input to models (ai-input) are left out.
    #[arg(long)]
    any_use: bool,
    /// Address of the running crawl, or of its console over Kafka, for --allow-acts; without it, that of the crawl on --data.
    #[arg(long, requires = "allow_acts", value_name = "ADDRESS")]
    url: Option<String>,
}

/// Answers messages, one a line, until stdin ends. stdout has nothing but answers.
pub fn mcp(arguments: &McpArguments) -> Result<(), CommandFailure> {
    // A crawl that is not there is reported now, to a person, and not at the first call, to a model.
    let (settings, _) = arguments.crawl.open()?;
    let key_file = arguments.key_file.as_deref();
    let orders = key_file.map(|file| commanded(&settings, file, arguments.url.as_deref())).transpose()?;
    let tools = CrawlTools { settings, wait: *arguments.crawl.wait.wait, orders, shows_any: arguments.any_use };
    let mut input = io::stdin().lock();
    loop {
        let response = match read_line(&mut input, LONGEST_MESSAGE)? {
            Line::End => return Ok(()),
            Line::TooLong => Some(protocol::too_long(LONGEST_MESSAGE)),
            Line::Text(line) if line.trim_ascii().is_empty() => None,
            Line::Text(line) => protocol::respond(&tools, &line),
        };
        if let Some(response) = response {
            print(&response.to_string())?;
        }
    }
}

/// The crawl that takes orders by the key in a file.
fn commanded(settings: &Settings, key_file: &Path, address: Option<&str>) -> Result<Crawl, CommandFailure> {
    let token = token_in(key_file, "--key-file")?;
    // Orders go to the crawl that is read, whatever answers at the address.
    let log = settings.crawl.data.as_deref().and_then(Access::noted).and_then(|noted| noted.log);
    let access = match (address, settings.crawl.data.as_deref()) {
        (Some(address), _) => Access { log, ..Access::at(address, settings)? },
        (None, Some(data)) => Access::running(data)?.ok_or_else(|| {
            CommandFailure::Input(format!(
                "--allow-acts: no crawl runs on {}; start it first, or give --url",
                data.display()
            ))
        })?,
        (None, None) => {
            return Err(CommandFailure::Input("--allow-acts needs --url, the address of the console".to_owned()));
        }
    };
    Ok(Crawl::Running(Access { token: Some(token), ..access }))
}

/// A line of a client.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Text(Vec<u8>),
    /// It is read to its end, and not kept.
    TooLong,
    End,
}

fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let read = input.by_ref().take(most as u64 + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if line.len() <= most || line.ends_with(b"\n") {
        return Ok(Line::Text(line));
    }
    loop {
        let rest = input.fill_buf()?;
        let (taken, is_over) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(place) => (place + 1, true),
            None => (rest.len(), rest.is_empty()),
        };
        input.consume(taken);
        if is_over {
            return Ok(Line::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_read_up_to_a_length_and_those_behind_a_long_one_as_well() {
        let text = b"{}\n12345678\n123456789\n\n1234567890123456789012345\nlast";
        // The reader gets four bytes at a time.
        let mut input = BufReader::with_capacity(4, &text[..]);
        let mut lines = Vec::new();
        loop {
            match read_line(&mut input, 8).unwrap() {
                Line::End => break,
                line => lines.push(line),
            }
        }
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        let expected = [text("{}\n"), text("12345678\n"), Line::TooLong, text("\n"), Line::TooLong, text("last")];
        assert_eq!(lines, expected);
    }

    #[test]
    fn orders_need_a_key_and_a_crawl_that_runs() {
        let data = tempfile::tempdir().unwrap();
        let key_file = data.path().join("operator.token");
        let refused = |settings: &Settings| commanded(settings, &key_file, None).err().unwrap().to_string();
        // The token of the settings is no key.
        let mut settings = Settings::default();
        settings.http.token = Some(settings::Secret::new("the-token-of-an-admin"));
        assert!(refused(&settings).contains("--key-file"));
        std::fs::write(&key_file, "0123456789abcdef\n").unwrap();
        assert!(refused(&settings).contains("--url"));
        settings.crawl.data = Some(data.path().to_owned());
        assert!(refused(&settings).contains("no crawl runs on"));
        let crawl = commanded(&settings, &key_file, Some("127.0.0.1:1")).unwrap();
        assert!(
            matches!(&crawl, Crawl::Running(Access { token: Some(token), .. }) if token.reveal() == "0123456789abcdef")
        );
    }
}
