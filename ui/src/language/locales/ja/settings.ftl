### Made by a machine; no native speaker has read it yet.

settings-window = 設定
settings-page =
    .general = 一般
    .appearance = 外観
    .replies = 応答
    .models = モデルとメモリ
    .local-api = ローカル API
    .data = プライバシーとデータ
    .keyboard = キーボード
    .diagnostics = 診断
    .notices = 第三者のライセンス

## General

settings-language = 言語
    .words = 日本語は機械翻訳で、まだ母語話者の確認を受けていません
    .system = システムに合わせる
settings-notifications = 通知
    .words = ほかのことをしている間に、時間のかかる応答やダウンロード、変換が終わったことを知らせます
settings-keep-running = ウインドウを閉じても実行を続ける
    .words =
        { PLATFORM() ->
            [mac] 応答やダウンロードは続きます。Dock のアイコンをクリックするとウインドウが戻ります
           *[other] 応答やダウンロードは続きます。Foretoken をもう一度起動するとウインドウが戻ります
        }
settings-quick = クイック質問
settings-quick-key = どのプログラムからでも質問できるキー
    .words = 作業中の画面の上に小さなパネルを開きます。ほかのことに移ると消えますが、応答は最後まで生成されます
settings-menu-bar = メニューバーに表示
    .words = モデルの動作と速さが、どのプログラムからでも見えます
settings-updates = アップデート
settings-update-check = 新しいバージョンを確認
    .words = 配布しているサーバに最新のバージョンを問い合わせます。インストールの前に確認します
    .each-start = 起動するたび
    .weekly = 毎週
    .never = しない
settings-new-versions = 新しいバージョン
    .look = 今すぐ確認
    .show = 表示…
    .unchecked = まだ確認していません
    .newest = 最新のバージョンです（{ $date } 現在）
    .checking = 確認中…
    .found = Foretoken { $version } があります

## Appearance

settings-light = ライトまたはダーク
    .words = 「自動」はシステムに合わせます
    .auto = 自動
    .light = ライト
    .dark = ダーク
settings-size = サイズ
    .words = 文字とそのまわりのすべて。{ $larger } と { $smaller } でも変えられます
    .value = { $zoom } パーセント
settings-width = 文章の幅
    .words = ウインドウが広いとき
    .column = 標準
    .wide = 広い
settings-guessed = 先読みした言葉
settings-sample = 岸壁<one>の</one><two>明かり</two><three>が</three>一つ<one>ずつ</one>ともり、<one>最後</one><two>の</two><three>船</three>が家路に<one>ついた</one><two>。</two>
    .one = 1 語先
    .two = 2 語先
    .three = 3 語以上先
settings-wake = 応答の生成中に色を付ける
    .words = 新しい行に色を付け、読むにつれて薄くします
settings-reveal = すべての応答で色を残す
    .words = { $keys } でいつでも表示／非表示を切り替えられます
settings-hue = 色
    .words = 先読みしたものすべての色
    .label = 先読みしたものの色
    .violet = バイオレット
    .teal = ティール
    .orange = オレンジ
    .pink = ピンク
settings-pulse = 数値の横のパルス
    .words = モデルの 1 パスごとに 1 本の棒

## Replies

settings-replies-note = 新しいチャットと、個別に設定していないすべてのチャットに適用されます。
settings-mtp =
    .words = モデルが先読みするトークンの数。「自動」では効果のある方法を選びます
    .label = 1 パスあたりのドラフト数
settings-thinking = 思考
    .words = 思考できるモデルが、答える前にどれだけ考えてよいか。
settings-standing = すべてのチャットに伝えること
    .words = 次のメッセージから、各チャットのシステムプロンプトの前に入ります。チャットごとに外せます（パネルの「このチャット」）。
    .example = 例: ライ麦でパンを焼きます。メートル法で。答えは短く。
settings-sampling = 言葉の選び方
    .words = サンプリング。モデルごとに記憶されます。

## Models and memory

settings-hub-token = Hugging Face のアクセストークン
    .set = 設定済み。システムのキーチェーンに保存されています
    .unset = 未設定。アクセスが制限されたモデルにのみ必要です
