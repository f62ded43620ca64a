### Made by a machine; no native speaker has read it yet.

chat-replies = 応答
chat-about = 約 { $count }
chat-standing = すべてのチャットに伝えること
chat-project-knows = 「{ $project }」の知識
chat-context = コンテキスト
    .used = モデルのコンテキスト { $of } トークンのうち、{ $used } トークンを使用しています。{ $more }
    .about = モデルのコンテキスト { $of } トークンのうち、約 { $used } トークンを使用しています。{ $more }
    .filled = コンテキストの内訳: { $share } を使用中。
chat-memory = 使用メモリ
    .about = 約 { $size }
    .tokens = 記憶しているトークン
    .why = モデルの重みとは別に使われます。ほかのチャットに必要になると解放され、次の質問のときにチャットを読み直します。
chat-versions = バージョン
chat-files = ファイル

chat-filling = いっぱいになるまで、何も失われません。
    .nearly = コンテキストがもうすぐいっぱいになります。何も失われません。いっぱいになったら、古い部分の要約から始まる新しいチャットで続けられます。
    .may-end = 次の応答は、コンテキストの上限で途切れることがあります。何も失われません。古い部分の要約から始まる新しいチャットで続けられます。
    .full = コンテキストがいっぱいのため、モデルはこのチャットではもう答えられません。古い部分の要約から始まる新しいチャットで続けるか、以前のメッセージから分岐してください。
chat-room = あと約 { $words } 文字書けます。
    .none = 空きがありません。
chat-fills =
    .always = 常に知っていること
    .tools = ツール
    .files = ファイル
    .messages = メッセージ
    .free = 空き
chat-tokens-used = { $of } トークンのうち、{ $used } トークンを使用しています。{ $more }
    .about = { $of } トークンのうち、約 { $used } トークンを使用しています。{ $more }
chat-new = 新規チャット

chat-composer = メッセージ
    .project = { $project } で質問
    .model = { $model } へのメッセージ
chat-cannot-send =
    .reading = ファイルを読み込んでいます。
    .ask = 質問を入力してください。長いファイルのうち、質問に合う部分が読まれます。
    .empty = 送信するメッセージがまだありません。
chat-send = 送信
    .title = 送信（Enter）
chat-stop = 停止
    .title = 停止（Esc）
chat-dismiss = 閉じる
chat-attach = ファイルや画像を添付
    .files = ファイル: テキスト、コード、PDF、Word、Excel
    .pictures = 画像
    .seeing = 画像を見られる { $model } を使用
    .get = 画像を見られるモデルを入手
chat-ask-two = 2 つのモデルに質問
    .too = { $model } にも質問
chat-blind = { $model } は画像を見られず、その名前だけが伝えられます。{ $reason }
    .nameless = このモデルは画像を見られず、その名前だけが伝えられます。{ $reason }
    .get = 見られるモデルを入手
    .use = { $model } を使用
chat-blindness = このモデルはテキスト専用です。
    .left-out = 画像を見る部分は、変換のときに省かれました。元のモデルをもう一度変換すると、元に戻ります。
    .not-described = ファイルには画像を見る部分がありますが、設定にその記述がありません。
    .unusable = 画像を見る部分を使えません: { $reason }
    .too-little-memory = 画像を見る部分のためのメモリが足りません。画像があると { $needed } が必要ですが、ここでモデルが使えるのは { $available } までです。もっと小さいモデルを選んでください。
chat-temporary-note = 一時チャット: このチャットは保存されません。離れると消えます。
    .keep = このチャットを残す
chat-second = この応答が終わると、{ $model } も答えます。
    .cancel = キャンセル
chat-answered-by = このチャットでは { $model } が答えていました。
    .demo = このチャットではデモモデルが答えていました。
    .again = もう一度使用
chat-goes-on = チャットはここで続きます。

chat-conversation = 会話
    .untitled = 新規チャット
    .latest = ↓ 最新
chat-opening = チャットを開いています。
    .why = アップデート後の最初の起動には時間がかかります。変更する前に、すべてのチャットのコピーを作成します。

