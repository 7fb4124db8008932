use super::*;
use proptest::prelude::*;
use serde_json::Value;

/// A value as strict JSON, for comparison.
fn strict(value: &LooseValue<'_>) -> Value {
    match value {
        LooseValue::Null => Value::Null,
        LooseValue::Bool(value) => Value::Bool(*value),
        LooseValue::Number(written) => {
            serde_json::from_str(written).unwrap_or_else(|_| Value::String((*written).into()))
        }
        LooseValue::Text(text) => Value::String(text.to_string()),
        LooseValue::List(values) => Value::Array(values.iter().map(strict).collect()),
        LooseValue::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.to_string(), strict(value))).collect())
        }
    }
}

fn check(text: &str, expected: &str) {
    let read: Vec<Value> = read(text).iter().map(strict).collect();
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(Value::Array(read), expected, "{text}");
}

#[test]
fn what_others_repair_is_repaired() {
    check("{\"a\":\"b\nc\td\"}", r#"[{"a":"b\nc\td"}]"#);
    check("//<![CDATA[\n{\"a\":1}\n//]]>", r#"[{"a":1}]"#);
    check("// <![CDATA[ {\"a\":1} // ]]>", r#"[{"a":1}]"#);
    check("/*<![CDATA[*/{\"a\":1}/*]]>*/", r#"[{"a":1}]"#);
    check("<![CDATA[{\"a\":1}]]>", r#"[{"a":1}]"#);
    check("<!--\n{\"a\":1}\n-->", r#"[{"a":1}]"#);
    check("<!-- the data -->{\"a\":1}", r#"[{"a":1}]"#);
    check("{\"a\":1, // one\n\"b\": /* two */ 2 // end\n}", r#"[{"a":1,"b":2}]"#);
    check("{\"a\":[1,2,],\"b\":3,}", r#"[{"a":[1,2],"b":3}]"#);
    check("{,\"a\":1,,\"b\":2};", r#"[{"a":1,"b":2}]"#);
    check("{\"a\":1};{\"b\":2},{\"c\":3}{\"d\":4}\n[5]", r#"[{"a":1},{"b":2},{"c":3},{"d":4},[5]]"#);
    check("\u{feff}{\"a\":1}", r#"[{"a":1}]"#);
    check("{a:1,'b':'c',$d_e:\"f\"}", r#"[{"a":1,"b":"c","$d_e":"f"}]"#);
    check("{\"a\":\"12\" wide\",\"b\":1}", r#"[{"a":"12\" wide","b":1}]"#);
    check("{\"a\":\"he said \"hi\", then left\",\"b\":1}", r#"[{"a":"he said \"hi\", then left","b":1}]"#);
    check("{\"a\":\"b\"\n\"c\":2}", r#"[{"a":"b","c":2}]"#);
    check(r#"{"a":"it\'s \x é \u20ac \ud83d\ude00 \ud83d \u12"}"#, r#"[{"a":"it's x é € 😀 � u12"}]"#);
    check("{\"a\":\"b\" \"c\":2}", r#"[{"a":"b","c":2}]"#);
    check("var x = {\"a\":1};", r#"[{"a":1}]"#);
}

#[test]
fn values_without_quotes_are_read() {
    check("{\"a\":19,90,\"b\":1}", r#"[{"a":"19,90","b":1}]"#);
    check("{\"a\":1.299,00}", r#"[{"a":"1.299,00"}]"#);
    check("{\"a\":[1,2,3]}", r#"[{"a":[1,2,3]}]"#);
    check("{\"a\":19.90 EUR,\"b\":$5}", r#"[{"a":"19.90 EUR","b":"$5"}]"#);
    check("{\"a\":,\"b\":}", r#"[{}]"#);
    check("{\"a\":undefined,\"b\":True,\"c\":NaN}", r#"[{"a":null,"b":true,"c":null}]"#);
    check("{\"a\":.5,\"b\":+1,\"c\":007}", r#"[{"a":".5","b":"+1","c":"007"}]"#);
    check("{\"a\":1 // x, y\n,\"b\":2}", r#"[{"a":1,"b":2}]"#);
    check("{\"a\":\"b\", // x, \"y\": 3\n\"c\":2}", r#"[{"a":"b","c":2}]"#);
}

#[test]
fn what_is_cut_off_or_closed_too_often_is_read_as_far_as_it_goes() {
    check("{\"a\":{\"b\":[1,{\"c\":\"d", r#"[{"a":{"b":[1,{"c":"d"}]}}]"#);
    check("{\"a\":1}}}]{\"b\":2}", r#"[{"a":1},{"b":2}]"#);
    check("{\"a\":[1,2}", r#"[{"a":[1,2]}]"#);
    check("no data", "[]");
    check("", "[]");
    check("{\"a\"", "[{}]");
    check("{\"a\":\"\\", r#"[{"a":""}]"#);
}

#[test]
fn hostile_data_is_read_in_linear_time_and_without_end_of_the_stack() {
    let pieces = [
        "{",
        "[",
        "{\"a\":",
        "\"",
        "\" ",
        "\",",
        "\", ",
        "//",
        "// ",
        "/*",
        "<!--",
        "<!-- {",
        "\\",
        "{\"a\":\"",
        "a",
        ":",
        ",",
        "}",
        "]",
        "[1,",
        "1,2",
        "'",
        "\"\n",
        "--",
        "]]",
        "<a",
        "\", a",
        "/",
        "{a",
        "1 //",
        "\u{feff}",
        "\", /*",
    ];
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        for start in ["", "{\"a\":[", "{\"a\":\""] {
            let read = read(&format!("{start}{text}")).len();
            assert!(read <= text.len(), "{piece}");
        }
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read(&deep).len(), 1);
    let behind = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(1_000), "]".repeat(1_000));
    assert_eq!(read(&behind)[0].get("b"), Some(&LooseValue::Number("1")));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        (-1_000_000_i32..1_000_000).prop_map(|value| Value::from(f64::from(value) / 1024.0)),
        "[a-z\"\\\\/,:{}\\[\\] \n<é€'-]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[a-z@\"]{1,4}", inner, 0..5)
                .prop_map(|members| { Value::Object(members.into_iter().collect()) }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_right_is_read_as_the_standard_says(value in any_json(), pretty in any::<bool>()) {
        let document = serde_json::json!({ "data": value });
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
        let values = read(&text);
        prop_assert_eq!(values.len(), 1);
        prop_assert_eq!(strict(&values[0]), document, "{}", text);
    }

    #[test]
    fn any_text_is_read(text in "[{}\\[\\]\",:'/*<!\\\\ a1.-]{0,60}") {
        drop(read(&text));
    }
}
