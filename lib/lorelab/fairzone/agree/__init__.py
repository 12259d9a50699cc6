"""How kernel runs are held against the model, where it is not step by step."""
