### Made by a machine; no native speaker has read it yet.

## In the list

projects-more = “{ $name }”的更多操作
projects-name-field = 项目名称
    .placeholder = 新项目
projects-chats = { $chats } 个对话
projects-new-chat = 在此新建对话
projects-show-chats = 显示其中的对话
projects-hide-chats = 隐藏其中的对话
projects-add-files = 添加文件…
projects-rename = 重新命名
projects-delete = 删除

## The page

projects-knows = 这里每个对话都知道的内容
    .placeholder = 主题是什么、已经决定了什么、应当如何回答
projects-begins-with = 这里的新对话以<settings>{ $settings }</settings>开始。
projects-keep-settings = 采用下方的设置
    .title = 消息下方的设置将用于这里的每个新对话。已有的对话保留各自的设置。
projects-files = 文件
    .note = 短文件会完整读取，长文件会按每个问题查找相关的部分。
projects-tokens = 约 { $tokens } 个词元
projects-tokens-of = 约 { $tokens } 个词元（共 { $context } 个）
projects-file-remove = 移除
    .label = 移除 { $name }
projects-file-reading = 正在读取
projects-file-waiting = 等待中
projects-page-add-files = 添加文件
projects-folder-add = 添加文件夹
projects-folder-change = 换一个文件夹
projects-folder-leave = 不再使用
    .title = 不再读取此文件夹。文件夹本身保持不变。
projects-folders = 一个项目只有一个文件夹，而这里有 { $folders } 个。
    .hint = 请只拖放要使用的那一个。
projects-page-chats = 对话
    .none = 在下方提问，就会开始第一个对话。
projects-chat-writing = 正在生成
projects-chats-more = 显示更多

## Moving a chat

projects-move-sheet = 移动“{ $title }”
projects-move-choices = 项目
projects-move-none = 无项目
projects-move-new = 或移到新项目
    .placeholder = 新项目的名称
projects-move-cancel = 取消
projects-move = 移动
    .there = 对话已经在那里了。

## Deleting a project

projects-delete-sheet = 要删除“{ $name }”吗？
projects-delete-cancel = 取消
projects-delete-with-chats =
    { $chats ->
        [1] 连同其中的对话一起删除
       *[other] 连同其中的 { $chats } 个对话一起删除
    }
projects-delete-keep-chats = 保留对话
projects-delete-words =
    项目{ $files ->
        [0] { "" }
       *[other] 及其文件
    }将被删除。{ $chats ->
       *[other] 其中的对话会回到列表，或随项目一起删除。
    }退出 Foretoken 之前，这些都可以恢复。

## What was done

projects-chat-left = 对话已移出项目。
projects-chat-moved = 对话已移到“{ $name }”。
projects-deleted = “{ $name }”已删除。
projects-deleted-with-chats = “{ $name }”已删除，连同 { $chats } 个对话。
projects-deleted-unnamed = 项目
projects-files-replaced =
    { $files ->
       *[other] 已替换同名的文件。
    }
projects-file-removed = “{ $name }”已从项目中移除。
