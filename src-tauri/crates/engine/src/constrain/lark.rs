//! Grammars of answers, in llguidance's variant of Lark: JSON of a schema, and calls of tools as the templates of the
//! family write them and `CallParser` reads them.

use std::collections::BTreeMap;

use foretoken_calls::{CALL_TAGS, CallForm, Tools, Written};
use foretoken_protocol::Format;
use llguidance::api::{GrammarWithLexer, TopLevelGrammar};
use serde_json::{Value, json};

use super::error::ConstraintError;
use super::within;

/// The blank that a model writes between its thinking and its answer.
const SPACE: &str = r"SPACE: /[ \t\n]{1,8}/";
/// The blank between the tokens of JSON. Without a bound a model may write nothing else until its limit.
const JSON_SPACE: &str = r"[ \t\n]{0,16}";
/// The end of each call, in tags and in JSON.
const END: &str = "</function>\n</tool_call>";
const JSON_END: &str = "}\n</tool_call>";
/// A value that is a text: nothing in it reads as a tag that ends it.
const TEXT: &str = r"TEXT: /(?s:.*)/ & ~/(?s:.*)(\n<parameter=|<\/tool_call>)(?s:.*)/";
/// The most bytes of a grammar: a schema repeats its definitions in each part that refers to them.
const MOST_BYTES: usize = 4 << 20;

/// Which calls a grammar allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callable<'a> {
    pub(super) tools: &'a Tools,
    /// What the one text of some of them must be.
    pub(super) inputs: &'a BTreeMap<String, Format>,
    /// Only this one, and once.
    pub(super) only: Option<&'a str>,
    /// Those whose arguments may be any.
    pub(super) unbound: &'a [String],
    /// How the model writes them.
    pub(super) form: CallForm,
}

impl Callable<'_> {
    /// Whether calls of a tool must be as its schema or its form says.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        is_strict(self.tools, name) || self.input(name).is_some()
    }

    /// Whether the arguments of a tool may be any.
    fn is_unbound(&self, name: &str) -> bool {
        self.unbound.iter().any(|other| other == name)
    }

    /// What the one text of a tool must be, as far as that can be enforced: in JSON, a text is not written as it is.
    fn input(&self, name: &str) -> Option<&Format> {
        let is_told = |format: &&Format| !(self.form == CallForm::Json && matches!(format, Format::Lark(_)));
        self.inputs.get(name).filter(is_told)
    }
}

/// The lines of a grammar, and the grammars that it refers to.
#[derive(Debug, Default)]
struct Rules {
    lines: Vec<String>,
    bytes: usize,
    others: Vec<GrammarWithLexer>,
}

impl Rules {
    fn push(&mut self, line: impl Into<String>) -> Result<(), ConstraintError> {
        let line = line.into();
        self.bytes += line.len();
        self.lines.push(line);
        if self.bytes > MOST_BYTES {
            let reason = format!("it is longer than {MOST_BYTES} bytes with its definitions in place.");
            return Err(ConstraintError::Grammar { what: "schema", reason });
        }
        Ok(())
    }

    /// Adds a grammar of its own, which `@name` stands for.
    fn refer_to(&mut self, name: &str, grammar: &str) {
        let name = Some(name.to_owned());
        self.others.push(GrammarWithLexer {
            name,
            lark_grammar: Some(grammar.to_owned()),
            json_schema: None,
        });
    }

    fn grammar(self) -> TopLevelGrammar {
        let own = GrammarWithLexer::from_lark(self.lines.join("\n"));
        let grammars = std::iter::once(own).chain(self.others).collect();
        TopLevelGrammar { grammars, max_tokens: None }
    }
}

