//! The accent colour of the system, which only macOS lets people choose.

/// The accent that the person chose for the whole system, `#rrggbb` in sRGB; `None` with *Multicolour*, where each
/// program has its own.
#[cfg(target_os = "macos")]
pub(crate) fn accent() -> Option<String> {
    use objc2_app_kit::{NSColor, NSColorSpace};
    use objc2_foundation::{NSString, NSUserDefaults};

    // With Multicolour there is none, while the colour itself is blue.
    let key = NSString::from_str("AppleAccentColor");
    let _chosen = NSUserDefaults::standardUserDefaults().objectForKey(&key)?;
    let color = NSColor::controlAccentColor().colorUsingColorSpace(&NSColorSpace::sRGBColorSpace())?;
    let byte = |part: f64| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
    let [red, green, blue] = [color.redComponent(), color.greenComponent(), color.blueComponent()].map(byte);
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

/// Elsewhere there is none.
#[cfg(not(target_os = "macos"))]
pub(crate) fn accent() -> Option<String> {
    None
}
