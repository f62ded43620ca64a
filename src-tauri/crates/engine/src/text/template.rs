//! The chat template of a model folder: a Jinja template, rendered as Hugging Face transformers renders it in Python,
//! with the variables, functions, filters and methods that templates of the Qwen family use.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use foretoken_calls::CallForm;
use foretoken_protocol::TemplateOptions;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde};
use minijinja::{AutoEscape, Environment, Error, Template, Value, context};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::{TextError, json_file};

/// The chat template of a checkpoint: how a chat is written out for the model.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: Value,
    eos_token: Value,
}

/// The most instructions that a template may run: far more than the longest chat takes, and seconds for a template that
/// would never end.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

/// The name of the one template in the environment.
const NAME: &str = "chat_template";

impl ChatTemplate {
    /// Reads the template of a model folder, from the first of `chat_template.jinja`, `chat_template.json` and
    /// `tokenizer_config.json` that has one.
    pub fn load(dir: &Path) -> Result<Self, TextError> {
        let tokenizer_config = json_file::read(dir, "tokenizer_config.json")?.unwrap_or_default();
        let (path, source) = find_source(dir, &tokenizer_config)?;
        let token =
            |key| json_file::special_token(&tokenizer_config, key).map_or(Value::UNDEFINED, Value::from);
        Ok(Self {
            environment: environment(&path, source)?,
            bos_token: token("bos_token"),
            eos_token: token("eos_token"),
        })
    }

    /// Renders the messages, up to where the reply begins, with the tools that the model may call. `thinking` and what
    /// `options` has matter only to a template that asks for them; a template that never asks for tools is refused any,
    /// and so is one that writes calls otherwise than `CallParser` reads them.
    pub fn render(
        &self,
        messages: &impl Serialize,
        tools: &[serde_json::Value],
        thinking: bool,
        options: &TemplateOptions,
    ) -> Result<String, TextError> {
        if !tools.is_empty() && !self.asks_for("tools") {
            return Err(TextError::TemplateWithoutTools);
        }
        if !tools.is_empty() && self.call_form().is_none() {
            return Err(TextError::TemplateWithOtherCalls);
        }
        let variables = context! {
            messages => Value::from(Serde(messages)),
            add_generation_prompt => true,
            enable_thinking => thinking,
            // What is not said is left to the template's own default.
            preserve_thinking => options.preserve_thinking.map_or(Value::UNDEFINED, Value::from),
            reasoning_effort => options.reasoning_effort.as_deref().map_or(Value::UNDEFINED, Value::from),
            bos_token => &self.bos_token,
            eos_token => &self.eos_token,
            // Templates test these against none, which an undefined variable is not.
            tools => if tools.is_empty() { Value::from(()) } else { Value::from(Serde(tools)) },
            documents => (),
        };
        self.template()
            .and_then(|template| template.render(variables))
            .map_err(|error| TextError::TemplateFailed { line: error.line(), reason: reason(&error) })
    }

    /// Whether the template asks if the model may think.
    pub fn has_thinking_switch(&self) -> bool {
        self.asks_for("enable_thinking")
    }

    /// Whether it asks how much the model is to think.
    pub fn has_thinking_effort(&self) -> bool {
        self.has_thinking_switch() && self.asks_for("reasoning_effort")
    }

    /// Whether it can leave the thinking of earlier turns in the prompt.
    pub fn can_preserve_thinking(&self) -> bool {
        self.asks_for("preserve_thinking")
    }

    /// Whether it takes tools, and writes calls of them as `CallParser` reads them.
    pub fn takes_tools(&self) -> bool {
        self.asks_for("tools") && self.call_form().is_some()
    }

    /// The form in which it writes calls, where that is one that `CallParser` reads.
    pub fn call_form(&self) -> Option<CallForm> {
        self.template().ok().and_then(|template| CallForm::of_template(template.source()))
    }

    fn asks_for(&self, variable: &str) -> bool {
        self.template().is_ok_and(|template| template.undeclared_variables(false).contains(variable))
    }

    fn template(&self) -> Result<Template<'_, '_>, Error> {
        self.environment.get_template(NAME)
    }
}

