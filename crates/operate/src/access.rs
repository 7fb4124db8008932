//! How commands find the loop that runs on a data directory, and show that they may command it.
//!
//! The directory has two files while a loop runs: one with its address, and one with a token that only the directory's
//! user can read. A kill leaves both behind, and copies of the directory have them too. So the address comes with the id of
//! the log, which the process at the address must confirm, and with the directory that it was written in.

use crate::client;
use daemon::CommandFailure;
use settings::{Secret, Settings};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// File in the data directory with the HTTP address of the running loop, its log and its directory.
pub const ADDRESS_FILE: &str = "http-address";
/// File in the data directory with the token of the running loop.
pub const TOKEN_FILE: &str = "http.token";
/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// Shortest token that an operator may choose.
const SHORTEST_TOKEN: usize = 16;
/// Shortest secret behind the tokens of forms.
const SHORTEST_FORMS_KEY: usize = 32;

/// A port, and the credentials for it.
#[derive(Clone, Debug)]
pub struct Access {
    /// Host and port, behind `https://` if it speaks TLS.
    pub address: String,
    /// Id of the log whose crawl is meant, if the caller knows it.
    pub log: Option<String>,
    pub token: Option<Secret>,
    /// Authorities whose certificates are trusted, instead of Mozilla's.
    pub ca_file: Option<PathBuf>,
}

impl Access {
    /// The port at an address, with the token of the settings.
    ///
    /// # Errors
    /// The file of the token cannot be read.
    pub fn at(address: &str, settings: &Settings) -> Result<Self, CommandFailure> {
        let (token, ca_file) = (configured_token(settings)?, settings.http.ca_file.clone());
        Ok(Self { address: address.to_owned(), log: None, token, ca_file })
    }

    /// The port that the files of a data directory name. `None` if they name none: no loop was started here, or the
    /// directory is a copy of the one that has the loop.
    pub fn noted(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(data.join(ADDRESS_FILE)).ok()?;
        let mut lines = text.lines();
        let address = lines.next()?.trim().to_owned();
        let field = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        if field("directory")? != identity(data).ok()? {
            return None;
        }
        let token = fs::read_to_string(data.join(TOKEN_FILE)).ok();
        let token = token.map(|token| Secret::new(token.trim()));
        Some(Self { address, log: field("log").map(str::to_owned), token, ca_file: None })
    }

    /// The port of the loop that runs on a data directory, if one does.
    ///
    /// # Errors
    /// Another crawl answers at the address that the directory names.
    pub fn running(data: &Path) -> Result<Option<Self>, CommandFailure> {
        let Some(access) = Self::noted(data) else { return Ok(None) };
        // Another program may have the port now. It is not shown the token before it has named the log.
        let stranger = Self { token: None, ..access.clone() };
        // The answer of a loop that is not healthy counts, too. A program that names no log is not recrawl.
        let Ok(answer) = client::request(&stranger, "GET", "/healthz", "") else { return Ok(None) };
        match answer.log {
            Some(log) if Some(&log) == access.log.as_ref() => Ok(Some(access)),
            Some(log) => Err(CommandFailure::World(format!(
                "another crawl runs at {address}: its log is {log}, that of {data} is {own}. The loop on {data} was killed. \
                 Start it again, or delete {file} to reach it as it is",
                address = access.address,
                data = data.display(),
                own = access.log.as_deref().unwrap_or("unknown"),
                file = data.join(ADDRESS_FILE).display(),
            ))),
            None => Ok(None),
        }
    }
}

/// A new token, of random digits.
///
/// # Errors
/// The system has no random bytes.
pub fn new_token() -> io::Result<Secret> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::new(&digits))
}

/// The token that the settings name.
///
/// # Errors
/// Its file cannot be read, or has none.
pub fn configured_token(settings: &Settings) -> Result<Option<Secret>, CommandFailure> {
    match &settings.http.token_file {
        Some(file) => token_in(file, "http.token_file").map(Some),
        None => Ok(settings.http.token.clone()),
    }
}

/// The token in a file that a setting or an argument names.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn token_in(file: &Path, named_by: &str) -> Result<Secret, CommandFailure> {
    secret_in(file, named_by, SHORTEST_TOKEN)
}

/// The secret behind the tokens of forms that the settings name.
///
/// # Errors
/// Its file cannot be read, or has none.
pub fn configured_forms_key(settings: &Settings) -> Result<Option<Secret>, CommandFailure> {
    let file = settings.http.forms_key_file.as_deref();
    file.map(|file| secret_in(file, "http.forms_key_file", SHORTEST_FORMS_KEY)).transpose()
}

/// The secret in the file that a setting names.
fn secret_in(file: &Path, setting: &str, shortest: usize) -> Result<Secret, CommandFailure> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let secret = text.and_then(|text| match text.trim_end() {
        secret if secret.len() < shortest => Err(format!("it has {} bytes", secret.len())),
        secret if !secret.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err("it has a space, a second line or a sign beyond ASCII".to_owned())
        }
        secret => Ok(Secret::new(secret)),
    });
    secret.map_err(|problem| {
        CommandFailure::Input(format!(
            "{setting}: {file}: {problem}; write at least {shortest} digits and signs there, on one line: openssl rand -hex 32 makes \
             some",
            file = file.display()
        ))
    })
}

