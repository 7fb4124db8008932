//! Serializes structs as Avro data (Avro specification 1.12, "Binary encoding"), with a schema prepared once.
//!
//! apache-avro writes the same bytes, but looks up every field by name and hash, because fields may come in another
//! order than in the schema. Ours come in schema order, so a field costs one comparison. The lookups took a third of
//! the estimator's time per fetch. Features that no message needs are missing: maps, unions other than optional values,
//! enums with data, tuples.

use crate::shape::Shape;
use serde::Serialize;
use serde::ser::{Impossible, SerializeSeq, SerializeStruct, Serializer};
use std::fmt::Display;

/// A value that does not match its schema.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Mismatch(String);

impl serde::ser::Error for Mismatch {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

pub(crate) struct DatumWriter<'s, 'b> {
    pub(crate) shape: &'s Shape,
    pub(crate) bytes: &'b mut Vec<u8>,
}

impl DatumWriter<'_, '_> {
    fn mismatch(&self, found: &str) -> Mismatch {
        Mismatch(format!("found {found}, expected {}", self.shape.name()))
    }

    fn int(self, number: i32) -> Result<(), Mismatch> {
        let Shape::Int = self.shape else { return Err(self.mismatch("an integer of 32 bits")) };
        write_long(self.bytes, i64::from(number));
        Ok(())
    }
}

/// Zigzag encoding, then seven bits at a time, lowest first.
fn write_long(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Values from this length on get room of their own, and room for what follows them. By doubling, a record with a body
/// would take up to twice its length for as long as it is kept.
const LONG_BYTES: usize = 64 << 10;
const ROOM_BEHIND_BYTES: usize = 1 << 10;

fn write_with_length(bytes: &mut Vec<u8>, value: &[u8]) {
    write_long(bytes, value.len() as i64);
    if value.len() >= LONG_BYTES {
        bytes.reserve_exact(value.len() + ROOM_BEHIND_BYTES);
    }
    bytes.extend_from_slice(value);
}

impl<'s, 'b> Serializer for DatumWriter<'s, 'b> {
    type Ok = ();
    type Error = Mismatch;
    type SerializeSeq = Elements<'s, 'b>;
    type SerializeTuple = Impossible<(), Mismatch>;
    type SerializeTupleStruct = Impossible<(), Mismatch>;
    type SerializeTupleVariant = Impossible<(), Mismatch>;
    type SerializeMap = Impossible<(), Mismatch>;
    type SerializeStruct = RemainingFields<'s, 'b>;
    type SerializeStructVariant = Impossible<(), Mismatch>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Mismatch> {
        let Shape::Boolean = self.shape else { return Err(self.mismatch("a boolean")) };
        self.bytes.push(u8::from(value));
        Ok(())
    }

    fn serialize_i8(self, number: i8) -> Result<(), Mismatch> {
        self.int(i32::from(number))
    }

    fn serialize_i16(self, number: i16) -> Result<(), Mismatch> {
        self.int(i32::from(number))
    }

    fn serialize_i32(self, number: i32) -> Result<(), Mismatch> {
        self.int(number)
    }

    fn serialize_i64(self, number: i64) -> Result<(), Mismatch> {
        let Shape::Long = self.shape else { return Err(self.mismatch("an integer of 64 bits")) };
        write_long(self.bytes, number);
        Ok(())
    }

    fn serialize_u8(self, number: u8) -> Result<(), Mismatch> {
        self.int(i32::from(number))
    }

    fn serialize_u16(self, number: u16) -> Result<(), Mismatch> {
        self.int(i32::from(number))
    }

    fn serialize_u32(self, number: u32) -> Result<(), Mismatch> {
        self.serialize_i64(i64::from(number))
    }

    fn serialize_u64(self, _: u64) -> Result<(), Mismatch> {
        Err(self.mismatch("an unsigned integer of 64 bits"))
    }

    fn serialize_f32(self, number: f32) -> Result<(), Mismatch> {
        let Shape::Float = self.shape else { return Err(self.mismatch("a float")) };
        self.bytes.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Mismatch> {
        let Shape::Double = self.shape else { return Err(self.mismatch("a double")) };
        self.bytes.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, character: char) -> Result<(), Mismatch> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Mismatch> {
        let Shape::String = self.shape else { return Err(self.mismatch("a string")) };
        write_with_length(self.bytes, text.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Mismatch> {
        match self.shape {
            Shape::Bytes => write_with_length(self.bytes, value),
            Shape::Fixed(size) if *size == value.len() => self.bytes.extend_from_slice(value),
            _ => return Err(self.mismatch(&format!("{} bytes", value.len()))),
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Mismatch> {
        let Shape::Optional(_) = self.shape else { return Err(self.mismatch("nothing")) };
        write_long(self.bytes, 0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Mismatch> {
        match self.shape {
            Shape::Optional(shape) => {
                write_long(self.bytes, 1);
                value.serialize(DatumWriter { shape, bytes: self.bytes })
            }
            _ => Err(self.mismatch("an optional value")),
        }
    }

    fn serialize_unit(self) -> Result<(), Mismatch> {
        Err(self.mismatch("a unit"))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Mismatch> {
        Err(self.mismatch(name))
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, variant: &'static str) -> Result<(), Mismatch> {
        let Shape::Enum(symbols) = self.shape else { return Err(self.mismatch(variant)) };
        // The order nearly always agrees with the schema.
        let index = match symbols.get(index as usize) {
            Some(symbol) if symbol == variant => Some(index as usize),
            _ => symbols.iter().position(|symbol| symbol == variant),
        };
        let index = index.ok_or_else(|| self.mismatch(variant))?;
        write_long(self.bytes, index as i64);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, _: &T) -> Result<(), Mismatch> {
        Err(self.mismatch(name))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), Mismatch> {
        Err(self.mismatch(variant))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements<'s, 'b>, Mismatch> {
        let Shape::Array(shape) = self.shape else { return Err(self.mismatch("a sequence")) };
        let length = length.ok_or_else(|| Mismatch("a sequence of unknown length".to_owned()))?;
        // All elements go into one block. `end` writes the empty block that ends the array.
        if length > 0 {
            write_long(self.bytes, length as i64);
        }
        Ok(Elements { shape, bytes: self.bytes, left: length })
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Mismatch> {
        Err(self.mismatch("a tuple"))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Mismatch> {
        Err(self.mismatch(name))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Mismatch> {
        Err(self.mismatch(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Mismatch> {
        Err(self.mismatch("a map"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<RemainingFields<'s, 'b>, Mismatch> {
        match self.shape {
            Shape::Record(record, fields) if record == name => Ok(RemainingFields { left: fields, bytes: self.bytes }),
            _ => Err(self.mismatch(name)),
        }
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Mismatch> {
        Err(self.mismatch(variant))
    }
}

/// The remaining fields of a record.
pub(crate) struct RemainingFields<'s, 'b> {
    left: &'s [(String, Shape)],
    bytes: &'b mut Vec<u8>,
}

impl SerializeStruct for RemainingFields<'_, '_> {
    type Ok = ();
    type Error = Mismatch;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Mismatch> {
        match self.left.split_first() {
            Some(((name, shape), left)) if name == key => {
                self.left = left;
                let written = value.serialize(DatumWriter { shape, bytes: self.bytes });
                written.map_err(|Mismatch(problem)| Mismatch(format!("field {key}: {problem}")))
            }
            next => {
                let expected = next.map_or("no more fields", |((name, _), _)| name);
                Err(Mismatch(format!("found field {key}, expected {expected}")))
            }
        }
    }

    fn end(self) -> Result<(), Mismatch> {
        self.left.first().map_or(Ok(()), |(name, _)| Err(Mismatch(format!("field {name} is missing"))))
    }
}

pub(crate) struct Elements<'s, 'b> {
    shape: &'s Shape,
    bytes: &'b mut Vec<u8>,
    left: usize,
}

impl SerializeSeq for Elements<'_, '_> {
    type Ok = ();
    type Error = Mismatch;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        self.left = self.left.checked_sub(1).ok_or_else(|| Mismatch("more elements than announced".to_owned()))?;
        value.serialize(DatumWriter { shape: self.shape, bytes: self.bytes })
    }

    fn end(self) -> Result<(), Mismatch> {
        if self.left > 0 {
            return Err(Mismatch(format!("{} elements are missing", self.left)));
        }
        self.bytes.push(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apache_avro::Schema;

    #[test]
    fn a_record_with_a_long_value_takes_little_more_room_than_it_is_long() {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(b"header");
        write_with_length(&mut bytes, &vec![0; 4 << 20]);
        bytes.push(1);
        assert!(bytes.capacity() < bytes.len() + LONG_BYTES, "{}", bytes.capacity());
    }

    #[test]
    fn a_struct_that_differs_from_its_schema_is_refused_with_the_field() {
        #[derive(Serialize)]
        #[serde(rename = "Visit")]
        struct Swapped {
            seconds: Vec<f32>,
            count: i64,
        }
        #[derive(Serialize)]
        #[serde(rename = "Visit")]
        struct Short {
            count: i64,
        }
        #[derive(Serialize)]
        #[serde(rename = "Visit")]
        struct WideRecord {
            count: i64,
            seconds: Vec<f64>,
        }
        let schema = r#"{"type": "record", "name": "Visit", "fields": [
            {"name": "count", "type": "long"}, {"name": "seconds", "type": {"type": "array", "items": "float"}}]}"#;
        let shape = Shape::of(&Schema::parse_str(schema).unwrap());
        fn problem(shape: &Shape, value: &impl Serialize) -> String {
            value.serialize(DatumWriter { shape, bytes: &mut Vec::new() }).unwrap_err().to_string()
        }
        let swapped = Swapped { seconds: vec![1.0], count: 1 };
        assert_eq!(problem(&shape, &swapped), "found field seconds, expected count");
        assert_eq!(problem(&shape, &Short { count: 1 }), "field seconds is missing");
        let wide = WideRecord { count: 1, seconds: vec![1.0] };
        assert_eq!(problem(&shape, &wide), "field seconds: found a double, expected a float");
    }
}
