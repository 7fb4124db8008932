//! JSON schemas of bodies.

use serde_json::{Map, Value, json};

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// Lines, or a file, that must not be empty.
pub(super) fn lines() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

pub(super) fn document() -> Value {
    json!({ "type": "object", "required": ["openapi", "info", "paths"] })
}

/// RFC 9457.
pub(super) fn problem() -> Value {
    json!({
        "title": "Problem",
        "type": "object",
        "required": ["title", "status", "detail"],
        "properties": {
            "title": { "type": "string", "description": "The meaning of the status." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "Why, and what to do." },
        },
    })
}

pub(super) fn sent() -> Value {
    json!({
        "title": "Sent",
        "type": "object",
        "required": ["sent"],
        "properties": { "sent": { "type": "integer", "minimum": 0, "description": "Pages, hosts or focuses that were named." } },
        "additionalProperties": false,
    })
}

pub(super) fn seeded() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "title": "Seeded",
        "type": "object",
        "required": ["seeds", "duplicates", "faults"],
        "properties": {
            "seeds": count,
            "duplicates": count,
            "faults": { "type": "array", "items": { "type": "string" }, "description": "Lines that could not be read." },
        },
        "additionalProperties": false,
    })
}

pub(super) fn made_backup() -> Value {
    json!({
        "title": "MadeBackup",
        "type": "object",
        "required": ["directory"],
        "properties": { "directory": { "type": "string" } },
        "additionalProperties": false,
    })
}

/// A path that begins with a slash.
pub(super) fn directory() -> Value {
    json!({ "type": "string", "pattern": "^/" })
}

/// Pages that a hint is about.
pub(super) fn hints() -> Value {
    let hint = json!({
        "title": "Hint",
        "type": "object",
        "required": ["url"],
        "properties": {
            "url": { "type": "string", "format": "uri" },
            "changed_at": {
                "type": ["string", "number", "null"],
                "description": "RFC 3339, or seconds since 1970.",
            },
        },
    });
    json!({ "oneOf": [hint, { "type": "array", "items": hint, "maxItems": 10_000 }] })
}

pub(super) fn taken_hints() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "title": "TakenHints",
        "type": "object",
        "required": ["taken", "refused", "reasons"],
        "properties": {
            "taken": count,
            "refused": count,
            "reasons": { "type": "array", "items": { "type": "string" }, "maxItems": 20 },
        },
        "additionalProperties": false,
    })
}

/// The body of IndexNow.
pub(super) fn index_now() -> Value {
    json!({
        "type": "object",
        "required": ["host", "key", "urlList"],
        "properties": {
            "host": { "type": "string" },
            "key": { "type": "string" },
            "urlList": { "type": "array", "items": { "type": "string", "format": "uri" }, "maxItems": 10_000 },
        },
    })
}

/// The fields of a status that scripts rely on. There are more.
pub(super) fn status() -> Value {
    let count = json!({ "type": ["integer", "null"], "minimum": 0 });
    let number = json!({ "type": ["number", "null"] });
    let stage = json!({
        "title": "StageStatus",
        "type": "object",
        "required": ["name", "lag_records", "lag_s", "figures"],
        "properties": {
            "name": { "type": "string" },
            "lag_records": { "type": "integer", "minimum": 0 },
            "lag_s": { "type": "number", "minimum": 0 },
            "ready": { "type": ["boolean", "null"] },
            "last_error": { "type": ["string", "null"] },
            "figures": { "type": "object", "additionalProperties": { "type": "number" } },
        },
    });
    json!({
        "title": "Status",
        "type": "object",
        "required": ["pages", "due", "in_flight", "fetches_total", "fetch_rate_per_s", "estimated_freshness", "stages"],
        "properties": {
            "pages": count,
            "due": count,
            "in_flight": count,
            "fetches_total": count,
            "fetch_rate_per_s": number,
            "estimated_freshness": number,
            "stages": { "type": "array", "items": stage },
        },
    })
}

pub(super) fn cursor() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,19}(\\.[0-9]{1,19})*$", "examples": ["47.53.53.48"] })
}

pub(super) fn limit() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 1_000, "default": 100 })
}

