//! Projects: chats, files and instructions that belong together.

use std::fs;

use serde_json::json;

use crate::palette::go_to;
use crate::support::dialog::Dialog;
use crate::support::drag::Drag;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ARROW_LEFT, ENTER, ESCAPE};
use crate::support::window::Window;

const FOX: &str = "Tell me a story about a fox and a kite.";
const WHO: &str = "Who keeps the bell?";

/// What the shell has of the first project.
fn kept(window: &Window<'_>, field: &str) -> String {
    let body = "const { projects } = await window.__TAURI_INTERNALS__.invoke('snapshot');
                return String(projects[0]?.[arguments[0]] ?? '')";
    let kept = window.driver.async_script(body, json!([field])).expect("the shell answers");
    kept.as_str().unwrap_or_default().to_owned()
}

fn listed(window: &Window<'_>, words: &[&str]) -> bool {
    let chats = window.texts("chat");
    chats.len() == words.len() && words.iter().all(|words| chats.iter().any(|chat| chat.contains(words)))
}

/// Adds a project, which is shown then.
fn add_project(window: &Window<'_>, name: &str) {
    go_to(window, "new project");
    window.wait_until("it can be named", || window.focus() == "rename-project");
    window.type_text(name);
    window.press(&[], ENTER);
    window.wait_until("it has its name", || window.text("project-title") == name);
}

#[test]
fn a_project_shares_what_it_knows_with_its_chats_and_comes_back_with_them() {
    let sandbox = Sandbox::new(1280, 900);
    let story = sandbox.home().join("story.txt");
    fs::write(&story, "Ines the owl keeps a bell. It rings at seven.\n").unwrap();
    let window = sandbox.open();
    window.answer(FOX);
    add_project(&window, "Forest");
    window.fill("project-instructions", "Answer in one sentence.");
    window.wait_until("it is kept", || kept(&window, "instructions") == "Answer in one sentence.");
    window.click("project-add-files");
    Dialog::wait(&sandbox, "Add files to the project").choose(&story);
    window.wait_until("the file is there", || window.text("project-files").contains("story.txt"));
    VisualCheck::new(&window, &[(1100, 760), (760, 520)]).check("project");

    window.answer(WHO);
    assert!(window.text("message-user").contains("story.txt"), "{}", window.text("message-user"));
    window.wait_until("it stands below its project", || kept(&window, "chats") == "1");
    window.choose_in_menu("chat-more", FOX, "Move to a project");
    window.click_one("move-choice", "Forest");
    window.click("move");
    window.wait_until("both are in it", || kept(&window, "chats") == "2" && listed(&window, &[WHO, FOX]));
    assert!(!window.text("chat-list").contains("Today"), "nothing is beside it");
    window.click("to-project");
    window.wait_until("the page of the project lists both", || window.texts("project-chat").len() == 2);
    drop(window);

    let window = sandbox.open();
    window.click("project");
    window.wait_until("both are still in it", || listed(&window, &[WHO, FOX]));
    window.press(&[], ARROW_LEFT);
    window.wait_until("they are put away", || window.texts("chat").is_empty());
    window.choose_in_menu("project-more", "Forest", "Delete");
    window.click("delete-project-and-chats");
    window.wait_until("it is gone", || !window.is_shown("project") && window.texts("chat").is_empty());
    window.click("undo");
    window.wait_until("it is back", || window.text("project").contains("Forest"));
    window.choose_in_menu("project-more", "Forest", "Delete");
    window.click("delete-project");
    window.wait_until("its chats are in the list", || {
        !window.is_shown("project") && listed(&window, &[WHO, FOX])
    });
}

#[test]
fn a_chat_is_dragged_into_a_project_and_out_of_it_and_a_folder_onto_its_page() {
    let sandbox = Sandbox::new(1280, 900);
    let notes = sandbox.home().join("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("owls.txt"), "Ines the owl keeps a bell.\n").unwrap();
    let window = sandbox.open();
    window.answer(FOX);
    add_project(&window, "Forest");
    let hold_over_forest = || {
        window.take("chat", FOX);
        window.hold_over("project", "Forest");
        window.wait_until("it says where it would go", || {
            window.text("drag-ghost").contains(FOX) && window.text("drag-ghost").contains("Into “Forest”")
        });
    };
    let wait_for_chats = |chats: &str| {
        window.wait_until("the chat is where it was dropped", || kept(&window, "chats") == chats);
        assert!(!window.is_shown("drag-ghost"));
    };
    hold_over_forest();
    window.press(&[], ESCAPE);
    window.wait_until("it is in the hand no longer", || !window.is_shown("drag-ghost"));
    window.let_go();
    assert_eq!(kept(&window, "chats"), "0");
    hold_over_forest();
    window.let_go();
    wait_for_chats("1");
    assert_eq!(window.text("project-title"), "Forest", "no click opened the chat");
    window.click("undo");
    wait_for_chats("0");
    hold_over_forest();
    window.let_go();
    wait_for_chats("1");
    window.take("chat", FOX);
    window.hold_over("chat-list", "Forest");
    window.wait_until("the list takes it", || window.text("drag-ghost").contains("Out of its project"));
    window.let_go();
    wait_for_chats("0");
    window.wait_until("it stands among the days", || window.text("chat-list").contains("Today"));
    hold_over_forest();
    window.let_go();
    wait_for_chats("1");

    let mut drag = Drag::over(&sandbox, &notes);
    window.wait_until("it is said what a drop does", || {
        drag.hold() && window.text("drop-target").contains("“Forest”")
    });
    drag.release();
    window.wait_until("its files are the project's", || {
        drag.answer();
        window.text("project-folder").contains("notes") && window.text("project-files").contains("owls.txt")
    });
    drop(window);

    let window = sandbox.open();
    window.wait_until("the project is open as it was", || listed(&window, &[FOX]));
    assert!(!window.text("chat-list").contains("Today"), "nothing is beside it");
}
