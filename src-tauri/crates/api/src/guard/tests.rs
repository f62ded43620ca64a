use proptest::prelude::*;

use super::*;

const PORT: u16 = 3673;

fn guard(token: Option<&str>) -> Guard {
    let token = token.map(|token| Token::parse(token).unwrap());
    Guard::new(PORT, Access { token, origins: vec!["app://obsidian.md".into()], network: false })
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    if !headers.contains_key(HOST) {
        headers.insert(HOST, HeaderValue::from_static("localhost:3673"));
    }
    headers
}

/// What comes of a request: its status, 200 if it gets in.
fn status(guard: &Guard, method: &str, target: &str, pairs: &[(&'static str, &str)], now: Instant) -> u16 {
    let (method, uri) = (method.parse().unwrap(), target.parse().unwrap());
    let admitted = guard.admit(&method, &uri, &headers(pairs), MOST_BODY, now);
    admitted.map_or_else(|refused| refused.error.status().as_u16(), |_| 200)
}

fn get(guard: &Guard, pairs: &[(&'static str, &str)]) -> u16 {
    status(guard, "GET", "/v1/models", pairs, Instant::now())
}

#[test]
fn only_names_of_this_machine_get_in() {
    let guard = guard(None);
    for (host, expected) in [
        ("localhost:3673", 200),
        ("LocalHost:3673", 200),
        ("127.0.0.1:3673", 200),
        ("[::1]:3673", 200),
        ("", 400),
        ("localhost", 403),
        ("localhost:80", 403),
        ("localhost:3674", 403),
        ("localhost:", 403),
        ("localhost:+3673", 403),
        ("localhost:03673", 403),
        ("localhost.evil.example:3673", 403),
        ("evil.example:3673", 403),
        ("127.0.0.1.nip.io:3673", 403),
        ("192.168.1.5:3673", 403),
        ("localhost:3673:3673", 403),
        ("user@localhost:3673", 403),
    ] {
        assert_eq!(get(&guard, &[("host", host)]), expected, "{host}");
    }
    assert_eq!(get(&guard, &[("host", "localhost:3673"), ("host", "localhost:3673")]), 400);
    let (method, uri) = (Method::GET, Uri::from_static("/v1/models"));
    let refused = guard.admit(&method, &uri, &HeaderMap::new(), MOST_BODY, Instant::now()).unwrap_err();
    assert_eq!(refused.error, ApiError::NoHost);
    let target = |target| status(&guard, "GET", target, &[], Instant::now());
    assert_eq!(target("http://localhost:3673/v1/models"), 200);
    assert_eq!(target("http://evil.example:3673/v1/models"), 403);
    assert_eq!(target("http://127.0.0.1:3673/v1/models"), 403, "another name than the header's");
    let at_80 = Guard::new(80, Access::default());
    assert_eq!(get(&at_80, &[("host", "localhost")]), 200);
}

#[test]
fn other_devices_come_by_an_address_or_by_the_name_of_this_machine_alone() {
    let guard = Guard::new(PORT, Access { network: true, ..Access::default() });
    let own = network_name().map(|name| (format!("{name}:3673"), 200));
    for (host, expected) in [
        ("localhost:3673", 200),
        ("192.168.1.5:3673", 200),
        ("[fe80::1]:3673", 200),
        ("192.168.1.5", 403),
        ("192.168.1.5:80", 403),
        ("192.168.1.5.nip.io:3673", 403),
        ("fe80::1:3673", 403),
        ("[localhost]:3673", 403),
        ("other.local:3673", 403),
        ("evil.example:3673", 403),
    ]
    .into_iter()
    .map(|(host, expected)| (host.to_owned(), expected))
    .chain(own)
    {
        assert_eq!(get(&guard, &[("host", &host)]), expected, "{host}");
    }
    let page = [("host", "192.168.1.5:3673"), ("origin", "http://192.168.1.5:3673")];
    assert_eq!(get(&guard, &page), 403, "no page of another device either");
}

#[test]
fn pages_get_in_only_from_the_list() {
    let guard = guard(None);
    for (pairs, expected) in [
        (vec![("origin", "app://obsidian.md")], 200),
        (vec![("origin", "APP://obsidian.md")], 200),
        (vec![("origin", "app://obsidian.md"), ("sec-fetch-site", "cross-site")], 200),
        (vec![("origin", "app://obsidian.md.evil")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", "")], 403),
        (vec![("origin", "http://localhost:3673")], 403),
        (vec![("origin", "app://obsidian.md"), ("origin", "https://evil.example")], 403),
        (vec![("sec-fetch-site", "cross-site")], 403),
        (vec![("sec-fetch-site", "same-site")], 403),
        (vec![("sec-fetch-site", "none")], 200),
        (vec![("sec-fetch-site", "same-origin")], 200),
    ] {
        assert_eq!(get(&guard, &pairs), expected, "{pairs:?}");
    }
    let (method, uri) = (Method::GET, Uri::from_static("/v1/models"));
    let listed = headers(&[("origin", "app://obsidian.md")]);
    let Ok(Admitted::Request { origin }) = guard.admit(&method, &uri, &listed, MOST_BODY, Instant::now())
    else {
        panic!()
    };
    assert_eq!(cors(origin.unwrap())[ACCESS_CONTROL_ALLOW_ORIGIN], "app://obsidian.md");
    for (listed, origin, is_in) in [
        ("vscode-webview://*", "vscode-webview://1a2b3c", true),
        ("vscode-webview://*", "VSCODE-webview://1a2b3c", true),
        ("vscode-webview://*", "vscode-webview://", false),
        ("vscode-webview://*", "vscode-webviews://1a2b3c", false),
        ("vscode-webview://*", "https://vscode-webview", false),
        ("vscode-webview*", "vscode-webview://1a2b3c", false),
        ("https://*", "https://evil.example", false),
        ("HTTP://*", "http://evil.example", false),
        ("*", "https://evil.example", false),
        ("://*", "://x", false),
    ] {
        let access = Access { origins: vec![listed.into()], ..Access::default() };
        let status = get(&Guard::new(PORT, access), &[("origin", origin)]);
        assert_eq!(status == 200, is_in, "{listed} {origin}");
    }
    let none = headers(&[]);
    let Ok(Admitted::Request { origin }) = guard.admit(&method, &uri, &none, MOST_BODY, Instant::now())
    else {
        panic!()
    };
    assert_eq!(origin, None);
}

#[test]
fn a_preflight_is_answered_for_pages_of_the_list_without_a_token() {
    let guard = guard(Some("secret"));
    let (method, uri) = (Method::OPTIONS, Uri::from_static("/v1/chat/completions"));
    let asked = [
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, Anthropic-Version, x-evil"),
        ("access-control-request-private-network", "true"),
    ];
    let listed = headers(&[&asked[..], &[("origin", "app://obsidian.md")]].concat());
    let Ok(Admitted::Preflight(answer)) = guard.admit(&method, &uri, &listed, MOST_BODY, Instant::now())
    else {
        panic!()
    };
    assert_eq!(answer[ACCESS_CONTROL_ALLOW_ORIGIN], "app://obsidian.md");
    let sent = "authorization, content-type, x-api-key, anthropic-version";
    assert_eq!(answer[ACCESS_CONTROL_ALLOW_HEADERS], sent);
    assert_eq!(answer[PRIVATE_NETWORK], "true");
    let other = headers(&[&asked[..], &[("origin", "https://evil.example")]].concat());
    let refused = guard.admit(&method, &uri, &other, MOST_BODY, Instant::now()).unwrap_err();
    assert_eq!(refused.error.status(), 403);
    // Without a page it is a request like others.
    assert_eq!(status(&guard, "OPTIONS", "/v1/chat/completions", &asked, Instant::now()), 401);
}

#[test]
fn the_token_is_needed_in_one_of_its_headers() {
    let guard = guard(Some("secret"));
    for (pairs, expected) in [
        (vec![("authorization", "Bearer secret")], 200),
        (vec![("authorization", "bearer secret")], 200),
        (vec![("x-api-key", "secret")], 200),
        (vec![("authorization", "Bearer wrong"), ("x-api-key", "secret")], 200),
        (vec![], 401),
        (vec![("authorization", "secret")], 401),
        (vec![("authorization", "Basic secret")], 401),
        (vec![("authorization", "Bearer ")], 401),
        (vec![("x-api-key", "")], 401),
        (vec![("x-api-key", "secre")], 401),
        (vec![("x-api-key", "secrets")], 401),
    ] {
        assert_eq!(get(&guard, &pairs), expected, "{pairs:?}");
    }
    for path in ["/", "/health"] {
        assert_eq!(status(&guard, "GET", path, &[], Instant::now()), 200);
        assert_eq!(status(&guard, "HEAD", path, &[], Instant::now()), 200);
        assert_eq!(status(&guard, "POST", path, &[], Instant::now()), 401);
    }
}

#[test]
fn many_wrong_tokens_are_told_to_come_later_and_the_right_one_gets_in() {
    let guard = guard(Some("secret"));
    let begin = Instant::now();
    let (method, uri) = (Method::GET, Uri::from_static("/v1/models"));
    let wrong =
        |at| guard.admit(&method, &uri, &headers(&[("x-api-key", "wrong")]), MOST_BODY, at).unwrap_err();
    for _ in 0..20 {
        let refused = wrong(begin);
        assert_eq!((refused.error, refused.delay), (ApiError::Unauthorized, true));
    }
    let late = begin + Duration::from_secs(10);
    let refused = wrong(late);
    assert_eq!((refused.error, refused.delay), (ApiError::TooManyWrongTokens { seconds: 50 }, true));
    assert_eq!(status(&guard, "GET", "/v1/models", &[("x-api-key", "secret")], late), 200);
    assert_eq!(status(&guard, "GET", "/v1/models", &[], late), 401, "none is not a wrong one");
    assert_eq!(wrong(begin + Duration::from_secs(60)).error, ApiError::Unauthorized);
    let page = headers(&[("origin", "app://obsidian.md"), ("x-api-key", "wrong")]);
    let refused = guard.admit(&method, &uri, &page, MOST_BODY, late).unwrap_err();
    assert_eq!(refused.origin.unwrap(), "app://obsidian.md", "the page can read why");
}

#[test]
fn only_json_gets_in_as_a_body() {
    let guard = guard(None);
    let post = |pairs: &[(&'static str, &str)]| status(&guard, "POST", "/v1/x", pairs, Instant::now());
    for (pairs, expected) in [
        (vec![("content-type", "application/json")], 200),
        (vec![("content-type", "Application/JSON; charset=utf-8")], 200),
        (vec![("content-type", "application/json"), ("content-encoding", "identity")], 200),
        (vec![("content-type", "application/json"), ("content-length", "33554432")], 200),
        (vec![], 415),
        (vec![("content-type", "text/plain")], 415),
        (vec![("content-type", "application/x-www-form-urlencoded")], 415),
        (vec![("content-type", "text/plain; application/json")], 415),
        (vec![("content-type", "application/json"), ("content-encoding", "gzip")], 415),
        (vec![("content-type", "application/json"), ("content-type", "text/plain")], 415),
        (
            vec![
                ("content-type", "application/json"),
                ("content-encoding", "identity"),
                ("content-encoding", "gzip"),
            ],
            415,
        ),
        (vec![("content-type", "application/json"), ("content-length", "33554433")], 413),
    ] {
        assert_eq!(post(&pairs), expected, "{pairs:?}");
    }
}

#[test]
fn depth_is_counted_outside_of_texts() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert!(!too_deep(&nested(64)));
    assert!(too_deep(&nested(65)));
    assert!(!too_deep(&b"[]".repeat(1000)));
    let text = [&b"{\"a\\\"\":\""[..], &b"[{".repeat(1000), b"\\\\\"}"].concat();
    assert!(!too_deep(&text));
    let behind = [&b"[\"\\\\\","[..], &nested(64)].concat();
    assert!(too_deep(&behind), "the text has ended");
}

/// Values of headers: any bytes, and those that count.
fn header_value() -> impl Strategy<Value = Vec<u8>> {
    const KNOWN: [&str; 6] = [
        "localhost:3673",
        "app://obsidian.md",
        "Bearer wrong",
        "application/json",
        "cross-site",
        "anthropic-beta,,x",
    ];
    prop_oneof![
        prop::collection::vec(0x20_u8..=0xfe, 0..20),
        prop::sample::select(&KNOWN[..]).prop_map(|text| text.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn without_the_token_no_head_gets_in(
        method in prop_oneof![Just("GET".to_owned()), Just("POST".to_owned()), Just("OPTIONS".to_owned()), "[A-Z]{1,7}"],
        path in "/[a-z/]{0,9}",
        here in any::<bool>(),
        pairs in prop::collection::vec(
            (
                prop::sample::select(&[
                    "host", "origin", "authorization", "x-api-key", "content-type", "content-length",
                    "content-encoding", "sec-fetch-site", "access-control-request-method",
                    "access-control-request-headers",
                ][..]),
                header_value(),
            ),
            0..8,
        ),
    ) {
        let mut headers = HeaderMap::new();
        if here {
            headers.insert(HOST, HeaderValue::from_static("localhost:3673"));
        }
        for (name, value) in pairs {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        let uri: Uri = path.parse().unwrap();
        let method: Method = method.parse().unwrap();
        let admitted = guard(Some("secret")).admit(&method, &uri, &headers, MOST_BODY, Instant::now());
        let is_open = path == "/" || path == "/health";
        let got_in = matches!(admitted, Ok(Admitted::Request { .. }));
        prop_assert!(is_open || !got_in);
    }
}
