### Made by a machine; no native speaker has read it yet.

markdown-task = 任务
markdown-table = 表格
    .copy = 复制表格
markdown-formula = 公式
markdown-code = 代码
    .copy = 复制
    .preview = 预览
    .no-scripts = 脚本不会在此运行。
    .plain = 文本

## Links

markdown-link = 链接地址
    .copy = 复制地址
    .mail = 写邮件
    .open = 在浏览器中打开
markdown-link-other-site = 链接文字写的是另一个网站：{ $site }。
markdown-link-sign-in = 已略去登录名“{ $name }”：网站是 { $site }。
markdown-link-one-mailbox = 链接中还有更多内容。只保留一个邮箱和主题。
markdown-link-letters = 完整写法是“{ $name }”，使用了{ $scripts }。它可能在冒充另一个网站。
markdown-script = { $script ->
    [latin] 拉丁字母
    [cyrillic] 西里尔字母
    [greek] 希腊字母
    [armenian] 亚美尼亚字母
    [georgian] 格鲁吉亚字母
    [cherokee] 切罗基字母
    [hebrew] 希伯来字母
    [arabic] 阿拉伯字母
    [devanagari] 天城文字母
    [bengali] 孟加拉字母
    [tamil] 泰米尔字母
    [thai] 泰文字母
    [han] 汉字
    [hiragana] 平假名
    [katakana] 片假名
    [hangul] 谚文
   *[other] 外文字母
}
