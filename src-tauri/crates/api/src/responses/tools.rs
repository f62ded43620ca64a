//! The tools of a response: functions, groups of them, and free-form ones. What the provider would run is left out.

use std::collections::HashMap;

use serde_json::Value;

use crate::custom::Customs;
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::tools::{self, Choice, Offer, function};

/// What the tools are to the program that sent them, by the names that the model knows them by.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Names {
    known: HashMap<String, Known>,
    pub(super) customs: Customs,
}

/// A tool as its program knows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    pub(super) name: String,
    /// The group that it is of.
    pub(super) namespace: Option<String>,
}

impl Names {
    /// What the model calls the tool of this name. Programs may name a tool of a group by its own name, where that says
    /// which.
    fn known_as(&self, name: String) -> String {
        if self.known.contains_key(&name) {
            return name;
        }
        let mut known = self.known.iter().filter(|(_, known)| known.name == name);
        match (known.next(), known.next()) {
            (Some((flat, _)), None) => flat.clone(),
            _ => name,
        }
    }

    /// The tool that the model calls so.
    pub(super) fn get(&self, name: &str) -> Option<&Known> {
        self.known.get(name)
    }
}

/// The name of a tool of a group, as the model knows it.
pub(super) fn flat(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}"))
}

/// Reads the tools of a request.
pub(super) fn read(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<(Offer, Names), ApiError> {
    let mut functions = Vec::new();
    let mut names = Names::default();
    for (index, tool) in fields.array("tools")?.unwrap_or_default().into_iter().enumerate() {
        one(&format!("tools[{index}]"), tool, None, &mut functions, &mut names, ignored)?;
    }
    let one_call = !fields.boolean("parallel_tool_calls")?.unwrap_or(true);
    let choice = match tools::choice(fields)? {
        Choice::Named(name) => Choice::Named(names.known_as(name)),
        Choice::Allowed { names: allowed, required } => {
            let allowed = allowed.into_iter().map(|name| names.known_as(name)).collect();
            Choice::Allowed { names: allowed, required }
        }
        choice => choice,
    };
    Ok((tools::offer(functions, choice, one_call, ignored)?, names))
}

fn one(
    place: &str,
    tool: Value,
    namespace: Option<&str>,
    functions: &mut Vec<Value>,
    names: &mut Names,
    ignored: &mut Vec<String>,
) -> Result<(), ApiError> {
    let kind = match &tool["type"] {
        Value::String(kind) => kind.clone(),
        other => return Err(invalid(&format!("{place}.type"), format!("it is {}", kind(other)))),
    };
    match kind.as_str() {
        "function" | "custom" => {
            let mut fields = Fields::at(place, tool)?;
            let name = fields.required_string("name")?;
            let flat = flat(namespace, &name);
            functions.push(if kind == "custom" {
                names.customs.add(&flat, &mut fields)?
            } else {
                let mut field = |name| fields.take(name).unwrap_or_default();
                let (description, parameters) = (field("description"), field("parameters"));
                function(&flat.as_str().into(), &description, &parameters, &field("strict"))
            });
            names.known.insert(flat, Known { name, namespace: namespace.map(str::to_owned) });
        }
        "namespace" if namespace.is_none() => {
            let mut group = Fields::at(place, tool)?;
            let name = group.required_string("name")?;
            for (index, tool) in group.array("tools")?.unwrap_or_default().into_iter().enumerate() {
                one(&format!("{place}.tools[{index}]"), tool, Some(&name), functions, names, ignored)?;
            }
        }
        // Run by the provider, or by nobody here.
        other => ignored.push(format!("tools:{other}")),
    }
    Ok(())
}
