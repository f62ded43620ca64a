//! The tools that a model may call: read from a list in OpenAI's form, checked, and given to the chat template.

use std::mem;

use serde_json::{Map, Value, json};

use crate::parser::{is_name, is_parameter_name};

/// Tools that a model may call, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tools(Vec<Value>);

/// What is wrong with a list of tools. Entries are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// It is no JSON.
    #[error("{reason}")]
    NotJson {
        /// What the reader said.
        reason: String,
    },
    /// It is no list.
    #[error("the tools are {found}, not an array")]
    NotAList {
        /// What there is instead.
        found: &'static str,
    },
    /// An entry is no object.
    #[error("entry {entry} is {found}, not an object")]
    NotAnObject {
        /// The entry.
        entry: usize,
        /// What there is instead.
        found: &'static str,
    },
    /// An entry is the function itself.
    #[error("entry {entry} is the function \"{name}\" without the object around it")]
    BareFunction {
        /// The entry.
        entry: usize,
        /// The function's name.
        name: String,
    },
    /// An entry is of another type.
    #[error("entry {entry} has the type {found}, not \"function\"")]
    OtherType {
        /// The entry.
        entry: usize,
        /// Its type, as JSON; `null` where it has none.
        found: Value,
    },
    /// An entry has no function.
    #[error("entry {entry} has no object \"function\"")]
    FunctionMissing {
        /// The entry.
        entry: usize,
    },
    /// A function has no name.
    #[error("the function of entry {entry} has no \"name\"")]
    NameMissing {
        /// The entry.
        entry: usize,
    },
    /// A model could not write this name.
    #[error("the function of entry {entry} is called \"{name}\"")]
    NameInvalid {
        /// The entry.
        entry: usize,
        /// Its name.
        name: String,
    },
    /// Two tools have one name.
    #[error("entries {first} and {second} are both called \"{name}\"")]
    NameTwice {
        /// The name.
        name: String,
        /// The entry that has it first.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// Something of a function is not of the type that it must have.
    #[error("\"{key}\" of \"{tool}\" is {found}, not {expected}")]
    WrongType {
        /// The tool.
        tool: String,
        /// Which part of it.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What there is instead.
        found: &'static str,
    },
    /// The parameters are no object with properties.
    #[error("the parameters of \"{tool}\" have the type {found}, not \"object\"")]
    ParametersType {
        /// The tool.
        tool: String,
        /// Their type, as JSON.
        found: Value,
    },
    /// A model could not write the name of this parameter.
    #[error("the parameter \"{parameter}\" of \"{tool}\" has a name that a model cannot write")]
    ParameterInvalid {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
    },
}

impl ToolsError {
    /// The tool that a model cannot be told of as it is, where nothing else of the list is wrong.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::NameInvalid { name: tool, .. }
            | Self::WrongType { tool, .. }
            | Self::ParametersType { tool, .. }
            | Self::ParameterInvalid { tool, .. } => Some(tool),
            Self::NotJson { .. }
            | Self::NotAList { .. }
            | Self::NotAnObject { .. }
            | Self::BareFunction { .. }
            | Self::OtherType { .. }
            | Self::FunctionMissing { .. }
            | Self::NameMissing { .. }
            | Self::NameTwice { .. } => None,
        }
    }

    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BareFunction { .. } => "Write {\"type\": \"function\", \"function\": …} around it.",
            Self::NameInvalid { .. } => {
                "Names are of A-Z, a-z, 0-9, \"_\", \".\" and \"-\", 1 to 256 of them."
            }
            Self::ParameterInvalid { .. } => {
                "Names of parameters are 1 to 256 bytes without \"<\", \">\" and line breaks."
            }
            Self::NameTwice { .. } => "Give each tool a name of its own.",
            Self::WrongType { .. } | Self::ParametersType { .. } => {
                "Parameters are a JSON Schema: {\"type\": \"object\", \"properties\": {…}}."
            }
            Self::NotJson { .. }
            | Self::NotAList { .. }
            | Self::NotAnObject { .. }
            | Self::OtherType { .. }
            | Self::FunctionMissing { .. }
            | Self::NameMissing { .. } => {
                "It must hold a JSON array of {\"type\": \"function\", \"function\": {name, description, parameters}}."
            }
        }
    }
}

