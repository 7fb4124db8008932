//! The help of the programs: commands in groups, examples, and a command's own options before those of every command.

use clap::{Arg, Command};
use std::fmt::Write;

/// Heading of the options that most commands share.
pub const COMMON_OPTIONS: &str = "Common options";

/// The commands of `recrawl` by what they are for. Each visible command is in one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run a crawl", &["run", "stage", "console", "demo"]),
    ("See how it stands", &["status", "page", "pages", "history", "explain", "hosts", "study"]),
    ("Use what it sees", &["changes", "deliver", "feed", "mirror", "export", "mcp"]),
    ("Change what it does", &["seed", "refetch", "forget", "pause", "resume", "block", "unblock", "focus"]),
    ("Try on a page, a file or a rule", &["fetch", "robots", "rules", "text", "diff", "sitemap", "url"]),
    ("Try a method on data", &["simulate", "detect", "mirrors", "rank"]),
    (
        "Look after it",
        &["topics", "backup", "state", "audit", "dead-letters", "key", "identity", "completions", "help"],
    ),
];

/// Examples by command, with the names of commands inside others: `focus learn`.
pub type Examples = &'static [(&'static str, &'static [&'static str])];

/// Examples of `recrawl`. A line is a command that it takes, with a comment.
pub const EXAMPLES: Examples = &[
    (
        "run",
        &[
            "recrawl run --data my-data https://www.example.org/ --set crawl.contact=mailto:me@example.org",
            "recrawl run --config recrawl.toml    # the settings name pages, directory and contact",
            "recrawl run --data my-data --preset chile",
        ],
    ),
    (
        "stage",
        &[
            "recrawl stage detector --config recrawl.toml --instance 0",
            "recrawl stage estimator ranker --config recrawl.toml --instance 0",
        ],
    ),
    ("console", &["recrawl console --config recrawl.toml"]),
    ("status", &["recrawl status --data my-data", "recrawl status --data my-data --watch    # until Ctrl-C"]),
    (
        "page",
        &[
            "recrawl page https://www.example.org/ --data my-data",
            "recrawl page https://www.example.org/ --data my-data --text --version 3",
        ],
    ),
    (
        "pages",
        &[
            "recrawl pages --data my-data --failing",
            "recrawl pages --data my-data --host example.org --sort last-change --csv --top 0",
        ],
    ),
    ("history", &["recrawl history https://www.example.org/ --data my-data"]),
    ("explain", &["recrawl explain https://www.example.org/ --data my-data"]),
    ("hosts", &["recrawl hosts --data my-data --top 20"]),
    ("study", &["recrawl study --data my-data"]),
    (
        "changes",
        &[
            "recrawl changes --data my-data --since 1h",
            "recrawl changes --data my-data --follow --rule price --triggered",
            "recrawl changes --data my-data --follow --webhook https://hooks.example.org/recrawl",
        ],
    ),
    (
        "deliver",
        &[
            "recrawl deliver --config recrawl.toml    # over Kafka; a run delivers by itself",
            "recrawl deliver editors --config recrawl.toml --once",
        ],
    ),
    ("mcp", &["recrawl mcp --data my-data    # a program with a model starts it"]),
    ("feed", &["recrawl feed --data my-data --verdict major --items 50"]),
    ("export warc", &["recrawl export warc --data my-data --out archive --since yesterday"]),
    ("mirror", &["recrawl mirror --data my-data --to opensearch+https://search.example.org/pages --follow"]),
    ("export wacz", &["recrawl export wacz --data my-data --out archive"]),
    ("export jsonl", &["recrawl export jsonl --data my-data --follow --no-body"]),
    ("export contents", &["recrawl export contents --data my-data --uses search"]),
    ("export parquet", &["recrawl export parquet --data my-data --out tables"]),
    (
        "seed",
        &[
            "recrawl seed --data my-data https://www.example.org/ https://www.example.org/news",
            "recrawl seed --data my-data --file seeds.txt",
        ],
    ),
    ("refetch", &["recrawl refetch --data my-data https://www.example.org/"]),
    (
        "forget",
        &[
            "recrawl forget --data my-data https://www.example.org/old",
            "recrawl forget --data my-data --site example.org --dry-run",
        ],
    ),
    ("pause", &["recrawl pause --data my-data www.example.org"]),
    ("resume", &["recrawl resume --data my-data www.example.org"]),
    ("block", &["recrawl block --data my-data www.example.org"]),
    ("unblock", &["recrawl unblock --data my-data www.example.org"]),
    ("key", &["recrawl key alice --role operator --file keys.toml"]),
    ("identity new", &["recrawl identity new identity.pem"]),
    ("identity show", &["recrawl identity show --config recrawl.toml"]),
    ("identity files", &["recrawl identity files public --config recrawl.toml"]),
    ("fetch", &["recrawl fetch https://www.example.org/ --set crawl.contact=mailto:me@example.org"]),
    ("robots", &["recrawl robots robots.txt /private/page --agent recrawl"]),
    (
        "rules",
        &[
            "recrawl rules --config recrawl.toml https://shop.example.org/lamp page.html",
            "recrawl rules --data my-data --check    # all rules on the kept copies",
        ],
    ),
    ("text", &["recrawl text page.html --url https://www.example.org/"]),
    ("diff", &["recrawl diff old.html new.html", "recrawl diff old.html new.html --html diff.html"]),
    ("focus score", &["recrawl focus score climate.focus page.html"]),
    ("focus learn", &["recrawl focus learn --name climate good1.html good2.html --against other.html > climate.focus"]),
    ("focus add", &["recrawl focus add climate.focus --data my-data"]),
    ("focus remove", &["recrawl focus remove climate --data my-data"]),
    ("focus list", &["recrawl focus list"]),
    ("sitemap", &["recrawl sitemap sitemap.xml --urls"]),
    ("url", &["recrawl url 'HTTPS://Example.ORG:443/a/../b?utm_source=x'"]),
    ("topics create", &["recrawl topics create --config recrawl.toml"]),
    ("topics check", &["recrawl topics check --config recrawl.toml"]),
    ("backup", &["recrawl backup --data my-data backups/2026-11-30"]),
    ("state check", &["recrawl state check --data my-data"]),
    ("state new-crawl", &["recrawl state new-crawl --data copy-of-my-data"]),
    ("state publish", &["recrawl state publish --config recrawl.toml --data scheduler-0"]),
    ("audit", &["recrawl audit --data my-data --last 20"]),
    ("dead-letters", &["recrawl dead-letters --data my-data", "recrawl dead-letters --data my-data --replay"]),
    ("completions", &["recrawl completions bash > ~/.local/share/bash-completion/completions/recrawl"]),
];

