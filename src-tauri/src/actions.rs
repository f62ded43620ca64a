//! The one table of what can be done from anywhere in the window. The menu bar of macOS is made from it here; the keys,
//! the palette and the list of shortcuts are made from it on the page.

use foretoken_protocol::{Action, ActionId, Availability, Keys, Toggle};

/// A key by itself.
const fn key(key: &'static str) -> Keys {
    Keys { command: false, control: false, alt: false, shift: false, key }
}

/// A key with ⌘, or Ctrl where there is no ⌘.
const fn command(name: &'static str) -> Keys {
    Keys { command: true, ..key(name) }
}

/// Something that is always there.
const fn action(id: ActionId, name: &'static str) -> Action {
    Action {
        id,
        name,
        toggle: None,
        menu: None,
        mac: None,
        elsewhere: None,
        also: None,
        available: Availability::Always,
    }
}

/// All actions, in the order in which lists show them and in which they stand in their menus.
pub(crate) const ACTIONS: &[Action] = &[
    Action { menu: FILE, ..with(action(ActionId::NewChat, "New chat"), command("n")) },
    Action { menu: FILE, ..action(ActionId::QuickQuestion, "Quick question") },
    Action {
        menu: FILE,
        ..with(action(ActionId::NewTemporaryChat, "New temporary chat"), Keys { shift: true, ..command("n") })
    },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..with(
            action(ActionId::OpenWindow, "Open this chat in a new window"),
            Keys { alt: true, ..command("n") },
        )
    },
    Action { menu: FILE, ..action(ActionId::NewProject, "New project") },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..action(ActionId::MoveChat, "Move this chat to a project…")
    },
    Action { menu: EDIT, ..with(action(ActionId::Find, "Find"), command("f")) },
    Action {
        menu: EDIT,
        ..with(action(ActionId::FindChats, "Find in all chats"), Keys { shift: true, ..command("f") })
    },
    Action {
        menu: EDIT,
        available: Availability::WhileFinding,
        ..with(action(ActionId::FindNext, "Next match in this chat"), command("g"))
    },
    Action {
        menu: EDIT,
        available: Availability::WhileFinding,
        ..with(
            action(ActionId::FindPrevious, "Previous match in this chat"),
            Keys { shift: true, ..command("g") },
        )
    },
    Action { menu: VIEW, ..with(action(ActionId::Palette, "Go to…"), command("k")) },
    Action { menu: CHAT, ..with(action(ActionId::FocusComposer, "Write a message"), command("l")) },
    Action {
        available: Availability::WithQuestion,
        ..with(action(ActionId::EditLast, "Edit your last message"), key("ArrowUp"))
    },
    Action {
        menu: CHAT,
        also: Some(key("Escape")),
        available: Availability::WhileWriting,
        ..with(action(ActionId::Stop, "Stop the reply"), command("."))
    },
    Action {
        menu: CHAT,
        available: Availability::WithStatistics,
        ..with(action(ActionId::Statistics, "Statistics of the last reply"), command("i"))
    },
    Action {
        menu: CHAT,
        available: Availability::WithVersions,
        ..with(
            action(ActionId::CompareVersions, "Compare versions side by side"),
            Keys { shift: true, ..command("d") },
        )
    },
    Action {
        menu: CHAT,
        toggle: Some(Toggle { show: "Read aloud", hide: "Stop reading aloud" }),
        available: Availability::WithVoice,
        ..with(action(ActionId::ReadAloud, "Read a reply aloud, or stop"), Keys { alt: true, ..command("r") })
    },
    Action {
        menu: VIEW,
        toggle: Some(Toggle { show: "Show guesses in the text", hide: "Hide guesses in the text" }),
        ..with(
            action(ActionId::RevealDrafts, "Show or hide guesses in the text"),
            Keys { alt: true, ..command("d") },
        )
    },
    Action {
        menu: CHAT,
        mac: Some(Keys { alt: true, ..command("ArrowDown") }),
        elsewhere: Some(command("PageDown")),
        available: Availability::WithNextChat,
        ..action(ActionId::NextChat, "Next chat")
    },
    Action {
        menu: CHAT,
        mac: Some(Keys { alt: true, ..command("ArrowUp") }),
        elsewhere: Some(command("PageUp")),
        available: Availability::WithPreviousChat,
        ..action(ActionId::PreviousChat, "Previous chat")
    },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..with(action(ActionId::ExportChat, "Export this chat…"), Keys { shift: true, ..command("e") })
    },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..action(ActionId::ExportHtml, "Export this chat as HTML…")
    },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..with(action(ActionId::Print, "Print this chat…"), command("p"))
    },
    Action { menu: FILE, ..action(ActionId::ExportChats, "Export all chats…") },
    Action { menu: FILE, ..action(ActionId::ImportChats, "Import chats…") },
    Action {
        menu: VIEW,
        toggle: Some(Toggle { show: "Show the sidebar", hide: "Hide the sidebar" }),
        mac: Some(Keys { control: true, ..command("s") }),
        elsewhere: Some(command("b")),
        ..action(ActionId::ToggleSidebar, "Show or hide the sidebar")
    },
    Action {
        menu: VIEW,
        toggle: Some(Toggle { show: "Show the panel", hide: "Hide the panel" }),
        ..with(
            action(ActionId::ToggleInspector, "Show or hide the panel"),
            Keys { alt: true, ..command("i") },
        )
    },
    Action { menu: VIEW, also: Some(command("=")), ..with(action(ActionId::ZoomIn, "Larger"), command("+")) },
    Action { menu: VIEW, ..with(action(ActionId::ZoomOut, "Smaller"), command("-")) },
    Action { menu: VIEW, ..with(action(ActionId::ActualSize, "Actual size"), command("0")) },
    Action { menu: VIEW, ..action(ActionId::Models, "Models") },
    Action {
        menu: CHAT,
        available: Availability::WithModelInMemory,
        ..action(ActionId::Unload, "Give the model’s memory back")
    },
    Action { menu: VIEW, ..action(ActionId::Benchmarks, "Benchmarks") },
    Action {
        menu: PROGRAM,
        available: Availability::WithUpdates,
        ..action(ActionId::CheckForUpdates, "Check for updates…")
    },
    Action { menu: PROGRAM, ..with(action(ActionId::Settings, "Settings…"), command(",")) },
    Action { menu: HELP, ..with(action(ActionId::Shortcuts, "Keyboard shortcuts"), command("/")) },
    Action { menu: HELP, ..action(ActionId::Diagnostics, "Diagnostics") },
    Action { menu: FILE, ..with(action(ActionId::CloseWindow, "Close the window"), command("w")) },
    Action { menu: PROGRAM, ..with(action(ActionId::Quit, "Quit Foretoken"), command("q")) },
];

