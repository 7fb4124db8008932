//! Which trace a record belongs to, by W3C Trace Context, and the ids of the spans that stages add to it.
//!
//! Ids are hashes of the work that a span stands for, so a stage that repeats its work after a crash gives the same ids
//! again.

use std::fmt::{self, Write as _};

/// Name of the record header that carries a [`TraceContext`].
pub const TRACEPARENT: &str = "traceparent";

/// Length of version 00 of the header.
const LENGTH: usize = 55;
/// The flag of a trace that is recorded.
const SAMPLED: u8 = 1;
/// The flags that the recommendation knows. Others are not passed on.
const KNOWN_FLAGS: u8 = 3;
/// Bits of a trace id that decide whether it is sampled.
const DECIDING_BITS: u32 = 56;

/// Id of a trace; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId([u8; 16]);

/// Id of a span; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId([u8; 8]);

/// The trace of a record, and the span that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    pub trace_id: TraceId,
    /// The span that made the record.
    pub span_id: SpanId,
    flags: u8,
}

impl TraceId {
    /// The trace that begins with a record of this content.
    pub fn of_record(topic: &str, key: &[u8], value: &[u8]) -> Self {
        let bytes = digest(&[b"trace", topic.as_bytes(), key, value]);
        Self::from_bytes(bytes).unwrap_or(Self([1; 16]))
    }

    /// The id of these bytes; `None` if all are zero.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The first span of the trace.
    pub fn first_span(self) -> SpanId {
        SpanId::of(&[b"first", &self.0])
    }
}

impl SpanId {
    fn of(parts: &[&[u8]]) -> Self {
        Self::from_bytes(digest(parts)).unwrap_or(Self([1; 8]))
    }

    /// The id of these bytes; `None` if all are zero.
    pub fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        (bytes != [0; 8]).then_some(Self(bytes))
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl TraceContext {
    /// Number of bytes of [`Self::to_bytes`].
    pub const BYTES: usize = 25;

    /// A sampled trace, as its first span begins it.
    pub fn begun(trace_id: TraceId) -> Self {
        Self { trace_id, span_id: trace_id.first_span(), flags: SAMPLED }
    }

    /// Reads the header of version 00, or what later versions have in common with it. `None` if it is not valid: then the
    /// record belongs to no trace.
    pub fn parse(header: &[u8]) -> Option<Self> {
        let (known, rest) = header.split_at_checked(LENGTH)?;
        let version = hex::<1>(&known[..2])?[0];
        let is_readable = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.first().is_none_or(|next| *next == b'-'),
        };
        if !is_readable || [2, 35, 52].iter().any(|place| known[*place] != b'-') {
            return None;
        }
        Some(Self {
            trace_id: TraceId::from_bytes(hex(&known[3..35])?)?,
            span_id: SpanId::from_bytes(hex(&known[36..52])?)?,
            flags: hex::<1>(&known[53..])?[0] & KNOWN_FLAGS,
        })
    }

    /// Whether the trace is recorded. Its first span decided that.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The context of the span that processes a record of this one. `of` says which stage processes which record.
    pub fn processed(&self, of: &[&[u8]]) -> Self {
        let parts = [&[b"process", &self.trace_id.0[..], &self.span_id.0[..]], of].concat();
        Self { span_id: SpanId::of(&parts), ..*self }
    }

    /// The context of a step within its span.
    pub fn step(&self, number: usize) -> Self {
        let number = (number as u64).to_be_bytes();
        Self { span_id: SpanId::of(&[b"step", &self.trace_id.0, &self.span_id.0, &number]), ..*self }
    }

    /// Its shortest form, for logs without headers: trace id, span id, flags.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.trace_id.0);
        bytes[16..24].copy_from_slice(&self.span_id.0);
        bytes[24] = self.flags;
        bytes
    }

    /// Reads [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let ([trace_id @ .., _, _, _, _, _, _, _, _, _], [.., flags]) = (bytes, bytes);
        let span_id: [u8; 8] = bytes[16..24].try_into().ok()?;
        let (trace_id, span_id) = (TraceId::from_bytes(trace_id)?, SpanId::from_bytes(span_id)?);
        (flags & !KNOWN_FLAGS == 0).then_some(Self { trace_id, span_id, flags })
    }
}

/// The header's value.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

/// Chooses which traces are recorded. The same traces everywhere: the decision follows from the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// The least value of the deciding bits that is sampled.
    from: u64,
}

impl Sampler {
    /// A sampler of this share of all traces, 0 to 1.
    pub fn of(ratio: f64) -> Self {
        let all = (1_u64 << DECIDING_BITS) as f64;
        Self { from: ((1.0 - ratio.clamp(0.0, 1.0)) * all) as u64 }
    }

    /// Whether it samples no trace at all.
    pub fn is_never(self) -> bool {
        self.from == 1 << DECIDING_BITS
    }

    /// Whether a trace is sampled. Its last 56 bits count as random, as in OpenTelemetry's samplers.
    pub fn samples(self, trace: TraceId) -> bool {
        let bits = u128::from_be_bytes(trace.0) as u64 & ((1 << DECIDING_BITS) - 1);
        bits >= self.from
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut write = |half: u8| f.write_char(char::from(DIGITS[usize::from(half)]));
    bytes.iter().try_for_each(|byte| write(byte >> 4).and_then(|()| write(byte & 15)))
}

/// Bytes in lower-case hexadecimal digits; upper case is not allowed.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let half = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = half(pair[0])? << 4 | half(pair[1])?;
    }
    (digits.len() == 2 * N).then_some(bytes)
}

