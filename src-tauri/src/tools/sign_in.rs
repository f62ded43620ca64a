//! Signing in.
use super::Toolbox;
use crate::language::Texts;
use foretoken_protocol::ErrorReport;
use tauri::WebviewWindow;

impl Toolbox {
    pub(crate) async fn sign_in(
        &self,
        _window: &WebviewWindow,
        _texts: &Texts,
        _slug: String,
    ) -> Result<bool, ErrorReport> {
        Ok(false)
    }
    pub(crate) fn give_up_sign_in(&self, _slug: &str) {}
    pub(crate) async fn sign_out(&self, _slug: String) -> Result<(), ErrorReport> {
        Ok(())
    }
}
