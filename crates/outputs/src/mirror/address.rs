//! Addresses of mirrors: `ENGINE+https://HOST/INDEX`, or a directory.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

const USAGE: &str = "give opensearch+https://HOST:9200/INDEX, meilisearch+https://HOST:7700/INDEX, \
                     typesense+https://HOST:8108/COLLECTION, solr+https://HOST:8983/solr/CORE or file:///DIRECTORY";
/// Longest name of an index. Engines take 200 bytes and more.
const MAX_NAME: usize = 128;

/// How a mirror is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// OpenSearch, or Elasticsearch.
    OpenSearch,
    Meilisearch,
    Typesense,
    Solr,
}

/// The place of a mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorAddress {
    /// An index of a server.
    Index {
        engine: Engine,
        /// The address that the paths of its API are below.
        base: String,
        name: String,
    },
    /// A directory of Markdown files.
    Directory(PathBuf),
}

impl Engine {
    const ALL: [(&'static str, Self); 5] = [
        ("opensearch", Self::OpenSearch),
        ("elasticsearch", Self::OpenSearch),
        ("meilisearch", Self::Meilisearch),
        ("typesense", Self::Typesense),
        ("solr", Self::Solr),
    ];
}

impl FromStr for MirrorAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or(USAGE)?;
        if scheme == "file" {
            return match rest.starts_with('/') {
                true => Ok(Self::Directory(PathBuf::from(rest))),
                false => Err("give the whole path of the directory: file:///DIRECTORY".to_owned()),
            };
        }
        let (engine, protocol) = scheme.split_once('+').ok_or(USAGE)?;
        let engine = Engine::ALL.iter().find(|(name, _)| *name == engine).ok_or(USAGE)?.1;
        if !["http", "https"].contains(&protocol) {
            return Err(USAGE.to_owned());
        }
        let (place, name) = rest.trim_end_matches('/').rsplit_once('/').ok_or("the name of the index is missing")?;
        if place.contains('@') {
            return Err(
                "a user name or password has no place in it; give --header-file with Authorization: …".to_owned()
            );
        }
        let is_place = |character: char| character.is_ascii_graphic() && !matches!(character, '?' | '#' | '%');
        if place.is_empty() || place.starts_with([':', '/']) || !place.chars().all(is_place) {
            return Err(USAGE.to_owned());
        }
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !begins || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return Err("the name of the index: give letters, digits, dots, hyphens and underscores".to_owned());
        }
        if engine == Engine::OpenSearch && name.chars().any(|character| character.is_ascii_uppercase()) {
            return Err("the name of the index: this engine takes no capital letters".to_owned());
        }
        Ok(Self::Index { engine, base: format!("{protocol}://{place}"), name: name.to_owned() })
    }
}

impl fmt::Display for MirrorAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index { engine, base, name } => {
                let known = Engine::ALL.iter().find(|(_, known)| known == engine);
                write!(formatter, "{}+{base}/{name}", known.map_or("", |(name, _)| *name))
            }
            Self::Directory(path) => write!(formatter, "file://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_engine_server_and_index_or_a_directory() {
        let index = |text: &str, engine: Engine, base: &str, name: &str| {
            let address: MirrorAddress = text.parse().expect("it is an address");
            assert_eq!(address, MirrorAddress::Index { engine, base: base.to_owned(), name: name.to_owned() });
            address.to_string()
        };
        let shown = index("elasticsearch+http://s.test:9200/pages", Engine::OpenSearch, "http://s.test:9200", "pages");
        assert_eq!(shown, "opensearch+http://s.test:9200/pages");
        index("opensearch+https://[::1]:9200/a.b-1/", Engine::OpenSearch, "https://[::1]:9200", "a.b-1");
        index("solr+http://s.test:8983/solr/Core", Engine::Solr, "http://s.test:8983/solr", "Core");
        index("meilisearch+http://s.test/in/pages", Engine::Meilisearch, "http://s.test/in", "pages");
        index("typesense+https://s.test/pages", Engine::Typesense, "https://s.test", "pages");
        let directory: MirrorAddress = "file:///srv/pages".parse().expect("it is an address");
        assert_eq!(directory, MirrorAddress::Directory(PathBuf::from("/srv/pages")));
        assert_eq!(directory.to_string(), "file:///srv/pages");
    }

    #[test]
    fn what_is_no_address_is_refused_and_says_what_to_write() {
        for (text, part) in [
            ("pages", "give opensearch+https://"),
            ("https://s.test/pages", "give opensearch+https://"),
            ("lucene+https://s.test/pages", "give opensearch+https://"),
            ("opensearch+ftp://s.test/pages", "give opensearch+https://"),
            ("opensearch+https://s.test", "the index is missing"),
            ("opensearch+https:///pages", "give opensearch+https://"),
            ("opensearch+https://me:word@s.test/pages", "--header-file"),
            ("opensearch+https://s.test/pages?x=1", "letters, digits"),
            ("opensearch+https://s.test/_all", "letters, digits"),
            ("opensearch+https://s.test/a,b", "letters, digits"),
            ("opensearch+https://s.test/Pages", "no capital letters"),
            ("file://srv/pages", "the whole path"),
        ] {
            let problem = text.parse::<MirrorAddress>().expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
