### Made by a machine; no native speaker has read it yet.

## Whether a model fits

model-fit-well = 内存充足
    .fact = 内存充足
    .sentence = 上下文为 { $context } 个词元时需要 { $need }，{ -here }可提供 { $available }。
model-fit-tight = 内存紧张
    .fact = 内存紧张
    .sentence = 上下文为 { $context } 个词元时需要 { $need }，{ -here }可提供 { $available }。使用时请关闭其他大型 App。
model-fit-too-big = 太大
    .fact = 太大
    .numbers = 太大：需要 { $needs }，{ -here }可提供 { $gives }
    .sentence = 上下文为 { $context } 个词元时需要 { $need }，但{ -here }只能提供 { $available }。
model-fit-unknown = 无法判断内存是否够用
model-missing = 需要 { $need }，比{ -here }可提供的多 { $missing }
model-recommended = 内存充足的模型中能力最强，还余 { $spare }

## What a chat of some length holds

model-chat-questions = 几轮问答
model-chat-document = 一段长对话或一份文稿
model-chat-documents = 几份文稿
model-chat-short-book = 一本薄书
model-chat-book = 一本书
model-chat-longest = 模型所允许的最大长度

## What a model is

model-head-with = 有 MTP 头
    .fact = 有 MTP 头
model-head-none = 无 MTP 头
    .fact = 无 MTP 头
model-head-unknown = MTP 头未知
model-head-stripped = MTP 头：有声明，但已被移除
model-head-unusable = MTP 头：有，但无法使用
model-head-absent = MTP 头：无
model-mtp-stripped = MTP 已移除
model-mtp-unusable = MTP 不可用
model-mtp-absent = 无 MTP
model-guesses = 最多预测 { $most } 个词元
model-guesses-head = 最多预测 { $most } 个词元（MTP 头）
model-sees = 能看图
model-sees-no-memory = 剩余内存不足，无法看图
model-made-for = 专为 { $model } 制作
model-parameters-active = { $all }，其中 { $active }激活
model-download-converted = { $size }，转换为 4-bit 后 { $converted }
model-choice-offline = 所在磁盘未连接
model-choice-broken = 无法加载
model-choice-built-in = App 自带
model-draft-size = 约 { $size }

## What was measured of its speed

model-tuned = 已测量
model-tuned-plain = 不用草稿最快：{ $speed } tok/s。在这里，没有比普通解码更快的方式。
model-tuned-drafts = 预测 { $drafts } 个草稿时最快：{ $speed } tok/s，是普通解码的 { $gain } 倍
model-tuned-drafts-alone = 预测 { $drafts } 个草稿时最快：{ $speed } tok/s
model-tuned-vocabulary = { $tuned }。草稿只取自 { $vocabulary } 个词元中最常用的 { $tokens } 个：快 { $faster }，接受率为 { $now }，原为 { $before }

model-speed-plain = 普通 { $plain }
model-speed-both = 普通 { $plain }，预测 { $guessing }
model-speed-about-plain = 普通约 { $plain }
model-speed-about-guessing = 预测约 { $guessing }
model-speed-range = { $low } 至 { $high }
model-speed-measured = 实测速度 { $speed } tok/s
    .spoken = 在{ -here }上实测：普通 { $plain }，预测 { $guessing }，单位为每秒词元数。
    .spoken-plain = 在{ -here }上实测：普通 { $plain }，单位为每秒词元数。
model-speed-expected = 预计速度 { $speed } tok/s
    .spoken = 在{ -here }上的预计值，未经实测：普通 { $plain }，预测 { $guessing }，单位为每秒词元数。
    .spoken-plain = 在{ -here }上的预计值，未经实测：普通 { $plain }，单位为每秒词元数。
model-legend =
    .plain = 普通
    .guessing = 预测，tok/s
    .expected = 在{ -here }上的预计值，tok/s

## When it was used, and where it is

model-used = 上次使用：{ $date }
model-used-today = 今天用过
model-used-yesterday = 昨天用过
model-used-never = 尚未使用