/// The template's text and the file it is in.
fn find_source(dir: &Path, tokenizer_config: &serde_json::Value) -> Result<(PathBuf, String), TextError> {
    let path = dir.join("chat_template.jinja");
    match std::fs::read_to_string(&path) {
        Ok(source) => return Ok((path, source)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(TextError::TemplateUnreadable { path, line: None, reason: error.to_string() });
        }
    }
    let own_file = json_file::read(dir, "chat_template.json")?.unwrap_or_default();
    for (name, json) in [("chat_template.json", &own_file), ("tokenizer_config.json", tokenizer_config)] {
        let Some(entry) = json.get("chat_template").filter(|entry| !entry.is_null()) else { continue };
        let path = dir.join(name);
        let Some(source) = default_template(entry) else {
            let reason = "chat_template is neither a text nor a list with the template \"default\"".into();
            return Err(TextError::TemplateUnreadable { path, line: None, reason });
        };
        return Ok((path, source.to_owned()));
    }
    Err(TextError::TemplateMissing { dir: dir.to_owned() })
}

/// The template in a JSON entry: the text itself, or of a list of named templates the one called `default`.
fn default_template(entry: &serde_json::Value) -> Option<&str> {
    let named_default =
        || entry.as_array()?.iter().find(|named| named["name"] == "default")?["template"].as_str();
    entry.as_str().or_else(named_default)
}

/// The environment that Hugging Face templates are written for, with the template in it.
fn environment(path: &Path, source: String) -> Result<Environment<'static>, TextError> {
    let unreadable = |error: Error| TextError::TemplateUnreadable {
        path: path.to_owned(),
        line: error.line(),
        reason: reason(&error),
    };
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(unreadable)?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_fuel(Some(MOST_INSTRUCTIONS));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment.add_template_owned(NAME, source).map_err(unreadable)?;
    Ok(environment)
}

fn reason(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

fn failed(reason: impl ToString) -> Error {
    Error::new(minijinja::ErrorKind::InvalidOperation, reason.to_string())
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(failed(message))
}

/// The local time, formatted as C and Python do.
fn strftime_now(format: &str) -> Result<String, Error> {
    jiff::fmt::strtime::format(format, &jiff::Zoned::now()).map_err(failed)
}

/// JSON as Python's `json.dumps` writes it: spaces after `,` and `:`, nothing escaped for HTML.
fn tojson(value: Value, arguments: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = arguments.get("indent")?;
    let ensure_ascii = arguments.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    arguments.assert_all_used()?;
    if value.is_undefined() {
        return Err(failed("an undefined value has no JSON form"));
    }
    let mut json = Vec::new();
    match indent {
        None => value.serialize(&mut Serializer::with_formatter(&mut json, OneLine)),
        Some(indent) => {
            let indent = " ".repeat(indent);
            let formatter = PrettyFormatter::with_indent(indent.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut json, formatter))
        }
    }
    .map_err(failed)?;
    let mut json = String::from_utf8(json).map_err(failed)?;
    if ensure_ascii {
        json = json.chars().map(ascii).collect();
    }
    Ok(Value::from_safe_string(json))
}