pub(super) fn version() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 2_147_483_647 })
}

/// A change as `recrawl changes --format jsonl` prints it. Every field is there, also if it says nothing.
fn change() -> Value {
    let texts = |meaning: &str| json!({ "type": "array", "items": { "type": "string" }, "description": meaning });
    let maybe_text = |meaning: &str| json!({ "type": ["string", "null"], "description": meaning });
    let count = |meaning: &str| json!({ "type": "integer", "minimum": 0, "description": meaning });
    let flag = |meaning: &str| json!({ "type": "boolean", "description": meaning });
    let unit = object_of_all(
        "ChangedUnit",
        &json!({
            "before": maybe_text("Null: it is new."),
            "after": maybe_text("Null: it is gone."),
            "where": { "type": "string", "description": "Its row, the text that the link is in, or the heading above it." },
        }),
    );
    let side = json!({ "type": ["number", "string", "null"] });
    let unit_of_value = maybe_text("Such as EUR.");
    let watched = object_of_all(
        "WatchedValue",
        &json!({ "watch": { "type": "string" }, "before": side, "after": side, "unit": unit_of_value }),
    );
    object_of_all(
        "Change",
        &json!({
            "cursor": { "type": "string", "description": "A list from this cursor begins behind the change." },
            "change_id": { "type": "string", "description": "The same however often the change is read." },
            "url": { "type": "string", "description": "The page's canonical address." },
            "page_id": { "type": "string", "description": "In hexadecimal." },
            "verdict": { "type": "string", "description": "first, minor, major, missing, obscured, redirected, gone, returned, \
                unwatched, watched, forgotten or failed. There may be more." },
            "magnitude": { "type": "number", "minimum": 0, "maximum": 1 },
            "seen_at": { "type": "string", "description": "RFC 3339: when the fetch saw it." },
            "previous_seen_at": maybe_text("The fetch before. Null: there was none."),
            "status": { "type": ["integer", "null"], "description": "HTTP status of the last response." },
            "content_digest": maybe_text("Digest of the body, in hexadecimal."),
            "added": texts("Texts that are new."),
            "removed": texts("Texts that were removed."),
            "links_added": texts("Targets of links that are new."),
            "links_removed": texts("Targets of links that were removed."),
            "changes": { "type": "array", "items": unit, "description": "The same in pairs of before and after, in page order." },
            "passed_over": count("Pieces that differ and did not count."),
            "left_out": count("Pieces that counted and are not listed."),
            "content_changed": flag("Whether the text of the page's main part changed."),
            "links_changed": flag("Whether the links in the page's main part changed."),
            "structure_changed": flag("Whether something changed outside the page's main part."),
            "host_event": flag("Whether another page of the host changed in mostly the same words within the day before."),
            "changes_last": flag("Whether changes of this page usually last until its next look."),
            "rule": maybe_text("The watch rule of the page."),
            "triggers": texts("Triggers of the rule that fired."),
            "not_found": texts("Parts that the rule watches and that the page does not have."),
            "title": maybe_text("Title of the page."),
            "values": { "type": "array", "items": watched, "description": "Values of the watch rule that changed." },
            "lost": texts("Watched parts and triggers that see nothing any more."),
            "found_again": texts("Those that see something again."),
            "leads_to": maybe_text("Address of another page that redirects lead to."),
            "looks_like": maybe_text("The kind of page that is served in its place."),
            "failure": maybe_text("Why the first request for a seed brought no page."),
        }),
    )
}

/// An object that has all of its fields.
fn object_of_all(title: &str, properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "title": title, "type": "object", "required": names, "properties": properties })
}

pub(super) fn changes() -> Value {
    json!({
        "title": "ChangesPage",
        "type": "object",
        "required": ["items", "next_cursor", "has_more"],
        "properties": {
            "items": { "type": "array", "items": change(), "maxItems": 1_000 },
            "next_cursor": { "type": "string", "description": "The cursor of the next request, also if there are no further changes yet." },
            "has_more": { "type": "boolean", "description": "Whether there may be more now. A request reads some thousand changes at most, so an answer may have no items and more behind its cursor." },
        },
        "additionalProperties": false,
    })
}
