//! Free-form tools, which take a text and no JSON. The model knows each as a function with one parameter.

mod input_text;

use std::collections::BTreeMap;

use foretoken_protocol::Format;
use serde_json::{Map, Value, json};

pub(crate) use self::input_text::InputText;
use crate::error::ApiError;
use crate::fields::Fields;
use crate::format;
use crate::redacted::redacted;
use crate::tools::function;

redacted!(Customs);

/// The parameter of a free-form tool.
const INPUT: &str = "input";

/// The free-form tools of a request, by the names that the model knows them by.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Customs {
    /// What the text of those must be that say so.
    pub(crate) inputs: BTreeMap<String, Format>,
    /// The fields that count only where models write calls between tags: within JSON, no text is written as it is.
    pub(crate) only_in_tags: Vec<String>,
    names: Vec<String>,
}

impl Customs {
    /// Reads a tool that the model is to know as `name`, and answers with the function that it is to the model.
    pub(crate) fn add(&mut self, name: &str, tool: &mut Fields) -> Result<Value, ApiError> {
        let mut description = tool.string("description")?.unwrap_or_default();
        let place = tool.name("format");
        if let Some(form) = tool.object("format")?.map_or(Ok(None), format::input)? {
            // A text that is only enforced is written without sense.
            if let Format::Lark(definition) | Format::Regex(definition) = &form {
                description.push_str(&format!("\n\nThe input has this form:\n{definition}"));
            }
            if matches!(form, Format::Lark(_)) {
                self.only_in_tags.push(place);
            }
            self.inputs.insert(name.to_owned(), form);
        }
        self.names.push(name.to_owned());
        let parameters =
            json!({"type": "object", "properties": {INPUT: {"type": "string"}}, "required": [INPUT]});
        Ok(function(&name.into(), &description.into(), &parameters, &Value::Null))
    }

    /// Whether the model knows a free-form tool by this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// The arguments of an earlier call of a free-form tool.
pub(crate) fn arguments(input: String) -> Map<String, Value> {
    Map::from_iter([(INPUT.to_owned(), input.into())])
}
