### Made by a machine; no native speaker has read it yet.

find-matches = 此对话中的匹配项
find-field = 在此对话中查找
find-words = 此对话中的<query></query>
    .query = “{ $query }”
find-count = <unseen>匹配项 </unseen>{ $place ->
    [none] { "" }
    [lost] –/{ $all }
   *[match] { $at }/{ $all }
}
find-previous = 上一个匹配项
find-next = 下一个匹配项
find-close = 关闭
