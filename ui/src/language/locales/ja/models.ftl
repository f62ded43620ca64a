### Made by a machine; no native speaker has read it yet.

## What several places say

models-action-of = { $action }: { $name }
models-more-for = { $name } のその他の操作
models-try-again = 再試行
models-get = 入手
models-use = 使用
models-delete = 削除
models-remove-from-list = リストから削除
models-add-folder = フォルダを追加…
models-is-offline = オフラインです

## The screen

models-title = モデル
models-here = { -here }のモデル
models-more = モデルのその他の操作
models-check-updates = アップデートを確認
models-search-shown = 検索結果を表示中です
models-get-models = モデルを入手
models-storage = 保存先、メモリ、アクセス

## How long a chat is

models-context = { $length } のチャットで判定
    .title = 判定に使うチャットの長さ
    .hint = どのくらい長いチャットを想定して判定するか
    .length = チャットの長さ
    .note = チャットが長いほど多くのメモリを使います。モデルが動くかどうかとおすすめのモデルは、この長さのチャットを想定して判定されます。チャットの長さを制限するものではありません。
models-context-tokens = { $tokens } トークン

## Models on this machine

models-count = モデル { $models } 個
models-count-drafts = モデル { $models } 個とドラフトモデル { $drafts } 個
models-free = 空き { $size }
models-only-demo = 今あるのは、ごく小さなデモモデルだけです。下からより大きなモデルを入手するか、お持ちのモデルのフォルダを追加してください。
models-none = モデルはまだありません。下から入手するか、お持ちのモデルのフォルダを追加してください。
models-deleted = 削除したモデル
models-deleted-model = 「{ $name }」を削除しました。終了時に { $size } が解放されます。
    .undo = 取り消す
    .bring-back = 取り消す: { $name } を元に戻す
models-in-use = 使用中
models-lost-head = このモデルは変換時に MTP ヘッドが失われています。
    .get = ヘッド付きを探す
models-unusable-head = MTP ヘッドはありますが、使用できません。
models-newer = Hub に新しいバージョンがあります。<look>見る</look>
models-loading-share = 読み込み中 { $share }
models-use-anyway = それでも使用

## What else can be done with one

models-is-broken = 壊れています
models-details-open = 詳細…
models-convert = 変換…
    .done = すでに変換されています
models-measure = 測定
    .again = もう一度測定
    .no-head = 測定する MTP ヘッドがありません
models-delete-with-draft = ドラフトモデルも一緒に削除

## All that is known of a model

models-not-known = 不明
models-verdict = { $verdict }。{ $why }
models-summary = { $summary }。
models-size = { $size }、{ $parameters }
models-not-measured = 未測定
models-speed-expected = { $speed }、トークン/秒。予想値で、測定値ではありません
models-too-little-known = 情報が足りず、判定できません
models-see-card = モデルカードを参照
models-fact-fit = メモリ
models-fact-size = サイズ
models-fact-format = 形式
models-fact-drafts = ドラフト
models-fact-measured = 測定結果
models-fact-use = 使用
models-fact-from = 入手元
models-fact-folder = フォルダ
models-fact-download = ダウンロード
models-fact-pictures = 画像
models-fact-speed = 速度
models-fact-licence = ライセンス
models-quality = 品質
    .words = { $original } から作られたモデルのようです。元のモデルにどれだけ近いかは、両方に同じ文章を読ませて測定できます。数分かかりますが、どちらもメモリに収まる必要はありません。
    .compare = 元のモデルと比較
    .running = 比較しています。

## Draft models

models-draft-of = { $name } のドラフトモデル
models-draft = ドラフトモデル: { $name }
    .none = ドラフトモデル: なし
models-lonely-drafts = 対応するモデルがないドラフトモデル
models-newer-draft = Hub に新しいバージョンがあります。<get>入手</get>
models-draft-not-used = 未使用: もう一方のドラフトモデルの方が適しています。
models-draft-refused = ドラフトモデルを使えないため、なしで動作します: { $reason }
models-draft-waits = 応答の生成が終わりしだい使われます。
models-draft-offer = { $name } は、数語先まで先読みする小さなモデルです。先読みした語はこのモデルが確かめます。効果がある場面では、応答が速くなります。