/// A program with examples in the help of its commands.
#[must_use]
pub fn with_examples(program: Command, examples: Examples) -> Command {
    examples
        .iter()
        .fold(program, |program, (path, lines)| with_example(program, &path.split(' ').collect::<Vec<_>>(), lines))
}

fn with_example(command: Command, path: &[&str], lines: &[&str]) -> Command {
    let Some((name, rest)) = path.split_first() else {
        return command.after_help(format!("Examples:\n  {}", lines.join("\n  ")));
    };
    command.mut_subcommand(name, |inner| with_example(inner, rest, lines))
}

/// The program `recrawl` with its commands in groups.
#[must_use]
pub fn in_groups(program: Command) -> Command {
    let template = template(&program);
    program.help_template(template)
}

/// The help of the program itself, with its commands in groups. Clap has one list of all.
fn template(program: &Command) -> String {
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(template, "\n{title}:");
        for name in *names {
            let about = program.find_subcommand(name).and_then(|command| command.get_about());
            let about = about.map_or_else(|| "Prints the help of a command".to_owned(), ToString::to_string);
            let _ = writeln!(template, "  {name:<13} {about}");
        }
    }
    template + "\nOptions:\n{options}"
}

/// The reference of a program in Markdown: a part for each visible command, with its options and examples.
#[must_use]
pub fn reference(mut program: Command) -> String {
    program.build();
    let mut page = String::new();
    add_parts(&mut page, &program);
    page.trim_end().to_owned() + "\n"
}

fn add_parts(page: &mut String, command: &Command) {
    let is_shown = |inner: &&Command| !inner.is_hide_set() && inner.get_name() != "help" && has_help(inner);
    let inner: Vec<&Command> = command.get_subcommands().filter(is_shown).collect();
    if inner.is_empty() {
        add_part(page, command);
    }
    inner.into_iter().for_each(|inner| add_parts(page, inner));
}

/// Commands of the other program are described there.
fn has_help(command: &Command) -> bool {
    !command.is_disable_help_flag_set()
}

fn add_part(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let usage = command.clone().render_usage().to_string();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ =
        writeln!(page, "## {name}\n\n{}.\n\n```text\n{}\n```\n", escaped(&about), usage.trim_start_matches("Usage: "));
    let own =
        |arg: &&Arg| arg.get_help_heading() != Some(COMMON_OPTIONS) && !arg.is_hide_set() && arg.get_id() != "help";
    for arg in command.get_arguments().filter(own) {
        let _ = writeln!(page, "* `{}`: {}", shape(arg), meaning(arg));
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().skip(1).map(str::trim).collect::<Vec<_>>();
        let _ = writeln!(page, "\n```sh\n{}\n```", lines.join("\n"));
    }
    page.push('\n');
}

/// An argument as it is typed.
fn shape(arg: &Arg) -> String {
    arg.to_string()
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = escaped(help.trim_end_matches('.')) + ".";
    if !arg.is_hide_possible_values_set() && arg.get_action().takes_values() {
        let values: Vec<_> = arg.get_possible_values();
        let words = values.iter().filter(|value| !value.is_hide_set()).map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        });
        let words = words.collect::<Vec<_>>().join(", ");
        if !words.is_empty() {
            let _ = write!(meaning, " One of {words}.");
        }
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let _ = write!(meaning, " Default: `{}`.", defaults.join(" "));
    }
    meaning
}

/// Text in which nothing is Markdown by accident. Code stays code.
fn escaped(text: &str) -> String {
    let escape = |(number, part): (usize, &str)| match number % 2 {
        0 => part.replace('<', "&lt;").replace('[', "\\[").replace('*', "\\*").replace('_', "\\_"),
        _ => part.to_owned(),
    };
    text.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Command {
        let pages =
            Command::new("pages").about("Lists <pages>").arg(Arg::new("host").long("host").help("Only `[this]`"));
        let inner = Command::new("focus").subcommand(Command::new("learn").about("Learns"));
        Command::new("recrawl").subcommand(pages).subcommand(inner).subcommand(Command::new("manual").hide(true))
    }

    #[test]
    fn the_reference_has_each_visible_command_with_its_options_and_examples() {
        let examples: Examples = &[("pages", &["recrawl pages --host a.example"])];
        let page = reference(with_examples(program(), examples));
        let pages = "## recrawl pages\n\nLists &lt;pages>.\n\n```text\nrecrawl pages [OPTIONS]\n```\n\n* `--host <host>`: Only `[this]`.\n\n\
                     ```sh\nrecrawl pages --host a.example\n```\n";
        assert!(
            page.contains(pages) && page.contains("## recrawl focus learn\n") && !page.contains("manual"),
            "{page}"
        );
    }
}
