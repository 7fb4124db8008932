//! Addresses of objects: `s3://BUCKET/PREFIX`.

use object_store::path::Path;
use std::fmt;
use std::str::FromStr;

const SCHEME: &str = "s3://";

/// A bucket, and the prefix of its objects' names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageAddress {
    pub(super) bucket: String,
    prefix: Path,
}

impl StorageAddress {
    /// The key of an object below the prefix.
    pub(super) fn key(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// The prefix as a directory of keys.
    pub(super) fn prefix(&self) -> Option<&Path> {
        (!self.prefix.is_root()).then_some(&self.prefix)
    }

    /// An object's address, for people.
    pub(super) fn of_object(&self, name: &str) -> String {
        format!("{SCHEME}{}/{}", self.bucket, self.key(name))
    }
}

impl FromStr for StorageAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix(SCHEME).ok_or("give s3://BUCKET/PREFIX")?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_');
        if bucket.is_empty() || !bucket.chars().all(is_of_name) {
            return Err("a bucket's name has letters, digits, dots and hyphens; give s3://BUCKET/PREFIX".to_owned());
        }
        let prefix = Path::parse(prefix).map_err(|error| format!("the prefix is not one: {error}"))?;
        Ok(Self { bucket: bucket.to_owned(), prefix })
    }
}

impl fmt::Display for StorageAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", self.bucket)?;
        if self.prefix.is_root() { Ok(()) } else { write!(formatter, "/{}", self.prefix) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_perhaps_a_prefix() {
        let check = |text: &str, shown: &str, object: &str| {
            let address: StorageAddress = text.parse().expect("it is an address");
            assert_eq!((address.to_string().as_str(), address.of_object("a.jsonl").as_str()), (shown, object));
        };
        check("s3://archive", "s3://archive", "s3://archive/a.jsonl");
        check("s3://archive/", "s3://archive", "s3://archive/a.jsonl");
        check("s3://archive/of/2026/", "s3://archive/of/2026", "s3://archive/of/2026/a.jsonl");
        for bad in
            ["archive", "gs://archive", "s3://", "s3:///a", "s3://user:word@archive", "s3://a/b//c", "s3://a/../b"]
        {
            assert!(bad.parse::<StorageAddress>().is_err(), "{bad}");
        }
    }
}
