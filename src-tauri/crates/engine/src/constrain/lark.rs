//! Grammars of answers, in llguidance's variant of Lark: JSON of a schema, and calls of tools as the templates of the
//! family write them.

use foretoken_calls::{CALL_TAGS, Tools, Written};
use serde_json::{Value, json};

/// The blank that a model writes between its thinking and its answer.
const SPACE: &str = r"SPACE: /[ \t\n]{1,8}/";
/// The blank between the tokens of JSON. Without a bound a model may write nothing else until its limit.
const JSON_SPACE: &str = r"[ \t\n]{0,16}";

/// Which calls a grammar allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callable<'a> {
    pub(super) tools: &'a Tools,
    /// Only this one, and once.
    pub(super) only: Option<&'a str>,
}

/// The grammar of an answer that is JSON of a schema, or calls of these tools.
pub(super) fn answer(schema: Option<&Value>, calls: Option<Callable<'_>>) -> String {
    let mut rules = vec![SPACE.to_owned()];
    let mut choices = Vec::new();
    if let Some(schema) = schema {
        rules.push(format!("value: %json {}", with_space(schema.clone())));
        choices.push("value");
    }
    if let Some(Callable { tools, only }) = calls {
        let [begin, end] = CALL_TAGS;
        let names: Vec<&str> = tools.names().filter(|name| only.is_none_or(|only| *name == only)).collect();
        rules.push(format!("call: {} function {}", text(&format!("{begin}\n")), text(&format!("\n{end}"))));
        rules.push(if only.is_some() { "calls: call".into() } else { r#"calls: call ("\n" call)*"#.into() });
        functions(&mut rules, tools, &names, |_| false);
        choices.push("calls");
    }
    rules.push(format!("start: SPACE? ({})", choices.join(" | ")));
    rules.join("\n")
}

/// The grammar of what follows the token that begins a call: strict tools are called as their schemas say.
pub(super) fn strict_call(tools: &Tools) -> String {
    let names: Vec<&str> = tools.names().collect();
    let mut rules = vec![format!("start: \"\\n\" function {}", text(&format!("\n{}", CALL_TAGS[1])))];
    functions(&mut rules, tools, &names, |name| !is_strict(tools, name));
    rules.join("\n")
}

/// Whether calls of a tool must be as its schema says.
pub(super) fn is_strict(tools: &Tools, name: &str) -> bool {
    tools.list().iter().any(|tool| tool["function"]["name"] == name && tool["function"]["strict"] == true)
}

/// The rules of calls of these tools; `is_free`: of whose calls only the end is known.
fn functions(rules: &mut Vec<String>, tools: &Tools, names: &[&str], is_free: impl Fn(&str) -> bool) {
    let choices: Vec<String> = (0..names.len()).map(|index| format!("f{index}")).collect();
    rules.push(format!("function: {}", choices.join(" | ")));
    let (mut has_text, mut has_free) = (false, false);
    for (index, name) in names.iter().enumerate() {
        let begin = text(&format!("<function={name}>"));
        if is_free(name) {
            rules.push(format!("f{index}: {begin} rest"));
            has_free = true;
            continue;
        }
        let mut parts = vec![begin, r#""\n""#.into()];
        let schema = tools.parameters(name).unwrap_or(&Value::Null);
        let properties = schema["properties"].as_object();
        let required =
            |key: &str| schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
        for (place, (key, property)) in properties.into_iter().flatten().enumerate() {
            let rule = format!("f{index}p{place}");
            let value = match tools.written(name, key) {
                Written::Text => {
                    has_text = true;
                    "any_text".into()
                }
                Written::Values { texts, json } => {
                    let mut choices: Vec<String> = texts.iter().map(|value| text(value)).collect();
                    if json {
                        rules.push(format!(
                            "{rule}_json: %json {}",
                            part(property, schema, is_strict(tools, name))
                        ));
                        choices.push(format!("{rule}_json"));
                    }
                    if choices.is_empty() {
                        // Nothing is allowed, so nothing can be written.
                        continue;
                    }
                    format!("({}) {}", choices.join(" | "), text("\n</parameter>\n"))
                }
            };
            rules.push(format!("{rule}: {} {value}", text(&format!("<parameter={key}>\n"))));
            parts.push(if required(key) { rule } else { format!("{rule}?") });
        }
        parts.push(text("</function>"));
        rules.push(format!("f{index}: {}", parts.join(" ")));
    }
    if has_text {
        rules.push(r#"any_text[suffix="\n</parameter>\n"]: /(?s:.*)/"#.into());
    }
    if has_free {
        rules.push(r#"rest[suffix="</function>"]: /(?s:.*)/"#.into());
    }
}

/// The schema of a part of `whole`, which it may refer to. `strict`: what cannot be enforced is refused.
fn part(schema: &Value, whole: &Value, strict: bool) -> Value {
    let mut part = match schema {
        Value::Object(_) => schema.clone(),
        other => json!({"allOf": [other]}),
    };
    for key in ["$defs", "definitions"] {
        if let (Some(definitions), Value::Object(part)) = (whole.get(key), &mut part) {
            part.entry(key).or_insert_with(|| definitions.clone());
        }
    }
    let mut part = with_space(part);
    if !strict {
        part["x-guidance"]["lenient"] = true.into();
    }
    part
}

/// A schema with the blanks of JSON bounded.
fn with_space(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.insert("x-guidance".into(), json!({"whitespace_pattern": JSON_SPACE}));
    }
    schema
}

/// A text as Lark writes it.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}
