### Made by a machine; no native speaker has read it yet.

prompts-page = 提示词
    .note = 在消息开头键入 / 即可选择提示词。{ "{{双花括号}}" } 中的内容在那里填写：按 Tab 键逐处跳转。{ "{{clipboard}}" } 会替换为剪贴板中的文本。
prompts-deleted = “{ $name }”已删除。
    .undo = 撤销
prompts-none = 还没有提示词
    .words = 先从四个开始：总结、改写、翻译、解释代码
prompts-add-examples = 添加示例
prompts-edit = 编辑
    .label = 编辑 { $name }
prompts-delete = 删除
    .label = 删除 { $name }
prompts-add = 添加提示词
prompts-import = 导入…
prompts-export = 导出…
    .none = 没有可导出的提示词。

## A prompt that is being written

prompts-form = 提示词
    .new = 新建提示词
    .no-name = 提示词还没有名称。
    .no-text = 提示词还没有文字。
prompts-name = 名称
prompts-description = 描述
    .placeholder = 用途（可选）
prompts-text = 文字
    .placeholder = 将下面的文字翻译成{ "{{语言}}" }。
prompts-cancel = 取消
prompts-save = 存储

## Above a message that begins with a slash

prompts-list = 提示词
    .none = 你存为提示词的文字会显示在这里。
    .open = 提示词…

## Prompts to begin with. What stands in double braces is filled in by whoever uses them.

prompts-example-summarise = 总结
    .description = 一段文字的要点
    .text =
        将下面的文字总结为 { "{{数量}}" } 个要点，每点一句话。不要添加原文没有的内容。

        { "{{文字}}" }
prompts-example-rewrite = 改写
    .description = 换一种说法
    .text =
        改写下面的文字，使其{ "{{清晰友好}}" }。保持原意和事实不变。

        { "{{文字}}" }
prompts-example-translate = 翻译
    .description = 译成另一种语言
    .text =
        将下面的文字翻译成{ "{{语言}}" }。只给出译文。

        { "{{文字}}" }
prompts-example-explain = 解释代码
    .description = 它做什么，可能出什么问题
    .text =
        逐步解释这段代码做了什么，并指出可能出现的问题。

        ```
        { "{{代码}}" }
        ```
