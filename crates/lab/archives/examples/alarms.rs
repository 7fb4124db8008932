use archives::Archive;
use change::{Version, diff};
use settings::{Layers, Settings};
use std::collections::HashMap;
use std::path::Path;
fn main() -> anyhow::Result<()> {
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap();
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    for source in std::env::args().skip(1) {
        let mut archive = Archive::open(&Path::new(&corpora).join("content"), Some(&source))?;
        let labels = archive.labels()?;
        let mut last: HashMap<u32, Vec<u8>> = HashMap::new();
        archive.judge_each(&urls, &mut |look| {
            let Some(body) = look.body else { return };
            if look.line.meaningful && labels.get(&(look.line.page_id, look.line.unix_time)) == Some(&false) {
                let v = |b: &[u8]| {
                    Version::new(
                        Box::leak(b.to_vec().into_boxed_slice()),
                        Some(&look.page.content_type),
                        Some(&look.page.address),
                        Box::leak(Box::new(urls.clone())),
                    )
                };
                let d = diff(&v(&last[&look.line.page_id]), &v(body));
                let c =
                    |l: &[String]| l.iter().take(3).map(|t| t.chars().take(90).collect::<String>()).collect::<Vec<_>>();
                println!(
                    "{} {} +{:?} -{:?} L+{:?} L-{:?}",
                    look.page.address,
                    look.line.unix_time,
                    c(&d.added),
                    c(&d.removed),
                    c(&d.links_added),
                    c(&d.links_removed)
                );
            }
            last.insert(look.line.page_id, body.to_vec());
        })?;
    }
    Ok(())
}
