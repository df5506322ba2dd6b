"""Two texts of different length become one tensor."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = {"[PAD]": 0, "[UNK]": 1, "good": 2, "a": 3, "film": 4, "with": 5, "heart": 6}
core = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32)

batch = tokenizer(["a good film", "a film with a good heart"], return_tensors="pt")
print("batch of", len(batch["input_ids"]))
