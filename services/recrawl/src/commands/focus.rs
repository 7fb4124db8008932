//! `recrawl focus score|learn|list`: what pages are about, and focuses from example pages.

use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::one_fetch::{self, Given};
use crate::stages::topologies;
use crate::{CommandFailure, documents};
use ::focus::{
    Focus, IcuSegmenter, LearningText, LinkPrediction, PageTerms, PhraseSegmenter, Phrases, RelevanceMeasure,
    Segmenter, abstract_of, class, classes, learn_from_texts, predict_links, read_focus, write_focus,
};
use clap::{Args, Subcommand};
use document::{Body, LinkedPage};
use operate::{Crawl, Order};
use outputs::stdout::{Format, answer, answers};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use settings::Settings;
use std::path::{Path, PathBuf};

/// How many of a page's terms are shown.
const SHOWN_TERMS: usize = 8;
/// The language of pages that do not show theirs.
const ANY_LANGUAGE: &str = "any";

/// Arguments of `recrawl focus`.
#[derive(Args, Debug)]
pub struct FocusArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(subcommand)]
    command: FocusCommand,
}

#[derive(Subcommand, Debug)]
enum FocusCommand {
    /// Says how much pages are about a focus, best first.
    Score {
        /// The file of a focus, or a class of `recrawl focus list`.
        focus: String,
        /// Pages: files ("-" is stdin), directories of files, and URLs.
        #[arg(value_name = "FILE|URL", required_unless_present = "batch")]
        sources: Vec<String>,
        /// URL that a file was fetched from, the base of its links.
        #[arg(long)]
        url: Option<String>,
        /// Shows the links of each page, too, with what their words promise.
        #[arg(long)]
        links: bool,
        /// Saved pages, one {"file":…, "url":…, "content_type":…} per line; "-" is stdin. Answers are in their order.
        #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["sources", "url"])]
        batch: Option<PathBuf>,
    },
    /// Learns a focus from example pages and prints its file.
    Learn {
        /// Name of the focus.
        #[arg(long)]
        name: String,
        /// Examples: files ("-" is stdin), directories of files, and URLs.
        #[arg(value_name = "FILE|URL", required = true)]
        sources: Vec<String>,
        /// Pages that are not about the focus. They show which words are common. May be repeated.
        #[arg(long, value_name = "FILE|URL")]
        against: Vec<String>,
    },
    /// Makes a crawl, running or not, keep to a focus.
    Add {
        /// The file of a focus, or a class of `recrawl focus list`. One of the same name is replaced.
        focus: String,
        #[command(flatten)]
        crawl: CrawlArguments,
    },
    /// Makes a crawl no longer keep to a focus, also one of focus.files.
    Remove {
        /// Name of the focus.
        name: String,
        #[command(flatten)]
        crawl: CrawlArguments,
    },
    /// Lists the built-in classes with their seeds, or prints the file of one.
    List {
        /// Prints the file of this class, to be changed.
        name: Option<String>,
    },
}

/// Selects a crawl.
#[derive(Args, Debug)]
struct CrawlArguments {
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long, conflicts_with = "address")]
    data: Option<PathBuf>,
    /// Address of a running recrawl.
    #[arg(long = "url", value_name = "HOST:PORT")]
    address: Option<String>,
}

#[derive(Deserialize)]
struct SavedPage {
    file: PathBuf,
    url: Option<String>,
    content_type: Option<String>,
}

/// How much a page is about a focus.
#[derive(Serialize)]
struct PageScore {
    focus: String,
    source: String,
    title: String,
    language: Option<String>,
    score: f64,
    threshold: f64,
    relevant: bool,
    /// The page's terms that count most.
    terms: Vec<String>,
    /// Sentences of the page that say most about the focus.
    #[serde(rename = "abstract")]
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<LinkPromise>>,
}

#[derive(Serialize)]
struct LinkPromise {
    url: String,
    anchor: String,
    relevance: f64,
}

