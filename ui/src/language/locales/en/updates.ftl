### Newer versions of the app.

updates-title = Updates
updates-version = New version
    .state = New version: { $state }
updates-row-new = new
updates-row-waits = waits
updates-row-installing = is installed
updates-row-failed = has failed
updates-newest = This is the newest version.
updates-checking = Looking for a newer version…
updates-there = A newer version is there.
updates-downloaded = { $share } of { $size } is downloaded
updates-waiting = Downloaded. Waits for replies and downloads to end
updates-installing = Foretoken starts again in a moment
updates-install = Install and restart
    .again = Try again
updates-look-again = Try again
updates-later = Later
updates-cancel = Cancel
updates-close = Close
