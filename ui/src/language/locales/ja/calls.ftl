### Made by a machine; no native speaker has read it yet.

## What is heard

call-announce = ツールを動かしてよいか、Foretoken が確認しています。
    .paused = 応答は休止中です。続けるか、停止してください。

## A call, in a line

call-state =
    .checking = 確認中
    .refused = 実行しませんでした
    .asking = 回答を待っています
    .allowed = 許可済み、ほかの回答待ち
    .denied = 拒否しました
    .failed = 失敗
    .stopped = 停止しました
    .timed-out = 時間がかかりすぎました
    .unknown = 不明
call-unknown = 実行中にアプリが終了しました。実行されたかどうかは分かりません。
call-runs = 実行中…
    .seconds = 実行中… { $seconds } 秒
call-written = 書き込み中…
call-works = ツールを実行しています…
call-steps = { $count } ステップ

## All of a call

call-decision =
    .once = 今回だけ許可しました。
    .chat = このチャットでこのツールを許可しました。
    .always = このツールを常に許可しました。
    .own = このツールは確認なしで動きます。
call-arguments = 引数
    .none = 引数はありません。
    .changed = 引数（変更後）
    .written = 引数（モデルが書いたもの）
call-result = 結果
    .none = ツールは何も返しませんでした。
    .model = モデルが受け取ったもの
    .left-out = { $tokens } トークンを省きました。
    .picture = 表示していない画像（{ $kind }）
    .picture-name = ツールからの画像
    .unread = 結果を表示できません：{ $why }

## The question before a call runs

call-question = Foretoken からの確認：<strong>{ $server }</strong> の <strong>{ $tool }</strong> を実行しますか?
    .own = Foretoken からの確認：<strong>{ $tool }</strong> を実行しますか?
    .plain = Foretoken からの確認：{ $server } の { $tool } を実行しますか?
    .own-plain = Foretoken からの確認：{ $tool } を実行しますか?
    .shown = { $count ->
        [one] 引数はすべて表示されています。隠れた文字はありません。
       *[other] { $count } 個の引数はすべて表示されています。隠れた文字はありません。
    }
    .shown-all = すべて表示されています。隠れた文字はありません。
    .hidden = 本来見えない文字が { $count } 個あります。⟨U+…⟩ と表示しています。
    .edit = 変更
    .json = JSON の引数
    .editing = ツールには代わりにこれが渡されます。
    .leave = 元のままにする
    .no-object = まだ JSON オブジェクトではありません。
    .unseen = 変更はまだ表示されていません。
    .allow = 今回だけ許可
    .deny = 拒否
    .deny-why = 理由を伝えて拒否…
    .why = モデルに伝える内容（Enter で送信）
    .longer = 常に許可
    .longer-label = 常に許可する範囲
    .in-chat = このツールを、このチャットで
    .always = このツールを、今のままなら、どこでも
    .files-in-chat = このツールを、選んだすべてのフォルダで、このチャットで
    .files-always = このツールを、選んだすべてのフォルダで、どこでも
    .pages-in-chat = { $host } のページを、このチャットで
    .pages-always = { $host } のページを、どこでも
    .server = { $server } の全ツールを、このチャットで（削除しうるものを除く）
    .leak = このチャットはあなただけの内容と他人が書いた内容を読んでおり、これは外部に何かを送ります。以前に許可していても、よく確認してください。
    .sent = 回答を送っています。
call-origin =
    .program = { -here }で実行：
    .address = 送信先：
    .claims = このツールは{ $claims }。確認した人はいません。
    .gone = このサーバはもう設定されていません。
    .folder = フォルダ：
    .no-folder = この名前のフォルダは選ばれていません。
    .no-address = 送信先のアドレスがありません。
call-change =
    .creates = <code>{ $path }</code> を作成します
    .changes = <code>{ $path }</code> を変更します
    .waits = 何が変わるかを調べています…
    .again = もう一度試す
    .none = 文章は今のままです。
    .line = { $line } 行目から
    .no-end = 末尾に改行はありません

## A reply that rests

call-waits = 回答を待っています。モデルはここから続けます。
call-paused = ツールを { $count } 回使いました。
    .go-on = 続ける
    .stop = 停止
call-rests = 先に上の確認に答えてください。
    .paused = 先に上で「続ける」か「停止」を選んでください。

## Which tools a chat may use

call-tools = ツール
    .title = このチャットのツール
    .servers = サーバ
    .no-servers = オンになっているサーバはありません。
    .untaught = このモデルはツールの使い方を学んでいません。
    .anew = ツールが前と違います。次のメッセージでチャット全体を読み直します。
    .cost = 選んだツールは、このチャットの { $tokens } トークンを使います。
    .settings = 設定…
    .gone = もう設定されていません
    .off = 設定でオフになっています
    .count = { $state } · ツール { $count } 個

## How it was made

call-rounds = 周回
    .one = { $number } 周目
    .why = ツールを使った応答は、通常の生成と比較しません。
