### Made by a machine; no native speaker has read it yet.

## What several places say

models-action-of = { $action }：{ $name }
models-more-for = { $name } 的更多操作
models-try-again = 重试
models-get = 获取
models-use = 使用
models-delete = 删除
models-remove-from-list = 从列表中移除
models-add-folder = 添加文件夹…
models-is-offline = 模型已离线

## The screen

models-title = 模型
models-here = { -here }上的模型
models-more = 模型的更多操作
models-check-updates = 检查更新
models-search-shown = 正在显示搜索结果
models-get-models = 获取模型
models-storage = 存储、内存与访问

## How long a chat is

models-context = 按 { $length } 的对话评估
    .title = 评估所依据的对话长度
    .hint = 以多长的对话来评估模型能否运行
    .length = 对话长度
    .note = 对话越长，占用的内存越多。模型能否运行、推荐哪个模型，都按这个长度的对话来判断。这并不限制对话的长度。
models-context-tokens = { $tokens } 个词元

## Models on this machine

models-count = { $models } 个模型
models-count-drafts = { $models } 个模型和 { $drafts } 个草稿模型
models-free = 可用空间 { $size }
models-only-demo = 目前只有一个很小的演示模型。可以在下方获取更大的模型，或添加你已有模型的文件夹。
models-none = 还没有模型。可以在下方获取，或添加你已有模型的文件夹。
models-deleted = 已删除的模型
models-deleted-model = 已删除“{ $name }”。退出 App 时将释放 { $size }。
    .undo = 撤销
    .bring-back = 撤销：恢复 { $name }
models-in-use = 使用中
models-lost-head = 这个转换版本丢失了 MTP 头。
    .get = 查找带 MTP 头的版本
models-unusable-head = 它带有 MTP 头，但无法使用。
models-newer = Hub 上有更新的版本。<look>查看</look>
models-loading-share = 正在加载 { $share }
models-use-anyway = 仍要使用

## What else can be done with one

models-is-broken = 模型已损坏
models-details-open = 详细信息…
models-convert = 转换…
    .done = 模型已转换过
models-measure = 测量
    .again = 重新测量
    .no-head = 没有可测量的 MTP 头
models-delete-with-draft = 连同草稿模型一起删除

## All that is known of a model

models-not-known = 未知
models-verdict = { $verdict }。{ $why }
models-summary = { $summary }。
models-size = { $size }，{ $parameters }
models-not-measured = 尚未测量
models-speed-expected = { $speed }，词元/秒；预期值，未经测量
models-too-little-known = 已知信息太少，无法判断
models-see-card = 请查看模型卡片
models-fact-fit = 内存
models-fact-size = 大小
models-fact-format = 格式
models-fact-drafts = 草稿
models-fact-measured = 测量结果
models-fact-use = 使用
models-fact-from = 来源
models-fact-folder = 文件夹
models-fact-download = 下载
models-fact-pictures = 图片
models-fact-speed = 速度
models-fact-licence = 许可证
models-quality = 质量
    .words = 它似乎由 { $original } 转换而来。与原模型有多接近，可以测量：让两者读相同的文本。这需要几分钟，且两者都不必能放进内存。
    .compare = 与原模型比较
    .running = 正在比较。

## Draft models

models-draft-of = { $name } 的草稿模型
models-draft = 草稿模型：{ $name }
    .none = 草稿模型：暂无
models-lonely-drafts = 缺少对应模型的草稿模型
models-newer-draft = Hub 上有更新的版本。<get>获取</get>
models-draft-not-used = 未使用：另一个草稿模型更适合。
models-draft-refused = 它的草稿模型无法使用，因此不使用：{ $reason }
models-draft-waits = 当前回复完成后即开始使用。
models-draft-offer = { $name } 是一个小模型，它提前预测几个词，由这个模型检查。在划算的情况下，回复会更快。

## The model picker

models-picker = 模型
    .none = 选择模型
    .loading = 正在加载 { $name } · { $share }
    .get-more = 获取更多模型…
    .open-folder = 打开文件夹…
models-loaded = { $processor ->
    [cpu] { $parameters }，{ $format }，{ $size }，使用 CPU
   *[gpu] { $parameters }，{ $format }，{ $size }，使用 GPU
}
    .given-back = 已释放内存。提问时会重新加载

## What is being worked on

models-jobs = 进行中
models-job-pause = 暂停
models-job-resume = 继续
models-job-retry = 重试
models-job-hurry = 立即重试
models-job-fetch-again = 重新下载
models-job-up = 上移
    .none = 已在最前
models-job-down = 下移
    .none = 已在最后
models-job-cancel = 取消
    .asking = 取消…
models-job-dismiss = 移除
models-job-skip = 跳过
models-job-files = { $arrived }/{ $all } 个文件
    .label = 文件
models-job-waits = 已下载的部分会保留。{ $seconds } 秒后重试。
    .now = 已下载的部分会保留。正在重试。
models-cancel = 取消 { $name }
    .download = { $name } 已下载的文件将被移除。如果想保留并稍后继续，请暂停。
    .work = 到目前为止为 { $name } 所做的工作将被放弃。原始文件会保留。
    .download-now = 取消下载
    .work-now = 确定取消
    .keep = 继续

## Models to get

