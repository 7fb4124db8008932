//! `recrawl identity new|show|files`: the keys by which sites can check who asks, and the files to publish.

mod published;

use self::published::{Published, written};
use crate::CommandFailure;
use crate::commands::SettingsArguments;
use clap::{Args, Subcommand};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use settings::{Settings, Signing};
use signatures::{SigningKey, keys_of_pem};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stream::Clock;

/// Longest time for which a directory is signed.
const MOST_DAYS: i64 = 366;

/// Arguments of `recrawl identity`.
#[derive(Args, Debug)]
pub struct IdentityArguments {
    #[command(subcommand)]
    action: IdentityAction,
}

#[derive(Subcommand, Debug)]
enum IdentityAction {
    /// Makes a key in a file for its user alone. In a file that has keys it comes last: it is published, and the first signs.
    New {
        /// The file (identity.key_file).
        file: PathBuf,
    },
    /// Shows the ids of the keys, and which requests are signed.
    Show(SettingsArguments),
    /// Writes what is to be published: the public keys, the addresses (JAFAR) and a page about the crawler.
    Files {
        /// Directory for the files.
        to: PathBuf,
        /// Days for which the keys' signatures on their directory hold. Write the files anew before that.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=MOST_DAYS))]
        days: i64,
        #[command(flatten)]
        settings: SettingsArguments,
    },
}

/// A key, without its private half.
#[derive(Serialize)]
struct ShownKey {
    /// The thumbprint, which is the keyid of signatures.
    id: String,
    /// Whether requests are signed with it. The others are published only.
    signs: bool,
}

#[derive(Serialize)]
struct ShownIdentity {
    file: PathBuf,
    /// Address of the public keys.
    directory: Option<String>,
    /// Which requests are signed: `never`, `asked` or `always`.
    sign: &'static str,
    keys: Vec<ShownKey>,
}

#[derive(Serialize)]
struct NewKey {
    id: String,
    file: PathBuf,
    signs: bool,
}

/// Makes, shows or publishes keys.
pub fn identity(arguments: &IdentityArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.action {
        IdentityAction::New { file } => answer(format, &added(file)?, |key| {
            let role = if key.signs { "signs requests" } else { "is published; the first key of the file signs" };
            format!("Key {} is in {}. It {role}.", key.id, key.file.display())
        }),
        IdentityAction::Show(settings) => answer(format, &shown(&settings.load(&[])?)?, |identity| {
            let key = |key: &ShownKey| format!("{}  {}", key.id, if key.signs { "signs" } else { "is published" });
            let keys = identity.keys.iter().map(key).collect::<Vec<_>>().join("\n");
            let directory = identity.directory.as_deref().unwrap_or("not set (identity.directory)");
            format!("{keys}\nThe public keys are at: {directory}\nRequests are signed: {}", identity.sign)
        }),
        IdentityAction::Files { to, days, settings } => {
            let settings = settings.load(&[])?;
            let published =
                Published::of(&settings, &keys(&settings)?, daemon::WebClock::new(&settings.clock).now(), *days)?;
            answer(format, &written(&published, to)?, |files| files.in_words())
        }
    }
}

/// The keys of the settings.
fn keys(settings: &Settings) -> Result<Vec<SigningKey>, CommandFailure> {
    let Some(file) = &settings.identity.key_file else {
        let remedy =
            "identity.key_file is not set; make a key with `recrawl identity new FILE` and name the file there";
        return Err(CommandFailure::Input(remedy.to_owned()));
    };
    keys_in(file)
}

fn keys_in(file: &Path) -> Result<Vec<SigningKey>, CommandFailure> {
    let wrong = |problem: String| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let pem = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    keys_of_pem(&pem).map_err(|error| wrong(format!("{error}; make one with `recrawl identity new FILE`")))
}

fn shown(settings: &Settings) -> Result<ShownIdentity, CommandFailure> {
    let keys = keys(settings)?;
    let key = |(place, key): (usize, &SigningKey)| ShownKey { id: key.id().to_string(), signs: place == 0 };
    Ok(ShownIdentity {
        file: settings.identity.key_file.clone().unwrap_or_default(),
        directory: settings.identity.directory.clone(),
        sign: match settings.identity.sign {
            Signing::Never => "never",
            Signing::Asked => "asked",
            Signing::Always => "always",
        },
        keys: keys.iter().enumerate().map(key).collect(),
    })
}

/// Adds a key to a file, which is made for its user alone if there is none.
fn added(file: &Path) -> Result<NewKey, CommandFailure> {
    let wrong = |problem: String| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let has_keys = file.try_exists().map_err(|error| wrong(error.to_string()))?;
    let known =
        if has_keys { std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))? } else { String::new() };
    let is_first = known.trim().is_empty();
    if !is_first {
        keys_in(file)?;
    }
    // Without an end of line the next key would belong to the last line of the one before.
    let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    let key = SigningKey::from_seed(&drawn_seed()?);
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let opened = File::options().create(true).append(true).mode(0o600).open(file);
    let written = opened.and_then(|mut opened| {
        opened.write_all(format!("{gap}{}", key.to_pem()).as_bytes())?;
        opened.sync_all()?;
        File::open(directory)?.sync_all()
    });
    written.map_err(|error| wrong(error.to_string()))?;
    Ok(NewKey { id: key.id().to_string(), file: file.to_owned(), signs: is_first })
}

fn drawn_seed() -> io::Result<[u8; 32]> {
    let mut seed = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut seed)?;
    Ok(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_for_its_user_alone_and_a_second_one_comes_behind_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("identity.pem");
        let [first, second] = [(); 2].map(|()| added(&file).unwrap());
        assert_eq!((first.signs, second.signs), (true, false));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let ids = keys_in(&file).unwrap().iter().map(|key| key.id().to_string()).collect::<Vec<_>>();
        assert_eq!(ids, [first.id, second.id]);
        // As a secret of Kubernetes may be written.
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap().trim_end()).unwrap();
        assert!(!added(&file).unwrap().signs);
        assert_eq!(keys_in(&file).unwrap().len(), 3);
        std::fs::write(&file, "something else").unwrap();
        assert!(added(&file).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "something else", "a file of others is left as it is");
    }
}
