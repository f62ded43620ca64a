//! The arguments of a call as JSON values. What type a value has says the tool's JSON Schema and never its spelling:
//! `42` is a text where the schema asks for a string.

use std::slice;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::parser::{Argument, Call, ValueForm};
use crate::python;
use crate::tools::Tools;

/// A call with its arguments as the tool's schema reads them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypedCall {
    /// The tool.
    pub name: String,
    /// What it is called with, in the order written. A value with a misfit is the text as it was written.
    pub arguments: Map<String, Value>,
    /// Whether the reply ended before the call did.
    pub cut: bool,
    /// Why the call cannot be run as it is; empty where it can, unless it is cut.
    pub misfits: Vec<Misfit>,
}

/// Something of a call that the tool's schema does not allow: what was expected, and what came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Misfit {
    /// There is no such tool.
    #[error("there is no tool {tool:?}, only {}", listed(known))]
    UnknownTool {
        /// The name in the call.
        tool: String,
        /// The tools that there are.
        known: Vec<String>,
    },
    /// Text in the call is no argument.
    #[error("{came:?} is no argument")]
    Stray {
        /// The text.
        came: String,
    },
    /// The call is no JSON from some place on.
    #[error("the call is no JSON object with a name and arguments")]
    Broken,
    /// A value is not of the type.
    #[error("{parameter}: expected {expected}, came {came:?}")]
    Type {
        /// The parameter.
        parameter: String,
        /// The types it may have, in words.
        expected: String,
        /// The value as written.
        came: String,
    },
    /// A parameter that must be given is not.
    #[error("{parameter}: expected {expected}, came nothing")]
    Missing {
        /// The parameter.
        parameter: String,
        /// The types it may have, in words.
        expected: String,
    },
    /// There is no such parameter.
    #[error("there is no parameter {parameter:?}, only {}", listed(known))]
    UnknownParameter {
        /// The name in the call.
        parameter: String,
        /// The parameters that there are.
        known: Vec<String>,
    },
    /// A value has no closing tag, so that where it ends is a guess.
    #[error("{parameter}: expected </parameter> behind the value")]
    NotClosed {
        /// The parameter.
        parameter: String,
    },
    /// A parameter is given a second time; the first value stands.
    #[error("{parameter}: came twice, the second time as {came:?}")]
    Twice {
        /// The parameter.
        parameter: String,
        /// The later value as written.
        came: String,
    },
}

/// Names for people and models.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none at all".into() } else { names.join(", ") }
}

impl TypedCall {
    /// Reads a call by the schema of its tool.
    ///
    /// Between tags, a string is the text as it is. Integers, numbers, booleans, null, arrays and objects are read as
    /// JSON, where `True`, `False` and `None` count, as the templates of the family write them; arrays and objects also
    /// as Python writes them. An integer whose digits a number cannot keep fits none. Of several types the first that
    /// fits is taken, a string last: beside it only `null` itself is null. Of an `enum`, the value that is written is
    /// taken. A parameter of which the schema tells no type, or one that JSON Schema does not know, is text. Of arrays
    /// and objects only the outermost type is looked at. A value of a call in JSON is what it is, where its type is one
    /// of those that the schema allows or the schema tells none; else it is read as the text of which it consists.
    pub fn new(call: &Call, tools: &Tools) -> Self {
        let mut misfits = Vec::new();
        let schema = tools.parameters(&call.name);
        let unnamed = call.cut && call.name.is_empty();
        if schema.is_none() && !unnamed {
            let known = tools.names().map(str::to_owned).collect();
            misfits.push(Misfit::UnknownTool { tool: call.name.clone(), known });
        }
        let schema = Schema(schema.unwrap_or(&Value::Null));
        let mut arguments = Map::new();
        for argument @ Argument { name, value, form } in &call.arguments {
            if arguments.contains_key(name) {
                misfits.push(Misfit::Twice { parameter: name.clone(), came: value.clone() });
                continue;
            }
            let read = schema.read(name, value, *form);
            arguments.insert(
                name.clone(),
                read.unwrap_or_else(|misfit| {
                    misfits.push(misfit);
                    argument.as_came()
                }),
            );
        }
        if !call.cut && !call.broken {
            let missing = schema.required().filter(|name| !arguments.contains_key(*name));
            misfits.extend(missing.map(|name| schema.missing(name)));
        }
        let not_closed = |name: &String| Misfit::NotClosed { parameter: name.clone() };
        misfits.extend(call.unclosed.iter().map(not_closed));
        if call.broken {
            // The rest is not what was meant.
            misfits = vec![Misfit::Broken];
        } else if !call.stray.is_empty() {
            misfits.push(Misfit::Stray { came: call.stray.clone() });
        }
        Self { name: call.name.clone(), arguments, cut: call.cut, misfits }
    }
}

