//! Keys of people and programs at a port: who they are, what they may do, and at which hosts.
//!
//! They stand in a file of the operator, with hashes of their tokens. The file is read again once it has changed, so that a
//! key is withdrawn without a restart.

use crate::CommandFailure;
use crate::changed_file::{FileStamp, stamp};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use settings::{Http, fits_host, is_host_pattern};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// The most that a key may do. Each role includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads texts of pages.
    Viewer,
    /// Seeds pages, fetches them, stops hosts, and saves watch rules.
    Operator,
    /// Forgets pages, sets what the whole crawl is about, and sees keys and orders.
    Admin,
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.word() == word);
        found.ok_or_else(|| "write viewer, operator or admin".to_owned())
    }
}

impl Role {
    /// All roles, each with the rights of those before it.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// Its rights, in a sentence.
    pub fn rights(self) -> &'static str {
        match self {
            Self::Viewer => "Sees the crawl and reads texts of pages and their changes.",
            Self::Operator => {
                "Also seeds pages, fetches them, tries rules, pauses and blocks hosts and, with a key for all hosts, saves rules."
            }
            Self::Admin => {
                "Also forgets pages and, with a key for all hosts, sets what the whole crawl is about, makes backups, and sees keys \
                 and orders."
            }
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// The sender of a request, known by its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub name: String,
    pub role: Role,
    /// Patterns of the hosts whose pages it may see and give commands about. `None`: all.
    pub hosts: Option<Vec<String>>,
}

impl Caller {
    /// One with all rights.
    pub fn admin(name: &str) -> Self {
        Self { name: name.to_owned(), role: Role::Admin, hosts: None }
    }

    pub fn has_all_rights(&self) -> bool {
        self.role == Role::Admin && self.hosts.is_none()
    }

    /// Whether pages of a host (name without port) are within its reach.
    pub fn includes_host(&self, host: &str) -> bool {
        self.hosts.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| fits_host(pattern, host)))
    }

    /// Whether pages of a host and of all hosts below it are within its reach.
    pub fn includes_site(&self, host: &str) -> bool {
        // No pattern names all hosts below by their names, so any name will do.
        self.includes_host(host) && self.includes_host(&format!("any.{host}"))
    }
}

/// An entry of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    pub name: String,
    pub role: Role,
    /// SHA-256 of the token, in hexadecimal digits.
    pub token_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    #[serde(default)]
    keys: Vec<KeyEntry>,
}

impl KeyEntry {
    /// The key of a new token.
    pub fn new(name: &str, role: Role, hosts: Option<Vec<String>>, token: &str) -> Self {
        Self { name: name.to_owned(), role, token_sha256: hash_of(token), hosts }
    }

    /// The entry as it stands in the file.
    pub fn to_toml(&self) -> String {
        toml::to_string(&KeyFile { keys: vec![self.clone()] }).unwrap_or_default()
    }

    /// The keys of a file.
    ///
    /// # Errors
    /// Says what is wrong with it, beginning with its name.
    pub fn read_all(file: &Path) -> Result<Vec<Self>, String> {
        let wrong = |problem: String| format!("{}: {problem}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let KeyFile { keys } = toml::from_str(&text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        match keys.iter().find_map(|key| Some((key, key.fault()?))) {
            Some((key, fault)) => Err(wrong(format!("key {:?}: {fault}", key.name))),
            None => Ok(keys),
        }
    }

    /// The fault of the entry, if it has one.
    pub fn fault(&self) -> Option<&'static str> {
        if self.name.is_empty() || self.name.chars().any(char::is_control) {
            Some("a name is needed")
        } else if self.token_sha256.len() != 64 || !self.token_sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Some("token_sha256 has 64 hexadecimal digits; make keys with recrawl key")
        } else if self
            .hosts
            .as_ref()
            .is_some_and(|hosts| hosts.is_empty() || !hosts.iter().all(|host| is_host_pattern(host)))
        {
            Some(
                "hosts are names without ports, such as \"shop.example\" or \"*.shop.example\"; leave them out for all",
            )
        } else {
            None
        }
    }
}

