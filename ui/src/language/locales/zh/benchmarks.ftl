### Made by a machine; no native speaker has read it yet.

benchmarks-title = 基准测试
benchmarks-export = 导出所有基准测试
    .as = 导出为 { $format }…
    .none = 还没有基准测试。
    .done = 已导出到 { $path }

## The ways to write, and the kinds of text

benchmarks-way =
    .plain = 普通
    .ahead = 预测 { $depth } 个
benchmarks-prose = 文章
    .words = 故事、信件、说明
benchmarks-code = 代码
    .words = 函数、测试、对文件的修改
benchmarks-any = 所有文本
    .words = 未区分文章和代码

## What is measured

benchmarks-measure = 测量
    .no-model = 没有模型。
    .gone = { $name } 已不在这里。
benchmarks-minutes = { $minutes ->
    [0] 不到 1 分钟
   *[other] 约 { $minutes } 分钟
}
benchmarks-plan = 测量内容
    .texts = 生成的文本
    .both = 文章和代码
    .ahead = 预测
    .ways = 将普通解码与{ $head ->
        [yes] 预测 1、2、3 个、
       *[no] { "" }
    }{ $dflash ->
        [yes] DFlash、
       *[no] { "" }
    }查找和自动进行比较
    .prompt = 长提示词
    .prompt-words = 读取它的速度，以及占用的内存
    .effort = 所需时间
    .quick = 快速
    .thorough = 全面
    .note = 每种方式运行 { $runs } 次，每次 { $tokens } 个词元{ $texts ->
        [both] ，文章和代码分别测量
       *[other] { "" }
    }。仅在没有回复正在生成时运行，对话优先。
benchmarks-running = 正在测量
benchmarks-model = 模型
    .none = 无模型
    .choose = 要测量的模型
    .missing = 还没有模型。
    .gone = 仅在历史记录中

## What was found

benchmarks-result = 结果
benchmarks-earlier = 这是较早的结果，测于 { $time }。<newest>显示最新结果</newest>
benchmarks-times = { $low } 到 { $high }
benchmarks-clause =
    .gains = { $about ->
        [prose] 使用预测，生成文章的速度是普通解码的
        [code] 使用预测，生成代码的速度是普通解码的
        [both] 使用预测，生成文章和代码的速度都是普通解码的
       *[any] 使用预测，生成速度是普通解码的
    } { $times } 倍
    .plain = { $about ->
        [prose] 生成文章时，没有比普通解码更快的
        [code] 生成代码时，没有比普通解码更快的
        [both] 生成文章和代码时，都没有比普通解码更快的
       *[any] 这里没有比普通解码更快的
    }
    .uncertain = { $about ->
        [prose] 生成文章时，预测没有带来确定的提速
        [code] 生成代码时，预测没有带来确定的提速
        [both] 生成文章和代码时，预测都没有带来确定的提速
       *[any] 这里预测没有带来确定的提速
    }
    .alone = { $about ->
        [prose] 普通解码生成文章的速度为每秒
        [code] 普通解码生成代码的速度为每秒
        [both] 普通解码生成文章和代码的速度均为每秒
       *[any] 普通解码的生成速度为每秒
    } { $speed } 个词元
    .unmeasured = { $about ->
        [prose] 未测量普通解码生成文章的速度
        [code] 未测量普通解码生成代码的速度
        [both] 未测量普通解码生成文章和代码的速度
       *[any] 未测量普通解码
    }
benchmarks-aside =
    .plain = { $about ->
        [prose] 生成文章时，没有比普通解码更快的
       *[code] 生成代码时，没有比普通解码更快的
    }
    .uncertain = { $about ->
        [prose] 生成文章时，预测没有带来确定的提速
       *[code] 生成代码时，预测没有带来确定的提速
    }
    .alone = { $about ->
        [prose] 生成文章时，只测量了普通解码
       *[code] 生成代码时，只测量了普通解码
    }
    .unmeasured = { $about ->
        [prose] 生成文章时，未测量普通解码
       *[code] 生成代码时，未测量普通解码
    }
