from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel


class TinyConfig(PreTrainedConfig):
    model_type = "tiny"

    def __init__(self, width=4, **rest):
        self.width = width
        super().__init__(**rest)


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.layer = nn.Linear(config.width, config.width)
        self.post_init()