model-place-library = 模型库
model-place-cache = Hugging Face 缓存
model-place-studio = LM Studio
model-place-folders = 你打开的文件夹
model-place-others = 其他模型

model-offline = 离线：请连接 { $path } 所在的磁盘
model-offline-library = 离线：连接模型库所在的磁盘后即可恢复
model-library-away = 模型库所在的磁盘未连接
model-library-offline = 模型库所在的磁盘未连接。
model-disk-away = “{ $disk }”未连接
model-comes-back = { $models ->
    [0] 模型库在这个磁盘上，连接后即可恢复。
   *[other] 有 { $models } 个模型在这个磁盘上，连接后即可恢复。
}

## Why it cannot be deleted

model-kept-in-use = 正在使用
model-kept-built-in = 属于 App 本身
model-kept-cache = 属于 Hugging Face 缓存
model-kept-studio = 属于 LM Studio

## What a job does

model-stage-queued = 排队中
model-stage-held-chat = 等待对话结束
model-stage-held-memory = 等待内存
model-stage-downloading = 正在下载
model-stage-paused = 已暂停
model-stage-waiting = 无网络连接
model-stage-verifying = 正在校验文件
model-stage-probing = 正在测量各部分的代价
model-stage-converting = 正在转换
model-stage-comparing = 正在与原模型比较
model-stage-tuning = 正在测量速度
model-stage-moving = 正在移动
model-stage-failed = 已中止
model-stage-done = 就绪
model-job-compared = 已比较
model-job-measured = 已测量

model-held-chat = 等到没有回复在生成、也没有模型在加载时，就会测量速度。
model-held-memory = 连同已加载的模型共需 { $need }，而{ -here }可提供 { $available }。为对话选用更小的模型，测量就会自动继续。

## How far it is

model-progress = { $done } / { $total }
model-bytes-per-second = { $bytes }/秒
model-left-moment = 还需几秒
model-left-seconds = 还需 { $seconds } 秒
model-left-minutes = 还需 { $minutes } 分钟
model-left-hours = 还需 { $hours } 小时 { $minutes } 分钟
model-left-days = 还需一天以上

## What follows, after what is done now

model-then = 随后{ $done }
model-then-checked = 校验
model-then-downloaded = 下载
model-then-measured = 测量
model-then-compared = 比较
model-then-converted = 转换
model-then-moved = 移动

## That it has ended, for those who hear it

model-ended = { $name } 已就绪。
model-ended-measured = { $name } 已测量完毕。
model-ended-compared = { $name } 已与原模型比较完毕。
model-ended-moved = 模型库已移动。
model-ended-failed = { $name } 已中止。{ $why }

## What follows a download, and what it needs

model-after-converted = 校验文件后测量速度。
model-after-published = 校验文件，并按发布时的原样保留，然后测量速度。
model-after-conversion = 校验文件，将模型转换为 { $bits }-bit，并测量速度。随后删除原始文件。
    .keeping = 校验文件，将模型转换为 { $bits }-bit，并测量速度。原始文件也会保留。
model-after-conversion-sized = 校验文件，将模型转换为 { $bits }-bit（约 { $size }），并测量速度。随后删除原始文件。
    .keeping = 校验文件，将模型转换为 { $bits }-bit（约 { $size }），并测量速度。原始文件也会保留。
model-space-conversion = 转换所需的空间比可用空间多约 { $missing }。
model-space-download = 下载需要 { $size }，可用空间为 { $free }。请腾出一些空间，或移动模型库。
model-gone = { $repo } 已不在 Hub 上。
    .hint = 本机上的模型仍可继续使用。

## The models of other programs

model-elsewhere-studio = LM Studio 的文件夹中有 { $models } 个模型
model-elsewhere-cache = Hugging Face 缓存中有 { $models } 个模型
model-elsewhere-both = LM Studio 的文件夹中有 { $studio } 个模型，Hugging Face 缓存中有 { $cache } 个
model-elsewhere-one-studio = LM Studio 的文件夹中有 { $name }
model-elsewhere-one-cache = Hugging Face 缓存中有 { $name }

## For which machine a model is offered. $sound matters in English alone.

