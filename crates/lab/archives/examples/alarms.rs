use archives::Archive;
use settings::{Layers, Settings};
use std::path::Path;
fn main() -> anyhow::Result<()> {
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap();
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    for source in std::env::args().skip(1) {
        let mut archive = Archive::open(&Path::new(&corpora).join("content"), Some(&source))?;
        let labels = archive.labels()?;
        archive.judge_each(&urls, &mut |look| {
            if look.line.meaningful && labels.get(&(look.line.page_id, look.line.unix_time)) == Some(&false) {
                let r = &look.judgement.record;
                println!(
                    "{} {} {} passed {} left {}",
                    look.page.address,
                    look.line.unix_time,
                    r.changes.len(),
                    r.passed_over,
                    r.left_out
                );
                for c in r.changes.iter().take(4) {
                    let s = |t: &Option<String>| t.as_ref().map(|t| t.chars().take(110).collect::<String>());
                    println!(
                        "    [{}] {:?} -> {:?}",
                        c.place.chars().take(50).collect::<String>(),
                        s(&c.before),
                        s(&c.after)
                    );
                }
            }
        })?;
    }
    Ok(())
}
