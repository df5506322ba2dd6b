# The file under another name.
mv random.py random_utils.py
rm -rf __pycache__
python fail.py
