//! Reads the body of a page: checks its head, unpacks it, and enforces the limits.

use crate::codings::{BodyLimits, BodyProblem, Coding, More, Unpacker};
use crate::memory::{BodyMemory, GivenUp, KeptMemory};
use crate::recorder::{RecordedBody, Recorder};
use crate::request::RequestedResource;
use crate::response::{FetchFailure, OwnCause};
use crate::rules::FetcherRules;
use crate::sniff;
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use messages::FetchOutcome;
use std::time::Duration;

/// Most bytes read from the body of a response that is not a page, and the longest time spent on it.
const DRAINED_BYTES: u64 = 64 << 10;
pub(crate) const DRAINED_WITHIN: Duration = Duration::from_secs(2);

/// A body being received.
pub(crate) struct Intake {
    unpacker: Unpacker,
    media_type: MediaTypeCheck,
    max_pack_ratio: u64,
}

/// A body that was read.
pub(crate) struct TakenBody {
    pub(crate) body: Bytes,
    pub(crate) is_cut: bool,
    pub(crate) memory: KeptMemory,
}

impl Intake {
    /// Accepts a body of `announced` bytes, if its head allows it, once there is memory for it.
    pub(crate) async fn begin(
        headers: &HeaderMap,
        announced: u64,
        wanted: RequestedResource<'_>,
        rules: &FetcherRules,
        memory: &BodyMemory,
    ) -> Result<Self, FetchFailure> {
        let media_type = wanted_type(headers, wanted, rules)?;
        let refused = |coding| {
            FetchFailure::new(FetchOutcome::ContentRefused, format!("content coding {coding} was not requested"))
        };
        // An HTTP/1.1 request asks for no transfer coding but chunked.
        if let Some(value) = headers.get_all(header::TRANSFER_ENCODING).iter().find(|value| !is_chunked(value)) {
            let detail = format!("transfer coding {value:?} was not requested");
            return Err(FetchFailure::new(FetchOutcome::MalformedResponse, detail));
        }
        let coding = Coding::of(headers).map_err(refused)?;
        let max_pack_ratio = rules.fetch.max_pack_ratio;
        let limits = BodyLimits {
            wire: if coding == Coding::Identity { u64::MAX } else { wanted.max_packed_body(rules) },
            kept: wanted.max_body(rules),
            ratio: max_pack_ratio,
        };
        // The unpacked length of a packed body is not known.
        let length = (coding == Coding::Identity && announced > 0).then(|| announced.min(limits.kept as u64) as usize);
        let unpacker = Unpacker::new(coding, limits, announced, memory.begin(length).await.map_err(given_up)?);
        let unpacker = unpacker.map_err(|error| does_not_unpack(&error.to_string()))?;
        Ok(Self { unpacker, media_type, max_pack_ratio })
    }

    /// Takes the next piece of the body, once there is memory for its content.
    pub(crate) async fn take(&mut self, piece: &[u8]) -> Result<More, FetchFailure> {
        for slice in piece.chunks(self.unpacker.slice_bytes(piece.len())) {
            self.unpacker.make_room(slice.len()).await.map_err(given_up)?;
            let more = self.unpacker.take(slice).map_err(|problem| failure_of(problem, self.max_pack_ratio))?;
            if more == More::Cut {
                return Ok(More::Cut);
            }
        }
        Ok(More::Wanted)
    }

    /// Whether a limit was reached.
    pub(crate) fn is_cut(&self) -> bool {
        self.unpacker.is_cut()
    }

    /// The body as it is kept. It may have been broken off by a lost connection.
    pub(crate) fn finish(mut self, is_broken_off: bool, rules: &FetcherRules) -> Result<TakenBody, FetchFailure> {
        let (body, is_cut) =
            self.unpacker.finish(is_broken_off).map_err(|problem| failure_of(problem, self.max_pack_ratio))?;
        if self.media_type == MediaTypeCheck::NotDeclared && !rules.fetch.allows_content(sniff::media_type(&body)) {
            return Err(unwanted_type(sniff::media_type(&body)));
        }
        let memory = self.unpacker.room().keep(body.len());
        Ok(TakenBody { body: body.into(), is_cut, memory })
    }
}

fn is_chunked(value: &HeaderValue) -> bool {
    value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked")
}

fn failure_of(problem: BodyProblem, max_pack_ratio: u64) -> FetchFailure {
    match problem {
        BodyProblem::Bomb => {
            let detail = format!("the body unpacks to more than {max_pack_ratio} times its size");
            FetchFailure::new(FetchOutcome::TooLarge, detail)
        }
        BodyProblem::NoMemory => {
            let detail = "it unpacks to more than there was memory for at the time (fetch.memory)";
            FetchFailure::new(FetchOutcome::ConnectionLost, detail.to_owned())
        }
        BodyProblem::Corrupt(detail) => does_not_unpack(&detail),
    }
}

fn given_up(_: GivenUp) -> FetchFailure {
    let detail = "the fetcher stops, and there is no memory for the body".to_owned();
    FetchFailure { ours: Some(OwnCause::Stops), ..FetchFailure::new(FetchOutcome::ConnectionLost, detail) }
}

fn does_not_unpack(detail: &str) -> FetchFailure {
    FetchFailure::new(FetchOutcome::MalformedResponse, format!("cannot decompress the body: {detail}"))
}

/// Result of checking the media type in the head. A type that is not declared is guessed from the body.
#[derive(PartialEq, Eq)]
enum MediaTypeCheck {
    Passed,
    NotDeclared,
}

/// Refuses an unwanted media type before the body is read.
fn wanted_type(
    headers: &HeaderMap,
    wanted: RequestedResource<'_>,
    rules: &FetcherRules,
) -> Result<MediaTypeCheck, FetchFailure> {
    if rules.fetch.allows_all_content() || !matches!(wanted, RequestedResource::Page { .. }) {
        return Ok(MediaTypeCheck::Passed);
    }
    // Bytes that are not ASCII are in a parameter.
    let value = headers.get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let value = value.unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim() {
        "" => Ok(MediaTypeCheck::NotDeclared),
        media_type if rules.fetch.allows_content(media_type) => Ok(MediaTypeCheck::Passed),
        media_type => Err(unwanted_type(media_type)),
    }
}

fn unwanted_type(media_type: &str) -> FetchFailure {
    FetchFailure::new(FetchOutcome::ContentRefused, format!("{media_type} is not among fetch.content_types"))
}

/// Reads the body of a response that is not a page, so that the connection can be reused, and discards it unless it is
/// recorded. The status is known by then, so errors here are ignored.
pub(crate) struct Drain {
    pub(crate) bytes: u64,
    recorder: Option<Recorder>,
}

impl Drain {
    /// Begins with a body of `announced` bytes, if its length is known.
    pub(crate) fn begin(
        headers: &HeaderMap,
        announced: Option<u64>,
        rules: &FetcherRules,
        memory: &BodyMemory,
    ) -> Self {
        let is_recorded = rules.fetch.record_failures;
        let recorder = is_recorded.then(|| Recorder::begin(headers, announced, rules, memory)).flatten();
        Self { bytes: 0, recorder }
    }

    pub(crate) fn take(&mut self, piece: &[u8]) -> More {
        self.bytes += piece.len() as u64;
        self.recorder.take_if(|recorder| !recorder.take(piece));
        if self.bytes <= DRAINED_BYTES { More::Wanted } else { More::Cut }
    }

    /// The body, if it is recorded.
    pub(crate) fn finish(self, is_whole: bool) -> Option<RecordedBody> {
        self.recorder?.finish(is_whole)
    }
}