settings-unload = モデルのメモリを解放
    .words = しばらく質問がないときに解放します。次の質問でモデルを読み込み直すため、起動時と同じだけ時間がかかります
    .never = しない
    .after =
        { $minutes ->
            [1] 1 分後
           *[other] { $minutes } 分後
        }
settings-earlier-turns = 以前のやり取り
    .words = 読み終えたチャットの内容は空いているメモリに残し、メモリが足りなくなると解放します。設定するものはありません

## Local API

settings-api = { -here }のほかのプログラムにモデルの使用を許可
    .words-on = OpenAI と Anthropic の API と同じように使えます。ウインドウを閉じても Foretoken は動き続けます
    .words-off = OpenAI と Anthropic の API と同じように使えます。オンにするまではオフです
settings-api-state =
    .off = オフ
    .starting = 起動中…
    .on = オン: { $address }
    .port-taken = ポート { $port } はほかのプログラムが使用中です
    .port-taken-by = ポート { $port } は { $name }（プロセス { $pid }）が使用中です
    .take-port = ポート { $port } を使用
    .requests = { $count } 件のリクエスト
    .rate = { $rate } tok/s
settings-address = アドレス
    .words = Anthropic の API を使うプログラムでは /v1 を省きます
    .copy = アドレスをコピー
settings-network-address = ほかのデバイスから
    .words = トークンの送信が必要です。通信は暗号化されません
    .copy = ほかのデバイス用のアドレスをコピー
settings-copy = コピー
    .done = コピーしました
settings-api-token = トークン
    .in-file = 自分だけが読めるファイルに保存されています
    .in-keychain = システムのキーチェーンに保存されています
    .hidden = 非表示
    .copy = トークンをコピー
    .renew = 新規
    .renew-label = 新しいトークンを作成
settings-renew-token = 新しいトークンを作成しますか?
    .words = これまでのトークンは使えなくなり、実行中のリクエストは終了します
    .keep = このまま使う
    .sure = 新しく作成
settings-snippets = そのままペースト
    .program = プログラム
    .copy = { $program } 用にコピー
    .text = { $program } 用のテキスト
    .note = Cursor では使えません。呼び出すのは Cursor のサーバで、{ -here }には接続できないためです。
    .note-token = トークンはコピーするときに入ります。{ settings-snippets.note }
settings-snippet-name =
    .python = { $library }（Python）
    .node = { $library }（Node）
settings-snippet-place =
    .terminal = ターミナルで
    .own-terminal = 起動するターミナルで
    .codex = ~/.codex/config.toml に。トークンは変数 FORETOKEN_TOKEN に入れます
    .zed = settings.json に。トークンは Zed の設定で入力します
    .continue = ~/.continue/config.yaml に

settings-requests = リクエスト
    .now = 現在 { $count } 件
    .last = 最近の { $count } 件を表示
    .all = { $count } 件すべてを表示
    .none = Foretoken の起動後、リクエストはありません。
    .table = ほかのプログラムのリクエスト
settings-requests-column =
    .time = 時刻
    .from = 送信元
    .stage = 進み具合
    .rate = tok/s
    .accepted = 採用
    .accepted-of = 先読みしたトークンのうちの割合
    .stop = 停止
settings-request =
    .now = 現在
    .waiting = 待機中
    .reading = 読み込み中 { $percent }
    .writing = 生成中
    .tokens = { $count } トークン
    .stop = 停止
    .stop-one = { $program } のリクエストを停止
    .done = 完了
    .stopped = 停止
    .left = プログラムが切断
    .refused = 拒否: { $reason }
settings-refusal =
    .too-long = プロンプトが長すぎます
    .queue = 待っているリクエストが多すぎます
    .engine = エンジンが停止しました
    .no-model = モデルが読み込まれていません
    .memory = メモリが足りません
    .tools = モデルがツールの呼び出しに対応していません
    .template = モデルのテンプレートが受け付けません

settings-more = その他
settings-port = ポート
    .same = すでにこのポートです。
    .range = ポートは 1024 から 65535 までの数字です。
    .use = このポートを使用
settings-needs-token = プログラムにトークンを求める
    .words = 求めない場合、{ -here }のすべてのプログラムがモデルを使えます。ブラウザのページからは使えません
