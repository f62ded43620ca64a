//! Whether the machine computes slower than it can: what is measured then is not its speed.

/// Whether it is too hot for its full speed, or saves energy.
#[cfg(target_os = "macos")]
pub(crate) fn is_strained() -> bool {
    use objc2_foundation::{NSProcessInfo, NSProcessInfoThermalState};
    let process = NSProcessInfo::processInfo();
    // From this state on the system slows down what runs.
    process.isLowPowerModeEnabled() || process.thermalState().0 >= NSProcessInfoThermalState::Serious.0
}

/// Elsewhere nobody says.
#[cfg(not(target_os = "macos"))]
pub(crate) fn is_strained() -> bool {
    false
}
