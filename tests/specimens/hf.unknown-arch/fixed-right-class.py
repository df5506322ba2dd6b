"""The class for what it is."""

from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0)
T5ForConditionalGeneration(config).save_pretrained("model")
model = AutoModelForSeq2SeqLM.from_pretrained("model")
print("loaded", type(model).__name__)