/// The files of a running loop. They are removed with this.
pub struct AccessFiles {
    data: PathBuf,
}

impl AccessFiles {
    /// Writes them. The address comes last, so that the token is there when the address is.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(data: &Path, address: &str, log: &str, token: &Secret) -> io::Result<Self> {
        write_private(&data.join(TOKEN_FILE), format!("{}\n", token.reveal()).as_bytes())?;
        let lines = format!("{address}\nlog {log}\ndirectory {}\n", identity(data)?);
        write_private(&data.join(ADDRESS_FILE), lines.as_bytes())?;
        Ok(Self { data: data.to_owned() })
    }
}

impl Drop for AccessFiles {
    fn drop(&mut self) {
        for file in [ADDRESS_FILE, TOKEN_FILE] {
            let _ = fs::remove_file(self.data.join(file));
        }
    }
}

/// Replaces a file by one that only this user can read, also if the old one was open to others.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    fs::rename(&new, path)
}

/// Distinguishes a directory from its copies.
fn identity(directory: &Path) -> io::Result<String> {
    let metadata = fs::metadata(directory)?;
    Ok(format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemon::http::LOG_HEADER;
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;
    use std::thread::{self, JoinHandle};

    #[test]
    fn the_files_of_a_loop_are_private_and_go_with_it() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(TOKEN_FILE), "left behind, and open to all").unwrap();
        let token = new_token().unwrap();
        assert_ne!(token.reveal(), new_token().unwrap().reveal());
        let files = AccessFiles::write(data.path(), "127.0.0.1:9464", "a-log", &token).unwrap();
        let noted = Access::noted(data.path()).unwrap();
        assert_eq!((noted.address.as_str(), noted.log.as_deref()), ("127.0.0.1:9464", Some("a-log")));
        assert_eq!(noted.token.unwrap().reveal(), token.reveal());
        for file in [ADDRESS_FILE, TOKEN_FILE] {
            let mode = fs::metadata(data.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        drop(files);
        assert!(Access::noted(data.path()).is_none());
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    }

    /// A program that has the port of a loop that was killed, and says that its log is this one.
    fn program_at_the_port(log: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let program = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let answer = format!("HTTP/1.0 200 OK\r\n{LOG_HEADER}: {log}\r\n\r\nok\n");
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(request).unwrap()
        });
        (address, program)
    }

    #[test]
    fn who_has_the_port_is_not_shown_the_token_before_it_has_named_the_log() {
        for (log, is_own) in [("a-log", true), ("another-log", false)] {
            let (data, token) = (tempfile::tempdir().unwrap(), new_token().unwrap());
            let (address, program) = program_at_the_port(log);
            let _files = AccessFiles::write(data.path(), &address, "a-log", &token).unwrap();
            let found = Access::running(data.path());
            let request = program.join().unwrap();
            assert!(request.contains("a-log") && !request.to_lowercase().contains("authorization"), "{request}");
            match found {
                Ok(found) => assert!(is_own && found.unwrap().token.unwrap().reveal() == token.reveal()),
                Err(failure) => assert!(!is_own && failure.to_string().contains("another crawl runs"), "{failure}"),
            }
        }
    }

    #[test]
    fn a_key_of_forms_is_in_its_file_or_the_setting_the_file_and_the_next_step_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("forms-key");
        let mut settings = Settings::default();
        assert!(configured_forms_key(&settings).unwrap().is_none());
        settings.http.forms_key_file = Some(file.clone());
        let refused = |problem: &str| {
            let failure = configured_forms_key(&settings).unwrap_err().to_string();
            let name = file.display().to_string();
            for part in ["http.forms_key_file: ", name.as_str(), problem, "at least 32", "openssl rand -hex 32"] {
                assert!(failure.contains(part), "{part}: {failure}");
            }
        };
        refused("No such file");
        fs::write(&file, "0123456789abcdef0123456789abcde\n").unwrap();
        refused("it has 31 bytes");
        fs::write(&file, "0123456789abcdef 0123456789abcdef").unwrap();
        refused("it has a space");
        fs::write(&file, [0xff_u8; 32]).unwrap();
        refused("UTF-8");
        fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
        assert_eq!(configured_forms_key(&settings).unwrap().unwrap().reveal(), "0123456789abcdef0123456789abcdef");
    }

    #[test]
    fn a_copy_of_a_directory_does_not_lead_to_the_loop_of_the_original() {
        let (data, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let _files = AccessFiles::write(data.path(), "127.0.0.1:9464", "a-log", &new_token().unwrap()).unwrap();
        for file in [ADDRESS_FILE, TOKEN_FILE] {
            fs::copy(data.path().join(file), copy.path().join(file)).unwrap();
        }
        assert!(Access::noted(data.path()).is_some() && Access::noted(copy.path()).is_none());
    }
}
