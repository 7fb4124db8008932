//! Fixed-size values such as digests and page ids. apache-avro expects them as bytes, while serde writes arrays.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::Digest as _;
use std::fmt;

/// A hash of this many bytes, displayed in hexadecimal.
macro_rules! hash {
    ($(#[$about:meta])* $Name:ident: $bytes:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $Name(pub [u8; $bytes]);

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Name), "({})"), self)
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_bytes(Exactly::<$bytes>).map(Self)
            }
        }
    };
}

hash! {
    /// BLAKE3 hash of a whole uncompressed body.
    Digest: 32
}

hash! {
    /// SHA-1 hash of a whole uncompressed body, as used by web archives and their indexes. Equality of bodies is
    /// decided by [`Digest`].
    Sha1: 20
}

hash! {
    /// A band of a text's sketch (crate `mirrors`): one byte for its number, four for its value.
    Band: 5
}

impl Digest {
    pub fn of(body: &[u8]) -> Self {
        Self(*blake3::hash(body).as_bytes())
    }
}

impl Sha1 {
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha1::Sha1::digest(bytes).into())
    }
}

/// Accepts exactly `N` bytes.
struct Exactly<const N: usize>;

impl<const N: usize> Visitor<'_> for Exactly<N> {
    type Value = [u8; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<[u8; N], E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}
