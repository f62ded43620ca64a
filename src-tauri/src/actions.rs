//! The one table of what can be done from anywhere in the window, which the texts name. The menu bar of macOS is made
//! from it here; the keys, the palette and the list of shortcuts are made from it on the page.

use foretoken_protocol::{Action, ActionId, Availability, Keys};

/// A key by itself.
const fn key(key: &'static str) -> Keys {
    Keys { command: false, control: false, alt: false, shift: false, key }
}

/// A key with ⌘, or Ctrl where there is no ⌘.
const fn command(name: &'static str) -> Keys {
    Keys { command: true, ..key(name) }
}

/// Something that is always there.
const fn action(id: ActionId) -> Action {
    Action {
        id,
        toggles: false,
        menu: None,
        mac: None,
        elsewhere: None,
        also: None,
        available: Availability::Always,
    }
}

/// All actions, in the order in which lists show them and in which they stand in their menus.
pub(crate) const ACTIONS: &[Action] = &[
    Action { menu: FILE, ..with(action(ActionId::NewChat), command("n")) },
    Action { menu: FILE, ..action(ActionId::QuickQuestion) },
    Action { menu: FILE, ..with(action(ActionId::NewTemporaryChat), Keys { shift: true, ..command("n") }) },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..with(action(ActionId::OpenWindow), Keys { alt: true, ..command("n") })
    },
    Action { menu: FILE, ..action(ActionId::NewProject) },
    Action { menu: FILE, available: Availability::InChat, ..action(ActionId::MoveChat) },
    Action { menu: EDIT, ..with(action(ActionId::Find), command("f")) },
    Action { menu: EDIT, ..with(action(ActionId::FindChats), Keys { shift: true, ..command("f") }) },
    Action {
        menu: EDIT,
        available: Availability::WhileFinding,
        ..with(action(ActionId::FindNext), command("g"))
    },
    Action {
        menu: EDIT,
        available: Availability::WhileFinding,
        ..with(action(ActionId::FindPrevious), Keys { shift: true, ..command("g") })
    },
    Action { menu: VIEW, ..with(action(ActionId::Palette), command("k")) },
    Action { menu: CHAT, ..with(action(ActionId::FocusComposer), command("l")) },
    Action { available: Availability::WithQuestion, ..with(action(ActionId::EditLast), key("ArrowUp")) },
    Action {
        menu: CHAT,
        also: Some(key("Escape")),
        available: Availability::WhileWriting,
        ..with(action(ActionId::Stop), command("."))
    },
    Action {
        menu: CHAT,
        available: Availability::WithStatistics,
        ..with(action(ActionId::Statistics), command("i"))
    },
    Action {
        menu: CHAT,
        available: Availability::WithVersions,
        ..with(action(ActionId::CompareVersions), Keys { shift: true, ..command("d") })
    },
    Action {
        menu: CHAT,
        toggles: true,
        available: Availability::WithVoice,
        ..with(action(ActionId::ReadAloud), Keys { alt: true, ..command("r") })
    },
    Action {
        menu: VIEW,
        toggles: true,
        ..with(action(ActionId::RevealDrafts), Keys { alt: true, ..command("d") })
    },
    Action {
        menu: CHAT,
        mac: Some(Keys { alt: true, ..command("ArrowDown") }),
        elsewhere: Some(command("PageDown")),
        available: Availability::WithNextChat,
        ..action(ActionId::NextChat)
    },
    Action {
        menu: CHAT,
        mac: Some(Keys { alt: true, ..command("ArrowUp") }),
        elsewhere: Some(command("PageUp")),
        available: Availability::WithPreviousChat,
        ..action(ActionId::PreviousChat)
    },
    Action {
        menu: FILE,
        available: Availability::InChat,
        ..with(action(ActionId::ExportChat), Keys { shift: true, ..command("e") })
    },
    Action { menu: FILE, available: Availability::InChat, ..action(ActionId::ExportHtml) },
    Action { menu: FILE, available: Availability::InChat, ..with(action(ActionId::Print), command("p")) },
    Action { menu: FILE, ..action(ActionId::ExportChats) },
    Action { menu: FILE, ..action(ActionId::ImportChats) },
    Action {
        menu: VIEW,
        toggles: true,
        mac: Some(Keys { control: true, ..command("s") }),
        elsewhere: Some(command("b")),
        ..action(ActionId::ToggleSidebar)
    },
    Action {
        menu: VIEW,
        toggles: true,
        ..with(action(ActionId::ToggleInspector), Keys { alt: true, ..command("i") })
    },
    Action { menu: VIEW, also: Some(command("=")), ..with(action(ActionId::ZoomIn), command("+")) },
    Action { menu: VIEW, ..with(action(ActionId::ZoomOut), command("-")) },
    Action { menu: VIEW, ..with(action(ActionId::ActualSize), command("0")) },
    Action { menu: VIEW, ..action(ActionId::Models) },
    Action { menu: CHAT, available: Availability::WithModelInMemory, ..action(ActionId::Unload) },
    Action { menu: VIEW, ..action(ActionId::Benchmarks) },
    Action { menu: PROGRAM, available: Availability::WithUpdates, ..action(ActionId::CheckForUpdates) },
    Action { menu: PROGRAM, ..with(action(ActionId::Settings), command(",")) },
    Action { menu: HELP, ..with(action(ActionId::Shortcuts), command("/")) },
    Action { menu: HELP, ..action(ActionId::Diagnostics) },
    Action { menu: FILE, ..with(action(ActionId::CloseWindow), command("w")) },
    Action { menu: PROGRAM, ..with(action(ActionId::Quit), command("q")) },
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
            assert!(action.mac.is_none_or(|keys| keys.command), "{:?}", action.id);
        }
    }
}
