//! Other Macs: pairing, lending, and models that are spread over them.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, LendingSettings, ModelInfo, SpreadOutlook};
use tauri::State;

use crate::app::App;

/// Looks from now on which Macs are there, or not any more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn look_for_macs(app: State<'_, Arc<App>>, look: bool) -> Result<(), ErrorReport> {
    app.macs.look(look);
    Ok(())
}

/// Begins to pair with a Mac that lends itself. What comes of it is told.
#[tauri::command]
#[specta::specta]
pub(crate) async fn pair_with_mac(app: State<'_, Arc<App>>, address: String) -> Result<(), ErrorReport> {
    app.macs.pair_with(&address)
}

/// Lets other Macs pair with this one for two minutes.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_for_pairing(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.macs.open_for_pairing()
}

/// Ends a pairing that is under way, and forgets what became of the last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn close_pairing(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.macs.close_pairing();
    Ok(())
}

/// Says whether both Macs show the same digits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn answer_pairing(app: State<'_, Arc<App>>, same: bool) -> Result<(), ErrorReport> {
    app.macs.answer_pairing(same)
}

/// Takes over on what terms this Mac lends itself. What runs on others ends.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_lending(
    app: State<'_, Arc<App>>,
    settings: LendingSettings,
) -> Result<(), ErrorReport> {
    app.macs.set_lending(settings).await
}

/// Ends what another Mac computes here.
#[tauri::command]
#[specta::specta]
pub(crate) async fn take_mac_back(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.macs.take_back();
    Ok(())
}

/// Removes layers of a model that another Mac has given to this one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_layers(app: State<'_, Arc<App>>, id: String) -> Result<(), ErrorReport> {
    app.macs.remove_layers(id).await
}

/// Stops giving other Macs the layers that they are to compute. The model is not loaded then.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_giving(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.macs.stop_giving();
    Ok(())
}

/// Forgets a paired Mac. What runs with it ends, and neither may use the other.
#[tauri::command]
#[specta::specta]
pub(crate) async fn forget_mac(app: State<'_, Arc<App>>, key: String) -> Result<(), ErrorReport> {
    app.macs.forget(&key).await
}

/// Sets whether a paired Mac may use this one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn allow_mac(
    app: State<'_, Arc<App>>,
    key: String,
    borrows: bool,
) -> Result<(), ErrorReport> {
    app.macs.allow(&key, borrows).await
}

/// Says where a paired Mac is.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_mac_address(
    app: State<'_, Arc<App>>,
    key: String,
    address: String,
) -> Result<(), ErrorReport> {
    app.macs.set_address(&key, &address).await
}

/// Measures how fast the way to a paired Mac is.
#[tauri::command]
#[specta::specta]
pub(crate) async fn test_mac_link(app: State<'_, Arc<App>>, key: String) -> Result<(), ErrorReport> {
    app.macs.test_link(&key).await
}

/// What paired Macs could do for a model of this one. They are asked, which may take seconds.
#[tauri::command]
#[specta::specta]
pub(crate) async fn spread_outlook(
    app: State<'_, Arc<App>>,
    path: String,
) -> Result<SpreadOutlook, ErrorReport> {
    let folder = app.models.folder(&path)?;
    app.models.spread_outlook(&folder.to_string_lossy()).await
}

/// Loads a model over this Mac and others, and selects it: as the outlook says, or with so many layers on each of its
/// Macs. From then on it is loaded so. If it does not load, the model before it is loaded again and stays selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn load_spread(
    app: State<'_, Arc<App>>,
    path: String,
    layers: Option<Vec<u32>>,
) -> Result<ModelInfo, ErrorReport> {
    let folder = app.models.folder(&path)?;
    app.models.load_spread(&folder.to_string_lossy(), layers).await
}

/// Loads a model on this Mac alone, now and from then on, and selects it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn load_alone(app: State<'_, Arc<App>>, path: String) -> Result<ModelInfo, ErrorReport> {
    let folder = app.models.folder(&path)?;
    app.models.load_alone(&folder.to_string_lossy()).await
}
