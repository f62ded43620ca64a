//! What a screen must look like at any size, light and dark: nothing is cut off or out of reach, and everything can be
//! read. The pictures are for people.

use std::{env, fs};

use serde_json::json;

use crate::support::window::Window;

/// Has every screen looked at in both themes and at every size, which takes minutes more.
const EVERY_LOOK: &str = "FORETOKEN_EVERY_LOOK";

/// Whether every look was asked for.
pub(crate) fn every_look() -> bool {
    env::var_os(EVERY_LOOK).is_some()
}

/// A window's width and height.
pub(crate) type Size = (u32, u32);

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(crate) const BOTH: [Self; 2] = [Self::Light, Self::Dark];

    /// Of the sizes that something is looked at, those of this theme: the first, and every second of the others,
    /// beginning in the light. What fits in one theme fits in the other.
    pub(crate) fn sizes(self, all: &[Size]) -> impl Iterator<Item = Size> {
        let others = if self == Self::Light { 1 } else { 2 };
        all.iter().take(1).chain(all.iter().skip(others).step_by(2)).copied()
    }

    /// As the settings call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Gives the window this theme and waits until the page has it.
    pub(crate) fn put_on(self, window: &Window<'_>) {
        window.driver.async_script(PUT_ON, json!([self.name()])).expect("the theme changes");
    }
}

/// Looks at what a window shows.
pub(crate) struct VisualCheck<'a> {
    window: &'a Window<'a>,
    sizes: &'a [Size],
}

impl<'a> VisualCheck<'a> {
    /// Looks at every screen at the first of these sizes in both themes, and at each other in one of them: at one of
    /// these looks, by its name, unless [`EVERY_LOOK`] is set. The gallery has most screens in all of them. In the
    /// dark, axe looks at the first size alone: beside the colours it finds what it finds in the light.
    pub(crate) fn new(window: &'a Window<'a>, sizes: &'a [Size]) -> Self {
        load_axe(window);
        Self { window, sizes }
    }

    /// Looks at the screen. Afterwards the window is light and as large as it was.
    pub(crate) fn check(&self, screen: &str) {
        let before = self.window.script("return [innerWidth, innerHeight]", json!([]));
        let (width, height): Size = serde_json::from_value(before).expect("the page has a size");
        let looks = [Theme::Dark, Theme::Light].into_iter().flat_map(|theme| {
            theme.sizes(self.sizes).enumerate().map(move |(place, size)| (theme, place, size))
        });
        let looks: Vec<_> = looks.collect();
        let its_turn = screen.bytes().map(usize::from).sum::<usize>() % looks.len();
        for (turn, (theme, place, size)) in looks.into_iter().enumerate() {
            if turn == its_turn || every_look() {
                theme.put_on(self.window);
                self.check_as(screen, size, theme, if axe_looks(theme, place) { faults } else { outside });
            }
        }
        Theme::Light.put_on(self.window);
        self.window.resize(width, height);
    }

    /// The page itself never moves, what is used is within the window, and everything can be read and reached.
    fn check_as(
        &self,
        screen: &str,
        (width, height): Size,
        theme: Theme,
        look: impl Fn(&Window<'_>) -> Vec<String>,
    ) {
        let picture = format!("{screen}-{}-{width}x{height}", theme.name());
        let window = self.window;
        window.resize(width, height);
        come_to_rest(window);
        window.picture(&picture);
        let found = look(window);
        assert!(found.is_empty(), "{picture}: {found:#?}");
        assert!(!window.is_shown("latest"), "{picture}: nobody has scrolled, so the end is in view");
    }
}

/// Whether axe looks at a theme's size of this number.
pub(crate) fn axe_looks(theme: Theme, size: usize) -> bool {
    theme == Theme::Light || size == 0
}

/// Prepares the page of a window for [`faults`].
pub(crate) fn load_axe(window: &Window<'_>) {
    let axe = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/node_modules/axe-core/axe.min.js");
    let axe = fs::read_to_string(axe).expect("axe is installed (`npm ci` in ui)");
    window.script(&format!("{axe}; return null"), json!([]));
}

/// Waits until the page is drawn and nothing moves but what always does.
pub(crate) fn come_to_rest(window: &Window<'_>) {
    window.driver.async_script(STILL, json!([])).expect("the page comes to rest");
}

/// What is cut off or out of reach in the page of a window, and what axe objects to.
pub(crate) fn faults(window: &Window<'_>) -> Vec<String> {
    let found = window.driver.async_script(AXE, json!([])).expect("axe looks at the page");
    let found = serde_json::from_value::<Vec<String>>(found).expect("a list of sentences");
    [outside(window), found].concat()
}

/// What is cut off or out of reach in the page of a window.
pub(crate) fn outside(window: &Window<'_>) -> Vec<String> {
    serde_json::from_value(window.script(OUTSIDE, json!([]))).expect("a list of sentences")
}

/// Changes the appearance as the settings do, and waits until the page has it.
const PUT_ON: &str = "
    const [appearance] = arguments;
    const ask = window.__TAURI_INTERNALS__.invoke;
    const { preferences } = await ask('snapshot');
    await ask('set_preferences', { preferences: { ...preferences, appearance } });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    while (dark.matches !== (appearance === 'dark')) await new Promise((done) => setTimeout(done, 10));";

/// What axe objects to, a line each.
const AXE: &str = "
    // Guards of Base UI, which pass the focus on, are never seen or heard.
    const looked = { exclude: ['[data-base-ui-focus-guard]'] };
    // Menus and popovers hang outside of the page's landmarks.
    const rules = { region: { enabled: false } };
    const { violations } = await axe.run(looked, { rules, resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`));";

/// Waits until the page is drawn and nothing moves but what always does.
const STILL: &str = "
    const frame = () => new Promise(requestAnimationFrame);
    const ends = (one) => one.effect.getComputedTiming().endTime !== Infinity;
    do { await frame(); await frame(); }
    while (document.getAnimations().some((one) => one.playState === 'running' && ends(one)));";

/// What does not fit: a page that has scrolled, popovers of which hardly anything shows, and buttons, fields and
/// popovers that are partly outside of the window. Inside of something that scrolls, only the width counts.
const OUTSIDE: &str = "
    const outside = [];
    const root = document.scrollingElement;
    if (root.scrollLeft !== 0 || root.scrollTop !== 0) outside.push('the page has moved');
    for (const part of document.querySelectorAll('.screen, .sheet-body, .conversation'))
        if (part.scrollWidth > part.clientWidth) outside.push(`${part.className} is wider than it shows`);
    for (const popover of document.querySelectorAll('.popover'))
        if (popover.clientHeight < Math.min(popover.scrollHeight, innerHeight / 2)) outside.push('a popover is squeezed');
    for (const element of document.querySelectorAll('button, input, textarea, .popover, .signed-note')) {
        const box = element.getBoundingClientRect();
        if (box.width <= 1 || element.closest('[aria-hidden=true]')) continue;
        const scrolls = element.closest('.conversation, .chat-list, .popover, .screen, .sheet-body, .inspector-body') ?? null;
        const wide = box.left < -0.5 || box.right > innerWidth + 0.5;
        const high = (scrolls === null || scrolls === element) && (box.top < -0.5 || box.bottom > innerHeight + 0.5);
        if (wide || high) outside.push(`${element.dataset.testid ?? element.className ?? element.tagName}`);
    }
    return outside;";