chat-more-files = ほか { $count } 個のファイル
chat-attached = 添付ファイル
    .long = 長いファイル: 質問に合う部分が読まれます
    .part = 一部
    .reading = 読み込み中
    .skip = { $name } を待たない
    .skip-title = 待たない
    .take = { $name } を取り除く
    .take-title = 取り除く
chat-file-count = { $count } 個のファイル
chat-file-cost = { $tokens } トークン
    .about = 約 { $tokens } トークン
chat-too-many-files = 1 つのメッセージに添付できるファイルは { $most } 個までです。
    .hint = いくつか減らすか、関連する内容を 1 つのファイルにまとめてください。
chat-files-too-large = 1 つのメッセージに添付できるファイルは合計 { $most } MB までです。
    .hint = いくつか減らしてください。これほどの量を読めるモデルはありません。
chat-too-many-pictures = 1 つのメッセージに添付できる画像は { $most } 枚までです。
    .hint = いくつか減らすか、複数のメッセージに分けて送信してください。

chat-pictures = 画像
chat-picture-gone = { $name }、ファイルがありません
chat-picture-open = { $name } を開く
chat-picture-take = { $name } を取り除く
    .title = 取り除く
chat-picture-facts = { $width } × { $height } { $format }、{ $size }
chat-picture-cost = { $tokens } トークン
    .named =
        { $name }: { $tokens } トークン、細かさ: { $detail ->
            [low] 低
            [standard] 標準
            [high] 高
           *[original] すべて
        }
    .in-detail =
        { $tokens } トークン、細かさ: { $detail ->
            [low] 低
            [standard] 標準
            [high] 高
           *[original] すべて
        }
chat-detail =
    .low = 低、最大 { 256 } トークン
    .standard = 標準、最大 { 1024 } トークン
    .high = 高、最大 { 4096 } トークン
    .original = すべて、モデルが読める上限まで
chat-picture-close = 閉じる
    .title = 閉じる（Esc）
chat-picture-place = { $place }/{ $all }
chat-picture-copy = コピー
    .gone = ファイルがありません。
chat-picture-save = 保存…
    .saved = { $path } として保存しました。
chat-seen = 画像 { $pictures } 枚、{ $tokens } トークン、{ $time }で確認
    .remembered = 画像 { $pictures } 枚、{ $tokens } トークン、記憶済み
chat-unseen = 画像 { $pictures } 枚を見ていません: { $reasons }
    .no-sight = モデルがテキスト専用
    .no-room = コンテキストに空きなし
    .missing = ファイルなし
    .undecoded = ファイルを読み込めない
    .counted = { $reason }（{ $count }）
chat-looking =
    { $pictures ->
        [1] 画像を見ています
       *[other] { $pictures } 枚の画像を見ています
    }
    .again = 以前の画像を見直しています

chat-panel = この応答とこのチャットについて
    .hide = パネルを非表示
    .show = パネルを表示
    .shown = 表示する内容
    .reply = この応答
    .chat = このチャット
    .empty = 応答が生成されると、どのように作られたかがここに表示されます。

chat-how-made = この応答の作られ方（{ $keys }）
chat-waiting = 待機中
    .turn =
        { $ahead ->
            [0] 順番を待っています
           *[other] 順番を待っています（前に { $ahead } 件）
        }
    .writing = 生成中
chat-reading = 読み込み中 { $done }/{ $total }
    .prompt = プロンプトを読み込み中
    .remembered = { $count } は記憶済み
    .cached = （キャッシュ）
    .left = 残り { $time }

chat-more = 応答のその他の操作
    .message = メッセージのその他の操作
chat-answer-again = 別のモデルで再回答
chat-compare-drafts = ドラフトの有無で比較
chat-compare-versions = 並べて比較
chat-guesses =
    .show = 本文中のドラフトを表示
    .hide = 本文中のドラフトを非表示
chat-edit = 編集
chat-read-aloud = 読み上げ
    .stop = 読み上げを停止
chat-copy-plain = 標準テキストとしてコピー
    .empty = コピーするテキストがありません。
chat-branch = 新規チャットに分岐
chat-delete-from = ここから後を削除