settings-network = このネットワークのほかのデバイス
    .words = トークンを持つ電話やコンピュータがモデルを使えるようになります。送られる内容は暗号化されません。応答が始まるまでの速さとキャッシュされていたトークンの数から、{ -here }がそのプロンプトを以前に読んだかどうかが、あなたのチャットの分も含めて相手にわかります。防ぐには、これをオフのままにするしかありません
settings-may-load = プログラムにモデルの読み込みを許可
    .words = ウインドウが閉じている間だけです。戻ると、元のモデルを読み込み直します
settings-rows = 同時に生成する応答の数
    .words = これを超えるリクエストは待ちます。同時に生成すると一つひとつは遅くなりますが、全体では速くなります
settings-api-sampling = サンプリング
    .words = プログラムが温度などを指定しないとき
    .app = アプリで選んだとおり
    .model = モデルの作者の推奨どおり
settings-origins = 接続を許可するページ
    .words = ブラウザのページやページでできたアプリは、ここに載せない限りモデルを使えません
    .add = ページのオリジン
settings-aliases = 名前
    .words = この名前を求めるプログラムには、ここにあるモデルを使わせます。* で終わる名前は、そこまでが同じ名前すべてを表します
    .model = { $name } に使うモデル
    .loaded = 読み込まれているモデル
    .add = プログラムが求める名前
    .taken = この名前のモデルがすでにあります。
settings-list =
    .add = 追加
    .empty = 何も入力されていません。
    .there = すでにあります。
    .remove = 取り除く
    .remove-one = { $what } を取り除く

## Privacy and data

settings-data-note = すべては{ -here }に残ります。Hugging Face に接続するのは、モデルの検索とダウンロードのときだけです。
    .updates = すべては{ -here }に残ります。外部に接続するのは、モデルの検索とダウンロード（Hugging Face）と、新しいバージョンの確認（公開元）のときだけです。
settings-all-chats = すべてのチャット
    .words = 1 つの JSON ファイルにすべてが入り、あとで読み込めます
    .import = 読み込む…
    .export = 書き出す…
settings-keep-read = モデルが読んだチャットの内容を残す
    .words = 再起動後もチャットをすぐに続けられます。{ -here }の容量を最大 10 GB 使い、チャットと一緒に消えます。オフにするとすべて削除されます
settings-files = ファイル
    .reveal = { word-show-folder }: { $place }
settings-place-settings = 設定
    .words = 選んだ内容
settings-place-chats = チャット
    .words = チャット、未送信の文、毎日のコピー
settings-place-models = モデル
    .words = ダウンロードまたは変換したモデル
settings-place-cache = キャッシュ
    .words = 作り直せるもの。いつでも削除できます
settings-place-log = ログ
    .words = アプリとエンジンの出力（今回と前回の起動）
settings-leaving = データの削除
settings-remove = Foretoken が保存したものをすべて削除
    .words = チャット、設定、キャッシュ、モデル。そのあと Foretoken は終了します
    .sizes = チャット、設定、キャッシュが { $size }、モデルが { $models }。そのあと Foretoken は終了します
    .ask = 削除…
settings-remove-sheet = すべて削除しますか?
    .words = チャットとそのコピー、設定、モデルが読んだ内容、測定結果、ログ、キーチェーンのトークンは完全に削除されます。チャットがまた必要になりそうなら、先に書き出してください。
    .models = モデルも削除（{ $folder } にある { $size }）
    .cancel = キャンセル
    .remove = 削除して終了
    .remove-all = モデルも含めてすべて削除して終了

## Diagnostics

settings-log = ログ
    .copy = ログをコピー
    .note = レポートとログにはチャットの内容は含まれません。
    .empty = 表示するものはありません。
settings-log-level =
    .label = 表示する行
    .error = エラー
    .warn = エラーと警告
    .info = 重要なものすべて
    .debug = すべて
settings-report =
    .copy = レポートをコピー
    .unready = レポートはまだ準備中です。
settings-crashes = クラッシュ
    .words = システムがレポートを作成しています。どこにも送信されません。最新のものはここのレポートに記載されます

## Third-party notices

settings-notices-note = Foretoken には、以下のライセンスによる第三者の成果が含まれています。
settings-bill = 部品表
    .words = 同じ内容をプログラム向けの一覧にしたもの（CycloneDX、バージョンとハッシュ付き）
settings-licence = ライセンス
    .of = { $name } のライセンス
    .text = { $name } のライセンス本文
