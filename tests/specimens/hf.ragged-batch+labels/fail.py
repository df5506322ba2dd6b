"""The labels are lists of the texts' own lengths, and the collator pads the inputs alone."""

from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast

words = {"[PAD]": 0, "[UNK]": 1, "good": 2, "a": 3, "film": 4, "with": 5, "heart": 6}
core = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32)

rows = []
for text in ("a good film", "a film with a good heart"):
    row = dict(tokenizer(text))
    row["labels"] = list(row["input_ids"])
    rows.append(row)
for batch in DataLoader(rows, batch_size=2, collate_fn=DataCollatorWithPadding(tokenizer)):
    print("labels", tuple(batch["labels"].shape))