## The model picker

models-picker = モデル
    .none = モデルを選択
    .loading = { $name } を読み込み中 · { $share }
    .get-more = ほかのモデルを入手…
    .open-folder = フォルダを開く…
models-loaded = { $processor ->
    [cpu] { $parameters }、{ $format }、{ $size }、CPU で動作
   *[gpu] { $parameters }、{ $format }、{ $size }、GPU で動作
}
    .given-back = メモリを解放しました。質問すると読み込まれます

## What is being worked on

models-jobs = 進行中
models-job-pause = 一時停止
models-job-resume = 再開
models-job-retry = 再試行
models-job-hurry = 今すぐ試す
models-job-fetch-again = ダウンロードし直す
models-job-up = 上へ移動
    .none = すでに先頭です
models-job-down = 下へ移動
    .none = すでに最後です
models-job-cancel = キャンセル
    .asking = キャンセル…
models-job-dismiss = 閉じる
models-job-skip = スキップ
models-job-files = { $all } 個中 { $arrived } 個のファイル
    .label = ファイル
models-job-waits = ダウンロード済みの分は保持されます。{ $seconds } 秒後に再試行します。
    .now = ダウンロード済みの分は保持されます。再試行しています。
models-cancel = { $name } をキャンセル
    .download = ダウンロード済みの { $name } のファイルは削除されます。残しておいて後で続けるには、一時停止してください。
    .work = { $name } のこれまでの作業は破棄されます。元のファイルは残ります。
    .download-now = ダウンロードをキャンセル
    .work-now = キャンセルする
    .keep = 続ける

## Models to get

models-recommended = { -here }へのおすすめ
models-found-heading = Hugging Face のモデル
models-list = リストを取得しています。
    .empty = モデルのリストは空です。
models-end-search = おすすめのモデルに戻る
models-found = { $count } 個のモデルが見つかりました。
    .searching = 検索中…
    .failed = 検索に失敗しました。
    .none = Foretoken で動くモデルは見つかりませんでした。
    .advice = 語やフィルタを減らすか、「組織名/モデル名」の形で名前全体を入力してみてください。
models-details = 詳細
models-offline = オフライン
models-here-already = 入手済み
models-search = 検索
    .hub = Hugging Face を検索
models-filter-mtp = MTP ヘッド付き
models-filter-fitting = { -here }で動作
models-filter-format = 形式
    .any = すべての形式
    .published = 公開されたまま
    .converted = 変換済み
    .bits = 変換済み、{ $bits }-bit
models-filter-size = ダウンロードサイズの上限
    .any = すべてのサイズ
    .up-to = { $size } GB まで

## How one is got

models-conversion = 変換
    .judged = 動くかどうかは 4-bit として判定しています。この選択ではより多くのメモリが必要です。
models-afterwards = ダウンロード後
models-in-queue = キューに追加済み: { $stage }
models-is-here = すでに入手済みです。
models-download = ダウンロード
    .newer = 新しいバージョンをダウンロード
    .anyway = それでもダウンロード
    .starting = ダウンロードを準備しています。
models-card = モデルカード
    .heading = 作成者による説明
    .fetching = モデルカードを取得しています。
    .none = モデルカードはありません。

## What goes wrong

models-dismiss = 閉じる
models-access = アドレスをコピー
    .open = ブラウザで <address>{ $address }</address> を開き、アクセスを申請してください。
    .token = Hugging Face アカウントで読み取り権限のあるアクセストークンを作成し、ここで設定してください。
    .again = アクセスが許可されたら、もう一度試してください。

## Storage, memory and access

models-place = ライブラリのフォルダ
    .space = モデル { $used }、空き { $free }
    .away = オフライン: ディスクが接続されていません
    .change = 変更…
