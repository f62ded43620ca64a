### Made by a machine; no native speaker has read it yet.

updates-title = アップデート
updates-version = 新しいバージョン
    .state = 新しいバージョン: { $state }
updates-row-new = 入手可能
updates-row-waits = 待機中
updates-row-installing = インストール中
updates-row-failed = 失敗
updates-newest = 最新バージョンです。
updates-checking = 新しいバージョンを確認中…
updates-there = 新しいバージョンがあります。
updates-downloaded = { $size } 中 { $share } をダウンロード済み
updates-waiting = ダウンロード済み。応答とダウンロードの終了を待っています
updates-installing = まもなく Foretoken が再起動します
updates-install = インストールして再起動
    .again = 再試行
updates-look-again = 再試行
updates-later = あとで
updates-cancel = キャンセル
updates-close = 閉じる
