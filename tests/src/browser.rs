//! A real browser, for the pages that recrawl writes.

mod tab;

pub use self::tab::Tab;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// No window, and no requests of the browser's own.
const QUIET: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser without a window, with a profile of its own.
pub struct Browser {
    program: &'static str,
    profile: PathBuf,
}

/// The colours that a reader prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark words on a light screen.
    Light,
    /// Light words on a dark screen.
    Dark,
}

impl Browser {
    /// The browser of this machine, with its profile in `directory`. `None` after a message that the pages were not
    /// looked at.
    ///
    /// # Panics
    /// If no browser is installed although no test may be left out (RECRAWL_KAFKA_REQUIRED is set).
    pub fn find(directory: &Path) -> Option<Self> {
        let is_there =
            |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
        let Some(program) = NAMES.into_iter().find(is_there) else {
            assert!(std::env::var_os("RECRAWL_KAFKA_REQUIRED").is_none(), "no browser here; make setup installs one");
            println!("LEFT OUT: no browser here ({}), the page was not looked at", NAMES.join(", "));
            return None;
        };
        Some(Self { program, profile: directory.join("browser") })
    }

    /// Opens a page with further arguments. Returns what the browser prints.
    ///
    /// # Panics
    /// If the browser fails.
    pub fn open(&self, page: &Path, further: &[&str]) -> String {
        self.open_address(&format!("file://{}", page.display()), further)
    }

    /// The elements of the page at an address, once it is shown. A name and a password may stand in the address.
    ///
    /// # Panics
    /// If the browser fails.
    pub fn visit(&self, address: &str) -> String {
        self.open_address(address, &["--dump-dom"])
    }

    fn open_address(&self, address: &str, further: &[&str]) -> String {
        let output = Command::new(self.program)
            .args(QUIET)
            .arg(format!("--user-data-dir={}", self.profile.display()))
            .args(further)
            .arg(address)
            .output()
            .expect("the browser starts");
        assert!(output.status.success(), "{}: {}", self.program, String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The value of an expression of JavaScript, in which `page` is the window of a page of this width in pixels. The
    /// page itself is not touched: it stands in a frame of another page, which is written beside it.
    ///
    /// # Panics
    /// If the browser fails, or the expression does.
    pub fn evaluate(&self, page: &Path, width: u32, scheme: Scheme, expression: &str) -> Value {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a page of a test has a name");
        let frame = page.with_file_name("frame.html");
        let html = format!(
            r#"<!doctype html><meta charset="utf-8"><iframe src="{name}" width="{width}" height="900"></iframe><pre></pre>
<script>
onload = () => {{
  const page = document.querySelector('iframe').contentWindow;
  let value;
  try {{ value = {expression} }} catch (error) {{ value = {{ error: String(error) }} }}
  const code = letter => '\\u' + letter.charCodeAt(0).toString(16).padStart(4, '0');
  document.querySelector('pre').textContent = JSON.stringify(value).replace(/[^ -%'-;=?-~]/g, code);
}};
</script>"#
        );
        std::fs::write(&frame, html).expect("the test's directory takes files");
        let scheme = match scheme {
            Scheme::Dark => "--blink-settings=preferredColorScheme=0",
            Scheme::Light => "--blink-settings=preferredColorScheme=1",
        };
        let shown = self.open(&frame, &["--allow-file-access-from-files", scheme, "--dump-dom"]);
        let value = shown.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (value, _) = value.unwrap_or_else(|| panic!("no answer in\n{shown}"));
        let value: Value = serde_json::from_str(value).unwrap_or_else(|error| panic!("{error}: {value}"));
        assert!(value.get("error").is_none(), "{value}");
        value
    }
}

/// An expression for [`Browser::evaluate`]: whether the page overflows to the side, the least contrast of a text with what
/// it stands on as in WCAG 2 (`least`), that of a line or a mark of a drawing in a meaningful colour (`faintest`, null
/// without drawings), and the least height of a text in a drawing, in pixels (the last field, null without).
pub const READABLE: &str = "(() => {
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const luminance = color => {
    const [red, green, blue] = numbers(color).map(value => value / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = element => {
    for (; element; element = element.parentElement) {
      const color = page.getComputedStyle(element).backgroundColor;
      if (numbers(color)[3] !== 0) return color;
    }
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const style = element => page.getComputedStyle(element);
  const walker = page.document.createTreeWalker(page.document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['title', 'desc', 'style'].includes(element.localName)) continue;
    const color = element.closest('svg') ? style(element).fill : style(element).color;
    found.push({ contrast: contrast(color, ground(element)), text: walker.currentNode.data, color });
  }
  found.sort((a, b) => a.contrast - b.contrast);
  const lines = [...page.document.querySelectorAll('svg polyline, svg circle, svg path')]
    .map(line => ({ line, colour: style(line).stroke == 'none' ? style(line).fill : style(line).stroke }))
    .filter(({ line }) => !line.classList.contains('axis') && Number(line.getAttribute('opacity') ?? 1) == 1)
    .map(({ line, colour }) => contrast(colour, ground(line)));
  const letters = [...page.document.querySelectorAll('svg text')].map(text => text.getBoundingClientRect().height);
  const root = page.document.documentElement;
  return {
    overflows: root.scrollWidth > root.clientWidth,
    words: found.length, least: found[0].contrast, at: found[0], ground: ground(page.document.body),
    faintest: lines.length ? Math.min(...lines) : null,
    letters: letters.length ? Math.min(...letters) : null,
  };
})()";