/// What is known of a parameter's values before they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// They are texts, however they are written.
    Text,
    /// They are what they are written as: nobody says more.
    Any,
    /// They are of some other type.
    Typed,
}

/// What is known of the values of a parameter of a tool.
pub(crate) fn expected(tools: &Tools, tool: &str, parameter: &str) -> Expected {
    let types = tools.parameters(tool).and_then(|schema| Schema(schema).types(parameter));
    match types.as_deref() {
        None | Some([Type::Any]) => Expected::Any,
        Some([Type::String]) => Expected::Text,
        Some(_) => Expected::Typed,
    }
}

/// How the values of a parameter are written between its tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// As they are: any text is one.
    Text,
    /// As one of these texts, or as JSON.
    Values {
        /// The texts.
        texts: Vec<String>,
        /// Whether there are others, which are JSON.
        json: bool,
    },
}

impl Tools {
    /// How the values of a parameter of a tool are written.
    pub fn written(&self, tool: &str, parameter: &str) -> Written {
        let Some(types) = self.parameters(tool).and_then(|schema| Schema(schema).types(parameter)) else {
            return Written::Text;
        };
        if types.iter().any(|one| one.is_any_text()) {
            return Written::Text;
        }
        let spelled = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (mut texts, mut json) = (Vec::new(), false);
        for one in types {
            match one {
                Type::Of(values) => texts.extend(values.iter().map(spelled)),
                Type::Null => texts.push("null".into()),
                Type::Boolean => texts.extend(["true".into(), "false".into()]),
                Type::Integer | Type::Number | Type::Array | Type::Object => json = true,
                Type::String | Type::Any => {}
            }
        }
        Written::Values { texts, json }
    }
}

/// The value that an argument of a tool's call has; as it came where it does not fit.
pub(crate) fn value_of(tools: &Tools, tool: &str, argument: &Argument) -> Value {
    let schema = tools.parameters(tool).unwrap_or(&Value::Null);
    let Argument { name, value, form } = argument;
    Schema(schema).read(name, value, *form).unwrap_or_else(|_| argument.as_came())
}

/// The JSON Schema of a tool's parameters.
struct Schema<'a>(&'a Value);

/// One of the types that a value may have.
#[derive(Debug, Clone, Copy)]
enum Type<'a> {
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Array,
    Object,
    /// One of these values.
    Of(&'a [Value]),
    /// Nobody says which.
    Any,
}

/// How far references and unions are followed, how many schemas are visited on the way, and how many types are looked
/// at: more than sensible schemas have, and a bound for those that refer to themselves or to one another.
const MOST_DEPTH: usize = 16;
const MOST_VISITS: usize = 256;
const MOST_TYPES: usize = 64;

/// 2^53: up to here each integer is a number in f64.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

