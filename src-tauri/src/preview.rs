//! The frame in which the page shows diagrams, drawings and pages that a model has written: an origin of its own, with
//! one script of ours. It reaches neither the page nor the shell, runs nothing of what it shows and fetches nothing.

use std::borrow::Cow;

use tauri::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use tauri::http::{Request, Response, StatusCode};
use tauri::{AppHandle, Url};

/// Where the frame is: `foretoken-preview://localhost/`.
pub(crate) const SCHEME: &str = "foretoken-preview";

/// What the frame may do. It has no origin, even if it is opened by itself.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src foretoken-preview://localhost/preview.js; \
                      style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

/// The script, among the files of the page. The page itself does not load it.
const SCRIPT: &str = "preview/preview.js";

/// The frame before it is told what to show. What a page shows, it shows on white.
const DOCUMENT: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Preview</title>
<style>
:root { color-scheme: light dark; }
:root[data-kind="html"] { color-scheme: light; background: #ffffff; }
body { margin: 0; padding: 12px; overflow-wrap: anywhere; font: 15px/1.5 system-ui, sans-serif; }
pre { margin: 0; font: 12.5px/19px ui-monospace, monospace; white-space: pre-wrap; }
svg, img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
</style>
<body>
<script src="preview.js"></script>
"#;

/// What there is at an address of the frame.
pub(crate) fn answer(app: &AppHandle, request: &Request<Vec<u8>>) -> Response<Cow<'static, [u8]>> {
    match request.uri().path() {
        "/" | "" => respond(StatusCode::OK, "text/html; charset=utf-8", DOCUMENT.as_bytes().into()),
        "/preview.js" => match app.asset_resolver().get(SCRIPT.into()) {
            Some(script) => respond(StatusCode::OK, "text/javascript; charset=utf-8", script.bytes.into()),
            None => missing(),
        },
        _ => missing(),
    }
}

/// Whether an address is that of the frame.
pub(crate) fn is_frame(url: &Url) -> bool {
    url.scheme() == SCHEME && url.host_str() == Some("localhost") && url.path() == "/"
}

fn missing() -> Response<Cow<'static, [u8]>> {
    respond(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", b"There is nothing here.".into())
}

fn respond(status: StatusCode, kind: &'static str, body: Cow<'static, [u8]>) -> Response<Cow<'static, [u8]>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, tauri::http::HeaderValue::from_static(value));
    }
    response
}
