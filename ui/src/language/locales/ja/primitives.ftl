### Made by a machine; no native speaker has read it yet.

-here = { PLATFORM() ->
    [mac] このMac
   *[other] このコンピュータ
}

## Numbers with their units

word-percent = { $share }%
word-minutes-seconds = { $minutes } 分 { $seconds } 秒
word-seconds = { $seconds } 秒
word-milliseconds = { $milliseconds } ミリ秒
word-parameters = { $count }パラメータ

## Days

word-weekday = { DATETIME($date, weekday: "long") }
word-day = { DATETIME($date, day: "numeric", month: "short") }
word-day-and-year = { DATETIME($date, day: "numeric", month: "short", year: "numeric") }
word-month = { DATETIME($date, month: "long") }
word-month-and-year = { DATETIME($date, month: "long", year: "numeric") }
word-today = 今日
word-yesterday = 昨日
word-last-seven-days = 過去 7 日間

## What stands between facts in a row, and between sentences

word-comma = 、
word-gap = { "" }

## Speed and drafts

word-per-pass = 1 パスあたり { $tokens }
word-no-drafts = ドラフトなし
word-accepted = 採用 { $share }
word-gain = 通常の { $factor } 倍
word-what-drafts-are = ドラフトは、モデルが先読みした単語です。モデルはその後 1 回のパスですべてを確認し、正しいものだけを残します。予測が外れても少し時間がかかるだけで、応答の質が下がることはありません。
word-drafts-made = ドラフト: { $makers }
word-drafts-by-head = MTP ヘッド { $count }
word-drafts-by-dflash = DFlash { $count }
word-drafts-from-text = テキストから { $count }

word-drafting-auto = 自動
word-drafting-off = オフ
word-drafting-look-up = ルックアップ
word-drafting-dflash = DFlash、{ $depth }
word-drafts-off = 手動
    .why = ドラフトはご自身でオフにしたため、使われません。
word-drafts-not-paying = ここでは効果なし
word-no-draft-model = ドラフトモデルなし
    .why = このモデルと一緒に読み込まれたドラフトモデルはありません。
word-head-absent = MTP ヘッドなし
    .why = このモデルには MTP ヘッドがありません。
    .about = MTP ヘッドはありません。
word-head-stripped = ヘッド削除済み
    .why = MTP ヘッドは、このモデルのコピーが変換されたときに削除されました。
    .about = MTP ヘッドは、このコピーが変換されたときに削除されました。
word-head-unusable = ヘッド使用不可
    .why = このモデルの MTP ヘッドは使えません。理由はモデルの選択画面に表示されます。
    .about = MTP ヘッドはありますが、使えません。
word-guesses-head = 「自動」では MTP ヘッドで先読みします。
word-guesses-text = 「自動」と「ルックアップ」では、これまでのテキストから先読みします。
word-guesses-text-alone = 先読みに使われるのは、これまでのテキストだけです。
word-guesses-draft-model = 「自動」と「DFlash」では、ドラフトモデルで先読みします。
word-guesses-of-model = 先読みに使われるのは、これまでのテキストだけです。
    .drafted = 先読みには、ドラフトモデルか、これまでのテキストが使われます。
word-mtp-head = MTP ヘッド: テンソル { $tensors } 個、{ $format }
word-draft-model = ドラフトモデル: { $name }、最大 { $most } トークン先まで先読み、{ $size }

word-note-switched-off = ドラフトはオフでした。
word-note-no-draft-model = このモデルと一緒に読み込まれたドラフトモデルはありません。
word-note-no-head = このモデルには、ドラフトを作る MTP ヘッドがありません。
word-note-lookup-little = 応答のうち、それまでのテキストにあった部分はわずかでした。
word-note-lookup-unpaid = 応答の多くはそれまでのテキストにありましたが、ドラフトにしても効果はありませんでした。
word-note-unpaid = ここではドラフトの効果がありません: ドラフト { $drafts } 個の作成と確認には、ドラフトなしのパスの { $longer } 倍の時間がかかり、得られるトークンは { $more } 倍です。
word-note-others-righter = ドラフトを控えました: 同時に書かれている応答のドラフトの方がよく当たります。
word-note-others-slower = ドラフトを控えました: 同時に書かれている応答が遅くなるためです。

## How tokens are drawn

word-greedy = 貪欲法
word-temperature = 温度 { $temperature }

## Controls

word-copied = コピーしました
word-not-copied = コピーできません
word-number-needed = 数値を入力してください。
word-no-number = 「{ $text }」は数値ではありません。
word-whole-numbers = 整数のみです。
word-at-least = { $least } 以上にしてください。
word-at-most = { $most } 以下にしてください。
word-close = 閉じる
    .title = 閉じる（Esc）
word-show-folder = { PLATFORM() ->
    [mac] Finder に表示
   *[other] フォルダに表示
}

## Names of keys

word-key-control = Ctrl
word-key-shift = Shift
word-key-page-up = Page Up
word-key-page-down = Page Down
