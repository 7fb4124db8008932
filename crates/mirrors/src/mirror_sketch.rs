//! A page as it is compared with other pages: the sketches of its text and of its links.

use crate::link_sketch::LinkSketch;
use crate::packed_sketch::{BandKey, PACKED_BYTES, PackedSketch};
use crate::text_sketch::TextSketch;
use thiserror::Error;

/// The first byte of an encoded sketch.
const VERSION: u8 = 2;
/// Bits of the second byte, which says which sketches follow.
const HAS_TEXT: u8 = 1;
const HAS_LINKS: u8 = 2;
/// The numbers of the first bands. Texts share no bucket with links.
const FIRST_TEXT_BAND: u8 = 0;
const FIRST_LINK_BAND: u8 = 128;

/// The sketches of a page's text and links; at least one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorSketch {
    text: Option<TextSketch>,
    links: Option<LinkSketch>,
}

/// Bytes that are no [`MirrorSketch`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a sketch of a page has 66 (text or links) to 132 bytes of which the first is 2; found {0} bytes")]
pub struct NotASketch(usize);

impl MirrorSketch {
    /// `None` for a page that has neither enough text nor enough links.
    pub fn new(text: Option<TextSketch>, links: Option<LinkSketch>) -> Option<Self> {
        (text.is_some() || links.is_some()).then_some(Self { text, links })
    }

    /// The sketch of the text, if that is long enough.
    pub fn text(&self) -> Option<&TextSketch> {
        self.text.as_ref()
    }

    /// The sketch of the links, if the page has a number of links that can be compared.
    pub fn links(&self) -> Option<&LinkSketch> {
        self.links.as_ref()
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    ///
    /// # Errors
    /// If they were written by nothing else.
    pub fn decode(bytes: &[u8]) -> Result<Self, NotASketch> {
        Self::read(bytes).ok_or(NotASketch(bytes.len()))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (&[VERSION, parts], mut rest) = bytes.split_first_chunk()? else { return None };
        if parts & !(HAS_TEXT | HAS_LINKS) != 0 {
            return None;
        }
        let (mut text, mut links) = (None, None);
        if parts & HAS_TEXT != 0 {
            text = Some(TextSketch(take_slots(&mut rest)?));
        }
        if parts & HAS_LINKS != 0 {
            let (degree, slots) = rest.split_first_chunk()?;
            rest = slots;
            links = Some(LinkSketch { links: u16::from_le_bytes(*degree), slots: take_slots(&mut rest)? });
        }
        rest.is_empty().then(|| Self::new(text, links))?
    }

    /// Encodes the sketch in at most 132 bytes.
    pub fn encode(&self) -> Vec<u8> {
        let parts = [(self.text.is_some(), HAS_TEXT), (self.links.is_some(), HAS_LINKS)];
        let parts = parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, part)| part).sum();
        let mut bytes = Vec::with_capacity(2 + TextSketch::BYTES + LinkSketch::BYTES);
        bytes.extend([VERSION, parts]);
        if let Some(text) = &self.text {
            bytes.extend(text.0.0);
        }
        if let Some(links) = &self.links {
            bytes.extend(links.links.to_le_bytes());
            bytes.extend(links.slots.0);
        }
        bytes
    }

    /// The buckets the page belongs to: those of its text, then those of its links.
    pub fn bands(&self) -> Vec<BandKey> {
        self.keys().collect()
    }

    fn keys(&self) -> impl Iterator<Item = BandKey> {
        let text = self.text.iter().flat_map(|text| text.0.keys(FIRST_TEXT_BAND));
        text.chain(self.links.iter().flat_map(|links| links.slots.keys(FIRST_LINK_BAND)))
    }

    /// The first bucket that both pages belong to.
    pub(crate) fn first_common_band(&self, other: &Self) -> Option<BandKey> {
        let texts = self.text.as_ref().zip(other.text.as_ref());
        let in_texts = texts.and_then(|(a, b)| first_common(a.0.keys(FIRST_TEXT_BAND), b.0.keys(FIRST_TEXT_BAND)));
        in_texts.or_else(|| {
            let (ours, theirs) = self.links.as_ref().zip(other.links.as_ref())?;
            first_common(ours.slots.keys(FIRST_LINK_BAND), theirs.slots.keys(FIRST_LINK_BAND))
        })
    }
}

fn first_common(ours: impl Iterator<Item = BandKey>, theirs: impl Iterator<Item = BandKey>) -> Option<BandKey> {
    ours.zip(theirs).find(|(ours, theirs)| ours == theirs).map(|(band, _)| band)
}

fn take_slots(rest: &mut &[u8]) -> Option<PackedSketch> {
    let (slots, behind) = rest.split_first_chunk::<PACKED_BYTES>()?;
    *rest = behind;
    Some(PackedSketch(*slots))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::splitmix64;
    use change::ShingleSet;

    fn text() -> Option<TextSketch> {
        TextSketch::of(&ShingleSet::from_hashes(&(0..100).map(|n| (splitmix64(n) >> 32) as u32).collect::<Vec<_>>()))
    }

    fn links() -> Option<LinkSketch> {
        LinkSketch::of((0..20).map(splitmix64))
    }

    #[test]
    fn bytes_and_bands_are_pinned_because_they_are_stored() {
        for (text, links, length) in [(text(), None, 66), (None, links(), 68), (text(), links(), 132)] {
            let sketch = MirrorSketch::new(text, links).unwrap();
            let bytes = sketch.encode();
            assert_eq!((bytes.len(), MirrorSketch::decode(&bytes)), (length, Ok(sketch)));
        }
        let sketch = MirrorSketch::new(text(), links()).unwrap();
        let (bands, bytes) = (sketch.bands(), sketch.encode());
        assert_eq!((bands.len(), bands[0], bands[11][0]), (24, [0, 30, 192, 182, 193], 11));
        assert_eq!((bands[12][0], bands[23][0], &bands[12][1..]), (128, 139, &bytes[68..72]));
        assert_eq!((bands[0][1..].to_vec(), bytes[66..68].to_vec()), (bytes[2..6].to_vec(), vec![20, 0]));
        assert_eq!(MirrorSketch::new(None, None), None);
    }

    #[test]
    fn other_bytes_are_no_sketches() {
        let both = MirrorSketch::new(text(), links()).unwrap().encode();
        let altered = |place: usize, value: u8| {
            let mut bytes = both.clone();
            bytes[place] = value;
            bytes
        };
        let others = [
            both[..131].to_vec(),
            [&both[..], &[0]].concat(),
            altered(0, 1),
            altered(1, 7),
            altered(1, 1),
            vec![2, 0],
            vec![],
        ];
        for other in others {
            assert_eq!(MirrorSketch::decode(&other), Err(NotASketch(other.len())));
        }
    }
}
