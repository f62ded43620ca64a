### Made by a machine; no native speaker has read it yet.

palette-name = 移動先
palette-field = チャットへの移動や操作の実行
    .label = チャット、コマンド、モデル、設定
palette-choices = 候補
palette-nothing = 何も見つかりませんでした。

## What kind of thing a choice is

palette-chats = チャット
palette-commands = コマンド
palette-projects = プロジェクト
palette-prompts = プロンプト
palette-models = モデル
palette-settings = 設定

## Choices

palette-think = 思考: { $mode }
palette-summarise = このチャットの古い部分を要約
palette-open-project = プロジェクト: { $name }
palette-insert-prompt = プロンプト: { $name }
palette-use-model = { $name } を使用
palette-ask-two = 2 つのモデルに質問: { $first } と { $second }
palette-open-settings = 設定: { $page }

## The list of keys

palette-shortcuts = パレットでは、何でも名前で探せます。
palette-keys-send = メッセージを送信
palette-keys-line = 改行
palette-keys-list = リスト内を移動
palette-keys-next-area = ウインドウの次の領域
palette-keys-previous-area = ウインドウの前の領域
palette-keys-close = 開いているものを閉じる、またはチャットに戻る
