//! A page as it is written, tidied up for what finds its main text: only elements that carry text, each closed where
//! it should be, and not too many nor too deep. A hostile page cannot have the rest work without end then: what builds
//! a document from tags does, of tags that overlap or are never closed, a multiple of what the page is long.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    BufferQueue, CharacterTokens, EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult,
    Tokenizer, TokenizerOpts,
};
use reqwest::Url;

/// How deep elements lie within each other; those below are as if they were not written.
const DEEPEST: usize = 80;
/// After how many elements a page is not read on.
const MOST_ELEMENTS: usize = 60_000;
/// After how much text a page is not read on, in bytes.
const MOST_TEXT: usize = 512 << 10;
/// How much a page may weigh, in which each byte of text weighs the square of how deep it lies: what finds the main
/// text takes as long.
const MOST_WEIGHT: u64 = 200_000_000;
/// The longest address of a link, and the longest name of a class, in bytes.
const LONGEST_VALUE: usize = 2_000;
/// The longest date, in characters.
const MOST_DATE: usize = 40;
/// How long reading the tags may take. Elements of a hundred thousand attributes take longest.
const MOST_TIME: Duration = Duration::from_secs(5);
/// How much is read between two looks at the clock, in bytes.
const STRIDE: usize = 16 << 10;

/// What stands around a piece of a program within a line, in Markdown.
const CODE: &str = "`";

/// A page that was tidied up.
#[derive(Debug, Default)]
pub(super) struct Tidy {
    /// Its title.
    pub(super) title: String,
    /// When it was published, as it says.
    pub(super) published: String,
    /// What it shows, in elements that are all closed.
    pub(super) html: String,
    /// Whether it goes on after that.
    pub(super) is_cut: bool,
    /// Whether to find the main text in it would take long.
    pub(super) is_heavy: bool,
}

