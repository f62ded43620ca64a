### Made by a machine; no native speaker has read it yet.

## The list

chats-list = 对话
chats-unnamed = 未命名
chats-heading-pinned = 置顶
chats-heading-projects = 项目
chats-new-project = 新建项目
chats-drag-into = 移到“{ $name }”
chats-drag-out = 移出项目
chats-more = “{ $title }”的更多操作
chats-writing = 正在生成回复
chats-failed = 上一条回复失败了
chats-unseen = 有未读的回复
chats-name-field = 对话名称
    .placeholder = 以第一条消息命名

## What can be done with a chat

chats-export-markdown = 导出为 Markdown…
chats-export-html = 导出为 HTML…
chats-export-json = 导出为 JSON…
chats-print = 打印…
chats-keep-temporary = 保留此对话
chats-open-window = 在新窗口中打开
chats-show-in-main = 在主窗口中显示
chats-rename = 重新命名
chats-pin = 置顶
chats-unpin = 取消置顶
chats-tags = 标签…
chats-move = 移到项目…
chats-take-out = 移出项目
chats-delete = 删除

## Tags

chats-tags-sheet = “{ $title }”的标签
chats-tags-cancel = 取消
chats-tags-keep = 存储
chats-tags-field = 标签，以逗号分隔
    .placeholder = 工作，故事
chats-tags-known = 其他对话的标签
chats-tag-filter = 列出的对话
chats-tag-filter-all = 所有对话

## Search

chats-search = 搜索
    .label = 搜索所有对话
chats-search-results = 搜索结果
chats-search-filters = 要显示的结果
chats-search-all = 全部
chats-search-week = 本周
chats-search-pinned = 置顶
chats-search-tagged = 带有标签“{ $tag }”
chats-search-places =
    <number>{ $shown }</number><unit>{ $places ->
       *[other] { " " }处
    }</unit>
chats-search-in-chat = “{ $title }”中的结果
chats-search-more-in-chat = 此对话中还有 { $places } 处
chats-search-elsewhere = 其他对话中还有 { $places } 处。再加一个词可缩小范围。
chats-search-elsewhere-capped = 其他对话中还有 { $places } 处。只查看了最新的 2,000 处匹配。再加一个词可缩小范围。
chats-search-capped = 只查看了最新的 2,000 处匹配。再加一个词可缩小范围。
chats-search-found = 在 { $chats } 个对话中找到 { $places } 处
chats-search-found-capped = 在 { $chats } 个对话中找到 { $places } 处以上
chats-search-nothing = 未找到结果
chats-search-none = 没有对话包含“{ $query }”
chats-search-none-pinned = 没有置顶的对话包含“{ $query }”
chats-search-none-week = 本周没有对话包含“{ $query }”
chats-search-none-tagged = 没有带标签“{ $tag }”的对话包含“{ $query }”
chats-search-searched = 已搜索 { $messages } 条消息。
chats-search-searched-files = 已搜索 { $messages } 条消息和 { $files } 个文件。
chats-search-keys-move = ↑ ↓ 移动
chats-search-keys-open = ⏎ 打开
chats-search-keys-leave = esc 退出

## What was deleted

chats-message-deleted = 消息已删除。
chats-chat-deleted = 对话已删除。
chats-named-deleted = “{ $title }”已删除。
chats-deletions = 已删除
    .title = 已删除的对话、消息、项目和预设
    .note = 退出 Foretoken 之前，这些都可以恢复。
chats-deletions-preset = 预设
chats-deletions-project = 项目
chats-deletions-project-chats = 项目，包含 { $chats } 个对话
chats-deletions-chat = 对话
chats-deletions-message = “{ $chat }”中的消息
chats-deletions-no-text = 没有文字
chats-bring-back = 恢复
    .label = 恢复“{ $name }”

## Into files and out of them

chats-export-sheet = 连同图片一起导出？
chats-export-size = 图片约占 { $size }。
chats-export-cancel = 取消
chats-export-now = 导出
chats-export-choices = 如何处理图片
chats-export-stripped = 去除地点和相机信息的图片
    .words = 不包含文件中记录的拍摄地点、时间和设备。
chats-export-unchanged = 原样图片
    .words = 文件逐字节保持不变。
chats-export-shown = 与此处显示一致的图片
    .words = 存放在文件之内；不透露拍摄地点、时间和设备。
chats-export-left-out = 不含图片
    .words = 只保留名称。
chats-exported = 已导出到 { $path }
chats-exported-views = { $pictures } 张图片以较小的副本导出，不含其文件中的信息。
chats-exported-missing = 缺少 { $pictures } 张图片：文件已不存在。
chats-imported =
    已{ $files ->
        [1] { "" }
       *[other] 从 { $files } 个文件
    }添加 { $chats } 个对话，共 { $messages } 条消息。{ $leftOut ->
        [0] { "" }
       *[other] 略去了 { $leftOut } 项此处无法容纳的内容（例如图像）。
    }{ $missing ->
        [0] { "" }
       *[other] 缺少 { $missing } 张图片：不在文件中或已损坏。
    }
chats-not-imported = 另有 { $files } 个文件也无法导入。

## Chats that cannot be opened

chats-trouble-corrupt = 对话已损坏
chats-trouble = 无法打开对话
chats-trouble-restore = 恢复 { $date } 的副本
chats-trouble-newer = 副本大小为 { $size }。较新的文件会保留在旁边，不会丢弃任何内容。
chats-trouble-damaged = 副本大小为 { $size }。损坏的文件会保留在旁边，不会丢弃任何内容。
