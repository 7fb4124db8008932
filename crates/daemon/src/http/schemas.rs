//! JSON schemas of bodies.

use serde_json::{Value, json};

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
        "type": "object",
        "required": ["sent"],
        "properties": { "sent": { "type": "integer", "minimum": 0, "description": "Pages, hosts or focuses that were named." } },
        "additionalProperties": false,
    })
}

pub(super) fn seeded() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
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

pub(super) fn changes() -> Value {
    let change = json!({
        "type": "object",
        "required": ["cursor", "url", "page_id", "verdict", "magnitude", "seen_at"],
        "properties": {
            "cursor": { "type": "string" },
            "url": { "type": "string" },
            "page_id": { "type": "string" },
            "verdict": { "type": "string" },
            "magnitude": { "type": "number", "minimum": 0, "maximum": 1 },
        },
    });
    json!({
        "type": "object",
        "required": ["items", "next_cursor", "has_more"],
        "properties": {
            "items": { "type": "array", "items": change, "maxItems": 1_000 },
            "next_cursor": { "type": "string", "description": "The cursor of the next request, also if there are no further changes yet." },
            "has_more": { "type": "boolean", "description": "Whether there may be more now. A request reads some thousand changes at most, so an answer may have no items and more behind its cursor." },
        },
        "additionalProperties": false,
    })
}
