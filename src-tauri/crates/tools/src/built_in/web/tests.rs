use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;
use crate::tool::ResultPart;

/// An address of all the world, which no test connects to.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Tells each name's addresses in turn, the last of them for ever.
#[derive(Debug, Default)]
struct Names {
    known: BTreeMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Resolver for Names {
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.iter().filter(|other| *other == name).count();
        asked.push(name.to_owned());
        let found = self.known.get(name).and_then(|turns| turns.get(before).or(turns.last()).cloned());
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// How a site answers.
enum Answer {
    /// With these bytes.
    Whole(Vec<u8>),
    /// With this head, and then with this again and again, so far apart.
    Endless(String, Vec<u8>, Duration),
}

fn page(media_type: &str, body: impl AsRef<[u8]>) -> Answer {
    with_head(&format!("content-type: {media_type}\r\n"), body)
}

fn with_head(head: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 200 OK\r\n{head}content-length: {}\r\n\r\n", body.len());
    Answer::Whole([head.as_bytes(), body].concat())
}

fn redirect(to: &str) -> Answer {
    Answer::Whole(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes())
}

fn status(status: &str) -> Answer {
    Answer::Whole(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").into_bytes())
}

/// A server on this machine.
struct Site {
    port: u16,
    /// The heads of the requests that came.
    heads: Arc<Mutex<Vec<String>>>,
    /// Tells when an endless answer has lost its reader.
    left: mpsc::UnboundedReceiver<()>,
}

impl Site {
    async fn new(answer: impl Fn(&str, u16) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (leaving, left) = mpsc::unbounded_channel();
        let (answer, kept) = (Arc::new(answer), heads.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, heads, leaving) = (answer.clone(), kept.clone(), leaving.clone());
                tokio::spawn(async move {
                    if answered(stream, port, &*answer, &heads).await.is_err() {
                        let _ = leaving.send(());
                    }
                });
            }
        });
        Self { port, heads, left }
    }

    fn at(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn answered(
    mut stream: TcpStream,
    port: u16,
    answer: &(dyn Fn(&str, u16) -> Answer + Send + Sync),
    heads: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap();
    let answer = answer(head.split(' ').nth(1).unwrap(), port);
    heads.lock().unwrap().push(head);
    match answer {
        Answer::Whole(bytes) => stream.write_all(&bytes).await?,
        Answer::Endless(head, again, apart) => {
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(&again).await?;
                tokio::time::sleep(apart).await;
            }
        }
    }
    stream.shutdown().await
}

fn names(known: &[(&'static str, &[IpAddr])]) -> Arc<Names> {
    let known = known.iter().map(|(name, addresses)| (*name, vec![addresses.to_vec()])).collect();
    Arc::new(Names { known, ..Names::default() })
}

/// What checks as ever, and then connects to this machine wherever it should.
fn web(names: Arc<Names>) -> Web {
    let checking = |hosts| Checking { resolver: names.clone(), hosts, detour: Some(LOOPBACK) };
    Web {
        pages: client(checking(Hosts::Public)).unwrap(),
        searches: client(checking(Hosts::Any)).unwrap(),
        search: None,
        limits: LIMITS,
    }
}

fn usual() -> Web {
    web(names(&[("a.test", &[PUBLIC]), ("b.test", &[PUBLIC]), ("own.test", &[LOOPBACK])]))
}

fn quick(time: Duration) -> Web {
    Web { limits: Limits { time, ..LIMITS }, ..usual() }
}

fn told(outcome: Outcome) -> Result<String, String> {
    match outcome.parts.as_slice() {
        [ResultPart::Text { text }] if outcome.failed => Err(text.clone()),
        [ResultPart::Text { text }] => Ok(text.clone()),
        other => panic!("one text was expected, and {other:?} came"),
    }
}

async fn read(web: &Web, address: &str) -> Result<String, String> {
    told(web.read_page(address).await)
}

#[tokio::test]
async fn a_page_is_read_with_its_title_and_address_and_nothing_is_told_of_the_person() {
    let site = Site::new(|path, _| match path {
        "/" => redirect("/x?y=1#z"),
        _ => {
            let cookie = "set-cookie: a=b; Path=/\r\ncontent-type: text/html; charset=ISO-8859-1\r\n";
            with_head(cookie, b"<title> A  page</title><p>Caf\xe9 <a href='/c d'>link</a><img src=x>")
        }
    })
    .await;
    let web = usual();
    for _ in 0..2 {
        let text = read(&web, &format!(" {}\n", site.at("a.test", "/"))).await.unwrap();
        let at = site.at("a.test", "/x?y=1#z");
        let link = site.at("a.test", "/c%20d");
        assert_eq!(text, format!("# A page\n\nAddress: {at}\n\nCafé [link]({link})"));
    }
    let heads = site.heads();
    assert_eq!(heads.len(), 4);
    for head in heads {
        let head = head.to_ascii_lowercase();
        let names: Vec<_> = head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0)).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["accept", "accept-encoding", "host", "user-agent"], "{head}");
        assert!(head.contains("user-agent: foretoken/"));
    }
}

