//! Which pages have the same text?
//!
//! Takes the bands of pages' sketches, which are keyed by band, so that pages of whatever site meet here when they have one
//! in common ([`mirrors::best_match`]). It tells the page that came last of the page most like it; what the two make of that
//! is theirs to agree on, in the scheduler ([`mirrors::Ties`]).
//!
//! It never sees a text, and never decides who is fetched for whom.

mod state;

pub use crate::state::{BANDS, BandEntry, state_schemas};

use messages::{Message, MirrorLetter, MirrorSaying, PageBand, SchedulerEvent, topics};
use mirrors::{BandKey, Entry, MAX_BUCKET_PAGES, TextSketch, best_match};
use page::{PageId, Timestamp};
use std::ops::ControlFlow;
use stream::{Context, InputRecord, OutputId, ProcessError, Processor, StageSpec, StageWork};
use topology::Names;

const SCHEDULER_EVENTS: OutputId = OutputId(0);

/// The stage as data.
pub fn stage(names: &Names) -> StageSpec {
    StageSpec {
        name: "matcher".to_owned(),
        group: names.group("matcher"),
        input: names.topic(topics::PAGE_BANDS).into(),
        outputs: vec![names.topic(topics::SCHEDULER_EVENTS)],
        stores: names.stores("matcher", &["bands"]),
        broadcast: None,
        dead_letters: names.dead_letters(),
        punctuate_every: page::DAY,
        schemas: topology::schema_topic(names, state_schemas()),
        work: StageWork::Processors(Box::new(|_| Box::new(Matcher::default()))),
    }
}

/// One partition of the matcher.
#[derive(Debug, Default)]
pub struct Matcher {
    bands: u64,
    comparisons: u64,
    matches: u64,
    full_buckets: u64,
}

/// A page met in a bucket.
type Met = (Entry<PageId>, Timestamp);

impl Processor for Matcher {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(value) = &record.value else {
            return Err(ProcessError::SetAside("a tombstone is no band".to_owned()));
        };
        let band = PageBand::decode(value)?;
        let not_a_band = |_| ProcessError::SetAside(format!("a key of {} bytes names no band", record.key.len()));
        let key = BandKey::try_from(record.key.as_slice()).map_err(not_a_band)?;
        self.bands += 1;
        let Some(bytes) = &band.sketch else {
            context.delete(BANDS, state::key(&key, band.page_id));
            return Ok(());
        };
        let sketch = TextSketch::decode(bytes)
            .map_err(|error| ProcessError::SetAside(format!("the sketch of {}: {error}", band.page_id)))?;
        let page = Entry { page: band.page_id, host: band.host.as_str().to_owned(), sketch };
        let bucket = bucket(&key, context)?;
        self.comparisons += bucket.len() as u64;
        let (entries, versions): (Vec<_>, Vec<_>) = bucket.into_iter().unzip();
        if let Some(place) = best_match(&page, &entries, &key) {
            self.matches += 1;
            tell(&band, &entries[place], versions[place], context);
        }
        if entries.len() < MAX_BUCKET_PAGES || entries.iter().any(|entry| entry.page == page.page) {
            let entry = BandEntry { host: band.host, version_at: band.version_at, sketch: bytes.clone() };
            context.put(BANDS, state::key(&key, page.page), entry.encode());
        } else {
            self.full_buckets += 1;
        }
        Ok(())
    }

    fn figures(&self, _now: Timestamp) -> Vec<(&'static str, f64)> {
        vec![
            ("bands_total", self.bands as f64),
            ("comparisons_total", self.comparisons as f64),
            ("matches_total", self.matches as f64),
            ("full_buckets_total", self.full_buckets as f64),
        ]
    }
}

/// The pages that have a band, with the versions they had it in.
fn bucket(band: &BandKey, context: &Context<'_>) -> Result<Vec<Met>, ProcessError> {
    let mut met = Vec::new();
    let mut problem = None;
    context.scan(BANDS, band, &mut |key, value| {
        let Some(id) = key.strip_prefix(band) else { return ControlFlow::Break(()) };
        match entry(id, value) {
            Ok(entry) => {
                met.push(entry);
                ControlFlow::Continue(())
            }
            Err(error) => {
                problem = Some(format!("a band in the state store: {error}"));
                ControlFlow::Break(())
            }
        }
    })?;
    problem.map_or(Ok(met), |problem| Err(ProcessError::Damaged(problem)))
}

fn entry(id: &[u8], value: &[u8]) -> Result<Met, String> {
    let page = <[u8; 16]>::try_from(id).map(PageId).map_err(|_| format!("{} bytes are no page id", id.len()))?;
    let entry = BandEntry::decode(value).map_err(|error| error.to_string())?;
    let sketch = TextSketch::decode(&entry.sketch).map_err(|error| error.to_string())?;
    Ok((Entry { page, host: entry.host.as_str().to_owned(), sketch }, entry.version_at))
}

/// Tells a page of its mirror.
fn tell(band: &PageBand, mirror: &Entry<PageId>, of_version_at: Timestamp, context: &mut Context<'_>) {
    let letter = MirrorLetter {
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
    let to = band.host.site_key();
    context.emit(SCHEDULER_EVENTS, to.as_str(), SchedulerEvent::Letter(letter).encode());
}
