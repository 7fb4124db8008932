//! The peers that are Python libraries: questions are gathered in a file and answered in one go.

use crate::markup::rendered_digest;
use anyhow::Context;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::process::{Command, Stdio};

/// Pages with one rendered digest have one text. One page in this number asks inscriptis again, to check that.
const CHECKED_EVERY: usize = 20;

pub(crate) struct Questions {
    file: BufWriter<std::fs::File>,
    /// Pages asked for, by what can make a difference to their text.
    asked: HashMap<u64, usize>,
    pairs: usize,
}

/// A resemblance as estimated, and by counting the same shingles (words are cut a little differently here and there).
#[derive(Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) resemblance: f64,
    pub(crate) exact: f64,
}

#[derive(Default)]
pub(crate) struct Answers {
    /// Digests of texts, by [`Questions::text_of`]'s number.
    pub(crate) texts: HashMap<u64, u64>,
    /// By [`Questions::pair`]'s number.
    pub(crate) pairs: Vec<Estimate>,
}

impl Questions {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), asked: HashMap::new(), pairs: 0 })
    }

    /// Asks for the text that changedetection.io would compare. inscriptis takes 25 ms a page, so it is spared pages that
    /// differ in nothing that shows; now and then it is asked all the same, and has to agree.
    pub(crate) fn text_of(&mut self, markup: &str) -> anyhow::Result<u64> {
        let shows = rendered_digest(markup);
        let times = self.asked.entry(shows).or_default();
        *times += 1;
        if *times % CHECKED_EVERY == 1 {
            writeln!(self.file, "inscriptis {shows:016x} {}", markup.len())?;
            self.file.write_all(markup.as_bytes())?;
        }
        Ok(shows)
    }

    /// Asks for datasketch's estimate of the resemblance of two texts.
    pub(crate) fn pair(&mut self, old: &str, new: &str) -> anyhow::Result<usize> {
        writeln!(self.file, "datasketch - {} {}", old.len(), new.len())?;
        self.file.write_all(old.as_bytes())?;
        self.file.write_all(new.as_bytes())?;
        self.pairs += 1;
        Ok(self.pairs - 1)
    }

    /// Asks, and reads the answers: a line each, in the order of the questions.
    pub(crate) fn answers(self) -> anyhow::Result<Answers> {
        let mut file = self.file.into_inner()?;
        file.rewind()?;
        let python = std::env::var_os("RECRAWL_PYTHON").unwrap_or_else(|| "python3".into());
        let script = corpora::workspace().join("crates/lab/edits/examples/peers/peers.py");
        let mut child = Command::new(python).arg(script).stdin(file).stdout(Stdio::piped()).spawn()?;
        let mut answers = Answers::default();
        for line in BufReader::new(child.stdout.take().context("no way to hear Python")?).lines() {
            let line = line?;
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["inscriptis", shows, digest] => {
                    let digest = u64::from_str_radix(&digest[..16], 16)?;
                    let known = answers.texts.insert(u64::from_str_radix(shows, 16)?, digest);
                    anyhow::ensure!(
                        known.is_none_or(|known| known == digest),
                        "inscriptis sees what rendered_digest does not"
                    );
                }
                ["datasketch", _, resemblance, exact] => {
                    answers.pairs.push(Estimate { resemblance: resemblance.parse()?, exact: exact.parse()? });
                }
                _ => anyhow::bail!("Python says {line:?}"),
            }
        }
        let status = child.wait()?;
        anyhow::ensure!(status.success(), "Python ended with {status}; has it inscriptis and datasketch? (see above)");
        Ok(answers)
    }
}
