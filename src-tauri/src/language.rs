//! What the app says outside its page, in the language of whoever uses it.

use std::borrow::Cow;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
#[cfg(any(target_os = "macos", test))]
use foretoken_protocol::ActionId;
use foretoken_protocol::{Language, Preferences};

/// What is said in one language.
pub(crate) struct Texts(FluentBundle<FluentResource>);

macro_rules! texts {
    ($id:literal, $folder:literal) => {
        LazyLock::new(|| {
            Texts::new(
                $id,
                [
                    include_str!(concat!("../../ui/src/language/locales/", $folder, "/actions.ftl")),
                    include_str!(concat!("../../ui/src/language/locales/", $folder, "/shell.ftl")),
                ],
            )
        })
    };
}

static ENGLISH: LazyLock<Texts> = texts!("en", "en");
static GERMAN: LazyLock<Texts> = texts!("de", "de");
static CHINESE: LazyLock<Texts> = texts!("zh-Hans", "zh");
static JAPANESE: LazyLock<Texts> = texts!("ja", "ja");

impl Texts {
    /// What comes of sources in a language, in which the tests find no faults and no name twice.
    fn new(language: &str, sources: [&str; 2]) -> Self {
        let mut bundle = FluentBundle::new_concurrent(vec![language.parse().unwrap_or_default()]);
        // Isolated, names would hold characters that nobody sees.
        bundle.set_use_isolating(false);
        let platform = if cfg!(target_os = "macos") { "mac" } else { "other" };
        if let Err(error) = bundle.add_function("PLATFORM", move |_, _| FluentValue::from(platform)) {
            tracing::error!("texts do not know the platform: {error}");
        }
        for source in sources {
            let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(rest, errors)| {
                tracing::error!("texts that cannot be read: {errors:?}");
                rest
            });
            if let Err(errors) = bundle.add_resource(resource) {
                tracing::error!("texts that are there already: {errors:?}");
            }
        }
        Self(bundle)
    }

    /// What is said in a language.
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &ENGLISH,
            Language::De => &GERMAN,
            Language::Zh => &CHINESE,
            Language::Ja => &JAPANESE,
        }
    }

    /// What is said to whoever prefers this.
    pub(crate) fn preferred(preferences: &Preferences) -> &'static Self {
        Self::of(spoken(preferences))
    }

    /// A text by its name, `name` or `name.attribute`.
    pub(crate) fn say(&self, name: &str) -> String {
        self.say_of(name, [])
    }

    /// A text by its name, of things that it names. One that is missing is its name, and no test passes.
    pub(crate) fn say_of<const N: usize>(
        &self,
        name: &str,
        of: [(&'static str, FluentValue<'_>); N],
    ) -> String {
        let args: FluentArgs<'_> = of.into_iter().collect();
        self.find(name, &args).unwrap_or(Cow::Borrowed(name)).into_owned()
    }

    fn find<'a>(&'a self, name: &str, args: &'a FluentArgs<'_>) -> Option<Cow<'a, str>> {
        let (message, attribute) =
            name.split_once('.').map_or((name, None), |(message, attribute)| (message, Some(attribute)));
        let message = self.0.get_message(message)?;
        let pattern = match attribute {
            Some(attribute) => message.get_attribute(attribute)?.value(),
            None => message.value()?,
        };
        // An argument that is missing shows its name.
        Some(self.0.format_pattern(pattern, Some(args), &mut Vec::new()))
    }
}

/// What an action is called among the texts.
#[cfg(any(target_os = "macos", test))]
pub(crate) fn action_text(action: ActionId) -> String {
    let words = format!("{action:?}").chars().fold(String::new(), |mut name, letter| {
        if letter.is_uppercase() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
        name
    });
    format!("action{words}")
}

/// The language that is spoken with whoever prefers this.
pub(crate) fn spoken(preferences: &Preferences) -> Language {
    preferences.language.unwrap_or_else(|| first_spoken(sys_locale::get_locales()))
}

/// The first of somebody's languages that the app speaks, or else English.
fn first_spoken(locales: impl IntoIterator<Item = String>) -> Language {
    let speaks = |locale: String| match locale.split(['-', '_', '.']).next()? {
        "en" => Some(Language::En),
        "de" => Some(Language::De),
        "zh" => Some(Language::Zh),
        "ja" => Some(Language::Ja),
        _ => None,
    };
    locales.into_iter().find_map(speaks).unwrap_or(Language::En)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ACTIONS;

    const ALL: [Language; 4] = [Language::En, Language::De, Language::Zh, Language::Ja];

    #[test]
    fn every_action_has_a_name_of_its_own_in_every_language() {
        for language in ALL {
            let texts = Texts::of(language);
            let mut said = std::collections::HashSet::new();
            for action in ACTIONS {
                let name = action_text(action.id);
                let endings: &[&str] = if action.toggles { &["", ".show", ".hide"] } else { &[""] };
                for ending in endings {
                    let name = format!("{name}{ending}");
                    let text = texts.say(&name);
                    assert!(text != name, "{language:?}: {name}");
                    assert!(said.insert(text.clone()), "{language:?}: {text} is said twice");
                }
            }
        }
    }

    #[test]
    fn texts_hold_what_they_are_given() {
        let said = |language| Texts::of(language).say_of("told-move.message", [("path", "/models".into())]);
        assert_eq!(said(Language::En), "It is in /models now.");
        assert!(ALL.into_iter().all(|language| said(language).contains("/models")));
        let closed = |others: usize| {
            Texts::of(Language::En).say_of("folder-closed", [("path", "a".into()), ("others", others.into())])
        };
        assert_eq!(closed(0), "a cannot be looked into. What was read there before is kept.");
        assert_eq!(closed(1), "a and one other cannot be looked into. What was read there before is kept.");
        assert_eq!(closed(3), "a and 3 others cannot be looked into. What was read there before is kept.");
    }

    #[test]
    fn the_first_language_that_the_app_speaks_is_spoken() {
        let spoken = |locales: &[&str]| first_spoken(locales.iter().map(ToString::to_string));
        assert_eq!(spoken(&["fr-FR", "de-AT", "en"]), Language::De);
        assert_eq!(spoken(&["zh-Hans-CN"]), Language::Zh);
        assert_eq!(spoken(&["ja_JP.UTF-8"]), Language::Ja);
        assert_eq!(spoken(&["C"]), Language::En);
        assert_eq!(spoken(&["nl", "pt-BR"]), Language::En);
        assert_eq!(spoken(&[]), Language::En);
        let german = Preferences { language: Some(Language::De), ..Preferences::default() };
        assert_eq!(super::spoken(&german), Language::De);
    }
}