/// Tidies up the page at `address`.
pub(super) fn tidy(source: &str, address: &Url) -> Tidy {
    let sink = Sink(RefCell::new(Page::new(address.clone())));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let (queue, began) = (BufferQueue::default(), Instant::now());
    let mut rest = source;
    while !rest.is_empty() && !tokenizer.sink.0.borrow().tidy.is_cut {
        let (chunk, later) = rest.split_at(rest.ceil_char_boundary(STRIDE.min(rest.len())));
        queue.push_back(StrTendril::from_slice(chunk));
        let _ = tokenizer.feed(&queue);
        rest = later;
        if began.elapsed() > MOST_TIME {
            tokenizer.sink.0.borrow_mut().tidy.is_cut = true;
        }
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

struct Sink(RefCell<Page>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            TagToken(tag) if tag.kind == StartTag => {
                if let Some(kind) = raw_kind(&tag.name) {
                    page.raw = Some(tag.name.to_string());
                    return TokenSinkResult::RawData(kind);
                }
                page.open(&tag);
            }
            TagToken(Tag { kind: EndTag, name, .. }) => page.close(&name),
            CharacterTokens(text) => page.text(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// An element that is open.
#[derive(Debug)]
struct Open {
    name: String,
    /// As what it is written, if it is.
    written: Option<&'static str>,
    is_shown: bool,
}

/// A page on its way.
#[derive(Debug)]
struct Page {
    tidy: Tidy,
    /// What addresses are relative to.
    base: Url,
    open: Vec<Open>,
    /// How many elements are open that lie too deep.
    too_deep: usize,
    /// Which of those hides what is in it.
    hidden_at: Option<usize>,
    /// The element that is open whose text is no markup.
    raw: Option<String>,
    elements: usize,
    /// How much text it shows, in bytes, and what that weighs.
    text: usize,
    weight: u64,
}

impl Page {
    fn new(base: Url) -> Self {
        Self {
            tidy: Tidy::default(),
            base,
            open: Vec::new(),
            too_deep: 0,
            hidden_at: None,
            raw: None,
            elements: 0,
            text: 0,
            weight: 0,
        }
    }

    fn is_shown(&self) -> bool {
        self.hidden_at.is_none() && self.open.last().is_none_or(|open| open.is_shown)
    }

    fn text(&mut self, text: &str) {
        if let Some(raw) = &self.raw {
            // A title within a drawing is not that of the page.
            if raw == "title" && self.tidy.title.len() < LONGEST_VALUE && self.is_shown() {
                self.tidy.title += text;
            }
            return;
        }
        if !self.is_shown() || self.tidy.is_cut {
            return;
        }
        self.text += text.len();
        self.weight = self.weight.saturating_add((text.len() * self.open.len().pow(2)) as u64);
        self.tidy.is_heavy = self.weight > MOST_WEIGHT;
        escape(text, &mut self.tidy.html);
        self.tidy.is_cut = self.text > MOST_TEXT;
    }

    fn open(&mut self, tag: &Tag) {
        let name = tag.name.as_ref();
        if name == "meta" && attribute(tag, "property") == Some("article:published_time") {
            let published = attribute(tag, "content").unwrap_or_default();
            self.tidy.published = published.chars().take(MOST_DATE).collect();
        }
        if self.tidy.is_cut || matches!(name, "html" | "head" | "body" | "frameset" | "meta" | "link") {
            return;
        }
        if name == "base" {
            if let Some(base) = attribute(tag, "href").and_then(|href| self.base.join(href).ok()) {
                self.base = base;
            }
            return;
        }
        let is_void = is_void(name) || tag.self_closing && written_as(name).is_none();
        if self.too_deep > 0 || self.open.len() >= DEEPEST {
            self.too_deep += usize::from(!is_void);
            // What it would part does not become one word.
            if !self.tidy.html.ends_with(' ') {
                self.text(" ");
            }
            if self.hidden_at.is_none() && !is_void && is_hidden(name, tag) {
                self.hidden_at = Some(self.too_deep);
            }
            return;
        }
        self.end_before(name);
        let is_shown = self.is_shown() && !is_hidden(name, tag);
        let written = if is_shown { self.written(name, tag) } else { None };
        if let Some(written) = written {
            self.elements += 1;
            if self.elements > MOST_ELEMENTS {
                self.tidy.is_cut = true;
                return;
            }
            self.write_open(written, tag);
        } else if is_shown && name == "math" {
            // What it means, once. What it looks like would be letters without order.
            escape(attribute(tag, "alttext").unwrap_or_default(), &mut self.tidy.html);
        }
        if !is_void {
            let is_shown = is_shown && !(name == "math" && attribute(tag, "alttext").is_some());
            self.open.push(Open { name: name.to_owned(), written, is_shown });
        }
    }

    /// As what an element is written now, if it is.
    fn written(&self, name: &str, tag: &Tag) -> Option<&'static str> {
        let written = written_as(name)?;
        let is_open = |other| self.open.iter().any(|open| open.written == Some(other));
        let is_told = match written {
            "a" => !is_open("a") && self.link(tag).is_some(),
            // A program is one as a whole.
            CODE => !is_open(CODE) && !is_open("pre"),
            _ => true,
        };
        is_told.then_some(written)
    }

    fn write_open(&mut self, written: &'static str, tag: &Tag) {
        let mut attributes = Vec::new();
        if written == "a" {
            attributes.extend(self.link(tag).map(|link| ("href", link)));
        }
        if !is_inline(written) {
            // What finds the main text goes by these.
            let told = ["class", "id", "role"].into_iter().filter_map(|name| {
                let value = attribute(tag, name).filter(|value| value.len() <= LONGEST_VALUE)?;
                Some((name, value.to_owned()))
            });
            attributes.extend(told);
        }
        let html = &mut self.tidy.html;
        if written == CODE {
            *html += CODE;
            return;
        }
        *html += "<";
        *html += written;
        for (name, value) in attributes {
            *html += " ";
            *html += name;
            *html += "=\"";
            escape(&value, html);
            *html += "\"";
        }
        *html += ">";
    }

    /// Where a link leads, if it leads to another page.
    fn link(&self, tag: &Tag) -> Option<String> {
        let href = attribute(tag, "href")?.trim();
        let to = self.base.join(href).ok().filter(|_| !href.is_empty() && !href.starts_with('#'))?;
        let is_known = matches!(to.scheme(), "http" | "https" | "mailto");
        // Brackets would end the link where it is written in Markdown.
        let to = to.as_str().replace('(', "%28").replace(')', "%29");
        (is_known && to.len() <= LONGEST_VALUE).then_some(to)
    }

    /// Closes what this element ends by beginning.
    fn end_before(&mut self, name: &str) {
        let (ended, within): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "tr" => (&["tr", "caption"], &["table"]),
            "td" | "th" => (&["td", "th"], &["table"]),
            "thead" | "tbody" | "tfoot" => (&["thead", "tbody", "tfoot", "caption"], &["table"]),
            _ => (&[], &[]),
        };
        self.pop_to(ended, within);
        if written_as(name).is_some_and(|written| !is_inline(written) && written != "br") {
            self.pop_to(&["p"], &["td", "th", "caption", "table", "button"]);
        }
        if is_heading(name) && self.open.last().is_some_and(|open| is_heading(&open.name)) {
            self.pop();
        }
    }

    /// Closes everything down to the innermost element with one of these names, if it lies within the innermost one
    /// with one of those.
    fn pop_to(&mut self, names: &[&str], within: &[&str]) {
        for (at, open) in self.open.iter().enumerate().rev() {
            if names.contains(&open.name.as_str()) {
                while self.open.len() > at {
                    self.pop();
                }
                return;
            }
            if within.contains(&open.name.as_str()) {
                return;
            }
        }
    }

    fn pop(&mut self) {
        match self.open.pop().and_then(|open| open.written) {
            Some(CODE) => self.tidy.html += CODE,
            Some(written) => {
                self.tidy.html += "</";
                self.tidy.html += written;
                self.tidy.html += ">";
            }
            None => {}
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(raw) = &self.raw {
            if raw == name {
                self.raw = None;
            }
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= usize::from(!is_void(name));
            self.hidden_at = self.hidden_at.filter(|at| *at <= self.too_deep);
            return;
        }
        let is_block = |name: &str| written_as(name).is_some_and(|written| !is_inline(written));
        let passes = |open: &Open| {
            let of_tables = ["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"];
            match open.name.as_str() {
                // What is in a cell ends in it, and what is in a line ends in its paragraph.
                "td" | "th" | "caption" | "table" => of_tables.contains(&name),
                other => is_block(name) || !is_block(other),
            }
        };
        for at in (0..self.open.len()).rev() {
            if self.open[at].name == name {
                while self.open.len() > at {
                    self.pop();
                }
                return;
            }
            if !passes(&self.open[at]) {
                return;
            }
        }
    }

    fn finish(mut self) -> Tidy {
        while !self.open.is_empty() {
            self.pop();
        }
        self.tidy
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => *out += "&amp;",
            '<' => *out += "&lt;",
            '>' => *out += "&gt;",
            '"' => *out += "&quot;",
            '\0' => {}
            _ => out.push(character),
        }
    }
}

/// How the text of an element is read that is no markup.
fn raw_kind(name: &str) -> Option<RawKind> {
    match name {
        "script" => Some(ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(Rawtext),
        "title" | "textarea" => Some(Rcdata),
        _ => None,
    }
}

/// Whether people see nothing of what is in an element, or nothing that is text.
fn is_hidden(name: &str, tag: &Tag) -> bool {
    let is_unseen = matches!(
        name,
        "audio"
            | "button"
            | "canvas"
            | "datalist"
            | "dialog"
            | "embed"
            | "map"
            | "noscript"
            | "object"
            | "option"
            | "picture"
            | "select"
            | "svg"
            | "template"
            | "video"
    );
    let style = || {
        let style: String = attribute(tag, "style")?.split_whitespace().collect();
        let style = style.to_ascii_lowercase();
        let hides = ["display:none", "visibility:hidden", "font-size:0;", "opacity:0;"];
        Some(hides.iter().any(|hiding| format!("{style};").contains(hiding)))
    };
    is_unseen
        || attribute(tag, "hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || attribute(tag, "aria-hidden") == Some("true")
        || style().unwrap_or(false)
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Whether what is written so is part of a line.
fn is_inline(written: &str) -> bool {
    matches!(written, "a" | "sup" | CODE)
}

/// As what an element is written, if it is more than the text in it.
fn written_as(name: &str) -> Option<&'static str> {
    const SAME: [&str; 36] = [
        "a",
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "caption",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "sup",
        "table",
        "td",
        "th",
        "tr",
    ];
    match name {
        "code" | "kbd" | "samp" | "tt" => Some(CODE),
        "menu" | "ul" => Some("ul"),
        "tbody" | "thead" | "tfoot" => Some("tbody"),
        "center" | "fieldset" | "form" | "hgroup" | "legend" | "dir" => Some("div"),
        _ => SAME.iter().find(|same| **same == name).copied(),
    }
}
