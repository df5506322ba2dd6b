"""A base model is spoken to as if it were one for chats."""

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
chat = tokenizer.apply_chat_template([{"role": "user", "content": "a good film"}], tokenize=False)
print("asked", chat)
