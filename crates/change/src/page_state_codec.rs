//! The bytes of a page's state. The history of fetches takes 66 bytes, and 8 per recently touched place. The version
//! takes 19 bytes, 8 per unit (a median page has 107), some 3 and its text per unit outside the frame, and the shingles.

use crate::held_versions::HeldVersions;
use crate::noise::{Forms, KnownValues, Noise, Places};
use crate::page_memory::{LookMemory, MAX_LOOKS_IN_ROW, VersionMemory};
use crate::page_place::{PagePlace, Redirect};
use crate::second_looks::{MAX_RETURNS, MAX_SECOND_LOOK_DOUBLINGS};
use crate::shingle::ShingleSet;
use crate::state_codec::{StateDecodeError, list, put, take};
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;

const LOOKS_VERSION: u8 = 6;
const VERSION_VERSION: u8 = 5;

impl LookMemory {
    /// Encodes a state value: a version byte, a byte of flags (1 seen, 2 gone, 4 missing, 8 obscured, 16 a pointer), the counts
    /// held, asked, rest, turns, returns, absences and looks in a row, a byte for the redirect; the digest, confirmed and
    /// withdrawn as u16, the region's bytes, the seconds held, the place now and the usual place as u32; then open added, open
    /// removed, left, and of noise the places, values, forms and unsettled values, each a u32 count and its u64s. All
    /// little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let flags = [self.digest.is_some(), self.gone, self.missing, self.obscured, self.place.is_pointer];
        let flags = flags.iter().rev().fold(0, |flags, flag| flags << 1 | u8::from(*flag));
        let counts = [self.held.versions, self.asked, self.rest, self.turns, self.returns, self.absences, self.in_row];
        let mut out = vec![LOOKS_VERSION, flags];
        out.extend_from_slice(&counts);
        out.push(self.place.redirect.code());
        out.extend_from_slice(&self.digest.unwrap_or_default());
        out.extend_from_slice(&self.confirmed.to_le_bytes());
        out.extend_from_slice(&self.withdrawn.to_le_bytes());
        for number in [self.region_bytes, self.held.lasted_s, self.place.now, self.place.usual] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for list in [&self.open_added, &self.open_removed, &self.left] {
            put(&mut out, list.iter().map(|key| key.0));
        }
        let pair = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
        put(&mut out, self.noise.places.entries().iter().map(|(place, history)| pair(*place, *history)));
        put(&mut out, self.noise.values.entries().into_iter());
        put(&mut out, self.noise.forms.entries());
        put(&mut out, self.noise.unsettled.iter().map(|(place, value)| pair(*place, *value)));
        out
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        let mut rest = bytes;
        let [version, flags] = take(&mut rest)?;
        if version != LOOKS_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let [versions, asked, looks_to_rest, turns, returns, absences, in_row] = take(&mut rest)?;
        let [redirect] = take(&mut rest)?;
        let redirect = Redirect::of_code(redirect).ok_or(StateDecodeError::BadLength)?;
        let digest = take::<8>(&mut rest)?;
        let confirmed = u16::from_le_bytes(take(&mut rest)?);
        let withdrawn = u16::from_le_bytes(take(&mut rest)?);
        let mut number = || -> Result<u32, StateDecodeError> { Ok(u32::from_le_bytes(take(&mut rest)?)) };
        let [region_bytes, lasted_s, now, usual] = [number()?, number()?, number()?, number()?];
        let (open_added, open_removed, left) = (keys(&mut rest)?, keys(&mut rest)?, keys(&mut rest)?);
        let pair = |entry: u64| ((entry >> 32) as u32, entry as u32);
        let noise = Noise {
            places: Places::from_entries(list(&mut rest)?.map(pair).collect()).ok_or(StateDecodeError::NotAscending)?,
            values: KnownValues::from_entries(list(&mut rest)?).ok_or(StateDecodeError::BadLength)?,
            forms: Forms::from_entries(list(&mut rest)?),
            unsettled: list(&mut rest)?.map(pair).collect(),
        };
        if flags > 31 || !rest.is_empty() {
            return Err(StateDecodeError::BadLength);
        }
        Ok(Self {
            digest: (flags & 1 == 1).then_some(digest),
            gone: flags & 2 == 2,
            missing: flags & 4 == 4,
            obscured: flags & 8 == 8,
            held: HeldVersions { versions, lasted_s },
            absences,
            place: PagePlace { now, usual, redirect, is_pointer: flags & 16 == 16 },
            asked: asked.min(MAX_SECOND_LOOK_DOUBLINGS),
            rest: looks_to_rest,
            turns,
            left,
            returns: returns.min(MAX_RETURNS),
            confirmed,
            withdrawn,
            region_bytes,
            open_added,
            open_removed,
            in_row: in_row.min(MAX_LOOKS_IN_ROW),
            noise,
        })
    }
}

impl VersionMemory {
    /// Encodes a state value: a version byte; the units without a text, other and past, each a u32 count and its u64s; the
    /// other units with their texts as `UnitTexts::encode_into` writes them; the length of the earlier version as u32, 0
    /// without, and its bytes; then the shingles as [`ShingleSet::encode_into`] writes them. All little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION_VERSION];
        let without_text: Vec<UnitKey> =
            self.units.iter().filter(|key| self.texts.find(key.name()).is_none()).copied().collect();
        for list in [&without_text, &self.other, &self.past] {
            put(&mut out, list.iter().map(|key| key.0));
        }
        self.texts.encode_into(&mut out);
        let earlier = self.earlier.as_ref().map(|earlier| earlier.encode()).unwrap_or_default();
        out.extend_from_slice(&(earlier.len() as u32).to_le_bytes());
        out.extend_from_slice(&earlier);
        self.shingles.encode_into(&mut out);
        out
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        Self::decode_with(bytes, true)
    }

    /// Decodes a version that may have an earlier one, which has none itself.
    fn decode_with(bytes: &[u8], may_have_earlier: bool) -> Result<Self, StateDecodeError> {
        let mut rest = bytes;
        let [version] = take(&mut rest)?;
        if version != VERSION_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let (mut units, other, past) = (keys(&mut rest)?, keys(&mut rest)?, keys(&mut rest)?);
        let texts = UnitTexts::decode(&mut rest)?;
        let length = u32::from_le_bytes(take(&mut rest)?) as usize;
        let (bytes, rest) = rest.split_at_checked(length).ok_or(StateDecodeError::BadLength)?;
        let earlier = match (bytes.is_empty(), may_have_earlier) {
            (true, _) => None,
            (false, true) => Some(Box::new(Self::decode_with(bytes, false)?)),
            (false, false) => return Err(StateDecodeError::BadLength),
        };
        // Two sorted runs, which a stable sort merges.
        units.extend(texts.keys());
        units.sort_by_key(|key| key.name());
        let in_order = |units: &[UnitKey]| units.is_sorted_by(|one, next| one.name() < next.name());
        if !in_order(&units) || !in_order(&other) {
            return Err(StateDecodeError::NotAscending);
        }
        Ok(Self { units, other, past, texts, earlier, shingles: ShingleSet::decode(rest)? })
    }
}

fn keys(rest: &mut &[u8]) -> Result<Vec<UnitKey>, StateDecodeError> {
    Ok(list(rest)?.map(UnitKey).collect())
}
