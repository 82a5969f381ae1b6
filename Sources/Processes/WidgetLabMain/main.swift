import WidgetLab

await runTool()