/// A character of a JSON string in ASCII, escaped if need be. Stand-ins for control tokens stay as they are, to be
/// replaced after rendering.
fn ascii(character: char) -> String {
    if character.is_ascii() || super::stand_ins::is_one(character) {
        return character.into();
    }
    character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// JSON on one line, with Python's spaces.
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{ChatMessage, Role};
    use serde_json::json;

    use super::super::testing::demo;
    use super::*;

    /// Written in the manner of the Qwen templates, with all that they use. Run by Python's jinja2 with the settings of
    /// Hugging Face's transformers, it gives the expected texts below.
    const FAMILY_STYLE: &str = include_str!("testdata/family_style.jinja");
    const TOOL_CHAT: &str = include_str!("testdata/tool_chat.json");
    const TOOL_CHAT_EXPECTED: &str = include_str!("testdata/tool_chat.expected.txt");

    fn message(role: Role, content: &str) -> ChatMessage {
        ChatMessage::new(role, content)
    }

    fn load(files: &[(&str, &str)]) -> Result<ChatTemplate, TextError> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        ChatTemplate::load(dir.path())
    }

    fn template(source: &str) -> ChatTemplate {
        load(&[("chat_template.jinja", source), ("tokenizer_config.json", r#"{"eos_token": "<|im_end|>"}"#)])
            .unwrap()
    }

    fn render(source: &str) -> Result<String, TextError> {
        template(source).render(&[message(Role::User, "Hi")], &[], true, &TemplateOptions::default())
    }

    fn failure(result: Result<String, TextError>) -> String {
        match result {
            Err(TextError::TemplateFailed { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_demo_template() {
        let template = ChatTemplate::load(demo()).unwrap();
        assert!(template.has_thinking_switch());
        let chat = [
            message(Role::System, "Be brief."),
            message(Role::User, "Hi <&>"),
            message(Role::Assistant, "<think>\nHm.\n</think>\n\nHello."),
            message(Role::User, "Bye"),
        ];
        let common = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi <&><|im_end|>\n\
                      <|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n";
        assert_eq!(
            template.render(&chat, &[], true, &TemplateOptions::default()).unwrap(),
            format!("{common}<think>\n")
        );
        assert_eq!(
            template.render(&chat, &[], false, &TemplateOptions::default()).unwrap(),
            format!("{common}<think>\n\n</think>\n\n")
        );
    }

    #[test]
    fn a_chat_with_tools_renders_as_in_python() {
        let messages: serde_json::Value = serde_json::from_str(TOOL_CHAT).unwrap();
        let text = template(FAMILY_STYLE).render(&messages, &[], true, &TemplateOptions::default()).unwrap();
        assert_eq!(text, TOOL_CHAT_EXPECTED);
    }

    #[test]
    fn a_plain_chat_renders_as_in_python() {
        let text = load(&[("chat_template.jinja", FAMILY_STYLE)]).unwrap().render(
            &[message(Role::User, "Hi")],
            &[],
            false,
            &TemplateOptions::default(),
        );
        let expected = "<|im_start|>user\nHi<|im_end|>\nfirst question: 1, keys: role+content, none\n{\"zebra\": [1, \
            2.5, true, null], \"apple\": {\"é\": \"<&>'\\\"\\n\"}, \"none\": [], \"empty\": {}}\n{\n  \"zebra\": [\n    \
            1,\n    {\n      \"b\": \"ü\"\n    }\n  ],\n  \"apple\": []\n}\n[\"\\u00e9\\ud83e\\udd80\"] x<y>& c.b.a \n\
            <|im_start|>assistant\n<think>\n\n</think>\n\n";
        assert_eq!(text.unwrap(), expected);
    }

    #[test]
    fn tools_are_written_in_their_order_and_no_tools_are_none() {
        let tool = json!({"type": "function", "function": {"name": "é<f>", "parameters": {"b": 1, "a": [true, null]}}});
        let chat = json!([{"role": "user", "content": "Hi"}]);
        let text = template(FAMILY_STYLE).render(&chat, &[tool], true, &TemplateOptions::default()).unwrap();
        // As `jinja2` and `json.dumps` write it.
        let expected = "TOOLS [{\"type\": \"function\", \"function\": {\"name\": \"é<f>\", \"parameters\": {\"b\": 1, \
                        \"a\": [true, null]}}}]<|im_start|>user\n";
        assert!(text.starts_with(expected), "{text}");
        let none =
            template("{{ tools is none }}").render(&chat, &[], true, &TemplateOptions::default()).unwrap();
        assert_eq!(none, "True");
    }

    #[test]
    fn a_template_that_never_asks_for_tools_is_given_none() {
        let plain = template("{{ messages[0].content }} {# tools #}");
        assert_eq!(
            plain.render(&json!([{"content": "Hi"}]), &[], true, &TemplateOptions::default()).unwrap(),
            "Hi "
        );
        let refused = plain.render(&json!([]), &[json!({})], true, &TemplateOptions::default());
        assert!(matches!(refused, Err(TextError::TemplateWithoutTools)));
    }

    #[test]
    fn a_template_that_writes_calls_in_another_form_is_given_none() {
        let writing = |call: &str| {
            let source = "{{ messages[0].content }}{% if tools %}{{ 'Write\n<tool_call>\nCALL' }}{% endif %}";
            template(&source.replace("CALL", call))
        };
        let chat = json!([{"content": "Hi"}]);
        let other = writing(r"f()\n</tool_call>");
        let refused = other.render(&chat, &[json!({})], true, &TemplateOptions::default());
        assert!(matches!(refused, Err(TextError::TemplateWithOtherCalls)), "{refused:?}");
        assert!(
            other.render(&chat, &[], true, &TemplateOptions::default()).unwrap() == "Hi"
                && !other.takes_tools()
        );
        let in_json = r#"{"name": "f", "arguments": {}}\n</tool_call>"#;
        for (call, form) in
            [("<function=f>\n</function>\n</tool_call>", CallForm::Tags), (in_json, CallForm::Json)]
        {
            let template = writing(call);
            assert_eq!((template.call_form(), template.takes_tools()), (Some(form), true));
            assert!(
                template
                    .render(&chat, &[json!({})], true, &TemplateOptions::default())
                    .unwrap()
                    .starts_with("HiWrite")
            );
        }
    }

    #[test]
    fn what_a_template_raises_is_passed_on() {
        let template = template(FAMILY_STYLE);
        let raised = |messages: serde_json::Value| {
            failure(template.render(&messages, &[], true, &TemplateOptions::default()))
        };
        assert_eq!(raised(json!([])), "There are no messages.");
        let image = json!([{"role": "system", "content": [{"type": "image"}]}]);
        assert_eq!(raised(image), "A system message cannot hold images.");
        let reply = json!([{"role": "user", "content": "<tool_response></tool_response>"}]);
        assert_eq!(raised(reply), "There is no question.");
        let role = json!([{"role": "user", "content": "x"}, {"role": "robot", "content": "x"}]);
        assert_eq!(raised(role), "Unknown role: robot");
    }

    #[test]
    fn other_failures_name_the_line() {
        let error = render("line one\n{{ messages[0].nothing.at_all }}").unwrap_err();
        assert!(matches!(&error, TextError::TemplateFailed { line: Some(2), .. }), "{error}");
        for wrong in
            ["{{ nothing | tojson }}", "{{ 1 | tojson(colour=2) }}", "{{ strftime_now('%!') }}", "{{ f() }}"]
        {
            failure(render(wrong));
        }
    }

    #[test]
    fn a_template_that_would_never_end_is_refused() {
        let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{{ '' }}{% endfor %}\
                       {% endfor %}{% endfor %}";
        assert_eq!(failure(render(endless)), "engine ran out of fuel");
    }

    #[test]
    fn the_date_is_the_local_one() {
        let before = jiff::Zoned::now().date();
        let date = render("{{ strftime_now('%Y-%m-%d') }}").unwrap();
        assert!([before.to_string(), jiff::Zoned::now().date().to_string()].contains(&date));
        let format = "%A %-d %B %Y, %d %b %H:%M:%S";
        assert!(render(&format!("{{{{ strftime_now('{format}') }}}}")).unwrap().len() > 30);
    }

    #[test]
    fn the_first_file_that_has_a_template_is_used() {
        let jinja = ("chat_template.jinja", "jinja {{ eos_token }} {{ bos_token }}");
        let json = ("chat_template.json", r#"{"chat_template": "json"}"#);
        let config = (
            "tokenizer_config.json",
            r#"{"chat_template": "config", "eos_token": {"content": "E"}, "bos_token": "B"}"#,
        );
        let named = r#"{"chat_template": [{"name": "rag", "template": "rag"}, {"name": "default", "template": "named"}]}"#;
        let text = |files: &[(&str, &str)]| {
            load(files).unwrap().render(&json!([]), &[], true, &TemplateOptions::default()).unwrap()
        };
        assert_eq!(text(&[jinja, json, config]), "jinja E B");
        assert_eq!(text(&[json, config]), "json");
        assert_eq!(text(&[config]), "config");
        assert_eq!(text(&[("tokenizer_config.json", named)]), "named");
    }

    #[test]
    fn bad_templates_are_told_apart() {
        assert!(matches!(load(&[]), Err(TextError::TemplateMissing { .. })));
        assert!(matches!(load(&[("tokenizer_config.json", "{}")]), Err(TextError::TemplateMissing { .. })));
        assert!(matches!(load(&[("tokenizer_config.json", "{")]), Err(TextError::FileUnreadable { .. })));
        let no_default = r#"{"chat_template": [{"name": "rag", "template": "rag"}]}"#;
        let error = load(&[("tokenizer_config.json", no_default)]).unwrap_err();
        assert!(matches!(error, TextError::TemplateUnreadable { line: None, .. }));
        let error = load(&[("chat_template.jinja", "fine\n{% if x %}\n{{ x | }}")]).unwrap_err();
        assert!(matches!(&error, TextError::TemplateUnreadable { path, line: Some(3), .. }
            if path.ends_with("chat_template.jinja")));
    }

    #[test]
    fn a_switch_is_a_variable_that_the_template_does_not_set() {
        assert!(template(FAMILY_STYLE).has_thinking_switch());
        assert!(!template("{{ messages[0].content }} {# enable_thinking #}").has_thinking_switch());
        assert!(!template("{% set enable_thinking = true %}{{ enable_thinking }}").has_thinking_switch());
        assert!(!template(FAMILY_STYLE).has_thinking_effort());
        assert!(template("{{ enable_thinking }} {{ reasoning_effort }}").has_thinking_effort());
        assert!(!template("{{ reasoning_effort }}").has_thinking_effort(), "nothing switches it off");
    }
}