impl<'a> Schema<'a> {
    /// The value of a parameter.
    fn read(&self, name: &str, text: &str, form: ValueForm) -> Result<Value, Misfit> {
        let Some(types) = self.types(name) else {
            let known = self.properties().map(|properties| properties.keys().cloned().collect());
            return Err(Misfit::UnknownParameter {
                parameter: name.into(),
                known: known.unwrap_or_default(),
            });
        };
        let is = match form {
            ValueForm::Plain => None,
            ValueForm::Quoted => Some(text.into()),
            ValueForm::Json => json(text),
        };
        let fits = is.and_then(|value: Value| types.iter().find_map(|one| one.fitting(&value)));
        // Where any text may stand, other spellings of null may be meant as texts.
        let has_text = types.last().is_some_and(|one| one.is_any_text());
        let read = |one: &Type<'a>| match one {
            Type::Null if has_text => (text == "null").then_some(Value::Null),
            one => one.read(text),
        };
        fits.or_else(|| types.iter().find_map(read)).ok_or_else(|| Misfit::Type {
            parameter: name.into(),
            expected: in_words(&types),
            came: text.into(),
        })
    }

    fn missing(&self, name: &str) -> Misfit {
        let expected = self.types(name).map_or("a value".into(), |types| in_words(&types));
        Misfit::Missing { parameter: name.into(), expected }
    }

    fn required(&self) -> impl Iterator<Item = &'a str> {
        self.0["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    fn properties(&self) -> Option<&'a Map<String, Value>> {
        self.0["properties"].as_object()
    }

    /// The types that a parameter may have, strings last; `None` if there is none of this name.
    fn types(&self, name: &str) -> Option<Vec<Type<'a>>> {
        let own = self.properties().and_then(|properties| properties.get(name));
        let schema = own.or_else(|| self.0.get("additionalProperties")).unwrap_or(&Value::Null);
        if own.is_none() && *schema == Value::Bool(false) {
            return None;
        }
        let mut types = Vec::new();
        self.collect(schema, MOST_DEPTH, &mut 0, &mut types);
        types.sort_by_key(|one| one.is_any_text());
        Some(types)
    }

    /// Adds the types that a schema allows, in its order. `visits` counts the schemas looked at.
    fn collect(&self, schema: &'a Value, depth: usize, visits: &mut usize, types: &mut Vec<Type<'a>>) {
        self.collect_own(schema, depth, visits, types);
        // As OpenAPI says it.
        if schema["nullable"] == true && types.len() < MOST_TYPES {
            types.push(Type::Null);
        }
    }

    fn collect_own(&self, schema: &'a Value, depth: usize, visits: &mut usize, types: &mut Vec<Type<'a>>) {
        let part = |key: &str| schema.get(key);
        *visits += 1;
        if types.len() >= MOST_TYPES || *visits > MOST_VISITS {
        } else if *schema == Value::Bool(false) {
            types.push(Type::Of(&[]));
        } else if depth == 0 {
            types.push(Type::Any);
        } else if let Some(Value::Array(values)) = part("enum") {
            types.push(Type::Of(values));
        } else if let Some(value) = part("const") {
            types.push(Type::Of(slice::from_ref(value)));
        } else if let Some(Value::String(name)) = part("type") {
            types.push(Type::named(name));
        } else if let Some(Value::Array(names)) = part("type") {
            types.extend(names.iter().filter_map(Value::as_str).map(Type::named));
        } else if let Some(schema) = self.referred(schema) {
            self.collect(schema, depth - 1, visits, types);
        } else if let Some(Value::Array(schemas)) = part("anyOf").or_else(|| part("oneOf")) {
            let left = schemas.iter().take(MOST_VISITS);
            left.for_each(|schema| self.collect(schema, depth - 1, visits, types));
        } else if let Some(Value::Array(schemas)) = part("allOf") {
            // A value has to be of all of them, so the first that tells a type tells enough.
            let mut told = vec![Type::Any];
            for schema in schemas.iter().take(MOST_VISITS) {
                let mut one = Vec::new();
                self.collect(schema, depth - 1, visits, &mut one);
                if !one.iter().all(|one| matches!(one, Type::Any)) {
                    told = one;
                    break;
                }
            }
            types.extend(told);
        } else {
            types.push(Type::Any);
        }
    }

    /// What a schema refers to, if that is a part of the same document.
    fn referred(&self, schema: &Value) -> Option<&'a Value> {
        self.0.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
    }
}

impl<'a> Type<'a> {
    fn named(name: &str) -> Self {
        match name {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "array" => Self::Array,
            "object" => Self::Object,
            "string" => Self::String,
            _ => Self::Any,
        }
    }

    /// Whether any text is a value of it.
    fn is_any_text(self) -> bool {
        matches!(self, Self::String | Self::Any)
    }

    /// A JSON value, if it is of this type.
    fn fitting(self, value: &Value) -> Option<Value> {
        let is = match self {
            Self::Any => true,
            Self::String => value.is_string(),
            Self::Integer => return integer(value),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Null => value.is_null(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
            Self::Of(values) => return values.iter().find(|own| is_same(own, value)).cloned(),
        };
        is.then(|| value.clone())
    }

    /// The text as a value of this type.
    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::String | Self::Any => Some(text.into()),
            Self::Integer => json(text).as_ref().and_then(integer),
            Self::Number => json(text).filter(Value::is_number),
            Self::Boolean => json(text).filter(Value::is_boolean),
            Self::Null => json(text).filter(Value::is_null),
            Self::Array => json_or_python(text).filter(Value::is_array),
            Self::Object => json_or_python(text).filter(Value::is_object),
            Self::Of(values) => values.iter().find(|value| is_written(value, text)).cloned(),
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::String => "a string".into(),
            Self::Any => "a value".into(),
            Self::Integer => "an integer".into(),
            Self::Number => "a number".into(),
            Self::Boolean => "true or false".into(),
            Self::Null => "null".into(),
            Self::Array => "a JSON array".into(),
            Self::Object => "a JSON object".into(),
            Self::Of(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" or "),
        }
    }
}

