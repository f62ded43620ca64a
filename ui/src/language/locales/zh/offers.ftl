### Made by a machine; no native speaker has read it yet.

offers-prompt =
    .insert = 插入
    .filling = 正在填写…
    .sent = 服务器正在填写。
    .cancel = 取消
    .note = 你在这里填写的内容会发送给 { $server }。

## What servers have to read

offers-attach = 来自服务器…
offers-resources = 来自服务器
    .search = 搜索
    .list = 你的服务器提供的内容
    .asking = 正在询问你的服务器…
    .none = 你的服务器没有可添加的内容。
    .no-match = 没有匹配的内容。
