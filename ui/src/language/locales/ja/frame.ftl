### Made by a machine; no native speaker has read it yet.

## What screen readers are told of a reply

frame-reply-begun = 応答を生成しています。
frame-reply-interrupted = 応答が中断されました。
frame-reply-stopped = 応答を停止しました。
frame-reply-cut = トークン数の上限に達したため、応答が途中で終わりました。
frame-reply-failed = 応答に失敗しました。
frame-reply-finished = 応答が完了しました。
    .speed = 応答が完了しました。毎秒 { $speed } トークンです。
    .gain = 応答が完了しました。通常の { $factor } 倍の速さです。

## The window

frame-to-project = プロジェクト「{ $name }」へ
frame-more-for-chat = このチャットのその他の操作
frame-more-for-project = このプロジェクトのその他の操作
frame-more-for-chats = すべてのチャットのその他の操作
frame-add-files = ファイルを追加
frame-drop = ドロップすると、画像、テキストファイル、書類は添付され、モデルのフォルダは追加され、JSON ファイルからはチャットが読み込まれます。
frame-drop-project = ドロップすると、ファイルは「{ $name }」に追加され、フォルダはプロジェクトのフォルダになります。
frame-undo = 取り消す
frame-dismiss = 閉じる
frame-settings = 設定
frame-sidebar = チャットと画面
frame-sidebar-width = サイドバーの幅
    .now = { $pixels } ピクセル
    .hint = ドラッグで幅を変更、ダブルクリックで元に戻します
frame-minutes-left = { $minutes } 分
frame-hours-left = { $hours } 時間
frame-progress = { $stage }: { $name }
frame-new-chat-keys = 新規チャット（{ $keys }）

## An empty chat

frame-temporary = 一時チャット
    .words = このチャットの内容は一切保存されません。残さない限り、離れると消えます。
frame-new-chat = 新規チャット
frame-stays-here = 入力した内容が{ -here }の外に出ることはありません。
    .first = 入力した内容が{ -here }の外に出ることはありません。アカウントも不要です。

## Why nothing can be sent

frame-engine-starting = エンジンを起動しています。
frame-loading = { $model } を読み込み中
    .progress = 読み込んだ重み
    .words = 今すぐ入力を始められます。モデルの準備ができると、メッセージが送信されます。
frame-try-again = 再試行
frame-load-again = もう一度読み込む
frame-choose-model = モデルを選択

## The first start

# The words in <one> are tinted as a first guess, those in <two> as a second one.
frame-first = { PLATFORM() ->
    [mac] あなたの<one>Mac</one>
   *[other] この<one>コンピュータ</one>
}で、<one>Qwen</one><two> が</two><one>先読み</one><two>します</two>。
    .words = モデルは次の数語を先読みし、まとめて確認して、正しいものだけを残します。同じ文章が、より早く得られます。色の付いた語は先読みが当たったもので、色が濃いほど先の語です。
frame-try = 今すぐ試す
    .words = デモモデルはとても小さく、すぐに答えます。使えるのは英語だけです。
frame-example-story = フクロウと鐘のお話を聞かせて
frame-example-table = 4 か国の表を作って
frame-example-prediction = マルチトークン予測とは?

## The model to work with

frame-offer = 本格的に使えるモデル
    .get = 本格的に使えるモデルを入手
frame-other-models = ほかのモデル
frame-download = ダウンロード
    .prepared = ダウンロードを準備しています。
    .open = ダウンロードへ移動
frame-coming = 準備ができると使えるようになります。
    .demo = デモモデルをそのまま使えます。
frame-is-here = { -here }にあります:
frame-use = 使用
    .label = 使用: { $name }
frame-use-elsewhere = 使用
    .several = 使用
frame-anything = 入手するか、すでに{ -here }にあるモデルを開いてください。
    .demo = デモモデルが知っているのは、短いお話、いくつかの事実と計算、そしてこのアプリのことです。本格的な会話には、より大きなモデルを入手するか、すでに{ -here }にあるモデルを開いてください。
    .get = モデルを入手
frame-error-details = 詳細（英語）
