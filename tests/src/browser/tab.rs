//! A tab that a test uses as a person would: it loads addresses, clicks and types. It is driven through the browser's debugging
//! pipe (Chrome DevTools Protocol), and runs no script of the test in the page.

use super::{Browser, Scheme};
use crate::SOON;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A tab. The browser ends with it.
pub struct Tab {
    browser: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Addresses that the browser has asked for.
    requests: Vec<String>,
    /// The complaints in the browser's console.
    complaints: Vec<String>,
    /// Pages that were loaded.
    loads: usize,
}

impl Browser {
    /// Opens an empty tab.
    ///
    /// # Panics
    /// If the browser does not start.
    pub fn tab(&self) -> Tab {
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut browser = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", "sh", self.program])
            .args(super::QUIET)
            .arg("--remote-debugging-pipe")
            // Two browsers do not share a profile.
            .arg(format!("--user-data-dir={}", self.profile.with_extension("tab").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let commands = browser.stdin.take().expect("it is piped");
        let answers = received(browser.stdout.take().expect("it is piped"));
        let (requests, complaints) = (Vec::new(), Vec::new());
        let mut tab = Tab { browser, commands, answers, session: None, last_id: 0, requests, complaints, loads: 0 };
        let target = tab.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = tab.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Network", "Log", "Runtime", "DOM"] {
            tab.ask(&format!("{domain}.enable"), json!({}));
        }
        tab
    }
}

impl Tab {
    /// Loads an address. A name and a password may stand in it.
    ///
    /// # Panics
    /// If nothing is loaded.
    pub fn load(&mut self, address: &str) {
        let loads = self.loads;
        let answer = self.ask("Page.navigate", json!({ "url": address }));
        assert!(answer.get("errorText").is_none(), "{address}: {answer}");
        self.wait_for_load(loads);
    }

    /// Clicks on the first element that a selector finds, and waits for the page that comes of it.
    ///
    /// # Panics
    /// If there is no such element, or it is not shown.
    pub fn follow(&mut self, selector: &str) {
        let loads = self.loads;
        self.click(selector);
        self.wait_for_load(loads);
    }

    /// Clicks on the first element that a selector finds.
    ///
    /// # Panics
    /// If there is no such element, or it is not shown.
    pub fn click(&mut self, selector: &str) {
        let node = self.find(selector);
        self.ask("DOM.scrollIntoViewIfNeeded", json!({ "nodeId": node }));
        let shown = self.ask("DOM.getContentQuads", json!({ "nodeId": node }));
        let corners: Vec<f64> = shown["quads"][0].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        assert_eq!(corners.len(), 8, "{selector} is not shown");
        let middle = |axis: usize| corners.iter().skip(axis).step_by(2).sum::<f64>() / 4.0;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": middle(0), "y": middle(1), "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    /// Types a text into the first element that a selector finds.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn type_into(&mut self, selector: &str, text: &str) {
        let node = self.find(selector);
        self.ask("DOM.focus", json!({ "nodeId": node }));
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Lets the reader live in a time zone, such as "Asia/Tokyo".
    ///
    /// # Panics
    /// If the browser does not know it.
    pub fn live_in(&mut self, zone: &str) {
        self.ask("Emulation.setTimezoneOverride", json!({ "timezoneId": zone }));
    }

    /// The value of an expression of JavaScript in the page, once it is known. The page must allow scripts.
    ///
    /// # Panics
    /// If the browser or the expression fails.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let question = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", question);
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Shows the page with this width in pixels, in the colours that a reader prefers.
    ///
    /// # Panics
    /// If the browser fails.
    pub fn show(&mut self, width: u32, scheme: Scheme) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let value = if scheme == Scheme::Dark { "dark" } else { "light" };
        let preferred = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": preferred }));
    }

    /// The elements of the page.
    ///
    /// # Panics
    /// If the browser fails.
    pub fn html(&mut self) -> String {
        let root = self.ask("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let html = self.ask("DOM.getOuterHTML", json!({ "nodeId": root }));
        html["outerHTML"].as_str().unwrap_or_default().to_owned()
    }

    /// The addresses that the browser has asked for.
    pub fn requests(&self) -> &[String] {
        &self.requests
    }

    /// The complaints in the browser's console.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn find(&mut self, selector: &str) -> Value {
        let root = self.ask("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let found = self.ask("DOM.querySelector", json!({ "nodeId": root, "selector": selector }))["nodeId"].clone();
        assert!(found.as_u64().is_some_and(|node| node > 0), "nothing is {selector} in\n{}", self.html());
        found
    }

    fn wait_for_load(&mut self, before: usize) {
        while self.loads == before {
            self.read();
        }
    }

    /// Sends a command, and returns its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        write!(self.commands, "{command}\0").and_then(|()| self.commands.flush()).expect("the browser runs");
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Reads a message, and notes it if it is an event.
    fn read(&mut self) -> Value {
        let message = self.answers.recv_timeout(SOON).expect("the browser runs, and has something to say");
        let text = |place: &str| message.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loads += 1,
            Some("Network.requestWillBeSent") => self.requests.push(text("/params/request/url")),
            Some("Log.entryAdded") => self.complaints.push(text("/params/entry/text")),
            Some("Runtime.exceptionThrown") => self.complaints.push(message["params"].to_string()),
            _ => {}
        }
        message
    }
}

/// The messages of a browser. Each ends with a zero.
fn received(from: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(from).split(0).map_while(Result::ok) {
            let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}

impl Drop for Tab {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
