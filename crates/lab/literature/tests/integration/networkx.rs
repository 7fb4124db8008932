//! PageRank, TrustRank and HITS beside networkx, on the links of recorded pages. `RECRAWL_PYTHON` names a Python that has
//! networkx (`make setup` makes one), and the recorded pages are in the corpora.

use archives::Archive;
use document::Body;
use literature::push::Residuals;
use literature::ranking::hits::Hits;
use literature::ranking::pagerank::PageRank;
use literature::ranking::trust::trust_rank;
use literature::ranking::{Damping, Edge, Graph, Repeats};
use page::CanonicalUrl;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Numbers of names, in the order in which they came.
#[derive(Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn number(&mut self, name: String) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }
}

/// The links of the latest versions of the pages of a source, those to pages outside included.
fn links(content: &Path, source: Option<&str>) -> Vec<(CanonicalUrl, CanonicalUrl)> {
    let mut links = Vec::new();
    let mut archive = Archive::open(content, source).unwrap();
    let take = |page: &archives::ArchivedPage, bytes: &[u8]| {
        let Ok(url) = CanonicalUrl::parse(&page.address) else { return };
        let text = Body::new(bytes, Some(&page.content_type), Some(&page.address)).text();
        links.extend(text.links.iter().filter_map(|link| Some((url.clone(), url.join(link.href).ok()?))));
    };
    archive.for_each_latest(take).unwrap();
    links
}

fn networkx(graph: &Graph, trusted: &[u32]) -> Option<Value> {
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else {
        left_out("RECRAWL_PYTHON is not set");
        return None;
    };
    let script = corpora::workspace().join("crates/lab/literature/tests/foreign/rank.py");
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            left_out(&format!("RECRAWL_PYTHON: {error}"));
            return None;
        }
    };
    let edges: Vec<_> = graph.edges().map(|edge| json!([edge.from, edge.to, edge.weight])).collect();
    let question = json!({"nodes": graph.nodes(), "edges": edges, "trusted": trusted});
    // A script that ends at once, because it lacks something, reads nothing.
    let _ = child.stdin.take().unwrap().write_all(question.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Some(serde_json::from_slice(&output.stdout).unwrap()),
        Some(3) => {
            left_out(complained.trim());
            None
        }
        _ => panic!("{complained}"),
    }
}

fn left_out(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "networkx cannot be asked: {why}");
    println!("LEFT OUT: {why}");
}

#[track_caller]
fn agree(what: &str, ours: &[f64], theirs: &Value) {
    // networkx makes sums 1, also those of hubs and authorities.
    let sum: f64 = ours.iter().sum();
    let theirs: Vec<f64> = theirs.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect();
    assert_eq!(ours.len(), theirs.len());
    let apart = ours.iter().zip(&theirs).map(|(ours, theirs)| (ours / sum - theirs).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-8, "{what}: {apart} apart");
}

fn compare(name: &str, graph: &Graph, trusted: &[u32]) {
    assert!(graph.nodes() > 50 && graph.links() > graph.nodes() / 2, "{name} has hardly any links");
    let Some(theirs) = networkx(graph, trusted) else { return };
    let pagerank = PageRank { tolerance: 1e-13, ..PageRank::default() };
    let ranked = pagerank.rank(graph);
    assert!(ranked.settled, "{name}");
    agree(&format!("{name}: PageRank"), &ranked.values, &theirs["pagerank"]);
    let mut pushed = Residuals::new(graph, Damping::default());
    pushed.settle(graph, 1e-11);
    agree(&format!("{name}: PageRank by pushes"), &pushed.pagerank(), &theirs["pagerank"]);
    let trust = trust_rank(graph, trusted, &pagerank).unwrap();
    agree(&format!("{name}: TrustRank"), &trust.values, &theirs["trust"]);
    let hits = Hits { most_rounds: 10_000, ..Hits::default() }.rank(graph);
    assert!(hits.settled, "{name}");
    agree(&format!("{name}: authorities"), &hits.authorities, &theirs["authorities"]);
    agree(&format!("{name}: hubs"), &hits.hubs, &theirs["hubs"]);
    println!(
        "{name}: {} nodes, {} links, HITS in {} rounds: as networkx {}",
        graph.nodes(),
        graph.links(),
        hits.rounds,
        theirs["networkx"]
    );
}

#[test]
fn the_pages_of_a_manual_rank_as_networkx_ranks_them() {
    let Some(content) = corpora::find("content") else { return };
    let mut names = Names::default();
    let links = links(&content, Some("git-htmldocs"));
    let edges: Vec<Edge> = links
        .iter()
        .map(|(from, to)| Edge::plain(names.number(from.to_string()), names.number(to.to_string())))
        .collect();
    compare("pages of a manual", &Graph::new(names.0.len() as u32, edges, Repeats::Once).unwrap(), &[0, 7]);
}

#[test]
fn all_pages_and_their_hosts_rank_as_networkx_ranks_them() {
    let Some(content) = corpora::find("content") else { return };
    let (mut pages, mut hosts) = (Names::default(), Names::default());
    let mut host_of = Vec::new();
    let mut edges = Vec::new();
    for (from, to) in &links(&content, None) {
        let [from, to] = [from, to].map(|url| {
            let page = pages.number(url.to_string());
            if page as usize == host_of.len() {
                host_of.push(hosts.number(url.host().to_string()));
            }
            page
        });
        edges.push(Edge::plain(from, to));
    }
    let graph = Graph::new(host_of.len() as u32, edges, Repeats::Summed).unwrap();
    compare("pages of all sources, links counted", &graph, &[0, 1]);
    compare("hosts", &graph.grouped(hosts.0.len() as u32, &host_of, f64::ln_1p).unwrap(), &[0, 1]);
}
