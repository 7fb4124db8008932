//! Blocks that are put into a page, written as the page is: in HTML, or in Markdown.

/// How a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    Html,
    Lines,
}

impl Markup {
    pub(crate) fn paragraph(self, text: &str) -> String {
        match self {
            Self::Html => format!("\n<p>{text}</p>\n"),
            Self::Lines => format!("\n{text}\n\n"),
        }
    }

    pub(crate) fn heading(self, text: &str) -> String {
        match self {
            Self::Html => format!("\n<h3>{text}</h3>\n"),
            Self::Lines => format!("\n## {text}\n\n"),
        }
    }

    pub(crate) fn list(self, items: &[String]) -> String {
        match self {
            Self::Html => {
                format!("\n<ul>\n{}</ul>\n", items.iter().map(|item| format!("<li>{item}</li>\n")).collect::<String>())
            }
            Self::Lines => format!("\n{}\n", items.iter().map(|item| format!("- {item}\n")).collect::<String>()),
        }
    }

    pub(crate) fn table(self, head: &[&str], rows: &[Vec<String>]) -> String {
        match self {
            Self::Html => {
                let head: String = head.iter().map(|cell| format!("<th>{cell}</th>")).collect();
                let row = |row: &Vec<String>| {
                    let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
                    format!("<tr>{cells}</tr>\n")
                };
                format!("\n<table>\n<tr>{head}</tr>\n{}</table>\n", rows.iter().map(row).collect::<String>())
            }
            Self::Lines => {
                let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
                let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
                let rule = vec!["---".to_owned(); head.len()];
                let rows: String = rows.iter().map(|cells| row(cells)).collect();
                format!("\n{}{}{rows}\n", row(&head), row(&rule))
            }
        }
    }

    pub(crate) fn link(self, text: &str, target: &str) -> String {
        match self {
            Self::Html => format!("<a href=\"{target}\">{text}</a>"),
            Self::Lines => format!("[{text}]({target})"),
        }
    }
}
