//! What a sketch costs: nanoseconds of CPU time per token, each step by itself and beside plainer ways to the same bits.
//!
//! `cargo run -p change --example sketch_speed -- DIRECTORY` reads the directory's HTML and text files; without one, a
//! made-up page. All ways are run in turns, and the median of the rounds counts.

use change::{
    DEFAULT_SHINGLE_WIDTH, MinHash, OnePermutation, SKETCH_SLOTS, ShingleSet, Shingler, Sketch, extract, fnv1a64,
    tokens,
};
use std::hint::black_box;

const ROUNDS: usize = 7;

/// A way to work on a text, by its number; what it returns keeps the work from being left out.
type Way<'w> = (&'static str, Box<dyn FnMut(usize) -> u64 + 'w>);

fn main() -> std::io::Result<()> {
    let texts = match std::env::args().nth(1) {
        Some(directory) => texts_of(&directory)?,
        None => vec![made_up_text()],
    };
    let count: usize = texts.iter().map(|text| tokens(text).count()).sum();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {bytes} bytes, {count} tokens", texts.len());
    let shingled: Vec<Vec<u64>> = texts.iter().map(|text| shingles_of(&mut Shingler::default(), text)).collect();
    for (text, shingles) in texts.iter().zip(&shingled) {
        let set = ShingleSet::of_tokens(tokens(text), DEFAULT_SHINGLE_WIDTH);
        let same = !set.is_complete() || Sketch::of(set.hashes()) == Sketch::of(shingles);
        assert!(same, "the sketch of a text is that of its set");
    }

    let mut shingler = Shingler::default();
    let mut ways: [Way<'_>; 7] = [
        ("text to sketch", Box::new(|page| fold(sketch(&mut shingler, &texts[page]).slots()))),
        (
            "text to shingles",
            Box::new({
                let mut shingler = Shingler::default();
                let texts = &texts;
                move |page| shingler.shingles([texts[page].as_str()], DEFAULT_SHINGLE_WIDTH).len() as u64
            }),
        ),
        ("shingles to sketch", Box::new(|page| fold(Sketch::of(&shingled[page]).slots()))),
        ("text to shingle set", Box::new(|page| ShingleSet::of_text(&texts[page]).len() as u64)),
        (
            "tokens one by one, FNV-1a",
            Box::new(|page| tokens(&texts[page]).fold(0, |sum, token| sum ^ fnv1a64(token.as_bytes()))),
        ),
        ("digest of the text (BLAKE3)", Box::new(|page| u64::from(change::content_digest(texts[page].as_bytes())[0]))),
        (
            "shingles to MinHash, 128 hashes each",
            Box::new(|page| fold(MinHash::of(&shingled[page], SKETCH_SLOTS).minima())),
        ),
    ];
    let repeats = 2_000_000usize.div_ceil(count.max(1));
    let mut costs = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, work), costs) in ways.iter_mut().zip(&mut costs) {
            let start = cpu_nanoseconds();
            for _ in 0..repeats {
                for page in 0..texts.len() {
                    black_box(work(black_box(page)));
                }
            }
            costs.push((cpu_nanoseconds() - start) / (repeats * count) as f64);
        }
    }
    let medians: Vec<f64> = costs.into_iter().map(median).collect();
    for ((name, _), cost) in ways.iter().zip(&medians) {
        println!("{cost:8.2} ns/token {:8.2} times the sketch  {name}", cost / medians[0]);
    }
    Ok(())
}

fn shingles_of(shingler: &mut Shingler, text: &str) -> Vec<u64> {
    shingler.shingles([text], DEFAULT_SHINGLE_WIDTH).to_vec()
}

fn sketch(shingler: &mut Shingler, text: &str) -> Sketch {
    OnePermutation::of(shingler.shingles([text], DEFAULT_SHINGLE_WIDTH)).sketch()
}

fn fold(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum ^ value)
}

fn median(mut costs: Vec<f64>) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

/// CPU time of this thread: other work on the machine hardly disturbs it.
fn cpu_nanoseconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this example runs on Linux");
    let nanoseconds = statistics.split_whitespace().next().and_then(|first| first.parse().ok());
    nanoseconds.expect("schedstat begins with the time on the CPU in ns")
}

fn texts_of(directory: &str) -> std::io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("html") => texts.push(extract(Some("text/html"), &std::fs::read(path)?).text),
            Some("txt") => texts.push(String::from_utf8_lossy(&std::fs::read(path)?).into_owned()),
            _ => {}
        }
    }
    Ok(texts)
}

/// Words of one to twelve letters, with the frequencies of English lengths, more or less.
fn made_up_text() -> String {
    let word = |number: u64| {
        let random = change::splitmix64(number);
        let length = 1 + (random % 6) + (random >> 8) % 3 * ((random >> 16) % 3);
        (0..length).map(|place| (b'a' + (random >> (4 * place) & 15) as u8) as char).collect::<String>()
    };
    (0..20_000).map(word).collect::<Vec<_>>().join(" ")
}
