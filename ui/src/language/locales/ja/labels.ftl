### Made by a machine; no native speaker has read it yet.

## Whether a model fits

model-fit-well = 余裕あり
    .fact = 余裕あり
    .sentence = { $context } トークンのコンテキストで { $need } 必要です。{ -here }では { $available } 使えます。
model-fit-tight = ぎりぎり
    .fact = ぎりぎり
    .sentence = { $context } トークンのコンテキストで { $need } 必要です。{ -here }では { $available } 使えます。使用中は、ほかの大きなアプリを閉じてください。
model-fit-too-big = 大きすぎ
    .fact = 大きすぎ
    .numbers = 大きすぎ: { $needs } 必要、{ -here }では { $gives }
    .sentence = { $context } トークンのコンテキストで { $need } 必要ですが、{ -here }では { $available } しか使えません。
model-fit-unknown = 動くかどうか不明
model-missing = { $need } 必要: { -here }では { $missing } 足りません
model-recommended = 余裕を持って動く中で最も高性能、残り { $spare }

## What a chat of some length holds

model-chat-questions = 数回の質問と応答
model-chat-document = 長いチャット、または文書 1 つ
model-chat-documents = いくつかの文書
model-chat-short-book = 短い本 1 冊
model-chat-book = 本 1 冊
model-chat-longest = モデルが対応する最大の長さ

## What a model is

model-head-with = MTP ヘッドあり
    .fact = MTP ヘッドあり
model-head-none = MTP ヘッドなし
    .fact = MTP ヘッドなし
model-head-unknown = MTP ヘッドの有無は不明
model-head-stripped = MTP ヘッド: 宣言されていますが、取り除かれています
model-head-unusable = MTP ヘッド: ありますが、使えません
model-head-absent = MTP ヘッド: なし
model-mtp-stripped = MTP 削除済み
model-mtp-unusable = MTP 使用不可
model-mtp-absent = MTP なし
model-guesses = 最大 { $most } トークン先読み
model-guesses-head = 最大 { $most } トークン先読み（MTP ヘッド）
model-sees = 画像に対応
model-sees-no-memory = 画像に使うメモリが不足
model-made-for = { $model } 用
model-parameters-active = { $all }、うち { $active }がアクティブ
model-download-converted = { $size }、4-bit では { $converted }
model-choice-offline = ディスクが接続されていません
model-choice-broken = 読み込めません
model-choice-built-in = アプリに付属
model-draft-size = 約 { $size }

## What was measured of its speed

model-tuned = 測定済み
model-tuned-plain = ドラフトなしが最速: { $speed } tok/s。ここでは通常のデコードより速い方法はありません。
model-tuned-drafts = ドラフト { $drafts } 個の先読みが最速: { $speed } tok/s、通常の { $gain } 倍
model-tuned-drafts-alone = ドラフト { $drafts } 個の先読みが最速: { $speed } tok/s
model-tuned-vocabulary = { $tuned }。ドラフトは { $vocabulary } トークンのうちよく使われる { $tokens } トークンだけから作られます: { $faster } 速く、採用率は { $before } に対して { $now }

model-speed-plain = 通常 { $plain }
model-speed-both = 通常 { $plain }、先読み { $guessing }
model-speed-about-plain = 通常 約 { $plain }
model-speed-about-guessing = 先読み 約 { $guessing }
model-speed-range = { $low } から { $high }
model-speed-measured = 実測速度 { $speed } tok/s
    .spoken = { -here }での実測: 通常 { $plain }、先読み { $guessing }、単位はトークン毎秒。
    .spoken-plain = { -here }での実測: 通常 { $plain }、単位はトークン毎秒。
model-speed-expected = 予想速度 { $speed } tok/s
    .spoken = { -here }での予想（未測定）: 通常 { $plain }、先読み { $guessing }、単位はトークン毎秒。
    .spoken-plain = { -here }での予想（未測定）: 通常 { $plain }、単位はトークン毎秒。
model-legend =
    .plain = 通常
    .guessing = 先読み、tok/s
    .expected = { -here }での予想、tok/s

## When it was used, and where it is

model-used = 前回の使用: { $date }
model-used-today = 今日使用
model-used-yesterday = 昨日使用
model-used-never = 未使用

model-place-library = ライブラリ内
model-place-cache = Hugging Face のキャッシュ
model-place-studio = LM Studio
model-place-folders = 開いたフォルダ
model-place-others = その他のモデル