/// Scores pages, learns a focus, or lists classes.
pub fn focus(arguments: &FocusArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.command {
        FocusCommand::Score { focus, sources, url, links, batch } => {
            let scorer = Scorer::new(focus, *links)?;
            if let Some(file) = batch {
                return answer_lines(file, |SavedPage { file, url, content_type }| {
                    let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                    Ok(scorer.score(&file.display().to_string(), &bytes, content_type.as_deref(), url.as_deref()))
                });
            }
            let settings = arguments.settings.load(&[])?;
            let mut scores = Vec::new();
            for source in pages(sources)? {
                let page = one_fetch::file_or_address(&settings, &source)?;
                let address = url.clone().or_else(|| page.url.as_ref().map(ToString::to_string));
                scores.push(scorer.score(&source, &page.bytes, page.content_type.as_deref(), address.as_deref()));
            }
            scores.sort_by(|one, other| other.score.total_cmp(&one.score));
            answers(format, &scores, for_people)
        }
        FocusCommand::Learn { name, sources, against } => {
            let focus = learn(&arguments.settings.load(&[])?, name, sources, against)?;
            answer(format, &as_json(&focus), |_| write_focus(&focus))
        }
        FocusCommand::Add { focus, crawl } => {
            let focus = load(focus, &IcuSegmenter::default())?;
            order(&arguments.settings, crawl, &focus.name, Some(write_focus(&focus)))?;
            answer(format, &json!({"added": focus.name}), |_| format!("added: {}", focus.name))
        }
        FocusCommand::Remove { name, crawl } => {
            order(&arguments.settings, crawl, name, None)?;
            answer(format, &json!({"removed": name}), |_| format!("removed: {name}"))
        }
        FocusCommand::List { name: Some(name) } => {
            let focus = class(name, &IcuSegmenter::default());
            let focus =
                focus.ok_or_else(|| CommandFailure::Input(format!("no class {name}; see recrawl focus list")))?;
            answer(format, &as_json(&focus), |_| write_focus(&focus))
        }
        FocusCommand::List { name: None } => {
            let classes: Vec<Value> = classes(&IcuSegmenter::default()).iter().map(listed).collect();
            answers(format, &classes, |class| {
                let seeds = class["seeds"].as_array().into_iter().flatten().filter_map(Value::as_str);
                format!("{:<24}{}", class["name"].as_str().unwrap_or_default(), seeds.collect::<Vec<_>>().join(" "))
            })
        }
    }
}

/// Sends a crawl the focus of this name, or, without a file's text, withdraws it.
fn order(
    settings: &SettingsArguments,
    crawl: &CrawlArguments,
    name: &str,
    text: Option<String>,
) -> Result<(), CommandFailure> {
    let data = crawl.data.as_ref().map(|path| path.display().to_string());
    let settings = settings.load(&[("crawl.data", data)])?;
    let order = match text {
        Some(text) => Order::AddFocus { name: name.to_owned(), text },
        None => Order::RemoveFocus(name.to_owned()),
    };
    Crawl::find(&settings, crawl.address.as_deref(), &topologies(), "recrawl-focus")?.send(&order)
}

struct Scorer {
    focus: Focus,
    icu: IcuSegmenter,
    phrases: Phrases,
    shows_links: bool,
}

impl Scorer {
    fn new(focus: &str, shows_links: bool) -> Result<Self, CommandFailure> {
        let icu = IcuSegmenter::default();
        let focus = load(focus, &icu)?;
        let phrases = focus.phrases(&icu);
        Ok(Self { focus, icu, phrases, shows_links })
    }

    /// Cuts the words of pages, those of the focus whole.
    fn segmenter(&self) -> PhraseSegmenter<'_> {
        PhraseSegmenter::new(&self.icu, &self.phrases)
    }

    fn score(&self, source: &str, bytes: &[u8], content_type: Option<&str>, url: Option<&str>) -> PageScore {
        let reading = documents::read(bytes, content_type, url);
        let terms = PageTerms::read(&self.segmenter(), &reading.title, &reading.text);
        let measure = RelevanceMeasure::default();
        let relevance = self.focus.relevance(&measure, &terms);
        PageScore {
            focus: self.focus.name.clone(),
            source: source.to_owned(),
            score: relevance.score,
            threshold: relevance.threshold,
            relevant: relevance.is_relevant,
            terms: self.focus.best_terms(&measure, &terms, SHOWN_TERMS),
            summary: abstract_of(&self.focus, &self.segmenter(), &reading.text),
            links: self.shows_links.then(|| self.links(&documents::body(bytes, content_type, url))),
            title: reading.title,
            language: reading.language,
        }
    }

    fn links(&self, body: &Body<'_>) -> Vec<LinkPromise> {
        let Some(html) = body.html() else { return Vec::new() };
        let page = LinkedPage::of_html(html);
        let links = predict_links(&LinkPrediction::default(), &self.focus, &self.segmenter(), &page, body.address());
        let promise = |link: ::focus::PredictedLink| LinkPromise {
            url: link.url,
            anchor: link.anchor,
            relevance: link.relevance,
        };
        links.into_iter().map(promise).collect()
    }
}

