//! Being asked by macOS before the app ends: by *Quit* in the Dock's menu, by a log-out, by another program. It asks
//! the delegate of `NSApplication`, which the window library makes and gives no method for that. This is the shell's
//! only unsafe code.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use block2::RcBlock;
use dispatch2::DispatchQueue;
use objc2::runtime::AnyObject;
use objc2::{MainThreadMarker, ffi, sel};
use objc2_app_kit::{NSApplication, NSApplicationTerminateReply};

use crate::quitting::Answer;

/// Why the system will not ask.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Only the main thread may touch the application.
    #[error("this is not the main thread")]
    NotMainThread,
    /// The window library has not set one.
    #[error("the application has no delegate")]
    NoDelegate,
    /// A newer window library answers by itself.
    #[error("{class} answers the system already")]
    Answered {
        /// The class of the delegate.
        class: String,
    },
}

/// Has the system ask `answer`, on the main thread, for as long as the process runs.
pub(crate) fn ask_before(answer: impl Fn() -> Answer + 'static) -> Result<(), Error> {
    let main_thread = MainThreadMarker::new().ok_or(Error::NotMainThread)?;
    let delegate = NSApplication::sharedApplication(main_thread).delegate().ok_or(Error::NoDelegate)?;
    let object: &AnyObject = (*delegate).as_ref();
    let class = object.class();
    let method =
        RcBlock::new(move |_delegate: NonNull<AnyObject>, _application: NonNull<AnyObject>| match answer() {
            Answer::Now => NSApplicationTerminateReply::TerminateNow,
            Answer::Later => NSApplicationTerminateReply::TerminateLater,
            Answer::Never => NSApplicationTerminateReply::TerminateCancel,
        });
    // SAFETY: the block takes the object and the one argument, and returns the `NSUInteger`, that `Q@:@` says. The
    // runtime keeps a copy of it, and adds methods to classes at any time; one that is there already it leaves alone.
    // AppKit calls it on the main thread alone, where `answer` was made, so that it need not be `Send`.
    let added = unsafe {
        let method = ffi::imp_implementationWithBlock(RcBlock::as_ptr(&method).cast());
        let class = std::ptr::from_ref(class).cast_mut();
        ffi::class_addMethod(class, sel!(applicationShouldTerminate:), method, c"Q@:@".as_ptr())
    };
    if added.as_bool() { Ok(()) } else { Err(Error::Answered { class: class.to_string() }) }
}

/// Tells the system, which was answered [`Answer::Later`], whether the app ends now.
pub(crate) fn reply(ends: bool) {
    // From the queue and not from an event of the window library, which would wait for itself if the app ended there.
    DispatchQueue::main().exec_async(move || {
        if let Some(main_thread) = MainThreadMarker::new() {
            NSApplication::sharedApplication(main_thread).replyToApplicationShouldTerminate(ends);
        }
    });
}
