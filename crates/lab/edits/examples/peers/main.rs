//! Runs other change detectors on the same versions: `peers SOURCE SOURCE` reads `$RECRAWL_CORPORA/content` and prints a
//! table of precision, recall and errors of magnitude, the rows of docs/meaningful-change.md.
//!
//! A rule calls a version changed when its digest is another one than that of the version before. Two rules are asked
//! of the libraries themselves (`peers.py`). `RECRAWL_PYTHON` names a Python that has what `requirements.txt` lists; `make
//! peers` makes one.
//!
//! `peers --edits` asks the same of edits and noise that are made on real pages (`edit_pairs.rs`).

mod edit_pairs;
mod magnitude;
mod markup;
mod python;
mod table;
mod text_profile;

use archives::{Archive, ArchivedLook, JudgedChange};
use document::{ContentKind, decode, extract, text_hash};
use magnitude::MagnitudeErrors;
use python::Questions;
use settings::{Layers, Settings};
use table::Collection;

/// Place in [`DIGESTS`] of the one that Python knows.
const INSCRIPTIS: usize = 2;
/// Rules that know a digest of each version, in the order of the table.
const DIGESTS: [&str; 5] = [
    "other bytes (MD5 of the body)",
    "visible text differs",
    "changedetection.io's pipeline (inscriptis)",
    "Nutch's TextProfileSignature",
    "BUbiNG's digest",
];

/// The findings of all rules for one raw change.
struct RuleFindings {
    line: JudgedChange,
    /// Those of the version before and of this one.
    digests: [[u64; DIGESTS.len()]; 2],
    /// Number of the pair that datasketch was asked about; `None` when the text is the same.
    pair: Option<usize>,
}

/// A version as the rules keep it.
struct KeptVersion {
    digests: [u64; DIGESTS.len()],
    text: String,
}

/// The findings and questions that are collected while the versions of a collection are read.
struct Gathered {
    questions: Questions,
    said: Vec<RuleFindings>,
    errors: MagnitudeErrors,
    before: Option<KeptVersion>,
}

fn main() -> anyhow::Result<()> {
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("--edits", options)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return edit_pairs::compare(&urls, options);
    }
    let mut collections = Vec::new();
    for source in arguments {
        let mut archive = Archive::open(&corpora::path("content"), Some(&source))?;
        let questions = Questions::new()?;
        let mut gathered = Gathered { questions, said: Vec::new(), errors: MagnitudeErrors::default(), before: None };
        let mut trouble = Ok(());
        archive.judge_each(&urls, &mut |look| {
            if trouble.is_ok() {
                trouble = gathered.take(look);
            }
        })?;
        trouble?;
        let Gathered { questions, said, mut errors, .. } = gathered;
        let answers = questions.answers()?;
        errors.add_theirs(&answers.pairs);
        collections.push(Collection { source, archive, said, answers, errors });
    }
    table::print(&collections)
}

impl Gathered {
    fn take(&mut self, look: &ArchivedLook<'_>) -> anyhow::Result<()> {
        let version = self.kept(look)?;
        if let Some(before) = self.before.as_ref().filter(|_| !look.is_first) {
            let mut pair = None;
            if before.text != version.text {
                pair = Some(self.questions.pair(&before.text, &version.text)?);
                self.errors.add(&before.text, &version.text);
            }
            self.said.push(RuleFindings { line: look.line, digests: [before.digests, version.digests], pair });
        }
        self.before = Some(version);
        Ok(())
    }

    fn kept(&mut self, look: &ArchivedLook<'_>) -> anyhow::Result<KeptVersion> {
        let Some(body) = look.body else { return Ok(KeptVersion { digests: [0; DIGESTS.len()], text: String::new() }) };
        let content_type = Some(look.page.content_type.as_str());
        let page = extract(content_type, body);
        let text = format!("{}\n{}", page.title, page.text);
        let text_digest = text_hash(text.as_bytes());
        let markup = decode(body, content_type).text;
        let rendered = match page.kind {
            ContentKind::Html => self.questions.text_of(&markup)?,
            _ => text_digest,
        };
        let profile = text_profile::digest(&text);
        let digests = [text_hash(body), text_digest, rendered, profile, markup::bubing_digest(&markup)];
        Ok(KeptVersion { digests, text })
    }
}