model-for-machine = 适合{ -here }：
    .chip = 适合{ -here }（{ $sound ->
       *[any] { $chip }
    }）：
    .memory = 适合{ -here }（{ $memory }）：
    .both = 适合{ -here }（{ $sound ->
       *[any] { $chip }
    }，{ $memory }）：

## A conversion

model-convert = 转换
model-convert-sheet = 转换 { $name }
model-convert-why = 每个权重的位数越少，占用的内存越少，回答越快。MTP 头会保留。
model-convert-then = 转换后的模型会放入模型库，并测量其速度。
    .keeping = 转换后的模型会放入模型库，并测量其速度。原模型保持不变。
model-convert-later = 测量完成后即可选择大小。
model-convert-measuring = { $stage }：{ $share }
model-convert-looking = 正在查找测量结果…
model-convert-here = 已有这个大小的模型。
model-conversion = 转换
model-convert-4-bit = 推荐。小而快，损失很小
model-convert-8-bit = 大小加倍，几乎没有损失
model-convert-none = 不转换
    .words = 按发布时的原样：最大、最慢
model-convert-quality = 按质量
    .words = 每个部分按需分配位数，由你决定与原模型的接近程度
model-keep-original = 转换后保留原始文件

## What is measured before a size is chosen

model-measure = 测量
model-measure-again = 重新测量…
model-measured-on = 测量所用文本：{ $text }。
model-measure-first = 先测量
    .words = 首先测量减少位数对模型各部分的影响。然后由你选择大小，每个部分按需分配位数。
    .takes = 测量和转换需要{ $time }、{ $memory } 内存和 { $disk } 磁盘空间。期间可以继续对话，也可以暂停。
model-measured-text = 文本：<name>{ $text }</name>
    .choose = 选择文件…
    .own = 使用程序自带文本
    .which = 选用与你平时所用相近的文本，结果会更适合你：纯文本、Markdown 或逐行 JSON。
    .private = 文件只在{ -here }上读取，既不复制也不发送。转换之前请不要移动它。
model-about-minutes = { $minutes ->
    [0] 不到 1 分钟
   *[other] 约 { $minutes } 分钟
}
model-about-hours = 约 { $hours } 小时
model-text-own = 程序自带文本
model-text-replies = 原模型自己的回复
model-text-file = 你的文件

## A size to choose, and how close it is to the original

model-slider = 大小与质量
model-size = { $size }，每权重 { $bits } 位
model-size-here = 已有：{ $name }
model-memory-left = { -here }可提供 { $available }，还余 { $left }
model-memory-missing = 比{ -here }可提供的多需要 { $missing }
model-speed-beside-4-bit = 预计约为 4-bit 速度的 { $factor } 倍
model-measured-closeness = 实测：每 100 个词中{ $differing ->
    [0] 不到 1 个
   *[other] 约 { $differing } 个
}与原模型不同（KL 散度 { $kl }）
model-expected-closeness = 预计值，未经实测。转换完成后会与原模型比较
model-then-said = { $before }。{ $next }
model-closeness-small = 小巧
model-closeness-balanced = 均衡
model-closeness-close = 接近原模型
model-closeness-none = 不及“小巧”

## The evidence of how close a model is

model-quality = 质量
model-evidence = 每 100 次中有 { $often } 次与原模型选择相同的下一个词元，在 { $tokens } 个未参与选择的词元上测得。
model-closeness = KL 散度为每词元 { $kl } 奈特：{ $name }
model-kl-least = 低于 0.000001
model-all-figures = 所有数据
model-figure-kl = KL 散度
    .words = 每词元 { $kl } 奈特
model-figure-p99 = 100 个词元中的 99 个
    .words = 低于 { $kl }
model-figure-perplexity = 困惑度
model-figure-drafts = 草稿接受率
model-figure-text = 文本
    .tokens = { $tokens } 个词元
model-figure-bits = 每权重位数
model-figure-matrices = 矩阵
model-figure-original = 原模型 { $value }
model-matrices-bits = { $bits } 位 { $matrices } 个
model-matrices-whole = 未量化 { $matrices } 个
