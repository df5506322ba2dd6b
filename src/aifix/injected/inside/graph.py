"""Where a non-finite loss comes from, read off its autograd graph before backward frees it. Nothing is computed anew, nothing is changed.

Runs in the program's interpreter: standard library and the program's own torch, Python 3.8 and later.
"""

MOST = 20000
"""Nodes looked at."""
PASSING = ("Relu", "LeakyRelu", "Threshold", "Dropout", "Clamp", "NativeDropout", "Silu", "Gelu", "Hardtanh")
"""Operations that give on what they get: what is not finite behind them was so before."""
RESULTS = ("_saved_result", "_saved_out", "_saved_output", "_saved_result0", "_saved_grid")


def origin(torch, loss, names):
    """Say where the first nan (or else inf) of a graph arose: 'out of layer encoder.3 (AddmmBackward0)'; '' where that is not seen.

    `names`: a Names that knows the layers of the parameters.
    """
    if loss.grad_fn is None:
        return ""
    order = _inputs_first(loss.grad_fn)
    for test in (torch.isnan, torch.isinf):
        for node in order:
            found = _bad(torch, node, test)
            if found is None:
                continue
            if found[1] is not None and found[1].is_leaf and names.layer(found[1]):
                return "in the weights of layer %s" % names.layer(found[1])
            maker = node if found[0] in RESULTS or found[0].startswith("_saved_result") else _upstream(node, found[1])
            if type(maker).__name__.startswith(PASSING):
                maker = _upstream(maker, None)
            return _told(maker, names)
    return _told(loss.grad_fn, names)


def _inputs_first(root):
    """Give the nodes of the graph, each after those that it depends on."""
    order, seen, waiting = [], set(), [(root, False)]
    while waiting and len(seen) < MOST:
        node, done = waiting.pop()
        if done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        waiting.append((node, True))
        # the first input last in, so first out: the order in which forward ran
        waiting += [(one, False) for one, _ in reversed(node.next_functions) if one is not None and one not in seen]
    return order


def _bad(torch, node, test):
    """Find a tensor that a node saved and that holds what the test looks for: (name, tensor)."""
    for name in dir(node):
        if not name.startswith("_saved_"):
            continue
        try:
            value = getattr(node, name)
        except Exception:  # noqa: S112 - freed, or changed in place since
            continue
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor) and (one.is_floating_point() or one.is_complex()) and one.numel():
                try:
                    with torch.no_grad():
                        if bool(test(one).any()):
                            return name, one
                except Exception:  # noqa: S112 - a kind of tensor that cannot be asked
                    continue
    return None


def _upstream(node, tensor):
    """Give the node that made the tensor that another one saved as its input."""
    if tensor is not None and tensor.grad_fn is not None:
        return tensor.grad_fn
    inner = [one for one, _ in node.next_functions if one is not None and type(one).__name__ != "AccumulateGrad"]
    return inner[0] if inner else node


def _parameters(node, most):
    """Give the parameters from which a node was computed, the nearest first."""
    found, seen, waiting = [], set(), [node]
    while waiting and len(seen) < MOST and len(found) < most:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.add(one)
        variable = getattr(one, "variable", None)
        if variable is not None:
            found.append(variable)
        waiting += [further for further, _ in one.next_functions if further is not None]
    return found


def _told(node, names):
    operation = type(node).__name__
    own = [one for one, _ in node.next_functions if one is not None]
    direct = _parameters(node, 1) if any(type(one).__name__ in ("AccumulateGrad", "TBackward0", "TransposeBackward0") for one in own) else []
    if direct and names.layer(direct[0]):
        return "out of layer %s (%s)" % (names.layer(direct[0]), operation)
    before = [names.layer(one) for one in _parameters(node, MOST)]
    before = [layer for layer in before if layer]
    if not before:
        return "out of %s, before any layer with weights" % operation
    layer, exact = names.after(before)
    return "%s layer %s (%s)" % ("out of" if exact else "after", layer, operation)


class Names:
    """The layers of a model by their parameters, and the order in which it defines them."""

    def __init__(self):
        self.layers = {}
        self.order = []
        """Modules without children, as the model defines them: (name, whether it has parameters)."""

    def learn(self, root, prefix=""):
        """Learn a model."""
        for name, module in root.named_modules():
            shown = clean(prefix + name) or type(root).__name__
            own = list(module.parameters(recurse=False))
            for parameter in own:
                self.layers.setdefault(id(parameter), shown)
            if own or not list(module.children()):
                self.order.append((shown, bool(own)))

    def layer(self, parameter):
        """Name the layer of a parameter; '' where it is of none."""
        return self.layers.get(id(parameter), "")

    def after(self, before):
        """Name where a computation stands that used these layers: (layer, whether it is that very one)."""
        used = set(before)
        places = [at for at, (name, _) in enumerate(self.order) if name in used]
        if not places:
            return before[0], False
        at = max(places)
        plain = []
        for name, weighty in self.order[at + 1 :]:
            if weighty:
                break
            plain.append(name)
        return (plain[0], True) if len(plain) == 1 else (self.order[at][0], False)


def clean(name):
    """Take out of a name what wrappers put in: DDP's module, torch.compile's _orig_mod, FSDP's."""
    parts = [part for part in name.split(".") if part not in ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")]
    while parts and parts[0] == "module":
        parts.pop(0)
    return ".".join(parts)
