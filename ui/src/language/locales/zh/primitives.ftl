### Made by a machine; no native speaker has read it yet.

-here = 本机

## Numbers with their units

word-percent = { $share }%
word-minutes-seconds = { $minutes } 分 { $seconds } 秒
word-seconds = { $seconds } 秒
word-milliseconds = { $milliseconds } 毫秒
word-parameters = { $count }参数

## Days

word-weekday = { DATETIME($date, weekday: "short") }
word-day = { DATETIME($date, day: "numeric", month: "short") }
word-day-and-year = { DATETIME($date, day: "numeric", month: "short", year: "numeric") }
word-month = { DATETIME($date, month: "short") }
word-month-and-year = { DATETIME($date, month: "long", year: "numeric") }
word-today = 今天
word-yesterday = 昨天
word-last-seven-days = 过去 7 天

## What stands between facts in a row, and between sentences

word-comma = ，
word-gap = { "" }

## Speed and drafts

word-per-pass = 每次前向计算 { $tokens } 个
word-no-drafts = 无草稿
word-accepted = 接受 { $share }
word-gain = 普通的 { $factor } 倍
word-what-drafts-are = 草稿是模型提前预测的词。模型随后在一次前向计算中检查所有草稿，保留正确的部分。预测错误只会多花一点时间，绝不会让回复变差。
word-drafts-made = 草稿：{ $makers }
word-drafts-by-head = MTP 头 { $count } 个
word-drafts-by-dflash = DFlash { $count } 个
word-drafts-from-text = 来自文本 { $count } 个

word-drafting-auto = 自动
word-drafting-off = 关闭
word-drafting-look-up = 查找
word-drafting-dflash = DFlash，{ $depth }
word-drafts-off = 由你设定
    .why = 草稿已被你关闭。
word-drafts-not-paying = 此处不划算
word-no-draft-model = 无草稿模型
    .why = 没有随此模型加载草稿模型。
word-head-absent = 无 MTP 头
    .why = 此模型没有 MTP 头。
    .about = 没有 MTP 头。
word-head-stripped = MTP 头已移除
    .why = 转换此模型副本时，MTP 头被移除了。
    .about = 转换此副本时，MTP 头被移除了。
word-head-unusable = MTP 头不可用
    .why = 此模型的 MTP 头无法使用；模型选择器中说明了问题所在。
    .about = 有 MTP 头，但无法使用。
word-guesses-head = “自动”用 MTP 头预测。
word-guesses-text = “自动”和“查找”根据已有文本预测。
word-guesses-text-alone = 它只根据已有文本预测。
word-guesses-draft-model = “自动”和“DFlash”用它的草稿模型预测。
word-guesses-of-model = 只根据已有文本预测。
    .drafted = 由它的草稿模型预测，或根据已有文本预测。
word-mtp-head = MTP 头：{ $tensors } 个张量，{ $format }
word-draft-model = 草稿模型：{ $name }，最多预测 { $most } 个词元，{ $size }

word-note-switched-off = 草稿已关闭。
word-note-no-draft-model = 没有随此模型加载草稿模型。
word-note-no-head = 此模型没有可用来生成草稿的 MTP 头。
word-note-lookup-little = 回复中只有少量内容在之前的文本中出现过。
word-note-lookup-unpaid = 回复中有许多内容在之前的文本中出现过，但用作草稿并不划算。
word-note-unpaid = 草稿在这里并不划算：生成并检查 { $drafts } 个草稿的用时是没有草稿的一次前向计算的 { $longer } 倍，得到的词元是其 { $more } 倍。
word-note-others-righter = 草稿被暂缓：同时生成的其他回复的草稿更常猜对。
word-note-others-slower = 草稿被暂缓：它们会拖慢同时生成的其他回复。

## How tokens are drawn

word-greedy = 贪心
word-temperature = 温度 { $temperature }

## Controls

word-copied = 已复制
word-not-copied = 无法复制
word-number-needed = 请输入数字。
word-no-number = “{ $text }”不是数字。
word-whole-numbers = 只能是整数。
word-at-least = 不能小于 { $least }。
word-at-most = 不能大于 { $most }。
word-close = 关闭
    .title = 关闭（Esc）
word-show-folder = { PLATFORM() ->
    [mac] 在“访达”中显示
   *[other] 在文件夹中显示
}

## Names of keys

word-key-control = Ctrl
word-key-shift = Shift
word-key-page-up = Page Up
word-key-page-down = Page Down