impl Tools {
    /// Reads a list in OpenAI's form, `[{"type": "function", "function": {name, description, parameters}}]`; an empty
    /// one is no tools, and a description or parameters of `null` are none. The keys of each entry get the order of
    /// this form, what else there is comes behind them, and all below keeps its order: the same tools are always the
    /// same text.
    pub fn parse(json: &str) -> Result<Self, ToolsError> {
        let list: Value =
            serde_json::from_str(json).map_err(|error| ToolsError::NotJson { reason: error.to_string() })?;
        let Value::Array(list) = list else { return Err(ToolsError::NotAList { found: kind(&list) }) };
        Self::new(list)
    }

    /// Of these entries.
    pub fn new(list: Vec<Value>) -> Result<Self, ToolsError> {
        let (tools, left_out) = Self::usable(list)?;
        left_out.into_iter().next().map_or(Ok(tools), Err)
    }

    /// Of those of these entries of which a model can be told, and why it cannot be of the others.
    pub fn usable(list: Vec<Value>) -> Result<(Self, Vec<ToolsError>), ToolsError> {
        let (mut tools, mut left_out) = (Self::default(), Vec::new());
        let mut entries = Vec::new();
        for (i, tool) in list.into_iter().enumerate() {
            let tool = match checked(tool, i + 1) {
                Ok(tool) => tool,
                Err(error) if error.tool().is_some() => {
                    left_out.push(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let name = name_of(&tool);
            if let Some(first) = tools.names().position(|other| other == name) {
                return Err(ToolsError::NameTwice {
                    name: name.into(),
                    first: entries[first],
                    second: i + 1,
                });
            }
            tools.0.push(tool);
            entries.push(i + 1);
        }
        Ok((tools, left_out))
    }

    /// Only those of these names.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Self {
        self.0.retain(|tool| names.iter().any(|name| name == name_of(tool)));
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(name_of)
    }

    /// The JSON Schema of a tool's parameters, `null` for a tool that says nothing of them; `None` if there is no such
    /// tool.
    pub fn parameters(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|tool| name_of(tool) == name).map(|tool| &tool["function"]["parameters"])
    }

    /// The definitions, in OpenAI's form.
    pub fn list(&self) -> &[Value] {
        &self.0
    }
}

fn name_of(tool: &Value) -> &str {
    tool["function"]["name"].as_str().unwrap_or_default()
}

/// An entry of the list with its keys in order, once nothing is wrong with it.
fn checked(tool: Value, entry: usize) -> Result<Value, ToolsError> {
    let found = kind(&tool);
    let Value::Object(mut tool) = tool else { return Err(ToolsError::NotAnObject { entry, found }) };
    if let (None, Some(Value::String(name))) = (tool.get("function"), tool.get("name")) {
        return Err(ToolsError::BareFunction { entry, name: name.clone() });
    }
    let found = tool.get("type").cloned().unwrap_or_default();
    if found != "function" {
        return Err(ToolsError::OtherType { entry, found });
    }
    let Some(Value::Object(function)) = tool.get_mut("function") else {
        return Err(ToolsError::FunctionMissing { entry });
    };
    let Some(Value::String(name)) = function.get("name") else {
        return Err(ToolsError::NameMissing { entry });
    };
    if !is_name(name) {
        return Err(ToolsError::NameInvalid { entry, name: name.clone() });
    }
    let name = name.clone();
    // A null here is how some writers leave the key out.
    function.retain(|key, value| !(value.is_null() && matches!(key.as_str(), "description" | "parameters")));
    if let Some(parameters) = function.get_mut("parameters") {
        list_to_object(parameters);
        if let Value::Object(parameters) = parameters {
            parameters
                .retain(|key, value| !(value.is_null() && matches!(key.as_str(), "type" | "properties")));
            parameters.get_mut("properties").into_iter().for_each(list_to_object);
        }
    }
    check_function(&name, function)?;
    *function = in_order(&["name", "description", "parameters"], mem::take(function));
    Ok(Value::Object(in_order(&["type", "function"], tool)))
}

fn check_function(name: &str, function: &Map<String, Value>) -> Result<(), ToolsError> {
    let tool = || name.to_owned();
    let wrong = |key, expected, value: &Value| {
        Err(ToolsError::WrongType { tool: tool(), key, expected, found: kind(value) })
    };
    if let Some(description) = function.get("description").filter(|value| !value.is_string()) {
        return wrong("description", "a string", description);
    }
    let Some(parameters) = function.get("parameters") else { return Ok(()) };
    if !parameters.is_object() {
        return wrong("parameters", "an object", parameters);
    }
    if let Some(found) = parameters.get("type").filter(|found| !may_be_object(found)) {
        return Err(ToolsError::ParametersType { tool: tool(), found: found.clone() });
    }
    match parameters.get("properties") {
        None => Ok(()),
        Some(Value::Object(properties)) => match properties.keys().find(|key| !is_parameter_name(key)) {
            None => Ok(()),
            Some(key) => Err(ToolsError::ParameterInvalid { tool: tool(), parameter: key.clone() }),
        },
        Some(properties) => wrong("properties", "an object", properties),
    }
}

/// Puts an empty object in the place of an empty list: some languages do not tell the two apart.
fn list_to_object(value: &mut Value) {
    if value.as_array().is_some_and(Vec::is_empty) {
        *value = json!({});
    }
}

/// Whether a type is that of objects, or one of several that are.
fn may_be_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

/// The object with these keys before all others.
fn in_order(keys: &[&str], mut object: Map<String, Value>) -> Map<String, Value> {
    let mut ordered: Map<String, Value> =
        keys.iter().filter_map(|key| object.shift_remove_entry(*key)).collect();
    ordered.append(&mut object);
    ordered
}

/// What a JSON value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEATHER: &str = r#"{"function": {"strict": true, "parameters": {"required": ["b"], "type": "object",
        "properties": {"b": {"type": "string"}, "a": {}}}, "name": "weather", "description": "Tells <it>."}, "x": 1,
        "type": "function"}"#;

    #[test]
    fn keys_come_in_one_order_and_nothing_is_lost() {
        let tools = Tools::parse(&format!("[{WEATHER}]")).unwrap();
        let expected = concat!(
            r#"[{"type":"function","function":{"name":"weather","description":"Tells <it>.","parameters":"#,
            r#"{"required":["b"],"type":"object","properties":{"b":{"type":"string"},"a":{}}},"strict":true},"x":1}]"#
        );
        assert_eq!(json!(tools.list()).to_string(), expected);
        assert_eq!(Tools::parse(expected).unwrap(), tools);
        assert_eq!(tools.names().collect::<Vec<_>>(), ["weather"]);
        assert_eq!(tools.parameters("weather").unwrap()["required"], json!(["b"]));
        assert_eq!(tools.parameters("time"), None);
    }

    #[test]
    fn an_empty_list_is_no_tools_and_a_tool_needs_no_parameters() {
        assert!(Tools::parse(" [] ").unwrap().is_empty());
        let tools = Tools::parse(r#"[{"type": "function", "function": {"name": "now"}}]"#).unwrap();
        assert_eq!(tools.parameters("now"), Some(&Value::Null));
        assert_eq!(json!(tools.list()), json!([{"type": "function", "function": {"name": "now"}}]));
    }

    #[test]
    fn null_is_absent() {
        let with = |more: &str| {
            let tools = format!(r#"[{{"type": "function", "function": {{"name": "now"{more}}}}}]"#);
            Tools::parse(&tools).unwrap()
        };
        assert_eq!(with(r#", "description": null, "parameters": null"#), with(""));
    }

    #[test]
    fn parameters_are_called_and_typed_as_programs_do() {
        for parameters in [
            json!({"type": "object", "properties": {"$filter": {}, "@type": {}, "filter[x]": {}, "größe": {}, "a b": {}}}),
            json!({"type": ["object", "null"], "properties": {"a": {}}}),
            json!({"properties": {"a": {}}}),
            json!({"type": "object"}),
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}),
        ] {
            let tools = json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}]);
            assert_eq!(json!(Tools::parse(&tools.to_string()).unwrap().list()), tools);
        }
        let with = |parameters: &str| {
            let tools = format!(
                r#"[{{"type": "function", "function": {{"name": "f", "parameters": {parameters}}}}}]"#
            );
            Tools::parse(&tools).unwrap().parameters("f").unwrap().clone()
        };
        assert_eq!(
            with(r#"{"type": "object", "properties": []}"#),
            json!({"type": "object", "properties": {}})
        );
        assert_eq!((with(r#"{"type": null, "properties": null}"#), with("[]")), (json!({}), json!({})));
    }

    #[test]
    fn one_odd_tool_leaves_the_others_alone() {
        let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
        let list = vec![
            tool("a", json!({})),
            tool("b", json!({"properties": {"<": {}}})),
            tool("c d", json!({})),
            tool("e", json!({"type": "array"})),
            tool("f", json!({})),
        ];
        let (tools, left_out) = Tools::usable(list.clone()).unwrap();
        assert_eq!(tools.names().collect::<Vec<_>>(), ["a", "f"]);
        assert_eq!(left_out.iter().filter_map(ToolsError::tool).collect::<Vec<_>>(), ["b", "c d", "e"]);
        assert_eq!(Tools::new(list.clone()), Err(left_out[0].clone()));
        let twice = [list, vec![tool("f", json!({}))]].concat();
        assert_eq!(
            Tools::usable(twice),
            Err(ToolsError::NameTwice { name: "f".into(), first: 5, second: 6 })
        );
        assert_eq!(tools.only(&["f".into(), "x".into()]).names().collect::<Vec<_>>(), ["f"]);
    }

    #[test]
    fn each_mistake_is_named() {
        let function = |function: &str| format!(r#"[{{"type": "function", "function": {function}}}]"#);
        let with = |parameters: &str| function(&format!(r#"{{"name": "f", "parameters": {parameters}}}"#));
        for (list, told) in [
            ("[".into(), "EOF while parsing a list at line 1 column 1"),
            (WEATHER.into(), "the tools are an object, not an array"),
            (format!("[{WEATHER}, \"time\"]"), "entry 2 is a string, not an object"),
            (
                r#"[{"name": "time", "parameters": {}}]"#.into(),
                "entry 1 is the function \"time\" without the object around it",
            ),
            (
                r#"[{"type": "web_search", "function": {}}]"#.into(),
                "entry 1 has the type \"web_search\", not \"function\"",
            ),
            (r#"[{"function": {"name": "f"}}]"#.into(), "entry 1 has the type null, not \"function\""),
            (r#"[{"type": "function"}]"#.into(), "entry 1 has no object \"function\""),
            (function("[]"), "entry 1 has no object \"function\""),
            (function("{}"), "the function of entry 1 has no \"name\""),
            (function(r#"{"name": 1}"#), "the function of entry 1 has no \"name\""),
            (function(r#"{"name": ""}"#), "the function of entry 1 is called \"\""),
            (function(r#"{"name": "get weather"}"#), "the function of entry 1 is called \"get weather\""),
            (function(r#"{"name": "wéather"}"#), "the function of entry 1 is called \"wéather\""),
            (format!("[{WEATHER}, {WEATHER}]"), "entries 1 and 2 are both called \"weather\""),
            (
                function(r#"{"name": "f", "description": 5}"#),
                "\"description\" of \"f\" is a number, not a string",
            ),
            (with("5"), "\"parameters\" of \"f\" is a number, not an object"),
            (with(r#"{"type": "array"}"#), "the parameters of \"f\" have the type \"array\", not \"object\""),
            (with(r#"{"properties": [1]}"#), "\"properties\" of \"f\" is an array, not an object"),
            (
                with(r#"{"properties": {"a": {}, "a>b": {}}}"#),
                "the parameter \"a>b\" of \"f\" has a name that a model cannot write",
            ),
        ] {
            let error = Tools::parse(&list).unwrap_err();
            assert_eq!(error.to_string(), told);
            assert!(!error.hint().is_empty());
        }
        let bare = Tools::parse(r#"[{"name": "time"}]"#).unwrap_err();
        assert!(bare.hint().contains("\"function\""), "{}", bare.hint());
    }
}