/// The grammar of an answer that is JSON of a schema, or calls of these tools.
pub(super) fn answer(
    schema: Option<&Value>,
    calls: Option<Callable<'_>>,
) -> Result<TopLevelGrammar, ConstraintError> {
    let mut rules = Rules::default();
    rules.push(SPACE)?;
    let mut choices = Vec::new();
    if let Some(schema) = schema {
        rules.push(format!("value: %json {}", with_space(schema.clone())))?;
        choices.push("value");
    }
    if let Some(callable @ Callable { tools, only, .. }) = calls {
        let names: Vec<&str> = tools.names().filter(|name| only.is_none_or(|only| *name == only)).collect();
        rules.push(format!("call: {} function", text(&format!("{}\n", CALL_TAGS[0]))))?;
        rules.push(if only.is_some() { "calls: call" } else { r#"calls: call ("\n" call)*"# })?;
        functions(&mut rules, callable, &names, |_| false)?;
        choices.push("calls");
    }
    rules.push(format!("start: SPACE? ({})", choices.join(" | ")))?;
    Ok(rules.grammar())
}

/// The grammar of an answer that a regular expression matches.
pub(super) fn pattern(pattern: &str) -> String {
    format!("{SPACE}\nstart: SPACE? {}", literal(pattern))
}

/// A regular expression as Lark writes it.
fn literal(pattern: &str) -> String {
    let mut literal = String::from("/");
    let mut escaped = false;
    for character in pattern.chars() {
        match character {
            '/' if !escaped => literal.push_str("\\/"),
            // Behind a backslash a line break is itself, and so is an n without one.
            '\n' if escaped => {
                literal.pop();
                literal.push_str("\\n");
            }
            '\n' => literal.push_str("\\n"),
            other => literal.push(other),
        }
        escaped = !escaped && character == '\\';
    }
    literal + "/"
}

/// The grammar of what follows the token that begins a call: strict tools are called as their schemas say, and those
/// that take a text of some form with such a one.
pub(super) fn strict_call(callable: Callable<'_>) -> Result<TopLevelGrammar, ConstraintError> {
    let names: Vec<&str> = callable.tools.names().collect();
    let mut rules = Rules::default();
    rules.push("start: \"\\n\" function")?;
    functions(&mut rules, callable, &names, |name| !callable.is_bound(name))?;
    Ok(rules.grammar())
}

/// Whether calls of a tool must be as its schema says.
fn is_strict(tools: &Tools, name: &str) -> bool {
    tools.list().iter().any(|tool| tool["function"]["name"] == name && tool["function"]["strict"] == true)
}

/// The rules of calls of these tools, up to the end of the call; `is_free`: of whose calls only the end is known.
fn functions(
    rules: &mut Rules,
    callable: Callable<'_>,
    names: &[&str],
    is_free: impl Fn(&str) -> bool,
) -> Result<(), ConstraintError> {
    let choices: Vec<String> = (0..names.len()).map(|index| format!("f{index}")).collect();
    rules.push(format!("function: {}", choices.join(" | ")))?;
    match callable.form {
        CallForm::Tags => in_tags(rules, callable, names, is_free),
        CallForm::Json => in_json(rules, callable, names, is_free),
    }
}

/// The rules of calls that are JSON objects: the arguments are one of the tool's schema.
fn in_json(
    rules: &mut Rules,
    callable: Callable<'_>,
    names: &[&str],
    is_free: impl Fn(&str) -> bool,
) -> Result<(), ConstraintError> {
    let tools = callable.tools;
    let mut has_free = false;
    for (index, name) in names.iter().enumerate() {
        let begin = text(&format!("{{\"name\": \"{name}\", \"arguments\": "));
        if is_free(name) {
            rules.push(format!("f{index}: {begin} rest"))?;
            has_free = true;
            continue;
        }
        let mut schema = match tools.parameters(name) {
            Some(schema @ Value::Object(_)) if !callable.is_unbound(name) => schema.clone(),
            _ => json!({}),
        };
        if let Value::Object(fields) = &mut schema {
            fields.entry("type").or_insert_with(|| "object".into());
            if let (Some(Format::Regex(pattern)), Some(Value::Object(properties))) =
                (callable.input(name), fields.get_mut("properties"))
            {
                for property in properties.values_mut() {
                    property["pattern"] = format!("^(?:{pattern})$").into();
                }
            }
        }
        let arguments = part(&schema, &Value::Null, callable.is_bound(name));
        rules.push(format!("f{index}_arguments: %json {arguments}"))?;
        rules.push(format!("f{index}: {begin} f{index}_arguments {}", text(JSON_END)))?;
    }
    if has_free {
        rules.push(format!("rest[suffix={}]: /(?s:.*)/", text(JSON_END)))?;
    }
    Ok(())
}

/// The rules of calls that are written between tags.
fn in_tags(
    rules: &mut Rules,
    callable: Callable<'_>,
    names: &[&str],
    is_free: impl Fn(&str) -> bool,
) -> Result<(), ConstraintError> {
    let tools = callable.tools;
    let (mut has_text, mut has_free) = (false, false);
    for (index, name) in names.iter().enumerate() {
        let begin = text(&format!("<function={name}>"));
        let (schema, strict) = (tools.parameters(name).unwrap_or(&Value::Null), is_strict(tools, name));
        // Parameters that nobody has named may be any.
        let is_open = schema.is_object()
            && schema["properties"].as_object().is_none_or(|properties| properties.is_empty())
            && schema["additionalProperties"] != false
            && !strict;
        if is_free(name) || is_open || callable.is_unbound(name) {
            rules.push(format!("f{index}: {begin} rest"))?;
            has_free = true;
            continue;
        }
        let mut parts = vec![begin, r#""\n""#.into()];
        let properties = schema["properties"].as_object();
        let required =
            |key: &str| schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
        for (place, (key, property)) in properties.into_iter().flatten().enumerate() {
            let rule = format!("f{index}p{place}");
            let value = match tools.written(name, key) {
                Written::Text => {
                    has_text = true;
                    if let Some(format) = callable.input(name) {
                        input_text(rules, &rule, format)?
                    } else if strict {
                        bounded_text(rules, &rule, key, property)?
                    } else {
                        "any_text".into()
                    }
                }
                Written::Values { texts, json } => {
                    let mut choices: Vec<String> = texts.iter().map(|value| text(value)).collect();
                    if json {
                        let part = part(property, schema, strict);
                        rules.push(format!("{rule}_json: %json {part}"))?;
                        choices.push(format!("{rule}_json"));
                    }
                    if choices.is_empty() {
                        // Nothing is allowed, so nothing can be written.
                        continue;
                    }
                    format!("({}) {}", choices.join(" | "), text("\n</parameter>"))
                }
            };
            rules.push(format!("{rule}: {} {value} \"\\n\"", text(&format!("<parameter={key}>\n"))))?;
            parts.push(if required(key) { rule } else { format!("{rule}?") });
        }
        parts.push(text(END));
        rules.push(format!("f{index}: {}", parts.join(" ")))?;
    }
    if has_text {
        rules.push(TEXT)?;
        rules.push(r#"any_text[suffix="</parameter>"]: TEXT"#)?;
    }
    if has_free {
        rules.push(format!("rest[suffix={}]: /(?s:.*)/", text(END)))?;
    }
    Ok(())
}

/// The rule of a text that has a form, and of the tag behind it.
fn input_text(rules: &mut Rules, rule: &str, format: &Format) -> Result<String, ConstraintError> {
    // The line break before the tag is none of the value's.
    let end = text("\n</parameter>");
    let line = match format {
        Format::Regex(pattern) => {
            let pattern = literal(&format!("(?:{pattern})"));
            format!("{rule}_text[suffix={end}]: {pattern} & ~{}", within::ENDS)
        }
        Format::Lark(grammar) => {
            let name = format!("{rule}_form");
            rules.refer_to(&name, &within::call(grammar));
            let own_line = if within::takes_breaks(grammar) { " | \"</parameter>\"" } else { "" };
            format!("{rule}_text: @{name} ({end}{own_line})")
        }
        Format::JsonSchema(schema) => {
            format!("{rule}_text: %json {} {end}", part(schema, &Value::Null, true))
        }
    };
    rules.push(line)?;
    Ok(format!("{rule}_text"))
}

/// The rule of a text that is no longer and no shorter than its schema says. What else it may ask for is refused.
fn bounded_text(
    rules: &mut Rules,
    rule: &str,
    key: &str,
    property: &Value,
) -> Result<String, ConstraintError> {
    let elsewhere = refers_elsewhere(property).then_some("$ref");
    let words = ["pattern", "format", "not", "if"].into_iter().filter(|word| property.get(word).is_some());
    if let Some(word) = words.chain(elsewhere).next() {
        let reason =
            format!("{word:?} of the parameter {key:?} is none of what strict tools may ask of texts.");
        return Err(ConstraintError::Grammar { what: "tool", reason });
    }
    let (least, most) = (property["minLength"].as_u64(), property["maxLength"].as_u64());
    if least.is_none() && most.is_none() {
        return Ok("any_text".into());
    }
    let most = most.map_or_else(String::new, |most| most.to_string());
    // The line break before the tag is none of the value's.
    rules.push(format!(
        "{rule}_text[suffix=\"\\n</parameter>\"]: TEXT & /(?s:.{{{},{most}}})/",
        least.unwrap_or(0)
    ))?;
    Ok(format!("{rule}_text"))
}

/// The schema of a part of `whole`, which it may refer to. `strict`: what cannot be enforced is refused.
fn part(schema: &Value, whole: &Value, strict: bool) -> Value {
    let mut part = match schema {
        Value::Object(_) => schema.clone(),
        other => json!({"allOf": [other]}),
    };
    for key in ["$defs", "definitions"] {
        if refers(schema)
            && let (Some(definitions), Value::Object(part)) = (whole.get(key), &mut part)
        {
            part.entry(key).or_insert_with(|| definitions.clone());
        }
    }
    let mut part = with_space(part);
    if !strict {
        part["x-guidance"]["lenient"] = true.into();
    }
    part
}

/// Whether a schema refers to another.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(key, value)| key == "$ref" || refers(value)),
        Value::Array(values) => values.iter().any(refers),
        _ => false,
    }
}

/// Whether a schema refers to another document, which nobody reads.
fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let is_other = key == "$ref" && value.as_str().is_none_or(|place| !place.starts_with('#'));
            is_other || refers_elsewhere(value)
        }),
        Value::Array(values) => values.iter().any(refers_elsewhere),
        _ => false,
    }
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