/// The menu that is named after the program.
const PROGRAM: Option<&str> = Some("Foretoken");
const FILE: Option<&str> = Some("File");
const EDIT: Option<&str> = Some("Edit");
const VIEW: Option<&str> = Some("View");
const CHAT: Option<&str> = Some("Chat");
const HELP: Option<&str> = Some("Help");

/// The same keys on every system, ⌘ or Ctrl.
const fn with(action: Action, keys: Keys) -> Action {
    Action { mac: Some(keys), elsewhere: Some(keys), ..action }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_action_stands_once_and_no_two_share_a_key() {
        let ids: HashSet<_> = ACTIONS.iter().map(|action| action.id).collect();
        assert_eq!(ids.len(), ACTIONS.len());
        let names: HashSet<_> = ACTIONS.iter().map(|action| action.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
        let on_mac = |action: &Action| action.mac;
        let elsewhere = |action: &Action| action.elsewhere;
        for keys_of in [&on_mac as &dyn Fn(&Action) -> Option<Keys>, &elsewhere] {
            let mut taken = Vec::new();
            for keys in ACTIONS.iter().flat_map(|action| keys_of(action).into_iter().chain(action.also)) {
                assert!(!taken.contains(&keys), "{keys:?} leads to two actions");
                taken.push(keys);
            }
        }
    }

    #[test]
    fn keys_of_a_menu_hold_a_modifier() {
        // Without one, the menu bar would take a letter away from whoever types.
        for action in ACTIONS.iter().filter(|action| action.menu.is_some()) {
            assert!(action.mac.is_none_or(|keys| keys.command), "{}", action.name);
        }
    }
}
