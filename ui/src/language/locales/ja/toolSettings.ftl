### Made by a machine; no native speaker has read it yet.

settings-tools = ツール
    .note = モデルが文章を書く以外に使えるものです。チャットでメッセージの下の「ツール」からオンにするまで、すべてオフです。
settings-sure =
    .cancel = キャンセル

## The app’s own

settings-built-in = 内蔵
    .words = 計算と日付は{ -here }の中だけで動作し、確認はありません。ほかのツールは、何かを読む、送る、変更する前に確認します。
settings-tool-calculator = 計算
    .words = 正確に計算します
settings-tool-date = 日付と時刻
    .words = 今日の日付と時刻を伝え、日数を数えます
settings-tool-pages = ウェブページ
    .words = 誰でも見られるページを読みます。サイトごとに確認します
settings-tool-search = ウェブ検索
    .words = 設定で指定した検索サービスを使います
settings-tool-read-files = ファイルを読む
    .words = 選んだフォルダのファイルを一覧、閲覧、検索します
settings-tool-write-files = ファイルを変更
    .words = そこにテキストファイルを書きます。変更は毎回、先に表示して確認します
settings-own-tool =
    .read-page = ページを読む
    .search-web = ウェブを検索
    .list-files = ファイルを一覧
    .read-file = ファイルを読む
    .search-files = ファイルを検索
    .write-file = ファイルに書く
    .edit-file = ファイルを編集
settings-own-lack =
    .search = 検索サービスが設定されていません。
    .folder = フォルダがまだ選ばれていません。

## What the app’s own reach

settings-web = ウェブ
    .words = モデルは、あなたが選んだ SearXNG で検索します。自分のものか、信頼できるものを指定してください。
    .search = 検索サービスのアドレス
    .search-words = 検索する言葉はそこにだけ送られます。空のままなら検索しません。
settings-folders = ファイル
    .words = モデルが読むのは、これらのフォルダの中だけです。変更は毎回、先に表示して確認します。
    .none = フォルダがまだ選ばれていません。
    .add = フォルダを追加…
    .remove = 削除
    .remove-label = フォルダ { $name } を削除

## Servers

settings-servers = サーバ
    .words = ツールを提供するプログラムとアドレスです（MCP）。これらのツールは、動く前に必ず確認します。
    .none = まだありません。
    .add = サーバを追加
settings-server-state =
    .off = オフ
    .stopped = 停止中。使うチャットが起動します
    .starting = 起動中…
    .running = 動作中、ツール { $count } 個
    .failed = 失敗
    .signing-in = ブラウザでのサインインを待っています…
    .signed-in = サインイン済み
settings-server-switch = { $name } を使う
settings-server-busy = お待ちください。前の操作がまだ終わっていません。
settings-server-start = 起動
settings-server-try = やり直す
settings-server-sign-in = サインイン…
    .label = { $name } にサインイン
settings-server-give-up = やめる
    .label = { $name } へのサインインをやめる
settings-server-sign-out = サインアウト
    .label = { $name } からサインアウト
settings-server-edit = 編集
    .label = { $name } を編集
settings-server-remove = 削除…
    .label = { $name } を削除
settings-server-remove-sheet = { $name } を削除しますか?
    .words = このサーバへの許可と、キーチェーンにある値もなくなります。
    .sure = 削除
settings-server-fact =
    .command = コマンド
    .arguments = 引数
    .program = プログラム
    .not-found = { -here }で見つかりません
    .address = アドレス
    .variables = 変数
    .headers = ヘッダ
    .values-kept = 値はシステムのキーチェーンにあり、表示されません
    .folder = フォルダ
    .own-folder = 専用のフォルダ
    .none = なし
settings-server-tools = ツール
    .words = サーバによるツールの説明は、誰も確かめていません。
    .unknown = 一度動かすまでわかりません。
    .list = { $name } のツール
settings-tool-claims =
    .reads = 読むだけと称しています
    .destroys = 削除や置き換えの可能性があります
    .keeps = 削除も置き換えもしないと称しています
    .changes = 何かを変更すると称しています
    .reaches = { -here }の外に接続します
    .stays = { -here }の外に出ないと称しています
    .nothing = 何をするか説明がありません
settings-server-lines = 最後の出力
    .show = 最後の出力を表示
    .again = 最後の出力を読み直す
    .none = 何も出力していません。

## A server that is written down

settings-server-form =
    .name = 名前
    .kind = 接続方法
    .program = プログラム
    .http = アドレス
    .command = コマンド
    .arguments = 引数
    .arguments-words = 1 行に 1 つ、引用符なし
    .folder = フォルダ
    .folder-placeholder = 専用のフォルダ
    .address = アドレス
    .words = オンにするまではオフのままです。その前に、何を実行しどこに接続するかをシステムがすべて表示します。
    .cancel = キャンセル
    .add = 追加
    .save = 保存
    .no-name = サーバにまだ名前がありません。
    .no-command = プログラムがまだ指定されていません。
    .no-address = アドレスがまだありません。
    .no-value-name = 名前のない値があります。
settings-server-values =
    .variables = 変数
    .headers = ヘッダ
    .name = 名前
    .value = { $name } の値
    .kept = 今のまま
    .add-variable = 変数を追加
    .add-header = ヘッダを追加
    .words = 値はシステムのキーチェーンに入り、二度と表示されません。

## From other programs

settings-servers-import = ほかのプログラムから取り込む
    .words = ファイルは指示があったときだけ読み、変更することはありません。
    .from = { $program } から取り込む
    .take = 取り込む
    .take-text = このテキストから取り込む
    .text = または JSON をペースト
    .added = 追加しました（すべてオフ）: { $names }。
    .none = 何も追加していません。
    .left-out = { $name } は取り込みませんでした。{ $why }

## What is allowed

settings-permissions = 許可
    .words = 1 回の呼び出しより長く許可したものです。新しいツールや、その後変わったツールは改めて確認します。
    .none = ありません。
settings-permission =
    .one = { $server } の { $tool }
    .every = { $server } のすべてのツール
    .chat = チャット「{ $chat }」で、{ $date } から
    .untitled = 1 つのチャットで、{ $date } から
    .everywhere = すべてのチャットで、{ $date } から
    .revoke = 取り消す
    .revoke-label = 取り消す: { $what }
settings-stop-tools = すべてのツールを停止
    .words = 実行中の呼び出しを終え、すべてのサーバを停止し、許可をすべて取り消します
    .ask = すべて停止…
settings-stop-tools-sheet = すべてのツールを停止しますか?
    .words = 実行中の呼び出しは終了します。しようとしていたことは、起きたかもしれず、起きていないかもしれません。すべてのサーバが停止し、許可はすべて取り消されます。
