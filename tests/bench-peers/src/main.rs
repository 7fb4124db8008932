//! Peers, measured for `make bench`: `spider URL…` crawls, `avro ROUNDS` encodes and decodes, `pages ROUNDS
//! DIRECTORY OUTPUT` reads, sketches and judges the HTML files of a directory, and writes them and their texts to another.

mod avro;
mod crawl;
mod pages;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, urls)) if what == "spider" => crawl::crawl(urls),
        Some((what, [rounds])) if what == "avro" => avro::measure(rounds.parse().expect("a number of rounds")),
        Some((what, [rounds, directory, output])) if what == "pages" => {
            pages::measure(rounds.parse().expect("a number of rounds"), directory, output);
        }
        _ => panic!("usage: bench-peers spider URL… | avro ROUNDS | pages ROUNDS DIRECTORY OUTPUT"),
    }
}
