### Made by a machine; no native speaker has read it yet.

find-matches = このチャット内の一致項目
find-field = このチャット内を検索
find-words = このチャット内の<query></query>
    .query = 「{ $query }」
find-count = <unseen>一致項目 </unseen>{ $place ->
    [none] { "" }
    [lost] – / { $all }
   *[match] { $at } / { $all }
}
find-previous = 前の一致項目
find-next = 次の一致項目
find-close = 閉じる