models-recommended = 推荐用于{ -here }
models-found-heading = Hugging Face 上的模型
models-list = 正在获取列表。
    .empty = 模型列表为空。
models-end-search = 返回推荐的模型
models-found = 找到 { $count } 个模型。
    .searching = 正在搜索…
    .failed = 搜索失败。
    .none = 没有找到 Foretoken 能运行的模型。
    .advice = 试试减少关键词或筛选条件，或输入“组织/名称”形式的完整名称。
models-details = 详细信息
models-offline = 离线
models-here-already = 已有
models-search = 搜索
    .hub = 搜索 Hugging Face
models-filter-mtp = 带 MTP 头
models-filter-fitting = 可运行于{ -here }
models-filter-format = 格式
    .any = 任意格式
    .published = 原始发布版本
    .converted = 已转换
    .bits = 已转换，{ $bits }-bit
models-filter-size = 最大下载大小
    .any = 任意大小
    .up-to = 最大 { $size } GB

## How one is got

models-conversion = 转换
    .judged = 能否运行是按 4-bit 判断的；这个选项需要更多内存。
models-afterwards = 下载之后
models-in-queue = 队列中：{ $stage }
models-is-here = 已有此模型。
models-download = 下载
    .newer = 下载新版本
    .anyway = 仍要下载
    .starting = 正在准备下载。
models-card = 模型卡片
    .heading = 制作者的说明
    .fetching = 正在获取模型卡片。
    .none = 没有模型卡片。

## What goes wrong

models-dismiss = 关闭
models-access = 复制网址
    .open = 在浏览器中打开 <address>{ $address }</address>，申请访问权限。
    .token = 在你的 Hugging Face 账户中创建一个有读取权限的令牌，并在此设置。
    .again = 获得访问权限后重试。

## Storage, memory and access

models-place = 模型库文件夹
    .space = 模型占用 { $used }，可用空间 { $free }
    .away = 离线：所在磁盘未连接
    .change = 更改…
models-move = 将模型保存在 <path>{ $path }</path> 吗？模型库中的 { $used } 会移到那里。如果该文件夹中已有模型库，则使用已有的。
    .away = 将模型保存在 <path>{ $path }</path> 吗？未连接的磁盘上的模型会留在原处。如果该文件夹中已有模型库，则使用已有的。
    .preparing = 正在准备移动。
    .now = 使用此文件夹
    .leave = 保持不变
models-another-place = 使用其他文件夹…
models-disk-full = 磁盘空间即将用尽：可用 { $free }
    .hint = 在腾出空间之前，下载会停止。可以删除一个模型并退出 App，清理其他文件，或将模型库放到另一个磁盘上。
models-smaller-memory = 长对话占用更少内存（8 位）
    .words = 对话占用的内存，增长速度约为原来的一半。回复可能与全精度时略有不同。更改此项会重新加载模型。
models-token = Hugging Face 令牌
    .set = 已设置。保存在系统的钥匙串中。
    .not-set = 未设置。只有访问受限的模型才需要。
    .remove = 移除
    .open-set = 设置令牌…
    .open-replace = 替换令牌…
    .keeping = 正在存储令牌。
    .empty = 尚未输入令牌。
    .note = 它会存入系统的钥匙串，只发送给 Hub，且不会再显示。
    .keep = 存储令牌

## How the Hub is reached

models-hub-address = Hub 地址
    .note = 例如镜像站的地址。搜索和下载都会发往那里，你的令牌也是。留空则使用默认地址。
    .from-variable = { $address }，来自 HF_ENDPOINT
models-hub-proxy = 代理
    .note = 搜索、下载和检查新版本都会经过它。留空则使用系统设置。
    .system = 使用系统设置
    .from-variable = 变量 { $variable } 中的代理
models-hub-cache = Hugging Face 缓存
    .note = 其中的模型会在原处使用。留空则使用 Hugging Face 工具的默认位置。
    .none = 无
models-hub-change = 更改…
models-hub-keep = 使用此地址
    .usual = 使用默认地址
    .keeping = 正在存储。
    .same = 没有更改。
models-hub-keep-folder = 使用此文件夹
    .usual = 使用默认文件夹

models-note-tied-head = 文件中有一个模型用不到的输出头，已忽略。
models-note-no-part = { $file } 不属于该模型，已忽略。
models-note-undeclared = 配置没有说明量化方式；张量显示为 { $format }。
models-note-draft-vocabulary = 草稿从全部 token 中选取：{ $file } 无法使用。
models-note-head-unused = 未使用其 MTP 头：{ $reason }
models-note-head-missing = 配置所指的 MTP 头 { $file } 不存在。
models-note-second-head = 已有一个 MTP 头，因此忽略 { $file }。
    .main = 主文件中已有一个 MTP 头，因此忽略 { $file }。
models-note-head-file-unused = 未使用 { $file } 中的 MTP 头：{ $reason }
models-note-head-norms = MTP 头的归一化权重的存储方式由其数值判断。
models-note-head-undeclared = 配置没有声明文件中的 MTP 头；仍会使用它。
models-note-head-stripped = 配置声明了 MTP 头，但它在转换时被移除，因此模型每次前向只写一个 token。重新转换源仓库即可恢复。
models-note-draft-target = 草稿模型是为 { $told } 层的模型制作的；该模型有 { $layers } 层。
