//! The bytes of a page's state. The history of fetches takes 43 bytes, and 8 per recently touched slot. The version
//! takes 15 bytes, 8 per unit (a median page has 107), some 3 and its text per unit outside the frame, and the shingles.

use crate::guard::HeldVersions;
use crate::page_state::{LookMemory, VersionMemory};
use crate::second_looks::{MAX_RETURNS, MAX_SECOND_LOOK_DOUBLINGS};
use crate::shingle::ShingleSet;
use crate::slots::Slots;
use crate::state_codec::{StateDecodeError, list, put, take};
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;

const LOOKS_VERSION: u8 = 4;
const VERSION_VERSION: u8 = 3;

impl LookMemory {
    /// Encodes a state value: a version byte, a byte of flags (1 seen, 2 gone, 4 missing), the counts held, asked, rest,
    /// turns and returns, the digest, confirmed and withdrawn as u16, the region's bytes and the seconds held as u32; then
    /// open added, open removed, left and slots, each a u32 count and its u64s. All little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let flags = u8::from(self.digest.is_some()) | (u8::from(self.gone) << 1) | (u8::from(self.missing) << 2);
        let mut out = vec![LOOKS_VERSION, flags, self.held.versions, self.asked, self.rest, self.turns, self.returns];
        out.extend_from_slice(&self.digest.unwrap_or_default());
        out.extend_from_slice(&self.confirmed.to_le_bytes());
        out.extend_from_slice(&self.withdrawn.to_le_bytes());
        out.extend_from_slice(&self.region_bytes.to_le_bytes());
        out.extend_from_slice(&self.held.lasted_s.to_le_bytes());
        for list in [&self.open_added, &self.open_removed, &self.left] {
            put(&mut out, list.iter().map(|key| key.0));
        }
        put(
            &mut out,
            self.slots.entries().iter().map(|(slot, history)| (u64::from(*slot) << 32) | u64::from(*history)),
        );
        out
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        let mut rest = bytes;
        let [version, flags, held, asked, looks_to_rest, turns, returns] = take(&mut rest)?;
        if version != LOOKS_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let digest = take::<8>(&mut rest)?;
        let confirmed = u16::from_le_bytes(take(&mut rest)?);
        let withdrawn = u16::from_le_bytes(take(&mut rest)?);
        let region_bytes = u32::from_le_bytes(take(&mut rest)?);
        let lasted_s = u32::from_le_bytes(take(&mut rest)?);
        let (open_added, open_removed, left) = (keys(&mut rest)?, keys(&mut rest)?, keys(&mut rest)?);
        let slots = list(&mut rest)?.map(|entry| ((entry >> 32) as u32, entry as u32)).collect();
        if flags > 7 || !rest.is_empty() {
            return Err(StateDecodeError::BadLength);
        }
        Ok(Self {
            digest: (flags & 1 == 1).then_some(digest),
            gone: flags & 2 == 2,
            missing: flags & 4 == 4,
            held: HeldVersions { versions: held, lasted_s },
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
            slots: Slots::from_entries(slots).ok_or(StateDecodeError::NotAscending)?,
        })
    }
}

impl VersionMemory {
    /// Encodes a state value: a version byte; the units without a text, other and past, each a u32 count and its u64s; the
    /// other units with their texts as `UnitTexts::encode_into` writes them; then the shingles as
    /// [`ShingleSet::encode_into`] writes them. All little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION_VERSION];
        let without_text: Vec<UnitKey> =
            self.units.iter().filter(|key| self.texts.find(key.name()).is_none()).copied().collect();
        for list in [&without_text, &self.other, &self.past] {
            put(&mut out, list.iter().map(|key| key.0));
        }
        self.texts.encode_into(&mut out);
        self.shingles.encode_into(&mut out);
        out
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        let mut rest = bytes;
        let [version] = take(&mut rest)?;
        if version != VERSION_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let (mut units, other, past) = (keys(&mut rest)?, keys(&mut rest)?, keys(&mut rest)?);
        let texts = UnitTexts::decode(&mut rest)?;
        // Two sorted runs, which a stable sort merges.
        units.extend(texts.keys());
        units.sort_by_key(|key| key.name());
        let in_order = |units: &[UnitKey]| units.is_sorted_by(|one, next| one.name() < next.name());
        if !in_order(&units) || !in_order(&other) {
            return Err(StateDecodeError::NotAscending);
        }
        Ok(Self { units, other, past, texts, shingles: ShingleSet::decode(rest)? })
    }
}

fn keys(rest: &mut &[u8]) -> Result<Vec<UnitKey>, StateDecodeError> {
    Ok(list(rest)?.map(UnitKey).collect())
}
