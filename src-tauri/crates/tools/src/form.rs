//! What a server asks a person to fill in: the fields of a form, out of the schema that MCP allows for it, and whether
//! what was filled in is what was asked for.

use foretoken_protocol::{FieldKind, FormField, FormOption, TextFormat};
use reqwest::Url;
use serde_json::{Map, Value};

use crate::visible;

/// Fields of a form.
const MOST_FIELDS: usize = 32;
/// Options of a field.
const MOST_OPTIONS: usize = 256;

/// A field that is not filled in as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {expected} was expected.")]
pub struct Misfilled {
    /// The field, as people read it.
    pub field: String,
    /// What stands there where it is right.
    pub expected: String,
}

/// The fields of a form with this JSON Schema: an object whose properties are texts, numbers, switches and choices.
/// `None` where it is another one, which nobody could fill in here.
pub fn fields(schema: &Value) -> Option<Vec<FormField>> {
    let properties = schema.get("properties")?.as_object()?;
    let required: Vec<&str> = match schema.get("required") {
        Some(names) => names.as_array()?.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    if properties.len() > MOST_FIELDS {
        return None;
    }
    let field = |(name, property): (&String, &Value)| {
        let kind = kind(property)?;
        let default = property.get("default").filter(|value| fits(&kind, value).is_ok());
        Some(FormField {
            name: name.clone(),
            title: text(property, "title").unwrap_or_else(|| visible(name).0),
            description: text(property, "description"),
            required: required.contains(&name.as_str()),
            default: default.map(Value::to_string),
            kind,
        })
    };
    properties.iter().map(field).collect()
}

/// The values that a person has filled in, if each is what its field asks for. What is null is left out.
pub fn filled(fields: &[FormField], mut values: Map<String, Value>) -> Result<Value, Misfilled> {
    let mut filled = Map::new();
    for field in fields {
        let expected =
            |expected: &str| Misfilled { field: field.title.clone(), expected: expected.to_owned() };
        match values.remove(&field.name) {
            None | Some(Value::Null) if field.required => return Err(expected("a value")),
            None | Some(Value::Null) => {}
            Some(value) => {
                fits(&field.kind, &value).map_err(|what| expected(&what))?;
                filled.insert(field.name.clone(), value);
            }
        }
    }
    Ok(Value::Object(filled))
}

/// A text for people, with what nobody would see made visible.
fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).map(|text| visible(text).0)
}

fn kind(property: &Value) -> Option<FieldKind> {
    let count = |key: &str| {
        property.get(key).and_then(Value::as_u64).map(|count| count.try_into().unwrap_or(u32::MAX))
    };
    let number = |key: &str| property.get(key).and_then(Value::as_f64);
    if let Some(options) = options(property) {
        return Some(FieldKind::Choice { options: options?, several: false, least: None, most: None });
    }
    match property.get("type")?.as_str()? {
        "string" => {
            let format = match property.get("format").and_then(Value::as_str) {
                Some("email") => Some(TextFormat::Email),
                Some("uri") => Some(TextFormat::Address),
                Some("date") => Some(TextFormat::Date),
                Some("date-time") => Some(TextFormat::DateTime),
                _ => None,
            };
            Some(FieldKind::Text { format, least: count("minLength"), most: count("maxLength") })
        }
        "integer" => {
            Some(FieldKind::Number { whole: true, least: number("minimum"), most: number("maximum") })
        }
        "number" => {
            Some(FieldKind::Number { whole: false, least: number("minimum"), most: number("maximum") })
        }
        "boolean" => Some(FieldKind::Switch),
        "array" => {
            let options = options(property.get("items")?)??;
            Some(FieldKind::Choice {
                options,
                several: true,
                least: count("minItems"),
                most: count("maxItems"),
            })
        }
        _ => None,
    }
}

/// The options of a choice; `None` of what is none, `Some(None)` of one that cannot be shown.
fn options(property: &Value) -> Option<Option<Vec<FormOption>>> {
    let option = |value: &str, title: &str| FormOption { value: value.to_owned(), title: visible(title).0 };
    let options: Option<Vec<FormOption>> =
        if let Some(values) = property.get("enum").and_then(Value::as_array) {
            let names = property.get("enumNames").and_then(Value::as_array);
            let named = |(place, value): (usize, &Value)| {
                let value = value.as_str()?;
                let name = names.and_then(|names| names.get(place)?.as_str()).unwrap_or(value);
                Some(option(value, name))
            };
            values.iter().enumerate().map(named).collect()
        } else {
            let of = ["oneOf", "anyOf"].into_iter().find_map(|key| property.get(key)?.as_array())?;
            let named = |entry: &Value| {
                let value = entry.get("const")?.as_str()?;
                Some(option(value, entry.get("title").and_then(Value::as_str).unwrap_or(value)))
            };
            of.iter().map(named).collect()
        };
    Some(options.filter(|options| !options.is_empty() && options.len() <= MOST_OPTIONS))
}

