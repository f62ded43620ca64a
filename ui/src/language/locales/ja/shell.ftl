### Made by a machine; no native speaker has read it yet.

menu-file = ファイル
menu-edit = 編集
menu-view = 表示
menu-chat = チャット
menu-window = ウインドウ
menu-help = ヘルプ
menu-about = Foretoken について
menu-services = サービス
menu-hide = Foretoken を非表示
menu-hide-others = ほかを非表示
menu-show-all = すべてを表示
menu-undo = 取り消す
menu-redo = やり直す
menu-cut = カット
menu-copy = コピー
menu-paste = ペースト
menu-select-all = すべてを選択
menu-full-screen = フルスクリーンにする
menu-minimize = しまう
menu-zoom = 拡大／縮小
menu-bring-all-to-front = すべてを手前に移動

bar-open = Foretoken を開く
bar-writing = { $model }: { $speed } tok/s
bar-ready = { $model } は使用できます
bar-given-back = { $model }: メモリを解放しました
bar-loading = モデルを読み込み中
bar-starting = 起動中
bar-failed = 応答できるモデルがありません

window-settings = 設定
window-progress = Foretoken、{ $percent }%

quit-temporary = 一時チャットが開いています
    .message = Foretoken を終了すると何も残りません。チャットのメニューの「このチャットを残す」で保存できます。
quit-summary = 要約を作成中です
    .message = 要約は失われます。チャットは元のままで、もう一度要約できます。
quit-reply = 応答を生成中です
    .message = ここまでの内容は残り、次回の起動時に続けられます。
quit-request = ほかのプログラムがモデルを使用しています
    .message = その要求は Foretoken とともに終了します。
quit-sure = 終了
quit-not = 終了しない

told-reply-ended = 応答が完了しました。
told-reply-stopped = 応答が停止しました。
told-reply-asks = 応答があなたの返事を待っています。
told-benchmark = { $name } を測定しました
    .message = 速さは「ベンチマーク」で確認できます。
told-probe = { $name } を測定しました
    .message = 変換するサイズを選んでください。
told-comparison = { $name } を元のモデルと比較しました
    .message = どれだけ近いかは詳細で確認できます。
told-move = モデルライブラリを移動しました
    .message = 現在の場所は { $path } です。
told-ready = { $name } の準備ができました
    .message = 今すぐ使用できます。
told-failed = { $name } が停止しました
told-going-on = Foretoken は動作を続けます
    .message = { PLATFORM() ->
        [mac] ローカル API がオンの間、ほかのプログラムがモデルを使用できます。終了するには Dock または ⌘Q を使います。
       *[other] ローカル API がオンの間、ほかのプログラムがモデルを使用できます。ウインドウを戻すには Foretoken をもう一度開いてください。
    }

dialog-attach-files = ファイルを添付
dialog-attach-pictures = 画像を添付
    .kind = 画像
dialog-export = 書き出す
dialog-export-benchmarks = ベンチマークを書き出す
    .file = Foretoken ベンチマーク
dialog-export-prompts = プロンプトを書き出す
    .file = Foretoken プロンプト
dialog-import-chats = チャットを読み込む
    .kind = チャット
dialog-import-prompts = プロンプトを読み込む
    .kind = プロンプト
dialog-library-folder = モデルライブラリのフォルダを選択
dialog-model-folder = モデルフォルダを開く
dialog-project-files = プロジェクトにファイルを追加
dialog-project-folder = プロジェクトのフォルダを選択
dialog-tool-folder = モデルがファイルを使えるフォルダを選ぶ
dialog-save-picture = 画像を保存
dialog-measure-text = 測定に使うテキストを選択

tool-server = 「{ $name }」をオンにしますか？
    .program = チャットが使うたびに、このプログラムはこのコンピューターであなたに許されたすべての権限で動作します。
    .arguments = 引数:
    .variables = 環境変数:
    .folder = フォルダー:
    .address = モデルがツールのために書いた内容は、このアドレスに送られます。
    .headers = ヘッダー:
    .agree = オンにする
    .disagree = オフのまま

tool-sign-in = 「{ $name }」にサインインしますか？
    .address = ブラウザーでこのページを開きます。サーバーから得たものは、システムのキーチェーンに保存されます。
    .tokens = ブラウザーから戻った内容は、次の宛先に送られます。
    .lang = ja
    .agree = ブラウザーを開く
    .disagree = 今はしない
    .done = サインインしました。このウインドウを閉じて Foretoken に戻ってください。
    .not-done = サインインできませんでした。理由は Foretoken に表示されます。

chat-temporary = 一時チャット
chat-file = チャット
project-new = 新規プロジェクト

job-measured = モデルのメニューの「変換…」でサイズを選んでください。
job-compared = 元のモデルとの近さは、モデルの詳細で確認できます。
job-source-stays = 元のモデルは使用中のため残しました。不要になったら下で削除してください。
job-name-taken = 変換されませんでした: 同じ名前のモデルを別のモデルから作成中です。

summary-converted-with-head = ほかの人が変換、MTP ヘッド付き
summary-converted-without-head = ほかの人が変換、MTP ヘッドなし
summary-experts = 知識は大きなモデル並み、速さは小さなモデル並み
summary-small = 短い質問、要約、小さな作業
summary-middle = 日常の質問と文章作成
summary-large = 最も丁寧な応答、そのぶん遅い

folder-first-files = フォルダの最初の { $count } 個のファイルだけを読みます。
folder-closed = { $others ->
    [0] { $path } の中を確認できません。以前に読んだ内容は残ります。
   *[other] { $path } とほか { $others } か所の中を確認できません。以前に読んだ内容は残ります。
}