benchmarks-sentence =
    .none = 没有测量任何内容。
    .one = { $clause }。
    .two = { $clause }；{ $aside }。
    .gains = 使用预测，生成文章的速度是普通解码的 { $prose } 倍，生成代码是 { $code } 倍。
    .gains-up-to = 使用预测，生成文章的速度是普通解码的 { $prose } 倍，生成代码最高达 { $code } 倍。
    .alone = 普通解码生成文章的速度为每秒 { $prose } 个词元，代码为每秒 { $code } 个词元。
benchmarks-detail =
    .fastest = { $about ->
        [prose] 生成文章最快：{ $names }。
        [code] 生成代码最快：{ $names }。
        [both] 生成文章和代码都最快：{ $names }。
       *[any] 最快：{ $names }。
    }
    .equal = { $about ->
        [prose] 生成文章同样快（范围有重叠）：{ $names }。
        [code] 生成代码同样快（范围有重叠）：{ $names }。
        [both] 生成文章和代码都同样快（范围有重叠）：{ $names }。
       *[any] 同样快（范围有重叠）：{ $names }。
    }
benchmarks-bracket =
    .fastest = 最快
    .equal = 同样快
benchmarks-ranges-note = tok/s，{ $runs } 次运行的最低到最高值
benchmarks-range = 普通解码的 { $low } 到 { $high } 倍，中位数为 { $middle } 倍。
benchmarks-auto = { $about ->
    [prose] 自动，文章：{ $note }
    [code] 自动，代码：{ $note }
    [any] 自动，所有文本：{ $note }
   *[both] 自动：{ $note }
}
benchmarks-figures = 所有数据
    .runs = { $runs } 次运行
benchmarks-prompt-read = 读取 { $tokens } 个词元的提示词
benchmarks-peak = 最高内存占用
benchmarks-loaded = 加载用时
benchmarks-table = 不同草稿数量下的速度
    .guesses = 草稿
    .speed = 词元/秒
    .gain = 相对普通
    .pass = 每次前向计算
    .accepted = 各位置接受率
benchmarks-notes = { $facts }。
    .place = { $format }，在{ $place ->
        [here] { -here }
       *[elsewhere] 另一台电脑（{ $machine }）
    }的 { $processor ->
        [cpu] CPU
       *[gpu] GPU
    } 上{ $memory ->
        [eight] ，长对话占用更少内存（8 位）
       *[full] { "" }
    }
    .runs = { $runs } 次运行，{ $texts ->
        [both] 每种文本
       *[one] 每次
    } { $tokens } 个词元
    .strained = 测量时机器过热或处于节能状态，其他时候会更快
benchmarks-unknown-processor = 未知处理器
benchmarks-strange =
    .machine = 其他电脑：{ $machine }
    .format = 其他格式：{ $format }
    .results = { $results } 个来自其他电脑或其他格式的结果仅列在表格中。

## Over time

benchmarks-over-time = 随时间变化
benchmarks-nothing = 尚未测量。
    .of-model = 尚未测量 { $name }。
    .question = 预测能让{ -here }快多少？
benchmarks-plotted = 图表中的基准测试
    .full = 常规内存
    .eight = 更少内存
benchmarks-apart = { $results } 个{ $memory ->
    [eight] 长对话占用更少内存（8 位）
   *[full] 使用常规内存
}的结果单独绘制。
benchmarks-metric = 图表内容
    .reading = 读取
    .memory = 内存
    .prompt = 提示词
benchmarks-line =
    .same = { $name }：{ $value }
    .change = { $name }：从 { $from } 到 { $to }