/// The first bytes of a hash of these parts, each with its length, so that no two lists of parts are alike.
fn digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let mut bytes = [0; N];
    hasher.finalize_xof().fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parsed(header: &str) -> Option<String> {
        TraceContext::parse(header.as_bytes()).map(|context| context.to_string())
    }

    #[test]
    fn a_header_is_read_as_the_recommendation_says() {
        assert_eq!(parsed(EXAMPLE).as_deref(), Some(EXAMPLE));
        let context = TraceContext::parse(EXAMPLE.as_bytes()).unwrap();
        assert!(context.is_sampled());
        assert!(!TraceContext::parse(EXAMPLE.replace("-01", "-02").as_bytes()).unwrap().is_sampled());
        // Flags that the recommendation does not know are not passed on.
        assert_eq!(parsed(&EXAMPLE.replace("-01", "-ff")), Some(EXAMPLE.replace("-01", "-03")));
        // A later version is read as far as it is alike, and answered as version 00.
        assert_eq!(parsed(&EXAMPLE.replacen("00-", "cc-", 1)).as_deref(), Some(EXAMPLE));
        assert_eq!(parsed(&format!("{}-what-comes", EXAMPLE.replacen("00-", "cc-", 1))).as_deref(), Some(EXAMPLE));
    }

    #[test]
    fn a_header_that_breaks_a_rule_means_no_trace() {
        let wrong = [
            EXAMPLE.replacen("00-", "ff-", 1),
            EXAMPLE.to_uppercase(),
            EXAMPLE.replace("4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000000000000000000000"),
            EXAMPLE.replace("00f067aa0ba902b7", "0000000000000000"),
            EXAMPLE.replace("-01", "-0x"),
            EXAMPLE.replace('-', "_"),
            format!("{EXAMPLE}-more"),
            format!("{EXAMPLE} "),
            format!("{}x", EXAMPLE.replacen("00-", "cc-", 1)),
            EXAMPLE[..54].to_owned(),
            String::new(),
        ];
        for header in wrong {
            assert_eq!(parsed(&header), None, "{header}");
        }
    }

    #[test]
    fn ids_differ_by_what_they_are_about_and_never_by_when() {
        let trace = TraceId::of_record("requests", b"key", b"value");
        assert_eq!(trace, TraceId::of_record("requests", b"key", b"value"));
        assert_ne!(trace, TraceId::of_record("requests", b"keyv", b"alue"));
        let begun = TraceContext::begun(trace);
        let processed = begun.processed(&[b"fetcher", b"requests", &[0, 1], &[7]]);
        assert_eq!(processed, begun.processed(&[b"fetcher", b"requests", &[0, 1], &[7]]));
        let others = [
            begun,
            begun.processed(&[b"fetcher", b"requests", &[0, 1], &[8]]),
            begun.processed(&[b"detector", b"requests", &[0, 1], &[7]]),
            processed.processed(&[b"fetcher", b"requests", &[0, 1], &[7]]),
            processed.step(0),
            processed.step(1),
        ];
        let spans: std::collections::BTreeSet<_> = others.iter().map(|context| context.span_id).collect();
        assert!(spans.len() == others.len() && !spans.contains(&processed.span_id));
        assert!(others.iter().all(|context| context.trace_id == trace && context.is_sampled()));
    }

    #[test]
    fn a_sampler_takes_its_share_and_a_larger_one_takes_the_same_and_more() {
        let traces: Vec<_> =
            (0_u32..20_000).map(|number| TraceId::of_record("requests", b"", &number.to_be_bytes())).collect();
        let share = |ratio: f64| {
            let sampler = Sampler::of(ratio);
            traces.iter().filter(|trace| sampler.samples(**trace)).count() as f64 / traces.len() as f64
        };
        assert_eq!((share(0.0), share(1.0)), (0.0, 1.0));
        assert!(Sampler::of(0.0).is_never() && !Sampler::of(1e-9).is_never());
        for ratio in [0.01, 0.25, 0.9] {
            assert!((share(ratio) - ratio).abs() < 4.0 * (ratio * (1.0 - ratio) / 20_000.0_f64).sqrt(), "{ratio}");
        }
        assert!(traces.iter().all(|trace| !Sampler::of(0.1).samples(*trace) || Sampler::of(0.2).samples(*trace)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(trace in any::<[u8; 16]>(), span in any::<[u8; 8]>(), flags in 0_u8..4) {
            let ids = TraceId::from_bytes(trace).zip(SpanId::from_bytes(span));
            prop_assume!(ids.is_some());
            let (trace_id, span_id) = ids.unwrap();
            let context = TraceContext { trace_id, span_id, flags };
            prop_assert_eq!(TraceContext::parse(context.to_string().as_bytes()), Some(context));
            prop_assert_eq!(TraceContext::from_bytes(context.to_bytes()), Some(context));
        }

        /// Whatever is read is written in version 00, and read again as the same.
        #[test]
        fn any_bytes_are_read_or_refused(header in "[0-9a-fA-F]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}.{0,4}") {
            if let Some(context) = TraceContext::parse(header.as_bytes()) {
                prop_assert_eq!(TraceContext::parse(context.to_string().as_bytes()), Some(context));
                prop_assert!(!header.starts_with("ff") && header[..2] == header[..2].to_lowercase());
            }
        }

        #[test]
        fn nonsense_is_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = TraceContext::parse(&bytes);
        }
    }
}
