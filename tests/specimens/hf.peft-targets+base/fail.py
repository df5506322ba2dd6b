"""An adapter of a wider model is put on a narrower one."""

from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


def base(width):
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=width, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2))


get_peft_model(base(32), LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")).save_pretrained("adapter")
model = PeftModel.from_pretrained(base(16), "adapter")
print("adapters", list(model.peft_config))
