//! Plays a case: looks at a page as the detector does, by the page's rule.

use change::{ChangedUnit, Judgement, KnownBody, PageState, Version, VersionVerdict};
use document::{Body, content_digest};
use page::UrlRules;
use settings::{Layers, Settings};
use std::path::{Path, PathBuf};
use watch::{WatchMemory, WatchRule};

/// One request of a recorded history.
pub(super) struct Request {
    pub(super) since_last_s: i64,
    pub(super) file: PathBuf,
    /// Where the page led, if it was not its own address.
    pub(super) led_to: Option<String>,
}

/// The report to a watcher of one look.
#[derive(Debug, Default)]
pub(super) struct LookReport {
    /// The number of the look, from 1.
    pub(super) look: usize,
    /// Whether a change was reported.
    pub(super) is_reported: bool,
    pub(super) changes: Vec<ChangedUnit>,
    pub(super) left_out: usize,
    pub(super) triggers: Vec<String>,
}

impl LookReport {
    fn of(look: usize, judgement: Judgement, triggers: Vec<String>) -> Self {
        let is_reported =
            !matches!(judgement.verdict, VersionVerdict::First | VersionVerdict::Unchanged | VersionVerdict::Cosmetic);
        let record = judgement.record;
        Self { look, is_reported, changes: record.changes, left_out: record.left_out, triggers }
    }

    /// The lines that a person reads: one for each text that came or went.
    pub(super) fn lines(&self) -> usize {
        let of_unit = |unit: &ChangedUnit| usize::from(unit.before.is_some()) + usize::from(unit.after.is_some());
        self.changes.iter().map(of_unit).sum::<usize>() + self.left_out
    }

    pub(super) fn text(&self) -> String {
        let side = |sign: &str, text: &Option<String>| text.as_ref().map(|text| format!(" {sign} {text}"));
        let unit = |unit: &ChangedUnit| {
            let sides = [side("-", &unit.before), side("+", &unit.after)].into_iter().flatten().collect::<String>();
            format!("@ {}{sides}", unit.place)
        };
        self.changes.iter().map(unit).collect::<Vec<_>>().join(" | ")
    }
}

/// A page that a rule may watch, and the detector's memory of it.
pub(super) struct WatchedPage<'a> {
    urls: &'a UrlRules,
    content_type: &'a str,
    rule: Option<&'a WatchRule>,
    state: PageState,
    known: KnownBody,
    memory: WatchMemory,
    looks: usize,
}

impl<'a> WatchedPage<'a> {
    pub(super) fn new(urls: &'a UrlRules, content_type: &'a str, rule: Option<&'a WatchRule>) -> Self {
        let (state, known, memory) = Default::default();
        Self { urls, content_type, rule, state, known, memory, looks: 0 }
    }

    /// Looks at a body. Returns also whether the detector wants a second look at once.
    pub(super) fn look(&mut self, body: &[u8], address: &str, now_s: i64) -> (LookReport, bool) {
        let Self { urls, content_type, rule, state, known, memory, looks } = self;
        *looks += 1;
        let digest = content_digest(body);
        let judge = |state: &mut PageState, since_last_look_s| {
            let body = Body::new(body, Some(content_type), Some(address)).with_digest(digest);
            let body = match rule {
                Some(rule) => body.with_selection(rule.selection()),
                None => body,
            };
            let version = Version::of_body(&body, urls).seen_at(now_s);
            (state.observe(&version, since_last_look_s), version)
        };
        let (judgement, version) = known.look(state, Some(digest), now_s, judge);
        let triggers = match (*rule, version) {
            (Some(rule), Some(version)) if !judgement.held => rule.look(version.blocks(), memory),
            _ => Vec::new(),
        };
        let wants_second_look = judgement.look_again_after_s() == Some(0);
        (LookReport::of(*looks, judgement, triggers), wants_second_look)
    }
}

/// Plays a history. Where `with_second_looks` says so, the second look that the detector wants is made, and finds the same.
/// Numbers of looks are those of the recorded requests.
pub(super) fn play(
    requests: &[Request],
    (urls, rule, address): (&UrlRules, Option<&WatchRule>, &str),
    with_second_looks: bool,
) -> Vec<LookReport> {
    let content_type = content_type_of(&requests[0].file);
    let mut page = WatchedPage::new(urls, &content_type, rule);
    let mut now_s = 0;
    let mut reports = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        now_s += request.since_last_s;
        let body = std::fs::read(&request.file).unwrap();
        let address = request.led_to.as_deref().unwrap_or(address);
        for second in 0..3 {
            let (report, wants_second_look) = page.look(&body, address, now_s + 60 * second);
            reports.push(LookReport { look: number + 1, ..report });
            if !(with_second_looks && wants_second_look) {
                break;
            }
        }
    }
    reports
}

/// The requests of a history, from `looks.tsv`. A redirect is followed to the file with the name of its last segment.
pub(super) fn requests(directory: &Path) -> Vec<Request> {
    let table = std::fs::read_to_string(directory.join("looks.tsv")).unwrap();
    let request = |line: &str| {
        let [minutes, _, file] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let led_to = file.strip_prefix("-> ").map(str::to_owned);
        let name = match &led_to {
            Some(address) => match address.rsplit('/').next() {
                None | Some("") => "home.html".to_owned(),
                Some(segment) => format!("{segment}.html"),
            },
            None => file.to_owned(),
        };
        Request { since_last_s: 60 * minutes.parse::<i64>().unwrap(), file: directory.join(name), led_to }
    };
    table.lines().skip(1).map(request).collect()
}

/// The type that the case names, or the one of the file's ending.
pub(super) fn content_type_of(file: &Path) -> String {
    if let Ok(named) = std::fs::read_to_string(file.with_file_name("content-type")) {
        return named.trim().to_owned();
    }
    let mime = match file.extension().and_then(|ending| ending.to_str()) {
        Some("xml") => "application/rss+xml; charset=utf-8",
        Some("json") => "application/json",
        Some("pdf") => "application/pdf",
        _ => "text/html; charset=utf-8",
    };
    mime.to_owned()
}

/// The rule of a case, if it has one.
pub(super) fn rule(directory: &Path) -> Option<WatchRule> {
    std::fs::read_to_string(directory.join("rule.toml")).ok().map(|text| compiled(&text))
}

/// The first rule of a file of settings.
pub(super) fn compiled(text: &str) -> WatchRule {
    let files = [("rule.toml", text)];
    let layers = Layers { files: &files, environment: std::iter::empty(), overrides: &[] };
    let settings = Settings::from_layers(layers).unwrap();
    watch::configured(&settings).unwrap().iter().next().unwrap().clone()
}
