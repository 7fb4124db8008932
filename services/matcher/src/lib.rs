//! Which pages are copies of each other?
//!
//! Reads the bands of pages' sketches of text and links. They are keyed by band, so that pages of any site that share a band meet here
//! ([`MirrorRule::best_match`]). Sends the page that came last a message about the page most like it. The two then agree
//! in the scheduler on which follows the other ([`mirrors::Ties`]).
//!
//! It never sees a page, and never decides which page is fetched for which.

mod state;

pub use crate::state::{BANDS, BandEntry, BucketKey};

use messages::topics::{PAGE_BANDS, SCHEDULER_EVENTS};
use messages::{MirrorMessage, MirrorSaying, PageBand};
use metrics::{Figure, matcher as figure};
use mirrors::{BandKey, MAX_BUCKET_PAGES, MirrorRule, MirrorSketch, SketchEntry, Threshold};
use page::{PageId, Timestamp};
use settings::Settings;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;

/// The topics and tables of the stage.
pub fn topology() -> StageTopology {
    StageTopology::new("matcher", PAGE_BANDS).keeps(BANDS).writes(SCHEDULER_EVENTS)
}

/// The stage, ready to run.
pub fn stage(settings: &Settings, names: &LogNames) -> StageSpec {
    let links = settings.detector.mirror_links.and_then(Threshold::near);
    let rule = links.map_or(MirrorRule::Texts, MirrorRule::TextsAndLinks);
    let work = StageWork::Processors(Box::new(move |_| Box::new(Matcher::new(rule))));
    names.stage(&topology(), page::DAY, work)
}

/// One partition of the matcher.
#[derive(Debug)]
pub struct Matcher {
    rule: MirrorRule,
    bands: u64,
    comparisons: u64,
    matches: u64,
    full_buckets: u64,
}

impl Matcher {
    /// A matcher that decides by this rule.
    pub fn new(rule: MirrorRule) -> Self {
        Self { rule, bands: 0, comparisons: 0, matches: 0, full_buckets: 0 }
    }
}

/// A page in a bucket, with the time of its version.
type Met = (SketchEntry<PageId>, Timestamp);

impl Processor for Matcher {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let band = record.read(PAGE_BANDS)?;
        let key = band.band.0;
        if record.key != key {
            return Err(ProcessError::SetAside("its key differs from its band".to_owned()));
        }
        self.bands += 1;
        let place = BucketKey { band: key, page: band.page_id };
        let Some(bytes) = &band.sketch else {
            context.delete(BANDS, &place);
            return Ok(());
        };
        let sketch = MirrorSketch::decode(bytes)
            .map_err(|error| ProcessError::SetAside(format!("the sketch of {}: {error}", band.page_id)))?;
        let page = SketchEntry { page: band.page_id, host: band.host.as_str().to_owned(), sketch };
        let bucket = bucket(&key, context)?;
        self.comparisons += bucket.len() as u64;
        let (entries, versions): (Vec<_>, Vec<_>) = bucket.into_iter().unzip();
        if let Some(place) = self.rule.best_match(&page, &entries, &key) {
            self.matches += 1;
            report(&band, &entries[place], versions[place], context);
        }
        if entries.len() < MAX_BUCKET_PAGES || entries.iter().any(|entry| entry.page == page.page) {
            let entry = BandEntry { host: band.host, version_at: band.version_at, sketch: bytes.clone() };
            context.put(BANDS, &place, &entry);
        } else {
            self.full_buckets += 1;
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        vec![
            (figure::BANDS, self.bands as f64),
            (figure::COMPARISONS, self.comparisons as f64),
            (figure::MATCHES, self.matches as f64),
            (figure::FULL_BUCKETS, self.full_buckets as f64),
        ]
    }
}

/// The pages in the bucket of a band, each with the time of the version that has the band.
fn bucket(band: &BandKey, context: &Context<'_>) -> Result<Vec<Met>, ProcessError> {
    let mut met = Vec::new();
    context.scan(BANDS, band, &mut |key, entry| {
        let damaged = |error| ProcessError::Damaged(format!("the sketch of {} in a bucket: {error}", key.page));
        let sketch = MirrorSketch::decode(&entry.sketch).map_err(damaged)?;
        met.push((SketchEntry { page: key.page, host: entry.host.as_str().to_owned(), sketch }, entry.version_at));
        Ok(())
    })?;
    Ok(met)
}

/// Sends a page its mirror.
fn report(band: &PageBand, mirror: &SketchEntry<PageId>, of_version_at: Timestamp, context: &mut Context<'_>) {
    let message = MirrorMessage {
        to: band.page_id,
        to_site: band.host.site_key(),
        about: mirror.page,
        about_site: page::Host::from_authority(mirror.host.as_str()).site_key(),
        saying: MirrorSaying::Candidate,
        url: None,
        weight: 0.0,
        version_at: Some(band.version_at),
        of_version_at: Some(of_version_at),
        epoch: 0,
    };
    context.emit(SCHEDULER_EVENTS, message);
}
