//! What people call a program that sends requests, by the user agent that it names.

/// The longest name, in characters.
const LONGEST: usize = 32;

/// Beginnings of user agents, in lower case, and what people call the programs.
const KNOWN: &[(&str, &str)] = &[
    ("claude-cli", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("codex", "Codex"),
    ("zed", "Zed"),
    ("continue", "Continue"),
    ("open-webui", "Open WebUI"),
    ("openwebui", "Open WebUI"),
    ("aider", "aider"),
    ("litellm", "LiteLLM"),
    ("langchain", "LangChain"),
    ("openai/python", "openai for Python"),
    ("asyncopenai/python", "openai for Python"),
    ("openai/js", "openai for Node"),
    ("anthropic/python", "anthropic for Python"),
    ("asyncanthropic/python", "anthropic for Python"),
    ("anthropic/js", "anthropic for Node"),
    ("python-requests", "Python"),
    ("python-httpx", "Python"),
    ("python-urllib", "Python"),
    ("curl", "curl"),
];

/// The name of a program: one that people know, or the first word of its user agent without its version.
pub(crate) fn name(user_agent: &str) -> String {
    let lower = user_agent.to_ascii_lowercase();
    if let Some((_, name)) = KNOWN.iter().find(|(beginning, _)| lower.starts_with(beginning)) {
        return (*name).to_owned();
    }
    let first = user_agent.split([' ', '/', '(']).next().unwrap_or_default();
    let name: String = first.chars().filter(char::is_ascii_graphic).take(LONGEST).collect();
    if name.is_empty() { "A program".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_that_people_know() {
        for (user_agent, named) in [
            ("claude-cli/2.0.14 (external, cli)", "Claude Code"),
            ("codex_cli_rs/0.99.0 (Mac OS 15.3; arm64)", "Codex"),
            ("Zed/0.210.1 (macos; aarch64)", "Zed"),
            ("AsyncOpenAI/Python 3.54.0", "openai for Python"),
            ("OpenAI/JS 6.1.0", "openai for Node"),
            ("curl/8.9.1", "curl"),
            ("my-script/1.0", "my-script"),
            ("", "A program"),
            ("/1.0", "A program"),
        ] {
            assert_eq!(name(user_agent), named, "{user_agent}");
        }
        assert_eq!(name(&"a".repeat(400)).len(), LONGEST);
    }
}
