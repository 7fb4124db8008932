//! The files by which a crawler makes itself known: key directory, addresses, a page for owners of sites.

use crate::CommandFailure;
use htmlize::{escape_attribute, escape_text};
use page::{CanonicalUrl, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use settings::{AllowedAddress, Settings};
use signatures::{SignatureLife, SigningKey, content_digest, directory};
use std::path::{Path, PathBuf};

/// The media type of a file of addresses (draft-illyes-webbotauth-jafar).
const JAFAR_TYPE: &str = "application/jafar+json";
/// How long a verifier may keep the public keys.
const DIRECTORY_KEPT: &str = "max-age=86400";

/// A file, and the headers that it is served with.
pub(super) struct PublishedFile {
    /// Name below the directory.
    name: &'static str,
    text: String,
    headers: Vec<(&'static str, String)>,
}

/// All that is published.
pub(super) struct Published {
    files: Vec<PublishedFile>,
    /// The address under which the public keys are served.
    directory: CanonicalUrl,
}

/// The files as they were written.
#[derive(Serialize)]
pub(super) struct WrittenFiles {
    /// The address under which the first file is to be served.
    directory: String,
    files: Vec<PathBuf>,
}

impl WrittenFiles {
    pub(super) fn in_words(&self) -> String {
        let files = self.files.iter().map(|file| format!("  {}\n", file.display())).collect::<String>();
        format!("Written:\n{files}Serve the public keys at {}, with the headers in headers.txt.", self.directory)
    }
}

impl Published {
    /// The files of these settings and keys, signed from now on for some days.
    pub(super) fn of(
        settings: &Settings,
        keys: &[SigningKey],
        now: Timestamp,
        days: i64,
    ) -> Result<Self, CommandFailure> {
        let Some(address) = &settings.identity.directory else {
            let problem =
                "identity.directory is not set; write the https address under which you serve the public keys";
            return Err(CommandFailure::Input(problem.to_owned()));
        };
        let address = CanonicalUrl::parse(address).map_err(|error| CommandFailure::Input(error.to_string()))?;
        let public = keys.iter().map(SigningKey::public).collect::<Vec<_>>();
        let text = directory::written(&public);
        let life = SignatureLife { created: now.as_secs(), expires: now.as_secs() + days * 86_400 };
        let mut headers = vec![("content-type", directory::MEDIA_TYPE.to_owned())];
        headers.push(("cache-control", DIRECTORY_KEPT.to_owned()));
        headers.extend(directory::response_headers(keys, address.host().as_str(), &text, life));
        let keys_file = PublishedFile { name: &directory::WELL_KNOWN[1..], text, headers };
        let addresses = PublishedFile {
            name: "jafar.json",
            text: addresses(&settings.identity.addresses, &now.to_string()),
            headers: vec![("content-type", JAFAR_TYPE.to_owned()), ("cache-control", DIRECTORY_KEPT.to_owned())],
        };
        let page = PublishedFile {
            name: "bot.html",
            text: about(settings, &public.iter().map(|key| key.id().to_string()).collect::<Vec<_>>()),
            headers: vec![("content-type", "text/html; charset=utf-8".to_owned())],
        };
        Ok(Self { files: vec![keys_file, addresses, page], directory: address })
    }

    /// The headers of each file, as lines.
    fn headers(&self) -> String {
        let block = |file: &PublishedFile| {
            let lines = file.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
            format!("/{}\n{}", file.name, lines.collect::<String>())
        };
        self.files.iter().map(block).collect::<Vec<_>>().join("\n")
    }
}

/// Writes the files below a directory, and `headers.txt` beside them.
pub(super) fn written(published: &Published, to: &Path) -> Result<WrittenFiles, CommandFailure> {
    let headers = published.headers();
    let texts = published.files.iter().map(|file| (file.name, file.text.as_str()));
    let mut files = Vec::new();
    for (name, text) in texts.chain([("headers.txt", headers.as_str())]) {
        let file = to.join(name);
        let parent = file.parent().unwrap_or(to);
        let done = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&file, text));
        done.map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?;
        files.push(file);
    }
    Ok(WrittenFiles { directory: published.directory.to_string(), files })
}

/// Networks as JAFAR has them (draft-illyes-webbotauth-jafar-00, section 2).
fn addresses(networks: &[AllowedAddress], now: &str) -> String {
    let prefix = |network: &AllowedAddress| match network {
        AllowedAddress::Network { address, prefix_bits } => {
            let name = if address.is_ipv4() { "ipv4Prefix" } else { "ipv6Prefix" };
            Some(json!({ name: format!("{address}/{prefix_bits}") }))
        }
        AllowedAddress::Host(_) => None,
    };
    let prefixes = Value::Array(networks.iter().filter_map(prefix).collect());
    let token = content_digest(prefixes.to_string().as_bytes());
    format!("{:#}\n", json!({ "synctoken": token, "creationTime": now, "prefixes": prefixes }))
}