fn hash_of(token: &str) -> String {
    digest(&SHA256, token.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The keys of a file.
#[derive(Debug)]
pub struct KeyRing {
    file: PathBuf,
    read: Mutex<ReadKeys>,
}

#[derive(Debug)]
struct ReadKeys {
    stamp: Option<FileStamp>,
    keys: Vec<(String, Arc<Caller>)>,
}

impl KeyRing {
    /// Those of the file that the settings name.
    ///
    /// # Errors
    /// The file cannot be read, or is faulty.
    pub fn of(http: &Http) -> Result<Option<Arc<Self>>, CommandFailure> {
        let opened = http.keys_file.as_deref().map(Self::open).transpose();
        let wrong = |problem| CommandFailure::Input(format!("http.keys_file: {problem}"));
        opened.map(|keys| keys.map(Arc::new)).map_err(wrong)
    }

    /// Reads the keys of a file.
    ///
    /// # Errors
    /// Says what is wrong with it, beginning with its name.
    pub fn open(file: &Path) -> Result<Self, String> {
        // Before reading: what is written meanwhile is read the next time.
        let stamp = stamp(file);
        let keys = read(file)?;
        Ok(Self { file: file.to_owned(), read: Mutex::new(ReadKeys { stamp, keys }) })
    }

    /// The owner of a token.
    pub fn find(&self, token: &str) -> Option<Arc<Caller>> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.file);
        if now != known.stamp {
            known.stamp = now;
            match read(&self.file) {
                Ok(keys) => known.keys = keys,
                // Without a file no key is valid.
                Err(problem) if now.is_none() => {
                    tracing::error!(problem, "the file of keys is gone: no key is valid");
                    known.keys.clear();
                }
                Err(problem) => tracing::error!(problem, "the keys read before stay valid"),
            }
        }
        let hash = hash_of(token);
        let is_it = |known: &str| verify_slices_are_equal(known.as_bytes(), hash.as_bytes()).is_ok();
        known.keys.iter().find(|(known, _)| is_it(known)).map(|(_, caller)| caller.clone())
    }
}

fn read(file: &Path) -> Result<Vec<(String, Arc<Caller>)>, String> {
    let key = |entry: KeyEntry| {
        let KeyEntry { name, role, token_sha256, hosts } = entry;
        (token_sha256.to_ascii_lowercase(), Arc::new(Caller { name, role, hosts }))
    };
    Ok(KeyEntry::read_all(file)?.into_iter().map(key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_token_until_the_file_has_it_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        let alice = KeyEntry::new("alice", Role::Operator, Some(vec!["*.shop.example".to_owned()]), "token of alice");
        let bob = KeyEntry::new("bob", Role::Viewer, None, "token of bob");
        std::fs::write(&file, alice.to_toml() + &bob.to_toml()).unwrap();
        let keys = KeyRing::open(&file).unwrap();
        let found = keys.find("token of alice").unwrap();
        assert_eq!((found.name.as_str(), found.role), ("alice", Role::Operator));
        assert!(found.includes_host("www.Shop.example") && !found.includes_host("shop.example"));
        assert!(!found.includes_host("www.shop.example.org"));
        assert!(keys.find("token of bob").unwrap().includes_host("any.test"));
        assert!(keys.find("token of carol").is_none() && keys.find("").is_none());
        std::fs::write(&file, bob.to_toml()).unwrap();
        assert!(keys.find("token of alice").is_none() && keys.find("token of bob").is_some());
        std::fs::write(&file, "[[keys]]\nname = 7").unwrap();
        assert!(keys.find("token of bob").is_some(), "a slip of the pen locks nobody out");
        std::fs::remove_file(&file).unwrap();
        assert!(keys.find("token of bob").is_none());
    }

    #[test]
    fn a_faulty_file_is_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        let fault = |text: &str| {
            std::fs::write(&file, text).unwrap();
            KeyRing::open(&file).unwrap_err()
        };
        let entry = |line: &str| format!("[[keys]]\nname = \"a\"\nrole = \"viewer\"\n{line}\n");
        assert!(fault(&entry("token = \"in clear\"")).contains("unknown field `token`"));
        assert!(fault(&entry("token_sha256 = \"ab\"")).contains("64 hexadecimal digits"));
        let hash = format!("token_sha256 = \"{}\"\nhosts = []", "0".repeat(64));
        assert!(fault(&entry(&hash)).contains("leave them out for all"));
        assert!(fault(&entry(&hash.replace("[]", "[\"a.test:8080\"]"))).contains("names without ports"));
        assert!(fault("[[keys]]\nname = \"a\"\nrole = \"king\"").contains("viewer"));
        assert!(KeyRing::open(Path::new("/nowhere")).unwrap_err().starts_with("/nowhere: "));
    }
}
