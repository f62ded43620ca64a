//! The form that a request asks its answer to have.

use foretoken_protocol::{CallRule, ChatInput, ChatMessage, Constraint, Format};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};

/// The most bytes of a schema or a grammar.
const MOST_BYTES: usize = 1 << 20;

/// Reads a format as the dialects write it: `{type: "text"}`, `{type: "json_object"}`, or `{type: "json_schema"}` with
/// the schema in it or in an object `json_schema`. A schema is enforced whether it is called strict or not.
pub(crate) fn read(mut format: Fields) -> Result<Option<Format>, ApiError> {
    let (field, schema) = match format.required_string("type")?.as_str() {
        "text" => return Ok(None),
        "json_object" => {
            let schema = format.take("schema").unwrap_or_else(|| json!({"type": "object"}));
            (format.name("schema"), schema)
        }
        "json_schema" => {
            let mut inner = format.object("json_schema")?.unwrap_or(format);
            let schema = inner.take("schema").ok_or_else(|| inner.refuse("schema", "it is missing"))?;
            (inner.name("schema"), schema)
        }
        other => {
            let reason = format!("it is {other:?}, not text, json_object or json_schema");
            return Err(format.refuse("type", reason));
        }
    };
    check(&field, schema.to_string().len())?;
    Ok(Some(Format::JsonSchema(schema)))
}

/// Reads a grammar as only this server knows it: an object with a regular expression, a Lark grammar, or some texts of
/// which the answer is one.
pub(crate) fn grammar(mut grammar: Fields) -> Result<Format, ApiError> {
    for name in ["regex", "lark", "choice"] {
        check(&grammar.name(name), grammar.length(name))?;
    }
    let (regex, lark, choice) = (grammar.string("regex")?, grammar.string("lark")?, grammar.array("choice")?);
    match (regex, lark, choice) {
        (Some(regex), None, None) => Ok(Format::Regex(regex)),
        (None, Some(lark), None) => Ok(Format::Lark(lark)),
        (None, None, Some(texts)) => {
            if let Some(other) = texts.iter().find(|text| text.as_str().is_none_or(str::is_empty)) {
                return Err(grammar.refuse("choice", format!("it has {}, not a text", kind(other))));
            }
            let texts: Vec<String> = texts.iter().map(Value::to_string).collect();
            if texts.is_empty() {
                return Err(grammar.refuse("choice", "it has no text"));
            }
            Ok(Format::Lark(format!("start: {}", texts.join(" | "))))
        }
        _ => Err(grammar.refuse("regex", "there is one of regex, lark and choice")),
    }
}

/// Reads the form of a free-form tool's text: `{type: "text"}`, or `{type: "grammar"}` with the syntax and the
/// definition in it or in an object `grammar`.
pub(crate) fn input(mut format: Fields) -> Result<Option<Format>, ApiError> {
    match format.required_string("type")?.as_str() {
        "text" => return Ok(None),
        "grammar" => {}
        other => return Err(format.refuse("type", format!("it is {other:?}, not text or grammar"))),
    }
    let mut grammar = format.object("grammar")?.unwrap_or(format);
    let syntax = grammar.required_string("syntax")?;
    check(&grammar.name("definition"), grammar.length("definition"))?;
    let definition = grammar.required_string("definition")?;
    match syntax.as_str() {
        "lark" => Ok(Some(Format::Lark(definition))),
        "regex" => Ok(Some(Format::Regex(definition))),
        other => Err(grammar.refuse("syntax", format!("it is {other:?}, not lark or regex"))),
    }
}

/// Refuses a schema or a grammar that is too long to be read in no time.
fn check(field: &str, bytes: usize) -> Result<(), ApiError> {
    if bytes > MOST_BYTES {
        return Err(invalid(field, format!("it is {bytes} bytes long, and {MOST_BYTES} at most")));
    }
    Ok(())
}

/// Tells the model of the schema that its answer will have: what is only enforced is written without sense. Depends on
/// the schema alone, so that what stands before is read once for all requests with it.
pub(crate) fn tell(chat: &mut ChatInput, format: Option<&Format>) {
    let Some(Format::JsonSchema(schema)) = format else { return };
    let words = format!("Answer with JSON of this JSON Schema, and nothing else: {schema}");
    match chat.messages.first_mut() {
        Some(ChatMessage::System { content }) => {
            content.push_str("\n\n");
            content.push_str(&words);
        }
        _ => chat.messages.insert(0, ChatMessage::system(words)),
    }
}