/// A page for owners of sites (draft-illyes-aipref-cbcp-04, section 2.6): who asks, how it is checked, and the lines of
/// robots.txt that block or slow it.
fn about(settings: &Settings, ids: &[String]) -> String {
    let token = escape_text(settings.crawl.product_token());
    let user_agent = settings.crawl.user_agent_header();
    let contact = match &settings.crawl.contact {
        Some(contact) => {
            format!("<p>Its operator: <a href=\"{}\">{}</a>.</p>\n", escape_attribute(contact), escape_text(contact))
        }
        None => String::new(),
    };
    let keys = ids.iter().map(|id| format!("<li><code>{}</code></li>\n", escape_text(id))).collect::<String>();
    let directory = settings.identity.directory.as_deref().unwrap_or_default();
    let delay = settings.politeness.max_crawl_delay.as_secs();
    let robots = |lines: &str| format!("<pre>User-agent: {token}\n{lines}</pre>\n");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{token}</title></head>\n<body>\n\
         <h1>{token}</h1>\n\
         <p>{token} is a crawler. It visits pages again to notice when they change. Its requests say: \
         <code>{}</code></p>\n{contact}\
         <h2>How to block or slow it</h2>\n\
         <p>It follows robots.txt (RFC 9309). The lines for the whole site:</p>\n{}\
         <p>For a part of it:</p>\n{}\
         <p>To have it wait ten seconds between two requests (at most {delay} are heeded):</p>\n{}\
         <p>It waits longer by itself when a server is slow, answers 429 or 503, or sends Retry-After. It does not log in, pay, \
         or solve puzzles.</p>\n\
         <h2>How to check that it is it</h2>\n\
         <p>Its requests over TLS can carry a signature (HTTP Message Signatures, Web Bot Auth). A site asks for one with \
         <code>Accept-Signature</code>. The public keys are at <a href=\"{}\">{}</a>, with these ids:</p>\n<ul>\n{keys}</ul>\n\
         <p>The <a href=\"jafar.json\">addresses</a> that it comes from.</p>\n</body>\n</html>\n",
        escape_text(&user_agent),
        robots("Disallow: /\n"),
        robots("Disallow: /private/\n"),
        robots("Crawl-delay: 10\n"),
        escape_attribute(directory),
        escape_text(directory),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use politeness::RobotsFile;
    use settings::Layers;
    use signatures::signature_base;

    fn settings(set: &[(&str, &str)]) -> Settings {
        let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Settings::from_layers(Layers { files: &[], environment: [], overrides: &set }).unwrap()
    }

    fn published() -> Published {
        let settings = settings(&[
            ("crawl.user_agent", "carebot/1.0"),
            ("crawl.contact", "https://bot.example/?a=1&b=2"),
            ("identity.directory", "https://bot.example/.well-known/http-message-signatures-directory"),
            ("identity.addresses", "203.0.113.0/24, 2001:db8::1"),
        ]);
        let keys = [SigningKey::from_seed(&[1; 32]), SigningKey::from_seed(&[2; 32])];
        Published::of(&settings, &keys, Timestamp::from_secs(1_000_000), 30).unwrap()
    }

    #[test]
    fn the_lines_on_the_page_block_and_slow_the_crawler_and_nothing_on_it_is_markup_of_the_settings() {
        let page = &published().files[2].text;
        let blocks: Vec<_> = page.split("<pre>").skip(1).map(|part| part.split("</pre>").next().unwrap()).collect();
        let robots = |block: &str| RobotsFile::parse(block.as_bytes());
        let is_allowed = |block, path| robots(block).check("carebot", path).allowed;
        assert!(!is_allowed(blocks[0], "/"));
        assert!(!is_allowed(blocks[1], "/private/x") && is_allowed(blocks[1], "/x"));
        assert_eq!(robots(blocks[2]).crawl_delay("carebot").unwrap().as_secs(), 10);
        assert!(page.contains("<a href=\"https://bot.example/?a=1&amp;b=2\">"));
        assert!(page.contains("carebot/1.0 (+https://bot.example/?a=1&amp;b=2)"));
    }

    #[test]
    fn addresses_are_published_as_jafar_has_them() {
        let published = published();
        let file: Value = serde_json::from_str(&published.files[1].text).unwrap();
        let prefixes = json!([{ "ipv4Prefix": "203.0.113.0/24" }, { "ipv6Prefix": "2001:db8::1/128" }]);
        assert_eq!((&file["prefixes"], &file["creationTime"]), (&prefixes, &json!("1970-01-12T13:46:40.000Z")));
        assert!(file["synctoken"].is_string());
    }

    #[test]
    fn the_directory_has_all_keys_and_headers_that_each_has_signed() {
        let published = published();
        let file = &published.files[0];
        assert_eq!(file.name, ".well-known/http-message-signatures-directory");
        let keys = directory::read(&file.text).unwrap();
        assert_eq!(keys.len(), 2);
        let header = |name: &str| file.headers.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        let (digest, input) = (header("content-digest"), header("signature-input"));
        assert_eq!(digest, content_digest(file.text.as_bytes()));
        let parameters = input.split(", ").next().unwrap().strip_prefix("binding0=").unwrap();
        assert!(parameters.contains(";created=1000000;expires=3592000;"), "{parameters}");
        let base = signature_base(
            &[("\"@authority\";req", "bot.example"), ("\"content-digest\"", digest.as_str())],
            parameters,
        );
        let signature = header("signature");
        let signature = signature.split(", ").next().unwrap().strip_prefix("binding0=:").unwrap().trim_end_matches(':');
        let signature = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, signature).unwrap();
        assert!(keys[0].verifies(base.as_bytes(), &signature));
        assert!(published.headers().contains("/jafar.json\ncontent-type: application/jafar+json\n"));
    }

    #[test]
    fn nothing_is_published_without_an_address_for_the_keys() {
        let failure = Published::of(&settings(&[]), &[SigningKey::from_seed(&[1; 32])], Timestamp::from_secs(0), 1)
            .err()
            .unwrap();
        assert!(failure.to_string().contains("identity.directory"), "{failure}");
    }
}
