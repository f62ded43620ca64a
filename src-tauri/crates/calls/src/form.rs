//! In which form a model writes calls of tools, told from its chat template.

/// The form in which a model was taught to write calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallForm {
    /// Name and arguments between tags, as Qwen3-Coder and Qwen3.5 write them.
    #[default]
    Tags,
    /// A JSON object with both, as Qwen3 and Qwen3-Next write them.
    Json,
}

impl CallForm {
    /// The form of the calls in a chat template; `None` where it is another one. A template that shows no calls at all
    /// says nothing of their form, and the tags are the newer one.
    pub fn of_template(source: &str) -> Option<Self> {
        // Within the texts of a template, quotation marks may have backslashes before them.
        let has_arguments = || source.replace('\\', "").contains("\"arguments\"");
        if source.contains("<function=") || !source.contains("<tool_call>") {
            Some(Self::Tags)
        } else if has_arguments() {
            Some(Self::Json)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_shows_its_form() {
        for (source, form) in [
            ("{{ '<tool_call>\\n<function=' + name }} \"arguments\"", Some(CallForm::Tags)),
            (r#"{{ '<tool_call>\n{"name": "' + name + '", "arguments": ' }}"#, Some(CallForm::Json)),
            (r#"{{ "<tool_call>\n{\"name\": <name>, \"arguments\": <args>}" }}"#, Some(CallForm::Json)),
            ("{{ '<tool_call>' + call.arguments }}", None),
            ("{{ messages }} \"arguments\"", Some(CallForm::Tags)),
        ] {
            assert_eq!(CallForm::of_template(source), form, "{source}");
        }
    }
}