model-offline = オフライン: { $path } のあるディスクを接続してください
model-offline-library = オフライン: ライブラリのディスクを接続すると元に戻ります
model-library-away = ライブラリのディスクが接続されていません
model-library-offline = ライブラリのディスクが接続されていません。
model-disk-away = 「{ $disk }」が接続されていません
model-comes-back = { $models ->
    [0] ライブラリはこのディスクにあり、接続すると元に戻ります。
   *[other] このディスクに { $models } 個のモデルがあります。接続すると元に戻ります。
}

## Why it cannot be deleted

model-kept-in-use = 使用中です
model-kept-built-in = アプリの一部です
model-kept-cache = Hugging Face のキャッシュのものです
model-kept-studio = LM Studio のものです

## What a job does

model-stage-queued = 順番待ち
model-stage-held-chat = チャットの終了待ち
model-stage-held-memory = メモリの空き待ち
model-stage-downloading = ダウンロード中
model-stage-paused = 一時停止中
model-stage-waiting = 接続なし
model-stage-verifying = ファイルを確認中
model-stage-probing = 各部分への影響を測定中
model-stage-converting = 変換中
model-stage-comparing = 元のモデルと比較中
model-stage-tuning = 速度を測定中
model-stage-moving = 移動中
model-stage-failed = 中断
model-stage-done = 準備完了
model-job-compared = 比較済み
model-job-measured = 測定済み

model-held-chat = 応答の生成もモデルの読み込みも行われていないときに、速度を測定します。
model-held-memory = 読み込み済みのモデルと合わせて { $need } 必要ですが、{ -here }では { $available } 使えます。チャットに小さいモデルを選ぶと、自動で再開します。

## How far it is

model-progress = { $done } / { $total }
model-bytes-per-second = { $bytes }/秒
model-left-moment = 残り数秒
model-left-seconds = 残り { $seconds } 秒
model-left-minutes = 残り { $minutes } 分
model-left-hours = 残り { $hours } 時間 { $minutes } 分
model-left-days = 残り 1 日以上

## What follows, after what is done now

model-then = その後 { $done }
model-then-checked = 確認
model-then-downloaded = ダウンロード
model-then-measured = 測定
model-then-compared = 比較
model-then-converted = 変換
model-then-moved = 移動

## That it has ended, for those who hear it

model-ended = { $name } の準備ができました。
model-ended-measured = { $name } の測定が終わりました。
model-ended-compared = { $name } と元のモデルの比較が終わりました。
model-ended-moved = モデルライブラリを移動しました。
model-ended-failed = { $name } は中断しました。{ $why }

## What follows a download, and what it needs

model-after-converted = ファイルを確認し、速度を測定します。
model-after-published = ファイルを確認し、公開されたままの形で保存します。その後、速度を測定します。
model-after-conversion = ファイルを確認し、モデルを { $bits }-bit に変換して、速度を測定します。その後、元のファイルは削除されます。
    .keeping = ファイルを確認し、モデルを { $bits }-bit に変換して、速度を測定します。元のファイルも残ります。
model-after-conversion-sized = ファイルを確認し、モデルを { $bits }-bit（約 { $size }）に変換して、速度を測定します。その後、元のファイルは削除されます。
    .keeping = ファイルを確認し、モデルを { $bits }-bit（約 { $size }）に変換して、速度を測定します。元のファイルも残ります。
model-space-conversion = 変換には、空き容量が約 { $missing } 足りません。
model-space-download = ダウンロードには { $size } 必要ですが、空きは { $free } です。空き容量を増やすか、ライブラリを移動してください。
model-gone = { $repo } は Hub からなくなりました。
    .hint = 手元のモデルは引き続き使えます。

## The models of other programs

model-elsewhere-studio = LM Studio のフォルダにモデルが { $models } 個
model-elsewhere-cache = Hugging Face のキャッシュにモデルが { $models } 個
model-elsewhere-both = LM Studio のフォルダにモデルが { $studio } 個、Hugging Face のキャッシュに { $cache } 個
model-elsewhere-one-studio = LM Studio のフォルダに { $name }
model-elsewhere-one-cache = Hugging Face のキャッシュに { $name }

## For which machine a model is offered. $sound matters in English alone.

