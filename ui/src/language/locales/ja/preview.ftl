### Made by a machine; no native speaker has read it yet.

preview-diagram = 図
preview-drawing = 描画
preview-page = ページ
preview-too-much = 描画に時間がかかりすぎます。
preview-diagram-failed = 図を描画できません。
