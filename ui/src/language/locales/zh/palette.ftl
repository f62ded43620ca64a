### Made by a machine; no native speaker has read it yet.

palette-name = 前往
palette-field = 前往对话，或执行操作
    .label = 对话、命令、模型和设置
palette-choices = 选项
palette-nothing = 未找到任何内容。

## What kind of thing a choice is

palette-chats = 对话
palette-commands = 命令
palette-projects = 项目
palette-prompts = 提示词
palette-models = 模型
palette-settings = 设置

## Choices

palette-think = 思考：{ $mode }
palette-summarise = 总结此对话较早的部分
palette-open-project = 项目：{ $name }
palette-insert-prompt = 提示词：{ $name }
palette-use-model = 使用 { $name }
palette-ask-two = 向两个模型提问：{ $first } 和 { $second }
palette-open-settings = 设置：{ $page }

## The list of keys

palette-shortcuts = 在命令面板中，一切都可以按名称查找。
palette-keys-send = 发送消息
palette-keys-line = 换行
palette-keys-list = 在列表中移动
palette-keys-next-area = 窗口的下一个区域
palette-keys-previous-area = 窗口的上一个区域
palette-keys-close = 关闭打开的内容，或返回对话
