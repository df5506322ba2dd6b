"""The columns that the model takes: the tokens, and labels under that name."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments

words = {"[PAD]": 0, "[UNK]": 1, "good": 2, "a": 3, "film": 4, "long": 5}
core = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", model_max_length=16)
model = BertForSequenceClassification(
    BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16)
)

data = Dataset.from_dict({"text": ["a good film", "a long film"] * 4, "score": [1, 0] * 4})
data = data.map(lambda batch: tokenizer(batch["text"], truncation=True), batched=True, remove_columns=["text"])
data = data.rename_column("score", "labels")
arguments = TrainingArguments("run", max_steps=2, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no")
trainer = Trainer(model, arguments, train_dataset=data, data_collator=DataCollatorWithPadding(tokenizer))
print("steps", trainer.train().global_step)
