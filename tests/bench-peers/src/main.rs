//! What others do, measured for `make bench`: `spider URL…` crawls, `avro ROUNDS` encodes and decodes.

mod avro;
mod crawl;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, urls)) if what == "spider" => crawl::crawl(urls),
        Some((what, [rounds])) if what == "avro" => avro::measure(rounds.parse().expect("a number of rounds")),
        _ => panic!("usage: bench-peers spider URL… | avro ROUNDS"),
    }
}