/// A built-in class, or a focus's file.
pub fn load(focus: &str, segmenter: &dyn Segmenter) -> Result<Focus, CommandFailure> {
    if let Some(class) = class(focus, segmenter) {
        return Ok(class);
    }
    let text = std::fs::read_to_string(focus).map_err(|error| {
        CommandFailure::Input(format!("{focus}: {error}; give the file of a focus, or a class of recrawl focus list"))
    })?;
    read_focus(&text, segmenter).map_err(|error| {
        let lines: Vec<String> =
            error.faults.iter().map(|fault| format!("{focus}, line {}: {}", fault.line, fault.problem)).collect();
        CommandFailure::Input(lines.join("\n"))
    })
}

fn learn(settings: &Settings, name: &str, sources: &[String], against: &[String]) -> Result<Focus, CommandFailure> {
    let segmenter = IcuSegmenter::default();
    let (mut examples, mut texts) = (Vec::new(), Vec::new());
    for source in pages(sources)? {
        let text = read_text(&one_fetch::file_or_address(settings, &source)?);
        if PageTerms::read(&segmenter, &text.title, &text.text).is_empty() {
            eprintln!("{source}: no words; left out");
        } else {
            examples.push(source);
            texts.push(text);
        }
    }
    let mut others = Vec::new();
    for source in pages(against)? {
        others.push(read_text(&one_fetch::file_or_address(settings, &source)?));
    }
    let nothing = || CommandFailure::Input("the examples have no words that other pages do not have, too".to_owned());
    let focus = learn_from_texts(name, &segmenter, &texts, &others).ok_or_else(nothing)?;
    Ok(Focus { examples: examples.into_iter().filter(|source| source != "-").collect(), ..focus })
}

/// The language and the texts of a page.
fn read_text(page: &Given) -> LearningText {
    let url = page.url.as_ref().map(ToString::to_string);
    let reading = documents::read(&page.bytes, page.content_type.as_deref(), url.as_deref());
    let language = reading.language.unwrap_or_else(|| ANY_LANGUAGE.to_owned());
    LearningText { language, title: reading.title, text: reading.text }
}

/// The sources, with the files of each directory in its place, sorted by name.
fn pages(sources: &[String]) -> Result<Vec<String>, CommandFailure> {
    let mut pages = Vec::new();
    for source in sources {
        if !Path::new(source).is_dir() {
            pages.push(source.clone());
            continue;
        }
        let failed = |error: std::io::Error| CommandFailure::Input(format!("{source}: {error}"));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(source).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_file() {
                files.push(path.display().to_string());
            }
        }
        files.sort();
        pages.append(&mut files);
    }
    Ok(pages)
}

fn for_people(page: &PageScore) -> String {
    let mark = if page.relevant { "yes" } else { "no" };
    let title = if page.title.is_empty() { &page.source } else { &page.title };
    let mut lines = vec![format!("{:.3}  {mark:<3}  {title}  ({})", page.score, page.terms.join(", "))];
    for link in page.links.iter().flatten() {
        lines.push(format!("       {:.2}  {}  {}", link.relevance, link.url, link.anchor));
    }
    lines.join("\n")
}

fn listed(class: &Focus) -> Value {
    let terms: Value = class.languages.iter().map(|(language, terms)| (language.clone(), terms.vector.len())).collect();
    json!({"name": class.name, "seeds": class.seeds, "terms": terms})
}

fn as_json(focus: &Focus) -> Value {
    let terms = |of: fn(&::focus::LanguageTerms) -> Value| -> Value {
        focus.languages.iter().map(|(language, terms)| (language.clone(), of(terms))).collect()
    };
    json!({
        "name": focus.name,
        "segmenter": focus.segmenter,
        "threshold": terms(|terms| json!(terms.threshold)),
        "examples": focus.examples,
        "seeds": focus.seeds,
        "terms": terms(|terms| terms.vector.iter().map(|(term, weight)| (term.to_owned(), weight)).collect()),
        "near": focus.near.iter().map(|(word, of)| (word.to_owned(), json!(of))).collect::<Value>(),
    })
}
