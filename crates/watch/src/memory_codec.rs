//! The bytes of a [`WatchMemory`]: a version byte, the selection, the sights of the triggers (their number, then key and value
//! of each), then the subjects; all little-endian.

use crate::memory::{MemoryDecodeError, WatchMemory};
use crate::value::{SubjectMemory, UnitValue, Value};

const MEMORY_VERSION: u8 = 2;

/// The kinds of a subject's value, in its first byte beside the bit that says that its absence was reported.
const NO_VALUE: u8 = 0;
const NUMBER: u8 = 1;
const TEXT: u8 = 2;
const REPORTED: u8 = 4;

pub(crate) fn encode(memory: &WatchMemory) -> Vec<u8> {
    if *memory == WatchMemory::default() {
        return Vec::new();
    }
    let mut bytes = vec![MEMORY_VERSION];
    bytes.extend_from_slice(&memory.selection.to_le_bytes());
    // A rule has fewer entries than fit into a byte.
    bytes.push(u8::try_from(memory.seen.len()).unwrap_or(u8::MAX));
    for (key, value) in memory.seen.iter().take(usize::from(u8::MAX)) {
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    memory.subjects.iter().for_each(|subject| push_subject(&mut bytes, subject));
    bytes
}

fn push_subject(bytes: &mut Vec<u8>, subject: &SubjectMemory) {
    bytes.extend_from_slice(&subject.key.to_le_bytes());
    let reported = if subject.is_reported { REPORTED } else { 0 };
    let kind = match &subject.value {
        None => NO_VALUE,
        Some(UnitValue { value: Value::Number(_), .. }) => NUMBER,
        Some(UnitValue { value: Value::Text(_), .. }) => TEXT,
    };
    bytes.extend_from_slice(&[reported | kind, subject.misses]);
    let Some(UnitValue { value, unit }) = &subject.value else { return };
    match value {
        Value::Number(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Value::Text(text) => push_text(bytes, text),
    }
    push_text(bytes, unit.as_deref().unwrap_or_default());
}

/// A text of at most 255 bytes.
fn push_text(bytes: &mut Vec<u8>, text: &str) {
    let text = document::prefix(text, usize::from(u8::MAX));
    bytes.push(text.len() as u8);
    bytes.extend_from_slice(text.as_bytes());
}

pub(crate) fn decode(bytes: &[u8]) -> Result<WatchMemory, MemoryDecodeError> {
    if bytes.is_empty() {
        return Ok(WatchMemory::default());
    }
    let mut rest = Rest(bytes);
    if rest.byte()? != MEMORY_VERSION {
        return Err(MemoryDecodeError);
    }
    let selection = rest.word()?;
    let count = rest.byte()?;
    let seen = (0..count).map(|_| Ok((rest.word()?, f64::from_bits(rest.word()?)))).collect::<Result<_, _>>()?;
    let mut subjects = Vec::new();
    while !rest.0.is_empty() {
        subjects.push(rest.subject()?);
    }
    Ok(WatchMemory { selection, seen, subjects })
}

struct Rest<'b>(&'b [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], MemoryDecodeError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(MemoryDecodeError)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, MemoryDecodeError> {
        self.take().map(|[byte]| byte)
    }

    fn word(&mut self) -> Result<u64, MemoryDecodeError> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, MemoryDecodeError> {
        let length = usize::from(self.byte()?);
        let (text, rest) = self.0.split_at_checked(length).ok_or(MemoryDecodeError)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| MemoryDecodeError)
    }

    fn subject(&mut self) -> Result<SubjectMemory, MemoryDecodeError> {
        let key = self.word()?;
        let [kind, misses] = self.take()?;
        let value = match kind & !REPORTED {
            NO_VALUE => None,
            NUMBER => Some(Value::Number(f64::from_bits(self.word()?))),
            TEXT => Some(Value::Text(self.text()?)),
            _ => return Err(MemoryDecodeError),
        };
        let value =
            value.map(|value| Ok(UnitValue { value, unit: Some(self.text()?).filter(|unit| !unit.is_empty()) }));
        Ok(SubjectMemory { key, value: value.transpose()?, misses, is_reported: kind & REPORTED != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Option<UnitValue>> {
        let number = (-1e9..1e9).prop_map(Value::Number);
        let value = prop_oneof![number, "[a-zé ]{0,40}".prop_map(Value::Text)];
        let unit = proptest::option::of("[a-z€%]{1,8}");
        proptest::option::of((value, unit).prop_map(|(value, unit)| UnitValue { value, unit }))
    }

    fn subject() -> impl Strategy<Value = SubjectMemory> {
        let parts = (any::<u64>(), value(), any::<u8>(), any::<bool>());
        parts.prop_map(|(key, value, misses, is_reported)| SubjectMemory { key, value, misses, is_reported })
    }

    proptest! {
        #[test]
        fn a_memory_is_read_back(
            selection in any::<u64>(),
            seen in proptest::collection::vec((any::<u64>(), -1e9..1e9), 0..5),
            subjects in proptest::collection::vec(subject(), 0..5),
        ) {
            let memory = WatchMemory { selection, seen, subjects };
            prop_assert_eq!(WatchMemory::decode(&memory.encode()), Ok(memory));
        }

        #[test]
        fn any_bytes_are_a_memory_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            let _ = WatchMemory::decode(&bytes);
            let _ = WatchMemory::decode(&[&[MEMORY_VERSION], &bytes[..]].concat());
        }
    }
}