/// Whether a value is of a kind, or what would be.
fn fits(kind: &FieldKind, value: &Value) -> Result<(), String> {
    let within = |is: bool, expected: String| if is { Ok(()) } else { Err(expected) };
    match kind {
        FieldKind::Text { format, least, most } => {
            let text = value.as_str().ok_or("a text")?;
            let length = text.chars().count();
            within(
                least.is_none_or(|least| length >= least as usize),
                format!("at least {} characters", least.unwrap_or_default()),
            )?;
            within(
                most.is_none_or(|most| length <= most as usize),
                format!("at most {} characters", most.unwrap_or_default()),
            )?;
            match format {
                None => Ok(()),
                Some(TextFormat::Email) => {
                    let is =
                        text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
                    within(is && !text.contains(char::is_whitespace), "an e-mail address".into())
                }
                Some(TextFormat::Address) => within(Url::parse(text).is_ok(), "a whole address".into()),
                Some(TextFormat::Date) => {
                    within(text.parse::<jiff::civil::Date>().is_ok(), "a date as 2027-02-28".into())
                }
                Some(TextFormat::DateTime) => {
                    within(text.parse::<jiff::Timestamp>().is_ok(), "a time as 2027-02-28T09:30:00Z".into())
                }
            }
        }
        FieldKind::Number { whole, least, most } => {
            let number = value.as_f64().ok_or("a number")?;
            within(!whole || number.fract() == 0.0, "a whole number".into())?;
            within(
                least.is_none_or(|least| number >= least),
                format!("at least {}", least.unwrap_or_default()),
            )?;
            within(most.is_none_or(|most| number <= most), format!("at most {}", most.unwrap_or_default()))
        }
        FieldKind::Switch => within(value.is_boolean(), "yes or no".into()),
        FieldKind::Choice { options, several, least, most } => {
            let is_one =
                |value: &Value| options.iter().any(|option| value.as_str() == Some(option.value.as_str()));
            if !several {
                return within(is_one(value), "one of the options".into());
            }
            let chosen =
                value.as_array().filter(|chosen| chosen.iter().all(is_one)).ok_or("some of the options")?;
            within(
                least.is_none_or(|least| chosen.len() >= least as usize),
                format!("at least {} options", least.unwrap_or_default()),
            )?;
            within(
                most.is_none_or(|most| chosen.len() <= most as usize),
                format!("at most {} options", most.unwrap_or_default()),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Vec<FormField> {
        let schema = json!({
            "type": "object",
            "required": ["name", "size"],
            "properties": {
                "name": { "type": "string", "title": "Your\u{202e} name", "minLength": 2, "maxLength": 5 },
                "mail": { "type": "string", "format": "email", "default": "a@example.org" },
                "day": { "type": "string", "format": "date", "default": "tomorrow" },
                "count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "really": { "type": "boolean" },
                "size": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small"] },
                "colour": { "oneOf": [{ "const": "r", "title": "Red" }, { "const": "g" }] },
                "extras": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "X" }] }, "maxItems": 1 },
            },
        });
        fields(&schema).unwrap()
    }

    #[test]
    fn every_kind_of_field_that_a_server_may_ask_for_is_read() {
        let form = form();
        assert_eq!(form[0].title, "Your⟨U+202E⟩ name");
        assert_eq!(form[0].kind, FieldKind::Text { format: None, least: Some(2), most: Some(5) });
        assert_eq!(form[1].default.as_deref(), Some("\"a@example.org\""));
        assert_eq!(form[2].default, None, "it is no date");
        assert_eq!(form[3].kind, FieldKind::Number { whole: true, least: Some(1.0), most: Some(9.0) });
        assert_eq!(form[4].kind, FieldKind::Switch);
        let options = |field: &FormField| match &field.kind {
            FieldKind::Choice { options, several, .. } => {
                (options.iter().map(|option| option.title.clone()).collect::<Vec<_>>().join(" "), *several)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(options(&form[5]), ("Small m".into(), false));
        assert_eq!(options(&form[6]), ("Red g".into(), false));
        assert_eq!(options(&form[7]), ("X".into(), true));
        let required: Vec<_> =
            form.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
        assert_eq!(required, ["name", "size"]);
    }

    #[test]
    fn a_form_that_nobody_could_fill_in_is_none() {
        let many: Map<String, Value> =
            (0..99).map(|number| (number.to_string(), json!({ "type": "boolean" }))).collect();
        for properties in [
            json!({ "inner": { "type": "object", "properties": {} } }),
            json!({ "list": { "type": "array", "items": { "type": "string" } } }),
            json!({ "none": { "enum": [] } }),
            json!({ "numbers": { "enum": [1, 2] } }),
            json!({ "any": {} }),
            Value::Object(many),
            json!(7),
        ] {
            assert_eq!(fields(&json!({ "properties": properties })), None, "{properties}");
        }
        assert_eq!(fields(&json!({ "properties": {} })), Some(Vec::new()), "one may only say yes");
    }

    #[test]
    fn what_is_filled_in_is_what_was_asked_for() {
        let fill = |values: Value| filled(&form(), values.as_object().cloned().unwrap());
        let right =
            json!({ "name": "Ada", "count": 3, "size": "m", "extras": ["x"], "day": null, "other": 1 });
        assert_eq!(fill(right), Ok(json!({ "name": "Ada", "count": 3, "size": "m", "extras": ["x"] })));
        for (values, expected) in [
            (json!({ "size": "s" }), "a value"),
            (json!({ "name": "A", "size": "s" }), "at least 2 characters"),
            (json!({ "name": "Adelaide", "size": "s" }), "at most 5 characters"),
            (json!({ "name": "Ada", "size": "xl" }), "one of the options"),
            (json!({ "name": "Ada", "size": "s", "count": 1.5 }), "a whole number"),
            (json!({ "name": "Ada", "size": "s", "count": 10 }), "at most 9"),
            (json!({ "name": "Ada", "size": "s", "mail": "nobody" }), "an e-mail address"),
            (json!({ "name": "Ada", "size": "s", "day": "2027-02-30" }), "a date as 2027-02-28"),
            (json!({ "name": "Ada", "size": "s", "really": "yes" }), "yes or no"),
            (json!({ "name": "Ada", "size": "s", "extras": ["x", "x"] }), "at most 1 options"),
        ] {
            assert_eq!(fill(values.clone()).unwrap_err().expected, expected, "{values}");
        }
    }
}
