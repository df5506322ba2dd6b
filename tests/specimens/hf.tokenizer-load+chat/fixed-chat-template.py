"""The format that the model was trained with."""

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
tokenizer.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"
chat = tokenizer.apply_chat_template([{"role": "user", "content": "a good film"}], tokenize=False)
print("asked", chat)
