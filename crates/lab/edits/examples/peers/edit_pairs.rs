//! Runs other change detectors on edits and noise that are made on real pages: `peers --edits [PAGES [SEED]]` prints the
//! table of docs/meaningful-change.md. PAGES is the number of pages per kind, SEED draws other pages, places and values.
//!
//! Each rule sees two versions, and reports a change when its digest or text differs. recrawl sees more, as it does live:
//! earlier versions of the page, and noise before it is counted. So it has a row without that, too. The last table has
//! the kinds.

use crate::{markup, text_profile};
use anyhow::Context;
use archives::Archive;
use document::{ContentKind, extract, text_hash};
use edits::{EditPair, Half, ReportedRate, for_each_pair};
use page::UrlRules;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PAGES_PER_KIND: usize = 32;
/// Names of the rules, in the order of their findings on a pair.
const RULES: [&str; 7] = [
    "other bytes (Nutch's MD5Signature)",
    "Nutch's TextProfileSignature",
    "BUbiNG's digest",
    "changedetection.io",
    "trafilatura's text (HTML alone)",
    "**recrawl**, noise seen for the first time",
    "**recrawl**, noise seen before",
];
/// Whether each rule reports a change between the versions of a pair; `None` if the rule does not support such pages.
type Reported = [Option<bool>; RULES.len()];

/// A pair as it is counted.
struct Line {
    kind: &'static str,
    is_noise: bool,
    half: Half,
    is_html: bool,
    reported: Reported,
}

pub(crate) fn compare(urls: &UrlRules, options: &[String]) -> anyhow::Result<()> {
    let option = |place: usize| options.get(place).map(|text| text.parse::<u64>()).transpose();
    let (per_kind, seed) = (option(0)?.map_or(PAGES_PER_KIND, |pages| pages as usize), option(1)?.unwrap_or(1));
    let mut libraries = Libraries::start()?;
    let mut lines = Vec::new();
    let mut trouble = Ok(());
    let mut archive = Archive::open(&corpora::path("content"), None)?;
    for_each_pair(&mut archive, seed, urls, per_kind, &mut |pair| {
        if trouble.is_ok() {
            trouble = libraries.reported(pair).map(|libraries| lines.push(line(pair, libraries)));
        }
    })?;
    trouble?;
    let count = |is_noise| lines.iter().filter(|line| line.is_noise == is_noise).count();
    println!("{} edits and {} pairs of noise, at most {per_kind} of a kind\n", count(false), count(true));
    print_rules(&lines);
    print_kinds(&lines);
    Ok(())
}

fn line(pair: &EditPair, [changedetection, trafilatura]: [Option<bool>; 2]) -> Line {
    let [before, after] = [&pair.before, &pair.after].map(|version| digests(version, pair.content_type));
    let differs = |rule: usize| Some(before[rule] != after[rule]);
    let (first, reported) = (Some(pair.reported_at_first_sight), Some(pair.reported));
    Line {
        kind: pair.kind,
        is_noise: pair.is_noise,
        half: pair.half,
        is_html: pair.content_type.starts_with("text/html"),
        reported: [differs(0), differs(1), differs(2), changedetection, trafilatura, first, reported],
    }
}

/// The digests of the first three rules.
fn digests(version: &str, content_type: &str) -> [u64; 3] {
    let page = extract(Some(content_type), version.as_bytes());
    let title = if page.kind == ContentKind::Html { page.title.as_str() } else { "" };
    let text = format!("{title}\n{}", page.text);
    let bytes = text_hash(version.as_bytes());
    let profile = text_profile::signature(text.trim(), version.as_bytes());
    // BUbiNG reads every text as HTML, and takes the bytes of anything else.
    let bubing = if content_type.starts_with("text/") { markup::bubing_digest(version) } else { bytes };
    [bytes, profile, bubing]
}

/// A Python that answers for the libraries.
struct Libraries {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Libraries {
    fn start() -> anyhow::Result<Self> {
        let python = std::env::var_os("RECRAWL_PYTHON").unwrap_or_else(|| "python3".into());
        let script = corpora::workspace().join("crates/lab/edits/examples/peers/pairs.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("no Python")?;
        let questions = child.stdin.take().context("no way to ask Python")?;
        let answers = BufReader::new(child.stdout.take().context("no way to hear Python")?);
        Ok(Self { child, questions, answers })
    }

    /// Whether changedetection.io and trafilatura see a difference between the versions; `None` for unsupported pages.
    fn reported(&mut self, pair: &EditPair) -> anyhow::Result<[Option<bool>; 2]> {
        let content_type = pair.content_type.split(';').next().unwrap_or_default();
        let mut question = format!("{content_type} {} {}\n", pair.before.len(), pair.after.len());
        question.push_str(&pair.before);
        question.push_str(&pair.after);
        let mut answer = String::new();
        // A Python that has ended takes no question, and says nothing.
        let asked = self.questions.write_all(question.as_bytes()).and_then(|()| self.answers.read_line(&mut answer));
        let said: Vec<Option<bool>> =
            answer.split_whitespace().map(|word| (word != "-").then_some(word == "1")).collect();
        if let (Ok(_), [changedetection, trafilatura]) = (asked, said.as_slice()) {
            return Ok([*changedetection, *trafilatura]);
        }
        let status = self.child.wait()?;
        anyhow::bail!("Python ended with {status}; has it what requirements.txt lists? (see above)")
    }
}

/// In how many of the pairs that a rule supports it reported a change.
fn rate<'a>(lines: impl Iterator<Item = &'a Line>, rule: usize) -> ReportedRate {
    let reported: Vec<bool> = lines.filter_map(|line| line.reported[rule]).collect();
    ReportedRate { reported: reported.iter().filter(|reported| **reported).count(), of: reported.len() }
}

fn print_rules(lines: &[Line]) {
    println!("| rule | edits: known | held out | all | HTML alone | noise: known | held out | all | HTML alone |");
    println!("|---|{}", "---|".repeat(8));
    for (rule, name) in RULES.iter().enumerate() {
        print!("| {name} |");
        for is_noise in [false, true] {
            let counted: [fn(&Line) -> bool; 4] =
                [|line| line.half == Half::Known, |line| line.half == Half::HeldOut, |_| true, |line| line.is_html];
            for counts in counted {
                let lines = lines.iter().filter(|line| line.is_noise == is_noise && counts(line));
                print!(" {} |", rate(lines, rule));
            }
        }
        println!();
    }
}

fn print_kinds(lines: &[Line]) {
    println!("\n| kind | of | {} |\n|---|---|{}", RULES.join(" | "), "---|".repeat(RULES.len()));
    for lines in lines.chunk_by(|one, other| one.kind == other.kind) {
        let shares: Vec<String> = (0..RULES.len()).map(|rule| rate(lines.iter(), rule).to_string()).collect();
        println!("| {} | {} | {} |", lines[0].kind, lines.len(), shares.join(" | "));
    }
}
