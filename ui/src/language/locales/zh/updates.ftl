### Made by a machine; no native speaker has read it yet.

updates-title = 更新
updates-version = 新版本
    .state = 新版本：{ $state }
updates-row-new = 可更新
updates-row-waits = 等待中
updates-row-installing = 正在安装
updates-row-failed = 失败
updates-newest = 当前已是最新版本。
updates-checking = 正在检查新版本…
updates-there = 有新版本可用。
updates-downloaded = 已下载 { $share }（共 { $size }）
updates-waiting = 已下载。正在等待回复和下载结束
updates-installing = Foretoken 即将重新启动
updates-install = 安装并重新启动
    .again = 重试
updates-look-again = 重试
updates-later = 稍后
updates-cancel = 取消
updates-close = 关闭
