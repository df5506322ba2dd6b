def bar(done, total):
    return "#" * done + "." * (total - done)
