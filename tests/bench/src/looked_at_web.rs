//! A web on loopback whose pages answer in the way that is being measured. The way can be changed while it is crawled.

use crate::crawls::HOSTS;
use crate::kept_pages::KeptPages;
use chance::{Draws, Lcg, spread};
use memchr::memmem;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// The result of every look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Finds {
    /// 304 for who knows the page, 200 for who does not.
    NotModified,
    /// 200 with the body it has always had.
    SameBody,
    /// 200 with another number in a comment and in a script.
    Noise,
    /// 200 with a new sentence in some place of the text, and without the one that was new before.
    Edit,
}

const ALL: [Finds; 4] = [Finds::NotModified, Finds::SameBody, Finds::Noise, Finds::Edit];
/// The words of the sentences that edits add.
const EDIT_WORDS: [&str; 24] = [
    "the",
    "council",
    "repository",
    "will",
    "accept",
    "renamed",
    "branches",
    "before",
    "winter",
    "unless",
    "its",
    "members",
    "have",
    "voted",
    "against",
    "a",
    "larger",
    "price",
    "of",
    "seven",
    "railway",
    "tickets",
    "from",
    "Lisbon",
];

/// A running web of [`HOSTS`] hosts.
pub(crate) struct LookedAtWeb {
    port: u16,
    pages: usize,
    shared: Arc<Shared>,
}

struct Shared {
    pages: Vec<Page>,
    finds: AtomicU8,
    /// Answers of 304 since the way was last changed.
    not_modified: AtomicUsize,
}

struct Page {
    body: Vec<u8>,
    /// Where a sentence can be added: behind paragraphs.
    seams: Vec<usize>,
    /// Bodies served that differed from the one before.
    edition: AtomicUsize,
}

impl LookedAtWeb {
    /// Serves `pages` pages.
    pub(crate) fn start(kept: &KeptPages, pages: usize) -> Self {
        let page = |number: usize| {
            let body = kept.bodies[number % kept.bodies.len()].clone();
            let seams: Vec<usize> = memmem::find_iter(&body, "</p>").map(|at| at + "</p>".len()).collect();
            Page { seams: if seams.is_empty() { vec![body.len()] } else { seams }, body, edition: AtomicUsize::new(0) }
        };
        let shared = Arc::new(Shared {
            pages: (0..pages).map(page).collect(),
            finds: AtomicU8::new(Finds::NotModified as u8),
            not_modified: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind("0.0.0.0:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("it listens").port();
        let answering = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = answering.clone();
                // A crawler that goes away is no fault here.
                std::thread::spawn(move || drop(shared.answer_all(stream)));
            }
        });
        Self { port, pages, shared }
    }

    /// Sets the result of all looks from now on, and resets the count of 304 answers.
    pub(crate) fn find(&self, finds: Finds) {
        self.shared.finds.store(finds as u8, Ordering::Relaxed);
        self.shared.not_modified.store(0, Ordering::Relaxed);
    }

    /// Answers of 304 since the way was last changed.
    pub(crate) fn not_modified(&self) -> usize {
        self.shared.not_modified.load(Ordering::Relaxed)
    }

    /// All addresses, a line each.
    pub(crate) fn seeds(&self) -> String {
        (0..self.pages)
            .map(|page| format!("http://127.0.0.{}:{}/manual/page-{page}.html\n", page % HOSTS + 1, self.port))
            .collect()
    }
}

impl Shared {
    fn answer_all(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut answer) = (String::new(), Vec::new());
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let number = line.split_once("/page-").and_then(|(_, rest)| rest.split_once('.')?.0.parse::<usize>().ok());
            let mut known = false;
            while line.trim_end() != "" {
                line.clear();
                reader.read_line(&mut line)?;
                known |= line.to_ascii_lowercase().starts_with("if-none-match:");
            }
            answer.clear();
            match number.and_then(|number| Some((number, self.pages.get(number)?))) {
                Some((number, page)) => self.answer(number, page, known, &mut answer),
                None => answer.extend_from_slice(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            }
            writer.write_all(&answer)?;
        }
    }

    fn answer(&self, number: usize, page: &Page, known: bool, answer: &mut Vec<u8>) {
        let finds = ALL[usize::from(self.finds.load(Ordering::Relaxed))];
        if known && finds == Finds::NotModified {
            self.not_modified.fetch_add(1, Ordering::Relaxed);
            answer.extend_from_slice(b"HTTP/1.1 304 Not Modified\r\n\r\n");
            return;
        }
        let edition = page.edition.fetch_add(1, Ordering::Relaxed);
        let (seam, addition) = match finds {
            Finds::NotModified | Finds::SameBody => (page.body.len(), String::new()),
            Finds::Noise => {
                let nonce = spread(edition as u64 ^ (number as u64) << 32);
                (page.body.len(), format!("<!-- {nonce:016x} --><script>var request = \"{nonce:016x}\";</script>"))
            }
            Finds::Edit => {
                (page.seams[edition * 7 % page.seams.len()], format!("<p>{}.</p>", sentence(number, edition)))
            }
        };
        // Only the body may show that it is the same.
        let etag = if finds == Finds::SameBody { String::new() } else { format!("ETag: \"{number}-{edition}\"\r\n") };
        let (before, behind) = page.body.split_at(seam);
        let length = page.body.len() + addition.len();
        answer.extend_from_slice(
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{etag}Content-Length: {length}\r\n\r\n"
            )
            .as_bytes(),
        );
        for part in [before, addition.as_bytes(), behind] {
            answer.extend_from_slice(part);
        }
    }
}

/// Twelve words, others at every edition of every page.
fn sentence(number: usize, edition: usize) -> String {
    let mut random = Lcg((number as u64) << 32 | edition as u64);
    let word = |_| EDIT_WORDS[(random.bits() >> 33) as usize % EDIT_WORDS.len()];
    (0..12).map(word).collect::<Vec<_>>().join(" ")
}
