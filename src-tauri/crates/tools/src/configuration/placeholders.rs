//! Places in a text that another program would fill in: `${input:key}`, `${env:NAME}`, `${workspaceFolder}`.

/// A part of an imported entry that another program would have filled in, and this app does not: the person must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// Where it is, in the words of the file: `env.API_KEY`, `args[2]`, `headers.Authorization`.
    pub at: String,
    /// The placeholder, such as `${input:key}`; without the value that it falls back to, which may be a secret.
    pub text: String,
}

/// The placeholders of a text, in order.
pub(super) fn in_text(text: &str) -> impl Iterator<Item = String> {
    text.split("${").skip(1).filter_map(|rest| {
        let (inner, _) = rest.split_once('}')?;
        let (name, more) = inner.split_once(':').map_or((inner, None), |(name, more)| (name, Some(more)));
        if !is_word(name) {
            return None;
        }
        Some(match more {
            None => format!("${{{name}}}"),
            Some(more) if is_word(more) => format!("${{{name}:{more}}}"),
            Some(_) => format!("${{{name}}}"),
        })
    })
}

/// Whether a text is a name, and not some other thing between braces.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "_.-".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_all_programs_are_seen_and_nothing_else_is() {
        for (text, expected) in [
            ("Bearer ${input:api-key}", &["${input:api-key}"][..]),
            ("${env:HOME}/${workspaceFolder}", &["${env:HOME}", "${workspaceFolder}"]),
            ("${TOKEN:-hunter2}", &["${TOKEN}"]),
            ("${input:hunter2!?}", &["${input}"]),
            ("${${env:A}}", &["${env:A}"]),
            ("$HOME {env:A} ${} ${ a } ${1+1} ${open", &[]),
        ] {
            assert_eq!(in_text(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