models-move = モデルを <path>{ $path }</path> に保存しますか? ライブラリにある { $used } はそこに移動されます。フォルダにすでにライブラリがある場合は、それを使います。
    .away = モデルを <path>{ $path }</path> に保存しますか? 接続されていないディスク上のモデルはそのまま残ります。フォルダにすでにライブラリがある場合は、それを使います。
    .preparing = 移動を準備しています。
    .now = このフォルダを使用
    .leave = 変更しない
models-another-place = 別のフォルダを使用…
models-disk-full = ディスクの空きがほとんどありません: 残り { $free }
    .hint = 空きができるまでダウンロードは止まります。モデルを削除してアプリを終了するか、ほかの場所で空きを作るか、ライブラリを別のディスクに移してください。
models-smaller-memory = 長いチャットのメモリを節約（8 ビット）
    .words = チャットが使うメモリの増え方が約半分になります。応答は、完全な精度の場合と少し異なることがあります。変更するとモデルが読み込み直されます。
models-token = Hugging Face のアクセストークン
    .set = 設定済み。システムのキーチェーンに保存されています。
    .not-set = 未設定。アクセスが制限されたモデルにだけ必要です。
    .remove = 削除
    .open-set = アクセストークンを設定…
    .open-replace = アクセストークンを置き換える…
    .keeping = アクセストークンを保存しています。
    .empty = アクセストークンがまだ入力されていません。
    .note = システムのキーチェーンに保存され、Hub にだけ送信されます。再び表示されることはありません。
    .keep = アクセストークンを保存

## How the Hub is reached

models-hub-address = Hub のアドレス
    .note = ミラーのアドレスなどを指定できます。検索とダウンロードの接続先になり、アクセストークンもそこに送信されます。空欄の場合は通常のアドレスを使います。
    .from-variable = { $address }（HF_ENDPOINT による）
models-hub-proxy = プロキシ
    .note = 検索、ダウンロード、新しいバージョンの確認はここを経由します。空欄の場合はシステムの設定に従います。
    .system = システムの設定に従う
    .from-variable = 変数 { $variable } のプロキシ
models-hub-cache = Hugging Face のキャッシュ
    .note = 中にあるモデルはその場所のまま使われます。空欄の場合は Hugging Face のライブラリの標準の場所です。
    .none = なし
models-hub-change = 変更…
models-hub-keep = このアドレスを使用
    .usual = 通常のアドレスを使用
    .keeping = 保存しています。
    .same = 変更はありません。
models-hub-keep-folder = このフォルダを使用
    .usual = 標準のフォルダを使用

models-note-tied-head = ファイルにはモデルが使わない出力ヘッドが含まれています。除外します。
models-note-no-part = { $file } はモデルの一部ではないため除外します。
models-note-undeclared = 設定に量子化の記載がなく、テンソルからは { $format } と判断しました。
models-note-draft-vocabulary = ドラフトはすべてのトークンから選ばれます。{ $file } は使用できません。
models-note-head-unused = MTP ヘッドは使用されません：{ $reason }
models-note-head-missing = 設定が指す MTP ヘッド { $file } がありません。
models-note-second-head = すでに MTP ヘッドがあるため、{ $file } は除外します。
    .main = メインファイルにすでに MTP ヘッドがあるため、{ $file } は除外します。
models-note-head-file-unused = { $file } の MTP ヘッドは使用されません：{ $reason }
models-note-head-norms = MTP ヘッドの正規化重みの保存形式は、その値から判断します。
models-note-head-undeclared = 設定はファイル内の MTP ヘッドを宣言していませんが、使用します。
models-note-head-stripped = 設定は MTP ヘッドを宣言していますが、変換時に取り除かれたため、モデルは 1 回の計算で 1 トークンを書きます。元のリポジトリをもう一度変換すると元に戻ります。
models-note-draft-target = ドラフトモデルは { $told } 層のモデル用ですが、このモデルは { $layers } 層です。
