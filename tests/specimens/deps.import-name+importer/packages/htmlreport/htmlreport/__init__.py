from markupsafe import Markup, escape, soft_str


def cell(text):
    return Markup("<td>") + soft_str(escape(text)) + Markup("</td>")
