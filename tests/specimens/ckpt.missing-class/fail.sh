# The class of the saved object stands in the script that saved it.
python train.py
python predict.py