/// A call that must come leaves no room for the form of a text, which is named then: `field` has asked for it. The
/// model is told of it all the same, so that what stands before is read once for all rounds of the program.
pub(crate) fn yield_to_calls(constraint: &mut Constraint, field: &str, ignored: &mut Vec<String>) {
    if constraint.calls != CallRule::Free && constraint.format.take().is_some() {
        ignored.push(field.to_owned());
    }
}

/// The field of a grammar of this server's own.
pub(crate) const GRAMMAR: &str = "foretoken.grammar";

#[cfg(test)]
mod tests {
    use super::*;

    fn form(value: Value) -> Result<Option<Format>, ApiError> {
        read(Fields::at("form", value).unwrap())
    }

    #[test]
    fn each_dialect_s_way_to_write_a_schema_is_understood() {
        let schema = json!({"type": "array"});
        let expected = Some(Format::JsonSchema(schema.clone()));
        let of_chat =
            json!({"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": schema}});
        assert_eq!(form(of_chat).unwrap(), expected);
        assert_eq!(form(json!({"type": "json_schema", "name": "a", "schema": schema})).unwrap(), expected);
        assert_eq!(form(json!({"type": "json_object", "schema": schema})).unwrap(), expected);
        let object = Format::JsonSchema(json!({"type": "object"}));
        assert_eq!(form(json!({"type": "json_object"})).unwrap(), Some(object));
        assert_eq!(form(json!({"type": "text"})).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let field = |error: ApiError| error.field().unwrap().to_owned();
        assert_eq!(field(form(json!({"type": "xml"})).unwrap_err()), "form.type");
        assert_eq!(field(form(json!({})).unwrap_err()), "form.type");
        assert_eq!(field(form(json!({"type": "json_schema"})).unwrap_err()), "form.schema");
        let missing = json!({"type": "json_schema", "json_schema": {"name": "a"}});
        assert_eq!(field(form(missing).unwrap_err()), "form.json_schema.schema");
        let long = "a".repeat(MOST_BYTES);
        let schema = json!({"type": "json_schema", "schema": {"const": long}});
        assert_eq!(field(form(schema).unwrap_err()), "form.schema");
        let regex = Fields::at("g", json!({"regex": long + "a"})).unwrap();
        assert_eq!(field(grammar(regex).unwrap_err()), "g.regex");
    }

    #[test]
    fn grammars_are_one_of_three_kinds() {
        let read = |value| grammar(Fields::at("g", value).unwrap());
        assert_eq!(read(json!({"regex": "a+"})).unwrap(), Format::Regex("a+".into()));
        assert_eq!(read(json!({"lark": "start: \"a\""})).unwrap(), Format::Lark("start: \"a\"".into()));
        let choice = Format::Lark(r#"start: "yes" | "say \"no\"""#.into());
        assert_eq!(read(json!({"choice": ["yes", "say \"no\""]})).unwrap(), choice);
        for wrong in [
            json!({}),
            json!({"regex": "a", "lark": "b"}),
            json!({"choice": []}),
            json!({"choice": ["a", 5]}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_model_is_told_of_the_schema_behind_its_instructions() {
        let format = Format::JsonSchema(json!({"type": "array"}));
        let mut chat = ChatInput { messages: vec![ChatMessage::user("Hi")], ..ChatInput::default() };
        tell(&mut chat, Some(&format));
        let words = r#"Answer with JSON of this JSON Schema, and nothing else: {"type":"array"}"#;
        assert_eq!(chat.messages, [ChatMessage::system(words), ChatMessage::user("Hi")]);
        chat.messages = vec![ChatMessage::system("Be brief.")];
        tell(&mut chat, Some(&format));
        assert_eq!(chat.messages, [ChatMessage::system(format!("Be brief.\n\n{words}"))]);
        let before = chat.clone();
        tell(&mut chat, Some(&Format::Regex("a".into())));
        tell(&mut chat, None);
        assert_eq!(chat, before);
    }
}