model-for-machine = { -here }におすすめ:
    .chip = { -here }（{ $sound ->
       *[any] { $chip }
    }）におすすめ:
    .memory = { -here }（{ $memory }）におすすめ:
    .both = { -here }（{ $sound ->
       *[any] { $chip }
    }、{ $memory }）におすすめ:

## A conversion

model-convert = 変換
model-convert-sheet = { $name } を変換
model-convert-why = 重みあたりのビット数が少ないほど、使うメモリが減り、応答が速くなります。MTP ヘッドは残ります。
model-convert-then = 変換したモデルはライブラリに入り、速度が測定されます。
    .keeping = 変換したモデルはライブラリに入り、速度が測定されます。元のモデルはそのまま残ります。
model-convert-later = 測定が終わると、サイズを選べます。
model-convert-measuring = { $stage }: { $share }
model-convert-looking = 測定結果を探しています…
model-convert-here = このサイズのモデルはすでにあります。
model-conversion = 変換
model-convert-4-bit = おすすめ。小さくて速く、劣化はわずか
model-convert-8-bit = サイズは 2 倍、劣化はほぼなし
model-convert-none = なし
    .words = 公開されたまま: 最も大きく、最も遅い
model-convert-quality = 品質で選ぶ
    .words = 各部分に必要なビット数を割り当てます。どこまで近づけるかを選べます
model-keep-original = 変換後も元のファイルを残す

## What is measured before a size is chosen

model-measure = 測定
model-measure-again = もう一度測定…
model-measured-on = 測定に使ったテキスト: { $text }。
model-measure-first = まず測定
    .words = まず、ビット数を減らすとモデルの各部分がどれだけ劣化するかを測定します。その後サイズを選ぶと、各部分に必要なビット数が割り当てられます。
    .takes = 測定と変換には{ $time }、メモリ { $memory }、ディスク { $disk } が必要です。その間もチャットを続けられ、一時停止もできます。
model-measured-text = テキスト: <name>{ $text }</name>
    .choose = ファイルを選択…
    .own = 付属のテキストを使用
    .which = 普段使うテキストに近いものを選ぶと、用途により合った結果になります。標準テキスト、Markdown、または 1 行ごとの JSON が使えます。
    .private = ファイルは{ -here }の中で読み込まれ、コピーも送信もされません。変換が終わるまで移動しないでください。
model-about-minutes = { $minutes ->
    [0] 1 分未満
   *[other] 約 { $minutes } 分
}
model-about-hours = 約 { $hours } 時間
model-text-own = 付属のテキスト
model-text-replies = 元のモデルの応答
model-text-file = あなたのファイル

## A size to choose, and how close it is to the original

model-slider = サイズと品質
model-size = { $size }、重みあたり { $bits } ビット
model-size-here = すでにあります: { $name }
model-memory-left = { -here }で使える { $available } のうち残り { $left }
model-memory-missing = { -here }では { $missing } 足りません
model-speed-beside-4-bit = 4-bit の約 { $factor } 倍の速度（予想）
model-measured-closeness = 測定値: 100 語のうち{ $differing ->
    [0] 1 語未満
   *[other] 約 { $differing } 語
}が元のモデルと異なります（KL ダイバージェンス { $kl }）
model-expected-closeness = 予想（未測定）。変換後に元のモデルと比較されます
model-then-said = { $before }。{ $next }
model-closeness-small = 小さめ
model-closeness-balanced = バランス
model-closeness-close = 元のモデルに近い
model-closeness-none = 「小さめ」より遠い

## The evidence of how close a model is

model-quality = 品質
model-evidence = 100 回中 { $often } 回、元のモデルと同じ次のトークンを選びます。サイズの選択に使っていない { $tokens } トークンで測定しました。
model-closeness = KL ダイバージェンス トークンあたり { $kl } ナット: { $name }
model-kl-least = 0.000001 未満
model-all-figures = すべての数値
model-figure-kl = KL ダイバージェンス
    .words = トークンあたり { $kl } ナット
model-figure-p99 = 100 トークン中 99
    .words = { $kl } 未満
model-figure-perplexity = パープレキシティ
model-figure-drafts = ドラフトの採用率
model-figure-text = テキスト
    .tokens = { $tokens } トークン
model-figure-bits = 重みあたりのビット数
model-figure-matrices = 行列
model-figure-original = 元のモデル { $value }
model-matrices-bits = { $bits } ビット { $matrices } 個
model-matrices-whole = 量子化なし { $matrices } 個