#[tokio::test]
async fn nothing_in_ones_own_network_is_reached() {
    let site = Site::new(|_, _| page("text/plain", "secret")).await;
    let mixed = [PUBLIC, "10.0.0.1".parse().unwrap()];
    let nat64 = ["64:ff9b::7f00:1".parse().unwrap()];
    let names = names(&[
        ("own.test", &[LOOPBACK]),
        ("mixed.test", &mixed),
        ("nat64.test", &nat64),
        ("printer.local", &[PUBLIC]),
        ("localhost", &[PUBLIC]),
    ]);
    let web = web(names);
    for host in
        ["own.test", "mixed.test", "nat64.test", "printer.local", "localhost", "127.0.0.1", "[::1]", "0x7f.1"]
    {
        let refused = read(&web, &site.at(host, "/")).await.unwrap_err();
        assert!(refused.contains("in a network of its own"), "{host}: {refused}");
    }
    let unknown = read(&web, &site.at("nobody.test", "/")).await.unwrap_err();
    assert_eq!(unknown, "There is no host called nobody.test. Check the spelling of the address.");
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn without_the_detour_of_tests_this_machine_is_out_of_reach() {
    let site = Site::new(|_, _| page("text/plain", "secret")).await;
    let web = Web::new(names(&[("own.test", &[LOOPBACK])]), None).unwrap();
    for host in ["own.test", "127.0.0.1"] {
        assert!(read(&web, &site.at(host, "/")).await.is_err());
    }
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn a_name_that_moves_after_the_check_does_not_move_the_connection() {
    let site = Site::new(|path, _| match path {
        "/again" => redirect("/"),
        _ => page("text/plain", "public"),
    })
    .await;
    let turns = || {
        let known = BTreeMap::from([("moving.test", vec![vec![PUBLIC], vec![LOOPBACK]])]);
        Arc::new(Names { known, ..Names::default() })
    };
    let names = turns();
    let read_once = read(&web(names.clone()), &site.at("moving.test", "/")).await.unwrap();
    assert!(read_once.ends_with("public"));
    assert_eq!(*names.asked.lock().unwrap(), ["moving.test"]);

    // Each step is a connection of its own, and is checked as such.
    let names = turns();
    let refused = read(&web(names.clone()), &site.at("moving.test", "/again")).await.unwrap_err();
    assert!(refused.contains("in a network of its own"), "{refused}");
    assert_eq!(names.asked.lock().unwrap().len(), 2);
    assert_eq!(site.heads().len(), 2);
}

#[tokio::test]
async fn a_page_does_not_lead_where_nobody_may_go() {
    let site = Site::new(|path, port| match path {
        "/own" => redirect(&format!("http://127.0.0.1:{port}/")),
        "/site" => redirect(&format!("http://b.test:{port}/")),
        "/port" => redirect("http://a.test:9/"),
        "/file" => redirect("file:///etc/passwd"),
        "/credentials" => redirect(&format!("http://a:b@b.test:{port}/")),
        "/nowhere" => redirect("http://[/"),
        "/round" => redirect("/round"),
        "/unsaid" => status("302 Found"),
        _ => page("text/plain", "secret"),
    })
    .await;
    let web = usual();
    for (path, why) in [
        ("/own", "in a network of its own"),
        ("/site", "leads to another site, http://b.test:"),
        ("/port", "leads to another site"),
        ("/file", "begin with \"file:\""),
        ("/credentials", "a name or a password"),
        ("/nowhere", "without saying to which"),
        ("/unsaid", "without saying to which"),
        ("/round", "more than 5 times"),
    ] {
        let refused = read(&web, &site.at("a.test", path)).await.unwrap_err();
        assert!(refused.contains(why), "{path}: {refused}");
    }
    assert_eq!(site.heads().iter().filter(|head| head.starts_with("GET /round ")).count(), 6);
    assert!(!site.heads().iter().any(|head| head.starts_with("GET / ")));
}

#[tokio::test]
async fn what_is_no_address_is_said_to_be_none() {
    let web = usual();
    let long = format!("https://a.test/{}", "x".repeat(5_000));
    for address in ["", "a.test", "example.org/page", "https://", "not an address", &long] {
        let refused = read(&web, address).await.unwrap_err();
        assert!(refused.ends_with("Give a whole address that begins with https://."), "{refused}");
        assert!(refused.len() < 400);
    }
}

#[tokio::test]
async fn no_more_is_read_than_fits() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let (bomb, small) = (gzip(&vec![b'a'; 32 << 20]), gzip("packed ✓".as_bytes()));
    let nothing = gzip(b"").repeat(3_000);
    let cut = small[..small.len() - 6].to_vec();
    let site = Site::new(move |path, _| {
        let packed = "content-type: text/plain; charset=utf-8\r\ncontent-encoding: gzip\r\n";
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_owned();
        match path {
            "/bomb" => with_head(packed, &bomb),
            "/small" => with_head(packed, &small),
            "/cut" => with_head(packed, &cut),
            "/nothing" => {
                Answer::Endless(format!("HTTP/1.1 200 OK\r\n{packed}\r\n"), nothing.clone(), Duration::ZERO)
            }
            "/full" => page("text/plain", vec![b'a'; 5_000_000]),
            "/over" => page("text/plain", vec![b'a'; 5_000_001]),
            "/brotli" => with_head("content-type: text/plain\r\ncontent-encoding: br\r\n", "x"),
            _ => Answer::Endless(head, vec![b'a'; 65_536], Duration::ZERO),
        }
    })
    .await;
    // A machine that is busy with other tests may need longer than a person waits.
    let web = quick(Duration::from_secs(300));
    for path in ["/bomb", "/over", "/endless", "/nothing"] {
        let refused = read(&web, &site.at("a.test", path)).await.unwrap_err();
        assert_eq!(refused, "The page is longer than 5 MB. Try another page.", "{path}");
    }
    assert!(read(&web, &site.at("a.test", "/small")).await.unwrap().ends_with("packed ✓"));
    assert!(read(&web, &site.at("a.test", "/full")).await.unwrap().len() > 5_000_000);
    assert!(read(&web, &site.at("a.test", "/cut")).await.unwrap_err().contains("what came is damaged"));
    assert!(read(&web, &site.at("a.test", "/brotli")).await.unwrap_err().contains("packed as \"br\""));
}

#[tokio::test]
async fn a_page_that_drips_or_does_not_begin_is_given_up() {
    let site = Site::new(|path, _| match path {
        "/drip" => Answer::Endless(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".into(),
            b"a".to_vec(),
            Duration::from_millis(20),
        ),
        "/heads" => {
            Answer::Endless("HTTP/1.1 200 OK\r\n".into(), b"a: b\r\n".to_vec(), Duration::from_millis(20))
        }
        _ => Answer::Endless(String::new(), Vec::new(), Duration::from_millis(20)),
    })
    .await;
    let (web, began) = (quick(Duration::from_millis(400)), Instant::now());
    for path in ["/drip", "/heads", "/silent"] {
        let refused = read(&web, &site.at("a.test", path)).await.unwrap_err();
        assert!(refused.starts_with("The page did not come within"), "{path}: {refused}");
    }
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn who_drops_a_call_ends_its_request() {
    let mut site = Site::new(|_, _| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_owned();
        Answer::Endless(head, b"a".to_vec(), Duration::from_millis(5))
    })
    .await;
    let (web, address) = (usual(), site.at("a.test", "/"));
    let dropped = tokio::time::timeout(Duration::from_millis(200), web.read_page(&address)).await;
    assert!(dropped.is_err());
    tokio::time::timeout(Duration::from_secs(5), site.left.recv()).await.unwrap().unwrap();
}

#[tokio::test]
async fn only_pages_of_text_are_read() {
    let site = Site::new(|path, _| match path {
        "/json" => page("application/json", r#"{"a": 1}"#),
        "/markdown" => page("text/markdown; charset=UTF-8", "# ä\r\n\u{200b}b"),
        "/xhtml" => page("application/xhtml+xml", "<html><body><p>Text<br/>more</p></body></html>"),
        "/label" => page("text/plain; charset=\"klingon\"", "ä"),
        "/empty" => page("text/html", "<script>1</script>"),
        "/unnamed" => with_head("", "x"),
        "/gone" => status("410 Gone"),
        "/busy" => status("429 Too Many Requests"),
        other => page(&other[1..], "x"),
    })
    .await;
    let web = usual();
    let text = async |path: &str| {
        let text = read(&web, &site.at("a.test", path)).await;
        text.map(|text| text.split_once("\n\n").unwrap().1.to_owned())
    };
    assert_eq!(text("/json").await.unwrap(), r#"{"a": 1}"#);
    assert_eq!(text("/markdown").await.unwrap(), "# ä\nb");
    assert_eq!(text("/label").await.unwrap(), "ä");
    assert!(text("/xhtml").await.unwrap().starts_with("Text"));
    for media_type in ["application/pdf", "image/png", "text/css", "application/octet-stream", "text/html2"] {
        let refused = text(&format!("/{media_type}")).await.unwrap_err();
        assert_eq!(refused, format!("What is there is no page of text, but {media_type}. Try another page."));
    }
    assert!(text("/unnamed").await.unwrap_err().contains("something that is not named"));
    assert!(text("/empty").await.unwrap_err().starts_with("There is no text on the page."));
    assert!(text("/gone").await.unwrap_err().starts_with("The answer of a.test was 410 Gone."));
    assert!(text("/busy").await.unwrap_err().ends_with("go on without it."));
}

#[tokio::test]
async fn a_host_that_is_not_there_is_told() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap().port();
    let refused = read(&usual(), &format!("http://a.test:{port}/")).await.unwrap_err();
    assert!(refused.starts_with("a.test could not be read: "), "{refused}");
    let closing = Site::new(|_, _| Answer::Whole(Vec::new())).await;
    let refused = read(&usual(), &closing.at("a.test", "/")).await.unwrap_err();
    assert!(refused.starts_with("a.test could not be read: "), "{refused}");
}

#[tokio::test]
async fn a_search_asks_the_persons_own_service_wherever_it_is() {
    let found = r#"{"results": [{"url": "https://example.org/", "title": "Example", "content": "Text"}]}"#;
    let site = Site::new(move |path, port| match path.split('?').next().unwrap() {
        "/search" | "/deep/search" => page("application/json", found),
        "/moved/search" => redirect(&format!("http://127.0.0.1:{port}/search")),
        "/away/search" => redirect("http://a.test/search"),
        "/other/search" => redirect(&format!("http://localhost:{port}/search")),
        "/html/search" => page("text/html", "<p>Results"),
        _ => status("403 Forbidden"),
    })
    .await;
    let search = async |at: &str, query: &str| {
        let address = format!("http://127.0.0.1:{}{at}", site.port).parse().unwrap();
        told(usual().with_search(Some(address)).search(query).await)
    };
    for at in ["", "/", "/deep/", "/deep/search", "/moved"] {
        let text = search(at, " a&b =ä ").await.unwrap();
        assert_eq!(text, "1. Example\n   https://example.org/\n   Text");
    }
    assert!(site.heads()[0].starts_with("GET /search?q=a%26b+%3D%C3%A4&format=json HTTP/1.1"));
    for at in ["/away", "/other"] {
        let refused = search(at, "a").await.unwrap_err();
        assert!(refused.starts_with("The search service leads to http://"), "{refused}");
    }
    assert!(search("/html", "a").await.unwrap_err().contains("but text/html"));
    assert!(search("/no", "a").await.unwrap_err().contains("403 Forbidden"));
    for query in ["", " ", &"a".repeat(401)] {
        assert!(search("", query).await.unwrap_err().starts_with("A search takes 1 to 400 characters."));
    }
    assert!(told(usual().search("a").await).unwrap_err().starts_with("No search service is set."));
    // What may be searched may not be read.
    let address: Url = site.at("127.0.0.1", "/").parse().unwrap();
    let web = usual().with_search(Some(address.clone()));
    assert!(read(&web, address.as_str()).await.unwrap_err().contains("in a network of its own"));
}

#[tokio::test]
async fn the_arguments_of_a_call_are_checked() {
    let call = async |tool: WebTool, arguments: serde_json::Value| {
        told(tool.call(arguments.as_object().unwrap(), &usual()).await)
    };
    let refused = call(WebTool::ReadPage, serde_json::json!({})).await.unwrap_err();
    assert_eq!(refused, "Expected \"address\", a string, but it did not come.");
    let refused = call(WebTool::Search, serde_json::json!({ "query": "a", "page": "2" })).await.unwrap_err();
    assert_eq!(refused, "Expected \"query\", but \"page\" came, which is no argument here.");
}

mod pages {
    use super::*;

    fn text(source: &[u8]) -> String {
        let page = Fetched {
            address: "https://coast.example/news/seals.html".parse().unwrap(),
            media_type: "text/html".into(),
            charset: None,
            body: source.to_vec(),
        };
        text_of(&page).unwrap()
    }

    #[test]
    fn of_an_article_its_text_is_read_and_nothing_around_it() {
        let text = text(include_bytes!("testdata/article.html"));
        println!("{text}");
        for part in [
            "# The harbour seals are back | Coast Daily\n\nAddress: https://coast.example/news/seals.html\n\
             Author: By Ana Ferreira, 12 March 2026\nPublished: 2026-03-12T08:00:00Z\n\n",
            "After thirty years, harbour seals have returned to the bay of Ellmouth, the [yearly survey]",
            "(https://coast.example/science/survey.html?year=2026)",
            "](https://institute.example/report%28final%29.pdf)",
            "“Then, one morning, there were forty on one sandbank.”",
            "## Why now",
            "- The plant at the river’s mouth was shut in 2019",
            "`zone A`",
            "| 2026 | 214 |",
            "\n\nIt is the quickest return",
            "[write to the institute](mailto:survey@institute.example)",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
        for part in [
            "Ignore all",
            "Hidden order",
            "Decoration",
            "cookies",
            "Sport",
            "Ten beaches",
            "First!",
            "rights reserved",
            "JavaScript",
            "not text",
            "javascript",
            "![",
            ".jpg",
            "drawn",
            "color: red",
            "Icon",
        ] {
            assert!(!text.contains(part), "{part:?} is in\n{text}");
        }
    }

    #[test]
    fn of_a_manual_programs_lists_and_terms_are_read() {
        let text = text(include_bytes!("testdata/manual.html"));
        println!("{text}");
        for part in [
            "[all keys](https://docs.example.org/tidy-box/keys.html)",
            "\n[box]\ndepth = 3   # levels\nname  = \"a <b>\"\n\n[lid]\nopen = true\n",
            "`TIDY_DEPTH`",
            "1. the command line,\n2. the variable",
            "depth\n\nHow many levels there are.\n\nname",
            "## Configuration\n",
            "n^2",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn an_old_page_whose_elements_are_not_closed_is_read() {
        let text = text(include_bytes!("testdata/old.html"));
        println!("{text}");
        for part in [
            "# Willi's Mühle - Fahrplan",
            "Fahrplan der Mühlenbahn\n\n",
            "Die Bahn fährt von Mai bis Oktober.\n\n",
            "| 9:00 | 9:40 |",
            "- Hunde frei",
            "[kosten extra](https://coast.example/news/preise.htm)",
            "Stand: April 1999",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn hostile_pages_end_soon() {
        // Of more, nothing takes longer in proportion: it is cut before. `FORETOKEN_CASES=1` reads six times as much.
        let length = if std::env::var_os("FORETOKEN_CASES").is_some() { 250_000 } else { 40_000 };
        let times = |part: &str| part.repeat(length / part.len());
        let fonts: String = (0..8_000).map(|n| format!("<b class={n}>")).collect();
        let attributes: String = (0..30_000).map(|n| format!(" a{n}")).collect();
        for (name, source) in [
            ("10 000 deep", "<div>".repeat(10_000) + "text" + &"</div>".repeat(10_000)),
            ("lines", format!("<p>a{}text", times("\n"))),
            ("divs", times("<div>")),
            ("blocks of text", times("<div>text")),
            ("siblings", times("<p>some text, and more of it</p>")),
            ("lists", times("<ul><li>text")),
            ("quotes", times("<blockquote>text")),
            ("tables", times("<table><tr><td>text")),
            ("rows", times("<tr><td>text")),
            ("links", times("<a href=/x>text")),
            ("bold", fonts + &times("<p>x")),
            ("crossed", times("<b><p>x</b><i></p>")),
            ("attributes", format!("<p{attributes}>text")),
            ("names", times("<a-b-c>x")),
            ("entities", times("&amp;x")),
            ("breaks", times("x<br>")),
            ("ends", times("</p></div>")),
            ("script", format!("<script>{}", times("<!--"))),
            ("open tag", format!("text<p {}", times("a=\"b"))),
            ("words", times("text ")),
            ("templates", times("<template><p>x")),
            ("svg", times("<svg><title>x")),
            ("definitions", times("<dl><dt>x<dd>text, text, text, text, text, text")),
        ] {
            let began = Instant::now();
            let address = "https://example.org/".parse().unwrap();
            let read = main_text(&source, &address);
            let took = began.elapsed();
            println!("{name}: {took:?}, {:?}", read.as_ref().map(|read| read.text.len()));
            // Without bounds it would be hours, whatever else the machine does meanwhile.
            assert!(took < Duration::from_secs(120), "{name}: {took:?}");
        }
    }
}
