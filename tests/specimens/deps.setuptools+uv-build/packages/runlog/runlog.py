def line(step, loss):
    return f"step {step} loss {loss}"