benchmarks-chart = { $days ->
    [one] { $begin }
   *[more] { $begin }至{ $end }
}，{ $benchmarks } 次基准测试{ $memory ->
    [eight] （长对话占用更少内存，8 位）
   *[full] { "" }
}。{ $lines }{ $metric ->
    [memory] { "" }
    [reading] （提示词词元/秒）
   *[other] （词元/秒）
}。
benchmarks-results = 所有结果
    .measured = 测量时间
    .show = 显示此结果
    .eight = 更少内存（8 位）
    .unmeasured = 未测量
    .delete = 删除
    .delete-one = 删除 { $time } 的结果
benchmarks-deleted = 已删除 { $model } 于 { $time } 的结果。
    .undo = 撤销
benchmarks-unreadable = 历史记录中有 { $lines } 行无法读取，仍保留在文件中。

## One question without drafts and with them

benchmarks-compare =
    .title = 并排比较
    .note = 同一个问题，使用相同的设置和随机种子：先不用草稿，再用草稿。两个回复分别单独生成，互不拖慢。不会向任何对话添加内容。
    .question = 要比较的问题
    .owl = 给我讲一个猫头鹰和铃铛的故事。
    .nothing = 还没有要问的问题。
    .run = 比较
    .cancel = 取消
    .progress = 比较
benchmarks-refused =
    .window = 请在主窗口中操作。
    .comparing = 正在进行比较。
    .no-model = 没有就绪的模型。
    .no-head = 此模型没有可用于比较的 MTP 头；“自动”和“查找”从文本中获取草稿。
    .no-draft-model = 没有随此模型加载草稿模型；请选择其他草稿方式，或在“模型”页面获取一个。
    .writing = 正在生成回复；两段文本必须单独测量。
benchmarks-progress =
    .beginning = 正在开始
    .reading = 正在读取提示词：{ $done }/{ $total } 个词元
    .plain = 正在生成（不用草稿）：{ $tokens } 个词元
    .drafted = 正在生成（使用草稿）：{ $tokens } 个词元
benchmarks-ratio =
    .short = 回复太短，无法判断速度。
    .faster = 使用草稿，此回复的生成速度是普通解码的 { $times } 倍。
    .slower = 使用草稿，此回复反而更慢：速度是普通解码的 { $times } 倍。
    .same = 草稿对此回复的速度没有影响。
benchmarks-texts =
    .equal = 两段文本逐词元完全相同。
    .equal-drawn = 两段文本逐词元完全相同，尽管其中的词是随机抽取的。
    .different = 两段文本在 { $tokens } 个相同的词元之后出现差异。在这些设置下它们必须相同：出了问题。
    .rounded = 两段文本在 { $tokens } 个相同的词元之后出现差异，这是允许的：{ -here }在检查草稿时舍入方式不同，遇到几乎同样可能的词时，结果由舍入决定。MTP 菜单中“{ chat-rule }”下的“{ chat-rule-strict }”能让大多数文本保持一致。
    .rounded-strict = 两段文本在 { $tokens } 个相同的词元之后出现差异，这是允许的：{ -here }在检查草稿时舍入方式不同，遇到几乎同样可能的词时，结果由舍入决定。“{ chat-rule-strict }”管不到这么远：它只适用于较短的对话，且同时进行的对话较少时。
    .same-chances = 用词不同，这是允许的：使用“{ chat-rule-rejection }”时，每个词出现的概率与不用草稿时相同，但抽取到的词不同。
benchmarks-compared =
    .drafts = 草稿：{ $drafts }
    .seed = 随机种子 { $seed }
    .once = 各测量一次
    .facts = { $facts }。计时从各自的第一个词元开始；两者的提示词都已事先读取。
benchmarks-replay =
    .play = 播放
    .again = 重新播放
    .pause = 暂停
    .time = 时间
    .end = 跳到结尾
    .written = { $here }/{ $all } 个词元
    .done = { $here }/{ $all } 个词元，用时 { $time }
benchmarks-replay-plain = 不用草稿
    .text = 不用草稿的文本
benchmarks-replay-drafted = 使用草稿
    .text = 使用草稿的文本