fn in_words(types: &[Type<'_>]) -> String {
    let words: Vec<String> =
        types.iter().map(|one| one.in_words()).filter(|words| !words.is_empty()).collect();
    if words.is_empty() { "no value".into() } else { words.join(" or ") }
}

/// A text as JSON, or as Python writes the values that JSON has words for.
pub(crate) fn json(text: &str) -> Option<Value> {
    match text.trim() {
        "True" => Some(true.into()),
        "False" => Some(false.into()),
        "None" => Some(Value::Null),
        text => serde_json::from_str(text).ok(),
    }
}

fn json_or_python(text: &str) -> Option<Value> {
    json(text).or_else(|| python::literal(text))
}

/// A number without a fraction as an integer: 5.0 is one. Not one whose digits were lost when it was read.
fn integer(value: &Value) -> Option<Value> {
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    let exact = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= MOST_EXACT);
    exact.map(|number| Value::from(number as i64))
}

/// Whether values are the same; numbers are by their size.
fn is_same(own: &Value, came: &Value) -> bool {
    match (own, came) {
        (Value::Number(own), Value::Number(came)) => own.as_f64() == came.as_f64(),
        (own, came) => own == came,
    }
}

/// Whether a text is this value: a string by its characters, a number by its size.
fn is_written(value: &Value, text: &str) -> bool {
    match value {
        // In quotes, too, where other values of the parameter are JSON.
        Value::String(own) => {
            own == text || serde_json::from_str::<Value>(text).is_ok_and(|came| came == *value)
        }
        Value::Number(value) => json(text).is_some_and(|came| came.as_f64() == value.as_f64()),
        value => json(text).as_ref() == Some(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tools(parameters: &Value) -> Tools {
        let tool = json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}]);
        Tools::parse(&tool.to_string()).unwrap()
    }

    fn call(arguments: &[(&str, &str)]) -> Call {
        let argument = |&(name, value): &(&str, &str)| Argument::plain(name, value);
        Call { name: "f".into(), arguments: arguments.iter().map(argument).collect(), ..Call::default() }
    }

    /// The value of a parameter with this schema, or what is said of it.
    fn read(schema: &Value, text: &str) -> Result<Value, String> {
        let itself = json!({"$ref": "#/$defs/Loop"});
        let definitions = json!({"Unit": {"enum": ["C", "F"]}, "Loop": {"anyOf": [itself, itself]}});
        let parameters = json!({"type": "object", "properties": {"a": schema}, "$defs": definitions});
        let typed = TypedCall::new(&call(&[("a", text)]), &tools(&parameters));
        match &typed.misfits[..] {
            [] => Ok(typed.arguments["a"].clone()),
            [misfit] => {
                assert_eq!(typed.arguments["a"], text, "a misfit is kept as it was written");
                Err(misfit.to_string())
            }
            misfits => panic!("{misfits:?}"),
        }
    }

    #[test]
    fn a_string_is_the_text() {
        for text in ["false", "42", "null", "None", "{}", "\"x\"", " x\n", ""] {
            for schema in [json!({"type": "string"}), json!({}), json!(true), json!({"type": "text"})] {
                assert_eq!(read(&schema, text).unwrap(), text);
            }
        }
    }

    #[test]
    fn other_types_are_read_as_json_or_python() {
        for (name, text, is) in [
            ("integer", "42", json!(42)),
            ("integer", " -7\n", json!(-7)),
            ("integer", "5.0", json!(5)),
            ("integer", "18446744073709551615", json!(u64::MAX)),
            ("number", "5", json!(5)),
            ("number", "-1.5e3", json!(-1500.0)),
            ("boolean", "true", json!(true)),
            ("boolean", "False", json!(false)),
            ("null", "null", json!(null)),
            ("null", "None", json!(null)),
            ("array", "[1, \"True\", null]", json!([1, "True", null])),
            ("object", "{\"b\": {\"z\": 1}, \"a\": []}", json!({"b": {"z": 1}, "a": []})),
        ] {
            let value = read(&json!({"type": name}), text).unwrap();
            assert_eq!((&value, value.to_string()), (&is, is.to_string()), "{name}");
        }
    }

    /// The spellings that models have for values, row by row: the schema, what was written, what it is.
    #[test]
    fn each_spelling_is_read_by_its_schema() {
        let maybe_text = || json!({"type": ["string", "null"]});
        let maybe = |kind: &str| json!({"anyOf": [{"type": kind}, {"type": "null"}]});
        let of = |kind: &str| json!({"type": kind});
        let nullable = |kind: &str| json!({"type": kind, "nullable": true});
        for (schema, text, is) in [
            // A text is what stands there.
            (of("string"), "null", json!("null")),
            (of("string"), "None", json!("None")),
            (of("string"), "true", json!("true")),
            (of("string"), "5", json!("5")),
            (of("string"), "{'a': 1}", json!("{'a': 1}")),
            (of("string"), "'x'", json!("'x'")),
            // Beside a text, only null itself is null.
            (maybe_text(), "null", json!(null)),
            (maybe_text(), "None", json!("None")),
            (maybe_text(), "Null", json!("Null")),
            (maybe_text(), "NULL", json!("NULL")),
            (maybe_text(), " null", json!(" null")),
            (maybe_text(), "null\n", json!("null\n")),
            (maybe_text(), "\"null\"", json!("\"null\"")),
            (maybe_text(), "", json!("")),
            (maybe("string"), "null", json!(null)),
            (maybe("string"), "None", json!("None")),
            (nullable("string"), "null", json!(null)),
            (nullable("string"), "None", json!("None")),
            (nullable("string"), "x", json!("x")),
            (json!({"type": ["integer", "string", "null"]}), "None", json!("None")),
            (json!({"type": ["integer", "string", "null"]}), "null", json!(null)),
            (json!({"type": ["integer", "string", "null"]}), "7", json!(7)),
            // Beside anything else, Python's word is null, too.
            (maybe("integer"), "None", json!(null)),
            (maybe("integer"), "null", json!(null)),
            (maybe("array"), "None", json!(null)),
            (maybe("object"), "{'a': None}", json!({"a": null})),
            (nullable("integer"), "null", json!(null)),
            (nullable("integer"), "None", json!(null)),
            (nullable("integer"), "3", json!(3)),
            (nullable("boolean"), "False", json!(false)),
            (nullable("array"), "null", json!(null)),
            (json!({"type": "integer", "nullable": false}), "3", json!(3)),
            (json!({"enum": ["a", "b"], "nullable": true}), "null", json!(null)),
            (json!({"enum": ["a", "b"], "nullable": true}), "a", json!("a")),
            // True and false have two spellings each.
            (of("boolean"), "true", json!(true)),
            (of("boolean"), "True", json!(true)),
            (of("boolean"), "false", json!(false)),
            (of("boolean"), " False\n", json!(false)),
            // Integers keep their digits.
            (of("integer"), "0", json!(0)),
            (of("integer"), "-0", json!(0)),
            (of("integer"), "9007199254740993", json!(9_007_199_254_740_993_u64)),
            (of("integer"), "18446744073709551615", json!(u64::MAX)),
            (of("integer"), "-9223372036854775808", json!(i64::MIN)),
            (of("integer"), "1e3", json!(1000)),
            (of("integer"), "2.0", json!(2)),
            (of("number"), "2", json!(2)),
            (of("number"), "2.0", json!(2.0)),
            (of("number"), "-0.5", json!(-0.5)),
            (of("number"), "1e-3", json!(0.001)),
            // Lists and objects are JSON, else Python's.
            (of("array"), "[]", json!([])),
            (of("array"), "[\"True\", 'None']", json!(["True", "None"])),
            (of("array"), "['a', 'b']", json!(["a", "b"])),
            (of("array"), "['it\\'s', \"a 'b'\"]", json!(["it's", "a 'b'"])),
            (of("array"), "[True, False, None]", json!([true, false, null])),
            (of("array"), "[[1, 2], ['x']]", json!([[1, 2], ["x"]])),
            (of("array"), "[1, 2,]", json!([1, 2])),
            (of("object"), "{}", json!({})),
            (of("object"), "{'a': True, 'b': None}", json!({"a": true, "b": null})),
            (of("object"), "{'a': {'b': ['c', False]}}", json!({"a": {"b": ["c", false]}})),
            (of("object"), "{\"a\": True}", json!({"a": true})),
            (of("object"), "{'z': 1, 'a': 2}", json!({"z": 1, "a": 2})),
            (of("object"), "{'path': 'C:\\\\x', 'n': -1.5}", json!({"path": "C:\\x", "n": -1.5})),
            (json!({"type": ["array", "object"]}), "{'a': []}", json!({"a": []})),
            (json!({"type": ["object", "string"]}), "{'a': 1}", json!({"a": 1})),
            (json!({"type": ["object", "string"]}), "{'a': 1", json!("{'a': 1")),
            // Of all that must be so, the first that tells a type.
            (json!({"allOf": [{"description": "x"}, {"type": "integer"}]}), "5", json!(5)),
            (json!({"allOf": [{"minimum": 1}, {"maximum": 9}, {"type": "number"}]}), "5", json!(5)),
            (json!({"allOf": [{}, {"$ref": "#/$defs/Unit"}]}), "C", json!("C")),
            (json!({"allOf": [{}, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}]}), "None", json!(null)),
            (json!({"allOf": [{"type": "array"}, {"minItems": 1}]}), "[1]", json!([1])),
            (json!({"allOf": [{"minLength": 1}, {}]}), "5", json!("5")),
            (json!({"allOf": []}), "5", json!("5")),
            (json!({"allOf": [{"type": "integer"}], "nullable": true}), "null", json!(null)),
            // A value of a list is the one whose text is equal.
            (json!({"enum": ["1", 1]}), "1", json!("1")),
            (json!({"enum": ["None", null]}), "None", json!("None")),
            (json!({"enum": ["null"]}), "null", json!("null")),
            (json!({"const": true}), "True", json!(true)),
            // Nothing told is text.
            (json!({}), "null", json!("null")),
            (json!({}), "{'a': 1}", json!("{'a': 1}")),
            (json!({"description": "x"}), "5", json!("5")),
            (json!({"nullable": true}), "null", json!(null)),
            (json!({"nullable": true}), "5", json!("5")),
        ] {
            let value = read(&schema, text).unwrap_or_else(|told| panic!("{schema} {text:?}: {told}"));
            assert_eq!(value.to_string(), is.to_string(), "{schema} {text:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said_and_kept() {
        for (schema, text, told) in [
            (json!({"type": "integer"}), "three", "a: expected an integer, came \"three\""),
            (json!({"type": "integer"}), "1.5", "a: expected an integer, came \"1.5\""),
            (json!({"type": "integer"}), "True", "a: expected an integer, came \"True\""),
            (
                json!({"type": "integer"}),
                "123456789012345678901",
                "a: expected an integer, came \"123456789012345678901\"",
            ),
            (json!({"type": "number"}), "1,5", "a: expected a number, came \"1,5\""),
            (json!({"type": "number"}), "NaN", "a: expected a number, came \"NaN\""),
            (json!({"type": "boolean"}), "yes", "a: expected true or false, came \"yes\""),
            (json!({"type": "boolean"}), "1", "a: expected true or false, came \"1\""),
            (json!({"type": "null"}), "", "a: expected null, came \"\""),
            (json!({"type": "array"}), "['x'", "a: expected a JSON array, came \"['x'\""),
            (json!({"type": "object"}), "[1]", "a: expected a JSON object, came \"[1]\""),
            (json!({"type": ["integer", "null"]}), "x", "a: expected an integer or null, came \"x\""),
            (json!({"enum": ["C", 1]}), "c", "a: expected \"C\" or 1, came \"c\""),
            (json!(false), "x\ny", "a: expected no value, came \"x\\ny\""),
        ] {
            assert_eq!(read(&schema, text).unwrap_err(), told);
        }
        let deep = "[".repeat(4000) + &"]".repeat(4000);
        assert!(read(&json!({"type": "array"}), &deep).is_err());
    }

    #[test]
    fn of_several_types_the_first_that_fits_is_taken_and_a_string_last() {
        let optional = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        assert_eq!(read(&optional, "3"), Ok(json!(3)));
        assert_eq!(read(&optional, "None"), Ok(json!(null)));
        let text_or_number = json!({"type": ["string", "number", "boolean"]});
        assert_eq!(read(&text_or_number, "3.5"), Ok(json!(3.5)));
        assert_eq!(read(&text_or_number, "True"), Ok(json!(true)));
        assert_eq!(read(&text_or_number, "3 owls"), Ok(json!("3 owls")));
        let nested =
            json!({"oneOf": [{"type": "string"}, {"anyOf": [{"type": "array"}, {"type": "object"}]}]});
        assert_eq!(read(&nested, "[1]"), Ok(json!([1])));
        assert_eq!(read(&nested, "[1"), Ok(json!("[1")));
    }

    #[test]
    fn it_is_known_how_values_are_written() {
        let schema = json!({"type": "object", "properties": {
            "text": {"type": "string"}, "maybe": {"type": ["string", "null"]}, "any": {},
            "unit": {"enum": ["C", "F", 5]}, "unit_or_none": {"anyOf": [{"enum": ["C"]}, {"type": "null"}]},
            "sure": {"type": "boolean"}, "count": {"type": ["integer", "null"]}, "list": {"type": "array"},
        }});
        let tools = tools(&schema);
        let values = |texts: &[&str], json| Written::Values {
            texts: texts.iter().map(|&text| text.into()).collect(),
            json,
        };
        for text in ["text", "maybe", "any", "nowhere"] {
            assert_eq!(tools.written("f", text), Written::Text, "{text}");
        }
        assert_eq!(tools.written("f", "unit"), values(&["C", "F", "5"], false));
        assert_eq!(tools.written("f", "unit_or_none"), values(&["C", "null"], false));
        assert_eq!(tools.written("f", "sure"), values(&["true", "false"], false));
        assert_eq!(tools.written("f", "count"), values(&["null"], true));
        assert_eq!(tools.written("f", "list"), values(&[], true));
        assert_eq!(tools.written("g", "text"), Written::Text);
    }

    /// A value as the templates write it: texts as they are, objects and lists as JSON, others as Python's `str`.
    fn rendered(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Null => "None".into(),
            Value::Bool(is) => if *is { "True" } else { "False" }.into(),
            value => value.to_string(),
        }
    }

    /// A value as Python's `repr` writes it.
    fn in_python(value: &Value) -> String {
        match value {
            Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            Value::Array(values) => {
                format!("[{}]", values.iter().map(in_python).collect::<Vec<_>>().join(", "))
            }
            Value::Object(fields) => {
                let pair = |(key, value): (&String, &Value)| {
                    format!("{}: {}", in_python(&Value::from(key.as_str())), in_python(value))
                };
                format!("{{{}}}", fields.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            value => rendered(value),
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = "[a-z '\"\\\\<>/{}é🦀\n]{0,8}|null|None|True|5";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((text, inner), 0..3)
                    .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        /// What a template writes of arguments reads back as these arguments, and so does Python's way of writing them.
        #[test]
        fn arguments_come_back_as_they_were(value in value()) {
            let name = match &value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let schema = json!({"type": name});
            prop_assert_eq!(read(&schema, &rendered(&value)), Ok(value.clone()));
            if !value.is_string() {
                prop_assert_eq!(read(&schema, &in_python(&value)), Ok(value.clone()));
                let nullable = json!({"type": name, "nullable": true});
                prop_assert_eq!(read(&nullable, &rendered(&value)), Ok(value));
            }
        }
    }

    #[test]
    fn enums_constants_and_references_are_followed() {
        let mixed = json!({"enum": ["auto", 2, null, true]});
        for (text, is) in
            [("auto", json!("auto")), ("2.0", json!(2)), ("None", json!(null)), ("true", json!(true))]
        {
            assert_eq!(read(&mixed, text), Ok(is));
        }
        assert_eq!(read(&json!({"type": "string", "enum": ["1"]}), "1"), Ok(json!("1")));
        assert_eq!(read(&json!({"const": 5}), "5"), Ok(json!(5)));
        let unit = json!({"$ref": "#/$defs/Unit"});
        assert_eq!(read(&unit, "F"), Ok(json!("F")));
        assert!(read(&json!({"allOf": [unit], "default": "C"}), "K").is_err());
        // What cannot be looked up says nothing of the type, and a schema that is only itself ends.
        assert_eq!(read(&json!({"$ref": "https://example.org/x"}), "5"), Ok(json!("5")));
        assert_eq!(read(&json!({"$ref": "#/$defs/Loop"}), "5"), Ok(json!("5")));
    }

    /// Eight definitions, each the same union of the next one, without a type at their end: 64^8 ways.
    #[test]
    fn a_schema_that_explodes_is_left_early() {
        for end in [json!({"type": []}), json!({"anyOf": []})] {
            let mut definitions = Map::from_iter([("8".to_owned(), end)]);
            for i in 0..8 {
                let next = json!({"$ref": format!("#/$defs/{}", i + 1)});
                definitions.insert(i.to_string(), json!({"anyOf": vec![next; 64]}));
            }
            let schema = json!({"anyOf": [{"type": "integer"}, {"anyOf": [{"$ref": "#/$defs/0"}]}]});
            let parameters =
                json!({"properties": {"a": schema, "b": definitions["1"]}, "$defs": definitions});
            let typed = TypedCall::new(&call(&[("a", "5"), ("b", "5")]), &tools(&parameters));
            assert_eq!(typed.arguments["a"], 5);
            assert_eq!(typed.misfits[0].to_string(), "b: expected no value, came \"5\"");
        }
    }

    #[test]
    fn a_call_keeps_its_order_and_names_all_misfits() {
        let parameters = json!({
            "type": "object", "additionalProperties": false, "required": ["zeta", "must"],
            "properties": {
                "alpha": {"type": "integer"}, "zeta": {"type": "boolean"}, "must": {"type": ["string", "null"]},
            },
        });
        let call = Call {
            stray: "Well".into(),
            ..call(&[("zeta", "True"), ("other", "1"), ("alpha", "one"), ("zeta", "False")])
        };
        let typed = TypedCall::new(&call, &tools(&parameters));
        assert_eq!(
            serde_json::to_string(&typed).unwrap(),
            "{\"name\":\"f\",\"arguments\":{\"zeta\":true,\"other\":\"1\",\"alpha\":\"one\"},\
             \"cut\":false,\"misfits\":[\
             {\"kind\":\"unknown_parameter\",\"parameter\":\"other\",\"known\":[\"alpha\",\"zeta\",\"must\"]},\
             {\"kind\":\"type\",\"parameter\":\"alpha\",\"expected\":\"an integer\",\"came\":\"one\"},\
             {\"kind\":\"twice\",\"parameter\":\"zeta\",\"came\":\"False\"},\
             {\"kind\":\"missing\",\"parameter\":\"must\",\"expected\":\"null or a string\"},\
             {\"kind\":\"stray\",\"came\":\"Well\"}]}"
        );
        let told: Vec<String> = typed.misfits.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "there is no parameter \"other\", only alpha, zeta, must",
                "alpha: expected an integer, came \"one\"",
                "zeta: came twice, the second time as \"False\"",
                "must: expected null or a string, came nothing",
                "\"Well\" is no argument",
            ]
        );
    }

    #[test]
    fn a_value_in_json_is_what_it_is_as_far_as_the_schema_allows() {
        use ValueForm::{Json, Quoted};
        for (schema, text, form, is) in [
            (json!({"type": "string"}), "5", Quoted, json!("5")),
            (json!({"type": "string"}), "5", Json, json!("5")),
            (json!({"type": "string"}), "{\"a\":1}", Json, json!("{\"a\":1}")),
            (json!({"type": "integer"}), "5", Quoted, json!(5)),
            (json!({"type": "integer"}), "5.0", Json, json!(5)),
            (json!({"type": ["string", "null"]}), "null", Quoted, json!("null")),
            (json!({"type": ["string", "null"]}), "null", Json, json!(null)),
            (json!({"type": ["integer", "string"]}), "5", Quoted, json!("5")),
            (json!({"type": "array"}), "[1]", Quoted, json!([1])),
            (json!({"enum": ["1", 1]}), "1", Json, json!(1)),
            (json!({"enum": [2]}), "2", Quoted, json!(2)),
            (json!({}), "{\"a\":1}", Json, json!({"a": 1})),
            (json!(true), "true", Quoted, json!("true")),
        ] {
            let parameters = json!({"properties": {"a": schema}});
            let argument = Argument { form, ..Argument::plain("a", text) };
            let typed = Call { name: "f".into(), arguments: vec![argument], ..Call::default() };
            let typed = TypedCall::new(&typed, &tools(&parameters));
            assert_eq!((&typed.arguments["a"], typed.misfits.len()), (&is, 0), "{schema} {text}");
        }
        let argument = Argument { form: Json, ..Argument::plain("a", "[5]") };
        let call = Call { name: "f".into(), arguments: vec![argument], ..Call::default() };
        let typed = TypedCall::new(&call, &tools(&json!({"properties": {"a": {"type": "integer"}}})));
        assert_eq!(typed.arguments["a"], json!([5]));
        assert_eq!(typed.misfits[0].to_string(), "a: expected an integer, came \"[5]\"");
        let broken = Call { broken: true, stray: "}".into(), ..call };
        let typed = TypedCall::new(&broken, &tools(&json!({"required": ["b"]})));
        assert_eq!(typed.misfits, [Misfit::Broken]);
    }

    #[test]
    fn a_value_that_was_not_closed_is_not_fit_to_run() {
        let open = Call { unclosed: vec!["a".into()], ..call(&[("a", "5")]) };
        let typed = TypedCall::new(&open, &tools(&json!({"properties": {"a": {"type": "integer"}}})));
        assert_eq!(typed.arguments["a"], 5);
        assert_eq!(json!(typed.misfits), json!([{"kind": "not_closed", "parameter": "a"}]));
        assert_eq!(typed.misfits[0].to_string(), "a: expected </parameter> behind the value");
    }

    #[test]
    fn parameters_beside_the_named_ones_are_read_by_their_schema() {
        let of = |more: Value| {
            let parameters = json!({"type": "object", "properties": {}, "additionalProperties": more});
            TypedCall::new(&call(&[("a", "5")]), &tools(&parameters)).arguments["a"].clone()
        };
        assert_eq!(of(json!({"type": "integer"})), 5);
        assert_eq!(of(json!(true)), "5");
    }

    #[test]
    fn a_call_of_no_known_tool_keeps_its_texts() {
        let unknown = Call { name: "g".into(), ..call(&[("a", "5")]) };
        let typed = TypedCall::new(&unknown, &tools(&json!({})));
        assert_eq!(json!(typed.arguments), json!({"a": "5"}));
        assert_eq!(typed.misfits[0].to_string(), "there is no tool \"g\", only f");
    }

    #[test]
    fn a_cut_call_misses_nothing() {
        let parameters = json!({"type": "object", "properties": {"a": {}}, "required": ["a"]});
        let cut = |name: &str| Call { name: name.into(), cut: true, ..Call::default() };
        for name in ["f", ""] {
            let typed = TypedCall::new(&cut(name), &tools(&parameters));
            assert!(typed.cut && typed.misfits.is_empty(), "{typed:?}");
        }
    }
}