chat-mtp = 先読み <term>投機的デコード</term>
    .title = 先読み: マルチトークン予測
    .drafts = 1 パスあたりのドラフト数
    .unit = 通常と比べた速度、{ -here }
    .own-head = モデル自身のヘッドを使用 <term>MTP</term>
    .note = ドラフトが外れても少し時間がかかるだけで、応答の質が下がることはありません。選択は次のメッセージから有効になります。
chat-way =
    .auto = 効果がある範囲で先まで
    .off = パスごとに 1 語
    .fixed = { $count } 個先読み
    .dflash = ドラフトモデルで一度に多く先読み
    .lookup = このチャットにある内容を繰り返す（引用や修正向け）
chat-needs-draft = ドラフトモデルが必要です
    .of = ドラフトモデルが必要です、{ $size }
    .not-loaded = ドラフトモデルはありますが、読み込まれていません
chat-rule = 採用するドラフト
chat-rule-coupled = 同じ文
    .words = モデルが同じ語を引いた場合にドラフトを採用します。文は MTP を使わない場合と同じです。ただし、2 つの語がほぼ互角の場合は丸め誤差で決まります。
chat-rule-strict = 一字一句同じ
    .words = 2 つの語がほぼ互角の場合も文が同じになります。{ -here }ができるだけ同じように丸めるよう、短いパスを埋めます。少し遅くなります。
chat-rule-rejection = より多く採用
    .words = より多くのドラフトを採用します。どの語の確率もドラフトを使わない場合と同じです。シードを指定しても文は異なります。

chat-story-plain = パスごとに 1 語ずつ書きました。
    .unpaid = ドラフトなし: ここでは効果がありません。
    .why = 先読みをしなかったため、各パスで 1 語（トークン）を書きました。
chat-story-wasted = ここでは先読みでパスがほとんど減りませんでした。
    .why = ほとんどのドラフトが外れたため、各パスで約 1 語（トークン）を書きました。
chat-story-unmeasured = 各パスで { $words } 語（トークン）を書きました。
    .why = 通常のデコードでは 1 語です。このような応答でどれだけ速くなるかは、{ -here }ではまだ測定されていません。
chat-story-measured =
    { -here }での通常のデコードは、{ $source ->
        [tune] モデルの測定時に
       *[replies] ドラフトなしの応答で
    } { $rate } tok/s でした。
chat-story-gain = 先読みなしの { $times } 倍の速さです。
    .why = モデルは各パスで 1 語ではなく { $words } 語（トークン）を書きました。自身の語と、当たったドラフトです。{ $measured }
chat-story-loss = ここでは先読みで時間がかかりました: 通常の { $times } 倍の速さ。
    .none = ここでは先読みをしても速さは変わりませんでした。
    .why = 各パスで { $words } 語（トークン）を書きましたが、ドラフトの作成と確認のため、より時間がかかりました。{ $measured }

chat-pass = 平均的なパス: 自身の語が 1、{ $guesses }、合計 { $all }。
    .part = { $place } 番目のドラフトが { $figure }
    .own = 自身の語
    .place = { $place } 番目
    .guess = ドラフト { $place }
    .unit = 語<line>1 パスあたり</line>
    .caption = 塗られていない部分: 外れたドラフト。モデルはそこに別の語を書きました。

chat-thinking =
    .off = オフ
    .brief = 短く
    .normal = 標準
    .long = 長く
    .limit = 上限
chat-thinking-reason =
    .no-switch = このモデルのチャットテンプレートには思考の切り替えがありません。
    .always = このモデルのチャットテンプレートには思考の切り替えがありません。常に思考するため、短くすることしかできません。
    .no-more = このモデルは好きなだけ思考し、それ以上を求めることはできません。
chat-thinks =
    .off = すぐに答えます。
    .little = あまり思考しないよう求めます。
    .brief = 遅くとも { $tokens } トークンの思考の後に回答が始まります。コンテキストが短い場合はもっと早く始まります。
    .normal = 好きなだけ思考します。
    .much = よく思考するよう求めます。
    .long = 「標準」と同じく、好きなだけ思考します。
    .limit = 遅くともこのトークン数の思考の後に回答が始まります。
chat-thinking-label =
    .off = 思考なし
    .brief = 短い思考
    .long = 長い思考
    .limit = 思考 { $tokens } まで
