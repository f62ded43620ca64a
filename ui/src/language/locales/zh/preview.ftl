### Made by a machine; no native speaker has read it yet.

preview-diagram = 图表
preview-drawing = 绘图
preview-page = 网页
preview-too-much = 绘制这个内容会花费太长时间。
preview-diagram-failed = 无法绘制此图表。
